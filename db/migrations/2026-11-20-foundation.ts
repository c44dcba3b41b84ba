import { type Kysely, sql } from 'kysely';

// The ground: people, their accounts, their logins, and what the hand-offs need.
//
// `users.profile_updated_at` is kept by triggers, so that no path to the data (the service, a later one,
// a hand-written UPDATE) can forget it: strictly later after every change of a member of the profile or
// of the account's name, also twice in one millisecond, also after the clock was set back.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table accounts (
      id uuid not null constraint accounts_pkey primary key,
      name text not null constraint accounts_name_length check (char_length(name) between 1 and 200),
      capabilities text[] not null default '{}'
        constraint accounts_capabilities_known check (
          capabilities <@ array['manage_storefront', 'sell_media_inventory', 'sell_products', 'sell_services']
        ),
      verified_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(db);

  await sql`
    create table users (
      id uuid not null constraint users_pkey primary key,
      account_id uuid not null constraint users_account_id_fkey references accounts,
      email text not null
        constraint users_email_key unique
        constraint users_email_length check (char_length(email) between 3 and 254),
      name text not null constraint users_name_length check (char_length(name) between 1 and 200),
      role text not null default 'user' constraint users_role_known check (role in ('user', 'manager', 'admin')),
      password_hash text,
      email_verified_at timestamptz,
      suspended_at timestamptz,
      profile_updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index users_account_id_idx on users (account_id)`.execute(db);

  await sql`
    create table external_links (
      provider text not null,
      external_id text not null
        constraint external_links_external_id_length check (char_length(external_id) between 1 and 128),
      user_id uuid not null constraint external_links_user_id_fkey references users on delete cascade,
      applied_profile_updated_at timestamptz,
      created_at timestamptz not null default now(),
      constraint external_links_pkey primary key (provider, external_id),
      constraint external_links_user_id_provider_key unique (user_id, provider)
    )`.execute(db);

  await sql`
    create table sessions (
      id uuid not null constraint sessions_pkey primary key,
      token_hash bytea not null
        constraint sessions_token_hash_key unique
        constraint sessions_token_hash_length check (octet_length(token_hash) = 32),
      user_id uuid not null constraint sessions_user_id_fkey references users on delete cascade,
      created_at timestamptz not null,
      last_seen_at timestamptz not null,
      ended_at timestamptz,
      address text not null,
      user_agent text not null
    )`.execute(db);
  await sql`create index sessions_user_id_idx on sessions (user_id)`.execute(db);
  await sql`create index sessions_created_at_idx on sessions (created_at)`.execute(db);

  await sql`
    create table nonces (
      audience text not null,
      nonce text not null constraint nonces_nonce_length check (char_length(nonce) between 16 and 128),
      expires_at timestamptz not null,
      constraint nonces_pkey primary key (audience, nonce)
    )`.execute(db);
  await sql`create index nonces_expires_at_idx on nonces (expires_at)`.execute(db);

  await sql`
    create table service_contracts (
      id uuid not null constraint service_contracts_pkey primary key,
      account_id uuid not null constraint service_contracts_account_id_fkey references accounts,
      signup_id text not null constraint service_contracts_signup_id_key unique,
      plan text not null,
      status text not null constraint service_contracts_status_known check (
        status in ('trialing', 'active', 'past_due', 'canceled', 'expired')
      ),
      trial_ends_at timestamptz,
      price_currency text,
      price_unit_amount bigint constraint service_contracts_price_unit_amount_positive check (price_unit_amount >= 0),
      price_interval text constraint service_contracts_price_interval_known check (
        price_interval in ('month', 'year')
      ),
      occurred_at timestamptz not null,
      created_at timestamptz not null default now(),
      constraint service_contracts_trial_has_end check (status <> 'trialing' or trial_ends_at is not null),
      constraint service_contracts_price_whole check (
        num_nonnulls(price_currency, price_unit_amount, price_interval) in (0, 3)
      )
    )`.execute(db);
  await sql`create index service_contracts_account_id_idx on service_contracts (account_id)`.execute(db);

  // No foreign key: an event outlives the user it tells of.
  await sql`
    create table audit_events (
      id uuid not null constraint audit_events_pkey primary key,
      at timestamptz not null default now(),
      type text not null,
      reason text,
      user_id uuid,
      address text,
      request_id text,
      details jsonb not null default '{}'
    )`.execute(db);
  await sql`create index audit_events_user_id_at_idx on audit_events (user_id, at)`.execute(db);
  await sql`create index audit_events_at_idx on audit_events (at)`.execute(db);

  // The columns are those that rate-limiter-flexible reads and writes.
  await sql`
    create table rate_limits (
      key varchar(255) not null constraint rate_limits_pkey primary key,
      points integer not null default 0,
      expire bigint
    )`.execute(db);
  await sql`create index rate_limits_expire_idx on rate_limits (expire)`.execute(db);

  await sql`
    create function keep_profile_updated_at() returns trigger language plpgsql as $$
    begin
      if (new.id, new.account_id, new.email, new.name, new.role, new.profile_updated_at)
        is distinct from (old.id, old.account_id, old.email, old.name, old.role, old.profile_updated_at)
      then
        new.profile_updated_at := greatest(
          date_trunc('milliseconds', clock_timestamp()),
          old.profile_updated_at + interval '1 millisecond'
        );
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger users_keep_profile_updated_at before update on users
      for each row execute function keep_profile_updated_at()`.execute(db);

  // What an account shows is part of the profile of each of its users. Any new value will do here:
  // the trigger above decides which.
  await sql`
    create function touch_profiles_of_account() returns trigger language plpgsql as $$
    begin
      update users set profile_updated_at = profile_updated_at + interval '1 millisecond'
        where account_id = new.id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger accounts_touch_profiles after update on accounts
      for each row
      when ((old.name, old.capabilities, old.verified_at) is distinct from (new.name, new.capabilities, new.verified_at))
      execute function touch_profiles_of_account()`.execute(db);

  // A suspension ends the user's sessions however it is made, and ends them for good: they do not come
  // back to life when it is lifted.
  await sql`
    create function end_sessions_of_suspended_user() returns trigger language plpgsql as $$
    begin
      update sessions set ended_at = now() where user_id = new.id and ended_at is null;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_end_sessions_when_suspended after update of suspended_at on users
      for each row when (old.suspended_at is null and new.suspended_at is not null)
      execute function end_sessions_of_suspended_user()`.execute(db);
}
