import { type Kysely, sql } from 'kysely';

// A second factor at the login: an authenticator app, and recovery codes for somebody who has lost it.
export async function up(db: Kysely<unknown>): Promise<void> {
  // `last_step` is the time step of the last code that was taken: none of it or before it is taken again.
  await sql`
    create table authenticators (
      user_id uuid not null
        constraint authenticators_pkey primary key
        constraint authenticators_user_id_fkey references users on delete cascade,
      sealed_secret bytea not null,
      last_step integer not null,
      added_at timestamptz not null,
      last_used_at timestamptz not null
    )`.execute(db);
  await sql`
    create table recovery_codes (
      user_id uuid not null constraint recovery_codes_user_id_fkey references users on delete cascade,
      code_hash bytea not null
        constraint recovery_codes_code_hash_length check (octet_length(code_hash) = 32),
      constraint recovery_codes_pkey primary key (user_id, code_hash)
    )`.execute(db);

  // A login whose password was right, and that waits for the code in the same browser.
  await sql`
    create table pending_logins (
      token_hash bytea not null
        constraint pending_logins_pkey primary key
        constraint pending_logins_token_hash_length check (octet_length(token_hash) = 32),
      user_id uuid not null constraint pending_logins_user_id_fkey references users on delete cascade,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index pending_logins_user_id_idx on pending_logins (user_id)`.execute(db);
  await sql`create index pending_logins_expires_at_idx on pending_logins (expires_at)`.execute(db);

  // In the user's own row, so that whoever has locked it knows.
  await sql`alter table users add column has_authenticator boolean not null default false`.execute(db);
  await sql`
    create function keep_has_authenticator() returns trigger language plpgsql as $$
    begin
      update users set has_authenticator = (tg_op = 'INSERT') where id = coalesce(new.user_id, old.user_id);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger keep_has_authenticator after insert or delete on authenticators
      for each row execute function keep_has_authenticator()`.execute(db);

  // What a login waits with was checked against the password and the state that the user had then.
  await sql`
    create function end_pending_logins() returns trigger language plpgsql as $$
    begin
      delete from pending_logins where user_id = new.id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger end_pending_logins after update on users for each row
      when (new.password_hash is distinct from old.password_hash
        or new.email is distinct from old.email
        or new.has_authenticator is distinct from old.has_authenticator
        or (new.suspended_at is not null and old.suspended_at is null))
      execute function end_pending_logins()`.execute(db);
}
