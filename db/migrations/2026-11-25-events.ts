import { type Kysely, sql } from 'kysely';

// Events for clients (contract section 10). The database itself appends them, in the transaction that makes the change
// and by whichever door it comes; db/tables/events.ts numbers them once that has committed.
export async function up(db: Kysely<unknown>): Promise<void> {
  // Who was ever handed to which client: kept for as long as their user, unlike the launches.
  await sql`
    create table client_users (
      user_id uuid not null constraint client_users_user_id_fkey references users on delete cascade,
      client text not null,
      since timestamptz not null default now(),
      constraint client_users_pkey primary key (user_id, client)
    )`.execute(db);

  // `seq` is null until it is numbered, `user_id` once that person is erased. `body` is what was so at that moment: the
  // profile's columns, the `sid`, or the contract's columns. `made_in` is the transaction.
  await sql`
    create table events (
      id bigint generated always as identity constraint events_pkey primary key,
      client text not null,
      seq bigint,
      type text not null constraint events_type_known check (type in (
        'profile.updated', 'session.ended', 'user.suspended', 'user.restored', 'user.deleted', 'contract.updated', 'erased'
      )),
      user_id uuid,
      contract_id uuid,
      occurred_at timestamptz not null default clock_timestamp(),
      numbered_at timestamptz,
      body jsonb,
      made_in xid8 not null default pg_current_xact_id(),
      constraint events_client_seq_key unique (client, seq)
    )`.execute(db);
  await sql`create index events_not_numbered_idx on events (client, id) where seq is null`.execute(db);
  await sql`create index events_not_numbered_user_id_idx on events (user_id) where seq is null`.execute(db);
  await sql`create index events_user_id_id_idx on events (user_id, id)`.execute(db);
  await sql`create index events_numbered_at_idx on events (numbered_at, seq)`.execute(db);

  // The newest number that a client's events have had, also when none of them is kept any more.
  await sql`
    create table event_sequences (
      client text not null constraint event_sequences_pkey primary key,
      latest bigint not null default 0
    )`.execute(db);

  // How far each client has come, and the nudge about its newest event (contract section 10).
  await sql`
    create table event_deliveries (
      client text not null constraint event_deliveries_pkey primary key,
      acknowledged bigint not null default 0,
      pulled_at timestamptz,
      nudged bigint not null default 0,
      nudged_at timestamptz,
      first_nudged_at timestamptz,
      attempts integer not null default 0,
      next_nudge_at timestamptz,
      failed_at timestamptz,
      failure text
    )`.execute(db);

  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');
  // With the rights of the tables' owner, and on these tables only: whoever may change a person need not be able to write
  // events, or forge them. A session keeps its plans: one that was made while the table was small must not read all of it
  // later.
  const trigger = sql`returns trigger language plpgsql
    security definer set search_path = ${schema}, pg_temp set enable_seqscan = off as`;

  // One event for what a transaction does to one thing, however many statements that takes: nobody ever saw the states in
  // between.
  await sql`
    create function append_event(
      to_client text, of_type text, about_user uuid, about_contract uuid, with_body jsonb
    ) returns void language plpgsql as $$
    begin
      update events set body = with_body, occurred_at = clock_timestamp()
        where seq is null and made_in = pg_current_xact_id() and client = to_client and type = of_type
          and user_id = about_user and contract_id is not distinct from about_contract
          and of_type in ('profile.updated', 'contract.updated');
      if not found then
        insert into events (client, type, user_id, contract_id, body)
          values (to_client, of_type, about_user, about_contract, with_body);
      end if;
    end $$`.execute(db);

  await sql`
    create function append_profile_event(to_client text, about_user uuid) returns void language plpgsql as $$
    begin
      perform append_event(to_client, 'profile.updated', about_user, null, jsonb_build_object(
          'email', u.email, 'name', u.name, 'role', u.role, 'profile_updated_at', u.profile_updated_at,
          'capabilities', a.capabilities, 'verified_at', a.verified_at))
        from users u join accounts a on a.id = u.account_id where u.id = about_user;
    end $$`.execute(db);

  // The payload may be older than what another transaction is about to commit, and a login may end while it is handed over.
  // So the first launch to a client waits for whoever changes that user, and each for whoever ends that session: one of the
  // two sees what the other has done. The user comes before the session, as everywhere.
  await sql`
    create function tell_client_of_launch() ${trigger} $$
    declare
      is_first boolean;
    begin
      insert into client_users (user_id, client) values (new.user_id, new.client) on conflict do nothing;
      is_first := found;
      if is_first then
        perform from users where id = new.user_id for share;
        perform append_profile_event(new.client, new.user_id);
      end if;
      perform from sessions where id = new.session_id and ended_at is null for share;
      if not found then
        perform append_event(new.client, 'session.ended', new.user_id, null, jsonb_build_object('sid', new.sid));
      end if;
      if is_first and exists (select from users where id = new.user_id and suspended_at is not null) then
        perform append_event(new.client, 'user.suspended', new.user_id, null, null);
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger launches_tell_client after insert on launches
      for each row execute function tell_client_of_launch()`.execute(db);
  // Only now: making the trigger has locked the table, so nobody is handed over in between.
  await sql`
    insert into client_users (user_id, client, since)
      select user_id, client, min(at) from launches group by user_id, client`.execute(db);

  await sql`
    create function tell_clients_of_profile() ${trigger} $$
    begin
      perform append_profile_event(client, new.id) from client_users where user_id = new.id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_tell_clients_of_profile after update on users
      for each row when (old.profile_updated_at is distinct from new.profile_updated_at)
      execute function tell_clients_of_profile()`.execute(db);

  await sql`
    create function tell_clients_of_session() ${trigger} $$
    begin
      perform append_event(client, 'session.ended', user_id, null, jsonb_build_object('sid', sid))
        from launches where session_id = old.id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger sessions_tell_clients after update of ended_at on sessions
      for each row when (old.ended_at is null and new.ended_at is not null)
      execute function tell_clients_of_session()`.execute(db);
  // A row that is deleted before its time ends that login, too. Those that are swept have expired.
  await sql`
    create trigger sessions_tell_clients_of_deletion after delete on sessions
      for each row when (old.ended_at is null and old.created_at > now() - interval '30 days'
        and old.last_seen_at > now() - interval '14 days')
      execute function tell_clients_of_session()`.execute(db);

  // By its name after users_end_sessions_when_suspended, so that the sessions' events come first.
  await sql`
    create function tell_clients_of_suspension() ${trigger} $$
    begin
      perform append_event(
          client, case when new.suspended_at is null then 'user.restored' else 'user.suspended' end, new.id, null, null)
        from client_users where user_id = new.id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_tell_clients_of_suspension after update of suspended_at on users
      for each row when ((old.suspended_at is null) <> (new.suspended_at is null))
      execute function tell_clients_of_suspension()`.execute(db);

  // What was said of a person is gone with them, but for what this transaction says of their end. The sessions first: a logout that is under way has
  // committed its event by then.
  await sql`
    create function tell_clients_of_deletion() ${trigger} $$
    begin
      update sessions set ended_at = now() where user_id = old.id and ended_at is null;
      update events set type = 'erased', user_id = null, contract_id = null, body = null
        where user_id = old.id and (made_in <> pg_current_xact_id() or type = 'profile.updated');
      perform append_event(client, 'user.deleted', old.id, null, null) from client_users where user_id = old.id;
      return old;
    end $$`.execute(db);
  await sql`
    create trigger users_tell_clients_of_deletion before delete on users
      for each row execute function tell_clients_of_deletion()`.execute(db);

  // A time without end, set by hand, would be no instant, and keep the client from reading on.
  await sql`
    create function tell_crm_of_contract() ${trigger} $$
    begin
      perform append_event('crm_app', 'contract.updated', coalesce(new.user_id, new.erased_user_id), new.id,
        jsonb_build_object('signup_id', new.signup_id, 'status', new.status, 'plan', new.plan,
          'trial_ends_at', case when isfinite(new.trial_ends_at) then new.trial_ends_at end, 'price_currency', new.price_currency,
          'price_unit_amount', new.price_unit_amount, 'price_interval', new.price_interval,
          'occurred_at', case when isfinite(new.occurred_at) then new.occurred_at else new.created_at end));
      return null;
    end $$`.execute(db);
  await sql`
    create trigger service_contracts_tell_crm_of_new after insert on service_contracts
      for each row execute function tell_crm_of_contract()`.execute(db);
  await sql`
    create trigger service_contracts_tell_crm after update on service_contracts
      for each row when (
        (old.status, old.plan, old.trial_ends_at, old.price_currency, old.price_unit_amount, old.price_interval, old.occurred_at)
        is distinct from
        (new.status, new.plan, new.trial_ends_at, new.price_currency, new.price_unit_amount, new.price_interval, new.occurred_at))
      execute function tell_crm_of_contract()`.execute(db);

  for (const name of [
    'tell_client_of_launch',
    'tell_clients_of_profile',
    'tell_clients_of_session',
    'tell_clients_of_suspension',
    'tell_clients_of_deletion',
    'tell_crm_of_contract',
  ])
    await sql`revoke execute on function ${sql.id(name)}() from public`.execute(db);
}
