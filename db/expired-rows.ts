// Deletes what has had its day, whatever table it is in.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/**
 * Deletes at most `limit` rows whose `column` lies before that point; how many there were. Rows that another
 * instance is at are skipped, so none waits for another.
 */
export async function deleteExpiredRows(
  db: Database,
  { table, column, before }: { table: string; column: string; before: RawBuilder<unknown> },
  limit: number,
): Promise<number> {
  const result = await sql`
    delete from ${sql.table(table)} where ctid = any (array(
      select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before} limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(result.numAffectedRows);
}
