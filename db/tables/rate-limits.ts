// `rate_limits` belongs to the rate limiter (server/ground/rate-limits.ts), which has its own statements. The statements here
// take part in our transactions.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare } from '../postgres/prepare.ts';

/**
 * Subtracts one try from a count whose limit is `tries`. `expiresBefore` is in milliseconds since 1970. If a count expires at
 * that time or later, it belongs to a later period than the try, so it stays as it is.
 */
export const giveBackTry = prepare((db, values: { key: string; tries: number; expiresBefore: number }) =>
  db
    .updateTable('rate_limits')
    // Refused tries may have raised the count above the limit.
    .set({ points: sql`least(points, ${values.tries}::integer) - 1` })
    .where('key', '=', values.key)
    .where('points', '>', 0)
    .where('expire', '<', sql<string>`${values.expiresBefore}::bigint`),
);

type Count = { key: string; times: number; windowMs: number };

const nowMs = sql<string>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

const countOne = prepare((db, { key, times, windowMs }: Count) => {
  const isOver = sql<boolean>`rate_limits.expire <= ${nowMs}`;
  const expire = sql<string>`${nowMs} + ${windowMs}::bigint`;
  return db
    .insertInto('rate_limits')
    .values({ key, points: 1, expire })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({
          points: sql`case when ${isOver} then 1 else rate_limits.points + 1 end`,
          expire: sql`case when ${isOver} then excluded.expire else rate_limits.expire end`,
        })
        .where(sql<boolean>`(${isOver} or rate_limits.points < ${times}::integer)`),
    )
    .returning('points');
});

/** Returns false if the current period is full. In this case nothing is counted. */
export async function countChange(trx: Database, count: Count): Promise<boolean> {
  return (await countOne(trx, count)).length > 0;
}

/**
 * Returns the milliseconds until none of these counts is full, or undefined if none is full now. This does not count as a try.
 */
export async function findFullCount(
  db: Database,
  ...counts: Pick<Count, 'key' | 'times'>[]
): Promise<number | undefined> {
  const found = await db
    .selectFrom('rate_limits')
    .select(sql<number | null>`(max(expire) - ${nowMs})::float8`.as('waitMs'))
    .where((is) => is.or(counts.map(({ key, times }) => is.and({ key }).and('points', '>=', times))))
    .where('expire', '>', nowMs)
    .executeTakeFirst();
  return found?.waitMs ?? undefined;
}
