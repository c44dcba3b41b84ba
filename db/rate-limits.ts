// `rate_limits` belongs to the rate limiter (server/identity/rate-limits.ts), which brings its own statements. Here is
// the one that joins a transaction of ours.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';
import { prepareDeferredWrite } from './postgres/prepare.ts';

const giveBack = prepareDeferredWrite((db, values: { key: string; tries: number; expiresBefore: number }) =>
  db
    .updateTable('rate_limits')
    // Tries that were refused have counted on, past the limit.
    .set({ points: sql`least(points, ${values.tries}::integer) - 1` })
    .where('key', '=', values.key)
    .where('points', '>', 0)
    .where('expire', '<', sql<string>`${values.expiresBefore}::bigint`),
);

/**
 * Takes one from a count that stops at `tries`, but not from that of a later time: `expiresBefore` is in milliseconds
 * since 1970.
 */
export async function giveBackTry(
  db: Database,
  count: { key: string; tries: number; expiresBefore: number },
): Promise<void> {
  await giveBack(db, count);
}
