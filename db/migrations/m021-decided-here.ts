import { type Kysely, sql } from 'kysely';

// What an account may do, and whether it is verified, has two sources (contract section 6): what was decided here, kept
// with the account, and what the marketplace says, kept with each link. `accounts.capabilities` and `verified_at` are what
// both come to.
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: nothing was decided.
  await sql`
    alter table accounts
      add column granted_here text[],
      add column revoked_here text[],
      add column verified_here boolean,
      add constraint accounts_decided_once check (not granted_here && revoked_here)`.execute(db);
  // `said_at` is the time of the profile that said it. The version before applies profiles without writing it: a trigger
  // makes it '-infinity' then, until what that version wrote to the account is taken from there.
  await sql`
    alter table external_links
      add column capabilities text[],
      add column verified boolean,
      add column said_at timestamptz`.execute(db);

  await createFunctions(db);
  await fillIn(db);
  await createTriggers(db);
}

async function createFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function join_capabilities(said text[], granted text[], revoked text[]) returns text[]
      language sql immutable as $$
      select array(
        (select unnest(said) union select unnest(granted)) except select unnest(revoked) order by 1
      )
    $$`.execute(db);
  // Of all links of everybody who belongs to the account.
  await sql`
    create function find_said(of_account uuid, out capabilities text[], out verified boolean)
      language sql stable as $$
      select array(
          select distinct unnest(l.capabilities) from users u join external_links l on l.user_id = u.id
            where u.account_id = of_account),
        exists (
          select from users u join external_links l on l.user_id = u.id where u.account_id = of_account and l.verified)
    $$`.execute(db);
  // The lock first: what another transaction says of the same account at this moment is seen by the statements after it.
  await sql`
    create function settle_rights(of_account uuid) returns void language sql as $$
      select from accounts where id = of_account for no key update;
      update external_links l
        set capabilities = a.capabilities, said_at = l.applied_profile_updated_at,
          verified = coalesce(l.verified, false) or 'sell_products' = any(a.capabilities)
        from users u join accounts a on a.id = u.account_id
        where u.account_id = of_account and l.user_id = u.id and l.said_at = '-infinity';
      update accounts a
        set capabilities = r.capabilities, verified_at = case when r.verified then coalesce(a.verified_at, now()) end
        from (
          select join_capabilities(s.capabilities, d.granted_here, d.revoked_here) as capabilities,
            coalesce(d.verified_here, s.verified) as verified
          from accounts d, find_said(of_account) s where d.id = of_account
        ) r
        where a.id = of_account and (
          not (a.capabilities @> r.capabilities and a.capabilities <@ r.capabilities)
          or (a.verified_at is not null) <> r.verified)
    $$`.execute(db);
}

/**
 * What there is by now was given by the marketplace, or at a Connect, where the history says so or nothing; the rest, and
 * what an account without a link has, was decided here.
 */
async function fillIn(db: Kysely<unknown>): Promise<void> {
  await sql`
    with held as (
      select id, unnest(capabilities) as what from accounts
      union all select id, 'verified' from accounts where verified_at is not null
    ), found as (
      select h.id, h.what, exists (
          select from users u join external_links l on l.user_id = u.id where u.account_id = h.id
        ) and coalesce((
          select c.by in ('marketplace', 'person') from changes c
          where c.subject = 'account' and c.row_id = h.id::text and c.kind <> 'found' and case h.what
            when 'verified' then c.members -> 'verified_at' ->> 'from' is null
              and c.members -> 'verified_at' ->> 'to' is not null
            else c.members -> 'capabilities' -> 'to' ? h.what
              and not coalesce(c.members -> 'capabilities' -> 'from' ? h.what, false) end
          order by c.at desc limit 1
        ), true) as is_said
      from held h
    ), given as (
      select id, is_said, array_agg(what order by what) filter (where what <> 'verified') as capabilities,
        bool_or(what = 'verified') as verified
      from found group by id, is_said
    ), decided as (
      update accounts a set granted_here = g.capabilities, verified_here = nullif(g.verified, false)
        from given g where g.id = a.id and not g.is_said
    )
    update external_links l set capabilities = g.capabilities, verified = g.verified
      from given g join users u on u.account_id = g.id where g.is_said and u.id = l.user_id`.execute(db);
}

async function createTriggers(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');
  // With the rights of the tables' owner: whoever may change an account need not be able to read links.
  const trigger = sql`returns trigger language plpgsql security definer set search_path = ${schema}, pg_temp as`;

  // Who the transaction works for, believed from whom the history believes it (2026-11-25-history.ts).
  await sql`
    create function author_of_transaction() returns text language sql stable as $$
      select coalesce(
        case when has_table_privilege(session_user, 'changes', 'insert')
          then nullif(current_setting('identity.origin', true), '')::jsonb ->> 'by' end,
        'database')
    $$`.execute(db);
  // Whoever writes the rights of an account, by SQL or in a command, has decided them here. What the version before writes
  // for a profile of the marketplace goes to its link, at the end of the transaction.
  await sql`
    create function accounts_decide_rights() ${trigger} $$
    declare
      said record := find_said(new.id);
      joined text[] := join_capabilities(said.capabilities, new.granted_here, new.revoked_here);
      is_verified boolean := coalesce(new.verified_here, said.verified);
    begin
      if tg_op = 'UPDATE' and (old.granted_here, old.revoked_here, old.verified_here)
          is distinct from (new.granted_here, new.revoked_here, new.verified_here) then
        new.capabilities := joined;
        new.verified_at := case when is_verified then coalesce(new.verified_at, now()) end;
      elsif author_of_transaction() not in ('marketplace', 'person') then
        new.granted_here := join_capabilities(
          new.granted_here, array(select unnest(new.capabilities) except select unnest(joined)),
          array(select unnest(joined) except select unnest(new.capabilities)));
        new.revoked_here := join_capabilities(
          new.revoked_here, array(select unnest(joined) except select unnest(new.capabilities)), new.capabilities);
        if (new.verified_at is not null) <> is_verified then
          new.verified_here := new.verified_at is not null;
        end if;
      end if;
      new.granted_here := nullif(new.granted_here, '{}');
      new.revoked_here := nullif(new.revoked_here, '{}');
      return new;
    end $$`.execute(db);
  await sql`
    create trigger accounts_decide_rights_of_new before insert on accounts
      for each row when (new.capabilities <> '{}' or new.verified_at is not null)
      execute function accounts_decide_rights()`.execute(db);
  await sql`
    create trigger accounts_decide_rights before update on accounts
      for each row when (
        (old.capabilities, old.verified_at, old.granted_here, old.revoked_here, old.verified_here) is distinct from
        (new.capabilities, new.verified_at, new.granted_here, new.revoked_here, new.verified_here))
      execute function accounts_decide_rights()`.execute(db);

  await sql`
    create function external_links_await_hearing() ${trigger} $$
    begin
      if author_of_transaction() in ('marketplace', 'person') then new.said_at := '-infinity'; end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger external_links_await_hearing_of_new before insert on external_links
      for each row when (new.said_at is null and new.applied_profile_updated_at is not null)
      execute function external_links_await_hearing()`.execute(db);
  await sql`
    create trigger external_links_await_hearing before update on external_links
      for each row when (
        new.applied_profile_updated_at is distinct from old.applied_profile_updated_at
        and new.applied_profile_updated_at is not null and new.said_at is not distinct from old.said_at)
      execute function external_links_await_hearing()`.execute(db);

  await sql`
    create function external_links_settle_rights() ${trigger} $$
    begin
      if tg_op <> 'DELETE' then
        perform settle_rights(account_id) from users where id = new.user_id;
      end if;
      if tg_op <> 'INSERT' then
        perform settle_rights(account_id) from users where id = old.user_id;
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create constraint trigger external_links_settle_rights after insert or delete on external_links
      deferrable initially deferred for each row execute function external_links_settle_rights()`.execute(db);
  await sql`
    create constraint trigger external_links_settle_rights_of_changed after update on external_links
      deferrable initially deferred for each row when (
        (new.user_id, new.said_at, new.capabilities, new.verified) is distinct from
        (old.user_id, old.said_at, old.capabilities, old.verified))
      execute function external_links_settle_rights()`.execute(db);

  // Somebody leaves an account that others belong to, and their links with them.
  await sql`
    create function users_settle_rights() ${trigger} $$
    begin
      perform settle_rights(old.account_id);
      if tg_op = 'UPDATE' then perform settle_rights(new.account_id); end if;
      return null;
    end $$`.execute(db);
  await sql`
    create constraint trigger users_settle_rights after delete on users
      deferrable initially deferred for each row execute function users_settle_rights()`.execute(db);
  await sql`
    create constraint trigger users_settle_rights_of_moved after update on users
      deferrable initially deferred for each row when (old.account_id <> new.account_id)
      execute function users_settle_rights()`.execute(db);

  for (const name of [
    'accounts_decide_rights',
    'external_links_await_hearing',
    'external_links_settle_rights',
    'users_settle_rights',
  ])
    await sql`revoke execute on function ${sql.id(name)}() from public`.execute(db);

  // The history says the source, too: what was decided here, and what each link says.
  const decided = ['granted_here', 'revoked_here', 'verified_here'];
  const ofAccount = ['name', 'name_edited_at', 'capabilities', 'verified_at', ...decided];
  await recordMembers(db, 'accounts', 'account', ofAccount);
  const ofLink = ['provider', 'external_id', 'user_id', 'sleeping_since', 'capabilities', 'verified'];
  await recordMembers(db, 'external_links', 'link', ofLink);
}

/** As in 2026-11-25-history.ts. */
async function recordMembers(
  db: Kysely<unknown>,
  table: string,
  subject: string,
  columns: string[],
): Promise<void> {
  const words = sql.join([subject, ...columns].map((each) => sql.lit(each)));
  const rowOf = (name: 'old' | 'new') => sql.join(columns.map((column) => sql.ref(`${name}.${column}`)));
  await sql`drop trigger ${sql.id(`${table}_record_change`)} on ${sql.table(table)}`.execute(db);
  await sql`drop trigger ${sql.id(`${table}_record_update`)} on ${sql.table(table)}`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_record_change`)} after insert or delete on ${sql.table(table)}
      for each row execute function record_change(${words})`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_record_update`)} after update on ${sql.table(table)}
      for each row when ((${rowOf('old')}) is distinct from (${rowOf('new')}))
      execute function record_change(${words})`.execute(db);
}
