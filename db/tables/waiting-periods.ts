// The only writer of `waiting_periods`: periods that have begun but are not invoiced, with their price at that time. Either such
// a period is blocked (contract 7.67), or its contract is past due (contract 7.82).
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** `unitAmount` is the price of all `quantity` together, in minor units of the ISO 4217 currency. */
export type Charge = {
  plan: string;
  price: { currency: string; unitAmount: number; quantity: number };
  startsAt: Date;
  endsAt: Date;
};

export const listWaitingPeriods = async (db: Database, contractId: string): Promise<Charge[]> =>
  (await listWaitingPeriodsOf(db, [contractId])).get(contractId) ?? [];

/** Returns periods by contract, the earliest first. A contract without waiting periods is left out. */
export async function listWaitingPeriodsOf(
  db: Database,
  contractIds: string[],
): Promise<Map<string, Charge[]>> {
  const rows = await db
    .selectFrom('waiting_periods')
    .select(['contract_id', 'plan', 'currency', 'unit_amount', 'quantity', 'starts_at', 'ends_at'])
    .where(sql<boolean>`contract_id = any(${contractIds}::uuid[])`)
    .orderBy('starts_at')
    .execute();
  const found = new Map<string, Charge[]>();
  for (const row of rows) {
    const charge = {
      plan: row.plan,
      price: { currency: row.currency, unitAmount: Number(row.unit_amount), quantity: row.quantity ?? 1 },
      startsAt: row.starts_at,
      endsAt: row.ends_at,
    };
    found.set(row.contract_id, [...(found.get(row.contract_id) ?? []), charge]);
  }
  return found;
}

/**
 * Stores exactly these charges as the contract's waiting periods. `blocked` says why the first charge cannot be invoiced, and
 * when that was tried. Without `blocked`, the notes of earlier tries stay.
 */
export async function setWaitingPeriods(
  trx: Transaction<DB>,
  contractId: string,
  charges: Charge[],
  blocked: { code: string; at: Date } | undefined,
): Promise<void> {
  await trx
    .deleteFrom('waiting_periods')
    .where('contract_id', '=', contractId)
    .where(sql<boolean>`starts_at <> all(${charges.map(({ startsAt }) => startsAt)}::timestamptz[])`)
    .execute();
  if (charges.length === 0) return;
  await trx
    .insertInto('waiting_periods')
    .values(
      charges.map(({ plan, price, startsAt, endsAt }) => ({
        contract_id: contractId,
        starts_at: startsAt,
        ends_at: endsAt,
        plan,
        currency: price.currency,
        unit_amount: price.unitAmount,
        quantity: price.quantity,
        held_code: blocked?.code ?? null,
        tried_at: blocked?.at ?? null,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['contract_id', 'starts_at']).doUpdateSet({
        held_code: sql`coalesce(excluded.held_code, waiting_periods.held_code)`,
        tried_at: sql`coalesce(excluded.tried_at, waiting_periods.tried_at)`,
      }),
    )
    .execute();
}
