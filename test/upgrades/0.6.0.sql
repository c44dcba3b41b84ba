-- A database as version 0.6.0 (commit 93aaea3c5) left it. It is the one that commit 11da18b had left, upgraded by 0.6.0, so that it
-- has rows from before much of today's: people, sessions, factors, links, invoices without a seller, somebody who is gone and somebody who is
-- going. A throwaway script then ran 0.6.0 in local mode and used it by its own doors: signups of the CRM, somebody frozen, an address for
-- somebody who lost theirs, and an invoice with its files, paid and credited in part. Its people are made up, and its passwords are those of
-- local mode and of the tests; what only its browsers, apps and senders know is in the file of the same name that ends in .json.
-- Taken at 2026-11-28T13:34:03.516Z

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

-- Used by triggers of: invoices, service_contracts
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
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_length CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  CONSTRAINT users_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  CONSTRAINT users_proved_is_held CHECK (holds_email OR email_verified_at IS NULL),
  CONSTRAINT users_role_known CHECK (role = ANY (ARRAY['user'::text, 'manager'::text, 'admin'::text])),
  CONSTRAINT users_typed_has_no_password CHECK (holds_email OR password_hash IS NULL),
  CONSTRAINT users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX users_account_id_idx ON users USING btree (account_id);
CREATE INDEX users_deletion_due_at_idx ON users USING btree (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
CREATE UNIQUE INDEX users_held_email_key ON users USING btree (email) WHERE holds_email;
CREATE INDEX users_typed_email_idx ON users USING btree (email) WHERE NOT holds_email;

CREATE OR REPLACE FUNCTION append_profile_event(to_client text, about_user uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      perform append_event(to_client, 'profile.updated', about_user, null, build_profile(u, a))
        from users u join accounts a on a.id = u.account_id where u.id = about_user;
    end $function$;

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
  EXECUTE FUNCTION record_change('user', 'account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role', 'suspended_at', 'deletion_due_at');

CREATE TRIGGER users_record_update AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (old.account_id IS DISTINCT FROM new.account_id OR old.email IS DISTINCT FROM new.email OR old.holds_email IS DISTINCT FROM new.holds_email OR old.email_verified_at IS DISTINCT FROM new.email_verified_at OR old.name IS DISTINCT FROM new.name OR old.name_edited_at IS DISTINCT FROM new.name_edited_at OR old.role IS DISTINCT FROM new.role OR old.suspended_at IS DISTINCT FROM new.suspended_at OR old.deletion_due_at IS DISTINCT FROM new.deletion_due_at)
  EXECUTE FUNCTION record_change('user', 'account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role', 'suspended_at', 'deletion_due_at');

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

-- service_contracts ---------------------------------------------------------------------------------------------------

-- Referred to by:
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
  CONSTRAINT service_contracts_pkey PRIMARY KEY (id),
  CONSTRAINT service_contracts_signup_id_key UNIQUE (signup_id),
  CONSTRAINT service_contracts_billing_anchor_day_known CHECK (billing_anchor_day >= 1 AND billing_anchor_day <= 31),
  CONSTRAINT service_contracts_billing_whole CHECK (num_nonnulls(next_period_starts_at, billing_anchor_day) = ANY (ARRAY[0, 2])),
  CONSTRAINT service_contracts_price_interval_known CHECK (price_interval = ANY (ARRAY['month'::text, 'year'::text])),
  CONSTRAINT service_contracts_price_unit_amount_positive CHECK (price_unit_amount >= 0),
  CONSTRAINT service_contracts_price_whole CHECK (num_nonnulls(price_currency, price_unit_amount, price_interval) = ANY (ARRAY[0, 3])),
  CONSTRAINT service_contracts_status_known CHECK (status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'expired'::text])),
  CONSTRAINT service_contracts_trial_has_end CHECK (status <> 'trialing'::text OR trial_ends_at IS NOT NULL),
  CONSTRAINT service_contracts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  CONSTRAINT service_contracts_erased_user_id_fkey FOREIGN KEY (erased_user_id) REFERENCES erased_users(id),
  CONSTRAINT service_contracts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX service_contracts_account_id_idx ON service_contracts USING btree (account_id);
CREATE UNIQUE INDEX service_contracts_arrival_number_key ON service_contracts USING btree (arrival_number) WHERE arrival_number IS NOT NULL;
CREATE INDEX service_contracts_cancels_at_idx ON service_contracts USING btree (cancels_at) WHERE cancels_at IS NOT NULL AND (status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text]));
CREATE INDEX service_contracts_next_period_starts_at_idx ON service_contracts USING btree (next_period_starts_at) WHERE status = 'active'::text;
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

CREATE TRIGGER invoices_freeze_buyer BEFORE INSERT ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION freeze_buyer();

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
  CONSTRAINT billing_details_pkey PRIMARY KEY (account_id),
  CONSTRAINT billing_details_address_whole CHECK (num_nonnulls(line1, postcode, city, country) = ANY (ARRAY[0, 4])),
  CONSTRAINT billing_details_proved_email CHECK (invoice_email_proved_at IS NULL OR invoice_email IS NOT NULL),
  CONSTRAINT billing_details_waiting_whole CHECK (num_nonnulls(waiting, waits_since) = ANY (ARRAY[0, 2])),
  CONSTRAINT billing_details_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX billing_details_invoice_email_idx ON billing_details USING btree (invoice_email) WHERE invoice_email IS NOT NULL;
CREATE INDEX billing_details_waits_since_idx ON billing_details USING btree (waits_since) WHERE waits_since IS NOT NULL;

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

-- client_users --------------------------------------------------------------------------------------------------------

CREATE TABLE client_users (
  user_id uuid NOT NULL,
  client text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT client_users_pkey PRIMARY KEY (user_id, client),
  CONSTRAINT client_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

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
CREATE INDEX documents_issued_on_amounts_idx ON documents USING btree (issued_on, kind, currency, category, rate) INCLUDE (net, tax);
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
  CONSTRAINT document_files_pkey PRIMARY KEY (number),
  CONSTRAINT document_files_xml_whole CHECK ((xml IS NULL) = (xml_sha256 IS NULL)),
  CONSTRAINT document_files_number_fkey FOREIGN KEY (number) REFERENCES documents(number) ON DELETE CASCADE
);

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

-- sessions ------------------------------------------------------------------------------------------------------------

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
  CONSTRAINT waiting_periods_pkey PRIMARY KEY (contract_id, starts_at),
  CONSTRAINT waiting_periods_held_whole CHECK (num_nonnulls(held_code, tried_at) = ANY (ARRAY[0, 2])),
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


CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL);
CREATE TABLE kysely_migration_lock (id varchar(255) PRIMARY KEY, is_locked integer NOT NULL DEFAULT 0);
SET session_replication_role = replica;
SET timezone = 'UTC';

COPY accounts ("id", "name", "capabilities", "verified_at", "created_at", "name_edited_at", "granted_here", "revoked_here", "verified_here", "sources_known") FROM stdin;
01900000-0000-7000-8001-000000000001	Maya’s account	{manage_storefront,sell_products,sell_services}	2026-11-28 13:33:33.657+00	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01900000-0000-7000-8001-000000000002	Noor’s account	{sell_products}	\N	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01900000-0000-7000-8001-000000000003	Casey’s	{}	\N	2026-11-28 13:33:33.68462+00	2026-11-28 13:33:34.739671+00	\N	\N	\N	false
01900000-0000-7000-8001-000000000004	Morgan’s account	{}	\N	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01900000-0000-7000-8001-000000000005	Ada’s account	{}	\N	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01900000-0000-7000-8001-000000000006	Sam’s account	{}	\N	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01900000-0000-7000-8001-000000000007	Uma’s account	{}	\N	2026-11-28 13:33:33.68462+00	\N	\N	\N	\N	false
01a2119c-0b96-7188-9066-798a158f8d36	Shop & Sons	{manage_storefront,sell_products}	2026-11-28 13:33:35.342+00	2026-11-28 13:33:35.337907+00	\N	\N	\N	\N	false
01a2119c-0c98-766f-9f21-07923ed15a96	Simon Shop	{}	\N	2026-11-28 13:33:35.597463+00	\N	\N	\N	\N	false
01a2119c-1773-75ab-96a1-6e6c878265fa	Cora Change	{}	\N	2026-11-28 13:33:38.373252+00	\N	\N	\N	\N	false
01a2119c-1d9c-730f-b1af-9b8998e97b3e	Gus Going	{}	\N	2026-11-28 13:33:39.954985+00	\N	\N	\N	\N	false
01a2119c-1ef4-77b6-bb56-bdde1800eec2	Account trial	{}	\N	2026-11-28 13:33:40.296039+00	\N	\N	\N	\N	false
01a2119c-1f0a-71b5-ae50-63d52a17477b	Account paid	{}	\N	2026-11-28 13:33:40.320981+00	\N	\N	\N	\N	false
01a2225c-b603-726f-9c44-9944c345d1a7	Account frozen	{}	\N	2026-11-28 13:33:50.946951+00	\N	\N	\N	\N	true
01a2225c-b666-743d-bc76-177397d02924	Account lost	{}	\N	2026-11-28 13:33:51.073845+00	\N	\N	\N	\N	true
01a2225c-b6be-7312-bdec-a2b761643891	Account invoiced	{}	\N	2026-11-28 13:33:51.151352+00	\N	\N	\N	\N	true
\.

COPY allocations ("id", "payment", "invoice", "amount", "recorded_at") FROM stdin;
1	invoice#1	1	2900	2026-11-28 13:33:40.424+00
2	pay_in_part	4	1000	2026-11-28 13:33:58.550922+00
\.

COPY audit_events ("id", "at", "type", "reason", "user_id", "address", "request_id", "details", "device", "place", "actor_id", "why") FROM stdin;
01a2119c-05da-7651-9fed-b488a99d3374	2026-11-28 13:33:33.867756+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	da77866c-1af7-4928-9dc1-9f2daa62cb9e	{}	\N	\N	\N	\N
01a2119c-091b-76cc-b075-2c2b471762a6	2026-11-28 13:33:34.695194+00	passkey.added	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	4907da06-26be-431c-9ea1-fac1f518c203	{"passkey": "01a2119c-0913-7624-a1bb-172236d3419c"}	\N	\N	\N	\N
01a2119c-092f-7277-aa1d-f8e1a3f5708b	2026-11-28 13:33:34.725976+00	login.succeeded	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	517bb36a-5a8e-4670-85e5-0f2d6dbd409c	{}	\N	\N	\N	\N
01a2119c-0940-7412-8e4b-1ac7cd69f571	2026-11-28 13:33:34.739671+00	profile.updated	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	8c6054d1-d18f-42ea-a527-1972e2cb427c	{"changed": ["name", "accountName"]}	\N	\N	\N	\N
01a2119c-0963-7776-9236-282fc3d9eb10	2026-11-28 13:33:34.775759+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	dc9956f7-4fdf-4e18-aa84-62a381ae38b0	{}	\N	\N	\N	\N
01a2119c-09a9-7659-b22f-d70368538942	2026-11-28 13:33:34.843238+00	authenticator.added	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	729cac1e-1ecd-4614-a159-9691d5631081	{}	\N	\N	\N	\N
01a2119c-09c2-73fe-b44a-f3dc6aef957c	2026-11-28 13:33:34.872585+00	login.code_asked	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	463556fd-3785-4fa0-bbc2-c128f6bf6d56	{}	\N	\N	\N	\N
01a2119c-09d0-7056-b8aa-1d91875347e4	2026-11-28 13:33:34.886753+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	7d7b0e0f-28b0-4474-b508-949c6d18fbc0	{"factor": "recovery_code"}	\N	\N	\N	\N
01a2119c-09e3-700d-9308-3784d992bb5d	2026-11-28 13:33:34.905594+00	login.code_asked	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	b5fb359c-cce3-4493-bed0-9f381eba5349	{}	\N	\N	\N	\N
01a2119c-0a55-74e2-b18b-52b0ca0df0aa	2026-11-28 13:33:35.021741+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	3b2b4b68-8d3a-4fe4-833d-8543c8493711	{}	\N	\N	\N	\N
01a2119c-0a91-75cb-acbd-905b63bfd373	2026-11-28 13:33:35.085368+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	15b4c3af-853f-402e-9476-61fa1055cefd	{}	\N	\N	\N	\N
01a2119c-0b76-74ea-ac43-db5951b84427	2026-11-28 13:33:35.309469+00	login.refused	suspended	01900000-0000-7000-8000-000000000006	192.0.2.1	3b63b74f-3b0b-43e4-97b2-5475d01b0e25	{}	\N	\N	\N	\N
01a2119c-0b99-732e-b18d-631f02d55ba1	2026-11-28 13:33:35.345719+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	9cafc8ca-c047-4994-8897-f2aac4260f1b	{}	\N	\N	\N	\N
01a2119c-0bb2-7319-b18c-12123808550d	2026-11-28 13:33:35.337907+00	hand_off.accepted	created	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	4b8bd758-4124-417e-b967-74bec75dcbeb	{"id": "shop-1"}	\N	\N	\N	\N
01a2119c-0bf3-76c6-8b02-407c91d64446	2026-11-28 13:33:35.40022+00	hand_off.confirmed	continue	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	7bf74eca-cf3f-425e-bf8b-163bab89273b	{"id": "shop-1"}	\N	\N	\N	\N
01a2119c-0c59-7106-a0f8-637bef82b982	2026-11-28 13:33:35.494332+00	hand_off.accepted	updated	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	ac0a45d2-ffc8-4844-a200-618676b84497	{"id": "shop-1"}	\N	\N	\N	\N
01a2119c-0c77-727a-a2bd-fb761ba1e269	2026-11-28 13:33:35.546882+00	hand_off.confirmed	continue	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	15ea1697-4d55-4220-b6ed-991aed06bf51	{"id": "shop-1"}	\N	\N	\N	\N
01a2119c-0ca5-702d-8fa5-9013c675abdc	2026-11-28 13:33:35.597463+00	hand_off.accepted	created	01a2119c-0c98-766f-9f21-005bf89a04be	192.0.2.1	81a6b697-d433-4975-920d-b11de9d40299	{"id": "shop-2"}	\N	\N	\N	\N
01a2119c-0cbd-7568-8cd5-84d4e45df07c	2026-11-28 13:33:35.627431+00	hand_off.confirmed	continue	01a2119c-0c98-766f-9f21-005bf89a04be	192.0.2.1	b2b6c6b4-911a-4283-a740-8d4737750174	{"id": "shop-2"}	\N	\N	\N	\N
01a2119c-1388-72a6-8ed7-33c46722a9d0	2026-11-28 13:33:37.354444+00	user.suspended	\N	01a2119c-0c98-766f-9f21-005bf89a04be	\N	\N	{"by": "cli"}	\N	\N	\N	\N
01a2119c-1498-7430-a0ab-cf5a0f338653	2026-11-28 13:33:37.643088+00	hand_off.pending	connect_needed	01900000-0000-7000-8000-000000000003	192.0.2.1	27a2edd8-2952-44fa-ba7d-048377b7e082	{"id": "shop-wait"}	\N	\N	\N	\N
01a2119c-1773-75ab-96a1-720b194beae0	2026-11-28 13:33:38.373252+00	user.created	sign_up	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	54314605-48ba-434e-9209-51f7dc427ae5	{}	\N	\N	\N	\N
01a2119c-1794-76c4-91e1-c9076be0eb94	2026-11-28 13:33:38.409398+00	email.change_requested	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	7f77bdfd-ba34-45c1-b236-64dfffb32408	{}	\N	\N	\N	\N
01a2119c-18e9-7414-b805-a753b45a8d6a	2026-11-28 13:33:38.728459+00	email.changed	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	24345d8d-37c8-4dbf-a011-578b1c5f7e7f	{}	\N	\N	\N	\N
01a2119c-1937-77c2-89e7-d38ff01d55ac	2026-11-28 13:33:38.829862+00	email.change_requested	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	d66e5550-3571-400b-a653-6518c75a09ff	{}	\N	\N	\N	\N
01a2119c-1c08-7097-bc1d-b80b8c514c55	2026-11-28 13:33:39.550684+00	user.created	sign_up	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{}	\N	\N	\N	\N
01a2119c-1d9c-730f-b1af-9ff2455e0cad	2026-11-28 13:33:39.954985+00	user.created	sign_up	01a211d3-0bbd-72cf-a3b8-856a14fff73a	192.0.2.1	a7c4a89e-b245-4970-a2c7-87e27010ee79	{}	\N	\N	\N	\N
01a2119c-1db2-770d-b2f2-5b377972e034	2026-11-28 13:33:39.975245+00	user.deletion_requested	\N	01a211d3-0bbd-72cf-a3b8-856a14fff73a	192.0.2.1	50000f33-2e51-45df-ac68-4af273db2ec1	{}	\N	\N	\N	\N
01a2119c-1ef7-7755-9adc-ff4f22a03acf	2026-11-28 13:33:40.296039+00	signup.accepted	created	01a2119c-1ef4-77b6-bb56-b92516f7644e	192.0.2.1	fd0aa08a-2695-4da3-bcd3-1ce501831eff	{"signupId": "trial", "webhookId": "msg_trial", "contractId": "01a2119c-1ef5-7584-94ae-d9de98f71e0e"}	\N	\N	\N	\N
01a2119c-1f0a-71b5-ae50-6f4613a12540	2026-11-28 13:33:40.320981+00	signup.accepted	created	01a2119c-1f0a-71b5-ae50-5f005f4623f4	192.0.2.1	e6402aad-081c-42ef-8fd2-b4fdccba37fc	{"signupId": "paid", "webhookId": "msg_paid", "contractId": "01a2119c-1f0a-71b5-ae50-6bfa93b117ac"}	\N	\N	\N	\N
01a2119c-1f16-75eb-b687-8fb919558235	2026-11-28 13:33:40.3326+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	d5677f83-84ec-42aa-839d-7d426284b45e	{"signupId": "again", "webhookId": "msg_again", "contractId": "01a2119c-1f15-71a3-8b0b-b6c1933907db"}	\N	\N	\N	\N
01a2119c-1f28-73f2-ae68-6a59d2b2f529	2026-11-28 13:33:40.343176+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	a1e83068-4924-4874-8980-7296b97d0178	{"signupId": "ends", "webhookId": "msg_ends", "contractId": "01a2119c-1f27-70db-b14e-74d22ce2bc7c"}	\N	\N	\N	\N
01a2119c-1f3a-7256-93a4-570ed73cc586	2026-11-28 13:33:40.366903+00	signup.accepted	created	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{"contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N	\N	\N
01a2119c-1f56-747d-a68a-c0966f487eb8	2026-11-28 13:33:40.386385+00	invoice.issued	\N	\N	\N	\N	{"number": 1, "contractId": "01a2119c-1f0a-71b5-ae50-6bfa93b117ac"}	\N	\N	\N	\N
01a2119c-1f60-710d-8218-dc9494970ea6	2026-11-28 13:33:40.400055+00	invoice.issued	\N	\N	\N	\N	{"number": 2, "contractId": "01a2119c-1f15-71a3-8b0b-b6c1933907db"}	\N	\N	\N	\N
01a2119c-1f63-7527-8330-bf98027266c0	2026-11-28 13:33:40.409172+00	invoice.issued	\N	\N	\N	\N	{"number": 3, "contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N	\N	\N
01a2119c-1f72-77b2-9051-b88ff65689dc	2026-11-28 13:33:40.422593+00	invoice.paid	\N	\N	\N	\N	{"number": 1}	\N	\N	\N	\N
01a2119c-260a-70d4-88e7-83b01fa04a25	2026-11-28 13:33:42.069184+00	contract.moved	cancel	\N	\N	\N	{"status": "canceled", "contractId": "01a2119c-1f27-70db-b14e-74d22ce2bc7c"}	\N	\N	\N	\N
01a2119c-2767-74df-93bb-e9156cd5814d	2026-11-28 13:33:42.424884+00	password.set	by_mail	01a2119c-1f0a-71b5-ae50-5f005f4623f4	192.0.2.1	27517d49-1eb2-4638-b60e-98f959ece446	{}	\N	\N	\N	\N
01a2119c-2789-7229-aaa6-c7516d1bd622	2026-11-28 13:33:42.483885+00	contract.moved	cancel	\N	\N	\N	{"status": "canceled", "contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N	\N	\N
01a2119c-27be-7623-9b4c-2ebccdf9f83b	2026-11-28 13:33:42.483885+00	user.erased	\N	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{"by": "request"}	\N	\N	\N	\N
01a2119c-27c7-7513-85b1-6b5290ba1231	2026-11-28 13:33:42.558568+00	password_link.requested	sent	01900000-0000-7000-8000-000000000003	192.0.2.1	ec780b96-0b58-4234-8557-ad5b889d71d8	{}	\N	\N	\N	\N
01a2119c-2935-7776-b007-23d1a5ae0b36	2026-11-28 13:33:42.923556+00	password_link.requested	sent	01900000-0000-7000-8000-000000000001	192.0.2.1	1bc8913b-a42f-48ed-a3f3-3caf5bd1a044	{}	\N	\N	\N	\N
01a2119c-2a9e-765b-9d56-779b964c12a6	2026-11-28 13:33:43.280907+00	profile.updated	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	7334e44d-8787-4f21-9ece-8b2b221d3100	{"changed": ["name"]}	\N	\N	\N	\N
01a2119c-2b4b-7704-a0d0-f99ee8e9b436	2026-11-28 13:33:43.455093+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	3911627a-2c19-450e-8c5d-a0dc0b95d7cf	{}	\N	\N	\N	\N
01a2119c-2b6b-77a0-8ba8-b244c12c7f30	2026-11-28 13:33:43.489956+00	logout	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	d59746c9-90d9-4909-a587-7f748993529d	{}	\N	\N	\N	\N
01a2225c-b605-728a-96c6-9ac213413b35	2026-11-28 13:33:50.946951+00	signup.accepted	created	01a2225c-b602-7508-9d7d-c2aa1657a948	192.0.2.1	d19b11d7-eaed-48da-a4b3-9b9e5cc2db26	{"signupId": "frozen", "webhookId": "msg_frozen", "contractId": "01a2225c-b604-705c-bf75-03b652f16ff1"}	\N	\N	\N	\N
01a2225c-b66b-76d9-881b-d57856635771	2026-11-28 13:33:51.073845+00	signup.accepted	created	01a2225c-b666-743d-bc76-127a5814646f	192.0.2.1	e672f5e6-f670-4b17-aa36-aad66f17c123	{"signupId": "lost", "webhookId": "msg_lost", "contractId": "01a2225c-b667-7192-b00d-31ef12a23f7e"}	\N	\N	\N	\N
01a2225c-b6bf-769f-bf57-978a217b19c7	2026-11-28 13:33:51.151352+00	signup.accepted	created	01a2225c-b6be-7312-bdec-9e410406e9a7	192.0.2.1	6e105add-213e-4e39-82a4-cc7e8ab5b4b4	{"signupId": "invoiced", "webhookId": "msg_invoiced", "contractId": "01a2225c-b6bf-769f-bf57-92ab6674528f"}	\N	\N	\N	\N
01a2225c-bbe8-765a-89bc-8c656e3a2935	2026-11-28 13:33:52.388676+00	password.set	by_mail	01a2225c-b602-7508-9d7d-c2aa1657a948	198.51.100.9	b778ea0b-8a48-49ba-8a8e-5370f28ccbcc	{}	\N	\N	\N	\N
01a2225c-bc07-7419-8003-b48347079a58	2026-11-28 13:33:52.388676+00	session.started	mail	01a2225c-b602-7508-9d7d-c2aa1657a948	198.51.100.9	b778ea0b-8a48-49ba-8a8e-5370f28ccbcc	{}	\N	\N	\N	\N
01a2225c-bd11-7769-acad-60188e3776ed	2026-11-28 13:33:52.708419+00	password.set	by_mail	01a2225c-b666-743d-bc76-127a5814646f	198.51.100.9	121014fd-f28e-4d9a-8f63-3c6b2fbbf53d	{}	\N	\N	\N	\N
01a2225c-bd32-7343-ac99-89182524e57d	2026-11-28 13:33:52.708419+00	session.started	mail	01a2225c-b666-743d-bc76-127a5814646f	198.51.100.9	121014fd-f28e-4d9a-8f63-3c6b2fbbf53d	{}	\N	\N	\N	\N
01a2225c-bf80-72f0-8f25-d81630129882	2026-11-28 13:33:53.286607+00	password.set	by_mail	01a2225c-b6be-7312-bdec-9e410406e9a7	198.51.100.9	a30855cc-e8de-4425-8738-5c98705bedcd	{}	\N	\N	\N	\N
01a2225c-bf9b-71a0-8ff0-22458a6f7783	2026-11-28 13:33:53.286607+00	session.started	mail	01a2225c-b6be-7312-bdec-9e410406e9a7	198.51.100.9	a30855cc-e8de-4425-8738-5c98705bedcd	{}	\N	\N	\N	\N
01a2225c-c97a-74ec-b7d0-48bb6de2c4e7	2026-11-28 13:33:55.866516+00	account.frozen	by_staff	01a2225c-b602-7508-9d7d-c2aa1657a948	\N	\N	{"by": "cli"}	\N	\N	\N	A thief changed the address
01a2225c-c993-74af-8016-897f0670a05c	2026-11-28 13:33:55.866516+00	staff.freeze	\N	01a2225c-b602-7508-9d7d-c2aa1657a948	\N	\N	{"by": "cli", "operator": "root", "systemUser": "root"}	\N	\N	\N	A thief changed the address
01a2225c-d0c3-748c-92be-cfe9968f447c	2026-11-28 13:33:57.73631+00	staff.change_email	\N	01a2225c-b666-743d-bc76-127a5814646f	\N	\N	{"by": "cli", "operator": "root", "systemUser": "root"}	\N	\N	\N	They lost their mailbox
01a2225c-d304-77c1-bb7d-ca0daf23b773	2026-11-28 13:33:58.221899+00	invoice.issued	\N	\N	\N	\N	{"number": "INV-2026-0001", "contractId": "01a2225c-d216-74be-a1bc-8997d94166ad"}	\N	\N	\N	\N
01a2225c-d3c8-7782-b5f6-4f2c2298f85c	2026-11-28 13:33:58.467457+00	payment.recorded	\N	\N	192.0.2.1	d0cb2a4f-0c10-4c4f-93f1-8c62d87036ed	{"by": "payments", "number": "INV-2026-0001", "payment": "pay_in_part", "webhookId": "msg_1795872838424_0"}	\N	\N	\N	\N
01a2225c-dd95-75f8-b2c3-18da64711341	2026-11-28 13:34:00.886412+00	credit_note.issued	\N	\N	\N	\N	{"by": "cli", "number": "CN-2026-0001", "invoice": "INV-2026-0001", "operator": "root", "contractId": "01a2225c-d216-74be-a1bc-8997d94166ad", "systemUser": "root"}	\N	\N	\N	A day without service
01a2225c-e3cd-712e-93a3-142500cfdf13	2026-11-28 13:34:02.681835+00	session.started	password	01a2225c-b6be-7312-bdec-9e410406e9a7	192.0.2.1	bba4c5d4-9669-4ac2-95db-7e06a2106eda	{}	\N	\N	\N	\N
01a2225c-e3e4-729b-857d-1717705968c8	2026-11-28 13:34:02.681835+00	login.succeeded	\N	01a2225c-b6be-7312-bdec-9e410406e9a7	192.0.2.1	bba4c5d4-9669-4ac2-95db-7e06a2106eda	{}	\N	\N	\N	\N
\.

COPY authenticators ("user_id", "sealed_secret", "last_step", "added_at", "last_used_at", "from_established_browser") FROM stdin;
01900000-0000-7000-8000-000000000004	\\x185ec5fdd975902be5e0863ac8a59a1d7942471fa2db7d8441a6d02a1e385924d992e8e20ff23fee2b88c8cd7d0aebda	59862426	2026-11-28 13:33:34.844+00	2026-11-28 13:33:34.844+00	true
\.

COPY billing_settings ("version", "settings", "counts_from", "made_at", "made_by", "actor_id", "why", "stopped_at") FROM stdin;
1	{"tax": {"rules": [{"from": "2020-01-01", "rate": 1900, "country": "DE", "category": "S"}, {"from": "2020-01-01", "rate": 2000, "country": "FR", "category": "S"}, {"from": "2020-01-01", "rate": 0, "words": "Not subject to German VAT", "country": "*", "category": "O"}], "prices": "net", "reverse_charge_words": "Reverse charge"}, "plans": {"starter": {"title": "Starter", "description": "The starter plan"}}, "terms": {"days_to_pay": 14, "reminder_days": [7, 14], "past_due_after_days": 0, "customers_may_cancel": true}, "seller": {"bic": "COBADEFFXXX", "foot": "Amtsgericht Berlin HRB 12345", "iban": "DE89370400440532013000", "name": "Blumen GmbH", "email": "billing@example.test", "vat_id": "DE136695976", "address": {"city": "Berlin", "line1": "Hauptstraße 1", "country": "DE", "postcode": "10115"}, "currency": "EUR", "time_zone": "Europe/Berlin", "tax_number": "27/123/45678"}, "numbers": {"invoice": "INV-", "credit_note": "CN-"}, "payment": {"link": "https://pay.example.test/{number}?amount={amount}", "text": "Please transfer to our account."}}	-infinity	2026-11-28 13:33:58.159485+00	test	\N	for a test	\N
\.

COPY changes ("id", "at", "began_at", "subject", "row_id", "user_id", "account_id", "kind", "members", "erased_at", "by", "by_user", "request_id", "cause", "role", "actor_id", "why") FROM stdin;
1	2026-11-28 13:33:33.736641+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000001	\N	01900000-0000-7000-8001-000000000001	created	{"name": {"to": "Maya’s account", "from": null}, "verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}, "capabilities": {"to": ["manage_storefront", "sell_products", "sell_services"], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
10	2026-11-28 13:33:33.746838+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000005	01900000-0000-7000-8000-000000000005	01900000-0000-7000-8001-000000000005	created	{"name": {"to": "Ada Admin", "from": null}, "role": {"to": "admin", "from": null}, "email": {"to": "admin@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000005", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
11	2026-11-28 13:33:33.747195+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000006	\N	01900000-0000-7000-8001-000000000006	created	{"name": {"to": "Sam’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
12	2026-11-28 13:33:33.748533+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000006	01900000-0000-7000-8000-000000000006	01900000-0000-7000-8001-000000000006	created	{"name": {"to": "Sam Suspended", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "suspended@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000006", "from": null}, "holds_email": {"to": true, "from": null}, "suspended_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
13	2026-11-28 13:33:33.749017+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000007	\N	01900000-0000-7000-8001-000000000007	created	{"name": {"to": "Uma’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
14	2026-11-28 13:33:33.749429+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000007	01900000-0000-7000-8000-000000000007	01900000-0000-7000-8001-000000000007	created	{"name": {"to": "Uma Unverified", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "unverified@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000007", "from": null}, "holds_email": {"to": true, "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
15	2026-11-28 13:33:34.741482+00	2026-11-28 13:33:34.739671+00	account	01900000-0000-7000-8001-000000000003	\N	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey’s", "from": "Casey’s account"}, "name_edited_at": {"to": "2026-11-25T07:29:28.379671+00:00", "from": null}}	\N	person	01900000-0000-7000-8000-000000000003	8c6054d1-d18f-42ea-a527-1972e2cb427c	\N	identity	\N	\N
16	2026-11-28 13:33:34.743578+00	2026-11-28 13:33:34.739671+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey \\"Tab\\\\\\" Customer é", "from": "Casey Customer"}, "name_edited_at": {"to": "2026-11-25T07:29:28.379671+00:00", "from": null}}	\N	person	01900000-0000-7000-8000-000000000003	8c6054d1-d18f-42ea-a527-1972e2cb427c	\N	identity	\N	\N
17	2026-11-28 13:33:35.347622+00	2026-11-28 13:33:35.337907+00	account	01a2119c-0b96-7188-9066-798a158f8d36	\N	01a2119c-0b96-7188-9066-798a158f8d36	created	{"name": {"to": "Shop & Sons", "from": null}, "verified_at": {"to": "2026-11-25T07:29:28.982+00:00", "from": null}, "capabilities": {"to": ["manage_storefront", "sell_products"], "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity	\N	\N
18	2026-11-28 13:33:35.358814+00	2026-11-28 13:33:35.337907+00	user	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	created	{"name": {"to": "Sharon Shop", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "shop-1@example.test", "from": null}, "account_id": {"to": "01a2119c-0b96-7188-9066-798a158f8d36", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:28.982+00:00", "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity	\N	\N
19	2026-11-28 13:33:35.369497+00	2026-11-28 13:33:35.337907+00	link	marketplace:shop-1	01a2119c-0b96-7188-9066-757d91b49bd4	\N	created	{"user_id": {"to": "01a2119c-0b96-7188-9066-757d91b49bd4", "from": null}, "provider": {"to": "marketplace", "from": null}, "external_id": {"to": "shop-1", "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity	\N	\N
2	2026-11-28 13:33:33.740228+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000001	01900000-0000-7000-8000-000000000001	01900000-0000-7000-8001-000000000001	created	{"name": {"to": "Maya Merchant", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "merchant@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000001", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
20	2026-11-28 13:33:35.526931+00	2026-11-28 13:33:35.494332+00	user	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	changed	{"name": {"to": "Sharon Newer", "from": "Sharon Shop"}}	\N	marketplace	\N	ac0a45d2-ffc8-4844-a200-618676b84497	6Cp8T5MrYfR0D_fCj9c8oA	identity	\N	\N
21	2026-11-28 13:33:35.601081+00	2026-11-28 13:33:35.597463+00	account	01a2119c-0c98-766f-9f21-07923ed15a96	\N	01a2119c-0c98-766f-9f21-07923ed15a96	created	{"name": {"to": "Simon Shop", "from": null}, "capabilities": {"to": [], "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity	\N	\N
22	2026-11-28 13:33:35.601787+00	2026-11-28 13:33:35.597463+00	user	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	created	{"name": {"to": "Simon Shop", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "shop-2@example.test", "from": null}, "account_id": {"to": "01a2119c-0c98-766f-9f21-07923ed15a96", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:29.24+00:00", "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity	\N	\N
23	2026-11-28 13:33:35.61257+00	2026-11-28 13:33:35.597463+00	link	marketplace:shop-2	01a2119c-0c98-766f-9f21-005bf89a04be	\N	created	{"user_id": {"to": "01a2119c-0c98-766f-9f21-005bf89a04be", "from": null}, "provider": {"to": "marketplace", "from": null}, "external_id": {"to": "shop-2", "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity	\N	\N
24	2026-11-28 13:33:37.373486+00	2026-11-28 13:33:37.354444+00	user	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	changed	{"suspended_at": {"to": "2026-11-25T07:29:30.799+00:00", "from": null}}	\N	operator	\N	\N	user:suspend	identity	\N	\N
25	2026-11-28 13:33:38.383097+00	2026-11-28 13:33:38.373252+00	account	01a2119c-1773-75ab-96a1-6e6c878265fa	\N	01a2119c-1773-75ab-96a1-6e6c878265fa	created	{"name": {"to": "Cora Change", "from": null}, "capabilities": {"to": [], "from": null}}	\N	person	\N	54314605-48ba-434e-9209-51f7dc427ae5	\N	identity	\N	\N
26	2026-11-28 13:33:38.385466+00	2026-11-28 13:33:38.373252+00	user	01a211d3-03cd-767a-b804-e910738990dc	01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	created	{"name": {"to": "Cora Change", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "cora@example.test", "from": null}, "account_id": {"to": "01a2119c-1773-75ab-96a1-6e6c878265fa", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:32.019+00:00", "from": null}}	\N	person	\N	54314605-48ba-434e-9209-51f7dc427ae5	\N	identity	\N	\N
27	2026-11-28 13:33:38.740907+00	2026-11-28 13:33:38.728459+00	user	01a211d3-03cd-767a-b804-e910738990dc	01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	changed	{"email": {"to": "cora-new@example.test", "from": "cora@example.test"}, "email_verified_at": {"to": "2026-11-25T07:29:32.374+00:00", "from": "2026-11-25T07:29:32.019+00:00"}}	\N	person	01a211d3-03cd-767a-b804-e910738990dc	24345d8d-37c8-4dbf-a011-578b1c5f7e7f	\N	identity	\N	\N
28	2026-11-28 13:33:39.553259+00	2026-11-28 13:33:39.550684+00	account	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	\N	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	\N	2026-11-28 13:33:42.518159+00	person	\N	\N	\N	identity	\N	\N
29	2026-11-28 13:33:39.553861+00	2026-11-28 13:33:39.550684+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	\N	2026-11-28 13:33:42.510663+00	person	\N	\N	\N	identity	\N	\N
3	2026-11-28 13:33:33.741951+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000002	\N	01900000-0000-7000-8001-000000000002	created	{"name": {"to": "Noor’s account", "from": null}, "capabilities": {"to": ["sell_products"], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
30	2026-11-28 13:33:39.956837+00	2026-11-28 13:33:39.954985+00	account	01a2119c-1d9c-730f-b1af-9b8998e97b3e	\N	01a2119c-1d9c-730f-b1af-9b8998e97b3e	created	{"name": {"to": "Gus Going", "from": null}, "capabilities": {"to": [], "from": null}}	\N	person	\N	a7c4a89e-b245-4970-a2c7-87e27010ee79	\N	identity	\N	\N
31	2026-11-28 13:33:39.957881+00	2026-11-28 13:33:39.954985+00	user	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	created	{"name": {"to": "Gus Going", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "going@example.test", "from": null}, "account_id": {"to": "01a2119c-1d9c-730f-b1af-9b8998e97b3e", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:33.596+00:00", "from": null}}	\N	person	\N	a7c4a89e-b245-4970-a2c7-87e27010ee79	\N	identity	\N	\N
32	2026-11-28 13:33:39.978287+00	2026-11-28 13:33:39.975245+00	user	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	changed	{"deletion_due_at": {"to": "2026-12-09T07:29:33.615+00:00", "from": null}}	\N	person	01a211d3-0bbd-72cf-a3b8-856a14fff73a	50000f33-2e51-45df-ac68-4af273db2ec1	\N	identity	\N	\N
33	2026-11-28 13:33:40.303716+00	2026-11-28 13:33:40.296039+00	account	01a2119c-1ef4-77b6-bb56-bdde1800eec2	\N	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"name": {"to": "Account trial", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity	\N	\N
34	2026-11-28 13:33:40.3042+00	2026-11-28 13:33:40.296039+00	user	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"name": {"to": "User trial", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "trial@example.test", "from": null}, "account_id": {"to": "01a2119c-1ef4-77b6-bb56-bdde1800eec2", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity	\N	\N
35	2026-11-28 13:33:40.308311+00	2026-11-28 13:33:40.296039+00	contract	01a2119c-1ef5-7584-94ae-d9de98f71e0e	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01a2119c-1ef4-77b6-bb56-b92516f7644e", "from": null}, "signup_id": {"to": "trial", "from": null}, "account_id": {"to": "01a2119c-1ef4-77b6-bb56-bdde1800eec2", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-09T07:29:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity	\N	\N
36	2026-11-28 13:33:40.323407+00	2026-11-28 13:33:40.320981+00	account	01a2119c-1f0a-71b5-ae50-63d52a17477b	\N	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"name": {"to": "Account paid", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity	\N	\N
37	2026-11-28 13:33:40.32496+00	2026-11-28 13:33:40.320981+00	user	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"name": {"to": "User paid", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "paid@example.test", "from": null}, "account_id": {"to": "01a2119c-1f0a-71b5-ae50-63d52a17477b", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity	\N	\N
38	2026-11-28 13:33:40.325702+00	2026-11-28 13:33:40.320981+00	contract	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01a2119c-1f0a-71b5-ae50-5f005f4623f4", "from": null}, "signup_id": {"to": "paid", "from": null}, "account_id": {"to": "01a2119c-1f0a-71b5-ae50-63d52a17477b", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity	\N	\N
39	2026-11-28 13:33:40.334877+00	2026-11-28 13:33:40.3326+00	contract	01a2119c-1f15-71a3-8b0b-b6c1933907db	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01900000-0000-7000-8000-000000000003", "from": null}, "signup_id": {"to": "again", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "JPY", "from": null}, "price_interval": {"to": "year", "from": null}, "price_unit_amount": {"to": 900, "from": null}}	\N	crm	\N	d5677f83-84ec-42aa-839d-7d426284b45e	msg_again	identity	\N	\N
4	2026-11-28 13:33:33.743461+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000002	01900000-0000-7000-8000-000000000002	01900000-0000-7000-8001-000000000002	created	{"name": {"to": "Noor Newcomer", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "new-merchant@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000002", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
40	2026-11-28 13:33:40.352844+00	2026-11-28 13:33:40.343176+00	contract	01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01900000-0000-7000-8000-000000000003", "from": null}, "signup_id": {"to": "ends", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-09T07:29:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	a1e83068-4924-4874-8980-7296b97d0178	msg_ends	identity	\N	\N
41	2026-11-28 13:33:40.371581+00	2026-11-28 13:33:40.366903+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01a211d3-0a2c-7508-ad84-501669b33ccc", "from": null}, "signup_id": {"to": "left", "from": null}, "account_id": {"to": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	\N	\N	identity	\N	\N
42	2026-11-28 13:33:42.110906+00	2026-11-28 13:33:42.069184+00	contract	01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"status": {"to": "canceled", "from": "trialing"}}	\N	operator	\N	\N	contract:cancel	identity	\N	\N
43	2026-11-28 13:33:42.44831+00	2026-11-28 13:33:42.424884+00	user	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	changed	{"email_verified_at": {"to": "2026-11-25T07:29:36.074+00:00", "from": null}}	\N	person	\N	27517d49-1eb2-4638-b60e-98f959ece446	\N	identity	\N	\N
44	2026-11-28 13:33:42.480647+00	2026-11-28 13:33:42.474684+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	\N	2026-11-28 13:33:42.51052+00	database	\N	\N	\N	identity	\N	\N
45	2026-11-28 13:33:42.496025+00	2026-11-28 13:33:42.483885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"status": {"to": "canceled", "from": "active"}}	\N	service	\N	\N	\N	identity	\N	\N
46	2026-11-28 13:33:42.503526+00	2026-11-28 13:33:42.483885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"user_id": {"to": null, "from": "01a211d3-0a2c-7508-ad84-501669b33ccc"}, "erased_user_id": {"to": "01a211d3-0a2c-7508-ad84-501669b33ccc", "from": null}}	\N	service	\N	\N	\N	identity	\N	\N
47	2026-11-28 13:33:42.504726+00	2026-11-28 13:33:42.483885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"account_id": {"to": null, "from": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb"}, "erased_account_id": {"to": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb", "from": null}}	\N	service	\N	\N	\N	identity	\N	\N
48	2026-11-28 13:33:42.527321+00	2026-11-28 13:33:42.483885+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	removed	\N	2026-11-28 13:33:42.527322+00	service	\N	\N	erasure	identity	\N	\N
49	2026-11-28 13:33:42.545763+00	2026-11-28 13:33:42.483885+00	account	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	\N	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	removed	\N	2026-11-28 13:33:42.545764+00	service	\N	\N	erasure	identity	\N	\N
5	2026-11-28 13:33:33.743862+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000003	\N	01900000-0000-7000-8001-000000000003	created	{"name": {"to": "Casey’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
50	2026-11-28 13:33:43.283455+00	2026-11-28 13:33:43.280907+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey Last", "from": "Casey \\"Tab\\\\\\" Customer é"}, "name_edited_at": {"to": "2026-11-25T07:29:36.920907+00:00", "from": "2026-11-25T07:29:28.379671+00:00"}}	\N	person	01900000-0000-7000-8000-000000000003	7334e44d-8787-4f21-9ece-8b2b221d3100	\N	identity	\N	\N
51	2026-11-28 13:33:50.997129+00	2026-11-28 13:33:50.946951+00	account	01a2225c-b603-726f-9c44-9944c345d1a7	\N	01a2225c-b603-726f-9c44-9944c345d1a7	created	{"name": {"to": "Account frozen", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	d19b11d7-eaed-48da-a4b3-9b9e5cc2db26	msg_frozen	identity	\N	\N
52	2026-11-28 13:33:51.006675+00	2026-11-28 13:33:50.946951+00	user	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b603-726f-9c44-9944c345d1a7	created	{"name": {"to": "User frozen", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "frozen@example.test", "from": null}, "account_id": {"to": "01a2225c-b603-726f-9c44-9944c345d1a7", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	d19b11d7-eaed-48da-a4b3-9b9e5cc2db26	msg_frozen	identity	\N	\N
53	2026-11-28 13:33:51.019943+00	2026-11-28 13:33:50.946951+00	contract	01a2225c-b604-705c-bf75-03b652f16ff1	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b603-726f-9c44-9944c345d1a7	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01a2225c-b602-7508-9d7d-c2aa1657a948", "from": null}, "signup_id": {"to": "frozen", "from": null}, "account_id": {"to": "01a2225c-b603-726f-9c44-9944c345d1a7", "from": null}, "occurred_at": {"to": "2026-11-28T13:32:50.864+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-12T13:33:50.864+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	d19b11d7-eaed-48da-a4b3-9b9e5cc2db26	msg_frozen	identity	\N	\N
54	2026-11-28 13:33:51.079443+00	2026-11-28 13:33:51.073845+00	account	01a2225c-b666-743d-bc76-177397d02924	\N	01a2225c-b666-743d-bc76-177397d02924	created	{"name": {"to": "Account lost", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	e672f5e6-f670-4b17-aa36-aad66f17c123	msg_lost	identity	\N	\N
55	2026-11-28 13:33:51.080276+00	2026-11-28 13:33:51.073845+00	user	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-177397d02924	created	{"name": {"to": "User lost", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "lost@example.test", "from": null}, "account_id": {"to": "01a2225c-b666-743d-bc76-177397d02924", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	e672f5e6-f670-4b17-aa36-aad66f17c123	msg_lost	identity	\N	\N
56	2026-11-28 13:33:51.084514+00	2026-11-28 13:33:51.073845+00	contract	01a2225c-b667-7192-b00d-31ef12a23f7e	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-177397d02924	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01a2225c-b666-743d-bc76-127a5814646f", "from": null}, "signup_id": {"to": "lost", "from": null}, "account_id": {"to": "01a2225c-b666-743d-bc76-177397d02924", "from": null}, "occurred_at": {"to": "2026-11-28T13:32:51.039+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-12T13:33:51.039+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	e672f5e6-f670-4b17-aa36-aad66f17c123	msg_lost	identity	\N	\N
57	2026-11-28 13:33:51.167509+00	2026-11-28 13:33:51.151352+00	account	01a2225c-b6be-7312-bdec-a2b761643891	\N	01a2225c-b6be-7312-bdec-a2b761643891	created	{"name": {"to": "Account invoiced", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	6e105add-213e-4e39-82a4-cc7e8ab5b4b4	msg_invoiced	identity	\N	\N
58	2026-11-28 13:33:51.168617+00	2026-11-28 13:33:51.151352+00	user	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-a2b761643891	created	{"name": {"to": "User invoiced", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "invoiced@example.test", "from": null}, "account_id": {"to": "01a2225c-b6be-7312-bdec-a2b761643891", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	6e105add-213e-4e39-82a4-cc7e8ab5b4b4	msg_invoiced	identity	\N	\N
59	2026-11-28 13:33:51.179499+00	2026-11-28 13:33:51.151352+00	contract	01a2225c-b6bf-769f-bf57-92ab6674528f	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-a2b761643891	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01a2225c-b6be-7312-bdec-9e410406e9a7", "from": null}, "signup_id": {"to": "invoiced", "from": null}, "account_id": {"to": "01a2225c-b6be-7312-bdec-a2b761643891", "from": null}, "occurred_at": {"to": "2026-11-28T13:32:51.129+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-12T13:33:51.129+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	6e105add-213e-4e39-82a4-cc7e8ab5b4b4	msg_invoiced	identity	\N	\N
6	2026-11-28 13:33:33.744503+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"name": {"to": "Casey Customer", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "customer@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
60	2026-11-28 13:33:52.465214+00	2026-11-28 13:33:52.388676+00	user	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b603-726f-9c44-9944c345d1a7	changed	{"email_verified_at": {"to": "2026-11-28T13:33:52.45+00:00", "from": null}}	\N	person	\N	b778ea0b-8a48-49ba-8a8e-5370f28ccbcc	\N	identity	\N	\N
61	2026-11-28 13:33:52.763397+00	2026-11-28 13:33:52.708419+00	user	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-177397d02924	changed	{"email_verified_at": {"to": "2026-11-28T13:33:52.73+00:00", "from": null}}	\N	person	\N	121014fd-f28e-4d9a-8f63-3c6b2fbbf53d	\N	identity	\N	\N
62	2026-11-28 13:33:53.322622+00	2026-11-28 13:33:53.286607+00	user	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-a2b761643891	changed	{"email_verified_at": {"to": "2026-11-28T13:33:53.309+00:00", "from": null}}	\N	person	\N	a30855cc-e8de-4425-8738-5c98705bedcd	\N	identity	\N	\N
63	2026-11-28 13:33:55.955553+00	2026-11-28 13:33:55.866516+00	user	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b603-726f-9c44-9944c345d1a7	changed	{"suspended_at": {"to": "2026-11-28T13:33:55.914+00:00", "from": null}}	\N	operator	\N	\N	user:freeze	identity	\N	A thief changed the address
64	2026-11-28 13:33:58.185478+00	2026-11-28 13:33:58.167406+00	contract	01a2225c-d216-74be-a1bc-8997d94166ad	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-a2b761643891	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01a2225c-b6be-7312-bdec-9e410406e9a7", "from": null}, "signup_id": {"to": "crm_01a2225c-d216-74be-a1bc-8997d94166ad", "from": null}, "account_id": {"to": "01a2225c-b6be-7312-bdec-a2b761643891", "from": null}, "occurred_at": {"to": "2100-01-01T10:00:00+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	\N	\N	identity	\N	\N
65	2026-11-28 13:34:02.919439+00	2026-11-28 13:34:02.916451+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey Waits", "from": "Casey Last"}}	\N	database	\N	\N	\N	identity	\N	\N
7	2026-11-28 13:33:33.744898+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000004	\N	01900000-0000-7000-8001-000000000004	created	{"name": {"to": "Morgan’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
8	2026-11-28 13:33:33.745195+00	2026-11-28 13:33:33.68462+00	user	01900000-0000-7000-8000-000000000004	01900000-0000-7000-8000-000000000004	01900000-0000-7000-8001-000000000004	created	{"name": {"to": "Morgan Manager", "from": null}, "role": {"to": "manager", "from": null}, "email": {"to": "manager@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000004", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
9	2026-11-28 13:33:33.746416+00	2026-11-28 13:33:33.68462+00	account	01900000-0000-7000-8001-000000000005	\N	01900000-0000-7000-8001-000000000005	created	{"name": {"to": "Ada’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity	\N	\N
\.

COPY client_users ("user_id", "client", "since") FROM stdin;
01900000-0000-7000-8000-000000000001	crm_app	2026-11-28 13:33:33.898294+00
01900000-0000-7000-8000-000000000001	marketplace	2026-11-28 13:33:33.88439+00
01900000-0000-7000-8000-000000000003	crm_app	2026-11-28 13:33:34.7321+00
01a2119c-0b96-7188-9066-757d91b49bd4	crm_app	2026-11-28 13:33:35.457333+00
01a2119c-0c98-766f-9f21-005bf89a04be	crm_app	2026-11-28 13:33:35.64654+00
\.

COPY devices ("token_hash", "user_id", "last_login_at", "known_since", "is_last", "forgotten_at", "first_credential_at") FROM stdin;
\\x158d05314cdc2064fd07fbe89b313303a5b0710e372a692d3e92d3096e777a05	01a2225c-b6be-7312-bdec-9e410406e9a7	2026-11-28 13:33:53.45+00	2026-11-28 13:33:53.424+00	true	\N	2026-11-28 13:33:53.424+00
\\x29386bf00be5bebb305cd0ad4dc3519e2596a12a4e98dd31cd9d6745884807ba	01a2225c-b602-7508-9d7d-c2aa1657a948	2026-11-28 13:33:52.522+00	2026-11-28 13:33:52.505+00	true	\N	2026-11-28 13:33:52.505+00
\\x4f2d4ab34d54d90f0a0d88b445563d21f8256892e5ed313affddbab579a75d28	01a2225c-b666-743d-bc76-127a5814646f	2026-11-28 13:33:52.819+00	2026-11-28 13:33:52.811+00	true	\N	2026-11-28 13:33:52.811+00
\\x4f4ca7ce11464ad7c4c3da6b17eed4a0bc2f4e51117e9e626592573f6de373c8	01900000-0000-7000-8000-000000000004	2026-11-28 13:33:34.89+00	2026-11-28 13:33:34.888+00	true	\N	\N
\\x51ff3f01a2495d03e753952bb3856a5b8af6eff517c51401a7d3bf5bf834f00d	01900000-0000-7000-8000-000000000004	2026-11-28 13:33:34.779+00	2026-11-28 13:33:34.778+00	true	\N	\N
\\x591926b3dd032dba8ad32e000bab41caf27c2edf4107f76f15171a2f66185272	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-28 13:33:35.567+00	\N	true	\N	\N
\\x71896ca4fa470c2fac52e67e478a82a4951d0dc1d8f05a0422c7e9439fd8d650	01a211d3-0bbd-72cf-a3b8-856a14fff73a	2026-11-28 13:33:39.962+00	2026-11-28 13:33:39.958+00	true	\N	\N
\\x8736c8207ed62bf53d84207a0f1379ebac76bfd16a90f312777e9fd891fcf9e0	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-28 13:33:35.435+00	\N	true	\N	\N
\\x8eaffc5221b39e7f4b67028fb416f2dd515b5796b04eb840c53e5e7b22577c8c	01a211d3-03cd-767a-b804-e910738990dc	2026-11-28 13:33:38.39+00	2026-11-28 13:33:38.386+00	true	\N	\N
\\x9535ebd4e48f048f8541f75be285223cade3874b69d63cabfb103860b38beece	01900000-0000-7000-8000-000000000001	2026-11-28 13:33:43.459+00	2026-11-28 13:33:43.455+00	true	\N	\N
\\x9e8e9008172dabb378994ac0a1a4c3bd4e1575c36e815ee5ea8ba19623a24404	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-11-28 13:33:42.466+00	2026-11-28 13:33:42.463+00	true	\N	\N
\\xc3ed47db28dd9b182f7d09f9d875cafeb26594ef56f9e4d7c5dbed5b1fd14da7	01900000-0000-7000-8000-000000000003	2026-11-28 13:33:34.727+00	2026-11-28 13:33:34.726+00	true	\N	\N
\\xc8ec7596c889863663d9415f7f6dee8d3d783c267cc2ce687c44f0c8a99064e3	01a2225c-b6be-7312-bdec-9e410406e9a7	2026-11-28 13:34:02.724+00	2026-11-28 13:34:02.7+00	true	\N	\N
\\xe682c4907238fe7e81fcc7f5295acffe7a9f445805065782221b1215fb4f111f	01a2119c-0c98-766f-9f21-005bf89a04be	2026-11-28 13:33:35.637+00	\N	true	\N	\N
\\xe9eb308606be41992e42d1a84941c7fe2e7c499cb3f702672d8c2937c042938f	01900000-0000-7000-8000-000000000001	2026-11-28 13:33:33.874+00	2026-11-28 13:33:33.869+00	true	\N	\N
\.

COPY document_files ("number", "pdf", "pdf_sha256", "xml", "xml_sha256", "made_at") FROM stdin;
CN-2026-0001	\\x255044462d312e370a25ffffffff0a31302030206f626a0a3c3c0a2f54797065202f456d62656464656446696c650a2f506172616d73203c3c0a2f4372656174696f6e446174652028443a32303236313132383133333430315a290a2f4d6f64446174652028443a32303236313132383133333430315a290a2f436865636b53756d20283966386266383565643966613765383830626266393832623764633463393062290a2f53697a6520313538330a3e3e0a2f53756274797065202f6170706c69636174696f6e2332466a736f6e0a2f4c656e677468203734330a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789c8554cb6ed53a149df72b2c8f496b3b4f9f112d3d50265c090aaa98447eec736a913891ed147a2bbe858fe1c7509cc7396d794899643fbcd6b2d7de0f2708ef840a1e6fd0c30942d842c01b9431f262fc0be21bdea06afaf962acc61b8495036d426dbb0038261a6361ee47b86f841dab7c102e808b150807139ab1067f78146e840fb516f76386514212429394cec99d71cfb364c96af0ca993e982ec25ddf029a2151a47082d0f7c8ce893022534e261972b807b7d2b5a28dbcce95ea061b90b1779d51a06714688569c6fc127f09df44db37701ac087b9e84e84da8c576387a69942426b07decfb1954be882188fcb672e5f3ba7fd5123d603d451d01ab1432b235ffcea5dc2082b1242e64bc0bd330ac6fef86c935a509dd3abbcf13c111e5133de0fa0a7288e07529ab0ea9aa69b34db107a4a58f97956e6cdde0efd240e2bd7d6840ac658ae12cd68919499844450a9928af352f38c168558ae4e4c373a37af8db2909094296589d4a012c16459d0224b2bbebcacea6c70423debfc37641fedf45c720fce74ba06abfda23bda8925845e53b221e3774a085974cf0dd1508f5be89f5a3c8460ecded777e0fc644ababebb87a639329d342a3ee87f17e797dbd7af6f6e6e16cb775dc43a6f83df8333ea36a00b708db1e8eafd05a22ccdf2b9d4c869ce2eb7154f4b92119265244f19a12921642e5adc7dd10c2d58f4a695574f8d2d4dd318bbffabaff1e596a645c1735e16f8a9c1a324849509715027ba53d5b41ae818be12431f7c70e2e70f4074494787b8fb096209f69d0faad391382594e6e32c4f1789b01a9c03ab62cbf6e3fb75bdb450ffdfc53584b783eb7a383b26322eb2fa3049ac3ca32c3dcbf2a2ac0e8b621ef1c36a58ebdfbefbf464f4d6319ab6cf618c0ec7f5e2be057b6c447c648df8af44807d37e9ff30cdefeff4fd056b84c21ee25279f81dc46d2ba2d724e7921532937cb7834ae55ce66a270900ad76559a179a67bc62bc0446724e759ae78c57542b2634f05d598e5827df7f01b4e3a3f30a656e6473747265616d0a656e646f626a0a31312030206f626a0a3c3c0a2f54797065202f46696c65737065630a2f414652656c6174696f6e73686970202f536f757263650a2f4620286964656e746974792d66616374732e6a736f6e290a2f4546203c3c0a2f46203130203020520a3e3e0a2f554620286964656e746974792d66616374732e6a736f6e290a2f446573632028546865206661637473206f66207468697320646f63756d656e742c207365616c65642062792069747320697373756572290a3e3e0a656e646f626a0a382030206f626a0a3c3c0a2f54797065202f506167650a2f506172656e742031203020520a2f4d65646961426f78205b302030203539352e3238203834312e38395d0a2f436f6e74656e74732036203020520a2f5265736f75726365732037203020520a2f55736572556e697420310a3e3e0a656e646f626a0a372030206f626a0a3c3c0a2f50726f63536574205b2f504446202f54657874202f496d61676542202f496d61676543202f496d616765495d0a2f466f6e74203c3c0a2f46312039203020520a3e3e0a2f436f6c6f725370616365203c3c0a3e3e0a3e3e0a656e646f626a0a362030206f626a0a3c3c0a2f4c656e67746820313332380a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789ced9ac96ee3461086ef7a8a7e81f4d4d2d5d50d0c7498c902e4102019dd821c6c4a0602c401920132af1f74b328510b694ae30426ed8360935ad8fcf8d7d255850e1cb86fd0814b017dcaae795cbdfb76f7cfefcdee971f3eb8e6f30a3c02e6089a02232b49c86eeab9cfcd9ffd5ffbf8e9ab7eedd3c79f56e045dc97d55f2bbcb4f20f1b3b8f2e50f2994420398de243cc08e4368fab77dfa323729b87d5afef01000180d68ed067a528d195930c0001000400220028002400c876cc6b07bfb9cd8fabef36ab9fcf78f1d1b281dcb4539760ddf8532d29d289a8a2fa1019419c86e0936611ec50211ea1ba03807b006800606b7f77766edb7b3d8c127a598a9aca49a253151f2ff021b7f9bb422a8c10019000904d4aa9951086f61c0a00c63901a2e980227864c939768072a71f8c00a88626b596849d4591bd7767c8f44c43d32e1fd4cbe5cbc34327cdf685f7f654c02e49ed93ab469f6eb834079f07ee3c7497583b542f9a90a4389aaa06732ed8dc704d22cf03d794f656aa18f7b705805b00dcb53eec782d0ff608b87d3cf54b5cb198d3eb1ed70deb84ecf5f23a09d72eb2cf31a410ca3a88d64ed5478e8ab99e303d500020b1ff058062fb2049cd07ed0028b50fb6fca5b2d8ddf58b8d5987244c055a142fa4dcaeb6127b388488ceee2b7e53557daf69174477a6c0a65d7839a67b53e3ce3ed3cc23bc4cf70a51e2905956f3ebebb48bbd6ab2cb737294d38904f600aacafb40024781844e7d056ddb5749428aca20f59213336eda599222f6d90a734e00af205812bc01573f8ae379fddfdcad93217b4a63165a72be73b7b6405185a7513c5f0a3c579d041ab2ba1293510fc6521d5309670f0727550c083b0736be8b9ab7868631d5c8df18923b43b433ff3290391c74b6484d511eca62abc1e50b99f3c53d7bf5f1ddae62342c2e5879c3304b025d1457526e495e326bcbf2f57a3394c17dc9a9375b621a159ec4f0e6adce340334b43d64583b25afc2195aa7245657c8bd5c3d589ed99c87c8fa39a35929bf068735cc130c0b63af4c6295a28ab5e989ae2bef6c97283a49692827e5ae74f6a6b1418d8de0abd5a305eb6cea765a82fa140361ee10a5bdc2f826c5cc0b0163f219a894f5c650849e32ba028c7589702665bbc9861344817114879ca5e50b954710f214b194a447780cd587170442207b091249c64040d7c7b180546af55c5e7a8442a263409fdce34ab87aeaf6f08fd2e7755fceee4f638aa4412027e04ce566a69c2af7f76921118d4b8736e408d909f160da3eabfeebe4609e7cd604a463b75eba29b566db3c19a4678a21440f1038cbb802da2e18a7052210424ff2ea9550d2b6cbb7bf6f23b139e12e95dd9733c60bf82f26265d410207270f4a0799f3a12add6d95cea1d8fbd6fe69b3bceb3bc8218f4f215cbdd5e8b7432da03ecfb6a50460893ef602703d7c0bc0233b727021c6c1f2fe49e6d3b5148fdbb64b7446401e30a98ed139e48126e3a5bbe8aa16c1c192fcf840c93e869f9771164faea7a7117e277a2a2eae50a1b951e1e96aa2ecb32053da4f8ed0f1e448d554f699305983a717efea5883da0efdc9c1d7b9353ea6610c297bc989254fa079a230ececeee91ae0cb4273452a1580071d78974ac9a1cd3a4d4a6733d4bd2fff071ddec3cce0ed2dcf0b330c5fd50e33e5e849467a119d1e33eea3ebf877e39ca7b9614d5fb52d4862a0fe0c199c667f9ac5733ea47f76fcbfe47f2f659351dde444d360f6c289f7537bea656f1addc8b7e913b73d2d982eb9d7a4b93c786cef99c741386402fb91d13a2e3a8beddb64b221062f9880758cf075e357b639baeb113cb5e6e32ad9bfe7e3c7e90a656e6473747265616d0a656e646f626a0a31332030206f626a0a287064666b6974290a656e646f626a0a31342030206f626a0a286964656e746974792d73657276696365290a656e646f626a0a31352030206f626a0a28443a32303236313132383133333430315a290a656e646f626a0a31362030206f626a0a28437265646974206e6f746520434e2d323032362d30303031290a656e646f626a0a31322030206f626a0a3c3c0a2f50726f6475636572203133203020520a2f43726561746f72203134203020520a2f4372656174696f6e44617465203135203020520a2f5469746c65203136203020520a3e3e0a656e646f626a0a31372030206f626a0a3c3c0a2f4c656e67746820353431300a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789cd558795c53d7b65efbacbd83ca944000bd2a12437040b012022ad62a450b6aadf3ac0564ba4e6071a85204191dc0588578450a48112c504b15918ada5a272ad2dadab45ab55670d62ad72b56916c5ecf0978f1be77effbf3fddec9efe4646787b5d7f4adf52d56bcb7321cba422220c8a3c243c2c07ce502804f54547848fbfa0700705d12bdb063fd14009a9686bc1f635e925b00e0b270d50a17f35a9001101ef35e78fb3ea5002c2a72c99a08f3baeb1200456dd4d215ef9bd73dbd01e041444ce452f3ba9728a70c88286a41f55cbb91bfbf6b3ba219fa7491762f7cedfebce3f9aca47582d5bdae57c005c44d62be2d96f2de00d6eb9e95b4345add93beed7cf9b53f0701c00600a805208300480600a900204fccb7301440c800108e000817017028006601502b003a0280ee05a027019815005b01c0ae00c84600c89600c8ae00588c00b0a804e8320aa04b014097df00bace03e81600d02d05a05b2e40b75a004b00b0ec0f6019006099f5e7f32480d50800ab4a00ab2b0056cf00acbd01acbf02b0e90e60330ac02611c0a61cc0e62280cd3300db1800db1b00f2fe00f22500f2f3000ad1cb15a2a7250ff8e134708728b00201e4b053f41775f8d3035d80121d54431dd4c17128855c520cd520466a39d44181b01f52612554c3095247360a1e5007c5d00417a014d2a10e4b299071a0853a00b8c4047842a64125e4926144498659c828d089b4924ea1d5f436ad075f1a4beb69308d255a2c643358319bc186e129c10ebe813e504dae412c1cc6bba8c5233480dac035acc752b889a56206411de8a108e2a01a94241a128438610ae8e10cab871cc88168a8837a92472e40131c26c96084bf211502218f18e138d4c15348c6694202006a8508b80067a008ea410f39104b81194937e0823b1489da0340a8f4de1b3d98517a354102c4c134289255cb94166a7241f2583139411ec8b643015cc079b81c2f9354aaa67b6920e8cd1ec060d03323c911ff461641d6d060e915274a1756d360520a7769b04528c4c129d12200a814a6b07a8880231001ab6572a8277e241537821ec4ddde506f318e0e865c5182453c44034034ea601144431cec83fde08106d00b71667b65beec29e821975e1722404f3285a7508f01300022e8438805500218aa85c4516d2f38b628f1b9069f79e11f067c6a83cd1c9f70fc87061fdbe0df0dd8a4c1479b46b3471c1f1af077033e68c1fb2d788fe3dde178c71f6f73bce585376f4c65370d7863d36876632a36360c668d2dd83018af73fc8de3352ffc5589570d7885e3653bfc251e2fd5e0458e3f6d1acd7e8a47e38f6f31633cfef8165ef8a127bbc0f1879ef83dc7f31cbfe3f82dc77a039eab7366e738d639e3592ffc86e3e954053bdd0b4f39e2498e27387ecdf138c7af387ec9f118c7a31c8f70ace17858815fa469d8171cab0fd5b06a8e87aae6b34335782891561dd4b0aaf9a3dab06a143da8c14a8e070cb89fe3e71c2b387ec6715f187e6a83e5651a561e8665a576ac4c83a576f8c9a6d1ec9316dccbb1846331c73d7658c4f1e3421bf6b11716dae0ee302cd8349a1518309f63de47562c8fe3475698bbab07cb0dc35d3972b6ab07e6c8716737fc1bc71d066bb683a3c11ab3378d66d906ccda6ec3b2fae3761bdcd6821f6ead611f72dcaa9fcfb6d6e0d644aadfa261faf9a81f45b768309363c6664f96c171b3276e4ad3b04da371e3064bb651891b2c313d4dc3d2c3302d55c1d23498aac0148ec9490a96cc314981eb3926724ce038aa6d5d7c3c5bc7313e1e3f08c3b8690e2c4e836b39aee1f8be0daeb6c255dd7025c7152d18db82efb5e0f2168ce118cd7119c7252a5ccc7191c29f2d9a8a7fe518158f910a7f16c1319c6318c7851c4339860cc7e0165c6085f339cee53887e3ec59ddd8ec169cd50d673af66033bd7006c7e9d31cd8747f9ce68053899c4ded8e539438799c3d9bcc719225bec371e2db723691e3db729cc071fc387b369ee3b820391b678f41bdad59901c03adf12d8e630d38c680011cdf143cd89b2de85f83a3c7e3288e6f701cf9ba1d1ba9c4d747d8b2d7ed70849f351b31aacd16fdac7138c7611c87fa2ad9d016f4f591335f25fae82c998f1c7596e8ed8c5a6bf41a62c9bc380eb1c4d7065bb2d7ac71b0257a7a74659e72f4e88a83bcd07da086b987e1c001766ca00607d861ff7e1ad67f34f6d3a09bc692b9d9a2c6125d39aa39f6b545159133951dba84619f1674ee6dcd9cc3b0b735f652f8b35e1c7bb6e05ffcb187c29ff5e0d83d0c9d1c7b30278e8e44ce1c7ba0034725477b8e760a7f66c751217830853fcae3d1360c6d385a5b39326b8e5644ceac1cd19263373976e5d845f0605d385a2851168694c819e538ca01050f861c052267820712390247524dc2523389fbff870bfeaf15f88f576f10602e37e0535604081600f60a9542a352a8e6e1ced66f8573266f6eb0b079f6f83dd90089c544b635d222d6043d0088832751f71514723bad978faf830d51bb80420e2a2f47faf1bcf32b6f3537df5a797edebb3fade2dff242b28078bdff130b35bebb809fe117f9257e66c1bb170203493e89245124ff2d205002203ca571a00020a268998342add03a8c245a2f4727e1692fff7e99869212efbdab15037b60a59da2ee98693f0dde17b19031919341785b23b5a271a0849ea2762a67d2a1585f5131ad979d8524d6825a9964965f14051f9835bb26f831bf4d2c1beb7e2f16b2d66e2eb11216cc3976c6db7bdfc0416428e946ecc99bfceac91d95fbf2a0e30cbc2f53821c7a01108556a1d6d9bcf48223513a6abd7c74de6eeabe321c535cec9d1f73e8e6cd4331f91c0cc9293b76a4241bb04a58f0fcc1deb0101240ba902e2420843bd4ddbe5d5777fbb628ff5300324da66c8f855672807adf9e3d7bf6d0e0170532e55d20300440286179602f6aa0725029948e7ec441ddd74da750ebb40a32854ce7656f4696957db96dcd1a96c7bfd69b0a364eccc9ff4108d693911235167d8d4f689c59865a2169dcc9ddf8a438263a6d574989dfee459f1e108a4cf384bcfcbc6345a6741abc2f3cecd14b7f238d034b7002207d650e1dd6f7f3b253c805b35704efd45d3969a93939a917fff8e3e2a5e666bc76fb9b6f6edfa93d733797d7f207fc777e860c23f644498602814a00ba8f19ff64ff60af95fc4b14ea83cdc2b48a6653790533bee843afb7b8d3eb2ffa98ed9843ae09a3846440007b95836a0eb9c97b0ac945d25e3a005e654d62a4342a0795ce077c471273702c7492990e4a99854c20a1c2dad6b24812e139738c61cdf4634b967df9cef7cf464e71fa7b6969e96af2e1f0a53b82561bfcdf3c37c4ebced7f3f6c4f4e6f725fbd7b435d29eaca9c37e730e8896bf62ffb88c2d5b32323333331b1e3e6c6878f8904de2f5fc1cafe7f5444bb4c49b680b782c4fe3e93c96649235642dc9040112db1aa94a92edfaaa6fedcda843517f3b07a5f914117442f05abd7e6d9c5eff302023a0f298b5ae20b8ee7ef3b9bb4f8927b40564a0dfe1c2dd3535bb0b0f0b6baa5dddf863fe68e67cfee8fe2d7e4f3a3694ec7106026701f03e334237005f9582e9345a31c36e9201fc08f1af22035a5b4a696c6075608bb11400508ad73266842ea00017291fcdf9fff283466576b3337150cad42ab298a8b767666ee75789756a72722a7f9d9c3f7f3d36263dabb9813b0bdf98aea66fce481522f8c8e8f796c7147ff5f9c642a54bdddf6a7f01d2091b1232f6edd923533e7f60c6656e5b23de95f25929d630adc2ecaf970075231fed89894edf555c3c227fd1a795a4801c168a4d21f9f9c78a84b81705e5110b9b70af1917b2481a077d018839453aa3e3bfc1e4d81be52bf3ca4a2216251a8a2317276497940ccb5bba2c07377eb0aab94104cdee5c1134425ee1ae2f3f96c01319fa41471de5ac097a0368142a9d4ad1a97c3a752eac3488ff4caefe956fe5a7f8476421f14bfe3d2cbc31fee9b3674f437618c987c5a684a9d3c94eb2942c233b03c7fefc6e30ff967fcf7fe0df6a44bf94b435524f99122ca57a65d65f728d649d394dddfa39a8155a5c6f484e311852920da67aeffce8ea9b37aba3f3bd4b4a84c1ede549981216c28ff067fc193f1212b657a68476bc5631a3382eda6b152ad1df0a95427db04ac8aaaa322da9624653ae10d6e22e9c310d13f559d6d68827681c74034da7bc7e9df876c449e7ede3f72a4885f7bfd9b5226c537171f1d04fe276553536dc316c985134616ed9e4cb17056d445c68eca5ca01134ceb4b23428e171efdca2e61b3a76769bf7ead525e94f019d493c699ebb5e665e4da0d7fc521134b4a5eda4dda3a9cb1d7b44fd6adb493e5e4fecb720d0416b635a2982ffd3afaa128ad0f31677b5fb77e3aa909e9bcdd06134fa2f3f61193e6b5b13b26c77d303b75e8e759bf7e3db92264defe992bd7cdcd1996b3f1ec17f30ae91bfbfaf79f366d5490ca66e0ce8db9556af5319d6ef6e4f19334b6aed94979e5cee6faddd6487532250c06b097a43ad990ff7cb26f474b2df9f954cd29dcb0c37bb877f68cb3c786aff50f5ce717b5443777ea8c89860d16ab2256aefd842eafbd7ce7b72eb1c183270fd42cda12567ea847f722e7deefce7d63da485fbff4b909e5bd23633627bfd82eeab2a5ad119f30a398cb620d56880e060725bca28518cf33c259d395feeff4bf4e2cf8e3a7d33f5b30f9d3e0dcaaaadca00fc7336329df666bcb1fdefb3b6f7671a91bf25a556e6e95ab9b28df87cfa05634186c01980d71273aad97cf1b8468bb12ad30796c6a4c4a48c0044f671ef519f1237e1551b56b7302d3a6d189ad59b8c4dca7f80cbc2ff5a9feaf62c0c99cfd661d5f279d1ab9934e8b63b2d352b3b252d3b28b6f3e98b92b2868cbb88f0bb50531871b1a0ec714688b85d76baf5ca93d73e5ca7ddec0eff6763e3068e0d12fe72e0c25c309124a86872e2c157b04cf951d6085600913003ad303d291ede6d3145267eae7e62afa49263828ed9cccf4c54946d57d5dfbb9093a6f3b5f1f57ad177572260e72b010f625464727242d5b9a48eef96c9ebfebf8d739f33374eb93b3870d5bc0ff91177d6e46664154e882e7992b7e5b307939ff636331bf181bfbfedae52bc890d263e4ade837dfe20dad420ffdc7455b32f614f1c0b7839ed7d6b68c9f906c7271bcf6f9e2239392378f1e15c10f1ecfe7f716452d9d39393a2432393e9e041dad22e3e213d2f71584de8ae3cff9791910d001500b1a2cd681ae82ba2b517715e3834ff8769270825fe6bf9c201bf8ce93c49258d260d335d37152cd03857182235f4ef440e0140049062ed6765fad83fad4b1639c8bb1b701a0bf3223c8005452c489606b6a3b464a49d9510eccf8c289de6d7137f7808edf0a62f722a8225aa24615aa85557f90477cf777021c8d3315aefd8ad9987ae0be167792c0d70390b61600ba841945c68562feaa152a4663b8ba8aab99b1b4c5c8dccd5ca312802c66c68efe73b0aa8a193bceae04607ddafba0c80bcdb55ca3929e0308597c993812e4267e8f479395249d2ce51ff238be990d7eb19a74279e6410712ae63b78225fc70ded75d5a9bdae8a3ab5df0771b2295c4834250ae5ad792266c6969a1a4b8140465b2315589394e16209a0af80cf8c997fa53ec283a4edfc51ebf403c1132a43cb0e1467e77e9ca6dfbe717c6964e4c149df3d4e444d9f935baf3ed6684e0cf132e853b28b57c7c4c6b9ba55bab87cbfff8332b3dd2bda1aa99235417791a7f84a07dad94b40d2799bd990580648c7e10e4ac7b363247ae25d1072f67e73dddda7fc42db980ce21ca7d7c7add5ebfb54bbba116b6237631eb1bd7f8b384ad4289fcf75167674f01729163b00f099392fec550e444d543b3098773f4ace9ae2987146cb7a296804a0cd5f586a8e99980ee4c79d7cd04e667cbe140498f327d7f494f2c51aa02b51a15624db62f875c2175c47ea5ebbf9e597074dbb99a6b511eb5bb57b7901093e0112ef896f6ba44e123f538b35b83343d37414fa7fd21e09e8f69dd02f8c4bcaca4a4acacee6b52b936ed67e73236945f2f647bffefa286b74d2aa9529292b572509a772d2d37376a5a5e7cc70d99f78e0fcf90389fb5dfa9ed65fba73e792fe3409599194b46245521210692649a171ff9cc9da75e93cfa3862f2d8ccc0c2fdfb0b0333c78ec99e7a833f21b6f7dfde4675e5eeee8df5f58deeeea5aeae6424b1217664b85af29d8ff85f651a2cf958829edad75c6279da751adc3a0dcb5f1488bf1b082094cb94d22ce1a0ee2beb4dcc2852ebb4a22384f2bc396388823f2acecfcf2d9529774e8a5aa86f1d8cdfeb27d694b5e30a0fb773fe8e5c571f446ada2f3898ee5789691e586af215756a2be0111206cd7c432e6bcfec83555f9c1b3374cd42666cd9ce1f3f29357cdd2ef739330233731307d5c12a614beb116694c82b91f8fb20d6f43ff56efaef7af72f91d5d3b3772f362c3d779cbf3005ff1c1bfd63e4aed2b59b979d3bf8e2cabb2759d1295f9fc4550bc3fbf470bf5475e9b7d7069f1f3376c3ba651ff4e9eef155d9e91b6e226622f9331620e54eef57e7869e44ddef250f14df05e1a7d377ef9e3e7de7ceb04797cf38f7b1e537f9a7642ae9497a922947d8045ecd6ff25bbc9a0492bf909e24b0e53b7ef59120903d244424f47c2ecfe3ad7c8bb93ed11e527d92263eed2be4dc9d28d464f18d84cd9b137804c969b87dbbe146151b6cfa6e5b7adab6e2c6cb571b4c22372e686ba47b9851ac70f69d08b6887050141cfae8b3cf720ff156dec65b99b17565d3850b4db8b9751ebfc27f220389ebcb3a49cf3123d84b7cd49938d9abd193880a28ccbabcd40dbdfc960dfde264b97ffc92d35524e776c34a53ed8d94b4b414e188e3d6753c8a2418424d1b99f1a78b998785774c0fd3939353c533988807d97bed73991afa81f65fa753c797987c05b75aa2b6efb4c7464c9c3d7be2dbb367bfbd65ef27995b4bf6b63e7c7bf6ac89efcc9e235cdbda7a686b2ffd279fe8f5c525c287592949d9d949c9d909576a6a2e5fae39725908c94e4ac9ca4a596f4878fe0f99f5e59aa3bf5c3e72f84ac7dcdd8e9557060ac5ff3277cb94a63c69f026704a0824c938d6dc87a45e8963399d02739905440acd5042974138dd06e102c0a7c20f30440802a05ba1844642380b854a6127cca159904eb3600dcd82449a05676913548abfa75b21d702a184654124dd06256c1154d2bfc232f1337e050be94628a159b085fa838f78868516d6507fd00941708a3e001be90e6f7b21f4814ab6192a690654d22cc8a059b08266c10e612900cd92ce8fc7660817e5081b602075854aa14fdb6e2a4025dd066b582944d29950c9c6400103a894fd0ce1a20de239872c648ca24060908bbc42d00485558c9a3ccba576b6ca63d0bf2c5de4162e1530a9c27a8d4b755bdba459b4279b5dc17a55a0a64b05d5a8afffbbcdeb1e83c64f9ae552611a13d02e754c7080c7a0f1536755081a7115305ba5f218342640da130fad609a0aa6090aae705918e5b249be493d7c933c7cb8c77f0129c3b8920a656e6473747265616d0a656e646f626a0a31382030206f626a0a3c3c0a2f54797065202f466f6e7444657363726970746f720a2f466f6e744e616d65202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f466c61677320340a2f466f6e7442426f78205b2d3931382e343537303331202d3436322e38393036323520313631342e32353738313320313233322e3432313837355d0a2f4974616c6963416e676c6520300a2f417363656e74203932382e3232323635360a2f44657363656e74202d3233352e3833393834340a2f436170486569676874203932382e3232323635360a2f5848656967687420300a2f5374656d5620300a2f466f6e7446696c6532203137203020520a3e3e0a656e646f626a0a31392030206f626a0a3c3c0a2f54797065202f466f6e740a2f53756274797065202f434944466f6e7454797065320a2f42617365466f6e74202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f43494453797374656d496e666f203c3c0a2f5265676973747279202841646f6265290a2f4f72646572696e6720284964656e74697479290a2f537570706c656d656e7420300a3e3e0a2f466f6e7444657363726970746f72203138203020520a2f57205b30205b31313036203632382e343137393639203336392e363238393036203535332e373130393338203537312e32383930363320323530203335322e353339303633203238352e363434353331203537302e33313235203535302e323932393639203637322e383531353633203332342e373037303331203537322e323635363235203537322e323635363235203537322e323635363235203537322e323635363235203631372e3138373520323530203537302e33313235203837362e343634383434203639372e323635363235203537312e323839303633203637362e373537383133203535312e323639353331203537312e323839303633203436382e3735203536362e383934353331203537322e323635363235203533322e323236353633203537312e323839303633203839392e393032333434203533322e323236353633203238352e363434353331203631352e323334333735203631352e323334333735203534392e333136343036203236352e313336373139203639322e383731303934203536382e333539333735203537322e323635363235203537322e323635363235203537322e323635363235203330332e323232363536203537322e323635363235203537322e323635363235203439342e363238393036203533322e323236353633203331362e3430363235203531372e353738313235203236352e313336373139203530302e393736353633203537312e323839303633203730382e303037383133203534322e343830343639203635382e36393134303620363235203835342e393830343639203537302e33313235203238352e3634343533315d5d0a2f434944546f4749444d6170202f4964656e746974790a3e3e0a656e646f626a0a32302030206f626a0a3c3c0a2f4c656e677468203336310a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789c5d52bb6e843010ecf90a97497182c33c120921455c43918742ae8a5280bd46968241c657f0f7111ee72e4a01a3b17766d6f6c64d7b6a8d762c7eb3b3e8c831a58db4b4ce172b880d346a131d5326b57081f9bf98fa258a9bf6d46daba3a9356a6655153116bfd3a857673776f724e781eef7b5572bc96a33b2bb73d3f995eeb22cdf3491712c89ea9a495251dc3cf7cb4b3f118bbdf4d04a324ebbed706eba5bc5c7b6104b3d3fa225314b5a975e90edcd485195244952574a29554764e4bfed201ad4df6a562509ef6bf679a319f750a61e8a1c90011eb1079642501040410e964a78c38587a4027044654810f00c41d06525184ab20730e84a9895e8532296435ea2c102f22c54429ea2b31c4d6430cb71940cba2c3098712470ec7178a6210f953c7416ee0cd6454808d00370cc1c957948478339f2729c360d3701eba1acbff6d7fc7db7fd61f721bc0e8db8584bc6f949f583b28f8836741de6655e7695ff7e007e96c63e0a656e6473747265616d0a656e646f626a0a392030206f626a0a3c3c0a2f54797065202f466f6e740a2f53756274797065202f54797065300a2f42617365466f6e74202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f456e636f64696e67202f4964656e746974792d480a2f44657363656e64616e74466f6e7473205b3139203020525d0a2f546f556e69636f6465203230203020520a3e3e0a656e646f626a0a342030206f626a0a3c3c0a3e3e0a656e646f626a0a32312030206f626a0a3c3c0a2f4c656e67746820323536360a2f4e20330a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789cb5566750945916bddfd739911a904c93632320a10191d064547234d17437d084069a6e40cc8aa8c0882222028a208304071c1c828c11514c8362ce820c02ca3a388a09959d861fb2b553b5b555bbe7c77be79dbaf7d57de7fd3900941b00002800a408c5a2606f774664543483f00c5090851970b81969f0ef40bed3f777674fb798d2d559a6f569f39e7da72be20dfb0ac9ecbebfe99d0b391e3f830b807800003736322a1a00a90700c5d8d0603600721280488d9fc34573382f85c703205d0280edf133bde440696fb224450040e649790a9f930140ce0600fdd8a4343100b952aa8b66eb8f49b998cf4d0020f700003553c2e7fd758fd4976d5962693d25525ac34d1349793200d87313383c004a2d0098cfce3f035246b0b7bbb5a595cd7f78f37f0de99fcc32fd4300b2b900edd7b91251e6ac86952e3820832c28822a68811e180313acc11e9cc0153cc10f022014a2602570210152400459b01636411e14c02ed80be55005b5d000cdd00a1d7012cec145b80a37e00e3c82011886573001ef610a4110024243e8882aa28d1820668835c24216219ec8622418894262907844884890b5c816a4002946ca916aa401f91939819c432e23fdc80364101943fe443ea318948a2aa29aa8213a1f65a16ea83f1a8aae40e3d1743407cd4577a265680d7a146d47cfa157d13be800fa0a9dc400868251c6e860981816868d09c04463e23022cc7a4c3ea614538369c674617a31b730039871cc272c1e4bc732b04cac13d6071b86e562d3b1ebb185d8726c3db61ddb83bd851dc44e60bfe168380d9c19ce11e78b8bc4c5e3b27079b8525c1dae0d77017707378c7b8fc7e395f146787bbc0f3e0a9f885f832fc41fc0b7e0cfe2fbf143f8490281a04a3023381302081c82989047d84f384a3843b84918267c245288da446ba217319a28246e2696121b89a789378923c429921cc980e4480a20f148ab4945a45a5217e93a6998344596271b919dc9a1e444f2267219b9997c81fc98fc9642a1e8521c284114016523a58c728c72893248f94455a09a52d9d4e554097527f508f52cf501f52d8d4633a4b9d2a26962da4e5a03ed3ced29eda30c5dc642c6578627b341a642a65de6a6cc6b5992ac81ac9bec4ad91cd952d9e3b2d765c7e5487286726c398edc7ab90ab91372f7e426e5e9f256f201f229f285f28df297e54715080a860a9e0a3c855c85c30ae71586e818ba1e9d4de7d2b7d06be917e8c38a784523455fc544c502c59f14fb14279414946c94c295b2952a944e290d2863940d957d9593958b945b95ef2a7f9ea739cf6d1e7fde8e79cdf36ecefba0a2aee2aac257c9576951b9a3f25995a1eaa99aa4ba5bb543f5891a56cd542d482d4beda0da05b5717545752775ae7abe7aabfa430d54c3542358638dc6618d6b1a939a5a9ade9a699afb35cf6b8e6b296bb96a256a95689dd61ad3a66b2fd2166897689fd17ec95062b8319219658c1ec6848e868e8f8e44a75aa74f674ad748374c77b36e8bee133db21e4b2f4eaf44af5b6f425f5b7f89fe5afd26fd87062403964182c13e835e830f8646861186db0c3b0c478d548c7c8d728c9a8c1e1bd38c5d8cd38d6b8c6f9be04d58264926074c6e98a2a6b6a609a615a6d7cd50333b3381d901b37e739cb983b9d0bcc6fc1e93ca746366329b988316ca168b2d365b7458bc9eaf3f3f7afeeef9bdf3bf59da5a265bd65a3eb252b0f2b3da6cd565f5a7b5a935d7bac2faf602da02af051b16742e78636366c3b7396873df966ebbc4769b6db7ed573b7b3b915db3dd98bdbe7d8c7da5fd3d96222b9055c8bae480737077d8e070d2e193a39da3d8b1d5f10f27a6539253a3d3e842a385fc85b50b879c759d39ced5ce038b188b62161d5a34e0a2e3c271a97179eeaae7ca73ad731d7133714b743beaf6daddd25de4dee6fe81edc85ec73eeb81f1f0f6c8f7e8f354f00cf32cf77ceaa5eb15efd5e435e16debbdc6fbac0fcec7df67b7cf3d5f4d5fae6f83ef849fbddf3abf1e7faa7f887fb9fff3c5a68b458bbb96a04bfc96ec59f278a9c152e1d28e0008f00dd813f024d028303df0d7207c50605045d08b60abe0b5c1bd21f49055218d21ef43dd438b421f85198749c2bac365c3978737847f88f088288e18889c1fb92ef26a945a9420aa339a101d1e5d173db9cc73d9de65c3cb6d97e72dbfbbc26845f68acb2bd55626af3cb54a761567d5f1185c4c444c63cc174e00a7863319eb1b5b193bc16573f7715ff15c7925bc31be33bf983f12e71c571c371aef1cbf277e2cc125a134615cc016940bde24fa2456257e480a483a92349d1c91dc92424c89493921541026097b52b552b353fbd3ccd2f2d206d21dd3f7a64f88fc45751948c68a8c4eb1a2384d7c4d622cd92a19cc5c945991f9312b3ceb78b67cb630fbda6ad3d53b568fe478e5fcb806bb86bba67badceda4d6b07d7b9adab5e8fac8f5ddfbd416f43ee86e18dde1beb379137256dfa6db3e5e6e2cdefb6446ce9cad5ccdd983bb4d57b6b539e4c9e28efde36a76d55dbb1db05dbfb762cd8b17fc7b77c5efe9502cb82d2822f85dcc22b3f58fd50f6c3f4ceb89d7d4576450777e1770977ddddedb2bbbe58be38a77868cf923ded258c92fc92777b57edbd5c6a535ab58fbc4fb26fa06c7159e77efdfdbbf67f294f28bf53e15ed152a951b9a3f2c301de819b075d0f3657695615547d3e243874bfdabbbabdc6b0a6f430fe70e6e117b5e1b5bd3fb27e6ca853ab2ba8fb7a447864a03eb8bea7c1bea1a151a3b1a8096d92348d1d5d7ef4c64f1e3f7536339bab5b945b0a8ec131c9b1973fc7fc7cb7d5bfb5fb38eb78f32f06bf54b6d1dbf2db91f6d5ed131d091d039d519dfd27fc4e74773975b5fd6af1eb91933a272b4e299d2a3a4d3e9d7b7afa4cce99c9b36967c7cfc59f1bea5ed5fde87ce4f9db3d413d7d17fc2f5cbae875f17caf5bef994bce974e5e76bc7ce20aeb4ac755bbabedd76cafb5fd66fb5b5b9f5d5ffb75fbeb9d371c6e74f52fec3f7dd3e5e6b95b1eb72edef6bd7df5ced23bfd77c3eedebfb7fcdec07ddefdd107c90fde3ccc7c38f568e363dce3fc27724f4a9f6a3cad7966f2ac65c06ee0d4a0c7e0b5e721cf1f0d71875efd9ef1fb97e1dc17b417a523da230da3d6a327c7bcc66ebc5cf672f855daaba9f1bc7fc8ffa3f2b5f1eb5ffe70fde3da44e4c4f01bd19be93f0bdfaabe3df2cee65df764e0e4d3f729efa73ee47f54fd58ff89f5a9f773c4e791a9ac2f842f655f4dbe767df3fff6783a657a7a4e06b1f0f56433ecac1cecec98d64c2b86073f8e23491633a4c98e9d9a9c2a113142d2385c3e83c9908695ff5b4e89dd0fd0b11540e5e1770d000267b7d94c3603e46fae91029dd377f0afe023cd5adbbe6ba93500ac4900ccae0c41fc8cc60e0e65ccf18119cc8fe38bf8422e9f112ee0670984f10c76aa9027100b52850c8190f12f36fd8f6d98e3c3f76c2ce6678b67e64c4d5b2d12c4278819be42315f24e44827e224cffc8e483a6346aa482c90a49833ac2dad6c0132e21658cf3a45f500c03d9b9e7e6b08402801f85a343d3d553d3dfdb50600f308e0ace49f8d08d1230a656e6473747265616d0a656e646f626a0a32322030206f626a0a3c3c0a2f54797065202f4f7574707574496e74656e740a2f53202f4754535f50444641310a2f496e666f2028735247422049454336313936362d322e31290a2f4f7574707574436f6e646974696f6e4964656e7469666965722028735247422049454336313936362d322e31290a2f446573744f757470757450726f66696c65203231203020520a3e3e0a656e646f626a0a32332030206f626a0a3c3c0a2f6c656e67746820313236390a2f54797065202f4d657461646174610a2f53756274797065202f584d4c0a2f4c656e67746820313237310a3e3e0a73747265616d0a3c3f787061636b657420626567696e3d22efbbbf222069643d2257354d304d7043656869487a7265537a4e54637a6b633964223f3e0a2020202020202020202020203c783a786d706d65746120786d6c6e733a783d2261646f62653a6e733a6d6574612f223e0a202020202020202020202020202020203c7264663a52444620786d6c6e733a7264663d22687474703a2f2f7777772e77332e6f72672f313939392f30322f32322d7264662d73796e7461782d6e7323223e0a20202020202020200a20202020202020203c7264663a4465736372697074696f6e20786d6c6e733a7064666169643d22687474703a2f2f7777772e6169696d2e6f72672f706466612f6e732f69642f22207264663a61626f75743d22223e0a2020202020202020202020203c7064666169643a706172743e333c2f7064666169643a706172743e0a2020202020202020202020203c7064666169643a636f6e666f726d616e63653e423c2f7064666169643a636f6e666f726d616e63653e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a20202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a786d703d22687474703a2f2f6e732e61646f62652e636f6d2f7861702f312e302f223e0a2020202020202020202020203c786d703a437265617465446174653e323032362d31312d32385431333a33343a30315a3c2f786d703a437265617465446174653e0a2020202020202020202020203c786d703a43726561746f72546f6f6c3e6964656e746974792d736572766963653c2f786d703a43726561746f72546f6f6c3e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a2020202020202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a64633d22687474703a2f2f7075726c2e6f72672f64632f656c656d656e74732f312e312f223e0a2020202020202020202020200a0a202020202020202020202020202020203c64633a7469746c653e0a20202020202020202020202020202020202020203c7264663a416c743e0a2020202020202020202020202020202020202020202020203c7264663a6c6920786d6c3a6c616e673d22782d64656661756c74223e437265646974206e6f746520434e2d323032362d303030313c2f7264663a6c693e0a20202020202020202020202020202020202020203c2f7264663a416c743e0a202020202020202020202020202020203c2f64633a7469746c653e0a202020202020202020202020202020200a0a2020202020202020202020203c2f7264663a4465736372697074696f6e3e0a2020202020202020202020200a0a20202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a7064663d22687474703a2f2f6e732e61646f62652e636f6d2f7064662f312e332f223e0a2020202020202020202020203c7064663a50726f64756365723e7064666b69743c2f7064663a50726f64756365723e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a202020202020202020202020202020203c2f7264663a5244463e0a2020202020202020202020203c2f783a786d706d6574613e0a20202020202020203c3f787061636b657420656e643d2277223f3e0a656e6473747265616d0a656e646f626a0a332030206f626a0a3c3c0a2f54797065202f436174616c6f670a2f50616765732031203020520a2f4e616d65732032203020520a2f4c616e672028656e290a2f566965776572507265666572656e6365732035203020520a2f4146205b3131203020525d0a2f4f7574707574496e74656e7473205b3232203020525d0a2f4d65746164617461203233203020520a3e3e0a656e646f626a0a312030206f626a0a3c3c0a2f54797065202f50616765730a2f436f756e7420310a2f4b696473205b38203020525d0a3e3e0a656e646f626a0a322030206f626a0a3c3c0a2f4465737473203c3c0a20202f4e616d6573205b0a5d0a3e3e0a2f456d62656464656446696c6573203c3c0a20202f4e616d6573205b0a20202020286964656e746974792d66616374732e6a736f6e29203131203020520a5d0a3e3e0a3e3e0a656e646f626a0a352030206f626a0a3c3c0a2f446973706c6179446f635469746c6520747275650a3e3e0a656e646f626a0a787265660a302032340a303030303030303030302036353533352066200a30303030303134353732203030303030206e200a30303030303134363239203030303030206e200a30303030303134343230203030303030206e200a30303030303130323332203030303030206e200a30303030303134373433203030303030206e200a30303030303031343332203030303030206e200a30303030303031333235203030303030206e200a30303030303031323033203030303030206e200a30303030303130303739203030303030206e200a30303030303030303135203030303030206e200a30303030303031303133203030303030206e200a30303030303032393732203030303030206e200a30303030303032383333203030303030206e200a30303030303032383538203030303030206e200a30303030303032383933203030303030206e200a30303030303032393239203030303030206e200a30303030303033303632203030303030206e200a30303030303038353436203030303030206e200a30303030303038383132203030303030206e200a30303030303039363435203030303030206e200a30303030303130323533203030303030206e200a30303030303132383938203030303030206e200a30303030303133303533203030303030206e200a747261696c65720a3c3c0a2f53697a652032340a2f526f6f742033203020520a2f496e666f203132203020520a2f4944205b3c62623637366234356163306463366437303036303730366261393330616534393e203c62623637366234356163306463366437303036303730366261393330616534393e5d0a3e3e0a7374617274787265660a31343738360a2525454f460a	\\x7512f38f85c08662e93328ea4900af90dca9617ae414bcccc0461c3389be80b2	\N	\N	2026-11-28 13:34:02.454428+00
INV-2026-0001	\\x255044462d312e370a25ffffffff0a31302030206f626a0a3c3c0a2f53202f5552490a2f555249202868747470733a2f2f7061792e6578616d706c652e746573742f494e562d323032362d303030313f616d6f756e743d33342e3531290a3e3e0a656e646f626a0a31312030206f626a0a3c3c0a2f53756274797065202f4c696e6b0a2f41203130203020520a2f54797065202f416e6e6f740a2f52656374205b3536203239392e3239203431392e3238203331312e38395d0a2f426f72646572205b30203020305d0a2f4620340a3e3e0a656e646f626a0a31322030206f626a0a3c3c0a2f54797065202f456d62656464656446696c650a2f506172616d73203c3c0a2f4372656174696f6e446174652028443a32303236313132383133333335385a290a2f4d6f64446174652028443a32303236313132383133333335385a290a2f436865636b53756d20283862396665383535326330386264333731653233633533646333393561663265290a2f53697a6520313638350a3e3e0a2f53756274797065202f6170706c69636174696f6e2332466a736f6e0a2f4c656e677468203739390a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789c8d54cb6ee33614ddfb2b08ae2b9ba424ca1250b449e369ba9916994c117463f071ed102351024965e231f22dfd98fed84094e438934cdb95a0fb3cf7f09e7b5c20bc132a785ca1e302216c21e00ab192901f86df201e7185f29cc6bf4fc66a5c216cec436b14e068ac8d85291be1ae167688f041b8002e46201c4ca88718fce185b9163e6cb5380c1e460949084d523a3977c6bdf692d9abc12b67ba60dad8eef61ed0d41245080b849e223a27c2d099ce03c9fe00ee04d78a26e2ba50aaed6d40d3607aea028d30f5d9c0fa6778144d57c332800f53d083085b33d062fbba1e4d426b07de4fb61396d00631944bb389cfcfadd3fe2c13eb1eb6e3448c309e50965036b26cfb4646e0f8b7f77f26d14bc84407ee9c5130148acf37ce0daa75fa34e850588497856f595a115211b22484fc354d63bcef41bf88a5095bdfd2b44ad32a5f2f53c2e6586ff6b6efc6e1b172cd9650c118cb55a219e54991494804952a599765a1cb8c722e666ac5c8f8947c4a945c4252a4942552834a049305a73c4bd7e5fcf2aab5c109f52af3bf5b7671ddfe2f111d38d3ea2d58ede784b8842c21f49692ef26c4357c9942bf97e2210463f77efb00ce8fab4c4fdbe2a1aecf56551a3554fce5f7cb8babcdbb77777777b350da36f6ba6882df8333ea3ea04b70b5b1e8fae612519666f9fcb87254e7d5665da605c908c93292a78cd094103205cd9ab8acfb062cfab591d7dfca419aba3676ffaf6ac0571b9a725ee665c1f1b7b2882321ac4c88f21ee18e51e341a183f95af45df0c1897ffe06446777dc1b77185bccc6aef541b53a02a784d27cb800239108abde39b02aa66c3ede9c8e5203db2f6d3c5e78d3bbb683d53990e1f66d9f65c78a1565e92acb79b17e3e2ff3253cd370270e0dd8707ab8dad84f4381fb103a5fad569d382ccf895b1dc7264f3f896618edc7e3f87d9a61c0637cdf3f6a101e5070c2fa1d38145ad4f60e4d425a3e633a5ba6f8af44807d3b32f661bc0e6f31324bfffcfe0cd2c78b58177b88c7ebf8568bfb46c4ed6432a36c2d4a56965c4aa10ba1764c6a9ad29c9624e719974ae75c43b9d339a79240990a45b8c8d6bb4217c5d06bf1f4150b77c20f0a656e6473747265616d0a656e646f626a0a31332030206f626a0a3c3c0a2f54797065202f46696c65737065630a2f414652656c6174696f6e73686970202f536f757263650a2f4620286964656e746974792d66616374732e6a736f6e290a2f4546203c3c0a2f46203132203020520a3e3e0a2f554620286964656e746974792d66616374732e6a736f6e290a2f446573632028546865206661637473206f66207468697320646f63756d656e742c207365616c65642062792069747320697373756572290a3e3e0a656e646f626a0a382030206f626a0a3c3c0a2f54797065202f506167650a2f506172656e742031203020520a2f4d65646961426f78205b302030203539352e3238203834312e38395d0a2f436f6e74656e74732036203020520a2f5265736f75726365732037203020520a2f55736572556e697420310a2f416e6e6f7473205b3131203020525d0a3e3e0a656e646f626a0a372030206f626a0a3c3c0a2f50726f63536574205b2f504446202f54657874202f496d61676542202f496d61676543202f496d616765495d0a2f466f6e74203c3c0a2f46312039203020520a3e3e0a2f436f6c6f725370616365203c3c0a3e3e0a3e3e0a656e646f626a0a362030206f626a0a3c3c0a2f4c656e67746820333836320a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789ced9dcb8ee4b61586f7fd147a81d0877712086661e702641120f1ec822cba7bba81007180d840fcfa012989fc552df2af1e3b81ab3c8b464f557f73449d3b294ad28b2cb2fc462fb224a755cacbf3770f5ffdeee53fff787ef9eb1fbf5e9e7f7810a545e7203139ab6d34dee5e5daef7e78fe174afbe6db9f24eddb6ffefc20cafbe5c7877f3fe8b3917ffd71fb5e2f2e24e58d365a2f3178e542d662968fdf3d7cf507bd18b37c7c7df8db6f45448b8811112b224e44bc880411891f16f9fbf2f14f0fbffff8f097372ab187918959aefbea4c1f9f296a558689d76ac32b6b83f66689cea914b3f77ad786d6076d2411c91f169f94cf36faa57cff28224f22f2bcfdfeb47df70c3f2f538dfdb29ce85abdf9b0c4e85538d197593e7ebf2aed75d59bd622bab8525c5d4a5b11edd6efb417d1e1961464ae575010a5adcf39ec0acabb3fe920a2e3a69a24a2b3887edc7e3f6d7f7b5e5556d475e143d71dde45e5cf0f2f2fbb6bae3ffad37698d7ed904fabe56ad09bcf38b4752a0fcedced87f8b0e8a87c4cdad450aadeb07bc8e79cae31ca0e8ee9d753d182a725a25fd7145772da612c466f26309b79641db431ab89ea0954737dc63825ab38304bfeb004ab7270c9b93a0efb618951051ba2cef50bb7194a8b18bffebbfc366135a4895b0efa2462d26ad8f2db94417f7aff60438e231736eec3a28357de44bb8eb668ac6ace6eead53dc69b57d93551960199c7cd039fd68197cfe6691d743d81c23cdf46b9b93e2b041f8661f97ae1a745295b6856b773b79428afd788b34a24c6685b2191432129617088cfda8884b531d15ba35253a7edc1fdb67129cabc2505be4383268df2ed5c1d3f6ffebbf5e8b4929549d3084d6769ed0e9dca7155fcef5ae25bf51b674651586b7584e0d9a2d1bcf4a45503ea714b68f359d66dfbd4584db51378de5492b6846537950d3a89ee6777e953268fba5af3fa618946456fb384654bf555338fbd1ad6f6a168ece5add3156ed7a6d8aba7f8b7ed7c637dcaa696da5e47686177877b01a7db2750f7d59eee4ea7fd688a6277857cf1b1b18f8dd557e7675ffc6cf73331f3d96556d9e8b4f515dbd4b7d500bbf5a671f5aa3651f26fd60feecbbbc64adb27d3fbaa405d700bf7553eaf9d12f9a0950bcee8bcab29b51c663e2b27dd960aac4e2a8b294b333355d89e7bf649746d23320da2db5247091ee7a3583d5587bb5c947cba53f770de28137459569ce863b4c677478af09295773e183f53449d8c4468798288f522f678e9c287c5a4a4ccf2dd83b7355baf1fff592ecf2d3fbe39bf185230d179c9496c36e564aef9aa9cdfb77752d56cb9eae67290bc781bc7bdf95d1674ab9289c1c6e9a93f6d4bf8e6aa56f04655e182127136fbb917acaab0f73879f03a282d5fbc616bdfce55d02e09d87dc57f6f67f3558bb1bf98daf40e4d183b9c4d3a119b603af438520a4c97daacf3fd5703bdd6b3a9c7fb27b578696b2bac3fcf04d987c53adbcb70f9f0a5084fe6e3b2b824b3ab1ed8fdec97868e97dfee3011b91c540ac9c63c534f6f06e1faf6bde7e8ea3261b8cd83ec0e6885fce452c8af417b5e8c129d629ceaf0c2afea660eb3ed8fb8a586d85eef51ce2aefb535a96d0530c7ad00e7eb827bd193bbd38a4b4645ab75345728e7c261eaa69aa71b759a77ec442c8b3bd39d887adb2b62f3db8e635f43be95e5aeeb3b479bc7cbebefd95163b72bb1f5eb4f77bce941bba9d27ea6fdacb7e849314db781947d94f592fdbd3ac5f8fcf7dd9765db42dd71b9e7ddbcb62f66bfd6f2dc3fe377b5a8c77edd66df965bbf7bc6ff7b774e35ee7cea46482d621fefd5a1c6e76e1f45ec530faae660afeb8f7dde7feece21bc1e2d7b957576e7b0eb8beb8c61af4546ab1c4df061ff63ddd878af1b0daa0b8db5f5656bdec1ad6c1c2ea0d95fc942467598891eee6ae2f00ed730c33b74acebdb9ef70d4f6d9d15eed2a92ef388c9e8ed146377aff6b7386eb88db953558b1db55076bf012a6fb3b152013f6df7833c1e6768da19dca76e7ed2e6f5ed16949f942d45eccb684554c4bed2602ab37a931667c2a283b2598c738b51d66917ecf2fdcb435921b2deeaa82bd4fe7464b22ad19b57414e8564b289472626e54467bfca894a8cb3f988a4a8628849fce450d928e7255a3366bc689574f0c98f87e3755246ca1f26728c5129e558e6f863fdec0a4c6f441c301f9535295e41a2c21b3ad0a95636461fae4093a8e8acd39ea3a86232d69c958b5e9b039a952dca77170ab7ca9ba2402af5601b82a289086a83ca36791bf9696d36b5f2463f472caa1ceadf013df5ec6e7d263394a5591d255e810615b20bd671345a1575715e8e26ab24b98bb19e9e14f84927b55651a2d517e12649252739063a00b43e43c1fa142d49da8464d969a19f5007d8fcc45eca19bac94e322f994b4427994a44bbcf45427a26642e15399b80c31c249272fba60d3e33995e9cd23e89bb8204479a93907008896e4448f0a299e20f4e44bc63f321ff266b0e9da8a1cc8b884c74238242a5a1685012c4a52b0680b9667e52986b1a39c835daab14bc0d01d9f32e002d3f1febc1f4d3b11e6ccfacba193fbe399191490989266528940f82a2f51b4adb3c8626af9c09d6693e00343f910a2d0941bd04e572f6fa0a1493c97cac87fa4550743f82a25311656d4ee544498dad5163df5da5a1d45308098ec2c89e2508099d2b23bb4311126a18239d8ad9e8cc8f0e8e3727b1da31b2573b42828332b2fb2721c13ddfe34c66274e2702d89374944e5a3aca6d4f50343e1900da742e159309917ab00019eb1ecbae5c862feaa5dd4147cfcb23ce2f995898d733144d4550d47f43cfab3ea87f2ef410530da5b97c7efc430030b5ee968aaafe510f3cca8bb2525be64e7235cd85e28207917a705382a29ec8005051442af4510c859ac794b56b3fabfadd289c40fb8c742aa7b521e8e8a0e5818446a44277c4a462422352a13b22520fe69f4baddb6d93b950d6c0fca2bc4b265b2e15cd4f506b94f16b2f4174b559df6b157d4d578318f565a7ce9a983b7b2e127a9e8ed2a68749852cc9a482fd190af6a768cfa804455721a7859982a1607fa6acddaa4e49aeeaa5b58fa1dea8e0d6e92045db948b915024190a4d2f43616adcd1f3860a6dda501afe0c855934192b863f4321a553bb6ee60fcad51689276a8642934a51306a43794c13a930992028f633640087e82352a1f364528d57c6ae4ed5c8f3957db4295100c66a5231d558a0014848346b4307591dcc4aa4425567287a004321ab1314fa3f765ab0d04ad0835f35f4b4f9c504301fea210130b4bb1519a975cae752c5b9aa9c57c1d44f2e68a54dedb06809a068ef163a3a98d3f616a0a374818c0d009c85a1d00274f4d4ace00064a8e8014468b72a01c1a84c515bfe0f5695364c7bdad2777230f56a19a593a7d34ec812844463367250a57b387754bbcb05988b2a4dcefe602282429052b49b939159655d3e5255618c7a95d6d31e180a6294a110a304858ebea3e7fb107a3eefe42044fb960586429b46d0438c1214666914edc59fa1309fa7686fe8198ac14f8cb5077f52ba3a150ffe46d2e02724fa09393ca67d221533054131ed930160526168ef3d290a9e3a470fa98aa0e8a90445f72363dd1c258a2ade24c32ad1530a457b4a6128b80a43c1553a4a5d85a1607f3600e81189544c3f1d3d2f5550549854887e765a502ba2510508c369429ffe75f4bcaaf7756f26147a7f8642ada0688feb8ed20e8048c50e80a1682c86b60e8092bd032006c018f4aa4cd8ac190516d8aaa1e77d151aa0a183c4da8b351b00f4d31485c09a0fe010585daa7eb3b47d5157c9080e9145068b911595af0d38adad9d1c5cfd8375adced2e2c6068036984bc50b2044ea21b4080a158b0d007a2b86a2618906f6e29655f2ab87b126b8a3a789e5505b1acad31541b10c35f47cb10843a0a1e7eb0f7d598b09459592a16e2a4d46152d18334855bdaa7472d02ef6d5a78ed27681a1d02e74747055030cc5c482a18806a0072442d1a473a1588098d05e8028d90b10b3d56e7ca77c75a341498178ea28db5fd9c981457be47594e64826150d3a978a399248c51c39570076ea4c28042943a1a0315ded260daa34946e14f6d07b50b4cd141989f1dcd0733fe905929050f4d8e13144e7e8c1a00da557139854343e918a413a57c06ed0aceae2e02893a141190ae1dc503af767289ab4a1ecb61642422b490e7f48baf3f33f589448c504cd50086782623813ad6ed6cf5a952bc371741750ef4d29d9a2b993e7d3c36e7a2613b23e43e1326e47697e2652319c190ac6a768ef61190a91cf34b05bd49607028fb7c1834509090d1745fb427e47d9427e27e99a0b3b3eacb951b427738262e8cfcfea607c2214229fa2ad352387870bc3ecf4772f09cad40bc83ceb777430d38120255231481b7a9ea0c1a073a13879ec289d3c3214743f1d29e65c76fabbee93f2a92e240db07eed9ea15071190a2b3d1da5773b7674b028d43b688662e0cdc77a083c86f68ddb0cc5202528062943bba330b2b7660cc58066de529dca8ba8922a0dbf378ea23df6013db769afe580924b7d5468efcc0165dbc6d95981a390a142960072700b54db3a4987daaba917ab2a690706e8f1c7d1d61c53b4275f8eb6469aa268ac867263cdd18309e60380f698a23d55d3d3daa3caab50f7ce8d166451a98de59a622868aa8f6070135ecb6a4cec41ab04ed7d2747c1000d9d4d3abc44355b3b6b3309066248ed24593d62227b7bca48b47c23cfaf30a0dea7420fba9c93e8cb3b3955ba16552f190d3dbe17888eceef7ba532c1401d651b06016517a2e800fa14820ea02f0930a9d09e30a9189d4c2a7809a0a71ed56c6a54a8df5e61d386329b1299685386824d1bca5662290a79b4a3a3a721b4f93b130b2d1f3b2f8c526a81cd504e5db7b3be93cc4c738968a539091d4423078a6f733222135658e6e703733772702c48e4e0681da2f6cd3851d51bce464904944e487478824249eae820367aa561523136180af96e3e8043be9b4b3d441143c14e048562c74e6bb76956c5ff6ce4f7d172160b4e63075d01e43182a2ad1a4a3b6722f5602b82f60d2d1445b332749f0f03795ac72f9e79569f21569e5ef6fa8b7d1aa1bef259d5e5862beb43799877791e9acdc6b9f6ccea78783f5d80c7cbd9f5c9d5fb8bd9ecf698d9f21e8c378f96f3fdff9597e7eeafffd6aff0ea86f2ffd3e5fb3262f6cae6feca8cedf3ffe5ad19bf183ba6eb1f3a6ecbf3ec926defac8fca5f3e56b23ed0ee71557e7be1e0f636b9f6d03bbb3dee767f76201acdae8f2e2f8f6594d7feea84fa8a84eda972fa36dedb78b566cb267609313933d3f04f7d665fd1a4839751bc7909c5f1197dff05f09b5e880a656e6473747265616d0a656e646f626a0a31352030206f626a0a287064666b6974290a656e646f626a0a31362030206f626a0a286964656e746974792d73657276696365290a656e646f626a0a31372030206f626a0a28443a32303236313132383133333335385a290a656e646f626a0a31382030206f626a0a28496e766f69636520494e562d323032362d30303031290a656e646f626a0a31342030206f626a0a3c3c0a2f50726f6475636572203135203020520a2f43726561746f72203136203020520a2f4372656174696f6e44617465203137203020520a2f5469746c65203138203020520a3e3e0a656e646f626a0a31392030206f626a0a3c3c0a2f4c656e67746820353737330a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789cd559795cd3d7b29ff39b7302ca964002fa542486e0826025045c5aab542dae7557dc0ac876ddc0e252a5086575c3b840bc2205a4081629a58a4845a98a3bd2dadab45ab556d0ba56b9bd6a15c9e1f5f70b58ed7df7be3fdfe725fcf2cbe12467e6cc7c67e63b274bdf5b160e1d201110e451e121616079e400805f54547848dbf85b00705f183daf7dfc0480d82e0a793fc632140400709bb77ca95bdbb80700e131ef85b7cd5337001615b970658465dc610d80534ed4a2a5ef5bc6dddc018875444ce422cbd8b52f00ec01222e35b76a96e3905fdf7578fd3174b796662f1cf37cd67e7f5adc32d6f66e872be006e224b15c568b783700bbd54f8b9b1b6def4aff7df911d07617a50402c00600a8103500207d01480a00b90d20740210860308c100c21100ec0a809900781c80be0640c702d04c00da62b95818003b0ec01e01c8c20064c701acac01ac1201ac8e00588f05b02e05b0be0fd0210aa0e304808e9b003aee06e8f833808d3580cd8c3fee6b006cff50cbf67d00db7c00db437fbc7f0a609702607703c0de1dc07e0280fd0700f639000e4a008735000ee700e47200f95200851c4031e58ffb2600c57d00c709008e9b001c2b009c7a01384d00704a11bd20592700a7802744812d082087eda22da90a00ac81123d54411dd4c15128811c520455207a7109d441beb01752611954412da9236b052fa8832268820b5002e950872514c868d0411d005c62023c2253a00272c840a22403ad6414e8785a4127d12a7a8bd6833f8da5f53498c6121d16b069ac884d6303f184e00867a03b54916b100b07f10eeaf0101d4eede11ad66309dcc4124a01a00e0c50087150054a120d09429c30090c708ad54336644334d4413dc92517a0090e926430c1df910a81904b4c7014eae00924e3142101007542045c80535008f560806c88a5c04ca42370c1130a45ed0120547aed865ecc243d9b2001e2600a14caaa644a2b0db92059ac88d492fbb2ad900f1770362ec1cb24956ae86e1a08068b0530180ccc44b2c5efc822c84a1a2c3de3c4d58515349894c01d1a6c150a717042dc9188526112ab8708380411b04226877a3298a4e25a308038db0deaad46d37e9023ae60150fd100108d7a980fd1100765b017bcd0080621ceb25f993f7b0206c8a1d7850830900ce109d4e370e80d11f401c40228018c5542e2d0d6e71c9b95f84c8b4f7df077233eb1c7c71c1f71fca7167fb3c77f18b1498b0fd70d630f393e30e2af46bcdf8cf79af12ec73b83f07600dee2f88b0fdebc3199dd34e28d75c3d88dc9d8d8d08f353663433fbccef1678ed77cf027255e35e2158e971df1c778bc548d17397ebf6e18fb3e1e4ddfbdcd4cf1f8dddb78e1db2eec02c76fbbe0371ccf73fc9ae3571ceb8d78aece959de358e78a677df00cc793a90a76b22b9e70c6e31c6b391ee37894e3118e5f72ace17898e3218ed51c0f2af08b342dfb8263d5816a56c5f140e51c76a01a0f24d2cafd5a563967682b560ea5fbb558c1719f11f772fc9c6339c7cf389685e1a7f658ba47cb4ac3704f8923dba3c51247fc64dd30f64933eee658ccb188e32e472ce4f871813dfbd8070bec716718e6af1bc6f28d98c731f7235b96cbf1235bccd9d199e584e18e6c39dbd119b3e5b8bd23fe9de336a31ddbc6d1688759eb86b12c23666eb56799bd70ab3d6e69c6cd9baad9668e9b0c73d8a66adc94480d1bb5cc30070d43e9462d6670dcb0de9b6de0b8de1bd7a569d9ba61b8768d0d5babc43536989ea665e9619896aa60695a4c55600ac7e424054be698a4c00f3926724ce038b475757c3c5bcd313e1e3f08c3b8292a16a7c5551c57727cdf1e57d8e2f28eb88ce3d2668c6dc6f79a714933c6708ce6b898e342352ee0385f11c0e64fc6bf718c8ac74845008be018ce318ce33c8ea11c4306617033ceb5c5391c67719cc93168464716d48c333ae274e7ce6cba0f4ee338758a8a4d0dc0292a9c4ce46c72279ca4c489a39dd8448e136cf01d8ee3c7c9d9788ee3e43896e398d14e6c0cc7d1a3e46cb4138eea66c746c931d00edfe638d288238c389ce35b82177bab1903aa71d8181ccaf14d8e43de70644394f8c6eb0eec0d477c7db01d7b7d68ab030eb6c3411c07721ce0af64039ad1df4fcefc95e8a7b7617e72d4dba0af2beaecd0a7bf0df3e1d8df065feb67c35eb3c37e36e8edd58179cbd1ab03f6f541cf3e5ae619867d7a3bb23e5aeced88bd7a6a59af61d8538b1e5a1be6e1805a1b74e7a8e1d8c301d544ced48ee81686dd9bd1b59b1d730dc36e76d85511c0ba72ecd28cff15809d1501ac33c74e61e8e2dc99b970742672e6dc19551c951c9d383a2a0298234785e0c51401288f478730b4e76867ebccec38da1239b375461b8e1de5d881a3b5e0c5ac395a2951168694c819e53854858217438e029133c10b891c8123a92261a919c4f3ffc303feaf15f88f8f6e20c02c6ec427ac1010ac009c146a8556ad50cfc6ed2d5f09e7ccbedc6865fff4b7f764bd258623b29505cc0408e0a45368f657563253b3274873c500f888c6811300516814be1e9a1e329542a3d0a986109d8f333e2a8a894edb515c3c78e7fc4ff70985e6d9426e5e6e4da1399d069785873d94d6f003a0b6341864e2fa1d888e68fc3f2383c9e0729e769d06b74cc1d2e7f9000284b73652a47160032e00a4874ca574d6f9f8e97d3d7afa382ae482a687a0903b0abea93bb2d352b3b3532ffefefbc54b8f1fe3b55b67cedcba7dfad49d1c7e9adfe7bff253642071224a320004f814804c9129dbeca09334d794eddab56b170d7e9e2f53de0122cac5141a079d0188ca9b68da25fbabec89a687c87ec49d268fcc082cd8bbb7203063e488acc937f823e2706fdc16aa2ff5f46cacaf6ff4f42c71772743883d71248334d0be1f5b1a074ae822aeac76257f59d4d14a9266456dcd329b2f0a83f7cd08aa0efe8ddf22368d75bf160999abd617db0a7367d69cf2f52debd3970c201d8913798b5f3dbeada22c17da7d47cb98e90fd60d4e3aa2d0293444a1d9ff589852fed85c5ace4ccfbbd3ebcd9ef4faf3ee96cfdb03d09f9849f4859a48ce101cccad35a484ec39cc81999ebbd03bedbe9f49ae0943856409176a957a26b9c9bb08c985d25c3a005e654dd01540ab56a9f57ee03f84e8257858e92568a894322b99404285552d7b224984f7f411c695536b162efef29d6f9e0e99e4f28f9292921564f3a045db46ad3006bc75aebfcfed63b377c574e3f724dbad6c6da45d58533b1644cfeb2414bc8285d11b366edc90919191d1f0e04143c383076c02afe7e7783daf273aa223be4497cf63791a4fe7b12483ac24ab48060890d8da48d5d2daeeafe2cc49f2be80a2fe8e2aa5450aa87d9c85e05506c3aa3883e1c1f00dc32b6aecf4f9c175f71e9fbbf3847843ebf00d38f860c1ceeaea9d0507859555ee1efc37fe70fa1cfef0de2ffcae243694ec7205026701f01e334147007fb582e9b53a855aa5be497af34324a092f46e692ea1b1815581cda6120040c9b78b9909ac41016e62fca9252d352fde68d51633bb129552a651930544b33523632bbf4aec52939353f91be4fcf9ebb131e9998f1bb8ab70c67c357dfd865421820f897e6f494cd191cfd71628ddeafe7efa47202fc589142565bb76c994cfee4bed17e4b436e21d290728c55ca25358ec25824d2f82d9837cb42b263a7d4751d1eb79f33fad20f9e4a050640ec9cbab2914e29ee79746cc6bc2dd965c228ba47120f6731688bc9c51fe25b5d4bc59ba2c774f71c4fc446351e48284ace2e281b98b1667e3da0f963f6e1013cdce1c31d108b9053bbefc584a3891a11f88d88c6c6da49c35413700ad42ad572bec89c60d2c9e74b1b85882931f1dc57f2057ffc637f113fc23328f0c4efe352cbc31fec9d3a74f42b699c8e62273c2e4a9643b59441693ed81237f7837987fc5bfe1dff2afb4a25d8a5b1ba9b74c09366214108bfe9269a4dd5960ead153a551e8f04363728ad198926c34d7fbe64557ddbc59159de75b5c2cf4abbb75abaeeed62d615258083fc49ff2a7fc5048d86e99b23db62b99096c249fa8457b2bd4627e16322b2bcd0b2b99c99c2384357b0aa7cc03457d16b736622d8d838ea07d09d76f10ff763fe97dfd06bf1aa4c2fb67762c0d5b57545434e093b81d958d0db78d6ba6158e9db567e2e58b822e222e34f65245efb1e60f4b22428e161c3ee298b0dedbbba467cf160917c57c1af5a6712097b2c00bcfb56dfc15838c2f2e7eb16fd2da6e8cdde63259c79297764eeeb5d943ca31fd018462966ba93d6a955aa1741e4c54e23e141abd4e412691a97ccf5b917bf67cb965e54a96cb8f19ccf96bc767e77d2b041bc8104b0e9bd7da8822e67abe9cdbbb134bc4f4f0e8a99792b2ded7a31ff1267a5f3f1178af8ddc3631ee83a0d4019f67fe746c6279c8ecbdd397ad9e953d307bedd92f6617d037cb7af59a3265e828b57d9fed6b732a359a1abd3e68e298095a07f7aca4dc52d7f6ba293ca171a0002016b17f22db4578d235a06786b1b8d877f70a459fce58e1a8a8ab31efa5c16511f318b37cbfb591ea654ae807e02469e5624ffeb3e6feed628a7f38517d02d76cf31de49b35ed6ccda0550181ab07472dd4cf9a3c6dbc718dd5f28865ab3ea14b4e5fbefdb3756c70bf897db4f33786951ee8dca9d0b5dbbbb3de9c32c47f70faac84d26e9131eb939f6f1575d9d8da888f98498c27b10e28c44d804a09af682162ea9470d67ca5d73bbdae132bfedb93a99fcd9df869704e6565cea8cd6398a9846f7170e00feefe833f7673abebff5a654e4ea5bb87c40ff834891f3800307be249f43a1fbf3789549d84892353635242868ff576e55116d210757a557660da143abe2513175aea2c9f86f724ded0ebd53874b144a045c73788fd8bc87776d1eb7044565a6a66666a5a56d1cdfbd3778c1ab571f4c705bafc98830d0d0763f27545c21ba7af5c397deaca957bbc81dfe9e6baaf6f9fc35fce9a174a061124940c0a9d5722d6299e23dbc70ac006c60290f642a2e92123ed116791a690aa634f0f77d14e3241a57474b1d0011719d5f470efe921e87d1dfdfddc753ed4c595a8e460259425464727242d5e9448eefaad9fb3e3e8b1ec391bf41f26670d1c3897ff3337fadcb48cfca8d0b9cf3296fe3c77e212fefbda227e3136f6fd554b9692fe2535e4ede8b7dee60d2d4267c3c7851b37ec2ae481e3463d3b7dba79ccd864b39bf3b5cf171c9a90bc7ed8d008beff681ebf3b3f6ad1f489d12191c9f1f164d4e14a323a3e21bd2c3ff49738fe8c9f9701013d00b5a2c1622eea20683a104d07d13ff8886f2509b5fc32ffb196ace1db8f131b624383cdd7cc4749150f14460bce7c0931008113002419b8585ffc752acd899a1ace45dfb5f31141ac8a04d5223b44356a84e5bf93877ce7d7021c8e3317ac3ac2eccd9db1acd99324f00f01486b33005dc84c22ab4311931a859ad118aea9e41a662a6936314f4bedaa0060dddb6a281085ce5207b46ae9de9b9005978933416ee67779345946d2c922be99c7f1f5acdff315a413f1267d894b11dfc613f96a6e6ccbc92e6d395994db76edc789e67021d19c2894b6e48a581f59626e2c01021b5a1ba9c09a24648aa14b5f091a0bd6ff4a9b84fb495bf9c396a9fb82c75684eed9579495f3719a61ebda31259191fb277cfd5b226abb1fdf74f537adb6b6bf8fd1909255b4222636cedda3c2cded9bbd1fecb1ec7b696b2355b226e824721c7f49a0a39314007a5f0b9312c397b40b57299dcf8e90a88d6f7ec8d97b8febee3ce1175a476c20ae710643dc2a83a17b95bb07b1238ed36613877bbf10678956e5f159aec2b676ee23e5ad6d00f8d4c22f9dd42aa221ea6d18cc3b1d2667cd71cc34adf943c93104a035405864e939449793efb6f3bedb99e9d9221060e61f9cd65bc2841d4007a2469d48da4517eb852fb89ed4bd76f3cb2ff79b77326d4b23d6b7e876f37c125c0b12678a6f6da42e12b7d388b9f36576a76d4ff07f522629409d5e8a5a6174526666525256163fbd2ce9e6e933379296266f7df8d34f0f3387252d5f9692b26c799270223b3d3d7b475a7af634b7bd89fbce9fdf97b8d7adc749c3a5dbb72f194e9290a549494b97262559f83fde93292df591bca04b6d29e8e56481238a8a7cf3620edcbc7920268f83313965dbb6946423560a739fdddf1d164286136b624d868770d58b0249a00f80502a534af551a5e921eb462c91a0d1ebc48d0aa5b9334710057f589497975322536e9f1035cfd0d20fbf318cafded3c62ff0605befd08e65cd7ea4e6bd82ca7caf5284716089d95ff4576b3e8f907a440b1791cbda90bbbff28b732306ac9cc74ccd5bf96f8f4a8cc7dad67dc64cc02cbc45a5de5f296c6c39c44c12b12512b7efcb9afea79a4cff5d4dfe31b26a6ad6ce05c645e78ef2e7e6e01f62a3bf8bdc51b26afde273fb9f5f79f7382b3ce1ef97b87c5e78f7ce9e972a2ffdfc5abff32346ae59bdf883ee9dbc8eec3979c3438c8948fe940d97b0d1edd59ea20bd1f47cc111c55741f8fee49d3b274fdebe3df0e1e553aedd1df84dfe29994cba902e64d221369657f19bfc175e4502c97f912e24b0f96b7ef5a120905d244424fb7c16cfe52d7ca325ffd0ce52fe91588cee15e2ee49141ab2e046c2faf5093c826437dcbad570a392f5337fbd253d6d4b51e3e5ab0d669137e7b736d25dcc246630a797c8b718c1a0c83ff0d1679fe51ce02dbc95b73053cbb2a60b179a707dcb6c7e857f4ffa10f71779909e63267092b0e84a5c9c34e84d440514165d5ee8863e83170ff8e2786940fcc2939524fb56c332f3e91b29696929c221e74dab79144930869ad732d3f717330e0aef981fa42727a78a32988877d97b6d3d9b067a82eeaf5dbcf38b987b252e7544e3f4d21c7b7d7c50d0f8714141e336eefe246353f1ee9607e382668c7f2768a6706d53cb814d5d0d9f7c623014150b9b335392b2b29292b312ae54575fbe5c7de8b210929594929999f2a131e1d93f657697ab0fff78f9d0c12bede7186db1f24ab3a1f85fce31644a73ae749041601c00db4683c59f539c745d88f84734364433aee8ebaf6abffeaa883fadbdf4632d0d6e31e27cf17a9e8fc696f9161e2af62485ace9cf3386b616443a0e686f4ee8c7b3cf2ffbe5f1e35f969d9ffdeef7cbf957bc80cc253eef7fcf424defcee5a7f8457e899f9afbee85c0409247224914c97b5bc4756b631baeffda2bff89687881e89322867919bf69c1f4bf82b950826f1e9f450a49a808e7f6339c17bd8854fb45124096d692f164422d9f40ea6b791a4f3e4e7e6626b349f034eb5a9e0a71e654ec66c1df450062a41acb398cc800c4947eb1a646e40154c3a5cfa400e024d60428d62cad4ea571d2e87dfdde24ff7ab0e040ec89953d5191e003073e2fd54d9ca8f35e1ef2f6ce1953cb66179d1936f11d4f8d1593714e366787274d0bd2cfed1fb478e45b87060e38963776edb469fdf49d55affb5af4aa25c16c2416b49d0fa955d2b396263d5f2d5e58b0bba9a49dcf530f995264294e3a85b47fa2d014179307df99ef085e173914cb942d7f238de647e6524163be2a721e219024e3484b4f2d711e1cc9e924982574870aba098a6900f8d1480817003ec5c7104e1743380b850a7a1fec85ed309366423acd849534131269269ca54d50217e966e821c2b8462611400cb8448ba058ad97ca8a07f83c5e27be15be88f47609ef0188ae95a28a699b05192b505c2ad74b09206805e180527443934bcf5395b0f15740354d04cd840336129cd846dc222e9f748518778f17bc21ae843dda142e8deba930a5041b7c04a560291743a54b01190cf002a643f40b8b82fd608e39815444af30fc04f580417f15b489159432df594f43e71c04ac6280a04fabac9cb05eda8b0f2a11367b89d0e527bf5fdcbd04d6ee5560e13caed56ba55b5b64e9841bbb0a072d6b51cb5d6e554abb9feef26af7bf51d3361865bb979c4f0b65547040ff7ea3b66f28c72412b8e8607a9d55e7d470c97e644a1e54c5bceb4a382cbdde645b9ad93afd30c5a270f1fe4f5dfd24a51cc0a656e6473747265616d0a656e646f626a0a32302030206f626a0a3c3c0a2f54797065202f466f6e7444657363726970746f720a2f466f6e744e616d65202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f466c61677320340a2f466f6e7442426f78205b2d3931382e343537303331202d3436322e38393036323520313631342e32353738313320313233322e3432313837355d0a2f4974616c6963416e676c6520300a2f417363656e74203932382e3232323635360a2f44657363656e74202d3233352e3833393834340a2f436170486569676874203932382e3232323635360a2f5848656967687420300a2f5374656d5620300a2f466f6e7446696c6532203139203020520a3e3e0a656e646f626a0a32312030206f626a0a3c3c0a2f54797065202f466f6e740a2f53756274797065202f434944466f6e7454797065320a2f42617365466f6e74202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f43494453797374656d496e666f203c3c0a2f5265676973747279202841646f6265290a2f4f72646572696e6720284964656e74697479290a2f537570706c656d656e7420300a3e3e0a2f466f6e7444657363726970746f72203230203020520a2f57205b30205b31313036203236352e313336373139203537302e33313235203533322e323236353633203535302e32393239363920323530203439342e363238393036203535332e373130393338203637322e383531353633203631352e323334333735203332342e373037303331203537322e323635363235203537322e323635363235203537322e323635363235203537322e323635363235203631372e3138373520323530203537302e33313235203837362e343634383434203238352e363434353331203639372e323635363235203537312e323839303633203637362e373537383133203535312e323639353331203537312e323839303633203335322e353339303633203436382e3735203336392e363238393036203536362e383934353331203537322e323635363235203533322e323236353633203537312e323839303633203839392e393032333434203533322e323236353633203238352e363434353331203631352e323334333735203534392e333136343036203639322e383731303934203536382e333539333735203537322e323635363235203537322e323635363235203537322e323635363235203330332e323232363536203537322e323635363235203537322e323635363235203537312e323839303633203331362e3430363235203531372e353738313235203236352e313336373139203530302e393736353633203537312e323839303633203730382e303037383133203534322e343830343639203635382e36393134303620363235203835342e393830343639203537302e33313235203733352e383339383434203632382e343137393639203730382e303037383133203631362e323130393338203330332e323232363536203437372e353339303633203735332e3930363235203532302e393936303934203238352e3634343533315d5d0a2f434944546f4749444d6170202f4964656e746974790a3e3e0a656e646f626a0a32322030206f626a0a3c3c0a2f4c656e677468203337360a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789c5d52bb6e843010ecf90a974971026c1e89849022aea1c84321574529c05e23a46090f115f7f7111ee7724a01a3f5cecc8e61e3a63db666722c7eb38becc8313d1965695bce56121b689c4c9472a626e942e5df72eed7286eda6377d91ccdadd10babaa88b1f89dc66973f6c2ee9ed432d0fd7ef66a15d9c98ceceed474fea43bafeb37cd641c4ba2ba668a741437cffdfad2cfc4622f3db48a8c9bdce5706aba3fc6c76525c67d9d22925c146d6b2fc9f666a4a84a9224a92badb5ae2332ea5f3b88067dcb6655926469cd3e6fca470f0579280b541a107a02904300660e26571e0407c053a0275208d02b2426c0a5808e8710250ec1cc1e50415e825266006429c154c829e05986b830cb820e669cae97dfc3c32c0b00b980b5808b800b0f13c0142119aa02d7cc02f4005c3387591ee6214b8e4139c2f3f025e05986d4d065189ba327602d42167cba62f03094f5d7fefb7f7ff4be09fbd65eb74c9ead25e3fc6afbcdda776a3274ddfe755977957f7e00302ed0b60a656e6473747265616d0a656e646f626a0a392030206f626a0a3c3c0a2f54797065202f466f6e740a2f53756274797065202f54797065300a2f42617365466f6e74202f425a5a5a5a5a2b44656a61567553616e73436f6e64656e7365640a2f456e636f64696e67202f4964656e746974792d480a2f44657363656e64616e74466f6e7473205b3231203020525d0a2f546f556e69636f6465203232203020520a3e3e0a656e646f626a0a342030206f626a0a3c3c0a3e3e0a656e646f626a0a32332030206f626a0a3c3c0a2f4c656e67746820323536360a2f4e20330a2f46696c746572202f466c6174654465636f64650a3e3e0a73747265616d0a789cb5566750945916bddfd739911a904c93632320a10191d064547234d17437d084069a6e40cc8aa8c0882222028a208304071c1c828c11514c8362ce820c02ca3a388a09959d861fb2b553b5b555bbe7c77be79dbaf7d57de7fd3900941b00002800a408c5a2606f774664543483f00c5090851970b81969f0ef40bed3f777674fb798d2d559a6f569f39e7da72be20dfb0ac9ecbebfe99d0b391e3f830b807800003736322a1a00a90700c5d8d0603600721280488d9fc34573382f85c703205d0280edf133bde440696fb224450040e649790a9f930140ce0600fdd8a4343100b952aa8b66eb8f49b998cf4d0020f700003553c2e7fd758fd4976d5962693d25525ac34d1349793200d87313383c004a2d0098cfce3f035246b0b7bbb5a595cd7f78f37f0de99fcc32fd4300b2b900edd7b91251e6ac86952e3820832c28822a68811e180313acc11e9cc0153cc10f022014a2602570210152400459b01636411e14c02ed80be55005b5d000cdd00a1d7012cec145b80a37e00e3c82011886573001ef610a4110024243e8882aa28d1820668835c24216219ec8622418894262907844884890b5c816a4002946ca916aa401f91939819c432e23fdc80364101943fe443ea318948a2aa29aa8213a1f65a16ea83f1a8aae40e3d1743407cd4577a265680d7a146d47cfa157d13be800fa0a9dc400868251c6e860981816868d09c04463e23022cc7a4c3ea614538369c674617a31b730039871cc272c1e4bc732b04cac13d6071b86e562d3b1ebb185d8726c3db61ddb83bd851dc44e60bfe168380d9c19ce11e78b8bc4c5e3b27079b8525c1dae0d77017707378c7b8fc7e395f146787bbc0f3e0a9f885f832fc41fc0b7e0cfe2fbf143f8490281a04a3023381302081c82989047d84f384a3843b84918267c245288da446ba217319a28246e2696121b89a789378923c429921cc980e4480a20f148ab4945a45a5217e93a6998344596271b919dc9a1e444f2267219b9997c81fc98fc9642a1e8521c284114016523a58c728c72893248f94455a09a52d9d4e554097527f508f52cf501f52d8d4633a4b9d2a26962da4e5a03ed3ced29eda30c5dc642c6578627b341a642a65de6a6cc6b5992ac81ac9bec4ad91cd952d9e3b2d765c7e5487286726c398edc7ab90ab91372f7e426e5e9f256f201f229f285f28df297e54715080a860a9e0a3c855c85c30ae71586e818ba1e9d4de7d2b7d06be917e8c38a784523455fc544c502c59f14fb14279414946c94c295b2952a944e290d2863940d957d9593958b945b95ef2a7f9ea739cf6d1e7fde8e79cdf36ecefba0a2aee2aac257c9576951b9a3f25995a1eaa99aa4ba5bb543f5891a56cd542d482d4beda0da05b5717545752775ae7abe7aabfa430d54c3542358638dc6618d6b1a939a5a9ade9a699afb35cf6b8e6b296bb96a256a95689dd61ad3a66b2fd2166897689fd17ec95062b8319219658c1ec6848e868e8f8e44a75aa74f674ad748374c77b36e8bee133db21e4b2f4eaf44af5b6f425f5b7f89fe5afd26fd87062403964182c13e835e830f8646861186db0c3b0c478d548c7c8d728c9a8c1e1bd38c5d8cd38d6b8c6f9be04d58264926074c6e98a2a6b6a609a615a6d7cd50333b3381d901b37e739cb983b9d0bcc6fc1e93ca746366329b988316ca168b2d365b7458bc9eaf3f3f7afeeef9bdf3bf59da5a265bd65a3eb252b0f2b3da6cd565f5a7b5a935d7bac2faf602da02af051b16742e78636366c3b7396873df966ebbc4769b6db7ed573b7b3b915db3dd98bdbe7d8c7da5fd3d96222b9055c8bae480737077d8e070d2e193a39da3d8b1d5f10f27a6539253a3d3e842a385fc85b50b879c759d39ced5ce038b188b62161d5a34e0a2e3c271a97179eeaae7ca73ad731d7133714b743beaf6daddd25de4dee6fe81edc85ec73eeb81f1f0f6c8f7e8f354f00cf32cf77ceaa5eb15efd5e435e16debbdc6fbac0fcec7df67b7cf3d5f4d5fae6f83ef849fbddf3abf1e7faa7f887fb9fff3c5a68b458bbb96a04bfc96ec59f278a9c152e1d28e0008f00dd813f024d028303df0d7207c50605045d08b60abe0b5c1bd21f49055218d21ef43dd438b421f85198749c2bac365c3978737847f88f088288e18889c1fb92ef26a945a9420aa339a101d1e5d173db9cc73d9de65c3cb6d97e72dbfbbc26845f68acb2bd55626af3cb54a761567d5f1185c4c444c63cc174e00a7863319eb1b5b193bc16573f7715ff15c7925bc31be33bf983f12e71c571c371aef1cbf277e2cc125a134615cc016940bde24fa2456257e480a483a92349d1c91dc92424c89493921541026097b52b552b353fbd3ccd2f2d206d21dd3f7a64f88fc45751948c68a8c4eb1a2384d7c4d622cd92a19cc5c945991f9312b3ceb78b67cb630fbda6ad3d53b568fe478e5fcb806bb86bba67badceda4d6b07d7b9adab5e8fac8f5ddfbd416f43ee86e18dde1beb379137256dfa6db3e5e6e2cdefb6446ce9cad5ccdd983bb4d57b6b539e4c9e28efde36a76d55dbb1db05dbfb762cd8b17fc7b77c5efe9502cb82d2822f85dcc22b3f58fd50f6c3f4ceb89d7d4576450777e1770977ddddedb2bbbe58be38a77868cf923ded258c92fc92777b57edbd5c6a535ab58fbc4fb26fa06c7159e77efdfdbbf67f294f28bf53e15ed152a951b9a3f2c301de819b075d0f3657695615547d3e243874bfdabbbabdc6b0a6f430fe70e6e117b5e1b5bd3fb27e6ca853ab2ba8fb7a447864a03eb8bea7c1bea1a151a3b1a8096d92348d1d5d7ef4c64f1e3f7536339bab5b945b0a8ec131c9b1973fc7fc7cb7d5bfb5fb38eb78f32f06bf54b6d1dbf2db91f6d5ed131d091d039d519dfd27fc4e74773975b5fd6af1eb91933a272b4e299d2a3a4d3e9d7b7afa4cce99c9b36967c7cfc59f1bea5ed5fde87ce4f9db3d413d7d17fc2f5cbae875f17caf5bef994bce974e5e76bc7ce20aeb4ac755bbabedd76cafb5fd66fb5b5b9f5d5ffb75fbeb9d371c6e74f52fec3f7dd3e5e6b95b1eb72edef6bd7df5ced23bfd77c3eedebfb7fcdec07ddefdd107c90fde3ccc7c38f568e363dce3fc27724f4a9f6a3cad7966f2ac65c06ee0d4a0c7e0b5e721cf1f0d71875efd9ef1fb97e1dc17b417a523da230da3d6a327c7bcc66ebc5cf672f855daaba9f1bc7fc8ffa3f2b5f1eb5ffe70fde3da44e4c4f01bd19be93f0bdfaabe3df2cee65df764e0e4d3f729efa73ee47f54fd58ff89f5a9f773c4e791a9ac2f842f655f4dbe767df3fff6783a657a7a4e06b1f0f56433ecac1cecec98d64c2b86073f8e23491633a4c98e9d9a9c2a113142d2385c3e83c9908695ff5b4e89dd0fd0b11540e5e1770d000267b7d94c3603e46fae91029dd377f0afe023cd5adbbe6ba93500ac4900ccae0c41fc8cc60e0e65ccf18119cc8fe38bf8422e9f112ee0670984f10c76aa9027100b52850c8190f12f36fd8f6d98e3c3f76c2ce6678b67e64c4d5b2d12c4278819be42315f24e44827e224cffc8e483a6346aa482c90a49833ac2dad6c0132e21658cf3a45f500c03d9b9e7e6b08402801f85a343d3d553d3dfdb50600f308e0ace49f8d08d1230a656e6473747265616d0a656e646f626a0a32342030206f626a0a3c3c0a2f54797065202f4f7574707574496e74656e740a2f53202f4754535f50444641310a2f496e666f2028735247422049454336313936362d322e31290a2f4f7574707574436f6e646974696f6e4964656e7469666965722028735247422049454336313936362d322e31290a2f446573744f757470757450726f66696c65203233203020520a3e3e0a656e646f626a0a32352030206f626a0a3c3c0a2f6c656e67746820313236360a2f54797065202f4d657461646174610a2f53756274797065202f584d4c0a2f4c656e67746820313236380a3e3e0a73747265616d0a3c3f787061636b657420626567696e3d22efbbbf222069643d2257354d304d7043656869487a7265537a4e54637a6b633964223f3e0a2020202020202020202020203c783a786d706d65746120786d6c6e733a783d2261646f62653a6e733a6d6574612f223e0a202020202020202020202020202020203c7264663a52444620786d6c6e733a7264663d22687474703a2f2f7777772e77332e6f72672f313939392f30322f32322d7264662d73796e7461782d6e7323223e0a20202020202020200a20202020202020203c7264663a4465736372697074696f6e20786d6c6e733a7064666169643d22687474703a2f2f7777772e6169696d2e6f72672f706466612f6e732f69642f22207264663a61626f75743d22223e0a2020202020202020202020203c7064666169643a706172743e333c2f7064666169643a706172743e0a2020202020202020202020203c7064666169643a636f6e666f726d616e63653e423c2f7064666169643a636f6e666f726d616e63653e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a20202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a786d703d22687474703a2f2f6e732e61646f62652e636f6d2f7861702f312e302f223e0a2020202020202020202020203c786d703a437265617465446174653e323032362d31312d32385431333a33333a35385a3c2f786d703a437265617465446174653e0a2020202020202020202020203c786d703a43726561746f72546f6f6c3e6964656e746974792d736572766963653c2f786d703a43726561746f72546f6f6c3e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a2020202020202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a64633d22687474703a2f2f7075726c2e6f72672f64632f656c656d656e74732f312e312f223e0a2020202020202020202020200a0a202020202020202020202020202020203c64633a7469746c653e0a20202020202020202020202020202020202020203c7264663a416c743e0a2020202020202020202020202020202020202020202020203c7264663a6c6920786d6c3a6c616e673d22782d64656661756c74223e496e766f69636520494e562d323032362d303030313c2f7264663a6c693e0a20202020202020202020202020202020202020203c2f7264663a416c743e0a202020202020202020202020202020203c2f64633a7469746c653e0a202020202020202020202020202020200a0a2020202020202020202020203c2f7264663a4465736372697074696f6e3e0a2020202020202020202020200a0a20202020202020203c7264663a4465736372697074696f6e207264663a61626f75743d222220786d6c6e733a7064663d22687474703a2f2f6e732e61646f62652e636f6d2f7064662f312e332f223e0a2020202020202020202020203c7064663a50726f64756365723e7064666b69743c2f7064663a50726f64756365723e0a20202020202020203c2f7264663a4465736372697074696f6e3e0a20202020202020200a0a202020202020202020202020202020203c2f7264663a5244463e0a2020202020202020202020203c2f783a786d706d6574613e0a20202020202020203c3f787061636b657420656e643d2277223f3e0a656e6473747265616d0a656e646f626a0a332030206f626a0a3c3c0a2f54797065202f436174616c6f670a2f50616765732031203020520a2f4e616d65732032203020520a2f4c616e672028656e290a2f566965776572507265666572656e6365732035203020520a2f4146205b3133203020525d0a2f4f7574707574496e74656e7473205b3234203020525d0a2f4d65746164617461203235203020520a3e3e0a656e646f626a0a312030206f626a0a3c3c0a2f54797065202f50616765730a2f436f756e7420310a2f4b696473205b38203020525d0a3e3e0a656e646f626a0a322030206f626a0a3c3c0a2f4465737473203c3c0a20202f4e616d6573205b0a5d0a3e3e0a2f456d62656464656446696c6573203c3c0a20202f4e616d6573205b0a20202020286964656e746974792d66616374732e6a736f6e29203133203020520a5d0a3e3e0a3e3e0a656e646f626a0a352030206f626a0a3c3c0a2f446973706c6179446f635469746c6520747275650a3e3e0a656e646f626a0a787265660a302032360a303030303030303030302036353533352066200a30303030303137383239203030303030206e200a30303030303137383836203030303030206e200a30303030303137363737203030303030206e200a30303030303133343932203030303030206e200a30303030303138303030203030303030206e200a30303030303031373037203030303030206e200a30303030303031363030203030303030206e200a30303030303031343631203030303030206e200a30303030303133333339203030303030206e200a30303030303030303135203030303030206e200a30303030303030313034203030303030206e200a30303030303030323137203030303030206e200a30303030303031323731203030303030206e200a30303030303035373738203030303030206e200a30303030303035363432203030303030206e200a30303030303035363637203030303030206e200a30303030303035373032203030303030206e200a30303030303035373338203030303030206e200a30303030303035383638203030303030206e200a30303030303131373135203030303030206e200a30303030303131393831203030303030206e200a30303030303132383930203030303030206e200a30303030303133353133203030303030206e200a30303030303136313538203030303030206e200a30303030303136333133203030303030206e200a747261696c65720a3c3c0a2f53697a652032360a2f526f6f742033203020520a2f496e666f203134203020520a2f4944205b3c30323339363566323663303933323333626635376164633863343065393432613e203c30323339363566323663303933323333626635376164633863343065393432613e5d0a3e3e0a7374617274787265660a31383034330a2525454f460a	\\x57cfdfbea036e9bfaad6b056907ce61538461099118f535460403b816de2e9d9	\N	\N	2026-11-28 13:34:02.003216+00
\.

COPY document_series ("prefix", "year", "last_number", "last_issued_on") FROM stdin;
CN-	2026	1	2026-11-28
INV-	2026	1	2026-11-28
\.

COPY documents ("number", "kind", "invoice", "prefix", "year", "settings_version", "issued_on", "first_day", "last_day", "currency", "net", "tax", "total", "category", "rate", "issued_at", "facts") FROM stdin;
CN-2026-0001	credit_note	4	CN-	2026	1	2026-11-28	2100-01-01	2100-01-31	EUR	420	80	500	S	1900	2026-11-28 13:34:01.027+00	{"net": 420, "tax": 80, "kind": "credit_note", "line": {"plan": "starter", "title": "Starter", "last_day": "2100-01-31", "first_day": "2100-01-01", "description": "The starter plan"}, "rate": 1900, "buyer": {"name": "Account invoiced", "email": "invoiced@example.test", "vat_id": null, "address": null}, "total": 500, "words": null, "due_on": null, "number": "CN-2026-0001", "prices": "net", "record": {"due_at": null, "issued_at": "2026-11-28T13:34:01.027Z", "signup_id": "crm_01a2225c-d216-74be-a1bc-8997d94166ad", "account_id": "01a2225c-b6be-7312-bdec-a2b761643891", "contract_id": "01a2225c-d216-74be-a1bc-8997d94166ad", "past_due_at": null, "period_ends_at": "2100-02-01T10:00:00.000Z", "period_starts_at": "2100-01-01T10:00:00.000Z", "settings_version": 1}, "seller": {"bic": "COBADEFFXXX", "foot": "Amtsgericht Berlin HRB 12345", "iban": "DE89370400440532013000", "name": "Blumen GmbH", "email": "billing@example.test", "vat_id": "DE136695976", "address": {"city": "Berlin", "line1": "Hauptstraße 1", "country": "DE", "postcode": "10115"}, "currency": "EUR", "time_zone": "Europe/Berlin", "tax_number": "27/123/45678"}, "invoice": {"number": "INV-2026-0001", "issued_on": "2026-11-28"}, "payment": null, "version": 1, "category": "S", "currency": "EUR", "issued_on": "2026-11-28"}
INV-2026-0001	invoice	4	INV-	2026	1	2026-11-28	2100-01-01	2100-01-31	EUR	2900	551	3451	S	1900	2026-11-28 13:33:58.302+00	{"net": 2900, "tax": 551, "kind": "invoice", "line": {"plan": "starter", "title": "Starter", "last_day": "2100-01-31", "first_day": "2100-01-01", "description": "The starter plan"}, "rate": 1900, "buyer": {"name": "Account invoiced", "email": "invoiced@example.test", "vat_id": null, "address": null}, "total": 3451, "words": null, "due_on": "2026-12-12", "number": "INV-2026-0001", "prices": "net", "record": {"due_at": "2026-12-12T23:00:00.000Z", "issued_at": "2026-11-28T13:33:58.302Z", "signup_id": "crm_01a2225c-d216-74be-a1bc-8997d94166ad", "account_id": "01a2225c-b6be-7312-bdec-a2b761643891", "contract_id": "01a2225c-d216-74be-a1bc-8997d94166ad", "past_due_at": "2026-12-12T23:00:00.000Z", "period_ends_at": "2100-02-01T10:00:00.000Z", "period_starts_at": "2100-01-01T10:00:00.000Z", "settings_version": 1}, "seller": {"bic": "COBADEFFXXX", "foot": "Amtsgericht Berlin HRB 12345", "iban": "DE89370400440532013000", "name": "Blumen GmbH", "email": "billing@example.test", "vat_id": "DE136695976", "address": {"city": "Berlin", "line1": "Hauptstraße 1", "country": "DE", "postcode": "10115"}, "currency": "EUR", "time_zone": "Europe/Berlin", "tax_number": "27/123/45678"}, "invoice": null, "payment": {"link": "https://pay.example.test/{number}?amount={amount}", "text": "Please transfer to our account."}, "version": 1, "category": "S", "currency": "EUR", "issued_on": "2026-11-28"}
\.

COPY erased_users ("id", "erased_at") FROM stdin;
01a211d3-0a2c-7508-ad84-501669b33ccc	2026-11-28 13:33:42.483885+00
\.

COPY event_deliveries ("client", "acknowledged", "pulled_at", "nudged", "nudged_at", "first_nudged_at", "attempts", "next_nudge_at", "failed_at", "failure", "succeeded_at") FROM stdin;
crm_app	0	2026-11-28 13:34:02.781826+00	23	2026-11-28 13:34:02.057903+00	2026-11-28 13:33:58.586964+00	3	2026-11-28 13:34:06.499291+00	2026-11-28 13:34:02.532013+00	connection refused	2026-11-28 13:33:43.248698+00
marketplace	0	\N	2	2026-11-28 13:33:59.967+00	2026-11-28 13:33:52.324225+00	4	2026-11-28 13:34:08.152351+00	2026-11-28 13:34:00.170402+00	connection refused	2026-11-28 13:33:35.233656+00
\.

COPY event_sequences ("client", "latest") FROM stdin;
crm_app	23
marketplace	2
\.

COPY events ("id", "client", "seq", "type", "user_id", "contract_id", "occurred_at", "numbered_at", "body", "made_in") FROM stdin;
1	marketplace	1	profile.updated	01900000-0000-7000-8000-000000000001	\N	2026-11-28 13:33:33.888416+00	2026-11-28 13:33:34.827956+00	{"name": "Maya Merchant", "role": "user", "email": "merchant@example.test", "verified_at": "2026-11-25T07:29:27.297+00:00", "capabilities": ["manage_storefront", "sell_products", "sell_services"], "profile_updated_at": "2026-11-25T07:29:27.377+00:00"}	761
10	crm_app	9	erased	\N	\N	2026-11-28 13:33:39.56073+00	2026-11-28 13:33:39.89575+00	\N	872
11	crm_app	10	contract.updated	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef5-7584-94ae-d9de98f71e0e	2026-11-28 13:33:40.308838+00	2026-11-28 13:33:40.994412+00	{"plan": "starter", "status": "trialing", "signup_id": "trial", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	893
12	crm_app	11	contract.updated	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	2026-11-28 13:33:40.326006+00	2026-11-28 13:33:40.994412+00	{"plan": "pro", "status": "active", "signup_id": "paid", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	894
13	crm_app	12	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f15-71a3-8b0b-b6c1933907db	2026-11-28 13:33:40.335123+00	2026-11-28 13:33:40.994412+00	{"plan": "pro", "status": "active", "signup_id": "again", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "JPY", "price_interval": "year", "price_unit_amount": 900}	895
14	crm_app	13	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f27-70db-b14e-74d22ce2bc7c	2026-11-28 13:33:40.353116+00	2026-11-28 13:33:40.994412+00	{"plan": "starter", "status": "trialing", "signup_id": "ends", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	896
15	crm_app	14	erased	\N	\N	2026-11-28 13:33:40.371854+00	2026-11-28 13:33:40.994412+00	\N	897
16	crm_app	15	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f27-70db-b14e-74d22ce2bc7c	2026-11-28 13:33:42.112311+00	2026-11-28 13:33:43.02398+00	{"plan": "starter", "status": "canceled", "signup_id": "ends", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	916
17	crm_app	16	contract.updated	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1f39-7760-8480-6eae1715bda8	2026-11-28 13:33:42.496863+00	2026-11-28 13:33:43.02398+00	{"plan": "pro", "status": "canceled", "signup_id": "left", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	919
18	crm_app	17	session.ended	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	2026-11-28 13:33:42.522699+00	2026-11-28 13:33:43.02398+00	{"sid": "rb6KnOfsQTlnBKgYs3Wd8w"}	919
19	crm_app	18	user.deleted	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	2026-11-28 13:33:42.52311+00	2026-11-28 13:33:43.02398+00	\N	919
2	crm_app	1	profile.updated	01900000-0000-7000-8000-000000000001	\N	2026-11-28 13:33:33.899111+00	2026-11-28 13:33:34.787487+00	{"name": "Maya Merchant", "role": "user", "email": "merchant@example.test", "verified_at": "2026-11-25T07:29:27.297+00:00", "capabilities": ["manage_storefront", "sell_products", "sell_services"], "profile_updated_at": "2026-11-25T07:29:27.377+00:00"}	762
20	crm_app	19	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-28 13:33:43.285982+00	2026-11-28 13:33:51.912791+00	{"name": "Casey Last", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:36.923+00:00"}	946
21	marketplace	2	session.ended	01900000-0000-7000-8000-000000000001	\N	2026-11-28 13:33:43.49113+00	2026-11-28 13:33:52.121104+00	{"sid": "aCsqBFL69yUi7HaTz6wkaQ"}	952
22	crm_app	20	contract.updated	01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b604-705c-bf75-03b652f16ff1	2026-11-28 13:33:51.029092+00	2026-11-28 13:33:51.912791+00	{"plan": "starter", "status": "trialing", "signup_id": "frozen", "cancels_at": null, "occurred_at": "2026-11-28T13:32:50.864+00:00", "trial_ends_at": "2026-12-12T13:33:50.864+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	1135
23	crm_app	21	contract.updated	01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b667-7192-b00d-31ef12a23f7e	2026-11-28 13:33:51.084812+00	2026-11-28 13:33:51.912791+00	{"plan": "starter", "status": "trialing", "signup_id": "lost", "cancels_at": null, "occurred_at": "2026-11-28T13:32:51.039+00:00", "trial_ends_at": "2026-12-12T13:33:51.039+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	1136
24	crm_app	22	contract.updated	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6bf-769f-bf57-92ab6674528f	2026-11-28 13:33:51.179933+00	2026-11-28 13:33:51.912791+00	{"plan": "starter", "status": "trialing", "signup_id": "invoiced", "cancels_at": null, "occurred_at": "2026-11-28T13:32:51.129+00:00", "trial_ends_at": "2026-12-12T13:33:51.129+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	1137
25	crm_app	23	contract.updated	01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-d216-74be-a1bc-8997d94166ad	2026-11-28 13:33:58.207672+00	2026-11-28 13:33:58.364325+00	{"plan": "starter", "status": "active", "signup_id": "crm_01a2225c-d216-74be-a1bc-8997d94166ad", "cancels_at": null, "occurred_at": "2100-01-01T10:00:00+00:00", "trial_ends_at": null, "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	1189
26	crm_app	\N	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-28 13:34:02.920923+00	\N	{"name": "Casey Waits", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-28T13:34:02.917+00:00"}	1221
3	crm_app	2	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-28 13:33:34.732825+00	2026-11-28 13:33:34.787487+00	{"name": "Casey Customer", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:27.383+00:00"}	768
4	crm_app	3	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-28 13:33:34.743885+00	2026-11-28 13:33:34.787487+00	{"name": "Casey \\"Tab\\\\\\" Customer é", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:28.383+00:00"}	769
5	crm_app	4	profile.updated	01a2119c-0b96-7188-9066-757d91b49bd4	\N	2026-11-28 13:33:35.460223+00	2026-11-28 13:33:35.837042+00	{"name": "Sharon Shop", "role": "user", "email": "shop-1@example.test", "verified_at": "2026-11-25T07:29:28.982+00:00", "capabilities": ["manage_storefront", "sell_products"], "profile_updated_at": "2026-11-25T07:29:28.988+00:00"}	811
6	crm_app	5	profile.updated	01a2119c-0b96-7188-9066-757d91b49bd4	\N	2026-11-28 13:33:35.528198+00	2026-11-28 13:33:35.837042+00	{"name": "Sharon Newer", "role": "user", "email": "shop-1@example.test", "verified_at": "2026-11-25T07:29:28.982+00:00", "capabilities": ["manage_storefront", "sell_products"], "profile_updated_at": "2026-11-25T07:29:29.165+00:00"}	812
7	crm_app	6	profile.updated	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-28 13:33:35.647336+00	2026-11-28 13:33:35.837042+00	{"name": "Simon Shop", "role": "user", "email": "shop-2@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:29.241+00:00"}	816
8	crm_app	7	session.ended	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-28 13:33:37.367231+00	2026-11-28 13:33:37.852291+00	{"sid": "aeOs6QbOqr-S8Reo_aEJbg"}	825
9	crm_app	8	user.suspended	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-28 13:33:37.373981+00	2026-11-28 13:33:37.852291+00	\N	825
\.

COPY external_links ("provider", "external_id", "user_id", "applied_profile_updated_at", "created_at", "sleeping_since", "capabilities", "verified", "said_at") FROM stdin;
marketplace	shop-1	01a2119c-0b96-7188-9066-757d91b49bd4	2026-02-04 06:04:06.36+00	2026-11-28 13:33:35.337907+00	\N	\N	\N	\N
marketplace	shop-2	01a2119c-0c98-766f-9f21-005bf89a04be	2026-01-04 06:04:06.36+00	2026-11-28 13:33:35.597463+00	\N	\N	\N	\N
\.

COPY invoice_numbers ("only_row", "last_number") FROM stdin;
true	4
\.

COPY invoices ("number", "contract_id", "plan", "period_starts_at", "period_ends_at", "currency", "unit_amount", "status", "issued_at", "due_at", "paid_at", "buyer_name", "buyer_email", "document", "credited", "allocated", "past_due_at", "reminded") FROM stdin;
1	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	pro	2026-11-28 13:32:40.289+00	2026-12-28 13:32:40.289+00	EUR	2900	paid	2026-11-28 13:33:40.39+00	2026-12-12 13:33:40.39+00	2026-11-28 13:33:40.424+00	Account paid	paid@example.test	\N	0	2900	\N	0
2	01a2119c-1f15-71a3-8b0b-b6c1933907db	pro	2026-11-28 13:32:40.289+00	2027-11-28 13:32:40.289+00	JPY	900	open	2026-11-28 13:33:40.401+00	2026-12-12 13:33:40.401+00	\N	Casey’s	customer@example.test	\N	0	0	\N	0
3	01a2119c-1f39-7760-8480-6eae1715bda8	pro	2026-11-28 13:32:40.289+00	2026-12-28 13:32:40.289+00	EUR	2900	open	2026-11-28 13:33:40.409+00	2026-12-12 13:33:40.409+00	\N	Lea Leaver	leaver@example.test	\N	0	0	\N	0
4	01a2225c-d216-74be-a1bc-8997d94166ad	starter	2100-01-01 10:00:00+00	2100-02-01 10:00:00+00	EUR	3451	open	2026-11-28 13:33:58.302+00	2026-12-12 23:00:00+00	\N	Account invoiced	invoiced@example.test	INV-2026-0001	500	1000	2026-12-12 23:00:00+00	0
\.

COPY kysely_migration ("name", "timestamp") FROM stdin;
2026-11-20-foundation	2026-11-25T07:29:21.267Z
2026-11-20-inbound-hand-off	2026-11-25T07:29:21.273Z
2026-11-21-billing-and-mail	2026-11-25T07:29:21.293Z
2026-11-21-unlogged-rate-limits	2026-11-25T07:29:21.296Z
2026-11-22-contract-arrival	2026-11-25T07:29:21.299Z
2026-11-22-one-word-for-each-idea	2026-11-25T07:29:21.308Z
2026-11-22-who-somebody-is	2026-11-25T07:29:21.332Z
2026-11-23-restores	2026-11-25T07:29:21.334Z
2026-11-24-activity	2026-11-25T07:29:21.335Z
2026-11-24-addresses	2026-11-25T07:29:21.356Z
2026-11-24-deletions	2026-11-25T07:29:21.370Z
2026-11-24-passkeys	2026-11-25T07:29:21.380Z
2026-11-24-second-factors	2026-11-25T07:29:21.392Z
2026-11-25-events	2026-11-25T07:29:21.417Z
2026-11-25-history	2026-11-25T07:29:21.439Z
2026-11-25-nudges	2026-11-25T07:29:21.439Z
2026-11-25-trial-ends	2026-11-25T07:29:21.440Z
2026-11-26-pending-email-changes	2026-11-25T07:29:21.446Z
m019-established-browsers	2026-11-28T13:33:44.241Z
m020-take-back	2026-11-28T13:33:44.293Z
m021-decided-here	2026-11-28T13:33:44.373Z
m022-awaited-mails	2026-11-28T13:33:44.385Z
m023-take-back-bounds	2026-11-28T13:33:44.407Z
m024-cheap-triggers	2026-11-28T13:33:44.421Z
m025-comments	2026-11-28T13:33:44.444Z
m026-ended-links	2026-11-28T13:33:44.448Z
m027-passkeys-declined	2026-11-28T13:33:44.449Z
m028-person-words	2026-11-28T13:33:44.489Z
m029-staff	2026-11-28T13:33:44.501Z
m030-new-addresses	2026-11-28T13:33:44.520Z
m031-billing	2026-11-28T13:33:44.712Z
m032-sums	2026-11-28T13:33:44.724Z
m033-lost-documents	2026-11-28T13:33:44.768Z
m034-income	2026-11-28T13:33:44.770Z
m035-failed-mails	2026-11-28T13:33:44.779Z
m036-retention	2026-11-28T13:33:44.787Z
m037-mails-to-holders	2026-11-28T13:33:44.794Z
m038-tax-country	2026-11-28T13:33:44.800Z
m039-form-answers	2026-11-28T13:33:44.814Z
m040-refused-forms	2026-11-28T13:33:44.830Z
m041-freed-credit-notes	2026-11-28T13:33:44.833Z
\.

COPY kysely_migration_lock ("id", "is_locked") FROM stdin;
migration_lock	0
\.

COPY launches ("session_id", "client", "user_id", "sid", "at") FROM stdin;
01a2119c-05d5-73de-9852-5dc6e0febe22	crm_app	01900000-0000-7000-8000-000000000001	YQBQmWgmvhiUxKFh3Fv_2w	2026-11-28 13:33:33.898294+00
01a2119c-05d5-73de-9852-5dc6e0febe22	marketplace	01900000-0000-7000-8000-000000000001	X2_K-0DfvBj-ouJZ5MXezg	2026-11-28 13:33:33.88439+00
01a2119c-092e-7731-8446-d6861baa36f3	crm_app	01900000-0000-7000-8000-000000000003	sG1aSYdh896vrtIUD63Vrw	2026-11-28 13:33:34.7321+00
01a2119c-0bf2-73a4-a844-2e45b396735c	crm_app	01a2119c-0b96-7188-9066-757d91b49bd4	9Sn3PPqSjcntnNdJPS8mTw	2026-11-28 13:33:35.457333+00
01a2119c-0cba-7166-b2c7-1f41581ae328	crm_app	01a2119c-0c98-766f-9f21-005bf89a04be	aeOs6QbOqr-S8Reo_aEJbg	2026-11-28 13:33:35.64654+00
01a2119c-2b48-768e-9bc5-66424d25c70b	marketplace	01900000-0000-7000-8000-000000000001	aCsqBFL69yUi7HaTz6wkaQ	2026-11-28 13:33:43.470506+00
\.

COPY mail_tokens ("token_hash", "purpose", "user_id", "email", "expires_at", "name", "change_id", "guesses", "ended") FROM stdin;
\\x3068386eeb84aece0a86a4784f392ff9fd5effdf976fd490dcf1627dceaa6161	set_password	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	2026-11-28 13:23:52.708419+00	\N	\N	0	used
\\x4174f0eced7855384d25364c231e21a6b6789e36d82cd5c0c506b5d762573520	stop_new_address	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	2026-11-29 13:33:57.791+00	\N	\N	0	\N
\\x41d383f2fb7da24cfc294ace2fba226289026a23873a1d3ce2bea6f620303c9b	set_password	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	2026-11-28 13:23:53.286607+00	\N	\N	0	used
\\x44c4d0ba3252dc1782597ea51abf7428366126ee268c0b99378238abfb4e9ad8	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	2026-11-28 14:33:38.846+00	\N	\N	0	\N
\\x47a3c46a98d82c16eb354f84e490185ea6ecfe359a1105736b9829a65bb7be07	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	2026-11-28 14:33:43.111+00	\N	\N	0	\N
\\x61cb03f4662143ecfbc470294b798c6bdbf61137133a84bfea5afb11ecb889fe	sign_up	\N	not-yet@example.test	2026-11-28 14:33:40.945+00	Not Yet	\N	0	\N
\\x96d66bb738688a7c1a9b89a8fc58b4de2b10a26a60213cd1fc74d6fa3cc3a9f8	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	2026-11-28 14:33:42.866+00	\N	\N	0	\N
\\x97c3628581c53575b6a095c2d107e9605d3ba30a98da3e145adac842a000e939	set_password	01a2119c-1ef4-77b6-bb56-b92516f7644e	trial@example.test	2026-12-05 13:33:40.949+00	\N	\N	0	\N
\\x9876c695aa54e4e98ad43c933f80407aefaa8a5d70e0ac53bfefb68a0d2303d4	undo_email_change	01a211d3-03cd-767a-b804-e910738990dc	cora@example.test	2026-12-05 13:33:38.734+00	\N	79172bf9-0ecb-4c0b-a7ae-e56f0927cc99	0	\N
\\xa0e8fe36d610ebe75e426fcce843085adbbe466327774823528e3144bc58eb6f	new_address	01a2225c-b666-743d-bc76-127a5814646f	found@example.test	2026-11-29 13:33:57.791+00	\N	\N	0	\N
\\xbe005a0ead43e0a7ea7e3827ebb351845404e53daaa75ca7757120acf9e0156b	set_password	01a2225c-b602-7508-9d7d-c2aa1657a948	frozen@example.test	2026-11-28 13:23:52.388676+00	\N	\N	0	used
\.

COPY mails ("id", "kind", "user_id", "recipient", "details", "created_at", "attempts", "next_attempt_at", "last_error", "sent_at", "given_up_at", "kept_subject", "kept_text", "kept_html", "key") FROM stdin;
01a2119c-091b-76cc-b075-33e3b59d890f	passkey_added	01900000-0000-7000-8000-000000000001	merchant@example.test	{"at": "2026-11-25T07:29:28.347Z", "device": "Unknown browser"}	2026-11-28 13:33:34.707+00	1	2026-11-28 13:35:34.75+00	\N	2026-11-28 13:33:34.758+00	\N	A passkey has been added to your account	Hello,\n\nA passkey has been added to your account. Whoever has it can log in without your password. A new password does not remove it: you do that under Security, Passkeys.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A passkey has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A passkey has been added to your account</h1>\n<p style="margin:0 0 16px">A passkey has been added to your account. Whoever has it can log in without your password. A new password does not remove it: you do that under Security, Passkeys.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-09aa-7068-b726-9cb68dab40d2	authenticator_added	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.490Z", "device": "Unknown browser"}	2026-11-28 13:33:34.85+00	1	2026-11-28 13:35:35.77+00	\N	2026-11-28 13:33:35.775+00	\N	An authenticator app has been added to your account	Hello,\n\nFrom now on, a code from an authenticator app is needed to log in to your account with the password. All other browsers have been logged out.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>An authenticator app has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">An authenticator app has been added to your account</h1>\n<p style="margin:0 0 16px">From now on, a code from an authenticator app is needed to log in to your account with the password. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-09d0-7056-b8aa-219242abfe7e	recovery_code_used	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.528Z", "device": "Unknown browser"}	2026-11-28 13:33:34.888+00	1	2026-11-28 13:35:35.77+00	\N	2026-11-28 13:33:35.775+00	\N	A recovery code was used to log in	Hello,\n\nSomebody has logged in to your account with your password and a recovery code. That code does not work again.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A recovery code was used to log in</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A recovery code was used to log in</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account with your password and a recovery code. That code does not work again.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-09d2-712b-8083-2828f1e64580	new_browser	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.530Z", "device": "Unknown browser"}	2026-11-28 13:33:34.89+00	1	2026-11-28 13:35:35.77+00	\N	2026-11-28 13:33:35.775+00	\N	New login to your account	Hello,\n\nSomebody has logged in to your account from a browser that you have not used before.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>New login to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">New login to your account</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account from a browser that you have not used before.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-0c77-727a-a2bd-f46166fae3d7	new_browser	01a2119c-0b96-7188-9066-757d91b49bd4	shop-1@example.test	{"at": "2026-11-25T07:29:29.207Z", "device": "Unknown browser"}	2026-11-28 13:33:35.567+00	1	2026-11-28 13:35:35.77+00	\N	2026-11-28 13:33:35.775+00	\N	New login to your account	Hello,\n\nSomebody has logged in to your account from a browser that you have not used before.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>New login to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">New login to your account</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account from a browser that you have not used before.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-14b7-7437-8260-3dac23add3d8	sign_up	\N	cora@example.test	{}	2026-11-28 13:33:37.679+00	1	2026-11-28 13:35:37.826+00	\N	2026-11-28 13:33:37.832+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1797-7358-8b7e-964aa59db750	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-new@example.test	{}	2026-11-28 13:33:38.415+00	1	2026-11-28 13:35:38.709+00	\N	2026-11-28 13:33:38.716+00	\N	Confirm your new email address	Hello,\n\nSomebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.\n\nConfirm the new address:\nhttp://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw\n\nThe link works once and expires after 1 hour. Your email address stays as it is until then.\n\nIf it was not you, you can ignore this email.\n\nYou received this email because somebody asked to use this email address for their account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Confirm your new email address</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Confirm your new email address</h1>\n<p style="margin:0 0 16px">Somebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Confirm the new address</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw" style="color:#0e6b56">http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. Your email address stays as it is until then.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody asked to use this email address for their account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-18e9-7414-b805-a9881cc69081	email_changed	01a211d3-03cd-767a-b804-e910738990dc	cora@example.test	{"at": "2026-11-25T07:29:32.393Z", "until": "2026-12-02T07:29:32.374Z", "device": "Unknown browser"}	2026-11-28 13:33:38.753+00	1	2026-11-28 13:35:38.789+00	\N	2026-11-28 13:33:38.797+00	\N	Your email address has changed	Hello,\n\nYour account now has another email address. You cannot log in with this one any more.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, bring this address back here: that logs everyone out, asks you for a new password, and removes passkeys, authenticator apps and recovery codes added since the day before the change.\n\nUndo the change:\nhttp://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA\n\nThe link works once, until 2 December 2026 at 07:29 UTC.\n\nYou received this email because this was the email address of your account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address has changed</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address has changed</h1>\n<p style="margin:0 0 16px">Your account now has another email address. You cannot log in with this one any more.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, bring this address back here: that logs everyone out, asks you for a new password, and removes passkeys, authenticator apps and recovery codes added since the day before the change.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Undo the change</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA" style="color:#0e6b56">http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA</a></p>\n<p style="margin:0 0 16px">The link works once, until 2 December 2026 at 07:29 UTC.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because this was the email address of your account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1939-77eb-a08a-81e503f21ff0	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	{}	2026-11-28 13:33:38.833+00	1	2026-11-28 13:35:38.841+00	\N	2026-11-28 13:33:38.85+00	\N	Confirm your new email address	Hello,\n\nSomebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.\n\nConfirm the new address:\nhttp://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY\n\nThe link works once and expires after 1 hour. Your email address stays as it is until then.\n\nIf it was not you, you can ignore this email.\n\nYou received this email because somebody asked to use this email address for their account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Confirm your new email address</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Confirm your new email address</h1>\n<p style="margin:0 0 16px">Somebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Confirm the new address</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY" style="color:#0e6b56">http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. Your email address stays as it is until then.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody asked to use this email address for their account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1c17-77fb-8d44-3ddc3cc2bf85	sign_up	\N	going@example.test	{}	2026-11-28 13:33:39.567+00	1	2026-11-28 13:35:39.854+00	\N	2026-11-28 13:33:39.877+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1db2-770d-b2f2-5d5c5be93c69	deletion_requested	01a211d3-0bbd-72cf-a3b8-856a14fff73a	going@example.test	{"at": "2026-11-25T07:29:33.618Z", "device": "Unknown browser"}	2026-11-28 13:33:39.978+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:40.95+00	\N	Your account will be deleted in 14 days	Hello,\n\nWe have been asked to delete your account, and will do so on 9 December 2026 at 07:29 UTC. Until then you cannot open our products.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nTo keep your account, log in and say so. If you did not ask for this, also set a new password, which logs out everyone else.\n\nKeep your account:\nhttp://localhost:3000/profile/delete\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account will be deleted in 14 days</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account will be deleted in 14 days</h1>\n<p style="margin:0 0 16px">We have been asked to delete your account, and will do so on 9 December 2026 at 07:29 UTC. Until then you cannot open our products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">To keep your account, log in and say so. If you did not ask for this, also set a new password, which logs out everyone else.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/delete" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Keep your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/delete" style="color:#0e6b56">http://localhost:3000/profile/delete</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1dbb-76af-8bbb-a872654cfa5e	sign_up	\N	not-yet@example.test	{}	2026-11-28 13:33:39.987+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:40.981+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1ef5-7584-94ae-d7d03bfcae0c	welcome	01a2119c-1ef4-77b6-bb56-b92516f7644e	trial@example.test	{}	2026-11-28 13:33:40.299+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:41.006+00	\N	Your account is ready: set a password	Hello,\n\nWe have created an account for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI\n\nThe link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is ready: set a password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is ready: set a password</h1>\n<p style="margin:0 0 16px">We have created an account for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI" style="color:#0e6b56">http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1f0a-71b5-ae50-67fdc098f91c	welcome	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{}	2026-11-28 13:33:40.321+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:41.01+00	\N	Your account is ready: set a password	Hello,\n\nWe have created an account for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE\n\nThe link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is ready: set a password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is ready: set a password</h1>\n<p style="margin:0 0 16px">We have created an account for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE" style="color:#0e6b56">http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1f16-75eb-b687-8b6245a98467	contract_added	01900000-0000-7000-8000-000000000003	customer@example.test	{"at": "2026-11-25T07:29:33.972Z"}	2026-11-28 13:33:40.332+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:40.95+00	\N	A contract has been added to your account	Hello,\n\nA service contract has been added to your account.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can see it under Billing.\n\nSee the contract:\nhttp://localhost:3000/profile/billing\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A contract has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A contract has been added to your account</h1>\n<p style="margin:0 0 16px">A service contract has been added to your account.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can see it under Billing.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/billing" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">See the contract</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/billing" style="color:#0e6b56">http://localhost:3000/profile/billing</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-1f27-70db-b14e-7b18cecc358a	contract_added	01900000-0000-7000-8000-000000000003	customer@example.test	{"at": "2026-11-25T07:29:33.989Z"}	2026-11-28 13:33:40.349+00	1	2026-11-28 13:35:40.912+00	\N	2026-11-28 13:33:40.95+00	\N	A contract has been added to your account	Hello,\n\nA service contract has been added to your account.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can see it under Billing.\n\nSee the contract:\nhttp://localhost:3000/profile/billing\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A contract has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A contract has been added to your account</h1>\n<p style="margin:0 0 16px">A service contract has been added to your account.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can see it under Billing.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/billing" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">See the contract</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/billing" style="color:#0e6b56">http://localhost:3000/profile/billing</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-2767-74df-93bb-ed6edb96e65e	password_set	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{"at": "2026-11-25T07:29:36.103Z", "device": "Unknown browser"}	2026-11-28 13:33:42.463+00	1	2026-11-28 13:35:42.857+00	\N	2026-11-28 13:33:42.866+00	\N	Your password has been set	Hello,\n\nA password for your account has been set through a link that we emailed to you. All other browsers have been logged out.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your password has been set</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your password has been set</h1>\n<p style="margin:0 0 16px">A password for your account has been set through a link that we emailed to you. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-276a-7394-9a0d-2f75793ef738	email_proved	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{"at": "2026-11-25T07:29:36.106Z", "device": "Unknown browser"}	2026-11-28 13:33:42.466+00	1	2026-11-28 13:35:42.857+00	\N	2026-11-28 13:33:42.866+00	\N	Your email address is verified	Hello,\n\nYour email address has been verified. You can now open our other products.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address is verified</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address is verified</h1>\n<p style="margin:0 0 16px">Your email address has been verified. You can now open our other products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-27be-7623-9b4c-333235274c1e	account_deleted	\N	leaver@example.test	{"at": "2026-11-25T07:29:36.124Z"}	2026-11-28 13:33:42.484+00	1	2026-11-28 13:35:42.857+00	\N	2026-11-28 13:33:42.866+00	\N	Your account is deleted	Hello,\n\nYour account has been deleted. Contracts that were still running have been cancelled. We keep invoices, because the law requires it.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can use this email address for a new account at any time.\n\nGo to the login page:\nhttp://localhost:3000/login\n\nYou received this email because this was the email address of your account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is deleted</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is deleted</h1>\n<p style="margin:0 0 16px">Your account has been deleted. Contracts that were still running have been cancelled. We keep invoices, because the law requires it.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can use this email address for a new account at any time.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/login" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Go to the login page</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/login" style="color:#0e6b56">http://localhost:3000/login</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because this was the email address of your account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-27c7-7513-85b1-6dc32c399f11	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	{}	2026-11-28 13:33:42.559+00	1	2026-11-28 13:35:42.857+00	\N	2026-11-28 13:33:42.878+00	\N	Set a new password	Hello,\n\nWe received a request to set a new password for your account.\n\nSet a new password:\nhttp://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8\n\nThe link works once and expires after 1 hour. If it has expired, open it all the same: you can ask for a new one there.\n\nIf you did not ask for this, you can ignore this email. Your password will stay the same.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Set a new password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Set a new password</h1>\n<p style="margin:0 0 16px">We received a request to set a new password for your account.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8" style="color:#0e6b56">http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. If it has expired, open it all the same: you can ask for a new one there.</p>\n<p style="margin:0 0 16px">If you did not ask for this, you can ignore this email. Your password will stay the same.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2119c-2935-7776-b007-25baaebe8f1e	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	{}	2026-11-28 13:33:42.925+00	2	2026-11-28 14:33:43.233978+00	421 later	\N	\N	\N	\N	\N	\N
01a2119c-2b4b-7704-a0d0-f45946edf7fe	new_browser	01900000-0000-7000-8000-000000000001	merchant@example.test	{"at": "2026-11-25T07:29:37.099Z", "device": "Unknown browser"}	2026-11-28 13:33:43.459+00	1	2026-11-28 13:35:51.864+00	\N	2026-11-28 13:33:51.896+00	\N	New login to your account – Identity	Hello Maya Merchant,\n\nThere was a login to your account from a browser that you have not used before.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>New login to your account – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">New login to your account</h1>\n<p style="margin:0 0 16px">Hello Maya Merchant,</p>\n<p style="margin:0 0 16px">There was a login to your account from a browser that you have not used before.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-b604-705c-bf74-fd995a381308	welcome	01a2225c-b602-7508-9d7d-c2aa1657a948	frozen@example.test	{}	2026-11-28 13:33:50.954+00	1	2026-11-28 13:35:51.864+00	\N	2026-11-28 13:33:51.978+00	\N	Set a password for your new account – Identity	Hello,\n\nWe have created an account with Identity for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=zTbiePzljuHBtTvqwUj2BdiQUfduTkCSSzZmj1rKWus\n\nThe link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Set a password for your new account – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Set a password for your new account</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">We have created an account with Identity for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=zTbiePzljuHBtTvqwUj2BdiQUfduTkCSSzZmj1rKWus" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=zTbiePzljuHBtTvqwUj2BdiQUfduTkCSSzZmj1rKWus" style="color:#0e6b56">http://localhost:3000/set-password?token=zTbiePzljuHBtTvqwUj2BdiQUfduTkCSSzZmj1rKWus</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-b666-743d-bc76-1bdd81a4d987	welcome	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	{}	2026-11-28 13:33:51.074+00	1	2026-11-28 13:35:51.864+00	\N	2026-11-28 13:33:52.188+00	\N	Set a password for your new account – Identity	Hello,\n\nWe have created an account with Identity for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=iJyzriuXF52Yg_hDVaBHeEic8SV0AKfqwXeIM_nuWcE\n\nThe link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Set a password for your new account – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Set a password for your new account</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">We have created an account with Identity for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=iJyzriuXF52Yg_hDVaBHeEic8SV0AKfqwXeIM_nuWcE" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=iJyzriuXF52Yg_hDVaBHeEic8SV0AKfqwXeIM_nuWcE" style="color:#0e6b56">http://localhost:3000/set-password?token=iJyzriuXF52Yg_hDVaBHeEic8SV0AKfqwXeIM_nuWcE</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-b6be-7312-bdec-a73f65404ceb	welcome	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{}	2026-11-28 13:33:51.151+00	1	2026-11-28 13:35:51.864+00	\N	2026-11-28 13:33:52.202+00	\N	Set a password for your new account – Identity	Hello,\n\nWe have created an account with Identity for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=JRHkIVjHDW6uVG_mEMIT6TS9w1uiPmGHogsJLIkBQLE\n\nThe link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Set a password for your new account – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Set a password for your new account</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">We have created an account with Identity for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=JRHkIVjHDW6uVG_mEMIT6TS9w1uiPmGHogsJLIkBQLE" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=JRHkIVjHDW6uVG_mEMIT6TS9w1uiPmGHogsJLIkBQLE" style="color:#0e6b56">http://localhost:3000/set-password?token=JRHkIVjHDW6uVG_mEMIT6TS9w1uiPmGHogsJLIkBQLE</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it to ask for a new one. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bbf8-72ae-8ea1-1bc6ab327df1	password_set	01a2225c-b602-7508-9d7d-c2aa1657a948	frozen@example.test	{"at": "2026-11-28T13:33:52.498Z", "device": "Unknown browser"}	2026-11-28 13:33:52.498+00	1	2026-11-28 13:35:53.291+00	\N	2026-11-28 13:33:53.33+00	\N	Your password has been set – Identity	Hello,\n\nA password for your account has been set with a link that we emailed to you. All other browsers have been logged out.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your password has been set – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your password has been set</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">A password for your account has been set with a link that we emailed to you. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bc1e-73bd-8549-839717bb7e70	email_proved	01a2225c-b602-7508-9d7d-c2aa1657a948	frozen@example.test	{"at": "2026-11-28T13:33:52.523Z", "device": "Unknown browser"}	2026-11-28 13:33:52.523+00	1	2026-11-28 13:35:53.291+00	\N	2026-11-28 13:33:53.331+00	\N	Your email address is verified – Identity	Hello,\n\nYour email address has been verified. You can now open our other products.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address is verified – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address is verified</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Your email address has been verified. You can now open our other products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bd28-726f-84f4-5a905791f12d	password_set	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	{"at": "2026-11-28T13:33:52.785Z", "device": "Unknown browser"}	2026-11-28 13:33:52.785+00	1	2026-11-28 13:35:53.291+00	\N	2026-11-28 13:33:53.331+00	\N	Your password has been set – Identity	Hello,\n\nA password for your account has been set with a link that we emailed to you. All other browsers have been logged out.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your password has been set – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your password has been set</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">A password for your account has been set with a link that we emailed to you. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bd3c-77bc-98fa-91da4a433a59	email_proved	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	{"at": "2026-11-28T13:33:52.820Z", "device": "Unknown browser"}	2026-11-28 13:33:52.82+00	1	2026-11-28 13:35:53.291+00	\N	2026-11-28 13:33:53.331+00	\N	Your email address is verified – Identity	Hello,\n\nYour email address has been verified. You can now open our other products.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address is verified – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address is verified</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Your email address has been verified. You can now open our other products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bf8c-765a-ad23-4aeca3dccd6f	password_set	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"at": "2026-11-28T13:33:53.415Z", "device": "Unknown browser"}	2026-11-28 13:33:53.415+00	1	2026-11-28 13:35:54.414+00	\N	2026-11-28 13:33:54.521+00	\N	Your password has been set – Identity	Hello,\n\nA password for your account has been set with a link that we emailed to you. All other browsers have been logged out.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your password has been set – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your password has been set</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">A password for your account has been set with a link that we emailed to you. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-bfb7-7581-ab62-d00d600329b5	email_proved	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"at": "2026-11-28T13:33:53.451Z", "device": "Unknown browser"}	2026-11-28 13:33:53.451+00	1	2026-11-28 13:35:54.414+00	\N	2026-11-28 13:33:54.521+00	\N	Your email address is verified – Identity	Hello,\n\nYour email address has been verified. You can now open our other products.\n\nWhen: 28 November 2026 at 13:33 UTC\nBrowser: Unknown browser\n\nIf this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address is verified – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address is verified</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Your email address has been verified. You can now open our other products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-c946-70c2-8cf9-bfd299691b18	account_frozen	01a2225c-b602-7508-9d7d-c2aa1657a948	frozen@example.test	{"at": "2026-11-28T13:33:55.909Z"}	2026-11-28 13:33:55.909+00	1	2026-11-28 13:35:56.625+00	\N	2026-11-28 13:33:56.649+00	\N	Your account is frozen – Identity	Hello,\n\nYour account was frozen, with the link in one of our emails or by our support team, because someone else may have got in. Nobody can log in to it until our support team knows who its owner is. Nothing else has changed.\n\nWhen: 28 November 2026 at 13:33 UTC\n\nTo get your account back, contact the people who run this service.\n\nGo to the login page:\nhttp://localhost:3000/login\n\nYou received this email because this is, or was, the email address of an account.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is frozen – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is frozen</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Your account was frozen, with the link in one of our emails or by our support team, because someone else may have got in. Nobody can log in to it until our support team knows who its owner is. Nothing else has changed.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr></table>\n<p style="margin:0 0 16px">To get your account back, contact the people who run this service.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/login" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Go to the login page</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/login" style="color:#0e6b56">http://localhost:3000/login</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because this is, or was, the email address of an account.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-c988-7736-8886-0ba1a69b5353	person_frozen	01900000-0000-7000-8000-000000000005	admin@example.test	{"by": "command", "who": "01a2225c-b602-7508-9d7d-c2aa1657a948", "time": "2026-11-28T13:33:55.963Z"}	2026-11-28 13:33:55.963+00	1	2026-11-28 13:35:56.625+00	\N	2026-11-28 13:33:56.66+00	\N	An account has been frozen – Identity	Hello Ada Admin,\n\nThe account of frozen@example.test has been frozen. Nobody can log in to it until an administrator ends the freeze.\n\nWhen: 28 November 2026 at 13:33 UTC\nDone by: A command on the server\n\nCheck by phone or in person that this is right. If it is not, end the freeze on the page of the person, and see in the audit what else was done.\n\nSee the person:\nhttp://localhost:3000/admin/people/01a2225c-b602-7508-9d7d-c2aa1657a948\n\nYou received this email because you are an administrator.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>An account has been frozen – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">An account has been frozen</h1>\n<p style="margin:0 0 16px">Hello Ada Admin,</p>\n<p style="margin:0 0 16px">The account of frozen@example.test has been frozen. Nobody can log in to it until an administrator ends the freeze.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">28 November 2026 at 13:33 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Done by</td><td style="padding:2px 0">A command on the server</td></tr></table>\n<p style="margin:0 0 16px">Check by phone or in person that this is right. If it is not, end the freeze on the page of the person, and see in the audit what else was done.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/admin/people/01a2225c-b602-7508-9d7d-c2aa1657a948" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">See the person</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/admin/people/01a2225c-b602-7508-9d7d-c2aa1657a948" style="color:#0e6b56">http://localhost:3000/admin/people/01a2225c-b602-7508-9d7d-c2aa1657a948</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you are an administrator.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-d0c1-72ab-8565-a9cf3442709f	stop_new_address	01a2225c-b666-743d-bc76-127a5814646f	lost@example.test	{"until": ""}	2026-11-28 13:33:57.791+00	1	2026-11-28 13:35:58.098+00	\N	2026-11-28 13:33:58.118+00	\N	Someone asked us to change your email address – Identity	Hello,\n\nSomeone told our support team that they can no longer read this mailbox, and asked for another email address for your account with Identity. We have sent a link to that address. Nothing has changed yet.\n\nIf this was not you, stop the change now.\n\nStop the change:\nhttp://localhost:3000/stop-new-address?token=32kPgfcmLTdi8rUxHhPxd3RmHLcmQtL7IJla1lvVK88\n\nThe link works once, in any browser, and expires 24 hours after we were asked. Setting a new password also stops the change.\n\nIf this was you, you do not need to do anything.\n\nYou received this email because you have an account with Identity.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Someone asked us to change your email address – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Someone asked us to change your email address</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Someone told our support team that they can no longer read this mailbox, and asked for another email address for your account with Identity. We have sent a link to that address. Nothing has changed yet.</p>\n\n<p style="margin:0 0 16px">If this was not you, stop the change now.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/stop-new-address?token=32kPgfcmLTdi8rUxHhPxd3RmHLcmQtL7IJla1lvVK88" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Stop the change</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/stop-new-address?token=32kPgfcmLTdi8rUxHhPxd3RmHLcmQtL7IJla1lvVK88" style="color:#0e6b56">http://localhost:3000/stop-new-address?token=32kPgfcmLTdi8rUxHhPxd3RmHLcmQtL7IJla1lvVK88</a></p>\n<p style="margin:0 0 16px">The link works once, in any browser, and expires 24 hours after we were asked. Setting a new password also stops the change.</p>\n<p style="margin:0 0 16px">If this was you, you do not need to do anything.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account with Identity.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-d0c2-71b4-8862-8a639f0bc9f8	new_address	01a2225c-b666-743d-bc76-127a5814646f	found@example.test	{"until": ""}	2026-11-28 13:33:57.791+00	1	2026-11-28 13:35:58.098+00	\N	2026-11-28 13:33:58.128+00	\N	Use this email address for your account – Identity	Hello,\n\nOur support team was asked to change the email address of an account with Identity to this one. To use it, set a new password. You may be asked for a passkey or a code that you have.\n\nUse this email address:\nhttp://localhost:3000/new-address?token=aqz7wNfe2uNKts6EgRJPF7X74fF3gczUGS4PdIWbB2E\n\nThe link works once, in any browser, and expires 24 hours after we were asked. The account keeps its present email address until then.\n\nIf you did not ask for this, you can ignore this email. Nothing changes unless the link is used.\n\nYou received this email because someone gave this email address to our support team.\n\nSent by Identity: http://localhost:3000\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Use this email address for your account – Identity</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Use this email address for your account</h1>\n<p style="margin:0 0 16px">Hello,</p>\n<p style="margin:0 0 16px">Our support team was asked to change the email address of an account with Identity to this one. To use it, set a new password. You may be asked for a passkey or a code that you have.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/new-address?token=aqz7wNfe2uNKts6EgRJPF7X74fF3gczUGS4PdIWbB2E" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Use this email address</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/new-address?token=aqz7wNfe2uNKts6EgRJPF7X74fF3gczUGS4PdIWbB2E" style="color:#0e6b56">http://localhost:3000/new-address?token=aqz7wNfe2uNKts6EgRJPF7X74fF3gczUGS4PdIWbB2E</a></p>\n<p style="margin:0 0 16px">The link works once, in any browser, and expires 24 hours after we were asked. The account keeps its present email address until then.</p>\n<p style="margin:0 0 16px">If you did not ask for this, you can ignore this email. Nothing changes unless the link is used.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because someone gave this email address to our support team.<br>\nSent by Identity: <a class="soft" href="http://localhost:3000" style="color:#566069;font-size:14px">http://localhost:3000</a></td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n	\N
01a2225c-d302-7404-9841-498dfa2ede4e	invoice_issued	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"document": "INV-2026-0001"}	2026-11-28 13:33:58.774+00	0	2026-11-28 13:34:03.774+00	\N	\N	\N	\N	\N	\N	invoice_issued:INV-2026-0001
01a2225c-d3a3-74d6-a30a-7482da2cf207	payment_received	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"payment": "pay_in_part", "document": "INV-2026-0001"}	2026-11-28 13:33:58.826+00	0	2026-11-28 13:34:03.826+00	\N	\N	\N	\N	\N	\N	payment_received:pay_in_part:INV-2026-0001
01a2225c-dd92-73c8-bfe3-4f966e0f6dfc	credit_note_issued	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"document": "CN-2026-0001"}	2026-11-28 13:34:02.498+00	0	2026-11-28 13:34:07.498+00	\N	\N	\N	\N	\N	\N	credit_note_issued:CN-2026-0001
01a2225c-e3e3-7076-ab82-56af5296ba21	new_browser	01a2225c-b6be-7312-bdec-9e410406e9a7	invoiced@example.test	{"at": "2026-11-28T13:34:02.722Z", "device": "Unknown browser"}	2026-11-28 13:34:02.722+00	0	2026-11-28 13:34:02.722+00	\N	\N	\N	\N	\N	\N	\N
\.

COPY new_addresses ("id", "user_id", "email", "asked_at", "expires_at", "guesses") FROM stdin;
01a2225c-d0b3-77fc-b774-d07556ed05ac	01a2225c-b666-743d-bc76-127a5814646f	found@example.test	2026-11-28 13:33:57.791+00	2026-11-29 13:33:57.791+00	0
\.

COPY nonces ("audience", "nonce", "expires_at") FROM stdin;
inbound:marketplace	51Yzsy_0mXLKWK_MbO-Sjw	2026-11-28 13:39:35.36+00
inbound:marketplace	6Cp8T5MrYfR0D_fCj9c8oA	2026-11-28 13:39:35.36+00
inbound:marketplace	cuhs1ycmULEQNJj8vCMf8A	2026-11-28 13:39:34.36+00
inbound:marketplace	itd-2ZU7riGGoH0UwEr2qw	2026-11-28 13:39:37.36+00
\.

COPY passkey_challenge_keys ("only_row", "key") FROM stdin;
true	\\x81f07bbcc889efcf279c739dd3b6a53a63350afe7563b7c318d5a3f55caca75c
\.

COPY passkeys ("id", "user_id", "credential_id", "public_key", "counter", "transports", "backed_up", "name", "created_at", "last_used_at", "from_established_browser") FROM stdin;
01a2119c-0913-7624-a1bb-172236d3419c	01900000-0000-7000-8000-000000000001	icJI88uYNln-OIc4n_NZxcHzZCxf9-yxjPofY2F8hhc	\\xa501020326200121582048df38d57f13a2989e2abb958fb33ae45b5474b94857ad373652fc6c6f926b1f22582097def43d70e190f2645468c3ce8808f159f2e91986b6d5ca8fbe2e327d7cac5b	1	{internal}	false	My phone	2026-11-28 13:33:34.699+00	\N	true
\.

COPY payments ("id", "kind", "of", "currency", "amount", "paid_at", "method", "reference", "invoice_number", "recorded_at", "recorded_by", "unallocated") FROM stdin;
invoice#1	payment	\N	EUR	2900	2026-11-28 13:33:40.424+00	\N	\N	1	2026-11-28 13:33:40.424+00	operator	0
pay_in_part	payment	\N	EUR	1000	2026-11-28 13:33:58.424+00	\N	\N	INV-2026-0001	2026-11-28 13:33:58.534131+00	payments	0
\.

COPY pending_email_changes ("user_id", "email", "requested_at", "expires_at") FROM stdin;
01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	2026-11-28 13:33:38.833+00	2026-11-28 14:33:38.833+00
\.

COPY pending_hand_offs ("id", "token_hash", "kind", "provider", "external_id", "user_id", "nonce", "profile", "return_to", "expires_at") FROM stdin;
01a2119c-1498-7430-a0ab-d287d8c9ce5e	\\x6d144089cf5ee3db096cb9cd47a2bc7ecc864f2abb68b15b7facf2b5d06d2276	connect	marketplace	shop-wait	01900000-0000-7000-8000-000000000003	itd-2ZU7riGGoH0UwEr2qw	{"id": "shop-wait", "name": "User shop-wait", "role": "customer", "email": "customer@example.test", "account": {"capabilities": []}, "email_verified": true, "profile_updated_at": "2026-01-01T00:00:00.000Z"}	/profile	2026-11-28 13:43:37.648+00
\.

COPY pending_logins ("token_hash", "user_id", "expires_at") FROM stdin;
\\x98052f03e92ab725aad0e640802d00a46616c81146fc832bc5f7d94f776be40a	01900000-0000-7000-8000-000000000004	2026-11-28 13:43:34.906+00
\.

COPY people_to_index ("user_id", "made_in") FROM stdin;
01900000-0000-7000-8000-000000000003	1221
\.

COPY person_words ("user_id", "words", "flags") FROM stdin;
01900000-0000-7000-8000-000000000001	'=user' 'account' 'example' 'maya' 'merchant' 's' 'test'	user
01900000-0000-7000-8000-000000000002	'=user' '=waiting' 'account' 'example' 'merchant' 'new' 'newcomer' 'noor' 's' 'test'	user waiting
01900000-0000-7000-8000-000000000003	'=user' 'casey' 'customer' 'example' 'last' 's' 'test'	user
01900000-0000-7000-8000-000000000004	'=manager' 'account' 'example' 'manager' 'morgan' 's' 'test'	manager
01900000-0000-7000-8000-000000000005	'=admin' 'account' 'ada' 'admin' 'example' 's' 'test'	admin
01900000-0000-7000-8000-000000000006	'=suspended' '=user' 'account' 'example' 's' 'sam' 'suspended' 'test'	user suspended
01900000-0000-7000-8000-000000000007	'=unproved' '=user' 'account' 'example' 's' 'test' 'uma' 'unverified'	user unproved
01a2119c-0b96-7188-9066-757d91b49bd4	'1' '=user' 'example' 'newer' 'sharon' 'shop' 'sons' 'test'	user
01a2119c-0c98-766f-9f21-005bf89a04be	'2' '=suspended' '=user' 'example' 'shop' 'simon' 'test'	user suspended
01a2119c-1ef4-77b6-bb56-b92516f7644e	'=unproved' '=user' 'account' 'example' 'test' 'trial' 'user'	user unproved
01a2119c-1f0a-71b5-ae50-5f005f4623f4	'=user' 'account' 'example' 'paid' 'test' 'user'	user
01a211d3-03cd-767a-b804-e910738990dc	'=user' 'change' 'cora' 'example' 'new' 'test'	user
01a211d3-0bbd-72cf-a3b8-856a14fff73a	'=leaving' '=user' 'example' 'going' 'gus' 'test'	user leaving
01a2225c-b602-7508-9d7d-c2aa1657a948	'=frozen' '=user' 'account' 'example' 'frozen' 'test' 'user'	user frozen
01a2225c-b666-743d-bc76-127a5814646f	'=user' 'account' 'example' 'lost' 'test' 'user'	user
01a2225c-b6be-7312-bdec-9e410406e9a7	'=user' 'account' 'example' 'invoiced' 'test' 'user'	user
\.

COPY rate_limits ("key", "points", "expire") FROM stdin;
allowance-login-new-browser:xgUSRirvg-29QGDsI2LEyPxrQWOrDclbcb_uOr0LZZM	1	1795876442696
code-account-day:7RkIoiZkPfiGC7lKZUt1Lbq5kLLjjNVdRb07kGofJdQ	0	1795959214885
code-account:7RkIoiZkPfiGC7lKZUt1Lbq5kLLjjNVdRb07kGofJdQ	0	1795876414884
guess-account:HtFjfhLlgB_lvXO7-l3q19PVRi-aF1Mqovj28Hv0EL8	0	1795876442579
guess-account:TiqHYjhTvKjTZVibStGv-xKJLqXi_UHHaVn4EAWaywE	0	1795876414747
guess-account:bmTpXrztQToiIY8IJeuvxDELv-0ym4cEiRE-lxEe-RE	0	1795876414713
guess-account:eO9HnYnEHTJEIvs3b_VMq-pHGtAMK5_K2nr_5zSVFfM	0	1795876415274
guess-account:iApg0GGqaG47tBhh7chmpn5IXG4HIiOw5a2fhW66rbM	3	1795876414910
guess-account:p2kvutBvRrX92YVe9hX_oRUWfgHVKxad3IvPzpMeNHU	0	1795876413778
guess-address:xY5-hWPbCLKgljZPrr6xKwlvfaoLQqhVfui5JMPfwXE	3	1795873713775
guess-network:WFQXfvtObF7_kWe_N0G_L9eFWQOGK8E2Q2Ngma9e6sA	0	1795873713778
guess-network:fSvLrJNq3so0PPFuHRY9XeFB2VksksOtBS-S3Azp6s4	0	1795873715274
guess-network:fisd2dUQnfQOkIzXHqWCGlqgdmMAEml_GYWoGdBvEsM	0	1795873714713
guess-network:oGljtEc8O4ASmuVR4-P3KjkpaxCB3wNBplBFqIjeCkw	0	1795873714747
guess-network:qdkBj-4LCLdnQv712M0yA2diuW63cfQ4KZ3dQ7gtETg	0	1795873742577
guess-network:z4--tyTudtEwXTQIgjv0L5B1sulk3C6ozO_57waZe-M	3	1795873714909
mail-account-day:4XERnp9kHDihTEvDwHlk7z0fA-C9CEwKXjSmuwfZdJE	1	1795959218408
mail-account-day:BqHDJhIdvqwm-vTPrgb7XBUcPRBhILuC6lxDFSLjhC0	1	1795959219566
mail-account-day:BsNkW6rX0v1mYeTc5DaS6LD8eRM_vRWCutkjXn6maNo	1	1795959222556
mail-account-day:QY5E47RwT3P1hNPJ08KXC4Vz3DHQd5WNuUuoJnh0kFg	1	1795959219144
mail-account-day:cVW9wg0GX-IO46T6v-QSUxe253zmlubkS5AjkMIy6Gw	1	1795959219987
mail-account-day:n1EGPcoN9lHsoEWLqzl6YnvzICttJciL1dllIFxIuG0	1	1795959217663
mail-account-day:qM6dMVC5qlyYwo7FxB7-ghHlM7xDNLp5i-PEXY9gvOc	1	1795959222922
mail-account-day:snrfVJT3n_V1TTJ1S9zNyVa3j4DKR3nMhl6CShb6QZ4	1	1795959218828
mail-account:4XERnp9kHDihTEvDwHlk7z0fA-C9CEwKXjSmuwfZdJE	1	1795876418408
mail-account:BqHDJhIdvqwm-vTPrgb7XBUcPRBhILuC6lxDFSLjhC0	1	1795876419566
mail-account:BsNkW6rX0v1mYeTc5DaS6LD8eRM_vRWCutkjXn6maNo	1	1795876422556
mail-account:QY5E47RwT3P1hNPJ08KXC4Vz3DHQd5WNuUuoJnh0kFg	1	1795876419142
mail-account:cVW9wg0GX-IO46T6v-QSUxe253zmlubkS5AjkMIy6Gw	1	1795876419986
mail-account:n1EGPcoN9lHsoEWLqzl6YnvzICttJciL1dllIFxIuG0	1	1795876417661
mail-account:qM6dMVC5qlyYwo7FxB7-ghHlM7xDNLp5i-PEXY9gvOc	1	1795876422921
mail-account:snrfVJT3n_V1TTJ1S9zNyVa3j4DKR3nMhl6CShb6QZ4	1	1795876418827
mail-address:YLISzT3HDA3IieAtR-URnGdH5tZfJHkWhkiW0qTWpRw	3	1795876417659
mail-address:xY5-hWPbCLKgljZPrr6xKwlvfaoLQqhVfui5JMPfwXE	4	1795876418407
mail-address:z9pwZ9uHVYZoaaBrDse_caRRxhkN2xDFuDsWU5E4YYA	1	1795876419985
mail-network-day:3SinNrJg4wZoDuEXm2dQyMW1HOkqIw8P1mHiMV_W7K4	1	1795959219140
mail-network-day:Ni9TzgzJWUarOufTXw70xTLY9yp5RYReqD5TWd06tgc	1	1795959218408
mail-network-day:S-MPy0v5UD6KAEDR9l-LU4lgYTpctP1rKhbsiDrrSI0	1	1795959222555
mail-network-day:TfPzjyIRh5aEiOYEyuWMjPmTD1AHnaKYFJD33tMfsCs	1	1795959222918
mail-network-day:VwJgsaS74WLpZD7rPy2rs7NiZ0EdaSOKVxoqaBhvS6g	1	1795959217661
mail-network-day:aD7dVCkoV4xXDZt9n9d8SaIhHO_BjAv5lJvC2ar5GJ0	1	1795959219566
mail-network-day:pGZhg1VCePQGUmhgnqcyh2ro_-JRY4jM5GU2gLO-ark	1	1795959219986
mail-network-day:xOC5jNA8ouf5FbviLMiv2Thn2KmVRE4CEBiwJ2lM3vc	1	1795959218826
mail-network:3SinNrJg4wZoDuEXm2dQyMW1HOkqIw8P1mHiMV_W7K4	1	1795876419137
mail-network:Ni9TzgzJWUarOufTXw70xTLY9yp5RYReqD5TWd06tgc	1	1795876418407
mail-network:S-MPy0v5UD6KAEDR9l-LU4lgYTpctP1rKhbsiDrrSI0	1	1795876422555
mail-network:TfPzjyIRh5aEiOYEyuWMjPmTD1AHnaKYFJD33tMfsCs	1	1795876422916
mail-network:VwJgsaS74WLpZD7rPy2rs7NiZ0EdaSOKVxoqaBhvS6g	1	1795876417660
mail-network:aD7dVCkoV4xXDZt9n9d8SaIhHO_BjAv5lJvC2ar5GJ0	1	1795876419565
mail-network:pGZhg1VCePQGUmhgnqcyh2ro_-JRY4jM5GU2gLO-ark	1	1795876419986
mail-network:xOC5jNA8ouf5FbviLMiv2Thn2KmVRE4CEBiwJ2lM3vc	1	1795876418826
new-password-address:-ziXhx5DM83Q6uYWgYqEpDYwD2_3mJ-AT-v8-6XW_RM	0	1795873732208
new-password:3h7_-FJXOgPaIICn7NpmnV5ByZaS90Z9OiIOhN8d5ZU	0	1795873732971
new-password:hCvtJ5tujeiMFJhv_NkOu0acgM4au_uB4o8csM-TGqc	0	1795873732611
new-password:vhDbyTa0620tQeAbWkCugGz3VBtKaX3L92hNx9tM1_A	0	1795873732194
notices-day:345jd5exSjuAc2M97e0QYr_1FdwQPew0NYjOri_yTtE	3	1795959233417
notices-day:G9ho_MT7zdutebYMhUZxpkgvpPD7DsBK2_oxl62dSMA	2	1795959232805
notices-day:r5Dy11uXJaY-jX7EFQHL12rvGeh0ruCpDWVOd2Qgg6g	2	1795959232502
notices-hour:345jd5exSjuAc2M97e0QYr_1FdwQPew0NYjOri_yTtE	3	1795876433417
notices-hour:G9ho_MT7zdutebYMhUZxpkgvpPD7DsBK2_oxl62dSMA	2	1795876432801
notices-hour:r5Dy11uXJaY-jX7EFQHL12rvGeh0ruCpDWVOd2Qgg6g	2	1795876432501
\.

COPY recovery_codes ("user_id", "code_hash", "made_at") FROM stdin;
01900000-0000-7000-8000-000000000004	\\x55cea64e47a39bb28e1bf2e36b8c858dba7070d7a36049afed3bc2b67b05ea1c	\N
01900000-0000-7000-8000-000000000004	\\x59ce29021b583381b9e36b74d820dd7f1177166c7d9fed55a6a91bfa9d4b9138	\N
01900000-0000-7000-8000-000000000004	\\x6cab9c3e6a8922e9bf5075445d2c281b8b9f6832266a1696c6fc013308ff5f31	\N
01900000-0000-7000-8000-000000000004	\\x9bb23f0d781213c2a04f92fff67df94b0405cad6eb3c9af711fc48f38c16deff	\N
01900000-0000-7000-8000-000000000004	\\xb2609f60ebbd6555e76e96edf2da8a13a131f64602fd2bfcf4572ac06a5a8184	\N
01900000-0000-7000-8000-000000000004	\\xc65af2b64c63b236c6f4738abf0748aa23780fd3b317ba16e6eda7c22552359a	\N
01900000-0000-7000-8000-000000000004	\\xcc42b2c7d656c80781b80d3b1ce97ad2bd04d51451a4a32759a4385203f4828f	\N
01900000-0000-7000-8000-000000000004	\\xd6422c1e91e49e4d637905097d54346d25148c473539f507ed555dba71233e63	\N
01900000-0000-7000-8000-000000000004	\\xea94187f15537678b958b5530fb9bc57bdf403e55f1d827fc5851f78f001812e	\N
\.

COPY reserved_addresses ("number", "email", "user_id", "expires_at") FROM stdin;
1	cora@example.test	01a211d3-03cd-767a-b804-e910738990dc	2026-12-05 13:33:38.734+00
\.

COPY service_contracts ("id", "account_id", "signup_id", "plan", "status", "trial_ends_at", "price_currency", "price_unit_amount", "price_interval", "occurred_at", "created_at", "user_id", "next_period_starts_at", "billing_anchor_day", "arrival_number", "erased_user_id", "erased_account_id", "cancels_at") FROM stdin;
01a2119c-1ef5-7584-94ae-d9de98f71e0e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	trial	starter	trialing	2026-12-12 13:33:40.289+00	EUR	2900	month	2026-11-28 13:32:40.289+00	2026-11-28 13:33:40.296039+00	01a2119c-1ef4-77b6-bb56-b92516f7644e	\N	\N	\N	\N	\N	\N
01a2119c-1f0a-71b5-ae50-6bfa93b117ac	01a2119c-1f0a-71b5-ae50-63d52a17477b	paid	pro	active	\N	EUR	2900	month	2026-11-28 13:32:40.289+00	2026-11-28 13:33:40.320981+00	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-12-28 13:32:40.289+00	25	\N	\N	\N	\N
01a2119c-1f15-71a3-8b0b-b6c1933907db	01900000-0000-7000-8001-000000000003	again	pro	active	\N	JPY	900	year	2026-11-28 13:32:40.289+00	2026-11-28 13:33:40.3326+00	01900000-0000-7000-8000-000000000003	2027-11-28 13:32:40.289+00	25	\N	\N	\N	\N
01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8001-000000000003	ends	starter	canceled	2026-12-12 13:33:40.289+00	EUR	2900	month	2026-11-28 13:32:40.289+00	2026-11-28 13:33:40.343176+00	01900000-0000-7000-8000-000000000003	\N	\N	\N	\N	\N	\N
01a2119c-1f39-7760-8480-6eae1715bda8	\N	left	pro	canceled	\N	EUR	2900	month	2026-11-28 13:32:40.289+00	2026-11-28 13:33:40.366903+00	\N	2026-12-28 13:32:40.289+00	25	\N	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	\N
01a2225c-b604-705c-bf75-03b652f16ff1	01a2225c-b603-726f-9c44-9944c345d1a7	frozen	starter	trialing	2026-12-12 13:33:50.864+00	EUR	2900	month	2026-11-28 13:32:50.864+00	2026-11-28 13:33:50.946951+00	01a2225c-b602-7508-9d7d-c2aa1657a948	\N	\N	\N	\N	\N	\N
01a2225c-b667-7192-b00d-31ef12a23f7e	01a2225c-b666-743d-bc76-177397d02924	lost	starter	trialing	2026-12-12 13:33:51.039+00	EUR	2900	month	2026-11-28 13:32:51.039+00	2026-11-28 13:33:51.073845+00	01a2225c-b666-743d-bc76-127a5814646f	\N	\N	\N	\N	\N	\N
01a2225c-b6bf-769f-bf57-92ab6674528f	01a2225c-b6be-7312-bdec-a2b761643891	invoiced	starter	trialing	2026-12-12 13:33:51.129+00	EUR	2900	month	2026-11-28 13:32:51.129+00	2026-11-28 13:33:51.151352+00	01a2225c-b6be-7312-bdec-9e410406e9a7	\N	\N	\N	\N	\N	\N
01a2225c-d216-74be-a1bc-8997d94166ad	01a2225c-b6be-7312-bdec-a2b761643891	crm_01a2225c-d216-74be-a1bc-8997d94166ad	starter	active	\N	EUR	2900	month	2100-01-01 10:00:00+00	2026-11-28 13:33:58.167406+00	01a2225c-b6be-7312-bdec-9e410406e9a7	2100-02-01 10:00:00+00	1	\N	\N	\N	\N
\.

COPY sessions ("id", "token_hash", "user_id", "created_at", "last_seen_at", "ended_at", "address", "user_agent", "auth_time", "amr", "place") FROM stdin;
01a2119c-05d5-73de-9852-5dc6e0febe22	\\xe76f0af22b20cff7e506ec49ac5538242bdcf80fb55faa04b53033c1e9bc6e60	01900000-0000-7000-8000-000000000001	2026-11-28 13:33:33.869+00	2026-11-28 13:33:33.869+00	\N	192.0.2.1		2026-11-28 13:33:33.869+00	{pwd}	\N
01a2119c-092e-7731-8446-d6861baa36f3	\\x5483124b35c7a17e3f5580e8f84545efd0a40215f9f3cb1cf157938569dd0b5c	01900000-0000-7000-8000-000000000003	2026-11-28 13:33:34.726+00	2026-11-28 13:33:34.726+00	\N	192.0.2.1		2026-11-28 13:33:34.726+00	{pwd}	\N
01a2119c-0962-76c2-882f-e7154984edc4	\\xddfd4397011f79d9b4c4e34e9445e43c4d7e074ede19bffd31f99ac3ae958964	01900000-0000-7000-8000-000000000004	2026-11-28 13:33:34.778+00	2026-11-28 13:33:34.778+00	\N	192.0.2.1		2026-11-28 13:33:34.778+00	{pwd,otp,mfa}	\N
01a2119c-09d0-7056-b8aa-255cb0986533	\\xc892275bee95aed115086324ce2ed2cecd4a40e01bcfb7e8d0f30c34a7db1d0a	01900000-0000-7000-8000-000000000004	2026-11-28 13:33:34.888+00	2026-11-28 13:33:34.888+00	\N	192.0.2.1		2026-11-28 13:33:34.888+00	{pwd,otp,mfa}	\N
01a2119c-0bf2-73a4-a844-2e45b396735c	\\xc5d3d6f1f0b3d54f8e9e34191709a2d07098d0194093d4dfca8e79a460757aa4	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-28 13:33:35.433+00	2026-11-28 13:33:35.433+00	\N	192.0.2.1		\N	{ext}	\N
01a2119c-0c74-725c-9414-45bd2b69defc	\\x96aee1e6ab9c7d6b1aa38c86a631f36457a4187b4fff3e369bb1b22d3cbc7310	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-28 13:33:35.564+00	2026-11-28 13:33:35.564+00	\N	192.0.2.1		\N	{ext}	\N
01a2119c-0cba-7166-b2c7-1f41581ae328	\\xfa3f7951a4a25a8ff9f65cd27f4fdd4a43a8c6b45f7918b837fa36ee3d8f4288	01a2119c-0c98-766f-9f21-005bf89a04be	2026-11-28 13:33:35.634+00	2026-11-28 13:33:35.634+00	2026-11-28 13:33:37.354444+00	192.0.2.1		\N	{ext}	\N
01a2119c-177e-72ac-9230-a220bc24b37c	\\x5cc727ba0245b7929e43def8cf0e9664135d4bbf1a93d36bbaac621abcbf4b60	01a211d3-03cd-767a-b804-e910738990dc	2026-11-28 13:33:38.386+00	2026-11-28 13:33:38.386+00	\N	192.0.2.1		2026-11-28 13:33:38.386+00	{pwd}	\N
01a2119c-1da1-77fa-8ef9-9808fb182b4a	\\x92b5cf0b2398416432bb1176be1521914f4dc6b3a5c24810c7c74fcd4e768edb	01a211d3-0bbd-72cf-a3b8-856a14fff73a	2026-11-28 13:33:39.958+00	2026-11-28 13:33:39.958+00	\N	192.0.2.1		2026-11-28 13:33:39.958+00	{pwd}	\N
01a2119c-276a-7394-9a0d-2bc545acfc59	\\xef3924b6f3a8d2eb69f01101075fba786906a9237dd5fb38c441b02f8f7c89bd	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-11-28 13:33:42.463+00	2026-11-28 13:33:42.463+00	\N	192.0.2.1		2026-11-28 13:33:42.463+00	{pwd}	\N
01a2119c-2b48-768e-9bc5-66424d25c70b	\\x8cd1ae7bef128f5dffbaae5781b7b444bbe70f8414594c321021e7f9cced3ec1	01900000-0000-7000-8000-000000000001	2026-11-28 13:33:43.455+00	2026-11-28 13:33:43.455+00	2026-11-28 13:33:43.489+00	192.0.2.1		2026-11-28 13:33:43.455+00	{pwd}	\N
01a2225c-bc09-716b-bc03-bc56eff32e1f	\\x43b6ac5433ddd4f7c977fd1d6ed1fea091de3e52ea81bf3580702f7610e36276	01a2225c-b602-7508-9d7d-c2aa1657a948	2026-11-28 13:33:52.505+00	2026-11-28 13:33:52.505+00	2026-11-28 13:33:55.866516+00	198.51.100.9		2026-11-28 13:33:52.505+00	{pwd}	\N
01a2225c-bd33-7248-ab80-1789f33b4867	\\x58241115009740d5378438789799f64e3218a61a7d554d65a2b001719a10953d	01a2225c-b666-743d-bc76-127a5814646f	2026-11-28 13:33:52.811+00	2026-11-28 13:33:52.811+00	\N	198.51.100.9		2026-11-28 13:33:52.811+00	{pwd}	\N
01a2225c-bfaa-72c1-a90a-e9f589e199b5	\\xa02e8c03c675b43154f96e44713ce408fccc58c141bd7c4e3e6eb281f7e977e5	01a2225c-b6be-7312-bdec-9e410406e9a7	2026-11-28 13:33:53.424+00	2026-11-28 13:33:53.424+00	\N	198.51.100.9		2026-11-28 13:33:53.424+00	{pwd}	\N
01a2225c-e3cd-712e-93a3-1b23ee659a54	\\x7337727390f8fe0e06fa868e4b7e864e420945b550a576efd6bf94b7bf26e04e	01a2225c-b6be-7312-bdec-9e410406e9a7	2026-11-28 13:34:02.7+00	2026-11-28 13:34:02.7+00	\N	192.0.2.1		2026-11-28 13:34:02.7+00	{pwd}	\N
\.

COPY sums_of_hours ("hour", "key", "count", "last_at") FROM stdin;
2026-11-28 13:00:00+00	identity_client_calls_total{client="crm_app",kind="signup",secret="first"}	3	2026-11-28 13:33:51.15+00
2026-11-28 13:00:00+00	identity_client_calls_total{client="crm_app",kind="token",secret="first"}	1	2026-11-28 13:34:02.764+00
2026-11-28 13:00:00+00	identity_client_calls_total{client="payment-provider",kind="payment",secret="first"}	1	2026-11-28 13:33:58.443+00
2026-11-28 13:00:00+00	identity_logins_total{result="ok"}	1	2026-11-28 13:34:02.739+00
2026-11-28 13:00:00+00	identity_mails_total{result="sent"}	14	2026-11-28 13:33:58.14+00
2026-11-28 13:00:00+00	identity_nudges_total{client="crm_app",result="failed"}	6	2026-11-28 13:34:02.491+00
2026-11-28 13:00:00+00	identity_nudges_total{client="marketplace",result="failed"}	4	2026-11-28 13:34:00.151+00
2026-11-28 13:00:00+00	identity_payments_total{result="recorded"}	1	2026-11-28 13:33:58.67+00
2026-11-28 13:00:00+00	identity_signups_total{result="created"}	3	2026-11-28 13:33:51.182+00
\.

COPY take_back_changes ("id", "user_id", "email", "what", "at", "expires_at", "device", "guesses") FROM stdin;
79172bf9-0ecb-4c0b-a7ae-e56f0927cc99	01a211d3-03cd-767a-b804-e910738990dc	cora@example.test	email_changed	2026-11-28 13:33:38.734+00	2026-12-05 13:33:38.734+00	\N	0
\.

COPY used_passkey_challenges ("challenge_hash", "expires_at") FROM stdin;
\\xd2c2e3edd5c6c8edbbaeec3fc3724b80dc532314ab37d97d5b1f3f0b69580682	2026-11-28 13:38:33.36+00
\.

COPY users ("id", "account_id", "email", "name", "role", "password_hash", "email_verified_at", "suspended_at", "profile_updated_at", "created_at", "name_edited_at", "holds_email", "deletion_due_at", "has_passkey", "has_authenticator", "frozen_at", "passkeys_declined_at") FROM stdin;
01900000-0000-7000-8000-000000000001	01900000-0000-7000-8001-000000000001	merchant@example.test	Maya Merchant	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	\N	2026-11-28 13:33:33.737+00	2026-11-28 13:33:33.68462+00	\N	true	\N	true	false	\N	\N
01900000-0000-7000-8000-000000000002	01900000-0000-7000-8001-000000000002	new-merchant@example.test	Noor Newcomer	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	\N	2026-11-28 13:33:33.742+00	2026-11-28 13:33:33.68462+00	\N	true	\N	false	false	\N	\N
01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	customer@example.test	Casey Waits	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	\N	2026-11-28 13:34:02.917+00	2026-11-28 13:33:33.68462+00	2026-11-28 13:33:43.280907+00	true	\N	false	false	\N	\N
01900000-0000-7000-8000-000000000004	01900000-0000-7000-8001-000000000004	manager@example.test	Morgan Manager	manager	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	\N	2026-11-28 13:33:33.745+00	2026-11-28 13:33:33.68462+00	\N	true	\N	false	true	\N	\N
01900000-0000-7000-8000-000000000005	01900000-0000-7000-8001-000000000005	admin@example.test	Ada Admin	admin	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	\N	2026-11-28 13:33:33.746+00	2026-11-28 13:33:33.68462+00	\N	true	\N	false	false	\N	\N
01900000-0000-7000-8000-000000000006	01900000-0000-7000-8001-000000000006	suspended@example.test	Sam Suspended	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-28 13:33:33.657+00	2026-11-28 13:33:33.657+00	2026-11-28 13:33:33.748+00	2026-11-28 13:33:33.68462+00	\N	true	\N	false	false	\N	\N
01900000-0000-7000-8000-000000000007	01900000-0000-7000-8001-000000000007	unverified@example.test	Uma Unverified	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	\N	\N	2026-11-28 13:33:33.749+00	2026-11-28 13:33:33.68462+00	\N	true	\N	false	false	\N	\N
01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	shop-1@example.test	Sharon Newer	user	\N	2026-11-28 13:33:35.342+00	\N	2026-11-28 13:33:35.525+00	2026-11-28 13:33:35.337907+00	\N	true	\N	false	false	\N	\N
01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	shop-2@example.test	Simon Shop	user	\N	2026-11-28 13:33:35.6+00	2026-11-28 13:33:37.159+00	2026-11-28 13:33:35.601+00	2026-11-28 13:33:35.597463+00	\N	true	\N	false	false	\N	\N
01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	trial@example.test	User trial	user	\N	\N	\N	2026-11-28 13:33:40.303+00	2026-11-28 13:33:40.296039+00	\N	true	\N	false	false	\N	\N
01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	paid@example.test	User paid	user	$argon2id$v=19$m=19456,t=2,p=1$3Ldpdidga0M9XLVLQtTtAw$p7BHqsfpCDeWgG72Hvfhymn7rOnWmLVyBGBoyJEnQRM	2026-11-28 13:33:42.434+00	\N	2026-11-28 13:33:40.324+00	2026-11-28 13:33:40.320981+00	\N	true	\N	false	false	\N	\N
01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	cora-new@example.test	Cora Change	user	$argon2id$v=19$m=19456,t=2,p=1$SCj1Il4FyA1DPuvdKQXKCw$OpRIWCJOtTX0Pf9DQC8oMwie7wSIs5ikkHuzIwWN8ns	2026-11-28 13:33:38.734+00	\N	2026-11-28 13:33:38.738+00	2026-11-28 13:33:38.373252+00	\N	true	\N	false	false	\N	\N
01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	going@example.test	Gus Going	user	$argon2id$v=19$m=19456,t=2,p=1$KBqMirYCA/CeDZuGmdHB8Q$eBZ3bhADzYmuGYw9YjFiUtYkthpp/NmjCdpAGQLQL3Q	2026-11-28 13:33:39.956+00	\N	2026-11-28 13:33:39.956+00	2026-11-28 13:33:39.954985+00	\N	true	2026-12-12 13:33:39.975+00	false	false	\N	\N
01a2225c-b602-7508-9d7d-c2aa1657a948	01a2225c-b603-726f-9c44-9944c345d1a7	frozen@example.test	User frozen	user	$argon2id$v=19$m=19456,t=2,p=1$wNVWfkXZ/dR5Zx90pkH6Ow$hpyLdq+gl942nbkQrBvcz4OHn7mWxp3hZNWjEWZlaH4	2026-11-28 13:33:52.45+00	2026-11-28 13:33:55.914+00	2026-11-28 13:33:50.997+00	2026-11-28 13:33:50.946951+00	\N	true	\N	false	false	2026-11-28 13:33:55.914+00	\N
01a2225c-b666-743d-bc76-127a5814646f	01a2225c-b666-743d-bc76-177397d02924	lost@example.test	User lost	user	$argon2id$v=19$m=19456,t=2,p=1$Un5Y9XF10o8xBJJq2PN7vg$PQo3yJP+Y8zUpFwYLMtVY79WBIlbA9twfEa6eQ0MGaA	2026-11-28 13:33:52.73+00	\N	2026-11-28 13:33:51.079+00	2026-11-28 13:33:51.073845+00	\N	true	\N	false	false	\N	\N
01a2225c-b6be-7312-bdec-9e410406e9a7	01a2225c-b6be-7312-bdec-a2b761643891	invoiced@example.test	User invoiced	user	$argon2id$v=19$m=19456,t=2,p=1$1XMY1ih1SBaPx2SeAKzEDw$diNFIQOJG6BtROHykrC+uuGBuTlVMkHi+JZzfO+Zay4	2026-11-28 13:33:53.309+00	\N	2026-11-28 13:33:51.167+00	2026-11-28 13:33:51.151352+00	\N	true	\N	false	false	\N	\N
\.

COPY webhook_requests ("webhook_id", "body_hash", "status", "answer", "created_at") FROM stdin;
msg_again	\\xe16b49d7561cce4d9f239bb938ac1851325a495e22a8a1867b341f325bf25b4a	201	{"signup_id":"again","applied":true,"user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119c-1f15-71a3-8b0b-b6c1933907db","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-28 13:33:40.334+00
msg_ends	\\xe1c0c1f79bc6308f3189adcc354fdbad046366814773ca7433144e814764acac	201	{"signup_id":"ends","applied":true,"user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119c-1f27-70db-b14e-74d22ce2bc7c","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:33.929Z","created":true}}	2026-11-28 13:33:40.352+00
msg_frozen	\\xfa472559c84ae534c0080c394d267ba732b940623345f35cbdc98da9f5dfa720	201	{"signup_id":"frozen","applied":true,"user":{"id":"01a2225c-b602-7508-9d7d-c2aa1657a948","created":true},"account":{"id":"01a2225c-b603-726f-9c44-9944c345d1a7","created":true},"contract":{"id":"01a2225c-b604-705c-bf75-03b652f16ff1","status":"trialing","plan":"starter","trial_ends_at":"2026-12-12T13:33:50.864Z","created":true}}	2026-11-28 13:33:50.981+00
msg_invoiced	\\x34300b34716d84e26659add5192a1023a5d1d9e2d75ad6914bb1cede3180e19c	201	{"signup_id":"invoiced","applied":true,"user":{"id":"01a2225c-b6be-7312-bdec-9e410406e9a7","created":true},"account":{"id":"01a2225c-b6be-7312-bdec-a2b761643891","created":true},"contract":{"id":"01a2225c-b6bf-769f-bf57-92ab6674528f","status":"trialing","plan":"starter","trial_ends_at":"2026-12-12T13:33:51.129Z","created":true}}	2026-11-28 13:33:51.167+00
msg_left	\\xdf7f75858209a7d0cecf929f82a7a67e342d1528e83b15fc5a135e8233049844	201	{"signup_id":"left","applied":true,"user":{"id":"01a211d3-0a2c-7508-ad84-501669b33ccc","created":false},"account":{"id":"01a2119c-1c08-7097-bc1d-b724fd4fa4bb","created":false},"contract":{"id":"01a2119c-1f39-7760-8480-6eae1715bda8","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-28 13:33:40.37+00
msg_lost	\\xd185084fd1ca8ca697ca9a8d4858587f4ba1f50237b5be3009fc09afd9e61bb5	201	{"signup_id":"lost","applied":true,"user":{"id":"01a2225c-b666-743d-bc76-127a5814646f","created":true},"account":{"id":"01a2225c-b666-743d-bc76-177397d02924","created":true},"contract":{"id":"01a2225c-b667-7192-b00d-31ef12a23f7e","status":"trialing","plan":"starter","trial_ends_at":"2026-12-12T13:33:51.039Z","created":true}}	2026-11-28 13:33:51.084+00
msg_paid	\\x18b004d1d70cafd995f2e9f1c10a3ebc0d3932820c954055b5321c341ad17878	201	{"signup_id":"paid","applied":true,"user":{"id":"01a2119c-1f0a-71b5-ae50-5f005f4623f4","created":true},"account":{"id":"01a2119c-1f0a-71b5-ae50-63d52a17477b","created":true},"contract":{"id":"01a2119c-1f0a-71b5-ae50-6bfa93b117ac","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-28 13:33:40.322+00
msg_trial	\\x8db630d23c223dbbc98777fd0c46f1e46d95775d4d74b873b266d5bf2bd06193	201	{"signup_id":"trial","applied":true,"user":{"id":"01a2119c-1ef4-77b6-bb56-b92516f7644e","created":true},"account":{"id":"01a2119c-1ef4-77b6-bb56-bdde1800eec2","created":true},"contract":{"id":"01a2119c-1ef5-7584-94ae-d9de98f71e0e","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:33.929Z","created":true}}	2026-11-28 13:33:40.303+00
payments:60ea9e61e97afa88d1dcb2682f2b2c4ce8fd20bf83f7ca6d3b6559a24e433cfb	\\x8032e47f44ea3d773e48b03e67a8197f69c4dcd509aeaa8cd2a475dbd0ac13b8	201	{"payment_id":"pay_in_part","applied":true,"allocated":1000,"unallocated":0,"invoice":{"number":"INV-2026-0001","status":"open","open":2451}}	2026-11-28 13:33:58.655+00
\.

SELECT setval('allocations_id_seq', 2);
SELECT setval('changes_id_seq', 65);
SELECT setval('events_id_seq', 26);
SELECT setval('reserved_addresses_number_seq', 1);