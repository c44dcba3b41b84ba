import { type Kysely, sql } from 'kysely';

// Passkeys, and what makes each of their challenges work once.
export async function up(db: Kysely<unknown>): Promise<void> {
  // On the user's own row: whoever locks the user sees whether they have a passkey by then, and a login need not look
  // further.
  await sql`alter table users add column has_passkey boolean not null default false`.execute(db);

  await sql`
    create table passkeys (
      id uuid not null constraint passkeys_pkey primary key,
      user_id uuid not null constraint passkeys_user_id_fkey references users on delete cascade,
      credential_id text not null
        constraint passkeys_credential_id_key unique
        constraint passkeys_credential_id_length check (char_length(credential_id) between 1 and 1364),
      public_key bytea not null
        constraint passkeys_public_key_length check (octet_length(public_key) between 1 and 2048),
      counter bigint not null constraint passkeys_counter_positive check (counter >= 0),
      transports text[] not null,
      backed_up boolean not null,
      name text not null constraint passkeys_name_length check (char_length(name) between 1 and 200),
      created_at timestamptz not null,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create index passkeys_user_id_idx on passkeys (user_id)`.execute(db);

  // Whoever has not proved an address has no passkey: a typed or mistyped one is somebody else's.
  await sql`
    create function keep_has_passkey() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        update users set has_passkey = exists (select from passkeys where user_id = old.user_id)
          where id = old.user_id;
        return null;
      end if;
      update users set has_passkey = true where id = new.user_id and email_verified_at is not null;
      if not found then
        raise exception 'a passkey needs a proved address' using errcode = 'check_violation';
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger passkeys_keep_has_passkey after insert or delete on passkeys
      for each row execute function keep_has_passkey()`.execute(db);

  // Challenges are signed, not stored, so that asking for one costs no row. This key never leaves the database but for
  // the service's memory; two random UUIDs hold 244 random bits.
  await sql`
    create table passkey_challenge_keys (
      only_row boolean not null default true
        constraint passkey_challenge_keys_pkey primary key
        constraint passkey_challenge_keys_one_row check (only_row),
      key bytea not null
        constraint passkey_challenge_keys_key_length check (octet_length(key) = 32)
        default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    )`.execute(db);
  await sql`insert into passkey_challenge_keys default values`.execute(db);

  await sql`
    create table used_passkey_challenges (
      challenge_hash bytea not null
        constraint used_passkey_challenges_pkey primary key
        constraint used_passkey_challenges_hash_length check (octet_length(challenge_hash) = 32),
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index used_passkey_challenges_expires_at_idx on used_passkey_challenges (expires_at)`.execute(
    db,
  );
}
