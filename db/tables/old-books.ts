// Which books are over their years, and what hangs together with them (contract 7.370 to 7.376). Reads only.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** What is of before that day of the seller, which begins at `at`, is over its years. */
export type Limit = { day: string; at: Date };

/** Where somebody is in a list, by the database's own instant, because a JavaScript Date has no microseconds. */
export type Position = { at: string; id: string };

export type ListOld = (
  db: Database,
  limit: Limit,
  page: { after: Position | undefined; size: number },
) => Promise<Position[]>;

/** Invoices of before the limit that are not open, the oldest first. What they hang together with may be newer, or open. */
export const listOldInvoices: ListOld = async (db, { at }, { after, size }) => {
  const { rows } = await sql<Position>`
    select issued_at::text as at, number::text as id from invoices
    where issued_at < ${at} and status <> 'open'
      and (issued_at, number) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? '0'}::bigint)
    order by issued_at, number limit ${size}`.execute(db);
  return rows;
};

/** Payments of before the limit that have never paid anything, the oldest first. */
export const listOldPayments: ListOld = async (db, { at }, { after, size }) => {
  const { rows } = await sql<Position>`
    select recorded_at::text as at, id from payments p
    where recorded_at < ${at} and kind = 'payment' and unallocated = 0
      and (recorded_at, id) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? ''}::text)
      and not exists (select from allocations where payment = p.id)
    order by recorded_at, id limit ${size}`.execute(db);
  return rows;
};

/** An invoice or a payment that a group is looked for by. */
export type Seed = { invoice: string } | { payment: string };

/** Ids, in their order. What went back of the payments is in the group, too. */
export type OldGroup = { invoices: number[]; payments: string[] };

/**
 * All that hangs together with a seed: a payment with each invoice that it has ever paid, and an invoice with those of its own
 * period, because it was issued again. Undefined where any of it is not over its years, or open, or where money that nobody has
 * dealt with names it; or where nothing is left of it.
 */
export async function findOldGroup(db: Database, seed: Seed, limit: Limit): Promise<OldGroup | undefined> {
  const [invoice, payment] = 'invoice' in seed ? [seed.invoice, null] : [null, seed.payment];
  const { rows } = await sql<{ invoices: string[]; payments: string[] }>`
    with recursive reached (invoice, payment) as (
      values (${invoice}::bigint, ${payment}::text)
      union
      select next.invoice, next.payment from reached r cross join lateral (
        select null::bigint as invoice, a.payment from allocations a where a.invoice = r.invoice
        union all
        select a.invoice, null from allocations a where a.payment = r.payment
        union all
        select o.number, null from invoices i
          join invoices o on o.contract_id = i.contract_id and o.period_starts_at = i.period_starts_at
          where i.number = r.invoice
      ) next
    ), owed as materialized (
      select number, coalesce(document, number::text) as called, status, issued_at
      from invoices where number in (select invoice from reached)
    ), money as materialized (
      select id, kind, unallocated, recorded_at from payments where id in (select payment from reached)
      union all
      select id, kind, unallocated, recorded_at from payments where of in (select payment from reached)
    )
    select array(select number::text from owed order by number) as invoices,
      array(select id from money where kind = 'payment' order by id collate "C") as payments
    where (exists (select from owed) or exists (select from money))
      and not exists (select from owed where status = 'open' or issued_at >= ${limit.at})
      and not exists (select from documents d join owed on d.invoice = owed.number
        where d.issued_on >= ${limit.day}::date)
      and not exists (select from money where unallocated <> 0 or recorded_at >= ${limit.at})
      and not exists (select from allocations a join owed on a.invoice = owed.number
        where a.recorded_at >= ${limit.at})
      and not exists (select from payments p join owed on owed.called = upper(p.invoice_number)
        where p.unallocated <> 0)`.execute(db);
  const [found] = rows;
  return found && { invoices: found.invoices.map(Number), payments: found.payments };
}

/** Keeps other instances from deleting books until the transaction ends. False if one is at it. */
export async function lockOldBooks(trx: Transaction<DB>): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('old books', 0)) as "isLocked"`.execute(trx);
  return rows[0]?.isLocked === true;
}

/** Lets this transaction delete from tables that keep what was recorded. */
export async function allowDeletion(trx: Transaction<DB>): Promise<void> {
  await sql`select set_config('identity.retention', 'on', true)`.execute(trx);
}
