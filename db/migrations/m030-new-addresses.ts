import { type Kysely, sql } from 'kysely';

// New addresses that our support offers to people who lost their mailbox (contract 12.70 to 12.89). The row is what makes both
// links work. Whatever changes who somebody is, or may be, ends the offer, whichever version, role or statement does it: so a
// trigger deletes the row.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table new_addresses (
      id uuid constraint new_addresses_pkey primary key,
      user_id uuid not null constraint new_addresses_user_id_key unique
        constraint new_addresses_user_id_fkey references users on delete cascade,
      email text not null,
      asked_at timestamptz not null,
      expires_at timestamptz not null,
      guesses smallint not null default 0
    )`.execute(db);
  await sql`create index new_addresses_email_idx on new_addresses (email)`.execute(db);
  await sql`create index new_addresses_expires_at_idx on new_addresses (expires_at)`.execute(db);
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  await sql`
    create function end_new_address() returns trigger language plpgsql
      security definer set search_path = ${sql.id(rows[0]?.name ?? 'public')}, pg_temp as $$
    begin
      delete from new_addresses where user_id = new.id;
      return null;
    end $$`.execute(db);
  await sql`revoke execute on function end_new_address() from public`.execute(db);
  await sql`
    create trigger users_end_new_address after update on users for each row
      when (new.email is distinct from old.email
        or new.holds_email is distinct from old.holds_email
        or new.password_hash is distinct from old.password_hash
        or new.role is distinct from old.role
        or new.suspended_at is not null and old.suspended_at is null
        or new.deletion_due_at is not null and old.deletion_due_at is null)
      execute function end_new_address()`.execute(db);
}
