import { type Kysely, sql } from 'kysely';

// Version 0.5.0 made no files of a credit note that is dated before its invoice, and tries ever more rarely. They can be made now.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    update documents_to_make set tries = 0, next_try_at = now()
    where last_error like '%its invoice is younger%'`.execute(db);
}
