// The only writer of `invoices` and of the row that numbers them.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB, Invoices } from '../schema.ts';

/** `unitAmount` in minor units of the ISO 4217 currency. */
export type Invoice = {
  number: number;
  contractId: string;
  plan: string;
  periodStartsAt: Date;
  periodEndsAt: Date;
  currency: string;
  unitAmount: number;
  status: Invoices['status'];
  issuedAt: Date;
  dueAt: Date;
  paidAt: Date | null;
};

/** The columns of `invoices as i`. */
const columns = [
  'i.number',
  'i.contract_id',
  'i.plan',
  'i.period_starts_at',
  'i.period_ends_at',
  'i.currency',
  'i.unit_amount',
  'i.status',
  'i.issued_at',
  'i.due_at',
  'i.paid_at',
] as const;

/**
 * Adds an invoice with the next number. A second caller waits until the first commits or fails, so that no number is left out.
 */
export async function insertInvoice(trx: Transaction<DB>, invoice: Omit<Invoice, 'number'>): Promise<number> {
  const { last_number: number } = await trx
    .updateTable('invoice_numbers')
    .set((eb) => ({ last_number: eb('last_number', '+', '1') }))
    .returning('last_number')
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('invoices')
    .values({
      number,
      contract_id: invoice.contractId,
      plan: invoice.plan,
      period_starts_at: invoice.periodStartsAt,
      period_ends_at: invoice.periodEndsAt,
      currency: invoice.currency,
      unit_amount: invoice.unitAmount,
      status: invoice.status,
      issued_at: invoice.issuedAt,
      due_at: invoice.dueAt,
      paid_at: invoice.paidAt,
    })
    .execute();
  return Number(number);
}

/** The next invoice gets a number after that one. The result is the last number given. */
export async function skipInvoiceNumbers(trx: Transaction<DB>, upTo: number): Promise<number> {
  const row = await trx
    .updateTable('invoice_numbers')
    .set({ last_number: sql`greatest(last_number, ${upTo}::bigint)` })
    .returning('last_number')
    .executeTakeFirstOrThrow();
  return Number(row.last_number);
}

/** The invoice with that number, on any account. */
export async function findInvoice(db: Database, number: number): Promise<Invoice | undefined> {
  const row = await db
    .selectFrom('invoices as i')
    .select(columns)
    .where('i.number', '=', String(number))
    .executeTakeFirst();
  return row && readRow(row);
}

/** The invoice with that number, if it is on that account; with the buyer's name and address when it was issued. */
export async function findInvoiceOfAccount(
  db: Database,
  number: number,
  accountId: string,
): Promise<(Invoice & { buyerName: string; buyerEmail: string }) | undefined> {
  const row = await db
    .selectFrom('invoices as i')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select(columns)
    .select(['i.buyer_name as buyerName', 'i.buyer_email as buyerEmail'])
    .where('i.number', '=', String(number))
    .where('c.account_id', '=', accountId)
    .executeTakeFirst();
  // A trigger fills in name and address.
  return row && { ...readRow(row), buyerName: row.buyerName ?? '', buyerEmail: row.buyerEmail ?? '' };
}

/** The account's invoices, the newest first. */
export async function listInvoices(db: Database, accountId: string): Promise<Invoice[]> {
  const rows = await db
    .selectFrom('invoices as i')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select(columns)
    .where('c.account_id', '=', accountId)
    .orderBy('i.number', 'desc')
    .limit(100)
    .execute();
  return rows.map(readRow);
}

/** Closes the invoice, in one guarded statement: false if it was not open. */
export async function closeInvoice(
  db: Database,
  number: number,
  closing: { status: 'paid'; paidAt: Date } | { status: 'void'; paidAt: null },
): Promise<boolean> {
  const result = await db
    .updateTable('invoices')
    .set({ status: closing.status, paid_at: closing.paidAt })
    .where('number', '=', String(number))
    .where('status', '=', 'open')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function hasDueInvoice(db: Database, contractId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('invoices')
    .select('number')
    .where('contract_id', '=', contractId)
    .where('status', '=', 'open')
    .where('due_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const readRow = (row: Omit<Selectable<Invoices>, 'buyer_name' | 'buyer_email'>): Invoice => ({
  number: Number(row.number),
  contractId: row.contract_id,
  plan: row.plan,
  periodStartsAt: row.period_starts_at,
  periodEndsAt: row.period_ends_at,
  currency: row.currency,
  unitAmount: Number(row.unit_amount),
  status: row.status,
  issuedAt: row.issued_at,
  dueAt: row.due_at,
  paidAt: row.paid_at,
});
