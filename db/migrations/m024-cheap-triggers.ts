import { type Kysely, type RawBuilder, sql } from 'kysely';

// The same events and the same history as before, for less work: what a transaction has already said of somebody is found by
// an index of its own, the first launch writes its event at once, and a change is written by one function.
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');
  await sql`create index if not exists events_user_id_made_in_idx on events (user_id, made_in)`.execute(db);
  await appendEvents(db);
  // As in 2026-11-25-events.ts.
  await tellOfLaunches(
    db,
    sql`returns trigger language plpgsql
    security definer set search_path = ${schema}, pg_temp set enable_seqscan = off as`,
  );
  await recordChanges(db, schema);
}

async function appendEvents(db: Kysely<unknown>): Promise<void> {
  // A plan is made while no event waits, and kept. An index of those without a number then looks as good as any, and later
  // holds all that wait. So `seq` and `client` are in forms that no index fits, and only those that begin with the user do.
  await sql`
    create or replace function append_event(
      to_client text, of_type text, about_user uuid, about_contract uuid, with_body jsonb
    ) returns void language plpgsql as $$
    begin
      if of_type in ('profile.updated', 'contract.updated') then
        update events set body = with_body, occurred_at = clock_timestamp()
          where user_id = about_user and made_in = pg_current_xact_id() and coalesce(seq, 0) = 0
            and (client, type, contract_id) is not distinct from (to_client, of_type, about_contract);
        if found then
          return;
        end if;
      end if;
      insert into events (client, type, user_id, contract_id, body)
        values (to_client, of_type, about_user, about_contract, with_body);
    end $$`.execute(db);

  // What clients get of a profile. Postgres puts its text in the place of each call.
  await sql`
    create function build_profile(u users, a accounts) returns jsonb language sql stable as $$
      select jsonb_build_object(
        'email', u.email, 'name', u.name, 'role', u.role, 'profile_updated_at', u.profile_updated_at,
        'capabilities', a.capabilities, 'verified_at', a.verified_at)
    $$`.execute(db);

  await sql`
    create or replace function append_profile_event(to_client text, about_user uuid) returns void language plpgsql as $$
    begin
      perform append_event(to_client, 'profile.updated', about_user, null, build_profile(u, a))
        from users u join accounts a on a.id = u.account_id where u.id = about_user;
    end $$`.execute(db);
}

async function tellOfLaunches(db: Kysely<unknown>, trigger: RawBuilder<unknown>): Promise<void> {
  // What 2026-11-25-events.ts says of its locks holds. They are a statement of their own: only the next one is sure to see the
  // account as whoever had locked the user has left it.
  await sql`
    create or replace function tell_client_of_launch() ${trigger} $$
    declare
      is_known boolean;
      is_suspended boolean;
      has_ended boolean;
    begin
      select exists (select from client_users k where k.user_id = u.id and k.client = new.client),
          u.suspended_at is not null, s.ended_at is not null
        into is_known, is_suspended, has_ended
        from users u join sessions s on s.id = new.session_id
        where u.id = new.user_id for share of u, s;
      -- A session that was deleted.
      if not found then
        has_ended := true;
        select exists (select from client_users k where k.user_id = u.id and k.client = new.client), u.suspended_at is not null
          into is_known, is_suspended
          from users u where u.id = new.user_id for share;
      end if;
      if not is_known then
        -- Of two at once, the one that adds the client.
        with added as (
          insert into client_users (user_id, client) values (new.user_id, new.client) on conflict do nothing
          returning user_id
        )
        insert into events (client, type, user_id, body)
          select new.client, 'profile.updated', u.id, build_profile(u, a)
            from added join users u on u.id = added.user_id join accounts a on a.id = u.account_id;
        is_known := not found;
      end if;
      if has_ended then
        perform append_event(new.client, 'session.ended', new.user_id, null, jsonb_build_object('sid', new.sid));
      end if;
      if is_suspended and not is_known then
        perform append_event(new.client, 'user.suspended', new.user_id, null, null);
      end if;
      return null;
    end $$`.execute(db);
}

/** As in 2026-11-25-history.ts. */
async function recordChanges(db: Kysely<unknown>, schema: RawBuilder<unknown>): Promise<void> {
  await sql`
    create or replace function record_change() returns trigger language plpgsql
      security definer set search_path = ${schema}, pg_temp set timezone = 'UTC' set enable_seqscan = off as $$
    declare
      about text := tg_argv[0];
      before jsonb;
      after jsonb;
    begin
      if tg_op <> 'INSERT' then
        before := jsonb_strip_nulls(to_jsonb(old));
      end if;
      if tg_op <> 'DELETE' then
        after := jsonb_strip_nulls(to_jsonb(new));
      end if;
      -- A link that goes to somebody else ends for one and begins for the other: each has only their own.
      if about = 'link' and before ->> 'user_id' <> after ->> 'user_id' then
        perform write_change(about, tg_argv[1:], before, null);
        perform write_change(about, tg_argv[1:], null, after);
      else
        perform write_change(about, tg_argv[1:], before, after);
      end if;
      return null;
    end $$`.execute(db);

  await sql`
    create or replace function write_change(about text, names text[], before jsonb, after jsonb) returns void
      language plpgsql as $$
    declare
      present jsonb := coalesce(after, before);
      own_id text;
      person uuid;
      account uuid;
      origin jsonb;
      last timestamptz;
      members jsonb;
      is_erased boolean := false;
    begin
      if about = 'user' then
        own_id := present ->> 'id';
        person := own_id;
        account := present ->> 'account_id';
      elsif about = 'account' then
        own_id := present ->> 'id';
        account := own_id;
      else
        own_id := case about
          when 'link' then (present ->> 'provider') || ':' || (present ->> 'external_id')
          else present ->> 'id' end;
        person := coalesce(present ->> 'user_id', present ->> 'erased_user_id');
        account := coalesce(present ->> 'account_id', present ->> 'erased_account_id');
      end if;
      if has_table_privilege(session_user, 'changes', 'insert') then
        origin := nullif(current_setting('identity.origin', true), '');
      end if;
      last := (select max(c.at) from changes c where c.subject = about and c.row_id = own_id);
      if after is null then
        is_erased := about in ('user', 'account')
          or (about = 'link' and not exists (select from users u where u.id = person));
      end if;
      if is_erased then
        perform erase_changes(about, person, account);
      else
        members := list_members(names, before, after);
        if last is null and before is not null then
          last := least((before ->> 'created_at')::timestamptz, clock_timestamp() - interval '1 microsecond');
          insert into changes (at, subject, row_id, user_id, account_id, kind, members, role)
            values (last, about, own_id, person, account, 'found', list_members(names, null, before), session_user);
        end if;
      end if;
      -- Strictly later than the one before, also where the clock was set back, so that they can be told apart by time.
      insert into changes (at, subject, row_id, user_id, account_id, kind, members, erased_at,
          by, by_user, request_id, cause, role)
        values (
          greatest(clock_timestamp(), last + interval '1 microsecond'), about,
          case when about = 'link' and is_erased then null else own_id end, person, account,
          case when before is null then 'created' when after is null then 'removed' else 'changed' end,
          members,
          case when is_erased then clock_timestamp() end,
          coalesce(origin ->> 'by', 'database'), (origin ->> 'user')::uuid,
          case when not is_erased then origin ->> 'request' end, origin ->> 'cause', session_user
        );
    end $$`.execute(db);
}
