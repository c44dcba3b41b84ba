// Contracts that are to be invoiced, are overdue, or are at the end of a trial. Reads only.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/** `except`: the contracts that were looked at already. */
export type Search = { now: Date; limit: number; except: string[] };

// Often enough for somebody who waits for it, and no load.
const holdMs = 60_000;

/**
 * Active contracts with a price and a next period that has begun, and waits for its invoice. One that is held is looked at once a
 * minute, also after it has ended.
 */
export async function findContractsToInvoice(
  db: Database,
  { now, limit, except }: Search,
): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where(
      sql<boolean>`(status = 'active' or status = 'canceled' and held_code is not null and account_id is not null)`,
    )
    .where('price_currency', 'is not', null)
    .where('next_period_starts_at', '<=', now)
    .where(sql<boolean>`(held_at is null or held_at <= ${new Date(now.getTime() - holdMs)})`)
    .where(sql<boolean>`(cancels_at is null or cancels_at > next_period_starts_at)`)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy('next_period_starts_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Active contracts with something open past its days. */
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

/** Trials that are over and stored as `trialing`. */
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

/** Contracts that a customer has ended, and that are stored as running. */
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
