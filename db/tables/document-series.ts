// The only writer of `document_series`: the numbers of documents, without gaps, a row for each prefix and year.
import { sql, type Transaction } from 'kysely';
import type { DB } from '../schema.ts';

/**
 * Takes the next number of a series. A second caller waits until the first commits or fails. The day is `today`, or that of the
 * number before if that is later, so days never go back in a series.
 */
export async function takeNumber(
  trx: Transaction<DB>,
  prefix: string,
  today: string,
): Promise<{ number: string; issuedOn: string }> {
  const year = today.slice(0, 4);
  const taken = await trx
    .insertInto('document_series')
    .values({ prefix, year: Number(year), last_number: 1, last_issued_on: today })
    .onConflict((conflict) =>
      conflict.columns(['prefix', 'year']).doUpdateSet({
        last_number: sql`document_series.last_number + 1`,
        last_issued_on: sql`greatest(document_series.last_issued_on, excluded.last_issued_on)`,
      }),
    )
    .returning(['last_number as number', sql<string>`last_issued_on::text`.as('issuedOn')])
    .executeTakeFirstOrThrow();
  return { number: `${prefix}${year}-${taken.number.padStart(4, '0')}`, issuedOn: taken.issuedOn };
}
