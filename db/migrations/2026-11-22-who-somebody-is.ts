import { type Kysely, sql } from 'kysely';

// Who somebody is (contract section 2): an address is held or merely typed, links can sleep, a browser is known by a
// device cookie, a session knows when a credential was last given, and each client knows it by a `sid` of its own.
export async function up(db: Kysely<unknown>): Promise<void> {
  // A typed address identifies nobody: only held ones are unique, and only their holders have a password.
  await sql`
    alter table users
      add column holds_email boolean not null default true,
      drop constraint users_email_key,
      add constraint users_proved_is_held check (holds_email or email_verified_at is null),
      add constraint users_typed_has_no_password check (holds_email or password_hash is null)`.execute(db);
  await sql`alter table users alter column holds_email drop default`.execute(db);
  await sql`create unique index users_held_email_key on users (email) where holds_email`.execute(db);

  // A sleeping link waits for its user's own login before it leads anywhere again.
  await sql`alter table external_links add column sleeping_since timestamptz`.execute(db);

  // The users who have logged in with a browser, since when they are known there by a credential (a hand-off is none), and which of them was the last: not by time, because the clocks of two
  // instances differ.
  await sql`
    create table devices (
      token_hash bytea not null
        constraint devices_token_hash_length check (octet_length(token_hash) = 32),
      user_id uuid not null constraint devices_user_id_fkey references users on delete cascade,
      last_login_at timestamptz not null,
      known_since timestamptz,
      is_last boolean not null,
      forgotten_at timestamptz,
      constraint devices_pkey primary key (token_hash, user_id)
    )`.execute(db);
  await sql`create index devices_user_id_idx on devices (user_id)`.execute(db);
  await sql`create index devices_last_login_at_idx on devices (last_login_at)`.execute(db);

  await sql`
    alter table sessions
      add column auth_time timestamptz,
      add column amr text[] not null default '{ext}'`.execute(db);
  await sql`drop index sessions_user_id_idx`.execute(db);
  await sql`create index sessions_user_id_created_at_idx on sessions (user_id, created_at)`.execute(db);

  // One row for each session and client. It outlives the session, to tell its user where they have been.
  await sql`
    create table launches (
      session_id uuid not null,
      client text not null,
      user_id uuid not null constraint launches_user_id_fkey references users on delete cascade,
      sid text not null constraint launches_sid_key unique,
      at timestamptz not null default now(),
      constraint launches_pkey primary key (session_id, client)
    )`.execute(db);
  await sql`create index launches_user_id_idx on launches (user_id)`.execute(db);
  await sql`create index launches_at_idx on launches (at)`.execute(db);

  await sql`drop table pending_hand_offs`.execute(db);
  await sql`
    create table pending_hand_offs (
      id uuid not null constraint pending_hand_offs_pkey primary key,
      token_hash bytea not null
        constraint pending_hand_offs_token_hash_length check (octet_length(token_hash) = 32),
      kind text not null constraint pending_hand_offs_kind_known check (kind in ('continue', 'connect')),
      provider text not null,
      external_id text not null,
      user_id uuid not null constraint pending_hand_offs_user_id_fkey references users on delete cascade,
      nonce text not null constraint pending_hand_offs_nonce_key unique,
      profile jsonb not null,
      return_to text not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index pending_hand_offs_user_id_idx on pending_hand_offs (user_id)`.execute(db);
  await sql`create index pending_hand_offs_expires_at_idx on pending_hand_offs (expires_at)`.execute(db);

  // A suspension ends sessions, and what could still start one.
  await sql`
    create or replace function end_sessions_of_suspended_user() returns trigger language plpgsql as $$
    begin
      update sessions set ended_at = now() where user_id = new.id and ended_at is null;
      delete from pending_hand_offs where user_id = new.id;
      return null;
    end $$`.execute(db);
}
