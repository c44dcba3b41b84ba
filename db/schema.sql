-- What is in force in the database: what all migrations come to. Written by "npm run schema" from the catalog of Postgres;
-- change it by a new migration (docs/inside/recipes/migration.md), never by hand.
--
-- First the functions that triggers of several tables use. Then each table, behind those it refers to, with its indexes, its
-- triggers, and the functions that only they use. At the end, functions with rows of tables as arguments, which need the
-- tables first. Triggers of the same moment fire in the order of their names; a constraint trigger that is DEFERRABLE
-- INITIALLY DEFERRED fires at the end of the transaction.

SET check_function_bodies = off;

-- Used by triggers of: launches, service_contracts, sessions, users
CREATE OR REPLACE FUNCTION append_event(to_client text, of_type text, about_user uuid, about_contract uuid, with_body jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

-- Used by triggers of: accounts, external_links, service_contracts, users
CREATE OR REPLACE FUNCTION record_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET enable_seqscan TO 'off'
AS $function$
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
    end $function$;
REVOKE EXECUTE ON FUNCTION record_change() FROM PUBLIC;

-- Used by triggers of: accounts, external_links, service_contracts, users
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
    end $function$;

-- Used by triggers of: accounts, external_links, service_contracts, users
CREATE OR REPLACE FUNCTION list_members(names text[], before jsonb, after jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
      select coalesce(
        jsonb_object_agg(m.name, jsonb_build_object('from', before -> m.name, 'to', after -> m.name)), '{}')
      from unnest(names) as m(name) where before -> m.name is distinct from after -> m.name
    $function$;

-- Used by triggers of: accounts, external_links, service_contracts, users
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
    end $function$;

-- Used by triggers of: accounts, external_links, service_contracts, users
CREATE OR REPLACE FUNCTION refuse_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'truncate % would leave no history: delete its rows', tg_table_name;
    end $function$;

-- Used by triggers of: accounts, external_links, users
CREATE OR REPLACE FUNCTION join_capabilities(said text[], granted text[], revoked text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
      select array(
        (select unnest(said) union select unnest(granted)) except select unnest(revoked) order by 1
      )
    $function$;

-- Used by triggers of: accounts, external_links
CREATE OR REPLACE FUNCTION author_of_transaction()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      select coalesce(
        case when has_table_privilege(session_user, 'changes', 'insert')
          then nullif(current_setting('identity.origin', true), '')::jsonb ->> 'by' end,
        'database')
    $function$;

-- Used by triggers of: accounts, external_links, users
CREATE OR REPLACE FUNCTION find_decided_before(of_account uuid, present text[], is_verified boolean, OUT granted text[], OUT verified boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
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
    $function$;

-- Used by triggers of: accounts, external_links, users
CREATE OR REPLACE FUNCTION hear_links_from_before(of_account uuid, present text[], granted text[], is_verified boolean)
 RETURNS void
 LANGUAGE sql
AS $function$
      update external_links l
        set capabilities = join_capabilities(present, null, granted), verified = is_verified
        from users u
        where u.account_id = of_account and l.user_id = u.id and l.capabilities is null
          and l.said_at is distinct from '-infinity'
    $function$;

-- Used by triggers of: external_links, users
CREATE OR REPLACE FUNCTION know_sources(of_account uuid)
 RETURNS void
 LANGUAGE sql
AS $function$
      update accounts a
        set (granted_here, verified_here, sources_known) = (
          select d.granted, d.verified, true
          from find_decided_before(a.id, a.capabilities, a.verified_at is not null) d)
        where a.id = of_account and not a.sources_known;
      select hear_links_from_before(id, capabilities, granted_here, verified_at is not null and verified_here is null)
        from accounts where id = of_account
    $function$;

-- Used by triggers of: accounts, external_links, users
CREATE OR REPLACE FUNCTION find_said(of_account uuid, OUT capabilities text[], OUT verified boolean)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
      select array(
          select distinct unnest(l.capabilities) from users u join external_links l on l.user_id = u.id
            where u.account_id = of_account),
        exists (
          select from users u join external_links l on l.user_id = u.id where u.account_id = of_account and l.verified)
    $function$;

-- Used by triggers of: external_links, users
CREATE OR REPLACE FUNCTION settle_rights(of_account uuid)
 RETURNS void
 LANGUAGE sql
AS $function$
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
    $function$;
COMMENT ON FUNCTION settle_rights(uuid) IS 'Makes the rights of an account the sum of both sources. Called at the end of a transaction that changed its links.';

-- Used by triggers of: billing_details, invoices, service_contracts, users
CREATE OR REPLACE FUNCTION billing_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$select clock_timestamp()$function$;

-- Used by triggers of: allocations, billing_settings, document_files, documents, invoices, payments
CREATE OR REPLACE FUNCTION refuse_change_of_books()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'UPDATE' then
        if to_jsonb(old) - coalesce(tg_argv, '{}') = to_jsonb(new) - coalesce(tg_argv, '{}') then return new; end if;
      elsif tg_op = 'DELETE' and current_setting('identity.retention', true) = 'on' then
        return old;
      end if;
      raise exception '% keeps what was recorded', tg_table_name using errcode = 'check_violation';
    end $function$;

-- Used by triggers of: documents, invoices
CREATE OR REPLACE FUNCTION refuse_issue_while_paused()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      if current_setting('identity.recovery', true) is distinct from 'on'
        and exists (select from restores where billing_resumed_at is null) then
        raise exception 'billing waits since the database was restored' using errcode = 'check_violation';
      end if;
      return new;
    end $function$;
REVOKE EXECUTE ON FUNCTION refuse_issue_while_paused() FROM PUBLIC;

-- Used by triggers of: billing_details, users
CREATE OR REPLACE FUNCTION wake_document_mails()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      update mails set
          created_at = least(created_at, now()),
          next_attempt_at = case when attempts = 0 then least(next_attempt_at, now())
            when next_attempt_at >= '9999-01-01 00:00:00Z' then next_attempt_at
            when next_attempt_at > billing_now() + interval '3 minutes' then billing_now()
            else next_attempt_at - interval '1 millisecond' end
        where user_id in (select id from users where account_id = new.account_id)
          and sent_at is null and given_up_at is null and kind in ('invoice_issued', 'credit_note_issued');
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION wake_document_mails() FROM PUBLIC;

-- Used by triggers of: client_secrets, clients, oidc_keys, restores
CREATE OR REPLACE FUNCTION note_client_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      update client_changes set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION note_client_change() FROM PUBLIC;

-- accounts ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   billing_details (account_id) ON DELETE CASCADE
--   service_contracts (account_id)
--   users (account_id)
CREATE TABLE accounts (
  id uuid NOT NULL,
  name text NOT NULL,
  capabilities text[] NOT NULL DEFAULT '{}'::text[],
  verified_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name_edited_at timestamp with time zone,
  granted_here text[],
  revoked_here text[],
  verified_here boolean,
  sources_known boolean NOT NULL DEFAULT true,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_capabilities_known CHECK (capabilities <@ ARRAY['manage_storefront'::text, 'sell_media_inventory'::text, 'sell_products'::text, 'sell_services'::text]),
  CONSTRAINT accounts_decided_once CHECK (NOT granted_here && revoked_here),
  CONSTRAINT accounts_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
COMMENT ON COLUMN accounts.capabilities IS 'What counts: what the links of its users say and what was granted here, without what was revoked here (join_capabilities). Triggers work it out, whoever writes it.';
COMMENT ON COLUMN accounts.granted_here IS 'Decided here: by an operator or by SQL. Null: nothing was.';
COMMENT ON COLUMN accounts.revoked_here IS 'As granted_here.';
COMMENT ON COLUMN accounts.verified_here IS 'Null: not decided here, so verified_at follows the links.';
COMMENT ON COLUMN accounts.sources_known IS 'False: not written to since rights have two sources. Whose its rights are is worked out from the history then (find_decided_before).';

CREATE OR REPLACE FUNCTION touch_profiles_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update users set profile_updated_at = profile_updated_at + interval '1 millisecond'
        where account_id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION accounts_decide_rights()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
    end $function$;
REVOKE EXECUTE ON FUNCTION accounts_decide_rights() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queue_people_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      insert into people_to_index (user_id) select id from users where account_id = new.id on conflict do nothing;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION queue_people_of_account() FROM PUBLIC;

CREATE TRIGGER accounts_decide_rights BEFORE UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at OR old.granted_here IS DISTINCT FROM new.granted_here OR old.revoked_here IS DISTINCT FROM new.revoked_here OR old.verified_here IS DISTINCT FROM new.verified_here OR old.sources_known IS DISTINCT FROM new.sources_known)
  EXECUTE FUNCTION accounts_decide_rights();

CREATE TRIGGER accounts_decide_rights_of_new BEFORE INSERT ON accounts
  FOR EACH ROW
  WHEN (new.capabilities <> '{}'::text[] OR num_nonnulls(new.verified_at, new.granted_here, new.revoked_here, new.verified_here) > 0)
  EXECUTE FUNCTION accounts_decide_rights();

CREATE TRIGGER accounts_queue_people AFTER UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.name IS DISTINCT FROM new.name OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at)
  EXECUTE FUNCTION queue_people_of_account();

CREATE TRIGGER accounts_record_change AFTER INSERT OR DELETE ON accounts
  FOR EACH ROW
  EXECUTE FUNCTION record_change('account', 'name', 'name_edited_at', 'capabilities', 'verified_at', 'granted_here', 'revoked_here', 'verified_here');

CREATE TRIGGER accounts_record_update AFTER UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.name IS DISTINCT FROM new.name OR old.name_edited_at IS DISTINCT FROM new.name_edited_at OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at OR old.granted_here IS DISTINCT FROM new.granted_here OR old.revoked_here IS DISTINCT FROM new.revoked_here OR old.verified_here IS DISTINCT FROM new.verified_here)
  EXECUTE FUNCTION record_change('account', 'name', 'name_edited_at', 'capabilities', 'verified_at', 'granted_here', 'revoked_here', 'verified_here');

CREATE TRIGGER accounts_refuse_truncate BEFORE TRUNCATE ON accounts
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE TRIGGER accounts_touch_profiles AFTER UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.name IS DISTINCT FROM new.name OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at)
  EXECUTE FUNCTION touch_profiles_of_account();

-- erased_users --------------------------------------------------------------------------------------------------------

-- Referred to by:
--   service_contracts (erased_user_id)
CREATE TABLE erased_users (
  id uuid NOT NULL,
  erased_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT erased_users_pkey PRIMARY KEY (id)
);
COMMENT ON TABLE erased_users IS 'Written by the service when it erases a user. No user gets one of these ids again.';

-- users ---------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   authenticators (user_id) ON DELETE CASCADE
--   client_users (user_id) ON DELETE CASCADE
--   devices (user_id) ON DELETE CASCADE
--   external_links (user_id) ON DELETE CASCADE
--   launches (user_id) ON DELETE CASCADE
--   mail_tokens (user_id) ON DELETE CASCADE
--   mails (user_id) ON DELETE CASCADE
--   new_addresses (user_id) ON DELETE CASCADE
--   passkeys (user_id) ON DELETE CASCADE
--   pending_email_changes (user_id) ON DELETE CASCADE
--   pending_hand_offs (user_id) ON DELETE CASCADE
--   pending_logins (user_id) ON DELETE CASCADE
--   person_words (user_id) ON DELETE CASCADE
--   recovery_codes (user_id) ON DELETE CASCADE
--   refused_forms (user_id) ON DELETE CASCADE
--   reserved_addresses (user_id) ON DELETE CASCADE
--   service_contracts (user_id)
--   sessions (user_id) ON DELETE CASCADE
--   staff_invitations (invited_by) ON DELETE CASCADE
--   staff_invitations (taken_by) ON DELETE CASCADE
--   staff_notes (author_id) ON DELETE SET NULL
--   staff_notes (user_id) ON DELETE CASCADE
--   take_back_changes (user_id) ON DELETE CASCADE
CREATE TABLE users (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  role text NOT NULL DEFAULT 'user'::text,
  password_hash text,
  email_verified_at timestamp with time zone,
  suspended_at timestamp with time zone,
  profile_updated_at timestamp(3) with time zone NOT NULL DEFAULT date_trunc('milliseconds'::text, clock_timestamp()),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name_edited_at timestamp with time zone,
  holds_email boolean NOT NULL,
  deletion_due_at timestamp with time zone,
  has_passkey boolean NOT NULL DEFAULT false,
  has_authenticator boolean NOT NULL DEFAULT false,
  frozen_at timestamp with time zone,
  passkeys_declined_at timestamp with time zone,
  time_zone text,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_length CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  CONSTRAINT users_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  CONSTRAINT users_proved_is_held CHECK (holds_email OR email_verified_at IS NULL),
  CONSTRAINT users_role_known CHECK (role = ANY (ARRAY['user'::text, 'manager'::text, 'admin'::text])),
  CONSTRAINT users_time_zone_length CHECK (char_length(time_zone) >= 1 AND char_length(time_zone) <= 64),
  CONSTRAINT users_typed_has_no_password CHECK (holds_email OR password_hash IS NULL),
  CONSTRAINT users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX users_account_id_idx ON users USING btree (account_id);
CREATE INDEX users_deletion_due_at_idx ON users USING btree (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
CREATE UNIQUE INDEX users_held_email_key ON users USING btree (email) WHERE holds_email;
CREATE INDEX users_typed_email_idx ON users USING btree (email) WHERE NOT holds_email;

CREATE OR REPLACE FUNCTION keep_profile_updated_at()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE OR REPLACE FUNCTION end_sessions_of_suspended_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update sessions set ended_at = now() where user_id = new.id and ended_at is null;
      delete from pending_hand_offs where user_id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION refuse_reserved_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (select from reserved_addresses where email = new.email and user_id <> new.id) then
        raise unique_violation using
          message = 'the address is reserved for another user', constraint = 'users_email_not_reserved';
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION refuse_erased_id()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (select from erased_users where id = new.id) then
        raise unique_violation using message = 'This id was of a user who has been erased.',
          constraint = 'users_id_never_reused';
      end if;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION end_pending_logins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      delete from pending_logins where user_id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION append_profile_event(to_client text, about_user uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      perform append_event(to_client, 'profile.updated', about_user, null, build_profile(u, a))
        from users u join accounts a on a.id = u.account_id where u.id = about_user;
    end $function$;

CREATE OR REPLACE FUNCTION tell_clients_of_profile()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      perform append_profile_event(client, new.id) from client_users where user_id = new.id;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_clients_of_profile() FROM PUBLIC;

CREATE OR REPLACE FUNCTION tell_clients_of_suspension()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      perform append_event(
          client, case when new.suspended_at is null then 'user.restored' else 'user.suspended' end, new.id, null, null)
        from client_users where user_id = new.id;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_clients_of_suspension() FROM PUBLIC;

CREATE OR REPLACE FUNCTION tell_clients_of_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      update sessions set ended_at = now() where user_id = old.id and ended_at is null;
      update events set type = 'erased', user_id = null, contract_id = null, body = null
        where user_id = old.id and (made_in <> pg_current_xact_id() or type = 'profile.updated');
      perform append_event(client, 'user.deleted', old.id, null, null) from client_users where user_id = old.id;
      return old;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_clients_of_deletion() FROM PUBLIC;

CREATE OR REPLACE FUNCTION refuse_to_end_suspension()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise check_violation using
        message = 'the account is frozen: user:thaw ends that', constraint = 'users_frozen_is_suspended';
    end $function$;

CREATE OR REPLACE FUNCTION shift_times_of_user(of_user uuid, seconds double precision, since timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
      shift interval := make_interval(secs => seconds);
    begin
      -- Those that are over, too: how far they lie from the others is what the window goes by.
      update take_back_changes set expires_at = expires_at + shift
        where user_id = of_user and (seconds > 0 or expires_at > timestamptz '2900-01-01 00:00:00Z');
      update mail_tokens set expires_at = expires_at + shift
        where user_id = of_user and purpose = 'undo_email_change' and expires_at > since;
      update reserved_addresses set expires_at = expires_at + shift where user_id = of_user and expires_at > since;
    end $function$;

CREATE OR REPLACE FUNCTION users_let_time_stand_still()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      far timestamptz := timestamptz '3000-01-01 00:00:00Z';
      seconds float8 := extract(epoch from far - now());
    begin
      if new.suspended_at is null then perform shift_times_of_user(new.id, -seconds, far);
      else perform shift_times_of_user(new.id, seconds, now());
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION users_know_sources()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      update accounts set sources_known = true
        where not sources_known and id in (old.account_id, case when tg_op = 'UPDATE' then new.account_id end);
      perform hear_links_from_before(
          id, capabilities, granted_here, verified_at is not null and verified_here is null)
        from accounts where id in (old.account_id, case when tg_op = 'UPDATE' then new.account_id end);
      return case when tg_op = 'UPDATE' then new else old end;
    end $function$;
REVOKE EXECUTE ON FUNCTION users_know_sources() FROM PUBLIC;

CREATE OR REPLACE FUNCTION users_settle_rights()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      perform settle_rights(old.account_id);
      if tg_op = 'UPDATE' then perform settle_rights(new.account_id); end if;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION users_settle_rights() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queue_person()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      insert into people_to_index (user_id) values (new.id) on conflict do nothing;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION queue_person() FROM PUBLIC;

CREATE OR REPLACE FUNCTION end_new_address()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      delete from new_addresses where user_id = new.id;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION end_new_address() FROM PUBLIC;

CREATE OR REPLACE FUNCTION end_staff_invitations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      delete from staff_invitations where taken_by = new.id
        or invited_by = new.id and (new.role <> 'admin' or new.suspended_at is not null or new.deletion_due_at is not null);
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION end_staff_invitations() FROM PUBLIC;

CREATE TRIGGER end_pending_logins AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (new.password_hash IS DISTINCT FROM old.password_hash OR new.email IS DISTINCT FROM old.email OR new.has_authenticator IS DISTINCT FROM old.has_authenticator OR new.suspended_at IS NOT NULL AND old.suspended_at IS NULL)
  EXECUTE FUNCTION end_pending_logins();

CREATE TRIGGER users_end_new_address AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (new.email IS DISTINCT FROM old.email OR new.holds_email IS DISTINCT FROM old.holds_email OR new.password_hash IS DISTINCT FROM old.password_hash OR new.role IS DISTINCT FROM old.role OR new.suspended_at IS NOT NULL AND old.suspended_at IS NULL OR new.deletion_due_at IS NOT NULL AND old.deletion_due_at IS NULL)
  EXECUTE FUNCTION end_new_address();

CREATE TRIGGER users_end_sessions_when_suspended AFTER UPDATE OF suspended_at ON users
  FOR EACH ROW
  WHEN (old.suspended_at IS NULL AND new.suspended_at IS NOT NULL)
  EXECUTE FUNCTION end_sessions_of_suspended_user();

CREATE TRIGGER users_end_staff_invitations AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (new.email IS DISTINCT FROM old.email OR new.holds_email IS DISTINCT FROM old.holds_email OR new.password_hash IS DISTINCT FROM old.password_hash OR new.role IS DISTINCT FROM old.role OR new.suspended_at IS NOT NULL AND old.suspended_at IS NULL OR new.deletion_due_at IS NOT NULL AND old.deletion_due_at IS NULL)
  EXECUTE FUNCTION end_staff_invitations();

CREATE TRIGGER users_frozen_is_suspended BEFORE INSERT OR UPDATE OF suspended_at, frozen_at ON users
  FOR EACH ROW
  WHEN (new.frozen_at IS NOT NULL AND new.suspended_at IS NULL)
  EXECUTE FUNCTION refuse_to_end_suspension();

CREATE TRIGGER users_keep_profile_updated_at BEFORE UPDATE ON users
  FOR EACH ROW
  EXECUTE FUNCTION keep_profile_updated_at();

CREATE TRIGGER users_know_sources BEFORE DELETE ON users
  FOR EACH ROW
  EXECUTE FUNCTION users_know_sources();

CREATE TRIGGER users_know_sources_of_moved BEFORE UPDATE ON users
  FOR EACH ROW
  WHEN (old.account_id <> new.account_id)
  EXECUTE FUNCTION users_know_sources();

CREATE TRIGGER users_let_time_stand_still AFTER UPDATE OF suspended_at ON users
  FOR EACH ROW
  WHEN ((old.suspended_at IS NULL) <> (new.suspended_at IS NULL))
  EXECUTE FUNCTION users_let_time_stand_still();

CREATE TRIGGER users_queue_person AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (old.account_id IS DISTINCT FROM new.account_id OR old.email IS DISTINCT FROM new.email OR old.holds_email IS DISTINCT FROM new.holds_email OR old.name IS DISTINCT FROM new.name OR old.role IS DISTINCT FROM new.role OR old.email_verified_at IS DISTINCT FROM new.email_verified_at OR old.suspended_at IS DISTINCT FROM new.suspended_at OR old.frozen_at IS DISTINCT FROM new.frozen_at OR old.deletion_due_at IS DISTINCT FROM new.deletion_due_at)
  EXECUTE FUNCTION queue_person();

CREATE TRIGGER users_queue_person_of_new AFTER INSERT ON users
  FOR EACH ROW
  EXECUTE FUNCTION queue_person();

CREATE TRIGGER users_record_change AFTER INSERT OR DELETE ON users
  FOR EACH ROW
  EXECUTE FUNCTION record_change('user', 'account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role', 'suspended_at', 'deletion_due_at', 'time_zone');

CREATE TRIGGER users_record_update AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (old.account_id IS DISTINCT FROM new.account_id OR old.email IS DISTINCT FROM new.email OR old.holds_email IS DISTINCT FROM new.holds_email OR old.email_verified_at IS DISTINCT FROM new.email_verified_at OR old.name IS DISTINCT FROM new.name OR old.name_edited_at IS DISTINCT FROM new.name_edited_at OR old.role IS DISTINCT FROM new.role OR old.suspended_at IS DISTINCT FROM new.suspended_at OR old.deletion_due_at IS DISTINCT FROM new.deletion_due_at OR old.time_zone IS DISTINCT FROM new.time_zone)
  EXECUTE FUNCTION record_change('user', 'account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role', 'suspended_at', 'deletion_due_at', 'time_zone');

CREATE TRIGGER users_refuse_erased_id BEFORE INSERT ON users
  FOR EACH ROW
  EXECUTE FUNCTION refuse_erased_id();

CREATE TRIGGER users_refuse_reserved_address AFTER INSERT OR UPDATE OF email, holds_email ON users
  FOR EACH ROW
  WHEN (new.holds_email)
  EXECUTE FUNCTION refuse_reserved_address();

CREATE TRIGGER users_refuse_truncate BEFORE TRUNCATE ON users
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE CONSTRAINT TRIGGER users_settle_rights AFTER DELETE ON users DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  EXECUTE FUNCTION users_settle_rights();

CREATE CONSTRAINT TRIGGER users_settle_rights_of_moved AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (old.account_id <> new.account_id)
  EXECUTE FUNCTION users_settle_rights();

CREATE TRIGGER users_tell_clients_of_deletion BEFORE DELETE ON users
  FOR EACH ROW
  EXECUTE FUNCTION tell_clients_of_deletion();

CREATE TRIGGER users_tell_clients_of_profile AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (old.profile_updated_at IS DISTINCT FROM new.profile_updated_at)
  EXECUTE FUNCTION tell_clients_of_profile();

CREATE TRIGGER users_tell_clients_of_suspension AFTER UPDATE OF suspended_at ON users
  FOR EACH ROW
  WHEN ((old.suspended_at IS NULL) <> (new.suspended_at IS NULL))
  EXECUTE FUNCTION tell_clients_of_suspension();

CREATE TRIGGER users_wake_document_mails AFTER UPDATE OF email_verified_at ON users
  FOR EACH ROW
  WHEN (old.email_verified_at IS NULL AND new.email_verified_at IS NOT NULL)
  EXECUTE FUNCTION wake_document_mails();

-- service_contracts ---------------------------------------------------------------------------------------------------

-- Referred to by:
--   contract_charges (contract_id) ON DELETE CASCADE
--   invoices (contract_id)
--   waiting_periods (contract_id) ON DELETE CASCADE
CREATE TABLE service_contracts (
  id uuid NOT NULL,
  account_id uuid,
  signup_id text NOT NULL,
  plan text NOT NULL,
  status text NOT NULL,
  trial_ends_at timestamp with time zone,
  price_currency text,
  price_unit_amount bigint,
  price_interval text,
  occurred_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  user_id uuid,
  next_period_starts_at timestamp with time zone,
  billing_anchor_day smallint,
  arrival_number bigint,
  erased_user_id uuid,
  erased_account_id uuid,
  cancels_at timestamp with time zone,
  price_quantity integer,
  price_each bigint,
  reported_cancels_at timestamp with time zone,
  chosen_cancels_at timestamp with time zone,
  credit_from timestamp with time zone,
  CONSTRAINT service_contracts_pkey PRIMARY KEY (id),
  CONSTRAINT service_contracts_signup_id_key UNIQUE (signup_id),
  CONSTRAINT service_contracts_billing_anchor_day_known CHECK (billing_anchor_day >= 1 AND billing_anchor_day <= 31),
  CONSTRAINT service_contracts_billing_whole CHECK (num_nonnulls(next_period_starts_at, billing_anchor_day) = ANY (ARRAY[0, 2])),
  CONSTRAINT service_contracts_price_interval_known CHECK (price_interval = ANY (ARRAY['month'::text, 'year'::text])),
  CONSTRAINT service_contracts_price_unit_amount_positive CHECK (price_unit_amount >= 0),
  CONSTRAINT service_contracts_price_whole CHECK (num_nonnulls(price_currency, price_unit_amount, price_interval) = ANY (ARRAY[0, 3])),
  CONSTRAINT service_contracts_quantity_known CHECK (price_quantity >= 2 AND price_quantity <= 100000),
  CONSTRAINT service_contracts_quantity_whole CHECK (num_nonnulls(price_quantity, price_each) = ANY (ARRAY[0, 2])),
  CONSTRAINT service_contracts_status_known CHECK (status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'expired'::text])),
  CONSTRAINT service_contracts_trial_has_end CHECK (status <> 'trialing'::text OR trial_ends_at IS NOT NULL),
  CONSTRAINT service_contracts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT service_contracts_erased_user_id_fkey FOREIGN KEY (erased_user_id) REFERENCES erased_users(id),
  CONSTRAINT service_contracts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX service_contracts_account_id_idx ON service_contracts USING btree (account_id);
CREATE UNIQUE INDEX service_contracts_arrival_number_key ON service_contracts USING btree (arrival_number) WHERE arrival_number IS NOT NULL;
CREATE INDEX service_contracts_cancels_at_idx ON service_contracts USING btree (cancels_at) WHERE cancels_at IS NOT NULL AND (status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text]));
CREATE INDEX service_contracts_credit_from_idx ON service_contracts USING btree (credit_from) WHERE credit_from IS NOT NULL;
CREATE INDEX service_contracts_next_period_starts_at_idx ON service_contracts USING btree (next_period_starts_at) WHERE status = 'active'::text;
CREATE INDEX service_contracts_past_due_next_period_idx ON service_contracts USING btree (next_period_starts_at) WHERE status = 'past_due'::text;
CREATE INDEX service_contracts_trial_ends_at_idx ON service_contracts USING btree (trial_ends_at) WHERE status = 'trialing'::text;
CREATE INDEX service_contracts_unnumbered_idx ON service_contracts USING btree (created_at, id) WHERE arrival_number IS NULL;
CREATE INDEX service_contracts_user_id_idx ON service_contracts USING btree (user_id);

CREATE OR REPLACE FUNCTION tell_crm_of_contract()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      perform append_event('crm_app', 'contract.updated', coalesce(new.user_id, new.erased_user_id), new.id,
        jsonb_build_object('signup_id', new.signup_id, 'status', new.status, 'plan', new.plan,
          'trial_ends_at', case when isfinite(new.trial_ends_at) then new.trial_ends_at end, 'price_currency', new.price_currency,
          'price_unit_amount', new.price_unit_amount, 'price_interval', new.price_interval,
          'price_each', new.price_each, 'price_quantity', new.price_quantity,
          'occurred_at', case when isfinite(new.occurred_at) then new.occurred_at else new.created_at end,
          'cancels_at', case when isfinite(new.cancels_at) then new.cancels_at end));
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_crm_of_contract() FROM PUBLIC;

CREATE OR REPLACE FUNCTION refuse_early_past_due()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      if (select bool_and(coalesce(past_due_at, due_at) > billing_now() + interval '5 minutes') from invoices
          where contract_id = new.id and status = 'open' and due_at <= billing_now()) then
        raise exception 'nothing of this contract is past its days' using errcode = 'check_violation';
      end if;
      if exists (select from restores where billing_resumed_at is null) then
        raise exception 'billing waits since the database was restored' using errcode = 'check_violation';
      end if;
      return new;
    end $function$;
REVOKE EXECUTE ON FUNCTION refuse_early_past_due() FROM PUBLIC;

CREATE TRIGGER service_contracts_record_change AFTER INSERT OR DELETE ON service_contracts
  FOR EACH ROW
  EXECUTE FUNCTION record_change('contract', 'signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status', 'trial_ends_at', 'price_currency', 'price_unit_amount', 'price_interval', 'occurred_at', 'cancels_at');

CREATE TRIGGER service_contracts_record_update AFTER UPDATE ON service_contracts
  FOR EACH ROW
  WHEN (old.signup_id IS DISTINCT FROM new.signup_id OR old.user_id IS DISTINCT FROM new.user_id OR old.account_id IS DISTINCT FROM new.account_id OR old.erased_user_id IS DISTINCT FROM new.erased_user_id OR old.erased_account_id IS DISTINCT FROM new.erased_account_id OR old.plan IS DISTINCT FROM new.plan OR old.status IS DISTINCT FROM new.status OR old.trial_ends_at IS DISTINCT FROM new.trial_ends_at OR old.price_currency IS DISTINCT FROM new.price_currency OR old.price_unit_amount IS DISTINCT FROM new.price_unit_amount OR old.price_interval IS DISTINCT FROM new.price_interval OR old.occurred_at IS DISTINCT FROM new.occurred_at OR old.cancels_at IS DISTINCT FROM new.cancels_at)
  EXECUTE FUNCTION record_change('contract', 'signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status', 'trial_ends_at', 'price_currency', 'price_unit_amount', 'price_interval', 'occurred_at', 'cancels_at');

CREATE TRIGGER service_contracts_refuse_early_past_due BEFORE UPDATE ON service_contracts
  FOR EACH ROW
  WHEN (old.status = 'active'::text AND new.status = 'past_due'::text)
  EXECUTE FUNCTION refuse_early_past_due();

CREATE TRIGGER service_contracts_refuse_truncate BEFORE TRUNCATE ON service_contracts
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE TRIGGER service_contracts_tell_crm AFTER UPDATE ON service_contracts
  FOR EACH ROW
  WHEN (old.plan IS DISTINCT FROM new.plan OR old.status IS DISTINCT FROM new.status OR old.trial_ends_at IS DISTINCT FROM new.trial_ends_at OR old.price_currency IS DISTINCT FROM new.price_currency OR old.price_unit_amount IS DISTINCT FROM new.price_unit_amount OR old.price_interval IS DISTINCT FROM new.price_interval OR old.occurred_at IS DISTINCT FROM new.occurred_at OR old.cancels_at IS DISTINCT FROM new.cancels_at)
  EXECUTE FUNCTION tell_crm_of_contract();

CREATE TRIGGER service_contracts_tell_crm_of_new AFTER INSERT ON service_contracts
  FOR EACH ROW
  EXECUTE FUNCTION tell_crm_of_contract();

-- invoices ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   allocations (invoice)
--   documents (invoice)
--   invoice_changes (invoice) ON DELETE CASCADE
CREATE TABLE invoices (
  number bigint NOT NULL,
  contract_id uuid NOT NULL,
  plan text NOT NULL,
  period_starts_at timestamp with time zone NOT NULL,
  period_ends_at timestamp with time zone NOT NULL,
  currency text NOT NULL,
  unit_amount bigint NOT NULL,
  status text NOT NULL,
  issued_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  paid_at timestamp with time zone,
  buyer_name text,
  buyer_email text,
  document text,
  credited bigint NOT NULL DEFAULT 0,
  allocated bigint NOT NULL DEFAULT 0,
  past_due_at timestamp with time zone,
  reminded smallint NOT NULL DEFAULT 0,
  CONSTRAINT invoices_pkey PRIMARY KEY (number),
  CONSTRAINT invoices_document_key UNIQUE (document),
  CONSTRAINT invoices_number_positive CHECK (number > 0),
  CONSTRAINT invoices_paid_has_instant CHECK ((status = 'paid'::text) = (paid_at IS NOT NULL)),
  CONSTRAINT invoices_period_forward CHECK (period_ends_at > period_starts_at),
  CONSTRAINT invoices_reminded_known CHECK (reminded >= 0 AND reminded <= 2),
  CONSTRAINT invoices_settled_within CHECK (credited >= 0 AND allocated >= 0 AND (credited + allocated) <= unit_amount),
  CONSTRAINT invoices_status_follows CHECK (status =
CASE
    WHEN unit_amount > 0 AND credited = unit_amount THEN 'void'::text
    WHEN (credited + allocated) = unit_amount THEN 'paid'::text
    ELSE 'open'::text
END),
  CONSTRAINT invoices_status_known CHECK (status = ANY (ARRAY['open'::text, 'paid'::text, 'void'::text])),
  CONSTRAINT invoices_unit_amount_positive CHECK (unit_amount >= 0),
  CONSTRAINT invoices_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES service_contracts(id)
);
CREATE INDEX invoices_contract_id_idx ON invoices USING btree (contract_id);
CREATE UNIQUE INDEX invoices_contract_id_period_starts_at_key ON invoices USING btree (contract_id, period_starts_at) WHERE status <> 'void'::text;
CREATE INDEX invoices_due_at_idx ON invoices USING btree (due_at) WHERE status = 'open'::text;
CREATE INDEX invoices_issued_at_number_idx ON invoices USING btree (issued_at, number);
CREATE INDEX invoices_past_due_idx ON invoices USING btree (COALESCE(past_due_at, due_at)) WHERE status = 'open'::text;

CREATE OR REPLACE FUNCTION freeze_buyer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      select a.name, u.email into new.buyer_name, new.buyer_email
        from service_contracts c left join accounts a on a.id = c.account_id left join users u on u.id = c.user_id
        where c.id = new.contract_id;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION settle_invoice_from_before()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    declare
      payment_id text := gen_random_uuid();
      open bigint := new.unit_amount - new.credited - new.allocated;
    begin
      if tg_op = 'INSERT' then
        if new.document is null and exists (
          select from billing_settings where counts_from <= billing_now() and stopped_at is null) then
          raise exception 'this version issues no invoices: there is a seller' using errcode = 'check_violation';
        end if;
      elsif new.status <> old.status and new.credited = old.credited and new.allocated = old.allocated then
        if new.status = 'paid' then
          insert into payments (
              id, kind, currency, amount, paid_at, invoice_number, recorded_at, recorded_by, unallocated)
            values (payment_id, 'payment', new.currency, open, new.paid_at, coalesce(new.document, new.number::text),
              billing_now(), 'operator', 0);
          insert into allocations (payment, invoice, amount, recorded_at)
            values (payment_id, new.number, open, billing_now());
          new.allocated := new.allocated + open;
        elsif new.status = 'void' and new.document is null then
          new.credited := new.unit_amount;
        end if;
      end if;
      return new;
    end $function$;
REVOKE EXECUTE ON FUNCTION settle_invoice_from_before() FROM PUBLIC;

CREATE OR REPLACE FUNCTION note_invoice_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into invoice_changes (invoice) values (new.number) on conflict (invoice) do update set is_numbered = false;
      return null;
    end $function$;

CREATE TRIGGER invoices_freeze_buyer BEFORE INSERT ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION freeze_buyer();

CREATE TRIGGER invoices_note_change AFTER INSERT OR UPDATE OF status, credited, allocated ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION note_invoice_change();

CREATE TRIGGER invoices_refuse_change BEFORE DELETE OR UPDATE ON invoices
  FOR EACH ROW
  WHEN (old.document IS NOT NULL)
  EXECUTE FUNCTION refuse_change_of_books('status', 'paid_at', 'credited', 'allocated', 'reminded');

CREATE TRIGGER invoices_refuse_issue_while_paused BEFORE INSERT ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION refuse_issue_while_paused();

CREATE TRIGGER invoices_refuse_truncate BEFORE TRUNCATE ON invoices
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

CREATE TRIGGER invoices_settle_from_before BEFORE INSERT OR UPDATE ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION settle_invoice_from_before();

-- payments ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   allocations (payment)
CREATE TABLE payments (
  id text NOT NULL,
  kind text NOT NULL,
  of text,
  currency text NOT NULL,
  amount bigint NOT NULL,
  paid_at timestamp with time zone NOT NULL,
  method text,
  reference text,
  invoice_number text,
  recorded_at timestamp with time zone NOT NULL,
  recorded_by text NOT NULL,
  unallocated bigint NOT NULL,
  CONSTRAINT payments_pkey PRIMARY KEY (id),
  CONSTRAINT payments_amount_positive CHECK (amount > 0),
  CONSTRAINT payments_kind_known CHECK (kind = ANY (ARRAY['payment'::text, 'refund'::text, 'paid_back'::text])),
  CONSTRAINT payments_of_payment CHECK ((kind = 'payment'::text) = (of IS NULL)),
  CONSTRAINT payments_unallocated_bounds CHECK (
CASE kind
    WHEN 'payment'::text THEN unallocated >= 0 AND unallocated <= amount
    ELSE unallocated >= (- amount) AND unallocated <= 0
END)
);
CREATE INDEX payments_of_idx ON payments USING btree (of) WHERE of IS NOT NULL;
CREATE INDEX payments_recorded_at_id_idx ON payments USING btree (recorded_at, id);
CREATE INDEX payments_unallocated_idx ON payments USING btree (recorded_at, id) WHERE unallocated <> 0;

CREATE TRIGGER payments_refuse_change BEFORE DELETE OR UPDATE ON payments
  FOR EACH ROW
  EXECUTE FUNCTION refuse_change_of_books('unallocated');

CREATE TRIGGER payments_refuse_truncate BEFORE TRUNCATE ON payments
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

-- allocations ---------------------------------------------------------------------------------------------------------

CREATE TABLE allocations (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  payment text NOT NULL,
  invoice bigint NOT NULL,
  amount bigint NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  CONSTRAINT allocations_pkey PRIMARY KEY (id),
  CONSTRAINT allocations_amount_some CHECK (amount <> 0),
  CONSTRAINT allocations_invoice_fkey FOREIGN KEY (invoice) REFERENCES invoices(number),
  CONSTRAINT allocations_payment_fkey FOREIGN KEY (payment) REFERENCES payments(id)
);
CREATE INDEX allocations_invoice_idx ON allocations USING btree (invoice);
CREATE INDEX allocations_payment_idx ON allocations USING btree (payment);

CREATE TRIGGER allocations_refuse_change BEFORE DELETE OR UPDATE ON allocations
  FOR EACH ROW
  EXECUTE FUNCTION refuse_change_of_books();

CREATE TRIGGER allocations_refuse_truncate BEFORE TRUNCATE ON allocations
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

-- audit_events --------------------------------------------------------------------------------------------------------

CREATE TABLE audit_events (
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  type text NOT NULL,
  reason text,
  user_id uuid,
  address text,
  request_id text,
  details jsonb NOT NULL DEFAULT '{}'::jsonb,
  device text,
  place text,
  actor_id uuid,
  why text,
  CONSTRAINT audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_actor_id_at_idx ON audit_events USING btree (actor_id, at) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_events_at_idx ON audit_events USING btree (at);
CREATE INDEX audit_events_external_id_idx ON audit_events USING btree ((details ->> 'id'::text)) WHERE details ? 'id'::text;
CREATE INDEX audit_events_type_at_idx ON audit_events USING btree (type, at);
CREATE INDEX audit_events_user_id_at_idx ON audit_events USING btree (user_id, at);

-- authenticators ------------------------------------------------------------------------------------------------------

CREATE TABLE authenticators (
  user_id uuid NOT NULL,
  sealed_secret bytea NOT NULL,
  last_step integer NOT NULL,
  added_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  from_established_browser boolean NOT NULL DEFAULT true,
  CONSTRAINT authenticators_pkey PRIMARY KEY (user_id),
  CONSTRAINT authenticators_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE OR REPLACE FUNCTION keep_has_authenticator()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update users set has_authenticator = (tg_op = 'INSERT') where id = coalesce(new.user_id, old.user_id);
      return null;
    end $function$;

CREATE TRIGGER keep_has_authenticator AFTER INSERT OR DELETE ON authenticators
  FOR EACH ROW
  EXECUTE FUNCTION keep_has_authenticator();

-- billing_details -----------------------------------------------------------------------------------------------------

CREATE TABLE billing_details (
  account_id uuid NOT NULL,
  company text,
  line1 text,
  line2 text,
  postcode text,
  city text,
  country text,
  vat_id text,
  checked_vat_id text,
  invoice_email text,
  invoice_email_proved_at timestamp with time zone,
  invoice_email_edited_at timestamp with time zone,
  edited_here text[] NOT NULL DEFAULT '{}'::text[],
  ignored text[] NOT NULL DEFAULT '{}'::text[],
  tax_country text,
  waiting jsonb,
  waits_since timestamp with time zone,
  refused_vat_id text,
  vat_id_waits_since timestamp with time zone,
  vat_id_ask_at timestamp with time zone,
  CONSTRAINT billing_details_pkey PRIMARY KEY (account_id),
  CONSTRAINT billing_details_address_whole CHECK (num_nonnulls(line1, postcode, city, country) = ANY (ARRAY[0, 4])),
  CONSTRAINT billing_details_proved_email CHECK (invoice_email_proved_at IS NULL OR invoice_email IS NOT NULL),
  CONSTRAINT billing_details_waiting_whole CHECK (num_nonnulls(waiting, waits_since) = ANY (ARRAY[0, 2])),
  CONSTRAINT billing_details_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX billing_details_invoice_email_idx ON billing_details USING btree (invoice_email) WHERE invoice_email IS NOT NULL;
CREATE INDEX billing_details_undecided_vat_id_idx ON billing_details USING btree (COALESCE(country, tax_country)) WHERE vat_id IS NOT NULL AND checked_vat_id IS DISTINCT FROM vat_id AND refused_vat_id IS DISTINCT FROM vat_id;
CREATE INDEX billing_details_waits_since_idx ON billing_details USING btree (waits_since) WHERE waits_since IS NOT NULL;

CREATE TRIGGER billing_details_wake_document_mails AFTER INSERT OR UPDATE OF invoice_email_proved_at ON billing_details
  FOR EACH ROW
  WHEN (new.invoice_email_proved_at IS NOT NULL)
  EXECUTE FUNCTION wake_document_mails();

-- billing_settings ----------------------------------------------------------------------------------------------------

-- Referred to by:
--   documents (settings_version)
CREATE TABLE billing_settings (
  version integer NOT NULL,
  settings jsonb NOT NULL,
  counts_from timestamp with time zone NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  made_by text NOT NULL,
  actor_id uuid,
  why text NOT NULL,
  stopped_at timestamp with time zone,
  CONSTRAINT billing_settings_pkey PRIMARY KEY (version)
);

CREATE TRIGGER billing_settings_refuse_change BEFORE DELETE OR UPDATE ON billing_settings
  FOR EACH ROW
  EXECUTE FUNCTION refuse_change_of_books('stopped_at');

CREATE TRIGGER billing_settings_refuse_truncate BEFORE TRUNCATE ON billing_settings
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

-- changes -------------------------------------------------------------------------------------------------------------

CREATE TABLE changes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL,
  began_at timestamp with time zone NOT NULL DEFAULT now(),
  subject text NOT NULL,
  row_id text,
  user_id uuid,
  account_id uuid,
  kind text NOT NULL,
  members jsonb,
  erased_at timestamp with time zone,
  by text,
  by_user uuid,
  request_id text,
  cause text,
  role text NOT NULL,
  actor_id uuid,
  why text,
  CONSTRAINT changes_pkey PRIMARY KEY (id),
  CONSTRAINT changes_by_known CHECK (by = ANY (ARRAY['person'::text, 'staff'::text, 'marketplace'::text, 'crm'::text, 'payments'::text, 'operator'::text, 'service'::text, 'database'::text])),
  CONSTRAINT changes_found_by_nobody CHECK ((by IS NULL) = (kind = 'found'::text)),
  CONSTRAINT changes_kind_known CHECK (kind = ANY (ARRAY['found'::text, 'created'::text, 'changed'::text, 'removed'::text])),
  CONSTRAINT changes_members_until_erased CHECK ((members IS NULL) = (erased_at IS NOT NULL)),
  CONSTRAINT changes_subject_known CHECK (subject = ANY (ARRAY['user'::text, 'account'::text, 'link'::text, 'contract'::text]))
);
COMMENT ON COLUMN changes.kind IS 'found: what a row held at the first change after the history began.';
CREATE INDEX changes_account_began_at_idx ON changes USING btree (row_id, began_at) WHERE subject = 'account'::text;
CREATE INDEX changes_erased_at_idx ON changes USING btree (erased_at) WHERE erased_at IS NOT NULL;
CREATE INDEX changes_row_at_idx ON changes USING btree (subject, row_id, at);
CREATE INDEX changes_user_id_began_at_idx ON changes USING btree (user_id, began_at);

-- client_changes ------------------------------------------------------------------------------------------------------

CREATE TABLE client_changes (
  only_row boolean NOT NULL DEFAULT true,
  version bigint NOT NULL,
  CONSTRAINT client_changes_pkey PRIMARY KEY (only_row),
  CONSTRAINT client_changes_one CHECK (only_row)
);

-- clients -------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   client_secrets (client_id) ON DELETE CASCADE
--   log_outs (client_id) ON DELETE CASCADE
--   oidc_grants (client_id) ON DELETE CASCADE
CREATE TABLE clients (
  id uuid NOT NULL,
  issuer text NOT NULL,
  name text NOT NULL,
  kind text NOT NULL DEFAULT 'hand-off'::text,
  title text NOT NULL,
  callback_url text NOT NULL,
  login_url text,
  events_url text,
  listed text[] NOT NULL,
  roles text[] NOT NULL,
  needs_factor boolean NOT NULL DEFAULT false,
  off_at timestamp with time zone,
  restores integer NOT NULL,
  tested_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  redirect_uris text[],
  post_logout_uris text[],
  back_channel_uri text,
  pkce text,
  auth text,
  challenge_at timestamp with time zone,
  CONSTRAINT clients_pkey PRIMARY KEY (id),
  CONSTRAINT clients_issuer_name_key UNIQUE (issuer, name),
  CONSTRAINT clients_kind_known CHECK (kind = ANY (ARRAY['hand-off'::text, 'openid'::text])),
  CONSTRAINT clients_name_form CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'::text),
  CONSTRAINT clients_openid_whole CHECK (
CASE kind
    WHEN 'openid'::text THEN cardinality(redirect_uris) > 0 AND post_logout_uris IS NOT NULL AND events_url IS NULL AND (pkce = ANY (ARRAY['required'::text, 'optional'::text, 'state-only'::text])) AND (auth = ANY (ARRAY['secret'::text, 'none'::text])) AND (auth = 'secret'::text OR pkce = 'required'::text)
    ELSE num_nonnulls(redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, challenge_at) = 0
END)
);
COMMENT ON COLUMN clients.issuer IS 'The IDENTITY_ISSUER under which the row counts.';
COMMENT ON COLUMN clients.restores IS 'How many restores the database had when the row was made or last confirmed.';
COMMENT ON COLUMN clients.tested_at IS 'When staff last tried the webhook.';
COMMENT ON COLUMN clients.challenge_at IS 'When a client with pkce state-only first sent a challenge.';
CREATE INDEX clients_openid_name_idx ON clients USING btree (name) WHERE kind = 'openid'::text;

CREATE OR REPLACE FUNCTION end_grants_of_client()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      delete from oidc_grants where client_id = new.id;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION end_grants_of_client() FROM PUBLIC;

CREATE TRIGGER clients_end_grants AFTER UPDATE OF off_at ON clients
  FOR EACH ROW
  WHEN ((old.off_at IS NULL) <> (new.off_at IS NULL))
  EXECUTE FUNCTION end_grants_of_client();

CREATE TRIGGER clients_note_change AFTER INSERT OR DELETE OR UPDATE OF issuer, name, kind, title, callback_url, login_url, events_url, listed, roles, needs_factor, off_at, restores ON clients
  FOR EACH STATEMENT
  EXECUTE FUNCTION note_client_change();

CREATE TRIGGER clients_note_openid_change AFTER UPDATE OF redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, challenge_at ON clients
  FOR EACH STATEMENT
  EXECUTE FUNCTION note_client_change();

-- client_secrets ------------------------------------------------------------------------------------------------------

CREATE TABLE client_secrets (
  id uuid NOT NULL,
  client_id uuid NOT NULL,
  made_at timestamp with time zone NOT NULL,
  sealed bytea NOT NULL,
  key_id text NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT client_secrets_pkey PRIMARY KEY (id),
  CONSTRAINT client_secrets_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE
);
COMMENT ON COLUMN client_secrets.key_id IS 'The first 8 hex digits of SHA-256 of the key that sealed it.';
CREATE INDEX client_secrets_client_id_idx ON client_secrets USING btree (client_id);

CREATE OR REPLACE FUNCTION limit_client_secrets()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      perform 1 from clients where id = new.client_id for update;
      if (select count(*) from client_secrets where client_id = new.client_id) > 2 then
        raise exception 'a client has at most two secrets' using errcode = 'check_violation';
      end if;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION limit_client_secrets() FROM PUBLIC;

CREATE TRIGGER client_secrets_limit AFTER INSERT ON client_secrets
  FOR EACH ROW
  EXECUTE FUNCTION limit_client_secrets();

CREATE TRIGGER client_secrets_note_change AFTER INSERT OR DELETE OR UPDATE OF client_id, made_at, sealed, key_id ON client_secrets
  FOR EACH STATEMENT
  EXECUTE FUNCTION note_client_change();

-- client_users --------------------------------------------------------------------------------------------------------

CREATE TABLE client_users (
  user_id uuid NOT NULL,
  client text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT client_users_pkey PRIMARY KEY (user_id, client),
  CONSTRAINT client_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- contract_charges ----------------------------------------------------------------------------------------------------

CREATE TABLE contract_charges (
  contract_id uuid NOT NULL,
  id text NOT NULL,
  title text NOT NULL,
  currency text NOT NULL,
  unit_amount bigint NOT NULL,
  quantity integer NOT NULL,
  due text NOT NULL,
  left_amount bigint NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT contract_charges_pkey PRIMARY KEY (contract_id, id),
  CONSTRAINT contract_charges_due_known CHECK (due = ANY (ARRAY['now'::text, 'next'::text])),
  CONSTRAINT contract_charges_left_within CHECK (left_amount >= LEAST(0::bigint, unit_amount * quantity) AND left_amount <= GREATEST(0::bigint, unit_amount * quantity)),
  CONSTRAINT contract_charges_quantity_known CHECK (quantity >= 1 AND quantity <= 100000),
  CONSTRAINT contract_charges_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES service_contracts(id) ON DELETE CASCADE
);
CREATE INDEX contract_charges_open_idx ON contract_charges USING btree (contract_id) WHERE left_amount <> 0;

-- devices -------------------------------------------------------------------------------------------------------------

CREATE TABLE devices (
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  last_login_at timestamp with time zone NOT NULL,
  known_since timestamp with time zone,
  is_last boolean NOT NULL,
  forgotten_at timestamp with time zone,
  first_credential_at timestamp with time zone,
  CONSTRAINT devices_pkey PRIMARY KEY (token_hash, user_id),
  CONSTRAINT devices_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX devices_last_login_at_idx ON devices USING btree (last_login_at);
CREATE INDEX devices_user_id_idx ON devices USING btree (user_id);

-- documents -----------------------------------------------------------------------------------------------------------

-- Referred to by:
--   document_files (number) ON DELETE CASCADE
--   documents_to_make (number) ON DELETE CASCADE
CREATE TABLE documents (
  number text NOT NULL,
  kind text NOT NULL,
  invoice bigint NOT NULL,
  prefix text NOT NULL,
  year smallint NOT NULL,
  settings_version integer NOT NULL,
  issued_on date NOT NULL,
  first_day date NOT NULL,
  last_day date NOT NULL,
  currency text NOT NULL,
  net bigint NOT NULL,
  tax bigint NOT NULL,
  total bigint NOT NULL,
  category text NOT NULL,
  rate integer NOT NULL,
  issued_at timestamp with time zone NOT NULL,
  facts jsonb NOT NULL,
  country text GENERATED ALWAYS AS (COALESCE(facts #>> '{buyer,address,country}'::text[], facts #>> '{buyer,country}'::text[], facts #>> '{seller,address,country}'::text[])) STORED,
  CONSTRAINT documents_pkey PRIMARY KEY (number),
  CONSTRAINT documents_category_known CHECK (category = ANY (ARRAY['S'::text, 'E'::text, 'O'::text, 'AE'::text])),
  CONSTRAINT documents_kind_known CHECK (kind = ANY (ARRAY['invoice'::text, 'credit_note'::text])),
  CONSTRAINT documents_sum CHECK (net >= 0 AND tax >= 0 AND (net + tax) = total AND total > 0),
  CONSTRAINT documents_untaxed CHECK ((category = 'S'::text) = (rate > 0) AND (rate > 0 OR tax = 0)),
  CONSTRAINT documents_invoice_fkey FOREIGN KEY (invoice) REFERENCES invoices(number),
  CONSTRAINT documents_settings_version_fkey FOREIGN KEY (settings_version) REFERENCES billing_settings(version)
);
CREATE INDEX documents_contract_id_issued_at_number_idx ON documents USING btree ((facts #>> '{record,contract_id}'::text[]), issued_at, number);
CREATE INDEX documents_incomplete_idx ON documents USING btree (issued_at) WHERE kind = 'invoice'::text AND ((facts -> 'buyer'::text) -> 'address'::text) = 'null'::jsonb;
CREATE INDEX documents_invoice_idx ON documents USING btree (invoice);
CREATE UNIQUE INDEX documents_invoice_key ON documents USING btree (invoice) WHERE kind = 'invoice'::text;
CREATE INDEX documents_issued_on_country_idx ON documents USING btree (issued_on, kind, currency, category, rate, country) INCLUDE (net, tax);
CREATE INDEX documents_issued_on_idx ON documents USING btree (issued_on);

CREATE TRIGGER documents_refuse_change BEFORE DELETE OR UPDATE ON documents
  FOR EACH ROW
  EXECUTE FUNCTION refuse_change_of_books();

CREATE TRIGGER documents_refuse_issue_while_paused BEFORE INSERT ON documents
  FOR EACH ROW
  EXECUTE FUNCTION refuse_issue_while_paused();

CREATE TRIGGER documents_refuse_truncate BEFORE TRUNCATE ON documents
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

-- document_files ------------------------------------------------------------------------------------------------------

CREATE TABLE document_files (
  number text NOT NULL,
  pdf bytea NOT NULL,
  pdf_sha256 bytea NOT NULL,
  xml bytea,
  xml_sha256 bytea,
  made_at timestamp with time zone NOT NULL,
  unprinted text,
  CONSTRAINT document_files_pkey PRIMARY KEY (number),
  CONSTRAINT document_files_xml_whole CHECK ((xml IS NULL) = (xml_sha256 IS NULL)),
  CONSTRAINT document_files_number_fkey FOREIGN KEY (number) REFERENCES documents(number) ON DELETE CASCADE
);
CREATE INDEX document_files_made_at_idx ON document_files USING btree (made_at) WHERE unprinted IS NOT NULL;

CREATE TRIGGER document_files_refuse_change BEFORE DELETE OR UPDATE ON document_files
  FOR EACH ROW
  EXECUTE FUNCTION refuse_change_of_books();

CREATE TRIGGER document_files_refuse_truncate BEFORE TRUNCATE ON document_files
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change_of_books();

-- document_series -----------------------------------------------------------------------------------------------------

CREATE TABLE document_series (
  prefix text NOT NULL,
  year smallint NOT NULL,
  last_number bigint NOT NULL,
  last_issued_on date NOT NULL,
  CONSTRAINT document_series_pkey PRIMARY KEY (prefix, year)
);

-- documents_to_make ---------------------------------------------------------------------------------------------------

CREATE TABLE documents_to_make (
  number text NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamp with time zone NOT NULL,
  last_error text,
  CONSTRAINT documents_to_make_pkey PRIMARY KEY (number),
  CONSTRAINT documents_to_make_number_fkey FOREIGN KEY (number) REFERENCES documents(number) ON DELETE CASCADE
);
CREATE INDEX documents_to_make_next_try_at_idx ON documents_to_make USING btree (next_try_at);

-- event_deliveries ----------------------------------------------------------------------------------------------------

CREATE TABLE event_deliveries (
  client text NOT NULL,
  acknowledged bigint NOT NULL DEFAULT 0,
  pulled_at timestamp with time zone,
  nudged bigint NOT NULL DEFAULT 0,
  nudged_at timestamp with time zone,
  first_nudged_at timestamp with time zone,
  attempts integer NOT NULL DEFAULT 0,
  next_nudge_at timestamp with time zone,
  failed_at timestamp with time zone,
  failure text,
  succeeded_at timestamp with time zone,
  CONSTRAINT event_deliveries_pkey PRIMARY KEY (client)
);

-- event_sequences -----------------------------------------------------------------------------------------------------

CREATE TABLE event_sequences (
  client text NOT NULL,
  latest bigint NOT NULL DEFAULT 0,
  CONSTRAINT event_sequences_pkey PRIMARY KEY (client)
);

-- events --------------------------------------------------------------------------------------------------------------

CREATE TABLE events (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  client text NOT NULL,
  seq bigint,
  type text NOT NULL,
  user_id uuid,
  contract_id uuid,
  occurred_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  numbered_at timestamp with time zone,
  body jsonb,
  made_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_client_seq_key UNIQUE (client, seq),
  CONSTRAINT events_type_known CHECK (type = ANY (ARRAY['profile.updated'::text, 'session.ended'::text, 'user.suspended'::text, 'user.restored'::text, 'user.deleted'::text, 'contract.updated'::text, 'erased'::text]))
);
CREATE INDEX events_not_numbered_idx ON events USING btree (client, id) WHERE seq IS NULL;
CREATE INDEX events_not_numbered_user_id_idx ON events USING btree (user_id) WHERE seq IS NULL;
CREATE INDEX events_numbered_at_idx ON events USING btree (numbered_at, seq);
CREATE INDEX events_user_id_id_idx ON events USING btree (user_id, id);
CREATE INDEX events_user_id_made_in_idx ON events USING btree (user_id, made_in);

CREATE OR REPLACE FUNCTION role_of_event(body jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
      select case when body ->> 'role' in ('admin', 'manager') then 'admin'
        when jsonb_array_length(body -> 'capabilities') > 0 then 'merchant' else 'customer' end
    $function$;
REVOKE EXECUTE ON FUNCTION role_of_event(jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION plan_log_outs()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    declare
      before jsonb;
    begin
      if not exists (select from clients where kind = 'openid' and name = new.client) then
        return null;
      end if;
      if new.type = 'profile.updated' then
        if tg_op = 'UPDATE' then
          before := old.body;
        else
          select body into before from events
            where user_id = new.user_id and client = new.client and type = new.type and id < new.id
            order by user_id desc, id desc limit 1;
        end if;
      end if;
      insert into log_outs (client_id, user_id, sid)
        select c.id, new.user_id, new.body ->> 'sid' from clients c
        where c.kind = 'openid' and c.name = new.client and c.back_channel_uri is not null
          and (new.type = 'session.ended' or exists (
            select from launches l
              where l.user_id = new.user_id and l.client = new.client and l.at > now() - interval '30 days'))
          and (new.type <> 'profile.updated' or role_of_event(new.body) <> all (c.roles)
            and (before is null or role_of_event(before) = any (c.roles)));
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION plan_log_outs() FROM PUBLIC;

CREATE TRIGGER events_plan_log_outs AFTER INSERT OR UPDATE OF body ON events
  FOR EACH ROW
  WHEN (new.type = ANY (ARRAY['session.ended'::text, 'user.suspended'::text, 'user.deleted'::text, 'profile.updated'::text]))
  EXECUTE FUNCTION plan_log_outs();

-- external_links ------------------------------------------------------------------------------------------------------

CREATE TABLE external_links (
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id uuid NOT NULL,
  applied_profile_updated_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  sleeping_since timestamp with time zone,
  capabilities text[],
  verified boolean,
  said_at timestamp with time zone,
  CONSTRAINT external_links_pkey PRIMARY KEY (provider, external_id),
  CONSTRAINT external_links_user_id_provider_key UNIQUE (user_id, provider),
  CONSTRAINT external_links_external_id_length CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 128),
  CONSTRAINT external_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
COMMENT ON COLUMN external_links.capabilities IS 'What the marketplace said last. Null: nothing since rights have two sources.';
COMMENT ON COLUMN external_links.said_at IS '-infinity: the version before applied a profile, and wrote what it says to the account alone. settle_rights takes it from there.';

CREATE OR REPLACE FUNCTION external_links_know_sources()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
    end $function$;
REVOKE EXECUTE ON FUNCTION external_links_know_sources() FROM PUBLIC;

CREATE OR REPLACE FUNCTION external_links_settle_rights()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      if tg_op <> 'DELETE' then
        perform settle_rights(account_id) from users where id = new.user_id;
      end if;
      if tg_op <> 'INSERT' then
        perform settle_rights(account_id) from users where id = old.user_id;
      end if;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION external_links_settle_rights() FROM PUBLIC;

CREATE TRIGGER external_links_know_sources BEFORE INSERT OR DELETE ON external_links
  FOR EACH ROW
  EXECUTE FUNCTION external_links_know_sources();

CREATE TRIGGER external_links_know_sources_of_changed BEFORE UPDATE ON external_links
  FOR EACH ROW
  WHEN (new.user_id IS DISTINCT FROM old.user_id OR new.applied_profile_updated_at IS DISTINCT FROM old.applied_profile_updated_at OR old.capabilities IS NOT NULL AND (new.capabilities IS DISTINCT FROM old.capabilities OR new.verified IS DISTINCT FROM old.verified))
  EXECUTE FUNCTION external_links_know_sources();

CREATE TRIGGER external_links_record_change AFTER INSERT OR DELETE ON external_links
  FOR EACH ROW
  EXECUTE FUNCTION record_change('link', 'provider', 'external_id', 'user_id', 'sleeping_since', 'capabilities', 'verified');

CREATE TRIGGER external_links_record_update AFTER UPDATE ON external_links
  FOR EACH ROW
  WHEN (old.provider IS DISTINCT FROM new.provider OR old.external_id IS DISTINCT FROM new.external_id OR old.user_id IS DISTINCT FROM new.user_id OR old.sleeping_since IS DISTINCT FROM new.sleeping_since OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified IS DISTINCT FROM new.verified)
  EXECUTE FUNCTION record_change('link', 'provider', 'external_id', 'user_id', 'sleeping_since', 'capabilities', 'verified');

CREATE TRIGGER external_links_refuse_truncate BEFORE TRUNCATE ON external_links
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE CONSTRAINT TRIGGER external_links_settle_rights AFTER INSERT OR DELETE ON external_links DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  EXECUTE FUNCTION external_links_settle_rights();

CREATE CONSTRAINT TRIGGER external_links_settle_rights_of_changed AFTER UPDATE ON external_links DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (new.user_id IS DISTINCT FROM old.user_id OR new.said_at IS DISTINCT FROM old.said_at OR new.capabilities IS DISTINCT FROM old.capabilities OR new.verified IS DISTINCT FROM old.verified)
  EXECUTE FUNCTION external_links_settle_rights();

-- form_answers --------------------------------------------------------------------------------------------------------

CREATE TABLE form_answers (
  browser_hash bytea NOT NULL,
  form_hash bytea NOT NULL,
  sealed bytea,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT form_answers_pkey PRIMARY KEY (browser_hash),
  CONSTRAINT form_answers_browser_hash_length CHECK (octet_length(browser_hash) = 32),
  CONSTRAINT form_answers_form_hash_length CHECK (octet_length(form_hash) = 32),
  CONSTRAINT form_answers_sealed_length CHECK (octet_length(sealed) <= 70000)
);
CREATE INDEX form_answers_expires_at_idx ON form_answers USING btree (expires_at);

-- invoice_changes -----------------------------------------------------------------------------------------------------

CREATE TABLE invoice_changes (
  invoice bigint NOT NULL,
  change bigint,
  is_numbered boolean NOT NULL DEFAULT false,
  CONSTRAINT invoice_changes_pkey PRIMARY KEY (invoice),
  CONSTRAINT invoice_changes_invoice_fkey FOREIGN KEY (invoice) REFERENCES invoices(number) ON DELETE CASCADE
);
CREATE UNIQUE INDEX invoice_changes_change_key ON invoice_changes USING btree (change) WHERE change IS NOT NULL;
CREATE INDEX invoice_changes_unnumbered_idx ON invoice_changes USING btree (invoice) WHERE NOT is_numbered;

-- invoice_numbers -----------------------------------------------------------------------------------------------------

CREATE TABLE invoice_numbers (
  only_row boolean NOT NULL DEFAULT true,
  last_number bigint NOT NULL,
  CONSTRAINT invoice_numbers_pkey PRIMARY KEY (only_row),
  CONSTRAINT invoice_numbers_only_row CHECK (only_row)
);

-- launches ------------------------------------------------------------------------------------------------------------

CREATE TABLE launches (
  session_id uuid NOT NULL,
  client text NOT NULL,
  user_id uuid NOT NULL,
  sid text NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT launches_pkey PRIMARY KEY (session_id, client),
  CONSTRAINT launches_sid_key UNIQUE (sid),
  CONSTRAINT launches_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
COMMENT ON TABLE launches IS 'They are kept longer than the sessions, so session_id refers to none.';
CREATE INDEX launches_at_idx ON launches USING btree (at);
CREATE INDEX launches_user_id_idx ON launches USING btree (user_id);

CREATE OR REPLACE FUNCTION tell_client_of_launch()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
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
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_client_of_launch() FROM PUBLIC;

CREATE TRIGGER launches_tell_client AFTER INSERT ON launches
  FOR EACH ROW
  EXECUTE FUNCTION tell_client_of_launch();

-- log_outs ------------------------------------------------------------------------------------------------------------

CREATE TABLE log_outs (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  client_id uuid NOT NULL,
  user_id uuid NOT NULL,
  sid text,
  made_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  attempts integer NOT NULL DEFAULT 0,
  next_try_at timestamp with time zone DEFAULT clock_timestamp(),
  ended_at timestamp with time zone,
  failure text,
  CONSTRAINT log_outs_pkey PRIMARY KEY (id),
  CONSTRAINT log_outs_ended CHECK ((next_try_at IS NULL) = (ended_at IS NOT NULL)),
  CONSTRAINT log_outs_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE
);
COMMENT ON TABLE log_outs IS 'Log-outs to tell clients about. user_id has no foreign key, because clients are told about an erasure, too.';
COMMENT ON COLUMN log_outs.sid IS 'The session at the client. Null if all sessions of the person end.';
COMMENT ON COLUMN log_outs.ended_at IS 'When the client took the log-out, or when it was given up: then it has a failure.';
COMMENT ON COLUMN log_outs.failure IS 'Why the last try failed. Null once the log-out is taken.';
CREATE INDEX log_outs_client_id_ended_at_idx ON log_outs USING btree (client_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX log_outs_client_id_next_try_at_idx ON log_outs USING btree (client_id, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX log_outs_made_at_idx ON log_outs USING btree (made_at);

-- restores ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   lost_documents (restored_at)
CREATE TABLE restores (
  at timestamp with time zone NOT NULL DEFAULT now(),
  billing_resumed_at timestamp with time zone,
  CONSTRAINT restores_pkey PRIMARY KEY (at)
);

CREATE OR REPLACE FUNCTION hold_billing_mails()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      update mails set next_attempt_at = '9999-01-01 00:00:00Z' where sent_at is null and kind in ('invoice_issued', 'invoice_reminder_1', 'invoice_reminder_2', 'payment_received',
    'credit_note_issued', 'trial_ends', 'contract_cancel_asked', 'contract_kept');
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION hold_billing_mails() FROM PUBLIC;

CREATE TRIGGER restores_hold_billing_mails AFTER INSERT ON restores
  FOR EACH ROW
  WHEN (new.billing_resumed_at IS NULL)
  EXECUTE FUNCTION hold_billing_mails();

CREATE TRIGGER restores_note_client_change AFTER INSERT OR DELETE ON restores
  FOR EACH STATEMENT
  EXECUTE FUNCTION note_client_change();

-- lost_documents ------------------------------------------------------------------------------------------------------

CREATE TABLE lost_documents (
  number text NOT NULL,
  restored_at timestamp with time zone NOT NULL,
  recovered_at timestamp with time zone,
  CONSTRAINT lost_documents_pkey PRIMARY KEY (number),
  CONSTRAINT lost_documents_restored_at_fkey FOREIGN KEY (restored_at) REFERENCES restores(at)
);

-- take_back_changes ---------------------------------------------------------------------------------------------------

-- Referred to by:
--   mail_tokens (change_id) ON DELETE CASCADE
CREATE TABLE take_back_changes (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  email text NOT NULL,
  what text NOT NULL,
  at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  device text,
  guesses smallint NOT NULL DEFAULT 0,
  CONSTRAINT take_back_changes_pkey PRIMARY KEY (id),
  CONSTRAINT take_back_changes_what_known CHECK (what = ANY (ARRAY['passkey_added'::text, 'authenticator_added'::text, 'recovery_codes_made'::text, 'email_changed'::text, 'deletion_requested'::text])),
  CONSTRAINT take_back_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX take_back_changes_expires_at_idx ON take_back_changes USING btree (expires_at);
CREATE INDEX take_back_changes_user_id_at_idx ON take_back_changes USING btree (user_id, at);
CREATE INDEX take_back_changes_user_id_idx ON take_back_changes USING btree (user_id, id);

CREATE OR REPLACE FUNCTION take_back_changes_let_time_stand_still()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (select from users where id = new.user_id and suspended_at is not null) then
        new.expires_at := new.expires_at
          + make_interval(secs => extract(epoch from timestamptz '3000-01-01 00:00:00Z' - now())::float8);
      end if;
      return new;
    end $function$;

CREATE TRIGGER take_back_changes_let_time_stand_still BEFORE INSERT ON take_back_changes
  FOR EACH ROW
  WHEN (new.expires_at < '2900-01-01 00:00:00+00'::timestamp with time zone)
  EXECUTE FUNCTION take_back_changes_let_time_stand_still();

-- mail_tokens ---------------------------------------------------------------------------------------------------------

CREATE TABLE mail_tokens (
  token_hash bytea NOT NULL,
  purpose text NOT NULL,
  user_id uuid,
  email text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  name text,
  change_id uuid,
  guesses smallint NOT NULL DEFAULT 0,
  ended text,
  CONSTRAINT mail_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT mail_tokens_ended_known CHECK (ended = ANY (ARRAY['used'::text, 'newer_link'::text, 'password_set'::text, 'passkey_added'::text, 'address_changed'::text, 'taken_back'::text, 'canceled'::text, 'withdrawn'::text])),
  CONSTRAINT mail_tokens_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT mail_tokens_change_id_fkey FOREIGN KEY (change_id) REFERENCES take_back_changes(id) ON DELETE CASCADE,
  CONSTRAINT mail_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
COMMENT ON COLUMN mail_tokens.ended IS 'What ended the link. Null: nothing has, but time (expires_at). An ended row has its expires_at ten minutes before its end, and no change_id, so that the version before refuses it, too.';
CREATE INDEX mail_tokens_change_id_idx ON mail_tokens USING btree (change_id) WHERE change_id IS NOT NULL;
CREATE INDEX mail_tokens_expires_at_idx ON mail_tokens USING btree (expires_at);
CREATE INDEX mail_tokens_user_id_idx ON mail_tokens USING btree (user_id);

CREATE OR REPLACE FUNCTION find_change_of_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      select id, expires_at into new.change_id, new.expires_at from take_back_changes
        where user_id = new.user_id and email = new.email and what = 'email_changed'
        order by at desc limit 1;
      -- No row: its link would have been over before it was sent.
      return case when new.change_id is null then null else new end;
    end $function$;

CREATE TRIGGER mail_tokens_find_change BEFORE INSERT ON mail_tokens
  FOR EACH ROW
  WHEN (new.purpose = 'undo_email_change'::text AND new.change_id IS NULL)
  EXECUTE FUNCTION find_change_of_token();

-- mails ---------------------------------------------------------------------------------------------------------------

CREATE TABLE mails (
  id uuid NOT NULL,
  kind text NOT NULL,
  user_id uuid,
  recipient text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp with time zone NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamp with time zone NOT NULL,
  last_error text,
  sent_at timestamp with time zone,
  given_up_at timestamp with time zone,
  kept_subject text,
  kept_text text,
  kept_html text,
  key text,
  CONSTRAINT mails_pkey PRIMARY KEY (id),
  CONSTRAINT mails_key_key UNIQUE (key),
  CONSTRAINT mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX mails_awaited_idx ON mails USING btree (next_attempt_at, id) WHERE sent_at IS NULL AND given_up_at IS NULL AND ((kind = ANY (ARRAY['set_password'::text, 'prove_address'::text, 'verify_email'::text, 'sign_up'::text, 'account_exists'::text, 'change_email'::text])) OR details ? 'until'::text);
CREATE INDEX mails_created_at_idx ON mails USING btree (created_at);
CREATE INDEX mails_failed_idx ON mails USING btree (created_at, id) WHERE sent_at IS NULL AND (last_error IS NOT NULL OR given_up_at IS NOT NULL);
CREATE INDEX mails_holders_idx ON mails USING btree (next_attempt_at, created_at) WHERE sent_at IS NULL AND given_up_at IS NULL AND ((kind = ANY (ARRAY['set_password'::text, 'prove_address'::text, 'verify_email'::text, 'sign_up'::text, 'account_exists'::text, 'change_email'::text])) OR details ? 'until'::text) AND NOT (kind = ANY (ARRAY['sign_up'::text, 'account_exists'::text, 'invoice_email'::text]));
CREATE INDEX mails_next_attempt_at_idx ON mails USING btree (next_attempt_at) WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX mails_other_idx ON mails USING btree (next_attempt_at, id) WHERE sent_at IS NULL AND given_up_at IS NULL AND NOT ((kind = ANY (ARRAY['set_password'::text, 'prove_address'::text, 'verify_email'::text, 'sign_up'::text, 'account_exists'::text, 'change_email'::text])) OR details ? 'until'::text);
CREATE INDEX mails_sign_ups_idx ON mails USING btree (next_attempt_at, created_at) WHERE sent_at IS NULL AND given_up_at IS NULL AND (kind = ANY (ARRAY['sign_up'::text, 'account_exists'::text, 'invoice_email'::text]));
CREATE INDEX mails_user_id_idx ON mails USING btree (user_id);

CREATE OR REPLACE FUNCTION hold_billing_mail()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    begin
      if exists (select from restores where billing_resumed_at is null) then
        new.next_attempt_at := '9999-01-01 00:00:00Z';
      end if;
      return new;
    end $function$;
REVOKE EXECUTE ON FUNCTION hold_billing_mail() FROM PUBLIC;

CREATE TRIGGER mails_hold_billing BEFORE INSERT OR UPDATE OF next_attempt_at ON mails
  FOR EACH ROW
  WHEN (new.sent_at IS NULL AND (new.kind = ANY (ARRAY['invoice_issued'::text, 'invoice_reminder_1'::text, 'invoice_reminder_2'::text, 'payment_received'::text, 'credit_note_issued'::text, 'trial_ends'::text, 'contract_cancel_asked'::text, 'contract_kept'::text])))
  EXECUTE FUNCTION hold_billing_mail();

-- new_addresses -------------------------------------------------------------------------------------------------------

CREATE TABLE new_addresses (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  email text NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  guesses smallint NOT NULL DEFAULT 0,
  removes_factors_by uuid,
  CONSTRAINT new_addresses_pkey PRIMARY KEY (id),
  CONSTRAINT new_addresses_user_id_key UNIQUE (user_id),
  CONSTRAINT new_addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX new_addresses_email_idx ON new_addresses USING btree (email);
CREATE INDEX new_addresses_expires_at_idx ON new_addresses USING btree (expires_at);

-- nonces --------------------------------------------------------------------------------------------------------------

CREATE TABLE nonces (
  audience text NOT NULL,
  nonce text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT nonces_pkey PRIMARY KEY (audience, nonce),
  CONSTRAINT nonces_nonce_length CHECK (char_length(nonce) >= 16 AND char_length(nonce) <= 128)
);
CREATE INDEX nonces_expires_at_idx ON nonces USING btree (expires_at);

-- sessions ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   oidc_grants (session_id) ON DELETE CASCADE
CREATE TABLE sessions (
  id uuid NOT NULL,
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  address text NOT NULL,
  user_agent text NOT NULL,
  auth_time timestamp with time zone,
  amr text[] NOT NULL DEFAULT '{ext}'::text[],
  place text,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
  CONSTRAINT sessions_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_created_at_idx ON sessions USING btree (created_at);
CREATE INDEX sessions_user_id_created_at_idx ON sessions USING btree (user_id, created_at);

CREATE OR REPLACE FUNCTION tell_clients_of_session()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
    begin
      perform append_event(client, 'session.ended', user_id, null, jsonb_build_object('sid', sid))
        from launches where session_id = old.id;
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_clients_of_session() FROM PUBLIC;

CREATE TRIGGER sessions_tell_clients AFTER UPDATE OF ended_at ON sessions
  FOR EACH ROW
  WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL)
  EXECUTE FUNCTION tell_clients_of_session();

CREATE TRIGGER sessions_tell_clients_of_deletion AFTER DELETE ON sessions
  FOR EACH ROW
  WHEN (old.ended_at IS NULL AND old.created_at > (now() - '30 days'::interval) AND old.last_seen_at > (now() - '14 days'::interval))
  EXECUTE FUNCTION tell_clients_of_session();

-- oidc_grants ---------------------------------------------------------------------------------------------------------

CREATE TABLE oidc_grants (
  id uuid NOT NULL,
  client_id uuid NOT NULL,
  session_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  token_hash bytea,
  redirect_uri text NOT NULL,
  scope text[] NOT NULL,
  nonce text,
  challenge text,
  created_at timestamp with time zone NOT NULL,
  exchanged_at timestamp with time zone,
  CONSTRAINT oidc_grants_pkey PRIMARY KEY (id),
  CONSTRAINT oidc_grants_code_hash_key UNIQUE (code_hash),
  CONSTRAINT oidc_grants_token_hash_key UNIQUE (token_hash),
  CONSTRAINT oidc_grants_exchanged CHECK ((token_hash IS NULL) = (exchanged_at IS NULL)),
  CONSTRAINT oidc_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE,
  CONSTRAINT oidc_grants_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);
COMMENT ON TABLE oidc_grants IS 'Codes and access tokens are kept as SHA-256.';
CREATE INDEX oidc_grants_client_id_idx ON oidc_grants USING btree (client_id);
CREATE INDEX oidc_grants_created_at_idx ON oidc_grants USING btree (created_at);
CREATE INDEX oidc_grants_session_id_client_id_exchanged_at_idx ON oidc_grants USING btree (session_id, client_id, exchanged_at);

-- oidc_keys -----------------------------------------------------------------------------------------------------------

CREATE TABLE oidc_keys (
  kid text NOT NULL,
  issuer text NOT NULL,
  sealed bytea NOT NULL,
  key_id text NOT NULL,
  used_from timestamp with time zone NOT NULL,
  CONSTRAINT oidc_keys_pkey PRIMARY KEY (kid)
);
COMMENT ON COLUMN oidc_keys.sealed IS 'The private key, as PKCS #8.';
COMMENT ON COLUMN oidc_keys.key_id IS 'The first 8 hex digits of SHA-256 of the key that sealed it.';
CREATE INDEX oidc_keys_issuer_idx ON oidc_keys USING btree (issuer);

CREATE TRIGGER oidc_keys_note_change AFTER INSERT OR DELETE OR UPDATE ON oidc_keys
  FOR EACH STATEMENT
  EXECUTE FUNCTION note_client_change();

-- passkey_challenge_keys ----------------------------------------------------------------------------------------------

CREATE TABLE passkey_challenge_keys (
  only_row boolean NOT NULL DEFAULT true,
  key bytea NOT NULL DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  CONSTRAINT passkey_challenge_keys_pkey PRIMARY KEY (only_row),
  CONSTRAINT passkey_challenge_keys_key_length CHECK (octet_length(key) = 32),
  CONSTRAINT passkey_challenge_keys_one_row CHECK (only_row)
);

-- passkeys ------------------------------------------------------------------------------------------------------------

CREATE TABLE passkeys (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  credential_id text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  backed_up boolean NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  from_established_browser boolean NOT NULL DEFAULT true,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_counter_positive CHECK (counter >= 0),
  CONSTRAINT passkeys_credential_id_length CHECK (char_length(credential_id) >= 1 AND char_length(credential_id) <= 1364),
  CONSTRAINT passkeys_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  CONSTRAINT passkeys_public_key_length CHECK (octet_length(public_key) >= 1 AND octet_length(public_key) <= 2048),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_user_id_idx ON passkeys USING btree (user_id);

CREATE OR REPLACE FUNCTION keep_has_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE TRIGGER passkeys_keep_has_passkey AFTER INSERT OR DELETE ON passkeys
  FOR EACH ROW
  EXECUTE FUNCTION keep_has_passkey();

-- pending_email_changes -----------------------------------------------------------------------------------------------

CREATE TABLE pending_email_changes (
  user_id uuid NOT NULL,
  email text NOT NULL,
  requested_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_email_changes_pkey PRIMARY KEY (user_id),
  CONSTRAINT pending_email_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX pending_email_changes_email_idx ON pending_email_changes USING btree (email);
CREATE INDEX pending_email_changes_expires_at_idx ON pending_email_changes USING btree (expires_at);

-- pending_hand_offs ---------------------------------------------------------------------------------------------------

CREATE TABLE pending_hand_offs (
  id uuid NOT NULL,
  token_hash bytea NOT NULL,
  kind text NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id uuid NOT NULL,
  nonce text NOT NULL,
  profile jsonb NOT NULL,
  return_to text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_hand_offs_pkey PRIMARY KEY (id),
  CONSTRAINT pending_hand_offs_nonce_key UNIQUE (nonce),
  CONSTRAINT pending_hand_offs_kind_known CHECK (kind = ANY (ARRAY['continue'::text, 'connect'::text])),
  CONSTRAINT pending_hand_offs_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT pending_hand_offs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX pending_hand_offs_expires_at_idx ON pending_hand_offs USING btree (expires_at);
CREATE INDEX pending_hand_offs_user_id_idx ON pending_hand_offs USING btree (user_id);

-- pending_logins ------------------------------------------------------------------------------------------------------

CREATE TABLE pending_logins (
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_logins_pkey PRIMARY KEY (token_hash),
  CONSTRAINT pending_logins_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT pending_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX pending_logins_expires_at_idx ON pending_logins USING btree (expires_at);
CREATE INDEX pending_logins_user_id_idx ON pending_logins USING btree (user_id);

-- people_to_index -----------------------------------------------------------------------------------------------------

CREATE TABLE people_to_index (
  user_id uuid NOT NULL,
  made_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT people_to_index_pkey PRIMARY KEY (user_id, made_in)
);
COMMENT ON TABLE people_to_index IS 'Whose words are to be written anew. No key to users: an insert would lock them.';

-- person_words --------------------------------------------------------------------------------------------------------

CREATE TABLE person_words (
  user_id uuid NOT NULL,
  words tsvector NOT NULL,
  flags text NOT NULL,
  CONSTRAINT person_words_pkey PRIMARY KEY (user_id),
  CONSTRAINT person_words_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
COMMENT ON COLUMN person_words.flags IS 'Role and states, parted by spaces. They are in the words, too, each behind a "=".';
CREATE INDEX person_words_flags_user_id_idx ON person_words USING btree (flags, user_id);
CREATE INDEX person_words_words_idx ON person_words USING gin (words) WITH (fastupdate=off);

-- rate_limits ---------------------------------------------------------------------------------------------------------

CREATE UNLOGGED TABLE rate_limits (
  key character varying(255) NOT NULL,
  points integer NOT NULL DEFAULT 0,
  expire bigint,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_expire_idx ON rate_limits USING btree (expire);

-- recovery_codes ------------------------------------------------------------------------------------------------------

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  made_at timestamp with time zone DEFAULT now(),
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_code_hash_length CHECK (octet_length(code_hash) = 32),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

-- refused_forms -------------------------------------------------------------------------------------------------------

CREATE TABLE refused_forms (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  sealed bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT refused_forms_pkey PRIMARY KEY (id),
  CONSTRAINT refused_forms_sealed_length CHECK (octet_length(sealed) <= 4000),
  CONSTRAINT refused_forms_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX refused_forms_expires_at_idx ON refused_forms USING btree (expires_at);
CREATE INDEX refused_forms_user_id_expires_at_idx ON refused_forms USING btree (user_id, expires_at);

-- reserved_addresses --------------------------------------------------------------------------------------------------

CREATE TABLE reserved_addresses (
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  email text NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT reserved_addresses_pkey PRIMARY KEY (number),
  CONSTRAINT reserved_addresses_email_key UNIQUE (email),
  CONSTRAINT reserved_addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX reserved_addresses_expires_at_idx ON reserved_addresses USING btree (expires_at);
CREATE INDEX reserved_addresses_user_id_idx ON reserved_addresses USING btree (user_id);

CREATE OR REPLACE FUNCTION tell_of_reserved_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if not exists (
        select from take_back_changes
          where user_id = new.user_id and email = new.email and what = 'email_changed' and expires_at = new.expires_at
      ) then
        insert into take_back_changes (id, user_id, email, what, at, expires_at) values
          (gen_random_uuid(), new.user_id, new.email, 'email_changed', new.expires_at - interval '168 hours',
            new.expires_at);
      end if;
      return null;
    end $function$;

CREATE TRIGGER reserved_addresses_are_told AFTER INSERT ON reserved_addresses
  FOR EACH ROW
  EXECUTE FUNCTION tell_of_reserved_address();

-- staff_invitations ---------------------------------------------------------------------------------------------------

CREATE TABLE staff_invitations (
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by uuid,
  sent_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  taken_by uuid,
  CONSTRAINT staff_invitations_pkey PRIMARY KEY (id),
  CONSTRAINT staff_invitations_email_key UNIQUE (email),
  CONSTRAINT staff_invitations_taken_by_key UNIQUE (taken_by),
  CONSTRAINT staff_invitations_role_known CHECK (role = ANY (ARRAY['manager'::text, 'admin'::text])),
  CONSTRAINT staff_invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT staff_invitations_taken_by_fkey FOREIGN KEY (taken_by) REFERENCES users(id) ON DELETE CASCADE
);
COMMENT ON COLUMN staff_invitations.invited_by IS 'Null: a command on the server.';
COMMENT ON COLUMN staff_invitations.taken_by IS 'The user whom the link has made. The role is not given yet.';
CREATE INDEX staff_invitations_expires_at_idx ON staff_invitations USING btree (expires_at);
CREATE INDEX staff_invitations_invited_by_idx ON staff_invitations USING btree (invited_by);

-- staff_notes ---------------------------------------------------------------------------------------------------------

CREATE TABLE staff_notes (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  author_id uuid,
  text text NOT NULL,
  at timestamp with time zone NOT NULL,
  CONSTRAINT staff_notes_pkey PRIMARY KEY (id),
  CONSTRAINT staff_notes_text_check CHECK (char_length(text) >= 1 AND char_length(text) <= 500),
  CONSTRAINT staff_notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT staff_notes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX staff_notes_author_id_idx ON staff_notes USING btree (author_id) WHERE author_id IS NOT NULL;
CREATE INDEX staff_notes_user_id_at_id_idx ON staff_notes USING btree (user_id, at, id);

-- sums_of_hours -------------------------------------------------------------------------------------------------------

CREATE TABLE sums_of_hours (
  hour timestamp with time zone NOT NULL,
  key text NOT NULL,
  count bigint NOT NULL,
  last_at timestamp with time zone NOT NULL,
  CONSTRAINT sums_of_hours_pkey PRIMARY KEY (key, hour),
  CONSTRAINT sums_of_hours_count_positive CHECK (count > 0)
);
COMMENT ON COLUMN sums_of_hours.key IS 'A metric and its labels, as Prometheus spells them. Every label is from a list or from the settings.';
CREATE INDEX sums_of_hours_hour_idx ON sums_of_hours USING btree (hour);

-- used_passkey_challenges ---------------------------------------------------------------------------------------------

CREATE TABLE used_passkey_challenges (
  challenge_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT used_passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  CONSTRAINT used_passkey_challenges_hash_length CHECK (octet_length(challenge_hash) = 32)
);
CREATE INDEX used_passkey_challenges_expires_at_idx ON used_passkey_challenges USING btree (expires_at);

-- vat_checks ----------------------------------------------------------------------------------------------------------

CREATE TABLE vat_checks (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  vat_id text NOT NULL,
  asked_by text NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  is_valid boolean NOT NULL,
  consultation text,
  name text,
  address text,
  CONSTRAINT vat_checks_pkey PRIMARY KEY (id)
);
CREATE INDEX vat_checks_account_id_vat_id_asked_at_idx ON vat_checks USING btree (account_id, vat_id, asked_at);

-- waiting_periods -----------------------------------------------------------------------------------------------------

CREATE TABLE waiting_periods (
  contract_id uuid NOT NULL,
  starts_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  plan text NOT NULL,
  currency text NOT NULL,
  unit_amount bigint NOT NULL,
  held_code text,
  tried_at timestamp with time zone,
  quantity integer,
  CONSTRAINT waiting_periods_pkey PRIMARY KEY (contract_id, starts_at),
  CONSTRAINT waiting_periods_held_whole CHECK (num_nonnulls(held_code, tried_at) = ANY (ARRAY[0, 2])),
  CONSTRAINT waiting_periods_quantity_known CHECK (quantity >= 1 AND quantity <= 100000),
  CONSTRAINT waiting_periods_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES service_contracts(id) ON DELETE CASCADE
);

-- webhook_requests ----------------------------------------------------------------------------------------------------

CREATE TABLE webhook_requests (
  webhook_id text NOT NULL,
  body_hash bytea NOT NULL,
  status smallint NOT NULL,
  answer text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_requests_pkey PRIMARY KEY (webhook_id),
  CONSTRAINT webhook_requests_body_hash_length CHECK (octet_length(body_hash) = 32),
  CONSTRAINT webhook_requests_webhook_id_length CHECK (char_length(webhook_id) >= 1 AND char_length(webhook_id) <= 255)
);
CREATE INDEX webhook_requests_created_at_idx ON webhook_requests USING btree (created_at);

-- Used by triggers of: launches, users
CREATE OR REPLACE FUNCTION build_profile(u users, a accounts)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
      select jsonb_build_object(
        'email', u.email, 'name', u.name, 'role', u.role, 'profile_updated_at', u.profile_updated_at,
        'capabilities', a.capabilities, 'verified_at', a.verified_at)
    $function$;
