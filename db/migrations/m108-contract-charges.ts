import { type Kysely, sql } from 'kysely';

/**
 * What the CRM can say of a contract: a quantity, charges, and an end at a day. `price_unit_amount` stays what all together cost a
 * period, because version 1.0.0 invoices it. `price_each` is what one costs. Both new columns count only while they make that sum, so a
 * price that 1.0.0 writes is a price of one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table service_contracts
    add column price_quantity integer,
    add column price_each bigint,
    add column reported_cancels_at timestamptz,
    add column chosen_cancels_at timestamptz,
    add column credit_from timestamptz,
    add constraint service_contracts_quantity_whole check (num_nonnulls(price_quantity, price_each) = any (array[0, 2])),
    add constraint service_contracts_quantity_known check (price_quantity >= 2 and price_quantity <= 100000)`.execute(
    db,
  );
  await sql`create index service_contracts_credit_from_idx on service_contracts (credit_from)
    where credit_from is not null`.execute(db);
  await sql`alter table waiting_periods add column quantity integer,
    add constraint waiting_periods_quantity_known check (quantity >= 1 and quantity <= 100000)`.execute(db);
  await sql`create table contract_charges (
    contract_id uuid not null,
    id text not null,
    title text not null,
    currency text not null,
    unit_amount bigint not null,
    quantity integer not null,
    due text not null,
    left_amount bigint not null,
    recorded_at timestamptz not null default now(),
    constraint contract_charges_pkey primary key (contract_id, id),
    constraint contract_charges_due_known check (due in ('now', 'next')),
    constraint contract_charges_quantity_known check (quantity between 1 and 100000),
    constraint contract_charges_left_within check (
      left_amount between least(0, unit_amount * quantity) and greatest(0, unit_amount * quantity)),
    constraint contract_charges_contract_id_fkey foreign key (contract_id) references service_contracts (id) on delete cascade
  )`.execute(db);
  await sql`create index contract_charges_open_idx on contract_charges (contract_id) where left_amount <> 0`.execute(
    db,
  );
  // The function looks for its tables where the baseline has put them.
  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(db);
  await sql`
    create or replace function tell_crm_of_contract() returns trigger
    language plpgsql security definer set search_path to ${sql.raw(rows[0]?.name ?? 'public')}, 'pg_temp' set enable_seqscan to 'off' as $$
    begin
      perform append_event('crm_app', 'contract.updated', coalesce(new.user_id, new.erased_user_id), new.id,
        jsonb_build_object('signup_id', new.signup_id, 'status', new.status, 'plan', new.plan,
          'trial_ends_at', case when isfinite(new.trial_ends_at) then new.trial_ends_at end, 'price_currency', new.price_currency,
          'price_unit_amount', new.price_unit_amount, 'price_interval', new.price_interval,
          'price_each', new.price_each, 'price_quantity', new.price_quantity,
          'occurred_at', case when isfinite(new.occurred_at) then new.occurred_at else new.created_at end,
          'cancels_at', case when isfinite(new.cancels_at) then new.cancels_at end));
      return null;
    end $$`.execute(db);
}
