import { type Kysely, sql } from 'kysely';

// Who of the staff did something to somebody, and why (contract 12.22). The version before writes neither.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_events add column if not exists actor_id uuid, add column why text`.execute(db);
  await sql`
    alter table changes add column actor_id uuid, add column why text, drop constraint changes_by_known,
      add constraint changes_by_known check (
        by in ('person', 'staff', 'marketplace', 'crm', 'operator', 'service', 'database'))`.execute(db);
  await sql`
    create index if not exists audit_events_actor_id_at_idx on audit_events (actor_id, at)
      where actor_id is not null`.execute(db);
  await sql`create index if not exists audit_events_type_at_idx on audit_events (type, at)`.execute(db);
  await sql`${sql.raw(writeChange)}`.execute(db);
  await sql`${sql.raw(eraseChanges)}`.execute(db);
}

// Writes down who of the staff it was, and why.
const writeChange = `
CREATE OR REPLACE FUNCTION write_change(about text, names text[], before jsonb, after jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
          by, by_user, request_id, cause, role, actor_id, why)
        values (
          greatest(clock_timestamp(), last + interval '1 microsecond'), about,
          case when about = 'link' and is_erased then null else own_id end, person, account,
          case when before is null then 'created' when after is null then 'removed' else 'changed' end,
          members,
          case when is_erased then clock_timestamp() end,
          coalesce(origin ->> 'by', 'database'), (origin ->> 'user')::uuid,
          case when not is_erased then origin ->> 'request' end, origin ->> 'cause', session_user,
          (origin ->> 'actor')::uuid, case when not is_erased then origin ->> 'why' end
        );
    end $function$;`;

// Erases the reasons, too.
const eraseChanges = `
CREATE OR REPLACE FUNCTION erase_changes(about text, person uuid, account uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      if about = 'account' then
        update changes c set members = null, erased_at = clock_timestamp(), request_id = null, cause = null, why = null
          where c.subject = 'account' and c.row_id = account::text and c.erased_at is null;
      elsif about = 'user' then
        update changes c set members = null, erased_at = clock_timestamp(), request_id = null, cause = null, why = null,
            row_id = case c.subject when 'link' then null else c.row_id end
          where c.user_id = person and c.subject in ('user', 'link') and c.erased_at is null;
        update changes c set request_id = null, cause = null, why = null
          where c.user_id = person and c.subject = 'contract';
        update changes c set request_id = null, cause = null, why = null
          where c.subject = 'account' and c.row_id = account::text and c.by_user = person;
        -- What was written about the person is kept with the account that others still belong to.
        update changes c set why = null
          where c.subject = 'account' and c.row_id = account::text and c.why is not null;
      end if;
    end $function$;`;
