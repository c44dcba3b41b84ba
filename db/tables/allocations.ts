// The only writer of `allocations`: which payment pays which invoice. A row never changes; what is taken back is a row with a
// minus.
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

/** The payments that pay an invoice, the oldest first, each with how much of it does. */
export async function listPaymentsOf(
  db: Database,
  invoiceId: number,
): Promise<{ id: string; paidAt: Date; method: string | null; reference: string | null; amount: number }[]> {
  const rows = await db
    .selectFrom('allocations as a')
    .innerJoin('payments as p', 'p.id', 'a.payment')
    .select([
      'p.id',
      'p.paid_at as paidAt',
      'p.method',
      'p.reference',
      sql<string>`sum(a.amount)`.as('amount'),
    ])
    .where('a.invoice', '=', String(invoiceId))
    .groupBy('p.id')
    .having(sql`sum(a.amount)`, '>', 0)
    .orderBy('p.paid_at')
    .orderBy('p.id')
    .execute();
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** What of a payment is allocated, or what is allocated to an invoice; the newest first. */
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
