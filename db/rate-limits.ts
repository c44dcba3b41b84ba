// `rate_limits` belongs to the rate limiter (server/identity/rate-limits.ts), which brings its own statements. Here is
// the one that joins a transaction of ours.
import type { Database } from './postgres/client.ts';
import { prepareDeferredWrite } from './postgres/prepare.ts';

const deleteByKey = prepareDeferredWrite((db, { key }: { key: string }) =>
  db.deleteFrom('rate_limits').where('key', '=', key),
);

export async function deleteRateLimit(db: Database, key: string): Promise<void> {
  await deleteByKey(db, { key });
}
