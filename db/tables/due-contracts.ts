// Contracts that are to be invoiced, are overdue, or are at the end of a trial. Reads only.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/** `except`: the contracts that were looked at already. */
export type Search = { now: Date; limit: number; except: string[] };

/** Active contracts with a price and a next period that has begun, and waits for its invoice. */
export async function findContractsToInvoice(
  db: Database,
  { now, limit, except }: Search,
): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('status', '=', 'active')
    .where('price_currency', 'is not', null)
    .where('next_period_starts_at', '<=', now)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .orderBy('next_period_starts_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Active contracts with an open invoice that is due. */
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
    .where('i.due_at', '<=', now)
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
