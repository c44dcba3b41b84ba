// Finds contracts to invoice, contracts past due, and contracts that have ended. This file only reads.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { isMade } from './invoices.ts';

/** `except` lists contracts that were looked at already. */
export type Search = { now: Date; limit: number; except: string[] };

// A contract with a blocked period is not looked at again for this long. Together with the pause between two runs of the job,
// this is less than a minute (contract 7.68).
const holdMs = 50_000;

/** `in_force` has no row while there is no seller. */
export const inForce = sql`in_force as materialized (
  select coalesce((settings #>> '{terms,invoice_while_past_due}')::boolean, true) as invoices_past_due
  from billing_settings where counts_from <= billing_now() and stopped_at is null
  order by version desc limit 1)`;

/**
 * Contracts with charges that are invoiced without a period (contract 7.532 and 7.533). If deductions leave a sum of 0 or less,
 * there is nothing to invoice. `offset 0` makes Postgres look up only contracts with open charges, instead of reading all
 * contracts.
 */
const withDueCharges = sql`
  select c.id, min(k.recorded_at) as starts_at from contract_charges k,
    lateral (select * from service_contracts where id = k.contract_id offset 0) c
  where k.left_amount <> 0 and c.account_id is not null
    and exists (select from in_force where c.status <> 'past_due' or invoices_past_due)
    and (k.due = 'now' or ((c.status = 'canceled' or k.currency <> c.price_currency) and c.next_period_starts_at is not null))
    and not exists (select from waiting_periods w where w.contract_id = c.id)
  group by c.id, k.currency having sum(k.left_amount) > 0`;

/**
 * Finds the contracts that the job has to look at. These are active and past-due contracts with a period that has begun,
 * contracts with a waiting period, and contracts with due charges. A contract with a waiting period may have ended, but its
 * account must exist.
 * Periods that wait for a seller are left out until there is a seller. Waiting periods of past-due contracts are left out if the
 * settings stop invoices for such contracts. A `tried_at` in the future is ignored, because it comes from a clock that was set
 * back.
 */
export async function findContractsToInvoice(
  db: Database,
  { now, limit, except }: Search,
): Promise<string[]> {
  const begunOf = (status: 'active' | 'past_due') => sql`
      select id, next_period_starts_at as starts_at from service_contracts
      where status = ${sql.lit(status)} and price_currency is not null and next_period_starts_at <= ${now}
        and (cancels_at is null or cancels_at > next_period_starts_at)`;
  const { rows } = await sql<{ id: string }>`
    with ${inForce}
    select id from (
      ${begunOf('active')}
      union all
      ${begunOf('past_due')}
      union all
      select c.id, w.starts_at from waiting_periods w join service_contracts c on c.id = w.contract_id
      where c.account_id is not null and (c.status <> 'past_due' or (select invoices_past_due from in_force))
        and (w.held_code is distinct from 'no_seller' or exists (select from in_force))
        and (w.tried_at is null or w.tried_at <= ${new Date(now.getTime() - holdMs)} or w.tried_at > ${now})
      union all
      ${withDueCharges}
    ) due
    where id <> all(${except}::uuid[])
    group by id order by min(starts_at), id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

async function findBy(
  db: Database,
  { limit, except }: Search,
  column: 'credit_from' | 'trial_ends_at' | 'cancels_at',
  isDue: RawBuilder<boolean>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where(isDue)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy(column)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Finds contracts that the CRM has ended, if periods after the end may be invoiced already. Those periods must be credited. */
export const findContractsToCredit = (db: Database, search: Search): Promise<string[]> =>
  findBy(db, search, 'credit_from', sql`credit_from is not null`);

/** Finds active contracts with an open invoice that makes them past due. */
export async function findContractsInArrears(
  db: Database,
  { now, limit, except }: Search,
): Promise<string[]> {
  const rows = await db
    .selectFrom('invoices as i')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select('c.id')
    .distinct()
    .where('i.status', '=', 'open')
    .where(sql<boolean>`coalesce(i.past_due_at, i.due_at) <= ${now}`)
    .where(isMade)
    .where('c.status', '=', 'active')
    .where(sql<boolean>`c.id <> all(${except}::uuid[])`)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Finds trials that are over but stored as `trialing`. */
export const findEndedTrials = (db: Database, search: Search): Promise<string[]> =>
  findBy(db, search, 'trial_ends_at', sql`status = 'trialing' and trial_ends_at <= ${search.now}`);

/** Finds contracts that a customer has ended but that are stored as running. */
export const findCanceledContracts = (db: Database, search: Search): Promise<string[]> =>
  findBy(
    db,
    search,
    'cancels_at',
    sql`status in ('trialing', 'active', 'past_due') and cancels_at <= ${search.now}`,
  );
