// Writes `invoice_changes`, which orders invoices by when they were issued or settled. A trigger writes this table too.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** An invoice as the API has it. `account_id` and `buyer` are null if the account is erased. */
type ChangedInvoice = {
  number: string;
  status: 'open' | 'paid' | 'void';
  currency: string;
  amount: number;
  open: number;
  due_on: string;
  buyer: string | null;
  signup_id: string;
  account_id: string | null;
};

/**
 * Returns the time of the last restore of this database in microseconds, or 0. After a restore, numbers may be given again, so a
 * cursor from before the restore must not be used. A count of restores could not tell two restores of one backup apart.
 */
export async function findLastRestore(db: Database): Promise<number> {
  const { rows } = await sql<{ at: string }>`
    select coalesce((extract(epoch from max(at)) * 1000000)::bigint, 0) as at from restores`.execute(db);
  return Number(rows[0]?.at ?? 0);
}

/** Returns 0 if no change has a number. */
export async function findLastChange(db: Database): Promise<number> {
  const { rows } = await sql<{ last: string }>`
    select coalesce(max(change), 0) as last from invoice_changes where change is not null`.execute(db);
  return Number(rows[0]?.last ?? 0);
}

/**
 * Numbers the next `limit` changes. Other callers wait until the transaction ends, so that numbers become visible in order. If
 * another transaction is settling an invoice now, that invoice is skipped, and gets its number in a later call.
 */
export async function numberChanges(trx: Transaction<DB>, limit: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('invoice changes', 0))`.execute(trx);
  await sql`
    with next as (
      select invoice from invoice_changes where not is_numbered order by invoice limit ${limit} for update skip locked)
    update invoice_changes c set change = numbered.change, is_numbered = true from (
      select invoice, row_number() over (order by invoice)
        + (select coalesce(max(change), 0) from invoice_changes where change is not null) as change from next) numbered
    where c.invoice = numbered.invoice`.execute(trx);
}

/** Lists invoices in the order of their last changes. */
export async function listChanged(
  db: Database,
  { after, limit, isOpen, zone }: { after: number; limit: number; isOpen: boolean; zone: string },
): Promise<(ChangedInvoice & { change: number })[]> {
  const { rows } = await sql<Omit<ChangedInvoice, 'amount' | 'open'> & Record<string, string>>`
    select n.change, coalesce(i.document, i.number::text) as number, i.status, i.currency, i.unit_amount as amount,
      i.unit_amount - i.credited - i.allocated as open,
      coalesce(d.facts->>'due_on', (i.due_at at time zone ${zone})::date::text) as due_on,
      case when c.account_id is not null then coalesce(d.facts #>> '{buyer,name}', i.buyer_name) end as buyer,
      c.signup_id, c.account_id
    from invoice_changes n join invoices i on i.number = n.invoice join service_contracts c on c.id = i.contract_id
      left join documents d on d.number = i.document
    where n.change > ${after} ${isOpen ? sql`and i.status = 'open'` : sql``}
    order by n.change limit ${limit}`.execute(db);
  return rows.map((row) => ({
    ...row,
    change: Number(row.change),
    amount: Number(row.amount),
    open: Number(row.open),
  }));
}
