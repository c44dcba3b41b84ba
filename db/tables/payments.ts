// The only writer of `payments`: money that came in or went back. Only `unallocated` ever changes.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** `amount` is in minor units, above 0. */
export type Payment = {
  id: string;
  kind: 'payment' | 'refund' | 'paid_back';
  /** For money that went back: the id of the payment that brought it in. */
  of: string | null;
  currency: string;
  amount: number;
  paidAt: Date;
  method: string | null;
  reference: string | null;
  /** The invoice number as the payer wrote it. An invoice with this number may not exist. */
  invoiceNumber: string | null;
  recordedAt: Date;
  recordedBy: 'payments' | 'staff' | 'operator';
  /**
   * For a payment, this is the amount not yet allocated. For a refund, it is the amount that no payment covers, as a number below
   * 0.
   */
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

const listRows = async (query: ReturnType<typeof selectPayments>): Promise<Payment[]> =>
  (await query.execute()).map(readRow);

const selectOldestFirst = (db: Database) => selectPayments(db).orderBy('recorded_at').orderBy('id');

// Up to this many payments are locked one by one. All transactions of the server share one table of locks, so no transaction
// may hold too many.
const mostLocks = 500;

/**
 * Locks these payments and their refunds, in one order for all callers. If there are more ids than `mostLocks`, locks all
 * payments.
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

export const findPayments = (db: Database, ids: string[]): Promise<Payment[]> =>
  listRows(selectPayments(db).where(sql<boolean>`id = any(${ids})`));

/**
 * Finds imported payments of these amounts that have characters beyond ASCII in their invoice number or reference. Only for
 * such payments, version 0.5.0 may have made another id than this version makes (server/billing/payments/older-ids.ts).
 */
export const listImported = (db: Database, amounts: number[]): Promise<Payment[]> =>
  listRows(
    selectPayments(db)
      .where('id', 'like', 'csv:%')
      .where(sql<boolean>`amount = any(${amounts})`)
      .where(sql<boolean>`concat(invoice_number, reference) ~ '[^ -~]'`),
  );

/** `numbers` lists the invoices that the payment names or pays. */
type Dated = Pick<Payment, 'id' | 'kind' | 'currency' | 'amount' | 'reference'> & {
  day: string;
  numbers: string[];
};

/** Finds payments and refunds of these amounts in a span of days. The days are in the time zone `zone`. */
export async function listPaymentsIn(
  db: Database,
  { zone, from, to, amounts }: { zone: string; from: string; to: string; amounts: number[] },
): Promise<Dated[]> {
  const { rows } = await sql<Omit<Dated, 'amount'> & { amount: string }>`
    select p.id, p.kind, p.currency, p.amount, p.reference, (p.paid_at at time zone ${zone})::date::text as day,
      array_remove(upper(p.invoice_number) || array(
        select distinct coalesce(i.document, i.number::text)
        from allocations a join invoices i on i.number = a.invoice where a.payment = coalesce(p.of, p.id)), null) as numbers
    from payments p
    where p.kind <> 'paid_back' and p.amount = any(${amounts}::bigint[])
      and p.paid_at >= ${from}::date::timestamp at time zone ${zone}
      and p.paid_at < (${to}::date + 1)::timestamp at time zone ${zone}
    order by p.recorded_at, p.id`.execute(db);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** Lists the returns of a payment, the oldest first. */
export const listReturns = (db: Database, of: string): Promise<Payment[]> =>
  listRows(selectOldestFirst(db).where('of', '=', of));

export const listUnallocated = (db: Database, limit: number): Promise<Payment[]> =>
  listRows(selectOldestFirst(db).where('unallocated', '<>', '0').limit(limit));

/** Returns payments that name one of these invoices and are not fully allocated, the oldest first. */
export const listWaitingFor = (db: Database, numbers: string[]): Promise<Payment[]> =>
  listRows(
    selectOldestFirst(db)
      .where('unallocated', '>', '0')
      .where(sql<boolean>`upper(invoice_number) = any(${numbers})`),
  );

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
