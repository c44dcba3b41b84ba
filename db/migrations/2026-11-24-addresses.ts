import { type Kysely, sql } from 'kysely';

// Sign-up and change of address: mails and links for people who have no user yet, and addresses that stay reserved for
// the user who had them while their change can be undone.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table mails alter column user_id drop not null`.execute(db);
  // The name is what was typed at the sign-up, to be shown behind the link.
  await sql`alter table mail_tokens alter column user_id drop not null, add column name text`.execute(db);

  // The number says which of a user's changes came first: the clocks of two instances differ.
  await sql`
    create table reserved_addresses (
      number bigint generated always as identity constraint reserved_addresses_pkey primary key,
      email text not null constraint reserved_addresses_email_key unique,
      user_id uuid not null constraint reserved_addresses_user_id_fkey references users on delete cascade,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index reserved_addresses_user_id_idx on reserved_addresses (user_id)`.execute(db);
  await sql`create index reserved_addresses_expires_at_idx on reserved_addresses (expires_at)`.execute(db);

  // Afterwards, when it sees what another transaction has committed while this one waited for the unique index.
  await sql`
    create function refuse_reserved_address() returns trigger language plpgsql as $$
    begin
      if exists (select from reserved_addresses where email = new.email and user_id <> new.id) then
        raise unique_violation using
          message = 'the address is reserved for another user', constraint = 'users_email_not_reserved';
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_refuse_reserved_address after insert or update of email, holds_email on users
      for each row when (new.holds_email) execute function refuse_reserved_address()`.execute(db);
}
