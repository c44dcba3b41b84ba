// The only writer of `waiting_periods`: periods that have begun and are not invoiced, with the price that they began with. They
// are held (contract 7.67), or their contract is past due (contract 7.82).
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
export async function listWaitingPeriods(db: Database, contractId: string): Promise<Charge[]> {
  const rows = await db
    .selectFrom('waiting_periods')
    .select(['plan', 'currency', 'unit_amount', 'starts_at', 'ends_at'])
    .where('contract_id', '=', contractId)
    .orderBy('starts_at')
    .execute();
  return rows.map((row) => ({
    plan: row.plan,
    price: { currency: row.currency, unitAmount: Number(row.unit_amount) },
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  }));
}

/**
 * Leaves exactly these waiting. `held` is why the first of them cannot be invoiced, and when that was tried; without it they keep
 * what was noted. `trx` has locked the contract.
 */
export async function setWaitingPeriods(
  trx: Transaction<DB>,
  contractId: string,
  charges: Charge[],
  held: { code: string; at: Date } | undefined,
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
        held_code: held?.code ?? null,
        tried_at: held?.at ?? null,
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
