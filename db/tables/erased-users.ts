// The only writer of `erased_users`: the ids of people who are gone, and nothing else of them. No new user gets such an id.
import type { Transaction } from 'kysely';
import type { DB } from '../schema.ts';

export async function insertErasedUser(trx: Transaction<DB>, id: string): Promise<void> {
  await trx.insertInto('erased_users').values({ id }).execute();
}
