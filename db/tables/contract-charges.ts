// The only writer of `contract_charges`: what the CRM charges or deducts besides the price, such as a setup fee. A charge is
// stored only once, even if the CRM reports it again (contract 7.530). `left_amount` is the part that is not on a document yet.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { ContractCharges, DB } from '../schema.ts';

/** `unitAmount` is the amount of a single item, in minor units. It is below 0 for a deduction. */
export type ContractCharge = {
  id: string;
  title: string;
  currency: string;
  unitAmount: number;
  quantity: number;
  due: 'now' | 'next';
};

/** `left` is the part of the amount that is not on a document yet. */
export type OpenCharge = ContractCharge & { left: number };

/** Stores the charges that have a new id, unless the account is erased. The caller has locked the contract. */
export async function insertCharges(
  trx: Transaction<DB>,
  contractId: string,
  charges: ContractCharge[],
): Promise<void> {
  if (charges.length === 0) return;
  // `at` is the position of the charge in the report. It is added to `recorded_at`, so that the charges keep the order of the
  // report.
  const rows = charges.map(({ unitAmount, ...charge }, at) => ({ ...charge, unit_amount: unitAmount, at }));
  await sql`
    insert into contract_charges (contract_id, id, title, currency, unit_amount, quantity, due, left_amount, recorded_at)
    select c.id, k.id, k.title, k.currency, k.unit_amount, k.quantity, k.due, k.unit_amount * k.quantity,
      now() + k.at * interval '1 microsecond'
    from service_contracts c, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as k (id text, title text, currency text, unit_amount bigint, quantity integer, due text, at integer)
    where c.id = ${contractId} and c.account_id is not null
    on conflict (contract_id, id) do nothing`.execute(trx);
}

/** Returns the charges with these ids as the CRM first reported them, in the order of `ids`. */
export async function findCharges(
  db: Database,
  contractId: string,
  ids: string[],
): Promise<ContractCharge[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('contract_charges')
    .select(['id', 'title', 'currency', 'unit_amount', 'quantity', 'due'])
    .where('contract_id', '=', contractId)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.id, readRow(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** A document has at most this many additions, and at most this many deductions. Further charges go onto further documents. */
const mostAtOnce = 100;

/**
 * Returns charges by contract, with additions before deductions. Among the additions, and among the deductions, charges due
 * `now` come before charges due with the next period. Charges that are alike in this keep the order in which they were
 * recorded.
 */
export async function listOpenChargesOf(
  db: Database,
  contractIds: string[],
): Promise<Map<string, OpenCharge[]>> {
  const { rows } = await sql<Selectable<ContractCharges>>`
    select k.* from unnest(${contractIds}::uuid[]) as c (id), (values (false), (true)) as d (is_deduction), lateral (
      select * from contract_charges
      where contract_id = c.id and left_amount <> 0 and (left_amount < 0) = d.is_deduction
      order by due = 'next', recorded_at, id limit ${sql.lit(mostAtOnce)}) k
    order by d.is_deduction, k.due = 'next', k.recorded_at, k.id`.execute(db);
  const found = new Map<string, OpenCharge[]>();
  for (const row of rows)
    found.set(row.contract_id, [
      ...(found.get(row.contract_id) ?? []),
      { ...readRow(row), left: Number(row.left_amount) },
    ]);
  return found;
}

export const listOpenCharges = async (db: Database, contractId: string): Promise<OpenCharge[]> =>
  (await listOpenChargesOf(db, [contractId])).get(contractId) ?? [];

/** The caller has locked the contract. */
export async function setChargesLeft(
  trx: Transaction<DB>,
  contractId: string,
  left: { id: string; left: number }[],
): Promise<void> {
  for (const charge of left)
    await trx
      .updateTable('contract_charges')
      .set({ left_amount: charge.left })
      .where('contract_id', '=', contractId)
      .where('id', '=', charge.id)
      .execute();
}

/** Ends the charges that wait for a period, because no period will begin (contract 7.532). The caller has locked the contract. */
export async function lapseCharges(trx: Transaction<DB>, contractId: string): Promise<void> {
  await trx
    .updateTable('contract_charges')
    .set({ left_amount: 0 })
    .where('contract_id', '=', contractId)
    .where('due', '=', 'next')
    .where('left_amount', '<>', '0')
    .execute();
}

const readRow = (
  row: Omit<Selectable<ContractCharges>, 'contract_id' | 'left_amount' | 'recorded_at'>,
): ContractCharge => ({
  id: row.id,
  title: row.title,
  currency: row.currency,
  unitAmount: Number(row.unit_amount),
  quantity: row.quantity,
  due: row.due as ContractCharge['due'],
});
