// The only writer of `document_series`, which numbers documents without gaps. It has one row for each prefix and year.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/**
 * Returns the next number of a series, and the document's day. A second caller waits until the first commits or fails. The year
 * of `earliest` decides the series. The document's day is `earliest`, or the day of the previous number if that is later. So
 * the days in a series never go back.
 */
export async function takeNumber(
  trx: Transaction<DB>,
  prefix: string,
  earliest: string,
): Promise<{ number: string; issuedOn: string }> {
  const year = earliest.slice(0, 4);
  const taken = await trx
    .insertInto('document_series')
    .values({ prefix, year: Number(year), last_number: 1, last_issued_on: earliest })
    .onConflict((conflict) =>
      conflict.columns(['prefix', 'year']).doUpdateSet({
        last_number: sql`document_series.last_number + 1`,
        last_issued_on: sql`greatest(document_series.last_issued_on, excluded.last_issued_on)`,
      }),
    )
    .returning(['last_number as number', sql<string>`last_issued_on::text`.as('issuedOn')])
    .executeTakeFirstOrThrow();
  return { number: writeNumber({ prefix, year: Number(year) }, taken.number), issuedOn: taken.issuedOn };
}

type Key = { prefix: string; year: number };

/** Writes a number such as INV-2026-0041 (contract 7.53). */
export const writeNumber = ({ prefix, year }: Key, number: number | string): string =>
  `${prefix}${year}-${String(number).padStart(4, '0')}`;

/** `lastNumber` is 0 if the series has no documents. */
export type Series = { lastNumber: number; lastIssuedOn: string };

/** Adds the series if it is missing. A new series has no documents, and its day is `today`. */
export async function lockSeries(
  trx: Transaction<DB>,
  { prefix, year }: Key,
  today: string,
): Promise<Series> {
  await trx
    .insertInto('document_series')
    .values({ prefix, year, last_number: 0, last_issued_on: today })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await trx
    .selectFrom('document_series')
    .select(['last_number', sql<string>`last_issued_on::text`.as('lastIssuedOn')])
    .where('prefix', '=', prefix)
    .where('year', '=', year)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { lastNumber: Number(row.last_number), lastIssuedOn: row.lastIssuedOn };
}

/**
 * Waits for all transactions that have taken a number. After that, no other transaction can take a number until this one ends.
 */
export async function lockAllNumbers(trx: Transaction<DB>): Promise<void> {
  // The locks are taken in the order in which an invoice takes its numbers.
  await sql`lock table document_series, invoice_numbers in exclusive mode`.execute(trx);
}

/** The next number will be above `lastNumber`, and its day not before `lastIssuedOn`. */
export async function raiseSeries(
  trx: Transaction<DB>,
  { prefix, year }: Key,
  { lastNumber, lastIssuedOn }: Series,
): Promise<void> {
  await trx
    .updateTable('document_series')
    .set({
      last_number: sql`greatest(last_number, ${lastNumber}::bigint)`,
      last_issued_on: sql`greatest(last_issued_on, ${lastIssuedOn}::date)`,
    })
    .where('prefix', '=', prefix)
    .where('year', '=', year)
    .execute();
}

/** Returns the last number of each series of this year and the year before. */
export async function listLastNumbers(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('document_series')
    .select(['prefix', 'year', 'last_number'])
    .where('last_number', '>', '0')
    .where('year', '>=', sql<number>`extract(year from now()) - 1`)
    .orderBy('year')
    .orderBy('prefix')
    .execute();
  return rows.map((row) => writeNumber(row, row.last_number));
}

/** Returns every prefix that the numbers of documents have or had. */
export async function listPrefixes(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('document_series').select('prefix').distinct().execute();
  return rows.map(({ prefix }) => prefix);
}

/** Returns 0 if the series has no number. */
export async function findLastNumber(db: Database, { prefix, year }: Key): Promise<number> {
  const row = await db
    .selectFrom('document_series')
    .select('last_number')
    .where('prefix', '=', prefix)
    .where('year', '=', year)
    .executeTakeFirst();
  return Number(row?.last_number ?? 0);
}
