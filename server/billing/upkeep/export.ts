// Writes the accounting export: a span of days as CSV, for a bookkeeper's program (contract 7.170 to 7.183). It reads one
// snapshot of the database, in slices that limit memory.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import {
  type BookedAllocation,
  type BookedDocument,
  type BookedLoss,
  type BookedMoney,
  haveEnded,
  readAllocations,
  readDistanceSales,
  readDocuments,
  readMoment,
  readMoney,
  readReversedSales,
  type Span,
} from '../../../db/tables/accounting-export.ts';
import { readClock } from '../../../db/tables/documents.ts';
import { liftIdleTimeouts, liftTimeouts } from '../../../db/timeouts.ts';
import { invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { findZone } from '../invoices/issue.ts';
import { memberStates } from '../values/countries.ts';
import { addDays, dayIn, startOfDay } from '../values/days.ts';
import { writeDecimal } from '../values/decimals.ts';
import { listLines } from '../values/document-facts.ts';

const headers = {
  'documents.csv':
    'number,kind,issued_on,due_on,period_first_day,period_last_day,currency,net,tax,total,credited,allocated,open,status,invoice,buyer,buyer_country,buyer_vat_id,category,rate,country,account,signup_id',
  'lines.csv': 'number,category,rate,net,title,kind,issued_on,currency,quantity,country',
  'tax.csv': 'number,category,rate,net,tax,kind,issued_on,currency,country',
  'money.csv': 'id,kind,of,currency,amount,unallocated,paid_on,recorded_on,method,reference',
  'allocations.csv': 'payment,number,amount,currency,recorded_on',
  'oss.csv': 'quarter,country,rate,currency,net,tax,corrected_quarter',
  'ec_sales.csv': 'month,vat_id,country,currency,net',
} as const;

export type BookName = keyof typeof headers;
export const bookNames = Object.keys(headers) as BookName[];

/** The export waits for each write, so the writer sets the pace. */
type Write = (name: BookName, records: string[][]) => Promise<void>;

type Days = { from: string; to: string };

/** Returns the seller's time zone. Throws 422 `validation_failed` if `from` is after `to`, or `to` is after today. */
export async function requireSpan(db: Database, { from, to }: Days): Promise<string> {
  const zone = await findZone(db);
  const today = dayIn(zone, await readClock(db));
  if (to > today) throw invalidMember('/to', faultWords.day_ahead);
  if (from > to) throw invalidMember('/from', faultWords.days_turned);
  return zone;
}

type Reading = {
  only?: BookName;
  /**
   * If a person waits for the export, this signal aborts when they leave. With a signal, statements have the usual time limit.
   */
  signal?: AbortSignal;
};

/** Returns the number of records in each file. Throws the same errors as `requireSpan`. */
export async function exportBooks(
  db: Database,
  { from, to }: Days,
  write: Write,
  { only, signal }: Reading = {},
): Promise<Record<BookName, number>> {
  await waitForOpenTransactions(db, { zone: await findZone(db), to }, signal);
  return inTransaction(
    db,
    { by: 'operator', cause: 'billing:export' },
    async (trx) => {
      await (signal ? liftIdleTimeouts(trx) : liftTimeouts(trx));
      const zone = await requireSpan(trx, { from, to });
      return writeBooks(trx, { zone, from, to }, write, only ? [only] : bookNames);
    },
    { begin: 'begin isolation level repeatable read', end: 'rollback' },
  );
}

const pauseMs = 100;
// From the end of the last day on, the export waits at most this long for open transactions. Our own transactions end sooner:
// statements after five seconds, and idle transactions after ten. But without this limit, transactions of other programs could
// delay the export for ever.
const longestMs = 10 * 60 * 1_000;

/**
 * A row is committed a little later than its timestamp says. So if the last day is over, this waits for transactions that are
 * still open. Otherwise a later export could have rows of that day that this one lacks (contract 7.182).
 */
async function waitForOpenTransactions(
  db: Database,
  { zone, to }: { zone: string; to: string },
  signal?: AbortSignal,
): Promise<void> {
  const now = (await readClock(db)).getTime();
  const endedAt = startOfDay(zone, addDays(to, 1)).getTime();
  if (now < endedAt) return;
  const moment = await readMoment(db);
  for (let leftMs = endedAt + longestMs - now; leftMs > 0; leftMs -= pauseMs) {
    signal?.throwIfAborted();
    if (await haveEnded(db, moment)) return;
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** These books are made of the same rows, one for each document. */
const ofDocuments: BookName[] = ['documents.csv', 'lines.csv', 'tax.csv'];

async function writeBooks(
  trx: Transaction<DB>,
  span: Span,
  write: Write,
  names: BookName[],
): Promise<Record<BookName, number>> {
  const counts = Object.fromEntries(bookNames.map((name) => [name, 0])) as Record<BookName, number>;
  for (const name of names) await write(name, [headers[name].split(',')]);
  async function add(name: BookName, list: () => string[][]): Promise<void> {
    if (!names.includes(name)) return;
    const records = list();
    counts[name] += records.length;
    if (records.length > 0) await write(name, records);
  }
  async function addAll<Row>(name: BookName, slices: AsyncIterable<Row[]>, toRecord: (row: Row) => string[]) {
    if (!names.includes(name)) return;
    for await (const rows of slices) await add(name, () => rows.map(toRecord));
  }
  if (names.some((name) => ofDocuments.includes(name)))
    for await (const documents of readDocuments(trx, span)) {
      const taxed = documents.filter(isTaxed);
      await add('documents.csv', () =>
        documents.map((row) => (row.kind === 'lost' ? toLoss(row) : toDocument(row))),
      );
      await add('lines.csv', () => taxed.flatMap(toLines));
      await add('tax.csv', () => taxed.map(toTax));
    }
  await addAll('money.csv', readMoney(trx, span), toMoney);
  await addAll('allocations.csv', readAllocations(trx, span), toAllocation);
  await addAll('oss.csv', readDistanceSales(trx, span, memberStates), toDistanceSales);
  await addAll('ec_sales.csv', readReversedSales(trx, span, memberStates), toReversedSales);
  return counts;
}

const decimal = (amount: string | bigint, currency: string) => writeDecimal(Number(amount), currency);

/** Invoices from before there was a seller appear only in documents.csv. */
const isTaxed = (row: BookedDocument | BookedLoss): row is BookedDocument =>
  row.kind !== 'lost' && row.category !== null;

/** A lost document has only its number, the day of the restore, and the invoice that replaces it. */
const toLoss = ({ number, kind, issued_on, invoice }: BookedLoss) => {
  const known: Record<string, string> = { number, kind, issued_on, invoice: invoice ?? '' };
  return headers['documents.csv'].split(',').map((column) => known[column] ?? '');
};

function toDocument(document: BookedDocument): string[] {
  const { currency, credited, allocated } = document;
  const amount = (minor: string | bigint) => decimal(minor, currency);
  const total = BigInt(document.total);
  const settled =
    credited === null || allocated === null
      ? ['', '', '', '']
      : ((open) => [
          ...[amount(credited), amount(allocated), amount(open)],
          total > 0n && BigInt(credited) === total ? 'void' : open === 0n ? 'paid' : 'open',
        ])(total - BigInt(credited) - BigInt(allocated));
  return [
    ...[document.number, document.kind, document.issued_on, document.due_on ?? ''],
    ...[document.first_day, document.last_day, currency],
    ...[document.net, document.tax, document.total].map(amount),
    ...settled,
    document.invoice ?? '',
    ...[document.buyer, document.buyer_country ?? '', document.vat_id ?? ''],
    ...[document.category ?? '', percent(document.rate), document.country ?? ''],
    ...[document.account, document.signup_id],
  ];
}

/** Writes 1900 as 19.00. */
const percent = (rate: number) => (rate / 100).toFixed(2);

function toLines(document: BookedDocument): string[][] {
  const { number, category, rate, kind, issued_on, currency, country, title, prices, lines } = document;
  const [net, total] = [Number(document.net), Number(document.total)];
  const line = { plan: '', title, description: null, first_day: '', last_day: '' };
  return listLines({ line, lines: lines ?? undefined, prices: prices ?? 'net', net, total }).map((each) => [
    ...[number, category ?? '', percent(rate), decimal(String(each.net), currency), each.title],
    ...[kind, issued_on, currency, String(each.quantity), country ?? ''],
  ]);
}

const toTax = ({ number, category, rate, net, tax, currency, kind, issued_on, country }: BookedDocument) => [
  ...[number, category ?? '', percent(rate), decimal(net, currency), decimal(tax, currency)],
  ...[kind, issued_on, currency, country ?? ''],
];

const toMoney = (money: BookedMoney) => [
  ...[money.id, money.kind, money.of ?? '', money.currency],
  ...[money.amount, money.unallocated].map((each) => decimal(each, money.currency)),
  ...[money.paid_on, money.recorded_on, money.method ?? '', money.reference ?? ''],
];

const toAllocation = ({ payment, number, amount, currency, recorded_on }: BookedAllocation) => [
  ...[payment, number, decimal(amount, currency), currency, recorded_on],
];

type Read<Of> = Of extends (...args: never[]) => AsyncGenerator<(infer Row)[], void> ? Row : never;

const toDistanceSales = (sales: Read<typeof readDistanceSales>) => [
  ...[sales.quarter, sales.country, percent(sales.rate), sales.currency],
  ...[sales.net, sales.tax].map((each) => decimal(each, sales.currency)),
  sales.corrected ?? '',
];

const toReversedSales = ({ month, vat_id, country, currency, net }: Read<typeof readReversedSales>) => [
  ...[month, vat_id, country, currency, decimal(net, currency)],
];
