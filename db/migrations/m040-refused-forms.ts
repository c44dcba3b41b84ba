import { type Kysely, sql } from 'kysely';

// Refused forms that are too long for a cookie, for ten minutes (contract 9.300 to 9.302). What is in `sealed` opens for the
// service alone. The version before never looks here: what it keeps is in the cookie.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table refused_forms (
      id uuid constraint refused_forms_pkey primary key,
      user_id uuid not null constraint refused_forms_user_id_fkey references users on delete cascade,
      sealed bytea not null constraint refused_forms_sealed_length check (octet_length(sealed) <= 4000),
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    create index refused_forms_user_id_expires_at_idx on refused_forms (user_id, expires_at)`.execute(db);
  await sql`create index refused_forms_expires_at_idx on refused_forms (expires_at)`.execute(db);
}
