// Counts of tries, of which each login makes three changes: none of them is worth waiting for the disk. A Postgres
// that crashes starts to count afresh.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table rate_limits set unlogged`.execute(db);
}
