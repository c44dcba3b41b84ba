// Counts rows for pages that say "100+".
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/** Counts no further than `limit`. `from` is a statement without its `select`. */
export async function countUpTo(db: Database, limit: number, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select ${from} limit ${sql.lit(limit)}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}
