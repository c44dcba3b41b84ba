import { type Kysely, type RawBuilder, sql } from 'kysely';

// Billing with a seller (contract sections 7a and 7b). `invoices` is what is owed, of both kinds: with a document, and from
// before there was a seller, with `number` as its number. What a document says never changes, and money is only added.
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const path = sql`set search_path = ${sql.id(rows[0]?.name ?? 'public')}, pg_temp`;
  // The clock of all that is dated. Tests put another function in its place.
  await sql`
    create function billing_now() returns timestamptz language sql as 'select clock_timestamp()'`.execute(db);
  await createTables(db);
  await widenInvoices(db);
  await createTriggers(db, path);
  await widenContracts(db, path);
  // A payment that is reported makes a contract active again.
  await sql`
    alter table changes drop constraint changes_by_known, add constraint changes_by_known check (
      by in ('person', 'staff', 'marketplace', 'crm', 'payments', 'operator', 'service', 'database'))`.execute(
    db,
  );
  await sql`alter table mails add column key text constraint mails_key_key unique`.execute(db);
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table billing_settings (
      version integer constraint billing_settings_pkey primary key,
      settings jsonb not null,
      counts_from timestamptz not null,
      made_at timestamptz not null default clock_timestamp(),
      made_by text not null,
      actor_id uuid,
      why text not null,
      stopped_at timestamptz
    )`.execute(db);
  await sql`
    create table documents (
      number text constraint documents_pkey primary key,
      kind text not null constraint documents_kind_known check (kind in ('invoice', 'credit_note')),
      invoice bigint not null constraint documents_invoice_fkey references invoices,
      prefix text not null,
      year smallint not null,
      settings_version integer not null constraint documents_settings_version_fkey references billing_settings,
      issued_on date not null,
      first_day date not null,
      last_day date not null,
      currency text not null,
      net bigint not null,
      tax bigint not null,
      total bigint not null,
      category text not null constraint documents_category_known check (category in ('S', 'E', 'O', 'AE')),
      rate integer not null,
      issued_at timestamptz not null,
      facts jsonb not null,
      constraint documents_sum check (net >= 0 and tax >= 0 and net + tax = total and total > 0),
      constraint documents_untaxed check ((category = 'S') = (rate > 0) and (rate > 0 or tax = 0))
    )`.execute(db);
  await sql`create unique index documents_invoice_key on documents (invoice) where kind = 'invoice'`.execute(
    db,
  );
  await sql`create index documents_invoice_idx on documents (invoice)`.execute(db);
  await sql`create index documents_issued_on_idx on documents (issued_on)`.execute(db);
  await sql`
    create index documents_incomplete_idx on documents (issued_at)
      where kind = 'invoice' and facts->'buyer'->'address' = 'null'::jsonb`.execute(db);
  await sql`
    create table document_series (
      prefix text,
      year smallint,
      last_number bigint not null,
      last_issued_on date not null,
      constraint document_series_pkey primary key (prefix, year)
    )`.execute(db);
  await sql`
    create table document_files (
      number text constraint document_files_pkey primary key
        constraint document_files_number_fkey references documents on delete cascade,
      pdf bytea not null,
      pdf_sha256 bytea not null,
      xml bytea,
      xml_sha256 bytea,
      made_at timestamptz not null,
      constraint document_files_xml_whole check ((xml is null) = (xml_sha256 is null))
    )`.execute(db);
  // They do not become smaller.
  await sql`alter table document_files alter column pdf set storage external`.execute(db);
  await sql`
    create table documents_to_make (
      number text constraint documents_to_make_pkey primary key
        constraint documents_to_make_number_fkey references documents on delete cascade,
      tries integer not null default 0,
      next_try_at timestamptz not null,
      last_error text
    )`.execute(db);
  await sql`create index documents_to_make_next_try_at_idx on documents_to_make (next_try_at)`.execute(db);
  await sql`
    create table payments (
      id text constraint payments_pkey primary key,
      kind text not null constraint payments_kind_known check (kind in ('payment', 'refund', 'paid_back')),
      of text,
      currency text not null,
      amount bigint not null constraint payments_amount_positive check (amount > 0),
      paid_at timestamptz not null,
      method text,
      reference text,
      invoice_number text,
      recorded_at timestamptz not null,
      recorded_by text not null,
      unallocated bigint not null,
      constraint payments_of_payment check ((kind = 'payment') = (of is null)),
      constraint payments_unallocated_bounds check (
        case kind when 'payment' then unallocated between 0 and amount else unallocated between -amount and 0 end)
    )`.execute(db);
  await sql`create index payments_of_idx on payments (of) where of is not null`.execute(db);
  await sql`create index payments_unallocated_idx on payments (recorded_at, id) where unallocated <> 0`.execute(
    db,
  );
  await sql`
    create table allocations (
      id bigint generated always as identity constraint allocations_pkey primary key,
      payment text not null constraint allocations_payment_fkey references payments,
      invoice bigint not null constraint allocations_invoice_fkey references invoices,
      amount bigint not null constraint allocations_amount_some check (amount <> 0),
      recorded_at timestamptz not null
    )`.execute(db);
  await sql`create index allocations_payment_idx on allocations (payment)`.execute(db);
  await sql`create index allocations_invoice_idx on allocations (invoice)`.execute(db);
  await sql`
    create table billing_details (
      account_id uuid constraint billing_details_pkey primary key
        constraint billing_details_account_id_fkey references accounts on delete cascade,
      company text,
      line1 text,
      line2 text,
      postcode text,
      city text,
      country text,
      vat_id text,
      checked_vat_id text,
      invoice_email text,
      invoice_email_proved_at timestamptz,
      edited_here text[] not null default '{}',
      ignored text[] not null default '{}',
      constraint billing_details_address_whole check (num_nonnulls(line1, postcode, city, country) in (0, 4)),
      constraint billing_details_proved_email check (invoice_email_proved_at is null or invoice_email is not null)
    )`.execute(db);
  await sql`
    create index billing_details_invoice_email_idx on billing_details (invoice_email)
      where invoice_email is not null`.execute(db);
}

/** What each invoice comes to. The ledger has what was paid before this version, too. */
async function widenInvoices(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table invoices
      add column document text constraint invoices_document_key unique,
      add column credited bigint not null default 0,
      add column allocated bigint not null default 0,
      add column past_due_at timestamptz,
      add column reminded smallint not null default 0
        constraint invoices_reminded_known check (reminded between 0 and 2)`.execute(db);
  await sql`
    insert into payments (id, kind, currency, amount, paid_at, invoice_number, recorded_at, recorded_by, unallocated)
      select 'invoice#' || number, 'payment', currency, unit_amount, paid_at, number::text, paid_at, 'operator', 0
      from invoices where status = 'paid' and unit_amount > 0`.execute(db);
  await sql`
    insert into allocations (payment, invoice, amount, recorded_at)
      select 'invoice#' || number, number, unit_amount, paid_at
      from invoices where status = 'paid' and unit_amount > 0`.execute(db);
  await sql`
    update invoices set allocated = case status when 'paid' then unit_amount else 0 end,
      credited = case status when 'void' then unit_amount else 0 end
      where status <> 'open'`.execute(db);
  await sql`
    alter table invoices
      add constraint invoices_settled_within check (
        credited >= 0 and allocated >= 0 and credited + allocated <= unit_amount),
      add constraint invoices_status_follows check (status = case
        when unit_amount > 0 and credited = unit_amount then 'void'
        when credited + allocated = unit_amount then 'paid'
        else 'open' end)`.execute(db);
  // A period is invoiced anew once the invoice before is credited. The key keeps its name, by which both versions know it.
  await sql`alter table invoices drop constraint invoices_contract_id_period_starts_at_key`.execute(db);
  await sql`
    create unique index invoices_contract_id_period_starts_at_key on invoices (contract_id, period_starts_at)
      where status <> 'void'`.execute(db);
  await sql`create index invoices_contract_id_idx on invoices (contract_id)`.execute(db);
  await sql`
    create index invoices_past_due_idx on invoices (coalesce(past_due_at, due_at)) where status = 'open'`.execute(
    db,
  );
}

async function createTriggers(db: Kysely<unknown>, path: RawBuilder<unknown>): Promise<void> {
  // The version before knows neither a seller nor what is open: it issues nothing once there is a seller, and what it says
  // is paid is a payment of all that is open.
  await sql`
    create function settle_invoice_from_before() returns trigger language plpgsql security definer ${path} as $$
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
    end $$`.execute(db);
  await sql`revoke execute on function settle_invoice_from_before() from public`.execute(db);
  await sql`
    create trigger invoices_settle_from_before before insert or update on invoices for each row
      execute function settle_invoice_from_before()`.execute(db);
  // What was issued, paid or allocated stays as it is. Whatever may delete old books says so.
  await sql`
    create function refuse_change_of_books() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        if to_jsonb(old) - coalesce(tg_argv, '{}') = to_jsonb(new) - coalesce(tg_argv, '{}') then return new; end if;
      elsif tg_op = 'DELETE' and current_setting('identity.retention', true) = 'on' then
        return old;
      end if;
      raise exception '% keeps what was recorded', tg_table_name using errcode = 'check_violation';
    end $$`.execute(db);
  for (const [table, changeable] of [
    ['billing_settings', ['stopped_at']],
    ['documents', []],
    ['document_files', []],
    ['payments', ['unallocated']],
    ['allocations', []],
    ['invoices', ['status', 'paid_at', 'credited', 'allocated', 'reminded']],
  ] as const) {
    await sql`
      create trigger ${sql.id(`${table}_refuse_truncate`)} before truncate on ${sql.id(table)} for each statement
        execute function refuse_change_of_books()`.execute(db);
    await sql`
      create trigger ${sql.id(`${table}_refuse_change`)} before update or delete on ${sql.id(table)} for each row
        ${table === 'invoices' ? sql`when (old.document is not null)` : sql``}
        execute function refuse_change_of_books(${sql.join(changeable.map((each) => sql.lit(each)))})`.execute(
      db,
    );
  }
}

/** When a contract ends, and which of its periods have begun and wait for their invoice. */
async function widenContracts(db: Kysely<unknown>, path: RawBuilder<unknown>): Promise<void> {
  await sql`
    alter table service_contracts
      add column cancels_at timestamptz`.execute(db);
  await sql`
    create index service_contracts_cancels_at_idx on service_contracts (cancels_at)
      where cancels_at is not null and status in ('trialing', 'active', 'past_due')`.execute(db);
  await sql`
    create table waiting_periods (
      contract_id uuid constraint waiting_periods_contract_id_fkey references service_contracts on delete cascade,
      starts_at timestamptz,
      ends_at timestamptz not null,
      plan text not null,
      currency text not null,
      unit_amount bigint not null,
      held_code text,
      tried_at timestamptz,
      constraint waiting_periods_pkey primary key (contract_id, starts_at),
      constraint waiting_periods_held_whole check (num_nonnulls(held_code, tried_at) in (0, 2))
    )`.execute(db);
  // The version before makes a contract past due at `due_at`, whatever the days of the settings. Clocks may differ by minutes.
  await sql`
    create function refuse_early_past_due() returns trigger language plpgsql security definer ${path} as $$
    begin
      if (select bool_and(past_due_at > billing_now() + interval '5 minutes') from invoices
          where contract_id = new.id and status = 'open' and due_at <= billing_now()) then
        raise exception 'nothing of this contract is past its days' using errcode = 'check_violation';
      end if;
      return new;
    end $$`.execute(db);
  await sql`revoke execute on function refuse_early_past_due() from public`.execute(db);
  await sql`
    create trigger service_contracts_refuse_early_past_due before update on service_contracts for each row
      when (old.status = 'active' and new.status = 'past_due') execute function refuse_early_past_due()`.execute(
    db,
  );
  const members = [
    'signup_id',
    'user_id',
    'account_id',
    'erased_user_id',
    'erased_account_id',
    'plan',
    'status',
    'trial_ends_at',
    'price_currency',
    'price_unit_amount',
    'price_interval',
    'occurred_at',
    'cancels_at',
  ];
  const changed = (names: string[]) =>
    sql.join(
      names.map((name) => sql`old.${sql.id(name)} is distinct from new.${sql.id(name)}`),
      sql` or `,
    );
  const named = sql.join(members.map((name) => sql.lit(name)));
  await sql`drop trigger service_contracts_record_change on service_contracts`.execute(db);
  await sql`drop trigger service_contracts_record_update on service_contracts`.execute(db);
  await sql`drop trigger service_contracts_tell_crm on service_contracts`.execute(db);
  await sql`
    create trigger service_contracts_record_change after insert or delete on service_contracts for each row
      execute function record_change('contract', ${named})`.execute(db);
  await sql`
    create trigger service_contracts_record_update after update on service_contracts for each row
      when (${changed(members)}) execute function record_change('contract', ${named})`.execute(db);
  const told = members.filter((name) => !/^(signup_id|.*user_id|.*account_id)$/.test(name));
  await sql`
    create trigger service_contracts_tell_crm after update on service_contracts for each row
      when (${changed(told)}) execute function tell_crm_of_contract()`.execute(db);
  await sql`
    create or replace function tell_crm_of_contract() returns trigger language plpgsql
      security definer ${path} set enable_seqscan = off as $$
    begin
      perform append_event('crm_app', 'contract.updated', coalesce(new.user_id, new.erased_user_id), new.id,
        jsonb_build_object('signup_id', new.signup_id, 'status', new.status, 'plan', new.plan,
          'trial_ends_at', case when isfinite(new.trial_ends_at) then new.trial_ends_at end, 'price_currency', new.price_currency,
          'price_unit_amount', new.price_unit_amount, 'price_interval', new.price_interval,
          'occurred_at', case when isfinite(new.occurred_at) then new.occurred_at else new.created_at end,
          'cancels_at', case when isfinite(new.cancels_at) then new.cancels_at end));
      return null;
    end $$`.execute(db);
}
