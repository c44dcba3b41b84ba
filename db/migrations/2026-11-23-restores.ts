import { type Kysely, sql } from 'kysely';

// When this database was put back to an earlier time: inbound hand-offs issued before that are refused, because what has
// used them up may be lost.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table restores (
      at timestamptz not null default now() constraint restores_pkey primary key
    )`.execute(db);
}
