import { type Kysely, sql } from 'kysely';

// What a form that works once has answered, for a minute and for the same browser (contract 9.285 to 9.289).
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table form_answers (
      browser_hash bytea not null
        constraint form_answers_pkey primary key
        constraint form_answers_browser_hash_length check (octet_length(browser_hash) = 32),
      form_hash bytea not null
        constraint form_answers_form_hash_length check (octet_length(form_hash) = 32),
      sealed bytea
        constraint form_answers_sealed_length check (octet_length(sealed) <= 70000),
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index form_answers_expires_at_idx on form_answers (expires_at)`.execute(db);
}
