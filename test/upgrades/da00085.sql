-- A database as the code of commit da00085 (release 0.1.0) left it. A throwaway script ran that code in local mode and
-- used it by its own doors: logins, launches, hand-offs of the marketplace, signups of the CRM, invoices, mails and the
-- command line. Its people are made up, and its passwords are those of local mode; what only its browsers, apps and senders know is
-- in the file of the same name that ends in .json. One mail was put back by hand to one that waits after two tries.
-- Taken at 2026-11-25T07:29:14.206Z

SET check_function_bodies = off;

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
  CONSTRAINT audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_at_idx ON audit_events USING btree (at);
CREATE INDEX audit_events_user_id_at_idx ON audit_events USING btree (user_id, at);

-- users ---------------------------------------------------------------------------------------------------------------

-- Referred to by:
--   external_links (user_id) ON DELETE CASCADE
--   mail_links (user_id) ON DELETE CASCADE
--   mails (user_id) ON DELETE CASCADE
--   pending_links (user_id) ON DELETE CASCADE
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
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_email_length CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  CONSTRAINT users_name_length CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  CONSTRAINT users_role_known CHECK (role = ANY (ARRAY['user'::text, 'manager'::text, 'admin'::text])),
  CONSTRAINT users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX users_account_id_idx ON users USING btree (account_id);

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
      return null;
    end $function$;

CREATE TRIGGER users_end_sessions_when_suspended AFTER UPDATE OF suspended_at ON users
  FOR EACH ROW
  WHEN (old.suspended_at IS NULL AND new.suspended_at IS NOT NULL)
  EXECUTE FUNCTION end_sessions_of_suspended_user();

CREATE TRIGGER users_keep_profile_updated_at BEFORE UPDATE ON users
  FOR EACH ROW
  EXECUTE FUNCTION keep_profile_updated_at();

-- external_links ------------------------------------------------------------------------------------------------------

CREATE TABLE external_links (
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id uuid NOT NULL,
  applied_profile_updated_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT external_links_pkey PRIMARY KEY (provider, external_id),
  CONSTRAINT external_links_user_id_provider_key UNIQUE (user_id, provider),
  CONSTRAINT external_links_external_id_length CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 128),
  CONSTRAINT external_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

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
  account_id uuid NOT NULL,
  signup_id text NOT NULL,
  plan text NOT NULL,
  status text NOT NULL,
  trial_ends_at timestamp with time zone,
  price_currency text,
  price_unit_amount bigint,
  price_interval text,
  occurred_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  user_id uuid NOT NULL,
  next_period_starts_at timestamp with time zone,
  billing_anchor_day smallint,
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
  CONSTRAINT service_contracts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX service_contracts_account_id_idx ON service_contracts USING btree (account_id);
CREATE INDEX service_contracts_next_period_starts_at_idx ON service_contracts USING btree (next_period_starts_at) WHERE status = 'active'::text;

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

-- mail_links ----------------------------------------------------------------------------------------------------------

CREATE TABLE mail_links (
  token_hash bytea NOT NULL,
  purpose text NOT NULL,
  user_id uuid NOT NULL,
  email text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT mail_links_pkey PRIMARY KEY (token_hash),
  CONSTRAINT mail_links_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT mail_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX mail_links_expires_at_idx ON mail_links USING btree (expires_at);
CREATE INDEX mail_links_user_id_idx ON mail_links USING btree (user_id);

-- mails ---------------------------------------------------------------------------------------------------------------

CREATE TABLE mails (
  id uuid NOT NULL,
  kind text NOT NULL,
  user_id uuid NOT NULL,
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

-- pending_links -------------------------------------------------------------------------------------------------------

CREATE TABLE pending_links (
  token_hash bytea NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id uuid NOT NULL,
  profile jsonb NOT NULL,
  return_to text,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_links_pkey PRIMARY KEY (token_hash),
  CONSTRAINT pending_links_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT pending_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX pending_links_expires_at_idx ON pending_links USING btree (expires_at);
CREATE INDEX pending_links_user_id_idx ON pending_links USING btree (user_id);

-- rate_limits ---------------------------------------------------------------------------------------------------------

CREATE UNLOGGED TABLE rate_limits (
  key character varying(255) NOT NULL,
  points integer NOT NULL DEFAULT 0,
  expire bigint,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_expire_idx ON rate_limits USING btree (expire);

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
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
  CONSTRAINT sessions_token_hash_length CHECK (octet_length(token_hash) = 32),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_created_at_idx ON sessions USING btree (created_at);
CREATE INDEX sessions_user_id_idx ON sessions USING btree (user_id);

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
01900000-0000-7000-8001-000000000001	Maya’s account	{manage_storefront,sell_products,sell_services}	2026-11-25 07:29:10.385+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000002	Noor’s account	{sell_products,sell_services}	2026-11-25 07:29:11.277+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000003	Casey’s account	{}	\N	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000004	Morgan’s account	{}	\N	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000005	Ada’s account	{}	\N	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000006	Sam’s account	{}	\N	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8001-000000000007	Uma’s account	{}	\N	2026-11-25 07:29:10.386309+00	\N
01a2119b-c622-760e-ae95-8f60fd95ce60	Shop & Sons	{manage_storefront,sell_products}	2026-11-25 07:29:11.201+00	2026-11-25 07:29:11.195879+00	\N
01a2119b-c630-76be-befc-29ae48663482	Simon Shop	{}	\N	2026-11-25 07:29:11.215236+00	\N
01a2119b-cd05-7163-99cc-014dc682ba39	Account trial	{}	\N	2026-11-25 07:29:12.9628+00	\N
01a2119b-cd17-759b-b967-18f4e1eb82d1	Account paid	{}	\N	2026-11-25 07:29:12.981855+00	\N
\.

COPY audit_events ("id", "at", "type", "reason", "user_id", "address", "request_id", "details") FROM stdin;
01a2119b-c33a-760a-9fbb-a65e239c144b	2026-11-25 07:29:10.46506+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	6e7ca8e3-9373-4e9d-8a8e-7dcaab788392	{}
01a2119b-c373-73e9-aa05-0732c2e7580b	2026-11-25 07:29:10.516043+00	login.succeeded	\N	01900000-0000-7000-8000-000000000001	192.0.2.1	60cf6fee-2417-4181-8d0f-9ff0e2403049	{}
01a2119b-c38a-77d3-98d6-c0845879cec2	2026-11-25 07:29:10.540695+00	login.succeeded	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	e3d730fe-837b-40e6-a382-fc0ca19b9edb	{}
01a2119b-c39d-77c4-88f9-294a178f666d	2026-11-25 07:29:10.555334+00	profile.updated	\N	01900000-0000-7000-8000-000000000003	192.0.2.1	db0051fc-40c5-4971-97ab-a30695322d64	{"changed": ["name"]}
01a2119b-c3b8-7090-b5fd-4f1044d8ddff	2026-11-25 07:29:10.585004+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	c6b9a412-0357-4b5c-987c-60bbd871d700	{}
01a2119b-c3c7-7320-8508-afe2f2146042	2026-11-25 07:29:10.599929+00	login.succeeded	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	235aafb0-f533-4d88-9369-9cde7dcaf8b3	{}
01a2119b-c3cc-7683-8c2a-de24c3a60450	2026-11-25 07:29:10.603893+00	logout	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	edb24d2c-bf79-4ab2-ad08-70b748618e1e	{}
01a2119b-c494-720c-b28d-e49f2abff3c3	2026-11-25 07:29:10.801931+00	password.changed	\N	01900000-0000-7000-8000-000000000004	192.0.2.1	d0f3f3cd-7ab0-4654-8082-28e43f96688f	{}
01a2119b-c5a7-77e9-b878-025f419d80b8	2026-11-25 07:29:11.083695+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	98a9f00f-5963-4ce7-8b5e-53ac3f3548c3	{}
01a2119b-c5d2-776c-ae2f-a2ce6b5e4ebf	2026-11-25 07:29:11.124644+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	113c349e-286b-4d89-bf75-e94d898a7a1e	{}
01a2119b-c5eb-7284-ab09-376b788a4f99	2026-11-25 07:29:11.149904+00	login.refused	wrong_password	01900000-0000-7000-8000-000000000005	192.0.2.1	64ee8b84-cd3c-48b5-9fbd-778bac358f89	{}
01a2119b-c606-7438-a061-3c522acc593b	2026-11-25 07:29:11.174919+00	login.refused	suspended	01900000-0000-7000-8000-000000000006	192.0.2.1	6c3b9b59-c859-47e9-9ac9-2592f6dc7ab6	{}
01a2119b-c626-76d2-92f7-6779d7cf8469	2026-11-25 07:29:11.195879+00	hand_off.accepted	created	01a2119b-c622-760e-ae95-884aa2c7810d	192.0.2.1	084a63d3-18c1-4134-80f8-0774b5bccba1	{"id": "shop-1"}
01a2119b-c632-7564-8960-3b5fcf63f821	2026-11-25 07:29:11.215236+00	hand_off.accepted	created	01a2119b-c630-76be-befc-272401cfd6e0	192.0.2.1	c618b5ec-a0c9-46a7-8189-a7805006d716	{"id": "shop-2"}
01a2119b-c637-739c-b3b7-7065eb88f069	2026-11-25 07:29:11.221667+00	hand_off.pending	password_to_be_proved	01900000-0000-7000-8000-000000000003	192.0.2.1	6c04290f-4ebd-4581-9fdd-4265774852d7	{"id": "merchant-there"}
01a2119b-c63f-7039-a59a-917bfa2a5d62	2026-11-25 07:29:11.229005+00	hand_off.pending	password_to_be_proved	01900000-0000-7000-8000-000000000002	192.0.2.1	048d7078-0ce7-4bda-9f38-e0963ec3c67f	{"id": "shop-3"}
01a2119b-c669-76ba-b0ee-9cc14022e2ea	2026-11-25 07:29:11.274234+00	login.succeeded	\N	01900000-0000-7000-8000-000000000002	192.0.2.1	f10cb254-8ae5-41e7-aeee-c4b0f3968cee	{}
01a2119b-c674-74d0-b139-a2e27e78a267	2026-11-25 07:29:11.276009+00	hand_off.accepted	linked_by_password	01900000-0000-7000-8000-000000000002	192.0.2.1	f10cb254-8ae5-41e7-aeee-c4b0f3968cee	{}
01a2119b-ccd0-7128-ab25-7de478ae1956	2026-11-25 07:29:12.90947+00	user.suspended	\N	01a2119b-c630-76be-befc-272401cfd6e0	\N	\N	{"by": "cli"}
01a2119b-cd0a-703e-95dd-22dd91dc96ca	2026-11-25 07:29:12.9628+00	signup.accepted	created	01a2119b-cd05-7163-99cb-fd097465c98c	192.0.2.1	45231ebf-f69f-410e-9c5f-1cf4ffe50b4c	{"signupId": "trial", "webhookId": "msg_trial", "contractId": "01a2119b-cd0a-703e-95dd-1d4ccdfd511a"}
01a2119b-cd17-759b-b967-24e7d1301638	2026-11-25 07:29:12.981855+00	signup.accepted	created	01a2119b-cd17-759b-b967-1538b337a6e1	192.0.2.1	27dd6fc7-ca90-420c-a799-7b45b122f1e1	{"signupId": "paid", "webhookId": "msg_paid", "contractId": "01a2119b-cd17-759b-b967-228af7b4fd97"}
01a2119b-cd25-7553-b47a-8f653afe7dd6	2026-11-25 07:29:12.996363+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	b2f4ec1c-1f45-40c7-9bcb-defdf320976d	{"signupId": "again", "webhookId": "msg_again", "contractId": "01a2119b-cd25-7553-b47a-893dd71e1304"}
01a2119b-cd2c-7214-bf62-40e3b2277175	2026-11-25 07:29:13.002209+00	signup.accepted	created	01900000-0000-7000-8000-000000000003	192.0.2.1	74ec7837-db65-4cc4-95f7-4b047ca3b361	{"signupId": "ends", "webhookId": "msg_ends", "contractId": "01a2119b-cd2c-7214-bf62-3f35e58f5c08"}
01a2119b-cdae-70ba-b496-49e6f6cad82e	2026-11-25 07:29:13.082196+00	invoice.issued	\N	\N	\N	\N	{"number": 1, "contractId": "01a2119b-cd17-759b-b967-228af7b4fd97"}
01a2119b-cdbb-7763-bf2b-1e9f77d6d6a0	2026-11-25 07:29:13.139883+00	invoice.issued	\N	\N	\N	\N	{"number": 2, "contractId": "01a2119b-cd25-7553-b47a-893dd71e1304"}
01a2119b-cdc2-7374-aba7-8263cfde1b97	2026-11-25 07:29:13.152519+00	invoice.paid	\N	\N	\N	\N	{"number": 1}
01a2119b-d04a-75fb-ab5d-f6e47b146e4b	2026-11-25 07:29:13.795989+00	contract.moved	cancel	\N	\N	\N	{"status": "canceled", "contractId": "01a2119b-cd2c-7214-bf62-3f35e58f5c08"}
01a2119b-d0d7-7678-a6cc-03143dc60b99	2026-11-25 07:29:13.921997+00	password.set	by_mail	01a2119b-cd17-759b-b967-1538b337a6e1	192.0.2.1	d9786050-c220-4e20-bd71-0c6ad0a69319	{}
01a2119b-d0ea-747c-ab5c-6687e9debbf8	2026-11-25 07:29:13.961705+00	password_link.requested	sent	01900000-0000-7000-8000-000000000003	192.0.2.1	8866603d-f3ac-4b76-90c6-6e33489b0bc7	{}
01a2119b-d10d-75a1-b7c2-87b5b1cb3f72	2026-11-25 07:29:13.997575+00	password_link.requested	sent	01900000-0000-7000-8000-000000000001	192.0.2.1	b3769f8f-3bfe-45b8-9c2c-23c1f7de87a8	{}
01a2119b-d129-7295-8a90-ea64c1747a12	2026-11-25 07:29:14.026102+00	login.succeeded	\N	01900000-0000-7000-8000-000000000007	192.0.2.1	59906b8e-054c-4478-b2ba-f56b8cafa42a	{}
01a2119b-d131-7608-aff1-05144f221cc4	2026-11-25 07:29:14.03313+00	email.verification_requested	\N	01900000-0000-7000-8000-000000000007	192.0.2.1	b7f8f285-4e91-4ca3-bada-f6153890c94b	{}
\.

COPY external_links ("provider", "external_id", "user_id", "applied_profile_updated_at", "created_at") FROM stdin;
marketplace	shop-1	01a2119b-c622-760e-ae95-884aa2c7810d	2026-01-01 00:00:00+00	2026-11-25 07:29:11.195879+00
marketplace	shop-2	01a2119b-c630-76be-befc-272401cfd6e0	2026-01-01 00:00:00+00	2026-11-25 07:29:11.215236+00
marketplace	shop-3	01900000-0000-7000-8000-000000000002	2026-01-01 00:00:00+00	2026-11-25 07:29:11.276009+00
\.

COPY invoice_numbers ("only_row", "last_number") FROM stdin;
true	2
\.

COPY invoices ("number", "contract_id", "plan", "period_starts_at", "period_ends_at", "currency", "unit_amount", "status", "issued_at", "due_at", "paid_at") FROM stdin;
1	01a2119b-cd17-759b-b967-228af7b4fd97	pro	2026-11-25 07:28:12.941+00	2026-12-25 07:28:12.941+00	EUR	2900	paid	2026-11-25 07:29:13.114+00	2026-12-09 07:29:13.114+00	2026-11-25 07:29:13.153+00
2	01a2119b-cd25-7553-b47a-893dd71e1304	pro	2026-11-25 07:28:12.941+00	2027-11-25 07:28:12.941+00	JPY	900	open	2026-11-25 07:29:13.14+00	2026-12-09 07:29:13.14+00	\N
\.

COPY kysely_migration ("name", "timestamp") FROM stdin;
2026-11-20-foundation	2026-11-25T07:29:05.333Z
2026-11-20-inbound-hand-off	2026-11-25T07:29:05.338Z
2026-11-21-billing-and-mail	2026-11-25T07:29:05.357Z
2026-11-21-unlogged-rate-limits	2026-11-25T07:29:05.359Z
\.

COPY kysely_migration_lock ("id", "is_locked") FROM stdin;
migration_lock	0
\.

COPY mail_links ("token_hash", "purpose", "user_id", "email", "expires_at") FROM stdin;
\\x03d4487cd061bebd68f817da972bef40ed4e395408d8e63bc68182df34df2b47	verify_email	01900000-0000-7000-8000-000000000007	unverified@example.test	2026-12-02 07:29:14.035+00
\\x7003698dcf24ac63efc31280a240bd238b49595238116f836da0b99b59d0ae62	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	2026-12-02 07:29:14.035+00
\\xad7e49f617e52b45ca8bdac0d666308a71886193f58507d4fa249f7e97f199eb	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	2026-12-02 07:29:13.964+00
\\xeba5cf27ac6e91aa58e8c229fd6d67834027516305cbde985c36151c6e95f423	set_password	01a2119b-cd05-7163-99cb-fd097465c98c	trial@example.test	2026-12-02 07:29:13.545+00
\.

COPY mails ("id", "kind", "user_id", "recipient", "details", "created_at", "attempts", "next_attempt_at", "last_error", "sent_at", "given_up_at", "kept_subject", "kept_text") FROM stdin;
01a2119b-cd0a-703e-95dd-1b0c0a49991e	welcome	01a2119b-cd05-7163-99cb-fd097465c98c	trial@example.test	{"name": "User trial", "accountName": "Account trial"}	2026-11-25 07:29:12.964+00	1	2026-11-25 07:31:13.516+00	\N	2026-11-25 07:29:13.599+00	\N	Your login is ready: set a password	Hello User trial,\n\na login has been made for you, with the account “Account trial”. Set a password to use it:\n\nhttp://localhost:3000/set-password?token=3X-swUQ3dC7iqyh3aXAhVGJ805fyotJeP3KYK6127zA\n\nThe link works once, within 7 days, and confirms that this address is yours. If it has run out, ask for another one at http://localhost:3000/forgot-password\n\nIf you did not expect this, leave it: without the link nobody can use the login.\n
01a2119b-cd17-759b-b967-1eb2dd7768b4	welcome	01a2119b-cd17-759b-b967-1538b337a6e1	paid@example.test	{"name": "User paid", "accountName": "Account paid"}	2026-11-25 07:29:12.982+00	1	2026-11-25 07:31:13.516+00	\N	2026-11-25 07:29:13.57+00	\N	Your login is ready: set a password	Hello User paid,\n\na login has been made for you, with the account “Account paid”. Set a password to use it:\n\nhttp://localhost:3000/set-password?token=vjrKVxx7X2r_XIYr8GCg6wTIVMRu1wK7wiqpWfJgG-E\n\nThe link works once, within 7 days, and confirms that this address is yours. If it has run out, ask for another one at http://localhost:3000/forgot-password\n\nIf you did not expect this, leave it: without the link nobody can use the login.\n
01a2119b-d0ea-747c-ab5c-6911cf530951	set_password	01900000-0000-7000-8000-000000000003	customer@example.test	{"name": "Casey \\"Tab\\\\\\" Customer é"}	2026-11-25 07:29:13.962+00	1	2026-11-25 07:31:13.963+00	\N	2026-11-25 07:29:13.976+00	\N	Set a new password	Hello Casey "Tab\\" Customer é,\n\nsomebody, most likely you, asked for a link to set the password of your login:\n\nhttp://localhost:3000/set-password?token=S1kmdXpiiJi2YqgHhEFuCEd-2AWHtH0AOR6HjEDP2rw\n\nThe link works once, within 7 days. If it has run out, ask for another one at http://localhost:3000/forgot-password\n\nIf it was not you, leave it: your password stays as it is.\n
01a2119b-d10d-75a1-b7c2-8a4b6d54d36f	set_password	01900000-0000-7000-8000-000000000001	merchant@example.test	{"name": "Maya Merchant"}	2026-11-25 07:29:13.997+00	2	2026-11-25 08:29:14.049741+00	421 later	\N	\N	\N	\N
01a2119b-d130-76c0-bff6-71509888a564	verify_email	01900000-0000-7000-8000-000000000007	unverified@example.test	{"name": "Uma Unverified"}	2026-11-25 07:29:14.032+00	1	2026-11-25 07:31:14.034+00	\N	2026-11-25 07:29:14.046+00	\N	Confirm your e-mail address	Hello Uma Unverified,\n\nplease confirm that this address is yours, in the browser in which you are logged in:\n\nhttp://localhost:3000/verify-email/confirm?token=o49FZNBuo6WfQkImoGlbJVWSIEodk32FYCnLwIUZhy8\n\nThe link works once, within 7 days.\n\nIf you have no login with us, leave it: somebody mistyped their address, and without you nothing happens.\n
\.

COPY nonces ("audience", "nonce", "expires_at") FROM stdin;
inbound:marketplace	IW1YMjkKGok-STs549lC3Q	2026-11-25 07:35:11+00
inbound:marketplace	SejiSKcTh-8kUTM6MF17Jw	2026-11-25 07:35:11+00
inbound:marketplace	ilhULnLzsbx5HhxV9kOcRg	2026-11-25 07:35:11+00
inbound:marketplace	jFQuHz0GQxlP7g0W43Qbow	2026-11-25 07:35:11+00
\.

COPY pending_links ("token_hash", "provider", "external_id", "user_id", "profile", "return_to", "expires_at") FROM stdin;
\\xc2664166d20e26761adb0954e6def8515abea7d63afae76a8b6afa04f9da9db6	marketplace	merchant-there	01900000-0000-7000-8000-000000000003	{"id": "merchant-there", "name": "User merchant-there", "role": "customer", "email": "customer@example.test", "account": {"capabilities": []}, "email_verified": true, "profile_updated_at": "2026-01-01T00:00:00.000Z"}	\N	2026-11-25 07:39:11.223+00
\.

COPY rate_limits ("key", "points", "expire") FROM stdin;
address:192.0.2.1	12	1795592650407
email:pfUtFMP8gYZiFWAJbl1Z5iRKQO_XjElyI6N9ZKmBA-M	3	1795592651008
mail-address:192.0.2.1	3	1795595353948
mail-email:BsNkW6rX0v1mYeTc5DaS6LD8eRM_vRWCutkjXn6maNo	1	1795595353960
mail-email:prMwodJuUZCxjDjPNzs0eftNmQc1YEbdWJXaktWtPZE	1	1795595354032
mail-email:qM6dMVC5qlyYwo7FxB7-ghHlM7xDNLp5i-PEXY9gvOc	1	1795595353986
\.

COPY service_contracts ("id", "account_id", "signup_id", "plan", "status", "trial_ends_at", "price_currency", "price_unit_amount", "price_interval", "occurred_at", "created_at", "user_id", "next_period_starts_at", "billing_anchor_day") FROM stdin;
01a2119b-cd0a-703e-95dd-1d4ccdfd511a	01a2119b-cd05-7163-99cc-014dc682ba39	trial	starter	trialing	2026-12-09 07:29:12.941+00	EUR	2900	month	2026-11-25 07:28:12.941+00	2026-11-25 07:29:12.9628+00	01a2119b-cd05-7163-99cb-fd097465c98c	\N	\N
01a2119b-cd17-759b-b967-228af7b4fd97	01a2119b-cd17-759b-b967-18f4e1eb82d1	paid	pro	active	\N	EUR	2900	month	2026-11-25 07:28:12.941+00	2026-11-25 07:29:12.981855+00	01a2119b-cd17-759b-b967-1538b337a6e1	2026-12-25 07:28:12.941+00	25
01a2119b-cd25-7553-b47a-893dd71e1304	01900000-0000-7000-8001-000000000003	again	pro	active	\N	JPY	900	year	2026-11-25 07:28:12.941+00	2026-11-25 07:29:12.996363+00	01900000-0000-7000-8000-000000000003	2027-11-25 07:28:12.941+00	25
01a2119b-cd2c-7214-bf62-3f35e58f5c08	01900000-0000-7000-8001-000000000003	ends	starter	canceled	2026-12-09 07:29:12.941+00	EUR	2900	month	2026-11-25 07:28:12.941+00	2026-11-25 07:29:13.002209+00	01900000-0000-7000-8000-000000000003	\N	\N
\.

COPY sessions ("id", "token_hash", "user_id", "created_at", "last_seen_at", "ended_at", "address", "user_agent") FROM stdin;
01a2119b-c33a-760a-9fbb-a19f04d59d00	\\x8d9dd2ca007e01b8d205296c76c22416c0f7fefcd06a85cdfb72f17739df9199	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:10.457+00	2026-11-25 07:29:10.457+00	\N	192.0.2.1	
01a2119b-c373-73e9-aa05-00e0f2360ba0	\\xce2cca06936401db481dd9a9c8186bd630766fccc9ed95d5b46defca7fa161db	01900000-0000-7000-8000-000000000001	2026-11-25 07:29:10.514+00	2026-11-25 07:29:10.514+00	\N	192.0.2.1	
01a2119b-c38a-77d3-98d6-bd37a13da810	\\xba10912d82ba9f63d4faf86d2114db2e0d9549a4979e998180d52569302ad9b9	01900000-0000-7000-8000-000000000003	2026-11-25 07:29:10.538+00	2026-11-25 07:29:10.538+00	\N	192.0.2.1	
01a2119b-c3b8-7090-b5fd-4ac7afdcd59f	\\x3c1ccf83c6d1fa99f485676f086c3631fcc6628341a052fff3c52dacc12cccda	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:10.583+00	2026-11-25 07:29:10.583+00	2026-11-25 07:29:10.802+00	192.0.2.1	
01a2119b-c3c7-7320-8508-a97156842136	\\xf5b491050e927b5331a4958526eb550f96e382d10cab1f4b76fa7db5e76ccf29	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:10.598+00	2026-11-25 07:29:10.598+00	2026-11-25 07:29:10.603+00	192.0.2.1	
01a2119b-c494-720c-b28d-e9a07f7a6fdd	\\x3acde73c876d98fadf43a365dbfbdb06e1d2330c1ce7cc9d952a6702b36dc52d	01900000-0000-7000-8000-000000000004	2026-11-25 07:29:10.804+00	2026-11-25 07:29:10.804+00	\N	192.0.2.1	
01a2119b-c627-75e0-b7be-6a1f93f2dcc8	\\x4c2763ab0c2eae6d3f3cce2532a5650c3071314899ddfc26b15d7596cc89ef6b	01a2119b-c622-760e-ae95-884aa2c7810d	2026-11-25 07:29:11.207+00	2026-11-25 07:29:11.207+00	\N	192.0.2.1	
01a2119b-c632-7564-8960-3da9e2e85b32	\\x1db4dc6e07199a2edbb095ad23df14da4f72fe76be49ad6c0216ce9e7e141c9d	01a2119b-c630-76be-befc-272401cfd6e0	2026-11-25 07:29:11.218+00	2026-11-25 07:29:11.218+00	2026-11-25 07:29:12.90947+00	192.0.2.1	
01a2119b-c669-76ba-b0ee-987edcf30281	\\x3200ecf304ad1513a12e7b1b889acec7b106919992fb6cde11ab7fe34658c042	01900000-0000-7000-8000-000000000002	2026-11-25 07:29:11.272+00	2026-11-25 07:29:11.272+00	\N	192.0.2.1	
01a2119b-d0d8-770e-921c-fde4a25c461c	\\x2f263dc2264795d829fb163fd2958ec1f4b109f4def570848ad5db229027534e	01a2119b-cd17-759b-b967-1538b337a6e1	2026-11-25 07:29:13.944+00	2026-11-25 07:29:13.944+00	\N	192.0.2.1	
01a2119b-d129-7295-8a90-e4975216a4b1	\\x1d34caf14eeed09f42d20940e4c8eb6f80b198ae58482636c7230a53af8ee511	01900000-0000-7000-8000-000000000007	2026-11-25 07:29:14.025+00	2026-11-25 07:29:14.025+00	\N	192.0.2.1	
\.

COPY users ("id", "account_id", "email", "name", "role", "password_hash", "email_verified_at", "suspended_at", "profile_updated_at", "created_at", "name_edited_at") FROM stdin;
01900000-0000-7000-8000-000000000001	01900000-0000-7000-8001-000000000001	merchant@example.test	Maya Merchant	user	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	2026-11-25 07:29:10.385+00	\N	2026-11-25 07:29:10.39+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8000-000000000002	01900000-0000-7000-8001-000000000002	new-merchant@example.test	Noor Newcomer	user	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	2026-11-25 07:29:10.385+00	\N	2026-11-25 07:29:11.282+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8000-000000000003	01900000-0000-7000-8001-000000000003	customer@example.test	Casey "Tab\\" Customer é	user	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	2026-11-25 07:29:10.385+00	\N	2026-11-25 07:29:10.556+00	2026-11-25 07:29:10.386309+00	2026-11-25 07:29:10.555334+00
01900000-0000-7000-8000-000000000004	01900000-0000-7000-8001-000000000004	manager@example.test	Morgan Manager	manager	$argon2id$v=19$m=19456,t=2,p=1$djkxKCT5Jc1jU47gUtFhVQ$5VJWvONlkuS5sQ86NbLQ3pwLmQsJKPeakp4Q0YpmGME	2026-11-25 07:29:10.385+00	\N	2026-11-25 07:29:10.391+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8000-000000000005	01900000-0000-7000-8001-000000000005	admin@example.test	Ada Admin	admin	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	2026-11-25 07:29:10.385+00	\N	2026-11-25 07:29:10.391+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8000-000000000006	01900000-0000-7000-8001-000000000006	suspended@example.test	Sam Suspended	user	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	2026-11-25 07:29:10.385+00	2026-11-25 07:29:10.385+00	2026-11-25 07:29:10.391+00	2026-11-25 07:29:10.386309+00	\N
01900000-0000-7000-8000-000000000007	01900000-0000-7000-8001-000000000007	unverified@example.test	Uma Unverified	user	$argon2id$v=19$m=19456,t=2,p=1$K3vZDkvTIfLeiARwQ1jQtQ$wLHiSHJHgywXAoKjPRUBRkjULakqKu5OU45giUUu7xc	\N	\N	2026-11-25 07:29:10.391+00	2026-11-25 07:29:10.386309+00	\N
01a2119b-c622-760e-ae95-884aa2c7810d	01a2119b-c622-760e-ae95-8f60fd95ce60	shop-1@example.test	Sharon Shop	user	\N	2026-11-25 07:29:11.201+00	\N	2026-11-25 07:29:11.203+00	2026-11-25 07:29:11.195879+00	\N
01a2119b-c630-76be-befc-272401cfd6e0	01a2119b-c630-76be-befc-29ae48663482	shop-2@example.test	Simon Shop	user	\N	2026-11-25 07:29:11.216+00	2026-11-25 07:29:12.437+00	2026-11-25 07:29:11.216+00	2026-11-25 07:29:11.215236+00	\N
01a2119b-cd05-7163-99cb-fd097465c98c	01a2119b-cd05-7163-99cc-014dc682ba39	trial@example.test	User trial	user	\N	\N	\N	2026-11-25 07:29:12.971+00	2026-11-25 07:29:12.9628+00	\N
01a2119b-cd17-759b-b967-1538b337a6e1	01a2119b-cd17-759b-b967-18f4e1eb82d1	paid@example.test	User paid	user	$argon2id$v=19$m=19456,t=2,p=1$mnox7NAy0J3u2adqE78yiQ$c4291Haz4TSfXWf+fHzCMfjJT6JtOYu0dmBJdBV4XxQ	2026-11-25 07:29:13.932+00	\N	2026-11-25 07:29:12.985+00	2026-11-25 07:29:12.981855+00	\N
\.

COPY webhook_requests ("webhook_id", "body_hash", "status", "answer", "created_at") FROM stdin;
msg_again	\\x44cb29561b550f63676a5d2e18a069fbf4cbc1dba061b03cfcedb2ae557dbfad	201	{"signup_id":"again","user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119b-cd25-7553-b47a-893dd71e1304","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-25 07:29:12.997+00
msg_ends	\\x6e86adc0cc6eaca04904e9a5bf5c4a9ec615fe60bdbf259982f8eeb1725553ea	201	{"signup_id":"ends","user":{"id":"01900000-0000-7000-8000-000000000003","created":false},"account":{"id":"01900000-0000-7000-8001-000000000003","created":false},"contract":{"id":"01a2119b-cd2c-7214-bf62-3f35e58f5c08","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:12.941Z","created":true}}	2026-11-25 07:29:13.004+00
msg_paid	\\x966facdffe6ada9fa8bc3455013b9bc3eefe6a81df45898417e5fc369a05e4b3	201	{"signup_id":"paid","user":{"id":"01a2119b-cd17-759b-b967-1538b337a6e1","created":true},"account":{"id":"01a2119b-cd17-759b-b967-18f4e1eb82d1","created":true},"contract":{"id":"01a2119b-cd17-759b-b967-228af7b4fd97","status":"active","plan":"pro","trial_ends_at":null,"created":true}}	2026-11-25 07:29:12.983+00
msg_trial	\\x19ee3cd53dbbacbb03b97fcaf2b05860fb20aaa40d752a12bdb294712370e5b7	201	{"signup_id":"trial","user":{"id":"01a2119b-cd05-7163-99cb-fd097465c98c","created":true},"account":{"id":"01a2119b-cd05-7163-99cc-014dc682ba39","created":true},"contract":{"id":"01a2119b-cd0a-703e-95dd-1d4ccdfd511a","status":"trialing","plan":"starter","trial_ends_at":"2026-12-09T07:29:12.941Z","created":true}}	2026-11-25 07:29:12.971+00
\.
