// Deletes what has had its day, in small batches. When that is, the clock of the database says: an instance whose own is
// fast must not forget a nonce too early.
import { sql } from 'kysely';
import { deleteExpiredRows } from '../../db/expired-rows.ts';
import type { Services } from '../services.ts';

const batchSize = 1_000;

const daysAgo = (days: number) => sql`now() - make_interval(days => ${sql.lit(days)})`;

// docs/security.md says why each is kept for so long.
const expired = [
  // Longer than an instance's clock may be wrong (contract section 9).
  { table: 'nonces', column: 'expires_at', before: sql`now() - interval '10 minutes'` },
  { table: 'pending_hand_offs', column: 'expires_at', before: sql`now()` },
  { table: 'mail_tokens', column: 'expires_at', before: sql`now()` },
  { table: 'sessions', column: 'created_at', before: daysAgo(30) },
  { table: 'webhook_requests', column: 'created_at', before: daysAgo(30) },
  // Sent or given up long ago: nothing is tried for so long.
  { table: 'mails', column: 'created_at', before: daysAgo(30) },
  { table: 'audit_events', column: 'at', before: daysAgo(400) },
  { table: 'devices', column: 'last_login_at', before: daysAgo(400) },
  { table: 'launches', column: 'at', before: daysAgo(400) },
  { table: 'rate_limits', column: 'expire', before: sql`extract(epoch from now()) * 1000` },
];

/** Of each kind batch after batch, until there is less than one left. */
export async function sweep({ db }: Services, signal?: AbortSignal): Promise<void> {
  for (const rows of expired) {
    while (!signal?.aborted && (await deleteExpiredRows(db, rows, batchSize)) === batchSize);
  }
}
