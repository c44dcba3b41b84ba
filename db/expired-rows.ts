// Deletes expired rows of any table.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/**
 * Says which rows have expired: rows in which `column` is less than `before`. The column must have an index. `inOrderOf` names
 * the second column of that index. If `inOrderOf` is set, rows are deleted strictly in the order of the index, so the remaining
 * rows have no gap.
 */
export type ExpiredRows = { table: string; column: string; before: RawBuilder<unknown>; inOrderOf?: string };

/**
 * Skips rows that another instance has locked. If rows must be deleted in order, a locked row makes the statement fail instead
 * (55P03). The `order by` makes Postgres use the index even if half of the table has expired.
 */
export const lockExpiredRows = ({ table, column, before, inOrderOf }: ExpiredRows, limit: number) => sql`
  select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before}
    order by ${sql.join([column, ...(inOrderOf ? [inOrderOf] : [])].map((each) => sql.ref(each)))}
    limit ${limit} for update ${inOrderOf ? sql`nowait` : sql`skip locked`}`;

export async function deleteExpiredRows(db: Database, rows: ExpiredRows, limit: number): Promise<number> {
  const result = await sql`
    delete from ${sql.table(rows.table)} where ctid = any (array(${lockExpiredRows(rows, limit)}))`.execute(
    db,
  );
  return Number(result.numAffectedRows);
}
