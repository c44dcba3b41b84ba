import { type Kysely, sql } from 'kysely';

// What an account may do, and whether it is verified, has two sources (contract section 2): what was decided here, kept
// with the account, and what the marketplace says, kept with each link. `accounts.capabilities` and `verified_at` are what
// both come to.
//
// Nothing is filled in by this migration, which would keep logins waiting. Whose a right from before is, is worked out when
// its account or a link of it is first written to: `sources_known` says for an account, `capabilities` that is not null for
// a link, that this was done.
export async function up(db: Kysely<unknown>): Promise<void> {
  // Of the three columns, null: nothing was decided.
  await sql`
    alter table accounts
      add column granted_here text[],
      add column revoked_here text[],
      add column verified_here boolean,
      add column sources_known boolean not null default false,
      alter column sources_known set default true,
      add constraint accounts_decided_once check (not granted_here && revoked_here)`.execute(db);
  // `said_at` is the time of the profile that said it. The version before applies profiles without writing it: a trigger
  // makes it '-infinity' then, until what that version wrote to the account is taken from there.
  await sql`
    alter table external_links
      add column capabilities text[],
      add column verified boolean,
      add column said_at timestamptz`.execute(db);

  await createFunctions(db);
  await createTriggers(db);
  await keepSourcesInHistory(db);
}

async function createFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function join_capabilities(said text[], granted text[], revoked text[]) returns text[]
      language sql immutable as $$
      select array(
        (select unnest(said) union select unnest(granted)) except select unnest(revoked) order by 1
      )
    $$`.execute(db);

  // Who the transaction works for, believed from whom the history believes it (2026-11-25-history.ts).
  await sql`
    create function author_of_transaction() returns text language sql stable as $$
      select coalesce(
        case when has_table_privilege(session_user, 'changes', 'insert')
          then nullif(current_setting('identity.origin', true), '')::jsonb ->> 'by' end,
        'database')
    $$`.execute(db);

  // What an account from before has because it was decided here: what the history does not say that the marketplace or a
  // Connect gave, where it says anything, and all that an account without a link has.
  await sql`
    create function find_decided_before(
      of_account uuid, present text[], is_verified boolean, out granted text[], out verified boolean
    ) language sql stable as $$
      with decided as (
        select what from unnest(present || case when is_verified then '{verified}'::text[] end) as what
        where not exists (
          select from users u join external_links l on l.user_id = u.id where u.account_id = of_account
        ) or not coalesce((
          select c.by in ('marketplace', 'person') from changes c
          where c.subject = 'account' and c.row_id = of_account::text and c.kind <> 'found' and case what
            when 'verified' then c.members -> 'verified_at' ->> 'from' is null
              and c.members -> 'verified_at' ->> 'to' is not null
            else c.members -> 'capabilities' -> 'to' ? what
              and not coalesce(c.members -> 'capabilities' -> 'from' ? what, false) end
          order by c.at desc limit 1
        ), true)
      )
      select nullif(array(select what from decided where what <> 'verified' order by 1), '{}'),
        nullif(exists (select from decided where what = 'verified'), false)
    $$`.execute(db);

  // A link from before says what its account had then and nobody had decided here.
  await sql`
    create function hear_links_from_before(of_account uuid, present text[], granted text[], is_verified boolean)
      returns void language sql as $$
      update external_links l
        set capabilities = join_capabilities(present, null, granted), verified = is_verified
        from users u
        where u.account_id = of_account and l.user_id = u.id and l.capabilities is null
          and l.said_at is distinct from '-infinity'
    $$`.execute(db);

  // Works out whose each right from before is. Triggers do so by `sources_known` alone, before what they are about.
  await sql`
    create function know_sources(of_account uuid) returns void language sql as $$
      update accounts a
        set (granted_here, verified_here, sources_known) = (
          select d.granted, d.verified, true
          from find_decided_before(a.id, a.capabilities, a.verified_at is not null) d)
        where a.id = of_account and not a.sources_known;
      select hear_links_from_before(id, capabilities, granted_here, verified_at is not null and verified_here is null)
        from accounts where id = of_account
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
      select know_sources(of_account);
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

async function createTriggers(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');
  // With the rights of the tables' owner: whoever may change an account need not be able to read links.
  const trigger = sql`returns trigger language plpgsql security definer set search_path = ${schema}, pg_temp as`;

  // Whoever changes the rights of an account, by SQL or in a command, decides them here: all that the statement changes, and
  // that is not what both sources come to anyway. The version before changes them for the marketplace or a person, in place
  // of what the link says: that stays until it is taken from here, at the end of the transaction.
  await sql`
    create function accounts_decide_rights() ${trigger} $$
    declare
      is_new boolean := tg_op = 'INSERT';
      before text[] := case when is_new then '{}' else old.capabilities end;
      was_verified boolean := not is_new and old.verified_at is not null;
      decides boolean := is_new or (old.capabilities, old.verified_at) is distinct from (new.capabilities, new.verified_at);
      -- By the statement itself, which may also be one that only asks for the sources, before a link is written to.
      is_changed boolean := not is_new and
        (old.capabilities, old.verified_at, old.granted_here, old.revoked_here, old.verified_here) is distinct from
        (new.capabilities, new.verified_at, new.granted_here, new.revoked_here, new.verified_here);
      granted_before text[] := case when not is_new then old.granted_here end;
      verified_before boolean := case when not is_new then old.verified_here end;
      said record;
      joined text[];
      is_verified boolean;
      given text[];
      taken text[];
    begin
      if not is_new and not old.sources_known then
        select granted, verified into granted_before, verified_before
          from find_decided_before(old.id, old.capabilities, was_verified);
        new.granted_here := join_capabilities(new.granted_here, granted_before, new.revoked_here);
        new.verified_here := coalesce(new.verified_here, verified_before);
        new.sources_known := true;
      end if;
      if is_changed then
        perform hear_links_from_before(old.id, before, granted_before, was_verified and verified_before is null);
      elsif not is_new then
        new.granted_here := nullif(new.granted_here, '{}');
        return new;
      end if;
      said := find_said(new.id);
      joined := join_capabilities(said.capabilities, new.granted_here, new.revoked_here);
      is_verified := coalesce(new.verified_here, said.verified);

      if decides and author_of_transaction() not in ('marketplace', 'person') then
        given := array(select unnest(new.capabilities) except select unnest(before) except select unnest(joined));
        taken := array(
          (select unnest(before) except select unnest(new.capabilities)) intersect select unnest(joined));
        new.granted_here := join_capabilities(new.granted_here, given, taken);
        new.revoked_here := join_capabilities(new.revoked_here, taken, given);
        if (new.verified_at is not null) not in (was_verified, is_verified) then
          new.verified_here := new.verified_at is not null;
        end if;
        joined := join_capabilities(said.capabilities, new.granted_here, new.revoked_here);
        is_verified := coalesce(new.verified_here, said.verified);
      elsif decides then
        joined := new.capabilities;
        is_verified := new.verified_at is not null;
      end if;

      if not (new.capabilities @> joined and new.capabilities <@ joined) then new.capabilities := joined; end if;
      new.verified_at := case when is_verified then coalesce(new.verified_at, now()) end;
      new.granted_here := nullif(new.granted_here, '{}');
      new.revoked_here := nullif(new.revoked_here, '{}');
      return new;
    end $$`.execute(db);
  await sql`
    create trigger accounts_decide_rights_of_new before insert on accounts
      for each row when (
        new.capabilities <> '{}' or
        num_nonnulls(new.verified_at, new.granted_here, new.revoked_here, new.verified_here) > 0)
      execute function accounts_decide_rights()`.execute(db);
  await sql`
    create trigger accounts_decide_rights before update on accounts
      for each row when (
        (old.capabilities, old.verified_at, old.granted_here, old.revoked_here, old.verified_here, old.sources_known)
        is distinct from
        (new.capabilities, new.verified_at, new.granted_here, new.revoked_here, new.verified_here, new.sources_known))
      execute function accounts_decide_rights()`.execute(db);

  // Before a link comes, goes or says something else, it is worked out what its account has without it. Not when a link from
  // before is heard, which is part of that.
  await sql`
    create function external_links_know_sources() ${trigger} $$
    declare
      author text := author_of_transaction();
    begin
      update accounts a set sources_known = true from users u
        where not a.sources_known and a.id = u.account_id
          and u.id in (
            case when tg_op <> 'INSERT' then old.user_id end, case when tg_op <> 'DELETE' then new.user_id end);
      if tg_op = 'DELETE' then return old; end if;
      if tg_op = 'UPDATE' then
        if new.user_id <> old.user_id and old.capabilities is null and new.capabilities is null then
          -- It takes along what it says, and does not say what its new account has.
          select join_capabilities(a.capabilities, null, a.granted_here),
              a.verified_at is not null and a.verified_here is null
            into new.capabilities, new.verified
            from users u join accounts a on a.id = u.account_id where u.id = old.user_id;
        end if;
        if author in ('marketplace', 'person') and new.said_at is not distinct from old.said_at
            and new.applied_profile_updated_at <> coalesce(old.applied_profile_updated_at, '-infinity') then
          new.said_at := '-infinity';
        end if;
      elsif author in ('marketplace', 'person') and new.said_at is null
          and new.applied_profile_updated_at is not null then
        new.said_at := '-infinity';
      else
        new.capabilities := coalesce(new.capabilities, '{}');
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger external_links_know_sources before insert or delete on external_links
      for each row execute function external_links_know_sources()`.execute(db);
  await sql`
    create trigger external_links_know_sources_of_changed before update on external_links
      for each row when (
        (new.user_id, new.applied_profile_updated_at) is distinct from (old.user_id, old.applied_profile_updated_at)
        or (old.capabilities is not null
          and (new.capabilities, new.verified) is distinct from (old.capabilities, old.verified)))
      execute function external_links_know_sources()`.execute(db);

  // At the end of the transaction, so that the order of its statements does not matter.
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
    create function users_know_sources() ${trigger} $$
    begin
      update accounts set sources_known = true
        where not sources_known and id in (old.account_id, case when tg_op = 'UPDATE' then new.account_id end);
      perform hear_links_from_before(
          id, capabilities, granted_here, verified_at is not null and verified_here is null)
        from accounts where id in (old.account_id, case when tg_op = 'UPDATE' then new.account_id end);
      return case when tg_op = 'UPDATE' then new else old end;
    end $$`.execute(db);
  await sql`
    create function users_settle_rights() ${trigger} $$
    begin
      perform settle_rights(old.account_id);
      if tg_op = 'UPDATE' then perform settle_rights(new.account_id); end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_know_sources before delete on users
      for each row execute function users_know_sources()`.execute(db);
  await sql`
    create trigger users_know_sources_of_moved before update on users
      for each row when (old.account_id <> new.account_id) execute function users_know_sources()`.execute(db);
  await sql`
    create constraint trigger users_settle_rights after delete on users
      deferrable initially deferred for each row execute function users_settle_rights()`.execute(db);
  await sql`
    create constraint trigger users_settle_rights_of_moved after update on users
      deferrable initially deferred for each row when (old.account_id <> new.account_id)
      execute function users_settle_rights()`.execute(db);

  for (const name of [
    'accounts_decide_rights',
    'external_links_know_sources',
    'external_links_settle_rights',
    'users_know_sources',
    'users_settle_rights',
  ])
    await sql`revoke execute on function ${sql.id(name)}() from public`.execute(db);
}

/** The history says the source, too: what was decided here, and what each link says. */
async function keepSourcesInHistory(db: Kysely<unknown>): Promise<void> {
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
