// Reads the accounting export of a span of days, in one snapshot. This file only reads.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { readSlices } from '../cursor.ts';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { replacing } from './lost-documents.ts';

/** The first and the last day of the span, in the time zone `zone`. */
export type Span = { zone: string; from: string; to: string };

/**
 * Amounts are in minor units, as text. `credited` and `allocated` are as of the end of the span. For a credit note, both are
 * null.
 */
export type BookedDocument = {
  number: string;
  kind: 'invoice' | 'credit_note';
  issued_on: string;
  due_on: string | null;
  first_day: string;
  last_day: string;
  currency: string;
  net: string;
  tax: string;
  total: string;
  /** Null for an invoice from before there was a seller. */
  category: string | null;
  rate: number;
  credited: string | null;
  allocated: string | null;
  /** For a credit note, the number of its invoice. */
  invoice: string | null;
  title: string;
  /** The lines of the document, and whether they are net or gross. Null if there is only one line. */
  lines: { title: string; quantity: number; amount: number; charge?: string }[] | null;
  prices: 'net' | 'gross' | null;
  buyer: string;
  buyer_country: string | null;
  vat_id: string | null;
  /** The country whose rules decided the tax. Null for an invoice from before there was a seller. */
  country: string | null;
  account: string;
  signup_id: string;
};

/**
 * The number of a document that a restore has lost. `issued_on` is the day of the restore. `invoice` is the number of the
 * invoice that takes the place of the lost document.
 */
export type BookedLoss = { number: string; kind: 'lost'; issued_on: string; invoice: string | null };

const endOf = ({ zone, to }: Span) => sql`((${to}::date + 1)::timestamp at time zone ${zone})`;
const startOf = ({ zone, from }: Span) => sql`(${from}::date::timestamp at time zone ${zone})`;

export async function* readDocuments(
  trx: Transaction<DB>,
  span: Span,
): AsyncGenerator<(BookedDocument | BookedLoss)[], void> {
  for await (const days of splitSpan(trx, span)) yield* readDocumentsOf(trx, span, days);
}

const documentsAtOnce = 2_000;

/**
 * Splits the span, because a cursor sorts all rows before it returns any. For years of documents, sorting takes longer than a
 * statement may.
 */
async function* splitSpan(trx: Transaction<DB>, { zone, from, to }: Span): AsyncGenerator<Span, void> {
  for (let start: string | undefined = from; start !== undefined; ) {
    const { rows } = await sql<{ last: string; next: string }>`
      select issued_on::text as last, (issued_on + 1)::text as next from documents
      where issued_on >= ${start}::date and issued_on < ${to}::date
      order by issued_on offset ${documentsAtOnce} limit 1`.execute(trx);
    yield { zone, from: start, to: rows[0]?.last ?? to };
    start = rows[0]?.next;
  }
}

/** Reads the documents of `days`, with sums as of the end of the span. */
const readDocumentsOf = (trx: Transaction<DB>, span: Span, days: Span) =>
  readSlices<BookedDocument | BookedLoss>(
    trx,
    'documents_of_books',
    sql`
      with booked as (
        select d.number, d.kind, d.issued_on, (d.facts->>'due_on')::date as due_on, d.first_day, d.last_day,
          d.currency, d.net, d.tax, d.total, d.category, d.rate, d.facts #>> '{invoice,number}' as invoice,
          case d.kind when 'invoice' then d.invoice end as id,
          d.facts #>> '{line,title}' as title, d.facts #>> '{buyer,name}' as buyer,
          coalesce(d.facts #>> '{buyer,address,country}', d.facts #>> '{buyer,country}') as buyer_country,
          d.facts #>> '{buyer,vat_id}' as vat_id, d.country, d.invoice as of, null::bigint as voided,
          d.facts -> 'lines' as lines, d.facts ->> 'prices' as prices
        from documents d
        union all
        select i.number::text, 'invoice', (i.issued_at at time zone ${span.zone})::date,
          (i.due_at at time zone ${span.zone})::date, (i.period_starts_at at time zone ${span.zone})::date,
          (i.period_ends_at at time zone ${span.zone})::date - 1,
          i.currency, i.unit_amount, 0, i.unit_amount, null, 0, null, i.number, i.plan, coalesce(i.buyer_name, ''),
          null, null, null, i.number, i.credited, null, null
        from invoices i
        -- An index finds these rows, and some of the days around. The condition on issued_on below keeps only the right days.
        where i.document is null and i.issued_at between ${startOf(days)} - interval '1 day' and ${endOf(days)} + interval '1 day'
        union all
        select l.number, 'lost', (l.restored_at at time zone ${span.zone})::date, null, null, null,
          null, null, null, null, null, null, ${replacing}, null, null, null, null, null, null, null, null, null, null
        from lost_documents l where l.recovered_at is null
      )
      select number, kind, issued_on::text, due_on::text, first_day::text, last_day::text, currency, net, tax, total,
        category, rate, invoice, title, lines, prices, buyer, buyer_country, vat_id, country, account, signup_id,
        case when id is null then null when voided is null then (
            select coalesce(sum(c.total), 0)::bigint from documents c
            where c.kind = 'credit_note' and c.invoice = booked.id and c.issued_on <= ${span.to}::date)
          -- When an invoice becomes void, its payments are freed.
          when then_allocated > 0 then 0
          else voided end as credited,
        case when id is not null then then_allocated end as allocated
      from booked
      left join lateral (
        select coalesce(c.account_id, c.erased_account_id) as account, c.signup_id
        from invoices i join service_contracts c on c.id = i.contract_id where i.number = booked.of) contract on true
      cross join lateral (
        select coalesce(sum(a.amount), 0)::bigint as then_allocated from allocations a
        where a.invoice = booked.id and a.recorded_at < ${endOf(span)}) paid
      where issued_on between ${days.from}::date and ${days.to}::date
      order by booked.issued_on, length(number), number collate "C"`,
  );

/** Sums of invoices less credit notes, in minor units as text. */
export type BookedSales = {
  country: string;
  currency: string;
  net: string;
  tax: string;
};

/**
 * Returns what was taxed by the rules of an EU country other than the seller's. `quarter` looks like 2026-Q4. For credit notes,
 * `corrected` is the earlier quarter of the credited invoices. The sums of a whole quarter are in one slice.
 */
export async function* readDistanceSales(
  trx: Transaction<DB>,
  span: Span,
  memberStates: string[],
): AsyncGenerator<(BookedSales & { quarter: string; rate: number; corrected: string | null })[], void> {
  const quarterOf = (day: RawBuilder<unknown>) => sql`to_char(${day}, 'YYYY-"Q"Q')`;
  for (const part of splitMonths(span, 3))
    yield* readSlices(
      trx,
      'distance_sales_of_books',
      sql`
        select quarter, country, rate, currency, nullif(corrected, quarter) as corrected,
          sum(sign * net)::text as net, sum(sign * tax)::text as tax
        from (
          select ${quarterOf(sql`d.issued_on`)} as quarter, ${quarterOf(sql`i.issued_on`)} as corrected, d.country, d.rate,
            d.currency, d.net, d.tax, case d.kind when 'invoice' then 1 else -1 end as sign
          from documents d join documents i on i.invoice = d.invoice and i.kind = 'invoice'
          where d.issued_on between ${part.from}::date and ${part.to}::date and d.category = 'S'
            and ${isAbroad(memberStates)}) sales
        group by 1, 2, 3, 4, 5 order by quarter, country, rate, currency, corrected nulls first`,
    );
}

/** Returns what was sold under reverse charge to buyers in other EU countries. `month` looks like 2026-11. */
export async function* readReversedSales(
  trx: Transaction<DB>,
  span: Span,
  memberStates: string[],
): AsyncGenerator<(Omit<BookedSales, 'tax'> & { month: string; vat_id: string })[], void> {
  for (const part of splitMonths(span, 1))
    yield* readSlices(
      trx,
      'reversed_sales_of_books',
      sql`
        select month, vat_id, country, currency, sum(net)::text as net from (
          select to_char(d.issued_on, 'YYYY-MM') as month, d.facts #>> '{buyer,vat_id}' as vat_id, d.country, d.currency,
            case d.kind when 'invoice' then d.net else -d.net end as net
          from documents d join documents i on i.invoice = d.invoice and i.kind = 'invoice'
          where d.issued_on between ${part.from}::date and ${part.to}::date and d.category = 'AE'
            and ${isAbroad(memberStates)}) sales
        group by 1, 2, 3, 4 order by month, vat_id collate "C", currency`,
    );
}

/**
 * Returns whether an EU country other than the seller's decided the tax of document `d`. The seller's country is their country
 * at the issue of the invoice, even if the seller moved before the credit note was issued.
 */
const isAbroad = (memberStates: string[]) => sql`d.country = any(${memberStates}) and d.country <> (
  select s.settings #>> '{seller,address,country}' from billing_settings s where s.version = i.settings_version)`;

/** Splits a span into calendar months or quarters, so that no statement reads many years. */
function* splitMonths(span: Span, months: 1 | 3): Iterable<Span> {
  for (let { from } = span; from <= span.to; ) {
    const [year, month] = from.split('-').map(Number) as [number, number];
    const next = Math.ceil(month / months) * months;
    const last = new Date(Date.UTC(year, next, 0)).toISOString().slice(0, 10);
    const [to = last] = [last, span.to].sort();
    yield { ...span, from, to };
    from = new Date(Date.UTC(year, next, 1)).toISOString().slice(0, 10);
  }
}

export type BookedMoney = {
  id: string;
  kind: string;
  of: string | null;
  currency: string;
  amount: string;
  unallocated: string;
  paid_on: string;
  recorded_on: string;
  method: string | null;
  reference: string | null;
};

/**
 * `unallocated` is as of the end of the span. For a payment, it is the amount that is neither allocated nor returned. For money
 * that went back, it is the part that the payment could not cover after earlier returns, as a number below 0.
 */
export const readMoney = (trx: Transaction<DB>, span: Span) =>
  readSlices<BookedMoney>(
    trx,
    'money_of_books',
    sql`
      select k.id, k.kind, k.of, k.currency, k.amount,
        case k.kind when 'payment' then
          k.amount - least(k.amount, ${sumOfReturns(sql`r.of = k.id and r.currency = k.currency`, span)}) - (
            select coalesce(sum(a.amount), 0)::bigint from allocations a
            where a.payment = k.id and a.recorded_at < ${endOf(span)})
        else coalesce((
          select least(k.amount, greatest(0, p.amount - ${sumOfReturns(
            sql`r.of = k.of and r.currency = k.currency and (r.recorded_at, r.id) < (k.recorded_at, k.id)`,
            span,
          )}))
          from payments p where p.id = k.of and p.kind = 'payment' and p.currency = k.currency
            and p.recorded_at < ${endOf(span)}), 0) - k.amount end as unallocated,
        (k.paid_at at time zone ${span.zone})::date::text as paid_on,
        (k.recorded_at at time zone ${span.zone})::date::text as recorded_on,
        k.method, k.reference
      from payments k
      where k.recorded_at >= ${startOf(span)} and k.recorded_at < ${endOf(span)}
      -- This is the order of an index, so Postgres sorts only rows that have the same time.
      order by k.recorded_at, k.id collate "C"`,
  );

const sumOfReturns = (are: RawBuilder<unknown>, span: Span) => sql`(
  select coalesce(sum(r.amount), 0)::bigint from payments r
  where r.kind <> 'payment' and r.recorded_at < ${endOf(span)} and ${are})`;

export type BookedAllocation = {
  payment: string;
  number: string;
  amount: string;
  currency: string;
  recorded_on: string;
};

export const readAllocations = (trx: Transaction<DB>, span: Span) =>
  readSlices<BookedAllocation>(
    trx,
    'allocations_of_books',
    sql`
      select a.payment, coalesce(i.document, i.number::text) as number, a.amount, i.currency,
        (a.recorded_at at time zone ${span.zone})::date::text as recorded_on
      from allocations a join invoices i on i.number = a.invoice
      where a.recorded_at >= ${startOf(span)} and a.recorded_at < ${endOf(span)}
      order by a.recorded_at, a.id`,
  );

/** Returns the current moment, to pass to `haveEnded`. */
export async function readMoment(db: Database): Promise<string> {
  const { rows } = await sql<{ moment: string }>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as moment`.execute(db);
  return rows[0]?.moment ?? '';
}

/** Returns whether each transaction has ended that had already written or locked a row at that moment. */
export async function haveEnded(db: Database, moment: string): Promise<boolean> {
  const { rows } = await sql<{ isSo: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${moment}::xid8 as "isSo"`.execute(db);
  return rows[0]?.isSo === true;
}
