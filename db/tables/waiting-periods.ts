// The only writer of `waiting_periods`: periods that have begun and are not invoiced, with the price that they began with. They
// are blocked (contract 7.67), or their contract is past due (contract 7.82).
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** A price and the period that it is for. `unitAmount` in minor units of the ISO 4217 currency. */
export type Charge = {
  plan: string;
  price: { currency: string; unitAmount: number };
  startsAt: Date;
  endsAt: Date;
};

/** The contract's, the first one first. */
export const listWaitingPeriods = async (db: Database, contractId: string): Promise<Charge[]> =>
  (await listWaitingPeriodsOf(db, [contractId])).get(contractId) ?? [];

/** Those of each of these contracts that has any, the first one first. */
export async function listWaitingPeriodsOf(
  db: Database,
  contractIds: string[],
): Promise<Map<string, Charge[]>> {
  const rows = await db
    .selectFrom('waiting_periods')
    .select(['contract_id', 'plan', 'currency', 'unit_amount', 'starts_at', 'ends_at'])
    .where(sql<boolean>`contract_id = any(${contractIds}::uuid[])`)
    .orderBy('starts_at')
    .execute();
  const charges = rows.map((row) => ({
    contractId: row.contract_id,
    plan: row.plan,
    price: { currency: row.currency, unitAmount: Number(row.unit_amount) },
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  }));
  const found = new Map<string, Charge[]>();
  for (const { contractId, ...charge } of charges)
    found.set(contractId, [...(found.get(contractId) ?? []), charge]);
  return found;
}

/**
 * Leaves exactly these waiting. `blocked` is why the first of them cannot be invoiced, and when that was tried; without it they keep
 * what was noted. `trx` has locked the contract.
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
    .$if(charges.length > 0, (query) => query.where('starts_at', '<', charges[0]?.startsAt ?? new Date(0)))
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
