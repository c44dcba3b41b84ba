// The only writer of `payments`: money that came in or went back. A row never changes, but for what of it is not allocated.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** `amount` in minor units, above 0. */
export type Payment = {
  id: string;
  kind: 'payment' | 'refund' | 'paid_back';
  /** The payment that went back. */
  of: string | null;
  currency: string;
  amount: number;
  paidAt: Date;
  method: string | null;
  reference: string | null;
  /** The invoice that whoever paid named, which may be none of ours. */
  invoiceNumber: string | null;
  recordedAt: Date;
  recordedBy: 'payments' | 'staff' | 'operator';
  /** Of a payment, what is left of it. Of what went back, less than 0: what there was nothing to take from. */
  unallocated: number;
};

const columns = [
  'id',
  'kind',
  'of',
  'currency',
  'amount',
  'paid_at as paidAt',
  'method',
  'reference',
  'invoice_number as invoiceNumber',
  'recorded_at as recordedAt',
  'recorded_by as recordedBy',
  'unallocated',
] as const;

const selectPayments = (db: Database) => db.selectFrom('payments').select(columns);

type Row = Awaited<ReturnType<ReturnType<typeof selectPayments>['execute']>>[number];

const readRow = (row: Row): Payment => ({
  ...row,
  kind: row.kind as Payment['kind'],
  recordedBy: row.recordedBy as Payment['recordedBy'],
  amount: Number(row.amount),
  unallocated: Number(row.unallocated),
});

// Each takes a place in a table of the server's that all its transactions share.
const mostLocks = 500;

/**
 * Keeps all others from these payments, and from what went back of them, until the transaction ends. In one order for all. Of very
 * many, from all payments.
 */
export async function lockPayments(trx: Transaction<DB>, ids: string[]): Promise<void> {
  const sorted = [...new Set(ids)].sort();
  if (sorted.length > mostLocks) {
    await sql`select pg_advisory_xact_lock(hashtextextended('all payments', 0))`.execute(trx);
    return;
  }
  await sql`select pg_advisory_xact_lock_shared(hashtextextended('all payments', 0))`.execute(trx);
  for (const id of sorted)
    await sql`select pg_advisory_xact_lock(hashtextextended(${`payment ${id}`}, 0))`.execute(trx);
}

export async function findPayment(db: Database, id: string): Promise<Payment | undefined> {
  const row = await selectPayments(db).where('id', '=', id).executeTakeFirst();
  return row && readRow(row);
}

/** Those of the ids that are recorded. */
export async function findPayments(db: Database, ids: string[]): Promise<Payment[]> {
  const rows = await selectPayments(db).where(sql<boolean>`id = any(${ids})`).execute();
  return rows.map(readRow);
}

/** Payments of these amounts that a file has named, and that have letters or spaces beyond ASCII. */
export async function listImported(db: Database, amounts: number[]): Promise<Payment[]> {
  const rows = await selectPayments(db)
    .where('id', 'like', 'csv:%')
    .where(sql<boolean>`amount = any(${amounts})`)
    .where(sql<boolean>`concat(invoice_number, reference) ~ '[^ -~]'`)
    .execute();
  return rows.map(readRow);
}

/** What went back of a payment, the oldest first. */
export async function listReturns(db: Database, of: string): Promise<Payment[]> {
  const rows = await selectPayments(db).where('of', '=', of).orderBy('recorded_at').orderBy('id').execute();
  return rows.map(readRow);
}

/** Money that is not allocated, or that went back without having come; the oldest first. */
export async function listUnallocated(db: Database, limit: number): Promise<Payment[]> {
  const rows = await selectPayments(db)
    .where('unallocated', '<>', '0')
    .orderBy('recorded_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(readRow);
}

/** Payments of which something is left, and that name one of these invoices; the oldest first. */
export async function listWaitingFor(db: Database, numbers: string[]): Promise<Payment[]> {
  const rows = await selectPayments(db)
    .where('unallocated', '>', '0')
    .where(sql<boolean>`upper(invoice_number) = any(${numbers})`)
    .orderBy('recorded_at')
    .orderBy('id')
    .execute();
  return rows.map(readRow);
}

export async function insertPayment(
  trx: Transaction<DB>,
  payment: Omit<Payment, 'recordedAt'>,
): Promise<void> {
  await trx
    .insertInto('payments')
    .values({
      id: payment.id,
      kind: payment.kind,
      of: payment.of,
      currency: payment.currency,
      amount: payment.amount,
      paid_at: payment.paidAt,
      method: payment.method,
      reference: payment.reference,
      invoice_number: payment.invoiceNumber,
      recorded_at: sql`billing_now()`,
      recorded_by: payment.recordedBy,
      unallocated: payment.unallocated,
    })
    .execute();
}

export async function setUnallocated(trx: Transaction<DB>, id: string, unallocated: number): Promise<void> {
  await trx.updateTable('payments').set({ unallocated }).where('id', '=', id).execute();
}
