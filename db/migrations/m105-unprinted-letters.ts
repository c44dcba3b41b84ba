import { type Kysely, sql } from 'kysely';

/** The letters that no font had when a PDF was made, for the list of such documents. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table document_files add column unprinted text`.execute(db);
  await sql`create index document_files_made_at_idx on document_files (made_at) where unprinted is not null`.execute(
    db,
  );
}
