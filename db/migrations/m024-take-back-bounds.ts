import { type Kysely, sql } from 'kysely';

// Taking an account back (contract section 2): however many changes there are, those in question are found by an index.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index take_back_changes_user_id_at_idx on take_back_changes (user_id, at)`.execute(db);
}
