// Deletes what has had its day, in small batches, on every instance: rows that another instance is at are
// skipped, so none waits for another.
import { sweepNonces } from '../db/nonces.ts';
import { sweepPendingLinks } from '../db/pending-links.ts';
import { sweepRateLimits } from '../db/rate-limits.ts';
import { sweepSessions } from '../db/sessions.ts';
import type { Services } from './backend.ts';
import { sessionLimits } from './identity/sessions.ts';
import type { Log } from './shell.ts';

const intervalMs = 60_000;
const batchSize = 1_000;

/** The result stops it, once the batch under way is done. */
export function startSweeper(services: Services, log: Log): () => Promise<void> {
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => sweep(services)).catch((err) => log.error({ err }, 'sweep failed'));
  }, intervalMs);
  return () => {
    clearInterval(timer);
    return running;
  };
}

/** One batch of each kind. */
export async function sweep({ db, now }: Services): Promise<void> {
  await sweepNonces(db, now(), batchSize);
  await sweepPendingLinks(db, now(), batchSize);
  await sweepSessions(db, sessionLimits(now()).createdAfter, batchSize);
  await sweepRateLimits(db, now(), batchSize);
}
