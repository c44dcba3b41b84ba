// Deletes expired rows, whatever table they are in.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/**
 * Rows with a `column` before the instant `before`; the column must have an index. With `inOrderOf`, a second column of that
 * index, the rows are deleted strictly in that order, so that the rows left have no hole.
 */
export type ExpiredRows = { table: string; column: string; before: RawBuilder<unknown>; inOrderOf?: string };

/**
 * Locks and finds the oldest expired rows, but skips rows that another instance has locked: no instance waits for another. Rows
 * that go in order are all left to that instance (55P03). The order keeps Postgres on the index, even if half of the table has
 * expired.
 */
export const lockExpiredRows = ({ table, column, before, inOrderOf }: ExpiredRows, limit: number) => sql`
  select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before}
    order by ${sql.join([column, ...(inOrderOf ? [inOrderOf] : [])].map((each) => sql.ref(each)))}
    limit ${limit} for update ${inOrderOf ? sql`nowait` : sql`skip locked`}`;

/** Deletes at most `limit` expired rows. The result is how many it deleted. */
export async function deleteExpiredRows(db: Database, rows: ExpiredRows, limit: number): Promise<number> {
  const result = await sql`
    delete from ${sql.table(rows.table)} where ctid = any (array(${lockExpiredRows(rows, limit)}))`.execute(
    db,
  );
  return Number(result.numAffectedRows);
}
