import { type Kysely, sql } from 'kysely';

// The history of people, accounts, links and contracts: what changed, from what to what, when, by whom and why. The
// database writes it itself, in the transaction that makes the change, whichever door that came by
// (docs/decisions/history-by-triggers.md).
//
// A transaction says for whom it works in `identity.origin`, as JSON: `by`, and if known `user`, `request` and `cause`.
// That is believed from a role that may write the history. Anything else is `database`, and the role says whose it is.

/** Of each table what is kept. No credential, and nothing that says less than the rest. */
const tracked: [table: string, subject: string, columns: string[]][] = [
  [
    'users',
    'user',
    [
      ...['account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role'],
      ...['suspended_at', 'deletion_due_at'],
    ],
  ],
  ['accounts', 'account', ['name', 'name_edited_at', 'capabilities', 'verified_at']],
  ['external_links', 'link', ['provider', 'external_id', 'user_id', 'sleeping_since']],
  [
    'service_contracts',
    'contract',
    [
      ...['signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status'],
      ...['trial_ends_at', 'price_currency', 'price_unit_amount', 'price_interval', 'occurred_at'],
    ],
  ],
];

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign key: what happened outlives whom it happened to. `row_id` of a link is the marketplace's id of a person,
  // and goes when they are erased. `began_at` is the start of the transaction: audit events of the same one have it, too.
  // `found` is a row that was there before the history began, as it was before its first change.
  await sql`
    create table changes (
      id bigint generated always as identity constraint changes_pkey primary key,
      at timestamptz not null,
      began_at timestamptz not null default now(),
      subject text not null
        constraint changes_subject_known check (subject in ('user', 'account', 'link', 'contract')),
      row_id text,
      user_id uuid,
      account_id uuid,
      kind text not null
        constraint changes_kind_known check (kind in ('found', 'created', 'changed', 'removed')),
      members jsonb,
      erased_at timestamptz,
      by text constraint changes_by_known check (
        by in ('person', 'marketplace', 'crm', 'operator', 'service', 'database')
      ),
      by_user uuid,
      request_id text,
      cause text,
      role text not null,
      constraint changes_members_until_erased check ((members is null) = (erased_at is not null)),
      constraint changes_found_by_nobody check ((by is null) = (kind = 'found'))
    )`.execute(db);
  await sql`create index changes_row_at_idx on changes (subject, row_id, at)`.execute(db);
  await sql`create index changes_user_id_began_at_idx on changes (user_id, began_at)`.execute(db);
  await sql`
    create index changes_account_began_at_idx on changes (row_id, began_at) where subject = 'account'`.execute(
    db,
  );
  await sql`create index changes_erased_at_idx on changes (erased_at) where erased_at is not null`.execute(
    db,
  );

  await createFunctions(db);

  for (const [table, subject, columns] of tracked) {
    const words = sql.join([subject, ...columns].map((each) => sql.lit(each)));
    const rowOf = (name: 'old' | 'new') => sql.join(columns.map((column) => sql.ref(`${name}.${column}`)));
    await sql`
      create trigger ${sql.id(`${table}_record_change`)} after insert or delete on ${sql.table(table)}
        for each row execute function record_change(${words})`.execute(db);
    // An update of anything else costs nothing.
    await sql`
      create trigger ${sql.id(`${table}_record_update`)} after update on ${sql.table(table)}
        for each row when ((${rowOf('old')}) is distinct from (${rowOf('new')}))
        execute function record_change(${words})`.execute(db);
    await sql`
      create trigger ${sql.id(`${table}_refuse_truncate`)} before truncate on ${sql.table(table)}
        for each statement execute function refuse_truncate()`.execute(db);
  }
}

async function createFunctions(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');

  // With the rights of the tables' owner: whoever may change a person need not be able to write, or forge, the history.
  // Times are in UTC, whatever the session's zone is, so that a text means one instant. A session keeps its plans: one that
  // was made while the table was small must not read all of it later.
  await sql`
    create function record_change() returns trigger language plpgsql
      security definer set search_path = ${schema}, pg_temp set timezone = 'UTC' set enable_seqscan = off as $$
    declare
      about text := tg_argv[0];
      names text[] := tg_argv[1:];
      before jsonb := case when tg_op <> 'INSERT' then jsonb_strip_nulls(to_jsonb(old)) end;
      after jsonb := case when tg_op <> 'DELETE' then jsonb_strip_nulls(to_jsonb(new)) end;
    begin
      -- A link that goes to somebody else ends for one and begins for the other: each has only their own.
      if about = 'link' and before ->> 'user_id' <> after ->> 'user_id' then
        perform write_change(about, names, before, null);
        perform write_change(about, names, null, after);
      else
        perform write_change(about, names, before, after);
      end if;
      return null;
    end $$`.execute(db);
  // Nobody else makes it a trigger of a table of their own, to write what they like.
  await sql`revoke execute on function record_change() from public`.execute(db);

  await sql`
    create function write_change(about text, names text[], before jsonb, after jsonb) returns void
      language plpgsql as $$
    declare
      present jsonb := coalesce(after, before);
      own_id text := case about
        when 'link' then (present ->> 'provider') || ':' || (present ->> 'external_id')
        else present ->> 'id' end;
      person uuid := case about
        when 'user' then present ->> 'id'
        when 'account' then null
        else coalesce(present ->> 'user_id', present ->> 'erased_user_id') end;
      account uuid := case about
        when 'account' then present ->> 'id'
        else coalesce(present ->> 'account_id', present ->> 'erased_account_id') end;
      origin jsonb := case when has_table_privilege(session_user, 'changes', 'insert')
        then nullif(current_setting('identity.origin', true), '')::jsonb end;
      last timestamptz := (select max(c.at) from changes c where c.subject = about and c.row_id = own_id);
      is_erased boolean := after is null and (
        about in ('user', 'account')
        or (about = 'link' and not exists (select from users u where u.id = person)));
    begin
      if is_erased then
        perform erase_changes(about, person, account);
      elsif last is null and before is not null then
        last := least((before ->> 'created_at')::timestamptz, clock_timestamp() - interval '1 microsecond');
        insert into changes (at, subject, row_id, user_id, account_id, kind, members, role)
          values (last, about, own_id, person, account, 'found', list_members(names, null, before), session_user);
      end if;
      -- Strictly later than the one before, also where the clock was set back, so that they can be told apart by time.
      insert into changes (at, subject, row_id, user_id, account_id, kind, members, erased_at,
          by, by_user, request_id, cause, role)
        values (
          greatest(clock_timestamp(), last + interval '1 microsecond'), about,
          case when about = 'link' and is_erased then null else own_id end, person, account,
          case when before is null then 'created' when after is null then 'removed' else 'changed' end,
          case when not is_erased then list_members(names, before, after) end,
          case when is_erased then clock_timestamp() end,
          coalesce(origin ->> 'by', 'database'), (origin ->> 'user')::uuid,
          case when not is_erased then origin ->> 'request' end, origin ->> 'cause', session_user
        );
    end $$`.execute(db);

  await sql`
    create function list_members(names text[], before jsonb, after jsonb) returns jsonb language sql immutable as $$
      select coalesce(
        jsonb_object_agg(m.name, jsonb_build_object('from', before -> m.name, 'to', after -> m.name)), '{}')
      from unnest(names) as m(name) where before -> m.name is distinct from after -> m.name
    $$`.execute(db);

  // What says who somebody was goes with them, by whatever statement. Contracts keep what the contract keeps; an account
  // goes with the last who belongs to it.
  await sql`
    create function erase_changes(about text, person uuid, account uuid) returns void language plpgsql as $$
    begin
      if about = 'account' then
        update changes c set members = null, erased_at = clock_timestamp(), request_id = null, cause = null
          where c.subject = 'account' and c.row_id = account::text and c.erased_at is null;
      elsif about = 'user' then
        update changes c set members = null, erased_at = clock_timestamp(), request_id = null, cause = null,
            row_id = case c.subject when 'link' then null else c.row_id end
          where c.user_id = person and c.subject in ('user', 'link') and c.erased_at is null;
        update changes c set request_id = null, cause = null
          where c.user_id = person and c.subject = 'contract';
        update changes c set request_id = null, cause = null
          where c.subject = 'account' and c.row_id = account::text and c.by_user = person;
      end if;
    end $$`.execute(db);

  await sql`
    create function refuse_truncate() returns trigger language plpgsql as $$
    begin
      raise exception 'truncate % would leave no history: delete its rows', tg_table_name;
    end $$`.execute(db);
}
