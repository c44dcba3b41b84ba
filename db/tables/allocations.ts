// The only writer of `allocations`: which payment pays which invoice. A row never changes. Taking money back adds a negative row.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export async function insertAllocation(
  trx: Transaction<DB>,
  { payment, invoiceId, amount }: { payment: string; invoiceId: number; amount: number },
): Promise<void> {
  await trx
    .insertInto('allocations')
    .values({ payment, invoice: invoiceId, amount, recorded_at: sql`billing_now()` })
    .execute();
}

/** Lists allocations in the order in which they were recorded. If the amount is negative, money was taken back. */
export async function listAllocations(
  db: Database,
  payments: string[],
): Promise<{ payment: string; number: string; amount: number }[]> {
  const { rows } = await sql<{ payment: string; number: string; amount: string }>`
    select a.payment, coalesce(i.document, i.number::text) as number, a.amount
    from allocations a join invoices i on i.number = a.invoice
    where a.payment = any(${payments}) order by a.id`.execute(db);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** Returns all payments that ever paid for an invoice, the oldest first. */
export async function listPaymentsOf(
  db: Database,
  invoiceId: number,
): Promise<
  {
    id: string;
    paidAt: Date;
    method: string | null;
    reference: string | null;
    received: number;
    wentBack: number;
    /** The amount that pays for this invoice now. */
    allocated: number;
  }[]
> {
  const rows = await db
    .selectFrom('allocations as a')
    .innerJoin('payments as p', 'p.id', 'a.payment')
    .select(['p.id', 'p.paid_at as paidAt', 'p.method', 'p.reference', 'p.amount as received'])
    .select(sql<string>`sum(a.amount)`.as('allocated'))
    .select((eb) =>
      eb
        .selectFrom('payments as r')
        .select(sql<string>`coalesce(sum(r.amount), 0)`.as('wentBack'))
        .whereRef('r.of', '=', 'p.id')
        .as('wentBack'),
    )
    .where('a.invoice', '=', String(invoiceId))
    .groupBy('p.id')
    .orderBy('p.paid_at')
    .orderBy('p.id')
    .execute();
  return rows.map((row) => ({
    ...row,
    received: Number(row.received),
    wentBack: Number(row.wentBack),
    allocated: Number(row.allocated),
  }));
}

export async function listAllocated(
  db: Database,
  of: { payment: string } | { invoiceId: number },
): Promise<{ payment: string; invoiceId: number; amount: number }[]> {
  const query = db
    .selectFrom('allocations')
    .select(['payment', 'invoice', sql<string>`sum(amount)`.as('amount')])
    .groupBy(['payment', 'invoice'])
    .having(sql`sum(amount)`, '>', 0)
    .orderBy(sql`max(id) filter (where amount > 0)`, 'desc');
  const rows = await ('payment' in of
    ? query.where('payment', '=', of.payment)
    : query.where('invoice', '=', String(of.invoiceId))
  ).execute();
  return rows.map((row) => ({
    payment: row.payment,
    invoiceId: Number(row.invoice),
    amount: Number(row.amount),
  }));
}
