// Deletes what has had its day, in small batches.
import { deleteExpiredRows } from '../../db/expired-rows.ts';
import { sessionLimits } from '../identity/sessions.ts';
import type { Services } from '../services.ts';

const batchSize = 1_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** Of each kind batch after batch, until there is less than one left. */
export async function sweep({ db, now }: Services, signal?: AbortSignal): Promise<void> {
  const at = now();
  const daysAgo = (days: number) => new Date(at.getTime() - days * dayMs);
  const past = [
    { table: 'nonces', column: 'expires_at', before: at },
    { table: 'pending_hand_offs', column: 'expires_at', before: at },
    { table: 'mail_tokens', column: 'expires_at', before: at },
    { table: 'sessions', column: 'created_at', before: sessionLimits(at).createdAfter },
    { table: 'webhook_requests', column: 'created_at', before: daysAgo(30) },
    // Sent or given up long ago: nothing is tried for so long.
    { table: 'mails', column: 'created_at', before: daysAgo(30) },
    { table: 'rate_limits', column: 'expire', before: at.getTime() },
  ];
  for (const rows of past) {
    while (!signal?.aborted && (await deleteExpiredRows(db, rows, batchSize)) === batchSize);
  }
}
