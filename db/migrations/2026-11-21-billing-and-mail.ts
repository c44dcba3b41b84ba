import { type Kysely, sql } from 'kysely';

// What the CRM's signups need: whose a contract is and when it is invoiced next, answers kept for repeats,
// mails that wait to be sent, links in mails, and invoices.
export async function up(db: Kysely<unknown>): Promise<void> {
  // Nothing has written contracts before this migration. The anchor is the day of the month on which periods
  // begin, kept because 31 January + 1 month forgets it.
  await sql`
    alter table service_contracts
      add column user_id uuid not null constraint service_contracts_user_id_fkey references users,
      add column next_period_starts_at timestamptz,
      add column billing_anchor_day smallint
        constraint service_contracts_billing_anchor_day_known check (billing_anchor_day between 1 and 31),
      add constraint service_contracts_billing_whole check (
        num_nonnulls(next_period_starts_at, billing_anchor_day) in (0, 2)
      )`.execute(db);
  await sql`
    create index service_contracts_next_period_starts_at_idx on service_contracts (next_period_starts_at)
      where status = 'active'`.execute(db);

  await sql`
    create table webhook_requests (
      webhook_id text not null
        constraint webhook_requests_pkey primary key
        constraint webhook_requests_webhook_id_length check (char_length(webhook_id) between 1 and 255),
      body_hash bytea not null
        constraint webhook_requests_body_hash_length check (octet_length(body_hash) = 32),
      status smallint not null,
      answer text not null,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index webhook_requests_created_at_idx on webhook_requests (created_at)`.execute(db);

  // What a mail says is made when it is sent: the links in it hold tokens that the database must not know.
  // Where there is no mail server (local mode) the sent text is kept instead.
  await sql`
    create table mails (
      id uuid not null constraint mails_pkey primary key,
      kind text not null,
      user_id uuid not null constraint mails_user_id_fkey references users on delete cascade,
      recipient text not null,
      details jsonb not null default '{}',
      created_at timestamptz not null,
      attempts integer not null default 0,
      next_attempt_at timestamptz not null,
      last_error text,
      sent_at timestamptz,
      given_up_at timestamptz,
      kept_subject text,
      kept_text text
    )`.execute(db);
  await sql`
    create index mails_next_attempt_at_idx on mails (next_attempt_at)
      where sent_at is null and given_up_at is null`.execute(db);
  await sql`create index mails_created_at_idx on mails (created_at)`.execute(db);
  await sql`create index mails_user_id_idx on mails (user_id)`.execute(db);

  await sql`
    create table mail_links (
      token_hash bytea not null
        constraint mail_links_pkey primary key
        constraint mail_links_token_hash_length check (octet_length(token_hash) = 32),
      purpose text not null,
      user_id uuid not null constraint mail_links_user_id_fkey references users on delete cascade,
      email text not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index mail_links_user_id_idx on mail_links (user_id)`.execute(db);
  await sql`create index mail_links_expires_at_idx on mail_links (expires_at)`.execute(db);

  await sql`
    create table invoices (
      number bigint not null
        constraint invoices_pkey primary key
        constraint invoices_number_positive check (number > 0),
      contract_id uuid not null constraint invoices_contract_id_fkey references service_contracts,
      plan text not null,
      period_starts_at timestamptz not null,
      period_ends_at timestamptz not null,
      currency text not null,
      unit_amount bigint not null constraint invoices_unit_amount_positive check (unit_amount >= 0),
      status text not null constraint invoices_status_known check (status in ('open', 'paid', 'void')),
      issued_at timestamptz not null,
      due_at timestamptz not null,
      paid_at timestamptz,
      constraint invoices_contract_id_period_starts_at_key unique (contract_id, period_starts_at),
      constraint invoices_period_forward check (period_ends_at > period_starts_at),
      constraint invoices_paid_has_instant check ((status = 'paid') = (paid_at is not null))
    )`.execute(db);
  await sql`create index invoices_due_at_idx on invoices (due_at) where status = 'open'`.execute(db);

  // A sequence leaves a gap where a transaction fails; a row that is locked until the commit does not.
  await sql`
    create table invoice_numbers (
      only_row boolean not null default true
        constraint invoice_numbers_pkey primary key
        constraint invoice_numbers_only_row check (only_row),
      last_number bigint not null
    )`.execute(db);
  await sql`insert into invoice_numbers (last_number) values (0)`.execute(db);
}
