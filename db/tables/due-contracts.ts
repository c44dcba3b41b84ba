// Finds contracts to invoice, contracts past due, and contracts that have ended. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/** `except`: contracts that were looked at already. */
export type Search = { now: Date; limit: number; except: string[] };

// With this time and the pause between two runs, the job looks at each blocked contract within a minute (contract 7.68).
const holdMs = 50_000;

/**
 * Finds active contracts with a period that has begun. Also finds contracts with a waiting period, even ended ones if there is
 * still an account to invoice. A `tried_at` in the future comes from a clock that was set back.
 */
export async function findContractsToInvoice(
  db: Database,
  { now, limit, except }: Search,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (
      select id, next_period_starts_at as starts_at from service_contracts
      where status = 'active' and price_currency is not null and next_period_starts_at <= ${now}
        and (cancels_at is null or cancels_at > next_period_starts_at)
      union all
      select c.id, w.starts_at from waiting_periods w join service_contracts c on c.id = w.contract_id
      where c.status <> 'past_due' and c.account_id is not null
        and (w.tried_at is null or w.tried_at <= ${new Date(now.getTime() - holdMs)} or w.tried_at > ${now})
    ) due
    where id <> all(${except}::uuid[])
    group by id order by min(starts_at), id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Active contracts with an open invoice that makes them past due. */
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
    .where('c.status', '=', 'active')
    .where(sql<boolean>`c.id <> all(${except}::uuid[])`)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Trials that are over but stored as `trialing`. */
export async function findEndedTrials(db: Database, { now, limit, except }: Search): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('status', '=', 'trialing')
    .where('trial_ends_at', '<=', now)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy('trial_ends_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Contracts that a customer has ended but that are stored as running. */
export async function findCanceledContracts(db: Database, { now, limit, except }: Search): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('cancels_at', '<=', now)
    .where('status', 'in', ['trialing', 'active', 'past_due'])
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy('cancels_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
