-- A database as the code of commit 11da18b left it. A throwaway script ran that code in local mode and used it by its own
-- doors: logins, a passkey, an authenticator with recovery codes, launches, hand-offs of the marketplace, sign-ups, changes
-- of addresses, signups of the CRM, invoices, mails, somebody who is gone and somebody who is going, events that have a
-- number and events that wait for one, and the command line. Its people are made up, and its passwords are those of local
-- mode and of the tests; what only its browsers, apps and senders know is in the file of the same name that ends in .json.
-- One mail was put back by hand to one that waits after two tries.
-- Taken at 2026-11-25T07:29:37.486Z

SET check_function_bodies = off;

-- Used by triggers of: launches, service_contracts, sessions, users
CREATE OR REPLACE FUNCTION append_event(to_client text, of_type text, about_user uuid, about_contract uuid, with_body jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      update events set body = with_body, occurred_at = clock_timestamp()
        where seq is null and made_in = pg_current_xact_id() and client = to_client and type = of_type
          and user_id = about_user and contract_id is not distinct from about_contract
          and of_type in ('profile.updated', 'contract.updated');
      if not found then
        insert into events (client, type, user_id, contract_id, body)
          values (to_client, of_type, about_user, about_contract, with_body);
      end if;
    end $function$;

-- Used by triggers of: launches, users
CREATE OR REPLACE FUNCTION append_profile_event(to_client text, about_user uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      perform append_event(to_client, 'profile.updated', about_user, null, jsonb_build_object(
          'email', u.email, 'name', u.name, 'role', u.role, 'profile_updated_at', u.profile_updated_at,
          'capabilities', a.capabilities, 'verified_at', a.verified_at))
        from users u join accounts a on a.id = u.account_id where u.id = about_user;
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
    end $function$;
REVOKE EXECUTE ON FUNCTION record_change() FROM PUBLIC;

-- Used by triggers of: accounts, external_links, service_contracts, users
CREATE OR REPLACE FUNCTION write_change(about text, names text[], before jsonb, after jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

-- Used by triggers of: accounts, external_links, service_contracts, users
CREATE OR REPLACE FUNCTION refuse_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'truncate % would leave no history: delete its rows', tg_table_name;
    end $function$;

-- accounts ------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   service_contracts (account_id)
--   users (account_id)
CREATE TABLE accounts (
  id uuid NOT NULL,
  name text NOT NULL,
  capabilities text[] NOT NULL DEFAULT '{}'::text[],
  verified_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name_edited_at timestamp with time zone,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_capabilities_known CHECK (capabilities <@ ARRAY['manage_storefront'::text, 'sell_media_inventory'::text, 'sell_products'::text, 'sell_services'::text]),
  CONSTRAINT accounts_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);

CREATE OR REPLACE FUNCTION touch_profiles_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update users set profile_updated_at = profile_updated_at + interval '1 millisecond'
        where account_id = new.id;
      return null;
    end $function$;

CREATE TRIGGER accounts_record_change AFTER INSERT OR DELETE ON accounts
  FOR EACH ROW
  EXECUTE FUNCTION record_change('account', 'name', 'name_edited_at', 'capabilities', 'verified_at');

CREATE TRIGGER accounts_record_update AFTER UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.name IS DISTINCT FROM new.name OR old.name_edited_at IS DISTINCT FROM new.name_edited_at OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at)
  EXECUTE FUNCTION record_change('account', 'name', 'name_edited_at', 'capabilities', 'verified_at');

CREATE TRIGGER accounts_refuse_truncate BEFORE TRUNCATE ON accounts
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE TRIGGER accounts_touch_profiles AFTER UPDATE ON accounts
  FOR EACH ROW
  WHEN (old.name IS DISTINCT FROM new.name OR old.capabilities IS DISTINCT FROM new.capabilities OR old.verified_at IS DISTINCT FROM new.verified_at)
  EXECUTE FUNCTION touch_profiles_of_account();

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
  CONSTRAINT audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_at_idx ON audit_events USING btree (at);
CREATE INDEX audit_events_external_id_idx ON audit_events USING btree ((details ->> 'id'::text)) WHERE details ? 'id'::text;
CREATE INDEX audit_events_user_id_at_idx ON audit_events USING btree (user_id, at);

-- users ---------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   authenticators (user_id) ON DELETE CASCADE
--   client_users (user_id) ON DELETE CASCADE
--   devices (user_id) ON DELETE CASCADE
--   external_links (user_id) ON DELETE CASCADE
--   launches (user_id) ON DELETE CASCADE
--   mail_tokens (user_id) ON DELETE CASCADE
--   mails (user_id) ON DELETE CASCADE
--   passkeys (user_id) ON DELETE CASCADE
--   pending_email_changes (user_id) ON DELETE CASCADE
--   pending_hand_offs (user_id) ON DELETE CASCADE
--   pending_logins (user_id) ON DELETE CASCADE
--   recovery_codes (user_id) ON DELETE CASCADE
--   reserved_addresses (user_id) ON DELETE CASCADE
--   service_contracts (user_id)
--   sessions (user_id) ON DELETE CASCADE
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

CREATE TRIGGER end_pending_logins AFTER UPDATE ON users
  FOR EACH ROW
  WHEN (new.password_hash IS DISTINCT FROM old.password_hash OR new.email IS DISTINCT FROM old.email OR new.has_authenticator IS DISTINCT FROM old.has_authenticator OR new.suspended_at IS NOT NULL AND old.suspended_at IS NULL)
  EXECUTE FUNCTION end_pending_logins();

CREATE TRIGGER users_end_sessions_when_suspended AFTER UPDATE OF suspended_at ON users
  FOR EACH ROW
  WHEN (old.suspended_at IS NULL AND new.suspended_at IS NOT NULL)
  EXECUTE FUNCTION end_sessions_of_suspended_user();

CREATE TRIGGER users_keep_profile_updated_at BEFORE UPDATE ON users
  FOR EACH ROW
  EXECUTE FUNCTION keep_profile_updated_at();

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

-- authenticators ------------------------------------------------------------------------------------------------------

CREATE TABLE authenticators (
  user_id uuid NOT NULL,
  sealed_secret bytea NOT NULL,
  last_step integer NOT NULL,
  added_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
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
  CONSTRAINT changes_pkey PRIMARY KEY (id),
  CONSTRAINT changes_by_known CHECK (by = ANY (ARRAY['person'::text, 'marketplace'::text, 'crm'::text, 'operator'::text, 'service'::text, 'database'::text])),
  CONSTRAINT changes_found_by_nobody CHECK ((by IS NULL) = (kind = 'found'::text)),
  CONSTRAINT changes_kind_known CHECK (kind = ANY (ARRAY['found'::text, 'created'::text, 'changed'::text, 'removed'::text])),
  CONSTRAINT changes_members_until_erased CHECK ((members IS NULL) = (erased_at IS NOT NULL)),
  CONSTRAINT changes_subject_known CHECK (subject = ANY (ARRAY['user'::text, 'account'::text, 'link'::text, 'contract'::text]))
);
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
  CONSTRAINT devices_pkey PRIMARY KEY (token_hash, user_id),
  CONSTRAINT devices_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX devices_last_login_at_idx ON devices USING btree (last_login_at);
CREATE INDEX devices_user_id_idx ON devices USING btree (user_id);

-- erased_users --------------------------------------------------------------------------------------------------------

-- Referred to by:
--   service_contracts (erased_user_id)
CREATE TABLE erased_users (
  id uuid NOT NULL,
  erased_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT erased_users_pkey PRIMARY KEY (id)
);

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

-- external_links ------------------------------------------------------------------------------------------------------

CREATE TABLE external_links (
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id uuid NOT NULL,
  applied_profile_updated_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  sleeping_since timestamp with time zone,
  CONSTRAINT external_links_pkey PRIMARY KEY (provider, external_id),
  CONSTRAINT external_links_user_id_provider_key UNIQUE (user_id, provider),
  CONSTRAINT external_links_external_id_length CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 128),
  CONSTRAINT external_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TRIGGER external_links_record_change AFTER INSERT OR DELETE ON external_links
  FOR EACH ROW
  EXECUTE FUNCTION record_change('link', 'provider', 'external_id', 'user_id', 'sleeping_since');

CREATE TRIGGER external_links_record_update AFTER UPDATE ON external_links
  FOR EACH ROW
  WHEN (old.provider IS DISTINCT FROM new.provider OR old.external_id IS DISTINCT FROM new.external_id OR old.user_id IS DISTINCT FROM new.user_id OR old.sleeping_since IS DISTINCT FROM new.sleeping_since)
  EXECUTE FUNCTION record_change('link', 'provider', 'external_id', 'user_id', 'sleeping_since');

CREATE TRIGGER external_links_refuse_truncate BEFORE TRUNCATE ON external_links
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

-- invoice_numbers -----------------------------------------------------------------------------------------------------

CREATE TABLE invoice_numbers (
  only_row boolean NOT NULL DEFAULT true,
  last_number bigint NOT NULL,
  CONSTRAINT invoice_numbers_pkey PRIMARY KEY (only_row),
  CONSTRAINT invoice_numbers_only_row CHECK (only_row)
);

-- service_contracts ---------------------------------------------------------------------------------------------------

-- Referred to by:
--   invoices (contract_id)
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
          'occurred_at', case when isfinite(new.occurred_at) then new.occurred_at else new.created_at end));
      return null;
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_crm_of_contract() FROM PUBLIC;

CREATE TRIGGER service_contracts_record_change AFTER INSERT OR DELETE ON service_contracts
  FOR EACH ROW
  EXECUTE FUNCTION record_change('contract', 'signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status', 'trial_ends_at', 'price_currency', 'price_unit_amount', 'price_interval', 'occurred_at');

CREATE TRIGGER service_contracts_record_update AFTER UPDATE ON service_contracts
  FOR EACH ROW
  WHEN (old.signup_id IS DISTINCT FROM new.signup_id OR old.user_id IS DISTINCT FROM new.user_id OR old.account_id IS DISTINCT FROM new.account_id OR old.erased_user_id IS DISTINCT FROM new.erased_user_id OR old.erased_account_id IS DISTINCT FROM new.erased_account_id OR old.plan IS DISTINCT FROM new.plan OR old.status IS DISTINCT FROM new.status OR old.trial_ends_at IS DISTINCT FROM new.trial_ends_at OR old.price_currency IS DISTINCT FROM new.price_currency OR old.price_unit_amount IS DISTINCT FROM new.price_unit_amount OR old.price_interval IS DISTINCT FROM new.price_interval OR old.occurred_at IS DISTINCT FROM new.occurred_at)
  EXECUTE FUNCTION record_change('contract', 'signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status', 'trial_ends_at', 'price_currency', 'price_unit_amount', 'price_interval', 'occurred_at');

CREATE TRIGGER service_contracts_refuse_truncate BEFORE TRUNCATE ON service_contracts
  FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_truncate();

CREATE TRIGGER service_contracts_tell_crm AFTER UPDATE ON service_contracts
  FOR EACH ROW
  WHEN (old.status IS DISTINCT FROM new.status OR old.plan IS DISTINCT FROM new.plan OR old.trial_ends_at IS DISTINCT FROM new.trial_ends_at OR old.price_currency IS DISTINCT FROM new.price_currency OR old.price_unit_amount IS DISTINCT FROM new.price_unit_amount OR old.price_interval IS DISTINCT FROM new.price_interval OR old.occurred_at IS DISTINCT FROM new.occurred_at)
  EXECUTE FUNCTION tell_crm_of_contract();

CREATE TRIGGER service_contracts_tell_crm_of_new AFTER INSERT ON service_contracts
  FOR EACH ROW
  EXECUTE FUNCTION tell_crm_of_contract();

-- invoices ------------------------------------------------------------------------------------------------------------

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
  CONSTRAINT invoices_pkey PRIMARY KEY (number),
  CONSTRAINT invoices_contract_id_period_starts_at_key UNIQUE (contract_id, period_starts_at),
  CONSTRAINT invoices_number_positive CHECK (number > 0),
  CONSTRAINT invoices_paid_has_instant CHECK ((status = 'paid'::text) = (paid_at IS NOT NULL)),
  CONSTRAINT invoices_period_forward CHECK (period_ends_at > period_starts_at),
  CONSTRAINT invoices_status_known CHECK (status = ANY (ARRAY['open'::text, 'paid'::text, 'void'::text])),
  CONSTRAINT invoices_unit_amount_positive CHECK (unit_amount >= 0),
  CONSTRAINT invoices_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES service_contracts(id)
);
CREATE INDEX invoices_due_at_idx ON invoices USING btree (due_at) WHERE status = 'open'::text;

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

CREATE TRIGGER invoices_freeze_buyer BEFORE INSERT ON invoices
  FOR EACH ROW
  EXECUTE FUNCTION freeze_buyer();

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
    end $function$;
REVOKE EXECUTE ON FUNCTION tell_client_of_launch() FROM PUBLIC;

CREATE TRIGGER launches_tell_client AFTER INSERT ON launches
  FOR EACH ROW
  EXECUTE FUNCTION tell_client_of_launch();

-- mail_tokens ---------------------------------------------------------------------------------------------------------

CREATE TABLE mail_tokens (
  token_hash bytea NOT NULL,
  purpose text NOT NULL,
  user_id uuid,
  email text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  name text,
  CONSTRAINT mail_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT mail_tokens_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT mail_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX mail_tokens_expires_at_idx ON mail_tokens USING btree (expires_at);
CREATE INDEX mail_tokens_user_id_idx ON mail_tokens USING btree (user_id);

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
  CONSTRAINT mails_pkey PRIMARY KEY (id),
  CONSTRAINT mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX mails_created_at_idx ON mails USING btree (created_at);
CREATE INDEX mails_next_attempt_at_idx ON mails USING btree (next_attempt_at) WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX mails_user_id_idx ON mails USING btree (user_id);

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
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_code_hash_length CHECK (octet_length(code_hash) = 32),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

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

-- restores ------------------------------------------------------------------------------------------------------------

CREATE TABLE restores (
  at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT restores_pkey PRIMARY KEY (at)
);

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

-- used_passkey_challenges ---------------------------------------------------------------------------------------------

CREATE TABLE used_passkey_challenges (
  challenge_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT used_passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  CONSTRAINT used_passkey_challenges_hash_length CHECK (octet_length(challenge_hash) = 32)
);
CREATE INDEX used_passkey_challenges_expires_at_idx ON used_passkey_challenges USING btree (expires_at);

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


CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL);
CREATE TABLE kysely_migration_lock (id varchar(255) PRIMARY KEY, is_locked integer NOT NULL DEFAULT 0);
SET session_replication_role = replica;
SET timezone = 'UTC';

COPY accounts ("id", "name", "capabilities", "verified_at", "created_at", "name_edited_at") FROM stdin;
01900000-0000-7000-8001-000000000001	Maya’s account	{manage_storefront,sell_products,sell_services}	2026-11-25 07:29:27.297+00	2026-11-25 07:29:27.32462+00	\N
01900000-0000-7000-8001-000000000002	Noor’s account	{sell_products}	\N	2026-11-25 07:29:27.32462+00	\N
01900000-0000-7000-8001-000000000003	Casey’s	{}	\N	2026-11-25 07:29:27.32462+00	2026-11-25 07:29:28.379671+00
01900000-0000-7000-8001-000000000004	Morgan’s account	{}	\N	2026-11-25 07:29:27.32462+00	\N
01900000-0000-7000-8001-000000000005	Ada’s account	{}	\N	2026-11-25 07:29:27.32462+00	\N
01900000-0000-7000-8001-000000000006	Sam’s account	{}	\N	2026-11-25 07:29:27.32462+00	\N
01900000-0000-7000-8001-000000000007	Uma’s account	{}	\N	2026-11-25 07:29:27.32462+00	\N
01a2119c-0b96-7188-9066-798a158f8d36	Shop & Sons	{manage_storefront,sell_products}	2026-11-25 07:29:28.982+00	2026-11-25 07:29:28.977907+00	\N
01a2119c-0c98-766f-9f21-07923ed15a96	Simon Shop	{}	\N	2026-11-25 07:29:29.237463+00	\N
01a2119c-1773-75ab-96a1-6e6c878265fa	Cora Change	{}	\N	2026-11-25 07:29:32.013252+00	\N
01a2119c-1d9c-730f-b1af-9b8998e97b3e	Gus Going	{}	\N	2026-11-25 07:29:33.594985+00	\N
01a2119c-1ef4-77b6-bb56-bdde1800eec2	Account trial	{}	\N	2026-11-25 07:29:33.936039+00	\N
01a2119c-1f0a-71b5-ae50-63d52a17477b	Account paid	{}	\N	2026-11-25 07:29:33.960981+00	\N
\.

COPY audit_events ("id", "at", "type", "reason", "user_id", "address", "request_id", "details", "device", "place") FROM stdin;
01a2119c-05da-7651-9fed-b488a99d3374	2026-11-25 07:29:27.507756+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	da77866c-1af7-4928-9dc1-9f2daa62cb9e	{}	\N	\N
01a2119c-091b-76cc-b075-2c2b471762a6	2026-11-25 07:29:28.335194+00	passkey.added	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	4907da06-26be-431c-9ea1-fac1f518c203	{"passkey": "01a2119c-0913-7624-a1bb-172236d3419c"}	\N	\N
01a2119c-092f-7277-aa1d-f8e1a3f5708b	2026-11-25 07:29:28.365976+00	login.succeeded	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	517bb36a-5a8e-4670-85e5-0f2d6dbd409c	{}	\N	\N
01a2119c-0940-7412-8e4b-1ac7cd69f571	2026-11-25 07:29:28.379671+00	profile.updated	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	8c6054d1-d18f-42ea-a527-1972e2cb427c	{"changed": ["name", "accountName"]}	\N	\N
01a2119c-0963-7776-9236-282fc3d9eb10	2026-11-25 07:29:28.415759+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	dc9956f7-4fdf-4e18-aa84-62a381ae38b0	{}	\N	\N
01a2119c-09a9-7659-b22f-d70368538942	2026-11-25 07:29:28.483238+00	authenticator.added	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	729cac1e-1ecd-4614-a159-9691d5631081	{}	\N	\N
01a2119c-09c2-73fe-b44a-f3dc6aef957c	2026-11-25 07:29:28.512585+00	login.code_asked	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	463556fd-3785-4fa0-bbc2-c128f6bf6d56	{}	\N	\N
01a2119c-09d0-7056-b8aa-1d91875347e4	2026-11-25 07:29:28.526753+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	7d7b0e0f-28b0-4474-b508-949c6d18fbc0	{"factor": "recovery_code"}	\N	\N
01a2119c-09e3-700d-9308-3784d992bb5d	2026-11-25 07:29:28.545594+00	login.code_asked	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	b5fb359c-cce3-4493-bed0-9f381eba5349	{}	\N	\N
01a2119c-0a55-74e2-b18b-52b0ca0df0aa	2026-11-25 07:29:28.661741+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	3b2b4b68-8d3a-4fe4-833d-8543c8493711	{}	\N	\N
01a2119c-0a91-75cb-acbd-905b63bfd373	2026-11-25 07:29:28.725368+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	15b4c3af-853f-402e-9476-61fa1055cefd	{}	\N	\N
01a2119c-0b76-74ea-ac43-db5951b84427	2026-11-25 07:29:28.949469+00	login.refused	suspended	01900000-0000-7000-8000-000000000006	192.0.2.1	3b63b74f-3b0b-43e4-97b2-5475d01b0e25	{}	\N	\N
01a2119c-0b99-732e-b18d-631f02d55ba1	2026-11-25 07:29:28.985719+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	9cafc8ca-c047-4994-8897-f2aac4260f1b	{}	\N	\N
01a2119c-0bb2-7319-b18c-12123808550d	2026-11-25 07:29:28.977907+00	hand_off.accepted	created	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	4b8bd758-4124-417e-b967-74bec75dcbeb	{"id": "shop-1"}	\N	\N
01a2119c-0bf3-76c6-8b02-407c91d64446	2026-11-25 07:29:29.04022+00	hand_off.confirmed	continue	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	7bf74eca-cf3f-425e-bf8b-163bab89273b	{"id": "shop-1"}	\N	\N
01a2119c-0c59-7106-a0f8-637bef82b982	2026-11-25 07:29:29.134332+00	hand_off.accepted	updated	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	ac0a45d2-ffc8-4844-a200-618676b84497	{"id": "shop-1"}	\N	\N
01a2119c-0c77-727a-a2bd-fb761ba1e269	2026-11-25 07:29:29.186882+00	hand_off.confirmed	continue	01a2119c-0b96-7188-9066-757d91b49bd4	192.0.2.1	15ea1697-4d55-4220-b6ed-991aed06bf51	{"id": "shop-1"}	\N	\N
01a2119c-0ca5-702d-8fa5-9013c675abdc	2026-11-25 07:29:29.237463+00	hand_off.accepted	created	01a2119c-0c98-766f-9f21-005bf89a04be	192.0.2.1	81a6b697-d433-4975-920d-b11de9d40299	{"id": "shop-2"}	\N	\N
01a2119c-0cbd-7568-8cd5-84d4e45df07c	2026-11-25 07:29:29.267431+00	hand_off.confirmed	continue	01a2119c-0c98-766f-9f21-005bf89a04be	192.0.2.1	b2b6c6b4-911a-4283-a740-8d4737750174	{"id": "shop-2"}	\N	\N
01a2119c-1388-72a6-8ed7-33c46722a9d0	2026-11-25 07:29:30.994444+00	user.suspended	\N	01a2119c-0c98-766f-9f21-005bf89a04be	\N	\N	{"by": "cli"}	\N	\N
01a2119c-1498-7430-a0ab-cf5a0f338653	2026-11-25 07:29:31.283088+00	hand_off.pending	connect_needed	01900000-0000-7000-8000-000000000003	192.0.2.1	27a2edd8-2952-44fa-ba7d-048377b7e082	{"id": "shop-wait"}	\N	\N
01a2119c-1773-75ab-96a1-720b194beae0	2026-11-25 07:29:32.013252+00	user.created	sign_up	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	54314605-48ba-434e-9209-51f7dc427ae5	{}	\N	\N
01a2119c-1794-76c4-91e1-c9076be0eb94	2026-11-25 07:29:32.049398+00	email.change_requested	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	7f77bdfd-ba34-45c1-b236-64dfffb32408	{}	\N	\N
01a2119c-18e9-7414-b805-a753b45a8d6a	2026-11-25 07:29:32.368459+00	email.changed	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	24345d8d-37c8-4dbf-a011-578b1c5f7e7f	{}	\N	\N
01a2119c-1937-77c2-89e7-d38ff01d55ac	2026-11-25 07:29:32.469862+00	email.change_requested	\N	01a211d3-03cd-767a-b804-e910738990dc	192.0.2.1	d66e5550-3571-400b-a653-6518c75a09ff	{}	\N	\N
01a2119c-1c08-7097-bc1d-b80b8c514c55	2026-11-25 07:29:33.190684+00	user.created	sign_up	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{}	\N	\N
01a2119c-1d9c-730f-b1af-9ff2455e0cad	2026-11-25 07:29:33.594985+00	user.created	sign_up	01a211d3-0bbd-72cf-a3b8-856a14fff73a	192.0.2.1	a7c4a89e-b245-4970-a2c7-87e27010ee79	{}	\N	\N
01a2119c-1db2-770d-b2f2-5b377972e034	2026-11-25 07:29:33.615245+00	user.deletion_requested	\N	01a211d3-0bbd-72cf-a3b8-856a14fff73a	192.0.2.1	50000f33-2e51-45df-ac68-4af273db2ec1	{}	\N	\N
01a2119c-1ef7-7755-9adc-ff4f22a03acf	2026-11-25 07:29:33.936039+00	signup.accepted	created	01a2119c-1ef4-77b6-bb56-b92516f7644e	192.0.2.1	fd0aa08a-2695-4da3-bcd3-1ce501831eff	{"signupId": "trial", "webhookId": "msg_trial", "contractId": "01a2119c-1ef5-7584-94ae-d9de98f71e0e"}	\N	\N
01a2119c-1f0a-71b5-ae50-6f4613a12540	2026-11-25 07:29:33.960981+00	signup.accepted	created	01a2119c-1f0a-71b5-ae50-5f005f4623f4	192.0.2.1	e6402aad-081c-42ef-8fd2-b4fdccba37fc	{"signupId": "paid", "webhookId": "msg_paid", "contractId": "01a2119c-1f0a-71b5-ae50-6bfa93b117ac"}	\N	\N
01a2119c-1f16-75eb-b687-8fb919558235	2026-11-25 07:29:33.9726+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	d5677f83-84ec-42aa-839d-7d426284b45e	{"signupId": "again", "webhookId": "msg_again", "contractId": "01a2119c-1f15-71a3-8b0b-b6c1933907db"}	\N	\N
01a2119c-1f28-73f2-ae68-6a59d2b2f529	2026-11-25 07:29:33.983176+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	a1e83068-4924-4874-8980-7296b97d0178	{"signupId": "ends", "webhookId": "msg_ends", "contractId": "01a2119c-1f27-70db-b14e-74d22ce2bc7c"}	\N	\N
01a2119c-1f3a-7256-93a4-570ed73cc586	2026-11-25 07:29:34.006903+00	signup.accepted	created	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{"contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N
01a2119c-1f56-747d-a68a-c0966f487eb8	2026-11-25 07:29:34.026385+00	invoice.issued	\N	\N	\N	\N	{"number": 1, "contractId": "01a2119c-1f0a-71b5-ae50-6bfa93b117ac"}	\N	\N
01a2119c-1f60-710d-8218-dc9494970ea6	2026-11-25 07:29:34.040055+00	invoice.issued	\N	\N	\N	\N	{"number": 2, "contractId": "01a2119c-1f15-71a3-8b0b-b6c1933907db"}	\N	\N
01a2119c-1f63-7527-8330-bf98027266c0	2026-11-25 07:29:34.049172+00	invoice.issued	\N	\N	\N	\N	{"number": 3, "contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N
01a2119c-1f72-77b2-9051-b88ff65689dc	2026-11-25 07:29:34.062593+00	invoice.paid	\N	\N	\N	\N	{"number": 1}	\N	\N
01a2119c-260a-70d4-88e7-83b01fa04a25	2026-11-25 07:29:35.709184+00	contract.moved	cancel	\N	\N	\N	{"status": "canceled", "contractId": "01a2119c-1f27-70db-b14e-74d22ce2bc7c"}	\N	\N
01a2119c-2767-74df-93bb-e9156cd5814d	2026-11-25 07:29:36.064884+00	password.set	by_mail	01a2119c-1f0a-71b5-ae50-5f005f4623f4	192.0.2.1	27517d49-1eb2-4638-b60e-98f959ece446	{}	\N	\N
01a2119c-2789-7229-aaa6-c7516d1bd622	2026-11-25 07:29:36.123885+00	contract.moved	cancel	\N	\N	\N	{"status": "canceled", "contractId": "01a2119c-1f39-7760-8480-6eae1715bda8"}	\N	\N
01a2119c-27be-7623-9b4c-2ebccdf9f83b	2026-11-25 07:29:36.123885+00	user.erased	\N	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	\N	{"by": "request"}	\N	\N
01a2119c-27c7-7513-85b1-6b5290ba1231	2026-11-25 07:29:36.198568+00	password_link.requested	sent	01900000-0000-7000-8000-000000000003	192.0.2.1	ec780b96-0b58-4234-8557-ad5b889d71d8	{}	\N	\N
01a2119c-2935-7776-b007-23d1a5ae0b36	2026-11-25 07:29:36.563556+00	password_link.requested	sent	01900000-0000-7000-8000-000000000001	192.0.2.1	1bc8913b-a42f-48ed-a3f3-3caf5bd1a044	{}	\N	\N
01a2119c-2a9e-765b-9d56-779b964c12a6	2026-11-25 07:29:36.920907+00	profile.updated	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	7334e44d-8787-4f21-9ece-8b2b221d3100	{"changed": ["name"]}	\N	\N
01a2119c-2b4b-7704-a0d0-f99ee8e9b436	2026-11-25 07:29:37.095093+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	3911627a-2c19-450e-8c5d-a0dc0b95d7cf	{}	\N	\N
01a2119c-2b6b-77a0-8ba8-b244c12c7f30	2026-11-25 07:29:37.129956+00	logout	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	d59746c9-90d9-4909-a587-7f748993529d	{}	\N	\N
\.

COPY authenticators ("user_id", "sealed_secret", "last_step", "added_at", "last_used_at") FROM stdin;
01900000-0000-7000-8000-000000000004	\\x185ec5fdd975902be5e0863ac8a59a1d7942471fa2db7d8441a6d02a1e385924d992e8e20ff23fee2b88c8cd7d0aebda	59853058	2026-11-25 07:29:28.484+00	2026-11-25 07:29:28.484+00
\.

COPY changes ("id", "at", "began_at", "subject", "row_id", "user_id", "account_id", "kind", "members", "erased_at", "by", "by_user", "request_id", "cause", "role") FROM stdin;
1	2026-11-25 07:29:27.376641+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000001	\N	01900000-0000-7000-8001-000000000001	created	{"name": {"to": "Maya’s account", "from": null}, "verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}, "capabilities": {"to": ["manage_storefront", "sell_products", "sell_services"], "from": null}}	\N	service	\N	\N	demo users	identity
10	2026-11-25 07:29:27.386838+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000005	01900000-0000-7000-8000-000000000005	01900000-0000-7000-8001-000000000005	created	{"name": {"to": "Ada Admin", "from": null}, "role": {"to": "admin", "from": null}, "email": {"to": "admin@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000005", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
11	2026-11-25 07:29:27.387195+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000006	\N	01900000-0000-7000-8001-000000000006	created	{"name": {"to": "Sam’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity
12	2026-11-25 07:29:27.388533+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000006	01900000-0000-7000-8000-000000000006	01900000-0000-7000-8001-000000000006	created	{"name": {"to": "Sam Suspended", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "suspended@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000006", "from": null}, "holds_email": {"to": true, "from": null}, "suspended_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
13	2026-11-25 07:29:27.389017+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000007	\N	01900000-0000-7000-8001-000000000007	created	{"name": {"to": "Uma’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity
14	2026-11-25 07:29:27.389429+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000007	01900000-0000-7000-8000-000000000007	01900000-0000-7000-8001-000000000007	created	{"name": {"to": "Uma Unverified", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "unverified@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000007", "from": null}, "holds_email": {"to": true, "from": null}}	\N	service	\N	\N	demo users	identity
15	2026-11-25 07:29:28.381482+00	2026-11-25 07:29:28.379671+00	account	01900000-0000-7000-8001-000000000003	\N	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey’s", "from": "Casey’s account"}, "name_edited_at": {"to": "2026-11-25T07:29:28.379671+00:00", "from": null}}	\N	person	01900000-0000-7000-8000-000000000003	8c6054d1-d18f-42ea-a527-1972e2cb427c	\N	identity
16	2026-11-25 07:29:28.383578+00	2026-11-25 07:29:28.379671+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey \\"Tab\\\\\\" Customer é", "from": "Casey Customer"}, "name_edited_at": {"to": "2026-11-25T07:29:28.379671+00:00", "from": null}}	\N	person	01900000-0000-7000-8000-000000000003	8c6054d1-d18f-42ea-a527-1972e2cb427c	\N	identity
17	2026-11-25 07:29:28.987622+00	2026-11-25 07:29:28.977907+00	account	01a2119c-0b96-7188-9066-798a158f8d36	\N	01a2119c-0b96-7188-9066-798a158f8d36	created	{"name": {"to": "Shop & Sons", "from": null}, "verified_at": {"to": "2026-11-25T07:29:28.982+00:00", "from": null}, "capabilities": {"to": ["manage_storefront", "sell_products"], "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity
18	2026-11-25 07:29:28.998814+00	2026-11-25 07:29:28.977907+00	user	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	created	{"name": {"to": "Sharon Shop", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "shop-1@example.test", "from": null}, "account_id": {"to": "01a2119c-0b96-7188-9066-798a158f8d36", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:28.982+00:00", "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity
19	2026-11-25 07:29:29.009497+00	2026-11-25 07:29:28.977907+00	link	marketplace:shop-1	01a2119c-0b96-7188-9066-757d91b49bd4	\N	created	{"user_id": {"to": "01a2119c-0b96-7188-9066-757d91b49bd4", "from": null}, "provider": {"to": "marketplace", "from": null}, "external_id": {"to": "shop-1", "from": null}}	\N	marketplace	\N	4b8bd758-4124-417e-b967-74bec75dcbeb	cuhs1ycmULEQNJj8vCMf8A	identity
2	2026-11-25 07:29:27.380228+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000001	01900000-0000-7000-8000-000000000001	01900000-0000-7000-8001-000000000001	created	{"name": {"to": "Maya Merchant", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "merchant@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000001", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
20	2026-11-25 07:29:29.166931+00	2026-11-25 07:29:29.134332+00	user	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	changed	{"name": {"to": "Sharon Newer", "from": "Sharon Shop"}}	\N	marketplace	\N	ac0a45d2-ffc8-4844-a200-618676b84497	6Cp8T5MrYfR0D_fCj9c8oA	identity
21	2026-11-25 07:29:29.241081+00	2026-11-25 07:29:29.237463+00	account	01a2119c-0c98-766f-9f21-07923ed15a96	\N	01a2119c-0c98-766f-9f21-07923ed15a96	created	{"name": {"to": "Simon Shop", "from": null}, "capabilities": {"to": [], "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity
22	2026-11-25 07:29:29.241787+00	2026-11-25 07:29:29.237463+00	user	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	created	{"name": {"to": "Simon Shop", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "shop-2@example.test", "from": null}, "account_id": {"to": "01a2119c-0c98-766f-9f21-07923ed15a96", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:29.24+00:00", "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity
23	2026-11-25 07:29:29.25257+00	2026-11-25 07:29:29.237463+00	link	marketplace:shop-2	01a2119c-0c98-766f-9f21-005bf89a04be	\N	created	{"user_id": {"to": "01a2119c-0c98-766f-9f21-005bf89a04be", "from": null}, "provider": {"to": "marketplace", "from": null}, "external_id": {"to": "shop-2", "from": null}}	\N	marketplace	\N	81a6b697-d433-4975-920d-b11de9d40299	51Yzsy_0mXLKWK_MbO-Sjw	identity
24	2026-11-25 07:29:31.013486+00	2026-11-25 07:29:30.994444+00	user	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	changed	{"suspended_at": {"to": "2026-11-25T07:29:30.799+00:00", "from": null}}	\N	operator	\N	\N	user:suspend	identity
25	2026-11-25 07:29:32.023097+00	2026-11-25 07:29:32.013252+00	account	01a2119c-1773-75ab-96a1-6e6c878265fa	\N	01a2119c-1773-75ab-96a1-6e6c878265fa	created	{"name": {"to": "Cora Change", "from": null}, "capabilities": {"to": [], "from": null}}	\N	person	\N	54314605-48ba-434e-9209-51f7dc427ae5	\N	identity
26	2026-11-25 07:29:32.025466+00	2026-11-25 07:29:32.013252+00	user	01a211d3-03cd-767a-b804-e910738990dc	01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	created	{"name": {"to": "Cora Change", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "cora@example.test", "from": null}, "account_id": {"to": "01a2119c-1773-75ab-96a1-6e6c878265fa", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:32.019+00:00", "from": null}}	\N	person	\N	54314605-48ba-434e-9209-51f7dc427ae5	\N	identity
27	2026-11-25 07:29:32.380907+00	2026-11-25 07:29:32.368459+00	user	01a211d3-03cd-767a-b804-e910738990dc	01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	changed	{"email": {"to": "cora-new@example.test", "from": "cora@example.test"}, "email_verified_at": {"to": "2026-11-25T07:29:32.374+00:00", "from": "2026-11-25T07:29:32.019+00:00"}}	\N	person	01a211d3-03cd-767a-b804-e910738990dc	24345d8d-37c8-4dbf-a011-578b1c5f7e7f	\N	identity
28	2026-11-25 07:29:33.193259+00	2026-11-25 07:29:33.190684+00	account	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	\N	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	\N	2026-11-25 07:29:36.158159+00	person	\N	\N	\N	identity
29	2026-11-25 07:29:33.193861+00	2026-11-25 07:29:33.190684+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	\N	2026-11-25 07:29:36.150663+00	person	\N	\N	\N	identity
3	2026-11-25 07:29:27.381951+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000002	\N	01900000-0000-7000-8001-000000000002	created	{"name": {"to": "Noor’s account", "from": null}, "capabilities": {"to": ["sell_products"], "from": null}}	\N	service	\N	\N	demo users	identity
30	2026-11-25 07:29:33.596837+00	2026-11-25 07:29:33.594985+00	account	01a2119c-1d9c-730f-b1af-9b8998e97b3e	\N	01a2119c-1d9c-730f-b1af-9b8998e97b3e	created	{"name": {"to": "Gus Going", "from": null}, "capabilities": {"to": [], "from": null}}	\N	person	\N	a7c4a89e-b245-4970-a2c7-87e27010ee79	\N	identity
31	2026-11-25 07:29:33.597881+00	2026-11-25 07:29:33.594985+00	user	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	created	{"name": {"to": "Gus Going", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "going@example.test", "from": null}, "account_id": {"to": "01a2119c-1d9c-730f-b1af-9b8998e97b3e", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:33.596+00:00", "from": null}}	\N	person	\N	a7c4a89e-b245-4970-a2c7-87e27010ee79	\N	identity
32	2026-11-25 07:29:33.618287+00	2026-11-25 07:29:33.615245+00	user	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	changed	{"deletion_due_at": {"to": "2026-12-09T07:29:33.615+00:00", "from": null}}	\N	person	01a211d3-0bbd-72cf-a3b8-856a14fff73a	50000f33-2e51-45df-ac68-4af273db2ec1	\N	identity
33	2026-11-25 07:29:33.943716+00	2026-11-25 07:29:33.936039+00	account	01a2119c-1ef4-77b6-bb56-bdde1800eec2	\N	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"name": {"to": "Account trial", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity
34	2026-11-25 07:29:33.9442+00	2026-11-25 07:29:33.936039+00	user	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"name": {"to": "User trial", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "trial@example.test", "from": null}, "account_id": {"to": "01a2119c-1ef4-77b6-bb56-bdde1800eec2", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity
35	2026-11-25 07:29:33.948311+00	2026-11-25 07:29:33.936039+00	contract	01a2119c-1ef5-7584-94ae-d9de98f71e0e	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01a2119c-1ef4-77b6-bb56-b92516f7644e", "from": null}, "signup_id": {"to": "trial", "from": null}, "account_id": {"to": "01a2119c-1ef4-77b6-bb56-bdde1800eec2", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-09T07:29:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	fd0aa08a-2695-4da3-bcd3-1ce501831eff	msg_trial	identity
36	2026-11-25 07:29:33.963407+00	2026-11-25 07:29:33.960981+00	account	01a2119c-1f0a-71b5-ae50-63d52a17477b	\N	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"name": {"to": "Account paid", "from": null}, "capabilities": {"to": [], "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity
37	2026-11-25 07:29:33.96496+00	2026-11-25 07:29:33.960981+00	user	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"name": {"to": "User paid", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "paid@example.test", "from": null}, "account_id": {"to": "01a2119c-1f0a-71b5-ae50-63d52a17477b", "from": null}, "holds_email": {"to": true, "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity
38	2026-11-25 07:29:33.965702+00	2026-11-25 07:29:33.960981+00	contract	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01a2119c-1f0a-71b5-ae50-5f005f4623f4", "from": null}, "signup_id": {"to": "paid", "from": null}, "account_id": {"to": "01a2119c-1f0a-71b5-ae50-63d52a17477b", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	e6402aad-081c-42ef-8fd2-b4fdccba37fc	msg_paid	identity
39	2026-11-25 07:29:33.974877+00	2026-11-25 07:29:33.9726+00	contract	01a2119c-1f15-71a3-8b0b-b6c1933907db	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01900000-0000-7000-8000-000000000003", "from": null}, "signup_id": {"to": "again", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "JPY", "from": null}, "price_interval": {"to": "year", "from": null}, "price_unit_amount": {"to": 900, "from": null}}	\N	crm	\N	d5677f83-84ec-42aa-839d-7d426284b45e	msg_again	identity
4	2026-11-25 07:29:27.383461+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000002	01900000-0000-7000-8000-000000000002	01900000-0000-7000-8001-000000000002	created	{"name": {"to": "Noor Newcomer", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "new-merchant@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000002", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
40	2026-11-25 07:29:33.992844+00	2026-11-25 07:29:33.983176+00	contract	01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"plan": {"to": "starter", "from": null}, "status": {"to": "trialing", "from": null}, "user_id": {"to": "01900000-0000-7000-8000-000000000003", "from": null}, "signup_id": {"to": "ends", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "trial_ends_at": {"to": "2026-12-09T07:29:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	a1e83068-4924-4874-8980-7296b97d0178	msg_ends	identity
41	2026-11-25 07:29:34.011581+00	2026-11-25 07:29:34.006903+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	created	{"plan": {"to": "pro", "from": null}, "status": {"to": "active", "from": null}, "user_id": {"to": "01a211d3-0a2c-7508-ad84-501669b33ccc", "from": null}, "signup_id": {"to": "left", "from": null}, "account_id": {"to": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb", "from": null}, "occurred_at": {"to": "2026-11-25T07:28:33.929+00:00", "from": null}, "price_currency": {"to": "EUR", "from": null}, "price_interval": {"to": "month", "from": null}, "price_unit_amount": {"to": 2900, "from": null}}	\N	crm	\N	\N	\N	identity
42	2026-11-25 07:29:35.750906+00	2026-11-25 07:29:35.709184+00	contract	01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"status": {"to": "canceled", "from": "trialing"}}	\N	operator	\N	\N	contract:cancel	identity
43	2026-11-25 07:29:36.08831+00	2026-11-25 07:29:36.064884+00	user	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	changed	{"email_verified_at": {"to": "2026-11-25T07:29:36.074+00:00", "from": null}}	\N	person	\N	27517d49-1eb2-4638-b60e-98f959ece446	\N	identity
44	2026-11-25 07:29:36.120647+00	2026-11-25 07:29:36.114684+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	\N	2026-11-25 07:29:36.15052+00	database	\N	\N	\N	identity
45	2026-11-25 07:29:36.136025+00	2026-11-25 07:29:36.123885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"status": {"to": "canceled", "from": "active"}}	\N	service	\N	\N	\N	identity
46	2026-11-25 07:29:36.143526+00	2026-11-25 07:29:36.123885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"user_id": {"to": null, "from": "01a211d3-0a2c-7508-ad84-501669b33ccc"}, "erased_user_id": {"to": "01a211d3-0a2c-7508-ad84-501669b33ccc", "from": null}}	\N	service	\N	\N	\N	identity
47	2026-11-25 07:29:36.144726+00	2026-11-25 07:29:36.123885+00	contract	01a2119c-1f39-7760-8480-6eae1715bda8	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	changed	{"account_id": {"to": null, "from": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb"}, "erased_account_id": {"to": "01a2119c-1c08-7097-bc1d-b724fd4fa4bb", "from": null}}	\N	service	\N	\N	\N	identity
48	2026-11-25 07:29:36.167321+00	2026-11-25 07:29:36.123885+00	user	01a211d3-0a2c-7508-ad84-501669b33ccc	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	removed	\N	2026-11-25 07:29:36.167322+00	service	\N	\N	erasure	identity
49	2026-11-25 07:29:36.185763+00	2026-11-25 07:29:36.123885+00	account	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	\N	01a2119c-1c08-7097-bc1d-b724fd4fa4bb	removed	\N	2026-11-25 07:29:36.185764+00	service	\N	\N	erasure	identity
5	2026-11-25 07:29:27.383862+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000003	\N	01900000-0000-7000-8001-000000000003	created	{"name": {"to": "Casey’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity
50	2026-11-25 07:29:36.923455+00	2026-11-25 07:29:36.920907+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	changed	{"name": {"to": "Casey Last", "from": "Casey \\"Tab\\\\\\" Customer é"}, "name_edited_at": {"to": "2026-11-25T07:29:36.920907+00:00", "from": "2026-11-25T07:29:28.379671+00:00"}}	\N	person	01900000-0000-7000-8000-000000000003	7334e44d-8787-4f21-9ece-8b2b221d3100	\N	identity
6	2026-11-25 07:29:27.384503+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	created	{"name": {"to": "Casey Customer", "from": null}, "role": {"to": "user", "from": null}, "email": {"to": "customer@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000003", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
7	2026-11-25 07:29:27.384898+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000004	\N	01900000-0000-7000-8001-000000000004	created	{"name": {"to": "Morgan’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity
8	2026-11-25 07:29:27.385195+00	2026-11-25 07:29:27.32462+00	user	01900000-0000-7000-8000-000000000004	01900000-0000-7000-8000-000000000004	01900000-0000-7000-8001-000000000004	created	{"name": {"to": "Morgan Manager", "from": null}, "role": {"to": "manager", "from": null}, "email": {"to": "manager@example.test", "from": null}, "account_id": {"to": "01900000-0000-7000-8001-000000000004", "from": null}, "holds_email": {"to": true, "from": null}, "email_verified_at": {"to": "2026-11-25T07:29:27.297+00:00", "from": null}}	\N	service	\N	\N	demo users	identity
9	2026-11-25 07:29:27.386416+00	2026-11-25 07:29:27.32462+00	account	01900000-0000-7000-8001-000000000005	\N	01900000-0000-7000-8001-000000000005	created	{"name": {"to": "Ada’s account", "from": null}, "capabilities": {"to": [], "from": null}}	\N	service	\N	\N	demo users	identity
\.

COPY client_users ("user_id", "client", "since") FROM stdin;
01900000-0000-7000-8000-000000000001	crm_app	2026-11-25 07:29:27.538294+00
01900000-0000-7000-8000-000000000001	marketplace	2026-11-25 07:29:27.52439+00
01900000-0000-7000-8000-000000000003	crm_app	2026-11-25 07:29:28.3721+00
01a2119c-0b96-7188-9066-757d91b49bd4	crm_app	2026-11-25 07:29:29.097333+00
01a2119c-0c98-766f-9f21-005bf89a04be	crm_app	2026-11-25 07:29:29.28654+00
\.

COPY devices ("token_hash", "user_id", "last_login_at", "known_since", "is_last", "forgotten_at") FROM stdin;
\\x4f4ca7ce11464ad7c4c3da6b17eed4a0bc2f4e51117e9e626592573f6de373c8	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:28.53+00	2026-11-25 07:29:28.528+00	true	\N
\\x51ff3f01a2495d03e753952bb3856a5b8af6eff517c51401a7d3bf5bf834f00d	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:28.419+00	2026-11-25 07:29:28.418+00	true	\N
\\x591926b3dd032dba8ad32e000bab41caf27c2edf4107f76f15171a2f66185272	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-25 07:29:29.207+00	\N	true	\N
\\x71896ca4fa470c2fac52e67e478a82a4951d0dc1d8f05a0422c7e9439fd8d650	01a211d3-0bbd-72cf-a3b8-856a14fff73a	2026-11-25 07:29:33.602+00	2026-11-25 07:29:33.598+00	true	\N
\\x8736c8207ed62bf53d84207a0f1379ebac76bfd16a90f312777e9fd891fcf9e0	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-25 07:29:29.075+00	\N	true	\N
\\x8eaffc5221b39e7f4b67028fb416f2dd515b5796b04eb840c53e5e7b22577c8c	01a211d3-03cd-767a-b804-e910738990dc	2026-11-25 07:29:32.03+00	2026-11-25 07:29:32.026+00	true	\N
\\x9535ebd4e48f048f8541f75be285223cade3874b69d63cabfb103860b38beece	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:37.099+00	2026-11-25 07:29:37.095+00	true	\N
\\x9e8e9008172dabb378994ac0a1a4c3bd4e1575c36e815ee5ea8ba19623a24404	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-11-25 07:29:36.106+00	2026-11-25 07:29:36.103+00	true	\N
\\xc3ed47db28dd9b182f7d09f9d875cafeb26594ef56f9e4d7c5dbed5b1fd14da7	01900000-0000-7000-8000-000000000003	2026-11-25 07:29:28.367+00	2026-11-25 07:29:28.366+00	true	\N
\\xe682c4907238fe7e81fcc7f5295acffe7a9f445805065782221b1215fb4f111f	01a2119c-0c98-766f-9f21-005bf89a04be	2026-11-25 07:29:29.277+00	\N	true	\N
\\xe9eb308606be41992e42d1a84941c7fe2e7c499cb3f702672d8c2937c042938f	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:27.514+00	2026-11-25 07:29:27.509+00	true	\N
\.

COPY erased_users ("id", "erased_at") FROM stdin;
01a211d3-0a2c-7508-ad84-501669b33ccc	2026-11-25 07:29:36.123885+00
\.

COPY event_deliveries ("client", "acknowledged", "pulled_at", "nudged", "nudged_at", "first_nudged_at", "attempts", "next_nudge_at", "failed_at", "failure", "succeeded_at") FROM stdin;
crm_app	0	2026-11-25 07:29:36.894216+00	18	2026-11-25 07:29:36.847767+00	2026-11-25 07:29:36.847767+00	1	\N	\N	\N	2026-11-25 07:29:36.888698+00
marketplace	0	\N	1	2026-11-25 07:29:28.578068+00	2026-11-25 07:29:28.578068+00	1	\N	\N	\N	2026-11-25 07:29:28.873656+00
\.

COPY event_sequences ("client", "latest") FROM stdin;
crm_app	18
marketplace	1
\.

COPY events ("id", "client", "seq", "type", "user_id", "contract_id", "occurred_at", "numbered_at", "body", "made_in") FROM stdin;
1	marketplace	1	profile.updated	01900000-0000-7000-8000-000000000001	\N	2026-11-25 07:29:27.528416+00	2026-11-25 07:29:28.467956+00	{"name": "Maya Merchant", "role": "user", "email": "merchant@example.test", "verified_at": "2026-11-25T07:29:27.297+00:00", "capabilities": ["manage_storefront", "sell_products", "sell_services"], "profile_updated_at": "2026-11-25T07:29:27.377+00:00"}	761
10	crm_app	9	erased	\N	\N	2026-11-25 07:29:33.20073+00	2026-11-25 07:29:33.53575+00	\N	872
11	crm_app	10	contract.updated	01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef5-7584-94ae-d9de98f71e0e	2026-11-25 07:29:33.948838+00	2026-11-25 07:29:34.634412+00	{"plan": "starter", "status": "trialing", "signup_id": "trial", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	893
12	crm_app	11	contract.updated	01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	2026-11-25 07:29:33.966006+00	2026-11-25 07:29:34.634412+00	{"plan": "pro", "status": "active", "signup_id": "paid", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	894
13	crm_app	12	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f15-71a3-8b0b-b6c1933907db	2026-11-25 07:29:33.975123+00	2026-11-25 07:29:34.634412+00	{"plan": "pro", "status": "active", "signup_id": "again", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "JPY", "price_interval": "year", "price_unit_amount": 900}	895
14	crm_app	13	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f27-70db-b14e-74d22ce2bc7c	2026-11-25 07:29:33.993116+00	2026-11-25 07:29:34.634412+00	{"plan": "starter", "status": "trialing", "signup_id": "ends", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	896
15	crm_app	14	erased	\N	\N	2026-11-25 07:29:34.011854+00	2026-11-25 07:29:34.634412+00	\N	897
16	crm_app	15	contract.updated	01900000-0000-7000-8000-000000000003	01a2119c-1f27-70db-b14e-74d22ce2bc7c	2026-11-25 07:29:35.752311+00	2026-11-25 07:29:36.66398+00	{"plan": "starter", "status": "canceled", "signup_id": "ends", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": "2026-12-09T07:29:33.929+00:00", "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	916
17	crm_app	16	contract.updated	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1f39-7760-8480-6eae1715bda8	2026-11-25 07:29:36.136863+00	2026-11-25 07:29:36.66398+00	{"plan": "pro", "status": "canceled", "signup_id": "left", "occurred_at": "2026-11-25T07:28:33.929+00:00", "trial_ends_at": null, "price_currency": "EUR", "price_interval": "month", "price_unit_amount": 2900}	919
18	crm_app	17	session.ended	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	2026-11-25 07:29:36.162699+00	2026-11-25 07:29:36.66398+00	{"sid": "rb6KnOfsQTlnBKgYs3Wd8w"}	919
19	crm_app	18	user.deleted	01a211d3-0a2c-7508-ad84-501669b33ccc	\N	2026-11-25 07:29:36.16311+00	2026-11-25 07:29:36.66398+00	\N	919
2	crm_app	1	profile.updated	01900000-0000-7000-8000-000000000001	\N	2026-11-25 07:29:27.539111+00	2026-11-25 07:29:28.427487+00	{"name": "Maya Merchant", "role": "user", "email": "merchant@example.test", "verified_at": "2026-11-25T07:29:27.297+00:00", "capabilities": ["manage_storefront", "sell_products", "sell_services"], "profile_updated_at": "2026-11-25T07:29:27.377+00:00"}	762
20	crm_app	\N	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-25 07:29:36.925982+00	\N	{"name": "Casey Last", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:36.923+00:00"}	946
21	marketplace	\N	session.ended	01900000-0000-7000-8000-000000000001	\N	2026-11-25 07:29:37.13113+00	\N	{"sid": "aCsqBFL69yUi7HaTz6wkaQ"}	952
3	crm_app	2	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-25 07:29:28.372825+00	2026-11-25 07:29:28.427487+00	{"name": "Casey Customer", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:27.383+00:00"}	768
4	crm_app	3	profile.updated	01900000-0000-7000-8000-000000000003	\N	2026-11-25 07:29:28.383885+00	2026-11-25 07:29:28.427487+00	{"name": "Casey \\"Tab\\\\\\" Customer é", "role": "user", "email": "customer@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:28.383+00:00"}	769
5	crm_app	4	profile.updated	01a2119c-0b96-7188-9066-757d91b49bd4	\N	2026-11-25 07:29:29.100223+00	2026-11-25 07:29:29.477042+00	{"name": "Sharon Shop", "role": "user", "email": "shop-1@example.test", "verified_at": "2026-11-25T07:29:28.982+00:00", "capabilities": ["manage_storefront", "sell_products"], "profile_updated_at": "2026-11-25T07:29:28.988+00:00"}	811
6	crm_app	5	profile.updated	01a2119c-0b96-7188-9066-757d91b49bd4	\N	2026-11-25 07:29:29.168198+00	2026-11-25 07:29:29.477042+00	{"name": "Sharon Newer", "role": "user", "email": "shop-1@example.test", "verified_at": "2026-11-25T07:29:28.982+00:00", "capabilities": ["manage_storefront", "sell_products"], "profile_updated_at": "2026-11-25T07:29:29.165+00:00"}	812
7	crm_app	6	profile.updated	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-25 07:29:29.287336+00	2026-11-25 07:29:29.477042+00	{"name": "Simon Shop", "role": "user", "email": "shop-2@example.test", "verified_at": null, "capabilities": [], "profile_updated_at": "2026-11-25T07:29:29.241+00:00"}	816
8	crm_app	7	session.ended	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-25 07:29:31.007231+00	2026-11-25 07:29:31.492291+00	{"sid": "aeOs6QbOqr-S8Reo_aEJbg"}	825
9	crm_app	8	user.suspended	01a2119c-0c98-766f-9f21-005bf89a04be	\N	2026-11-25 07:29:31.013981+00	2026-11-25 07:29:31.492291+00	\N	825
\.

COPY external_links ("provider", "external_id", "user_id", "applied_profile_updated_at", "created_at", "sleeping_since") FROM stdin;
marketplace	shop-1	01a2119c-0b96-7188-9066-757d91b49bd4	2026-02-01 00:00:00+00	2026-11-25 07:29:28.977907+00	\N
marketplace	shop-2	01a2119c-0c98-766f-9f21-005bf89a04be	2026-01-01 00:00:00+00	2026-11-25 07:29:29.237463+00	\N
\.

COPY invoice_numbers ("only_row", "last_number") FROM stdin;
true	3
\.

COPY invoices ("number", "contract_id", "plan", "period_starts_at", "period_ends_at", "currency", "unit_amount", "status", "issued_at", "due_at", "paid_at", "buyer_name", "buyer_email") FROM stdin;
1	01a2119c-1f0a-71b5-ae50-6bfa93b117ac	pro	2026-11-25 07:28:33.929+00	2026-12-25 07:28:33.929+00	EUR	2900	paid	2026-11-25 07:29:34.03+00	2026-12-09 07:29:34.03+00	2026-11-25 07:29:34.064+00	Account paid	paid@example.test
2	01a2119c-1f15-71a3-8b0b-b6c1933907db	pro	2026-11-25 07:28:33.929+00	2027-11-25 07:28:33.929+00	JPY	900	open	2026-11-25 07:29:34.041+00	2026-12-09 07:29:34.041+00	\N	Casey’s	customer@example.test
3	01a2119c-1f39-7760-8480-6eae1715bda8	pro	2026-11-25 07:28:33.929+00	2026-12-25 07:28:33.929+00	EUR	2900	open	2026-11-25 07:29:34.049+00	2026-12-09 07:29:34.049+00	\N	Lea Leaver	leaver@example.test
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
\.

COPY kysely_migration_lock ("id", "is_locked") FROM stdin;
migration_lock	0
\.

COPY launches ("session_id", "client", "user_id", "sid", "at") FROM stdin;
01a2119c-05d5-73de-9852-5dc6e0febe22	crm_app	01900000-0000-7000-8000-000000000001	YQBQmWgmvhiUxKFh3Fv_2w	2026-11-25 07:29:27.538294+00
01a2119c-05d5-73de-9852-5dc6e0febe22	marketplace	01900000-0000-7000-8000-000000000001	X2_K-0DfvBj-ouJZ5MXezg	2026-11-25 07:29:27.52439+00
01a2119c-092e-7731-8446-d6861baa36f3	crm_app	01900000-0000-7000-8000-000000000003	sG1aSYdh896vrtIUD63Vrw	2026-11-25 07:29:28.3721+00
01a2119c-0bf2-73a4-a844-2e45b396735c	crm_app	01a2119c-0b96-7188-9066-757d91b49bd4	9Sn3PPqSjcntnNdJPS8mTw	2026-11-25 07:29:29.097333+00
01a2119c-0cba-7166-b2c7-1f41581ae328	crm_app	01a2119c-0c98-766f-9f21-005bf89a04be	aeOs6QbOqr-S8Reo_aEJbg	2026-11-25 07:29:29.28654+00
01a2119c-2b48-768e-9bc5-66424d25c70b	marketplace	01900000-0000-7000-8000-000000000001	aCsqBFL69yUi7HaTz6wkaQ	2026-11-25 07:29:37.110506+00
\.

COPY mail_tokens ("token_hash", "purpose", "user_id", "email", "expires_at", "name") FROM stdin;
\\x44c4d0ba3252dc1782597ea51abf7428366126ee268c0b99378238abfb4e9ad8	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	2026-11-25 08:29:32.486+00	\N
\\x47a3c46a98d82c16eb354f84e490185ea6ecfe359a1105736b9829a65bb7be07	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	2026-11-25 08:29:36.751+00	\N
\\x61cb03f4662143ecfbc470294b798c6bdbf61137133a84bfea5afb11ecb889fe	sign_up	\N	not-yet@example.test	2026-11-25 08:29:34.585+00	Not Yet
\\x96d66bb738688a7c1a9b89a8fc58b4de2b10a26a60213cd1fc74d6fa3cc3a9f8	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	2026-11-25 08:29:36.506+00	\N
\\x97c3628581c53575b6a095c2d107e9605d3ba30a98da3e145adac842a000e939	set_password	01a2119c-1ef4-77b6-bb56-b92516f7644e	trial@example.test	2026-12-02 07:29:34.589+00	\N
\\x9876c695aa54e4e98ad43c933f80407aefaa8a5d70e0ac53bfefb68a0d2303d4	undo_email_change	01a211d3-03cd-767a-b804-e910738990dc	cora@example.test	2026-12-02 07:29:32.374+00	\N
\.

COPY mails ("id", "kind", "user_id", "recipient", "details", "created_at", "attempts", "next_attempt_at", "last_error", "sent_at", "given_up_at", "kept_subject", "kept_text", "kept_html") FROM stdin;
01a2119c-091b-76cc-b075-33e3b59d890f	passkey_added	01900000-0000-7000-8000-000000000001	merchant@example.test	{"at": "2026-11-25T07:29:28.347Z", "device": "Unknown browser"}	2026-11-25 07:29:28.347+00	1	2026-11-25 07:31:28.39+00	\N	2026-11-25 07:29:28.398+00	\N	A passkey has been added to your account	Hello,\n\nA passkey has been added to your account. Whoever has it can log in without your password. A new password does not remove it: you do that under Security, Passkeys.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A passkey has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A passkey has been added to your account</h1>\n<p style="margin:0 0 16px">A passkey has been added to your account. Whoever has it can log in without your password. A new password does not remove it: you do that under Security, Passkeys.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-09aa-7068-b726-9cb68dab40d2	authenticator_added	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.490Z", "device": "Unknown browser"}	2026-11-25 07:29:28.49+00	1	2026-11-25 07:31:29.41+00	\N	2026-11-25 07:29:29.415+00	\N	An authenticator app has been added to your account	Hello,\n\nFrom now on, a code from an authenticator app is needed to log in to your account with the password. All other browsers have been logged out.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>An authenticator app has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">An authenticator app has been added to your account</h1>\n<p style="margin:0 0 16px">From now on, a code from an authenticator app is needed to log in to your account with the password. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-09d0-7056-b8aa-219242abfe7e	recovery_code_used	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.528Z", "device": "Unknown browser"}	2026-11-25 07:29:28.528+00	1	2026-11-25 07:31:29.41+00	\N	2026-11-25 07:29:29.415+00	\N	A recovery code was used to log in	Hello,\n\nSomebody has logged in to your account with your password and a recovery code. That code does not work again.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A recovery code was used to log in</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A recovery code was used to log in</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account with your password and a recovery code. That code does not work again.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-09d2-712b-8083-2828f1e64580	new_browser	01900000-0000-7000-8000-000000000004	manager@example.test	{"at": "2026-11-25T07:29:28.530Z", "device": "Unknown browser"}	2026-11-25 07:29:28.53+00	1	2026-11-25 07:31:29.41+00	\N	2026-11-25 07:29:29.415+00	\N	New login to your account	Hello,\n\nSomebody has logged in to your account from a browser that you have not used before.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>New login to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">New login to your account</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account from a browser that you have not used before.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-0c77-727a-a2bd-f46166fae3d7	new_browser	01a2119c-0b96-7188-9066-757d91b49bd4	shop-1@example.test	{"at": "2026-11-25T07:29:29.207Z", "device": "Unknown browser"}	2026-11-25 07:29:29.207+00	1	2026-11-25 07:31:29.41+00	\N	2026-11-25 07:29:29.415+00	\N	New login to your account	Hello,\n\nSomebody has logged in to your account from a browser that you have not used before.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>New login to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">New login to your account</h1>\n<p style="margin:0 0 16px">Somebody has logged in to your account from a browser that you have not used before.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-14b7-7437-8260-3dac23add3d8	sign_up	\N	cora@example.test	{}	2026-11-25 07:29:31.319+00	1	2026-11-25 07:31:31.466+00	\N	2026-11-25 07:29:31.472+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=yiDwl4_JB1ntXHZ1aw2ebPYE05RSOG0kfQV89WpeOSw</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1797-7358-8b7e-964aa59db750	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-new@example.test	{}	2026-11-25 07:29:32.055+00	1	2026-11-25 07:31:32.349+00	\N	2026-11-25 07:29:32.356+00	\N	Confirm your new email address	Hello,\n\nSomebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.\n\nConfirm the new address:\nhttp://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw\n\nThe link works once and expires after 1 hour. Your email address stays as it is until then.\n\nIf it was not you, you can ignore this email.\n\nYou received this email because somebody asked to use this email address for their account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Confirm your new email address</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Confirm your new email address</h1>\n<p style="margin:0 0 16px">Somebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Confirm the new address</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw" style="color:#0e6b56">http://localhost:3000/profile/email/confirm?token=__wP71cfZsCtRGFrhg8FUcMjBEiYbEiSEr_sjscvMRw</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. Your email address stays as it is until then.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody asked to use this email address for their account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-18e9-7414-b805-a9881cc69081	email_changed	01a211d3-03cd-767a-b804-e910738990dc	cora@example.test	{"at": "2026-11-25T07:29:32.393Z", "until": "2026-12-02T07:29:32.374Z", "device": "Unknown browser"}	2026-11-25 07:29:32.393+00	1	2026-11-25 07:31:32.429+00	\N	2026-11-25 07:29:32.437+00	\N	Your email address has changed	Hello,\n\nYour account now has another email address. You cannot log in with this one any more.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, bring this address back here: that logs everyone out, asks you for a new password, and removes passkeys, authenticator apps and recovery codes added since the day before the change.\n\nUndo the change:\nhttp://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA\n\nThe link works once, until 2 December 2026 at 07:29 UTC.\n\nYou received this email because this was the email address of your account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address has changed</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address has changed</h1>\n<p style="margin:0 0 16px">Your account now has another email address. You cannot log in with this one any more.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, bring this address back here: that logs everyone out, asks you for a new password, and removes passkeys, authenticator apps and recovery codes added since the day before the change.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Undo the change</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA" style="color:#0e6b56">http://localhost:3000/undo-email-change?token=MvyvvMCDTqX-HN6uRPXkd4e314tRXYJuhZD9KWqsdCA</a></p>\n<p style="margin:0 0 16px">The link works once, until 2 December 2026 at 07:29 UTC.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because this was the email address of your account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1939-77eb-a08a-81e503f21ff0	change_email	01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	{}	2026-11-25 07:29:32.473+00	1	2026-11-25 07:31:32.481+00	\N	2026-11-25 07:29:32.49+00	\N	Confirm your new email address	Hello,\n\nSomebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.\n\nConfirm the new address:\nhttp://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY\n\nThe link works once and expires after 1 hour. Your email address stays as it is until then.\n\nIf it was not you, you can ignore this email.\n\nYou received this email because somebody asked to use this email address for their account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Confirm your new email address</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Confirm your new email address</h1>\n<p style="margin:0 0 16px">Somebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Confirm the new address</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY" style="color:#0e6b56">http://localhost:3000/profile/email/confirm?token=fcMeMdK98x8M0EIu_VZIQ_jTjgUf94EuAJpAmbnUzXY</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. Your email address stays as it is until then.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody asked to use this email address for their account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1c17-77fb-8d44-3ddc3cc2bf85	sign_up	\N	going@example.test	{}	2026-11-25 07:29:33.207+00	1	2026-11-25 07:31:33.494+00	\N	2026-11-25 07:29:33.517+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=U8FP6g-nizhNOim1Tctyi-SW7e5srXyv6ij4XZBLNhY</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1db2-770d-b2f2-5d5c5be93c69	deletion_requested	01a211d3-0bbd-72cf-a3b8-856a14fff73a	going@example.test	{"at": "2026-11-25T07:29:33.618Z", "device": "Unknown browser"}	2026-11-25 07:29:33.618+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.59+00	\N	Your account will be deleted in 14 days	Hello,\n\nWe have been asked to delete your account, and will do so on 9 December 2026 at 07:29 UTC. Until then you cannot open our products.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nTo keep your account, log in and say so. If you did not ask for this, also set a new password, which logs out everyone else.\n\nKeep your account:\nhttp://localhost:3000/profile/delete\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account will be deleted in 14 days</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account will be deleted in 14 days</h1>\n<p style="margin:0 0 16px">We have been asked to delete your account, and will do so on 9 December 2026 at 07:29 UTC. Until then you cannot open our products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">To keep your account, log in and say so. If you did not ask for this, also set a new password, which logs out everyone else.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/delete" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Keep your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/delete" style="color:#0e6b56">http://localhost:3000/profile/delete</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1dbb-76af-8bbb-a872654cfa5e	sign_up	\N	not-yet@example.test	{}	2026-11-25 07:29:33.627+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.621+00	\N	Create your account	Hello,\n\nSomebody asked to create an account with this email address. If that was you, use the link to finish.\n\nCreate your account:\nhttp://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik\n\nThe link works once and expires after 1 hour.\n\nIf it was not you, you can ignore this email. No account exists unless you use the link.\n\nYou received this email because somebody typed this email address on our sign-up page.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Create your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Create your account</h1>\n<p style="margin:0 0 16px">Somebody asked to create an account with this email address. If that was you, use the link to finish.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Create your account</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik" style="color:#0e6b56">http://localhost:3000/signup/confirm?token=Pdwurn5nbXWokhwojwBJbo8FU9aiWhEZIIHUWNuy-ik</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour.</p>\n<p style="margin:0 0 16px">If it was not you, you can ignore this email. No account exists unless you use the link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because somebody typed this email address on our sign-up page.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1ef5-7584-94ae-d7d03bfcae0c	welcome	01a2119c-1ef4-77b6-bb56-b92516f7644e	trial@example.test	{}	2026-11-25 07:29:33.939+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.646+00	\N	Your account is ready: set a password	Hello,\n\nWe have created an account for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI\n\nThe link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is ready: set a password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is ready: set a password</h1>\n<p style="margin:0 0 16px">We have created an account for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI" style="color:#0e6b56">http://localhost:3000/set-password?token=FUXAQf6zhULLdD9kk3PsLe8ONTjP8lEGAI6g3X6B5XI</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1f0a-71b5-ae50-67fdc098f91c	welcome	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{}	2026-11-25 07:29:33.961+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.65+00	\N	Your account is ready: set a password	Hello,\n\nWe have created an account for you. Set a password to start using it.\n\nSet a password:\nhttp://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE\n\nThe link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.\n\nIf you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is ready: set a password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is ready: set a password</h1>\n<p style="margin:0 0 16px">We have created an account for you. Set a password to start using it.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE" style="color:#0e6b56">http://localhost:3000/set-password?token=jTb0rMifPHuIcqGB3KzFVO7xsod95ILVOGmlVh6j7VE</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 7 days. If it has expired, open it all the same: you can ask for a new one there. Using it also verifies your email address.</p>\n<p style="margin:0 0 16px">If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1f16-75eb-b687-8b6245a98467	contract_added	01900000-0000-7000-8000-000000000003	customer@example.test	{"at": "2026-11-25T07:29:33.972Z"}	2026-11-25 07:29:33.972+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.59+00	\N	A contract has been added to your account	Hello,\n\nA service contract has been added to your account.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can see it under Billing.\n\nSee the contract:\nhttp://localhost:3000/profile/billing\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A contract has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A contract has been added to your account</h1>\n<p style="margin:0 0 16px">A service contract has been added to your account.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can see it under Billing.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/billing" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">See the contract</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/billing" style="color:#0e6b56">http://localhost:3000/profile/billing</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-1f27-70db-b14e-7b18cecc358a	contract_added	01900000-0000-7000-8000-000000000003	customer@example.test	{"at": "2026-11-25T07:29:33.989Z"}	2026-11-25 07:29:33.989+00	1	2026-11-25 07:31:34.552+00	\N	2026-11-25 07:29:34.59+00	\N	A contract has been added to your account	Hello,\n\nA service contract has been added to your account.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can see it under Billing.\n\nSee the contract:\nhttp://localhost:3000/profile/billing\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>A contract has been added to your account</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">A contract has been added to your account</h1>\n<p style="margin:0 0 16px">A service contract has been added to your account.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can see it under Billing.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/profile/billing" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">See the contract</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/profile/billing" style="color:#0e6b56">http://localhost:3000/profile/billing</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-2767-74df-93bb-ed6edb96e65e	password_set	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{"at": "2026-11-25T07:29:36.103Z", "device": "Unknown browser"}	2026-11-25 07:29:36.103+00	1	2026-11-25 07:31:36.497+00	\N	2026-11-25 07:29:36.506+00	\N	Your password has been set	Hello,\n\nA password for your account has been set through a link that we emailed to you. All other browsers have been logged out.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your password has been set</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your password has been set</h1>\n<p style="margin:0 0 16px">A password for your account has been set through a link that we emailed to you. All other browsers have been logged out.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-276a-7394-9a0d-2f75793ef738	email_proved	01a2119c-1f0a-71b5-ae50-5f005f4623f4	paid@example.test	{"at": "2026-11-25T07:29:36.106Z", "device": "Unknown browser"}	2026-11-25 07:29:36.106+00	1	2026-11-25 07:31:36.497+00	\N	2026-11-25 07:29:36.506+00	\N	Your email address is verified	Hello,\n\nYour email address has been verified. You can now open our other products.\n\nWhen: 25 November 2026 at 07:29 UTC\nBrowser: Unknown browser\n\nIf this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.\n\nSet a new password:\nhttp://localhost:3000/forgot-password\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your email address is verified</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your email address is verified</h1>\n<p style="margin:0 0 16px">Your email address has been verified. You can now open our other products.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">Browser</td><td style="padding:2px 0">Unknown browser</td></tr></table>\n<p style="margin:0 0 16px">If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else. Then check Security in your account.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/forgot-password" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/forgot-password" style="color:#0e6b56">http://localhost:3000/forgot-password</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-27be-7623-9b4c-333235274c1e	account_deleted	\N	leaver@example.test	{"at": "2026-11-25T07:29:36.124Z"}	2026-11-25 07:29:36.124+00	1	2026-11-25 07:31:36.497+00	\N	2026-11-25 07:29:36.506+00	\N	Your account is deleted	Hello,\n\nYour account has been deleted. Contracts that were still running have been cancelled. We keep invoices, because the law requires it.\n\nWhen: 25 November 2026 at 07:29 UTC\n\nYou can use this email address for a new account at any time.\n\nGo to the login page:\nhttp://localhost:3000/login\n\nYou received this email because this was the email address of your account.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Your account is deleted</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Your account is deleted</h1>\n<p style="margin:0 0 16px">Your account has been deleted. Contracts that were still running have been cancelled. We keep invoices, because the law requires it.</p>\n<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td class="soft" style="padding:2px 16px 2px 0;color:#566069;font-size:14px;vertical-align:top">When</td><td style="padding:2px 0">25 November 2026 at 07:29 UTC</td></tr></table>\n<p style="margin:0 0 16px">You can use this email address for a new account at any time.</p>\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/login" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Go to the login page</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/login" style="color:#0e6b56">http://localhost:3000/login</a></p>\n\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because this was the email address of your account.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-27c7-7513-85b1-6dc32c399f11	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	{}	2026-11-25 07:29:36.199+00	1	2026-11-25 07:31:36.497+00	\N	2026-11-25 07:29:36.518+00	\N	Set a new password	Hello,\n\nWe received a request to set a new password for your account.\n\nSet a new password:\nhttp://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8\n\nThe link works once and expires after 1 hour. If it has expired, open it all the same: you can ask for a new one there.\n\nIf you did not ask for this, you can ignore this email. Your password will stay the same.\n\nYou received this email because you have an account at Identity.\n\nIdentity\n	<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n<title>Set a new password</title>\n<style>\n:root { color-scheme: light dark; }\n@media (prefers-color-scheme: dark) {\n  .ground { background: #14171a !important; }\n  .card { background: #1c2024 !important; border-color: #343a40 !important; }\n  .ink { color: #e6e9eb !important; }\n  .soft { color: #a4adb5 !important; }\n  .button { background: #217764 !important; }\n  .link { color: #84b4a9 !important; }\n}\n</style>\n</head>\n<body class="ground" style="margin:0;padding:0;background:#f6f7f6">\n<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">\n<tr><td align="center" style="padding:24px 12px">\n<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5">\n<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">Identity</td></tr>\n<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429">\n<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">Set a new password</h1>\n<p style="margin:0 0 16px">We received a request to set a new password for your account.</p>\n\n\n<p style="margin:24px 0"><a class="button" href="http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#0e6b56;color:#ffffff;font-weight:600;text-decoration:none">Set a new password</a></p>\n<p class="soft" style="margin:0 0 16px;color:#566069;font-size:14px;word-break:break-all">Or open this link: <a class="link" href="http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8" style="color:#0e6b56">http://localhost:3000/set-password?token=8GqNa8NXA57Wn-eL_XJbEZ0AIFLJ_3-ATKtZwc289R8</a></p>\n<p style="margin:0 0 16px">The link works once and expires after 1 hour. If it has expired, open it all the same: you can ask for a new one there.</p>\n<p style="margin:0 0 16px">If you did not ask for this, you can ignore this email. Your password will stay the same.</p>\n</td></tr>\n<tr><td class="soft" style="padding:16px 4px 0;color:#566069;font-size:14px;overflow-wrap:anywhere">You received this email because you have an account at Identity.</td></tr>\n</table>\n</td></tr>\n</table>\n</body>\n</html>\n
01a2119c-2935-7776-b007-25baaebe8f1e	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	{}	2026-11-25 07:29:36.565+00	2	2026-11-25 08:29:36.873978+00	421 later	\N	\N	\N	\N	\N
01a2119c-2b4b-7704-a0d0-f45946edf7fe	new_browser	01900000-0000-7000-8000-000000000001	merchant@example.test	{"at": "2026-11-25T07:29:37.099Z", "device": "Unknown browser"}	2026-11-25 07:29:37.099+00	0	2026-11-25 07:29:37.099+00	\N	\N	\N	\N	\N	\N
\.

COPY nonces ("audience", "nonce", "expires_at") FROM stdin;
inbound:marketplace	51Yzsy_0mXLKWK_MbO-Sjw	2026-11-25 07:35:29+00
inbound:marketplace	6Cp8T5MrYfR0D_fCj9c8oA	2026-11-25 07:35:29+00
inbound:marketplace	cuhs1ycmULEQNJj8vCMf8A	2026-11-25 07:35:28+00
inbound:marketplace	itd-2ZU7riGGoH0UwEr2qw	2026-11-25 07:35:31+00
\.

COPY passkey_challenge_keys ("only_row", "key") FROM stdin;
true	\\x81f07bbcc889efcf279c739dd3b6a53a63350afe7563b7c318d5a3f55caca75c
\.

COPY passkeys ("id", "user_id", "credential_id", "public_key", "counter", "transports", "backed_up", "name", "created_at", "last_used_at") FROM stdin;
01a2119c-0913-7624-a1bb-172236d3419c	01900000-0000-7000-8000-000000000001	icJI88uYNln-OIc4n_NZxcHzZCxf9-yxjPofY2F8hhc	\\xa501020326200121582048df38d57f13a2989e2abb958fb33ae45b5474b94857ad373652fc6c6f926b1f22582097def43d70e190f2645468c3ce8808f159f2e91986b6d5ca8fbe2e327d7cac5b	1	{internal}	false	My phone	2026-11-25 07:29:28.339+00	\N
\.

COPY pending_email_changes ("user_id", "email", "requested_at", "expires_at") FROM stdin;
01a211d3-03cd-767a-b804-e910738990dc	cora-newest@example.test	2026-11-25 07:29:32.473+00	2026-11-25 08:29:32.473+00
\.

COPY pending_hand_offs ("id", "token_hash", "kind", "provider", "external_id", "user_id", "nonce", "profile", "return_to", "expires_at") FROM stdin;
01a2119c-1498-7430-a0ab-d287d8c9ce5e	\\x6d144089cf5ee3db096cb9cd47a2bc7ecc864f2abb68b15b7facf2b5d06d2276	connect	marketplace	shop-wait	01900000-0000-7000-8000-000000000003	itd-2ZU7riGGoH0UwEr2qw	{"id": "shop-wait", "name": "User shop-wait", "role": "customer", "email": "customer@example.test", "account": {"capabilities": []}, "email_verified": true, "profile_updated_at": "2026-01-01T00:00:00.000Z"}	/profile	2026-11-25 07:39:31.288+00
\.

COPY pending_logins ("token_hash", "user_id", "expires_at") FROM stdin;
\\x98052f03e92ab725aad0e640802d00a46616c81146fc832bc5f7d94f776be40a	01900000-0000-7000-8000-000000000004	2026-11-25 07:39:28.546+00
\.

COPY rate_limits ("key", "points", "expire") FROM stdin;
code-account-day:7RkIoiZkPfiGC7lKZUt1Lbq5kLLjjNVdRb07kGofJdQ	0	1795678168525
code-account:7RkIoiZkPfiGC7lKZUt1Lbq5kLLjjNVdRb07kGofJdQ	0	1795595368524
guess-account:TiqHYjhTvKjTZVibStGv-xKJLqXi_UHHaVn4EAWaywE	0	1795595368387
guess-account:bmTpXrztQToiIY8IJeuvxDELv-0ym4cEiRE-lxEe-RE	0	1795595368353
guess-account:eO9HnYnEHTJEIvs3b_VMq-pHGtAMK5_K2nr_5zSVFfM	0	1795595368914
guess-account:iApg0GGqaG47tBhh7chmpn5IXG4HIiOw5a2fhW66rbM	3	1795595368550
guess-account:p2kvutBvRrX92YVe9hX_oRUWfgHVKxad3IvPzpMeNHU	0	1795595367418
guess-address:xY5-hWPbCLKgljZPrr6xKwlvfaoLQqhVfui5JMPfwXE	3	1795592667415
guess-network:WFQXfvtObF7_kWe_N0G_L9eFWQOGK8E2Q2Ngma9e6sA	0	1795592667418
guess-network:fSvLrJNq3so0PPFuHRY9XeFB2VksksOtBS-S3Azp6s4	0	1795592668914
guess-network:fisd2dUQnfQOkIzXHqWCGlqgdmMAEml_GYWoGdBvEsM	0	1795592668353
guess-network:oGljtEc8O4ASmuVR4-P3KjkpaxCB3wNBplBFqIjeCkw	0	1795592668387
guess-network:z4--tyTudtEwXTQIgjv0L5B1sulk3C6ozO_57waZe-M	3	1795592668549
mail-account-day:4XERnp9kHDihTEvDwHlk7z0fA-C9CEwKXjSmuwfZdJE	1	1795678172048
mail-account-day:BqHDJhIdvqwm-vTPrgb7XBUcPRBhILuC6lxDFSLjhC0	1	1795678173206
mail-account-day:BsNkW6rX0v1mYeTc5DaS6LD8eRM_vRWCutkjXn6maNo	1	1795678176196
mail-account-day:QY5E47RwT3P1hNPJ08KXC4Vz3DHQd5WNuUuoJnh0kFg	1	1795678172784
mail-account-day:cVW9wg0GX-IO46T6v-QSUxe253zmlubkS5AjkMIy6Gw	1	1795678173627
mail-account-day:n1EGPcoN9lHsoEWLqzl6YnvzICttJciL1dllIFxIuG0	1	1795678171303
mail-account-day:qM6dMVC5qlyYwo7FxB7-ghHlM7xDNLp5i-PEXY9gvOc	1	1795678176562
mail-account-day:snrfVJT3n_V1TTJ1S9zNyVa3j4DKR3nMhl6CShb6QZ4	1	1795678172468
mail-account:4XERnp9kHDihTEvDwHlk7z0fA-C9CEwKXjSmuwfZdJE	1	1795595372048
mail-account:BqHDJhIdvqwm-vTPrgb7XBUcPRBhILuC6lxDFSLjhC0	1	1795595373206
mail-account:BsNkW6rX0v1mYeTc5DaS6LD8eRM_vRWCutkjXn6maNo	1	1795595376196
mail-account:QY5E47RwT3P1hNPJ08KXC4Vz3DHQd5WNuUuoJnh0kFg	1	1795595372782
mail-account:cVW9wg0GX-IO46T6v-QSUxe253zmlubkS5AjkMIy6Gw	1	1795595373626
mail-account:n1EGPcoN9lHsoEWLqzl6YnvzICttJciL1dllIFxIuG0	1	1795595371301
mail-account:qM6dMVC5qlyYwo7FxB7-ghHlM7xDNLp5i-PEXY9gvOc	1	1795595376561
mail-account:snrfVJT3n_V1TTJ1S9zNyVa3j4DKR3nMhl6CShb6QZ4	1	1795595372467
mail-address:YLISzT3HDA3IieAtR-URnGdH5tZfJHkWhkiW0qTWpRw	3	1795595371299
mail-address:xY5-hWPbCLKgljZPrr6xKwlvfaoLQqhVfui5JMPfwXE	4	1795595372047
mail-address:z9pwZ9uHVYZoaaBrDse_caRRxhkN2xDFuDsWU5E4YYA	1	1795595373625
mail-network-day:3SinNrJg4wZoDuEXm2dQyMW1HOkqIw8P1mHiMV_W7K4	1	1795678172780
mail-network-day:Ni9TzgzJWUarOufTXw70xTLY9yp5RYReqD5TWd06tgc	1	1795678172048
mail-network-day:S-MPy0v5UD6KAEDR9l-LU4lgYTpctP1rKhbsiDrrSI0	1	1795678176195
mail-network-day:TfPzjyIRh5aEiOYEyuWMjPmTD1AHnaKYFJD33tMfsCs	1	1795678176558
mail-network-day:VwJgsaS74WLpZD7rPy2rs7NiZ0EdaSOKVxoqaBhvS6g	1	1795678171301
mail-network-day:aD7dVCkoV4xXDZt9n9d8SaIhHO_BjAv5lJvC2ar5GJ0	1	1795678173206
mail-network-day:pGZhg1VCePQGUmhgnqcyh2ro_-JRY4jM5GU2gLO-ark	1	1795678173626
mail-network-day:xOC5jNA8ouf5FbviLMiv2Thn2KmVRE4CEBiwJ2lM3vc	1	1795678172466
mail-network:3SinNrJg4wZoDuEXm2dQyMW1HOkqIw8P1mHiMV_W7K4	1	1795595372777
mail-network:Ni9TzgzJWUarOufTXw70xTLY9yp5RYReqD5TWd06tgc	1	1795595372047
mail-network:S-MPy0v5UD6KAEDR9l-LU4lgYTpctP1rKhbsiDrrSI0	1	1795595376195
mail-network:TfPzjyIRh5aEiOYEyuWMjPmTD1AHnaKYFJD33tMfsCs	1	1795595376556
mail-network:VwJgsaS74WLpZD7rPy2rs7NiZ0EdaSOKVxoqaBhvS6g	1	1795595371300
mail-network:aD7dVCkoV4xXDZt9n9d8SaIhHO_BjAv5lJvC2ar5GJ0	1	1795595373205
mail-network:pGZhg1VCePQGUmhgnqcyh2ro_-JRY4jM5GU2gLO-ark	1	1795595373626
mail-network:xOC5jNA8ouf5FbviLMiv2Thn2KmVRE4CEBiwJ2lM3vc	1	1795595372466
\.

COPY recovery_codes ("user_id", "code_hash") FROM stdin;
01900000-0000-7000-8000-000000000004	\\x55cea64e47a39bb28e1bf2e36b8c858dba7070d7a36049afed3bc2b67b05ea1c
01900000-0000-7000-8000-000000000004	\\x59ce29021b583381b9e36b74d820dd7f1177166c7d9fed55a6a91bfa9d4b9138
01900000-0000-7000-8000-000000000004	\\x6cab9c3e6a8922e9bf5075445d2c281b8b9f6832266a1696c6fc013308ff5f31
01900000-0000-7000-8000-000000000004	\\x9bb23f0d781213c2a04f92fff67df94b0405cad6eb3c9af711fc48f38c16deff
01900000-0000-7000-8000-000000000004	\\xb2609f60ebbd6555e76e96edf2da8a13a131f64602fd2bfcf4572ac06a5a8184
01900000-0000-7000-8000-000000000004	\\xc65af2b64c63b236c6f4738abf0748aa23780fd3b317ba16e6eda7c22552359a
01900000-0000-7000-8000-000000000004	\\xcc42b2c7d656c80781b80d3b1ce97ad2bd04d51451a4a32759a4385203f4828f
01900000-0000-7000-8000-000000000004	\\xd6422c1e91e49e4d637905097d54346d25148c473539f507ed555dba71233e63
01900000-0000-7000-8000-000000000004	\\xea94187f15537678b958b5530fb9bc57bdf403e55f1d827fc5851f78f001812e
\.

COPY reserved_addresses ("number", "email", "user_id", "expires_at") FROM stdin;
1	cora@example.test	01a211d3-03cd-767a-b804-e910738990dc	2026-12-02 07:29:32.374+00
\.

COPY service_contracts ("id", "account_id", "signup_id", "plan", "status", "trial_ends_at", "price_currency", "price_unit_amount", "price_interval", "occurred_at", "created_at", "user_id", "next_period_starts_at", "billing_anchor_day", "arrival_number", "erased_user_id", "erased_account_id") FROM stdin;
01a2119c-1ef5-7584-94ae-d9de98f71e0e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	trial	starter	trialing	2026-12-09 07:29:33.929+00	EUR	2900	month	2026-11-25 07:28:33.929+00	2026-11-25 07:29:33.936039+00	01a2119c-1ef4-77b6-bb56-b92516f7644e	\N	\N	\N	\N	\N
01a2119c-1f0a-71b5-ae50-6bfa93b117ac	01a2119c-1f0a-71b5-ae50-63d52a17477b	paid	pro	active	\N	EUR	2900	month	2026-11-25 07:28:33.929+00	2026-11-25 07:29:33.960981+00	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-12-25 07:28:33.929+00	25	\N	\N	\N
01a2119c-1f15-71a3-8b0b-b6c1933907db	01900000-0000-7000-8001-000000000003	again	pro	active	\N	JPY	900	year	2026-11-25 07:28:33.929+00	2026-11-25 07:29:33.9726+00	01900000-0000-7000-8000-000000000003	2027-11-25 07:28:33.929+00	25	\N	\N	\N
01a2119c-1f27-70db-b14e-74d22ce2bc7c	01900000-0000-7000-8001-000000000003	ends	starter	canceled	2026-12-09 07:29:33.929+00	EUR	2900	month	2026-11-25 07:28:33.929+00	2026-11-25 07:29:33.983176+00	01900000-0000-7000-8000-000000000003	\N	\N	\N	\N	\N
01a2119c-1f39-7760-8480-6eae1715bda8	\N	left	pro	canceled	\N	EUR	2900	month	2026-11-25 07:28:33.929+00	2026-11-25 07:29:34.006903+00	\N	2026-12-25 07:28:33.929+00	25	\N	01a211d3-0a2c-7508-ad84-501669b33ccc	01a2119c-1c08-7097-bc1d-b724fd4fa4bb
\.

COPY sessions ("id", "token_hash", "user_id", "created_at", "last_seen_at", "ended_at", "address", "user_agent", "auth_time", "amr", "place") FROM stdin;
01a2119c-05d5-73de-9852-5dc6e0febe22	\\xe76f0af22b20cff7e506ec49ac5538242bdcf80fb55faa04b53033c1e9bc6e60	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:27.509+00	2026-11-25 07:29:27.509+00	\N	192.0.2.1		2026-11-25 07:29:27.509+00	{pwd}	\N
01a2119c-092e-7731-8446-d6861baa36f3	\\x5483124b35c7a17e3f5580e8f84545efd0a40215f9f3cb1cf157938569dd0b5c	01900000-0000-7000-8000-000000000003	2026-11-25 07:29:28.366+00	2026-11-25 07:29:28.366+00	\N	192.0.2.1		2026-11-25 07:29:28.366+00	{pwd}	\N
01a2119c-0962-76c2-882f-e7154984edc4	\\xddfd4397011f79d9b4c4e34e9445e43c4d7e074ede19bffd31f99ac3ae958964	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:28.418+00	2026-11-25 07:29:28.418+00	\N	192.0.2.1		2026-11-25 07:29:28.418+00	{pwd,otp,mfa}	\N
01a2119c-09d0-7056-b8aa-255cb0986533	\\xc892275bee95aed115086324ce2ed2cecd4a40e01bcfb7e8d0f30c34a7db1d0a	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:28.528+00	2026-11-25 07:29:28.528+00	\N	192.0.2.1		2026-11-25 07:29:28.528+00	{pwd,otp,mfa}	\N
01a2119c-0bf2-73a4-a844-2e45b396735c	\\xc5d3d6f1f0b3d54f8e9e34191709a2d07098d0194093d4dfca8e79a460757aa4	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-25 07:29:29.073+00	2026-11-25 07:29:29.073+00	\N	192.0.2.1		\N	{ext}	\N
01a2119c-0c74-725c-9414-45bd2b69defc	\\x96aee1e6ab9c7d6b1aa38c86a631f36457a4187b4fff3e369bb1b22d3cbc7310	01a2119c-0b96-7188-9066-757d91b49bd4	2026-11-25 07:29:29.204+00	2026-11-25 07:29:29.204+00	\N	192.0.2.1		\N	{ext}	\N
01a2119c-0cba-7166-b2c7-1f41581ae328	\\xfa3f7951a4a25a8ff9f65cd27f4fdd4a43a8c6b45f7918b837fa36ee3d8f4288	01a2119c-0c98-766f-9f21-005bf89a04be	2026-11-25 07:29:29.274+00	2026-11-25 07:29:29.274+00	2026-11-25 07:29:30.994444+00	192.0.2.1		\N	{ext}	\N
01a2119c-177e-72ac-9230-a220bc24b37c	\\x5cc727ba0245b7929e43def8cf0e9664135d4bbf1a93d36bbaac621abcbf4b60	01a211d3-03cd-767a-b804-e910738990dc	2026-11-25 07:29:32.026+00	2026-11-25 07:29:32.026+00	\N	192.0.2.1		2026-11-25 07:29:32.026+00	{pwd}	\N
01a2119c-1da1-77fa-8ef9-9808fb182b4a	\\x92b5cf0b2398416432bb1176be1521914f4dc6b3a5c24810c7c74fcd4e768edb	01a211d3-0bbd-72cf-a3b8-856a14fff73a	2026-11-25 07:29:33.598+00	2026-11-25 07:29:33.598+00	\N	192.0.2.1		2026-11-25 07:29:33.598+00	{pwd}	\N
01a2119c-276a-7394-9a0d-2bc545acfc59	\\xef3924b6f3a8d2eb69f01101075fba786906a9237dd5fb38c441b02f8f7c89bd	01a2119c-1f0a-71b5-ae50-5f005f4623f4	2026-11-25 07:29:36.103+00	2026-11-25 07:29:36.103+00	\N	192.0.2.1		2026-11-25 07:29:36.103+00	{pwd}	\N
01a2119c-2b48-768e-9bc5-66424d25c70b	\\x8cd1ae7bef128f5dffbaae5781b7b444bbe70f8414594c321021e7f9cced3ec1	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:37.095+00	2026-11-25 07:29:37.095+00	2026-11-25 07:29:37.129+00	192.0.2.1		2026-11-25 07:29:37.095+00	{pwd}	\N
\.

COPY used_passkey_challenges ("challenge_hash", "expires_at") FROM stdin;
\\xd2c2e3edd5c6c8edbbaeec3fc3724b80dc532314ab37d97d5b1f3f0b69580682	2026-11-25 07:34:27+00
\.

COPY users ("id", "account_id", "email", "name", "role", "password_hash", "email_verified_at", "suspended_at", "profile_updated_at", "created_at", "name_edited_at", "holds_email", "deletion_due_at", "has_passkey", "has_authenticator") FROM stdin;
01900000-0000-7000-8000-000000000001	01900000-0000-7000-8001-000000000001	merchant@example.test	Maya Merchant	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	\N	2026-11-25 07:29:27.377+00	2026-11-25 07:29:27.32462+00	\N	true	\N	true	false
01900000-0000-7000-8000-000000000002	01900000-0000-7000-8001-000000000002	new-merchant@example.test	Noor Newcomer	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	\N	2026-11-25 07:29:27.382+00	2026-11-25 07:29:27.32462+00	\N	true	\N	false	false
01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	customer@example.test	Casey Last	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	\N	2026-11-25 07:29:36.923+00	2026-11-25 07:29:27.32462+00	2026-11-25 07:29:36.920907+00	true	\N	false	false
01900000-0000-7000-8000-000000000004	01900000-0000-7000-8001-000000000004	manager@example.test	Morgan Manager	manager	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	\N	2026-11-25 07:29:27.385+00	2026-11-25 07:29:27.32462+00	\N	true	\N	false	true
01900000-0000-7000-8000-000000000005	01900000-0000-7000-8001-000000000005	admin@example.test	Ada Admin	admin	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	\N	2026-11-25 07:29:27.386+00	2026-11-25 07:29:27.32462+00	\N	true	\N	false	false
01900000-0000-7000-8000-000000000006	01900000-0000-7000-8001-000000000006	suspended@example.test	Sam Suspended	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	2026-11-25 07:29:27.297+00	2026-11-25 07:29:27.297+00	2026-11-25 07:29:27.388+00	2026-11-25 07:29:27.32462+00	\N	true	\N	false	false
01900000-0000-7000-8000-000000000007	01900000-0000-7000-8001-000000000007	unverified@example.test	Uma Unverified	user	$argon2id$v=19$m=19456,t=2,p=1$WWo3w2+WKwbaXds3t4Xu7Q$6wDWupNaiYhN9BwgTAN28isG2gDsslovcObSzO1GdRA	\N	\N	2026-11-25 07:29:27.389+00	2026-11-25 07:29:27.32462+00	\N	true	\N	false	false
01a2119c-0b96-7188-9066-757d91b49bd4	01a2119c-0b96-7188-9066-798a158f8d36	shop-1@example.test	Sharon Newer	user	\N	2026-11-25 07:29:28.982+00	\N	2026-11-25 07:29:29.165+00	2026-11-25 07:29:28.977907+00	\N	true	\N	false	false
01a2119c-0c98-766f-9f21-005bf89a04be	01a2119c-0c98-766f-9f21-07923ed15a96	shop-2@example.test	Simon Shop	user	\N	2026-11-25 07:29:29.24+00	2026-11-25 07:29:30.799+00	2026-11-25 07:29:29.241+00	2026-11-25 07:29:29.237463+00	\N	true	\N	false	false
01a2119c-1ef4-77b6-bb56-b92516f7644e	01a2119c-1ef4-77b6-bb56-bdde1800eec2	trial@example.test	User trial	user	\N	\N	\N	2026-11-25 07:29:33.943+00	2026-11-25 07:29:33.936039+00	\N	true	\N	false	false
01a2119c-1f0a-71b5-ae50-5f005f4623f4	01a2119c-1f0a-71b5-ae50-63d52a17477b	paid@example.test	User paid	user	$argon2id$v=19$m=19456,t=2,p=1$3Ldpdidga0M9XLVLQtTtAw$p7BHqsfpCDeWgG72Hvfhymn7rOnWmLVyBGBoyJEnQRM	2026-11-25 07:29:36.074+00	\N	2026-11-25 07:29:33.964+00	2026-11-25 07:29:33.960981+00	\N	true	\N	false	false
01a211d3-03cd-767a-b804-e910738990dc	01a2119c-1773-75ab-96a1-6e6c878265fa	cora-new@example.test	Cora Change	user	$argon2id$v=19$m=19456,t=2,p=1$SCj1Il4FyA1DPuvdKQXKCw$OpRIWCJOtTX0Pf9DQC8oMwie7wSIs5ikkHuzIwWN8ns	2026-11-25 07:29:32.374+00	\N	2026-11-25 07:29:32.378+00	2026-11-25 07:29:32.013252+00	\N	true	\N	false	false
01a211d3-0bbd-72cf-a3b8-856a14fff73a	01a2119c-1d9c-730f-b1af-9b8998e97b3e	going@example.test	Gus Going	user	$argon2id$v=19$m=19456,t=2,p=1$KBqMirYCA/CeDZuGmdHB8Q$eBZ3bhADzYmuGYw9YjFiUtYkthpp/NmjCdpAGQLQL3Q	2026-11-25 07:29:33.596+00	\N	2026-11-25 07:29:33.596+00	2026-11-25 07:29:33.594985+00	\N	true	2026-12-09 07:29:33.615+00	false	false
\.

COPY webhook_requests ("webhook_id", "body_hash", "status", "answer", "created_at") FROM stdin;
msg_again	\\xe16b49d7561cce4d9f239bb938ac1851325a495e22a8a1867b341f325bf25b4a	201	{"signup_id":"again","applied":true,"user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119c-1f15-71a3-8b0b-b6c1933907db","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-25 07:29:33.974+00
msg_ends	\\xe1c0c1f79bc6308f3189adcc354fdbad046366814773ca7433144e814764acac	201	{"signup_id":"ends","applied":true,"user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119c-1f27-70db-b14e-74d22ce2bc7c","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:33.929Z","created":true}}	2026-11-25 07:29:33.992+00
msg_left	\\xdf7f75858209a7d0cecf929f82a7a67e342d1528e83b15fc5a135e8233049844	201	{"signup_id":"left","applied":true,"user":{"id":"01a211d3-0a2c-7508-ad84-501669b33ccc","created":false},"account":{"id":"01a2119c-1c08-7097-bc1d-b724fd4fa4bb","created":false},"contract":{"id":"01a2119c-1f39-7760-8480-6eae1715bda8","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-25 07:29:34.01+00
msg_paid	\\x18b004d1d70cafd995f2e9f1c10a3ebc0d3932820c954055b5321c341ad17878	201	{"signup_id":"paid","applied":true,"user":{"id":"01a2119c-1f0a-71b5-ae50-5f005f4623f4","created":true},"account":{"id":"01a2119c-1f0a-71b5-ae50-63d52a17477b","created":true},"contract":{"id":"01a2119c-1f0a-71b5-ae50-6bfa93b117ac","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-25 07:29:33.962+00
msg_trial	\\x8db630d23c223dbbc98777fd0c46f1e46d95775d4d74b873b266d5bf2bd06193	201	{"signup_id":"trial","applied":true,"user":{"id":"01a2119c-1ef4-77b6-bb56-b92516f7644e","created":true},"account":{"id":"01a2119c-1ef4-77b6-bb56-bdde1800eec2","created":true},"contract":{"id":"01a2119c-1ef5-7584-94ae-d9de98f71e0e","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:33.929Z","created":true}}	2026-11-25 07:29:33.943+00
\.

SELECT setval('changes_id_seq', 50);
SELECT setval('events_id_seq', 21);
SELECT setval('reserved_addresses_number_seq', 1);