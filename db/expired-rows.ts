// Deletes what has had its day, whatever table it is in.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/**
 * Rows whose `column`, which must have an index, lies before that point. With `inOrderOf`, a second column of that index,
 * they go strictly in that order, so that those left have no hole.
 */
export type ExpiredRows = { table: string; column: string; before: RawBuilder<unknown>; inOrderOf?: string };

/**
 * Locks and finds the oldest, but for those that another instance is at: none waits for another. Those that go in order are
 * all left to that one (55P03). The order keeps Postgres on the index, also where half of the table has had its day.
 */
export const lockExpiredRows = ({ table, column, before, inOrderOf }: ExpiredRows, limit: number) => sql`
  select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before}
    order by ${sql.join([column, ...(inOrderOf ? [inOrderOf] : [])].map((each) => sql.ref(each)))}
    limit ${limit} for update ${inOrderOf ? sql`nowait` : sql`skip locked`}`;

/** Deletes at most `limit` of them; how many there were. */
export async function deleteExpiredRows(db: Database, rows: ExpiredRows, limit: number): Promise<number> {
  const result = await sql`
    delete from ${sql.table(rows.table)} where ctid = any (array(${lockExpiredRows(rows, limit)}))`.execute(
    db,
  );
  return Number(result.numAffectedRows);
}
