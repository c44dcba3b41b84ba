// Events for a client, without the changes that make them.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { numberAllEvents } from '../../../server/events/number-events.ts';

/** Appends that many events for a client, and numbers them. */
export async function appendEvents(
  db: Database,
  client: string,
  count = 1,
  type: 'user.restored' | 'user.suspended' = 'user.restored',
): Promise<void> {
  await sql`insert into events (client, type, user_id)
    select ${client}, ${type}, gen_random_uuid() from generate_series(1, ${count}::int)`.execute(db);
  await numberAllEvents({ db });
}
