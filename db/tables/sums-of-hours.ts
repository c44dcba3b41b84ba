// The only writer of `sums_of_hours`: what all instances have counted in each hour (contract 12.100 to 12.105).

import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { connectionOf } from '../postgres/transactions.ts';
import type { DB } from '../schema.ts';

export type Sum = { hour: Date; key: string; count: number; lastAt: Date };

/**
 * Adds to the hours, in one statement. Every caller goes through the rows in the same order, so that none waits for another in
 * a circle.
 */
export async function addToSums(db: Database, sums: readonly Sum[]): Promise<void> {
  const rows = sums.map(({ hour, key, count, lastAt }) => ({ hour, key, count, last_at: lastAt }));
  await sql`
    insert into sums_of_hours as kept (hour, key, count, last_at)
    select hour, key, count, last_at from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as counted (hour timestamptz, key text, count bigint, last_at timestamptz)
    order by hour, key
    on conflict (key, hour) do update set count = kept.count + excluded.count,
      last_at = greatest(kept.last_at, excluded.last_at)`.execute(db);
}

export type SumSince = { key: string; count: number; lastAt: Date };

/** The sums of the metrics with these names since the beginning of an hour, by key, with when each was last counted. */
export async function listSumsSince(
  db: Database,
  { since, names }: { since: Date; names: readonly string[] },
): Promise<SumSince[]> {
  const rows = await db
    .selectFrom('sums_of_hours')
    .select(({ fn }) => ['key', fn.sum('count').as('count'), fn.max('last_at').as('lastAt')])
    .where('hour', '>=', since)
    .where(sql<string>`split_part(key, '{', 1)`, 'in', names)
    .groupBy('key')
    .orderBy('key')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export type SumAt = { key: string; at: Date; count: number };

/** The sums since the beginning of an hour or a day, by key and by hours or days in UTC. */
export async function listSumsByTime(
  trx: Transaction<DB>,
  { since, unit }: { since: Date; unit: 'hour' | 'day' },
): Promise<SumAt[]> {
  // The rows of a month are more than Postgres sorts in memory by default, and it need not sort them.
  void connectionOf(trx).query("set local work_mem = '64MB'", []);
  const { rows } = await sql<{ key: string; at: Date; count: string }>`
    select key, date_trunc(${sql.lit(unit)}, hour, 'UTC') as at, sum(count) as count
    from sums_of_hours where hour >= ${since} group by 1, 2`.execute(trx);
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** When each of these keys was last counted, whenever that was, by key. */
export async function findLastCounted(db: Database, keys: readonly string[]): Promise<Map<string, Date>> {
  // One short walk on the primary key for each.
  const { rows } = await sql<{ key: string; lastAt: Date }>`
    select asked.key, newest.last_at as "lastAt" from unnest(${[...keys]}::text[]) as asked (key),
      lateral (select last_at from sums_of_hours s where s.key = asked.key order by hour desc limit 1) newest`.execute(
    db,
  );
  return new Map(rows.map(({ key, lastAt }) => [key, lastAt]));
}
