// Deletes what has had its day, in small batches. When that is, the clock of the database says: an instance whose own is
// fast must not forget a nonce too early.
import { sql } from 'kysely';
import { deleteExpiredRows, type ExpiredRows } from '../../db/expired-rows.ts';
import { isDatabaseBusy } from '../../db/postgres/away.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { Dependencies } from '../instance/dependencies.ts';

// Five to ten milliseconds.
const batchSize = 1_000;

const daysAgo = (days: number) => sql`now() - make_interval(days => ${sql.lit(days)})`;

// docs/security/data.md says why each is kept for so long. Sessions that ended or idled are not looked for before their 30 days
// are over: an index on what changes with each visit would cost more than it frees.
export const expired: ExpiredRows[] = [
  // Longer than an instance's clock may be wrong (contract 9.109).
  { table: 'nonces', column: 'expires_at', before: sql`now() - interval '10 minutes'` },
  { table: 'used_passkey_challenges', column: 'expires_at', before: sql`now() - interval '10 minutes'` },
  { table: 'pending_hand_offs', column: 'expires_at', before: sql`now()` },
  { table: 'pending_logins', column: 'expires_at', before: sql`now()` },
  { table: 'mail_tokens', column: 'expires_at', before: sql`now()` },
  // A week longer than their links: the window of another may begin with them (contract 2.44).
  { table: 'take_back_changes', column: 'expires_at', before: daysAgo(7) },
  { table: 'pending_email_changes', column: 'expires_at', before: sql`now()` },
  { table: 'reserved_addresses', column: 'expires_at', before: sql`now()` },
  { table: 'sessions', column: 'created_at', before: daysAgo(30) },
  { table: 'webhook_requests', column: 'created_at', before: daysAgo(30) },
  // Sent or given up long ago: nothing is tried for so long.
  { table: 'mails', column: 'created_at', before: daysAgo(30) },
  { table: 'audit_events', column: 'at', before: daysAgo(400) },
  // Of whoever is still here, the history stays.
  { table: 'changes', column: 'erased_at', before: daysAgo(400) },
  { table: 'devices', column: 'last_login_at', before: daysAgo(400) },
  { table: 'launches', column: 'at', before: daysAgo(400) },
  // What is kept for a client is a run without holes (contract 10.2 and 10.22).
  { table: 'events', column: 'numbered_at', before: daysAgo(90), inOrderOf: 'seq' },
  // Of the column's own type, or its index would be of no use.
  { table: 'rate_limits', column: 'expire', before: sql`(extract(epoch from now()) * 1000)::bigint` },
];

/** Of each kind batch after batch, until there is less than one left. */
export async function sweep({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  for (const rows of expired) {
    while (!signal?.aborted) {
      const startedAt = performance.now();
      if ((await deleteBatch(db, rows)) < batchSize) break;
      // Rests as long as it worked: however many rows there are, and however slow the database is, requests come between.
      await rest(performance.now() - startedAt, signal);
    }
  }
}

/** None of those that go in order, where somebody else is at them. */
const deleteBatch = (db: Database, rows: ExpiredRows): Promise<number> =>
  deleteExpiredRows(db, rows, batchSize).catch((error) => {
    if (rows.inOrderOf && isDatabaseBusy(error)) return 0;
    throw error;
  });

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      // The signal lives as long as the process.
      signal?.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
