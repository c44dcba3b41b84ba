// The only writer of `sums_of_hours`: what all instances counted in each hour (contract 12.100 to 12.105). An instance with a
// fast clock may have counted in future hours. Reads leave those hours out.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { connectionOf } from '../postgres/transactions.ts';
import type { DB } from '../schema.ts';

export type Sum = { hour: Date; key: string; count: number; lastAt: Date };

/** All callers go through the rows in the same order, so that they do not deadlock. */
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

/** Returns the sums of the metrics with these names, by key. `since` is the beginning of an hour. */
export async function listSumsSince(
  db: Database,
  { since, now, names }: { since: Date; now: Date; names: readonly string[] },
): Promise<SumSince[]> {
  const rows = await db
    .selectFrom('sums_of_hours')
    .select(({ fn }) => ['key', fn.sum('count').as('count'), fn.max('last_at').as('lastAt')])
    .where('hour', '>=', since)
    .where('hour', '<=', now)
    .where(sql<string>`split_part(key, '{', 1)`, 'in', names)
    .groupBy('key')
    .orderBy('key')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export type SumAt = { key: string; at: Date; count: number };

/** Returns sums by key and by hour or day in UTC. `since` is the beginning of an hour or a day. */
export async function listSumsByTime(
  trx: Transaction<DB>,
  { since, now, unit }: { since: Date; now: Date; unit: 'hour' | 'day' },
): Promise<SumAt[]> {
  // Without this, Postgres would sort the rows of a month on disk, because they exceed the default memory.
  void connectionOf(trx).query("set local work_mem = '64MB'", []);
  const { rows } = await sql<{ key: string; at: Date; count: string }>`
    select key, date_trunc(${sql.lit(unit)}, hour, 'UTC') as at, sum(count) as count
    from sums_of_hours where hour >= ${since} and hour <= ${now} group by 1, 2`.execute(trx);
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/**
 * Compares two equally long spans, for each key. The present span runs from `since` to the beginning of the present hour. The
 * earlier span begins at `before`. Returns undefined if nothing was counted at or before `before`, because counting may then
 * have begun during the earlier span.
 */
export async function compareSums(
  trx: Transaction<DB>,
  { before, since, now, names }: { before: Date; since: Date; now: Date; names: readonly string[] },
): Promise<{ key: string; present: number; earlier: number }[] | undefined> {
  const { rows } = await sql<{ key: string | null; present: string; earlier: string }>`
    with hours as (select date_trunc('hour', ${now}::timestamptz, 'UTC') as present)
    select null as key, 0 as present, 0 as earlier where exists (select from sums_of_hours where hour <= ${before})
    union all
    select key, coalesce(sum(count) filter (where hour >= ${since}), 0),
      coalesce(sum(count) filter (where hour < ${since}), 0)
    from sums_of_hours, hours
    where split_part(key, '{', 1) = any(${[...names]}) and (hour >= ${since} and hour < present
      or hour >= ${before} and hour < present - (${since}::timestamptz - ${before}::timestamptz))
    group by key`.execute(trx);
  if (!rows.some(({ key }) => key === null)) return undefined;
  return rows.flatMap(({ key, present, earlier }) =>
    key === null ? [] : [{ key, present: Number(present), earlier: Number(earlier) }],
  );
}

export async function findLastCounted(
  db: Database,
  { keys, now }: { keys: readonly string[]; now: Date },
): Promise<Map<string, Date>> {
  // For each key of a sum, this takes one lookup in the table's primary key.
  const { rows } = await sql<{ key: string; lastAt: Date }>`
    select asked.key, newest.last_at as "lastAt" from unnest(${[...keys]}::text[]) as asked (key),
      lateral (select last_at from sums_of_hours s where s.key = asked.key and s.hour <= ${now} order by hour desc limit 1) newest`.execute(
    db,
  );
  return new Map(rows.map(({ key, lastAt }) => [key, lastAt]));
}
