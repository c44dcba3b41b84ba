// Deletes what has had its day, in small batches, on every instance.
import { sweepTable } from '../db/sweep.ts';
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

/** Of each kind batch after batch, until there is less than one left. */
export async function sweep({ db, now }: Services): Promise<void> {
  const at = now();
  const past = [
    { table: 'nonces', column: 'expires_at', before: at },
    { table: 'pending_links', column: 'expires_at', before: at },
    { table: 'sessions', column: 'created_at', before: sessionLimits(at).createdAfter },
    { table: 'rate_limits', column: 'expire', before: at.getTime() },
  ];
  for (const rows of past) {
    while ((await sweepTable(db, rows, batchSize)) === batchSize);
  }
}
