import { type Kysely, sql } from 'kysely';

// Adds up income by month from the index alone: the rows hold all that a document says, and are wide.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index if not exists documents_issued_on_amounts_idx
      on documents (issued_on, kind, currency, category, rate) include (net, tax)`.execute(db);
}
