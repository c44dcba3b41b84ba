// `rate_limits` is written by rate-limiter-flexible; this only clears it.
import type { Database } from './client.ts';

/** Deletes at most `limit` counters whose window is over; how many there were. */
export async function sweepRateLimits(db: Database, now: Date, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('rate_limits')
    .where('key', 'in', (query) =>
      query
        .selectFrom('rate_limits')
        .select('key')
        .where('expire', '<', String(now.getTime()))
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
