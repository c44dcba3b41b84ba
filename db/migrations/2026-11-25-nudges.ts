import { type Kysely, sql } from 'kysely';

// When a client last took a nudge: with `failed_at` it says how its nudges fare.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table event_deliveries add column succeeded_at timestamptz`.execute(db);
}
