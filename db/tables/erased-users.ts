// The only writer of `erased_users`: the ids of erased people, and nothing else. No new user may get such an id.
import type { Transaction } from 'kysely';
import type { DB } from '../schema.ts';

export async function insertErasedUser(trx: Transaction<DB>, id: string): Promise<void> {
  await trx.insertInto('erased_users').values({ id }).execute();
}
