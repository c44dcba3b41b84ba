// Deletes expired rows by the database's clock, because an instance with a fast clock must not forget a nonce too early.
import { sql } from 'kysely';
import { deleteExpiredRows, type ExpiredRows } from '../../../db/expired-rows.ts';
import { isDatabaseBusy } from '../../../db/postgres/away.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { rest } from '../../basics/rest.ts';
import type { Dependencies } from '../../ground/dependencies.ts';

// Deleting a batch takes five to ten milliseconds.
const batchSize = 1_000;

const daysAgo = (days: number) => sql`now() - make_interval(days => ${sql.lit(days)})`;

// docs/security/data.md says why each table keeps rows for this long. Ended and idle sessions stay until their 30 days are over.
// Deleting them earlier would need an index on a column that changes with each visit.
export const expired: ExpiredRows[] = [
  // An instance's clock may be wrong by less than ten minutes (contract 9.109).
  { table: 'nonces', column: 'expires_at', before: sql`now() - interval '10 minutes'` },
  { table: 'used_passkey_challenges', column: 'expires_at', before: sql`now() - interval '10 minutes'` },
  { table: 'pending_hand_offs', column: 'expires_at', before: sql`now()` },
  { table: 'form_answers', column: 'expires_at', before: sql`now()` },
  { table: 'pending_logins', column: 'expires_at', before: sql`now()` },
  // An access token works for at most 12 hours.
  { table: 'oidc_grants', column: 'created_at', before: daysAgo(1) },
  { table: 'refused_forms', column: 'expires_at', before: sql`now()` },
  // The page that says why a link no longer works reads these rows (contract 9.203).
  { table: 'mail_tokens', column: 'expires_at', before: daysAgo(30) },
  // These rows stay for a week after their links have ended, because a newer take-back link also covers changes of the seven days
  // before (contract 2.44).
  { table: 'take_back_changes', column: 'expires_at', before: daysAgo(7) },
  { table: 'pending_email_changes', column: 'expires_at', before: sql`now()` },
  { table: 'new_addresses', column: 'expires_at', before: sql`now()` },
  { table: 'staff_invitations', column: 'expires_at', before: sql`now()` },
  { table: 'reserved_addresses', column: 'expires_at', before: sql`now()` },
  { table: 'sessions', column: 'created_at', before: daysAgo(30) },
  { table: 'webhook_requests', column: 'created_at', before: daysAgo(30) },
  // Mails of this age were sent or given up, because a mail is tried for less than 30 days.
  { table: 'mails', column: 'created_at', before: daysAgo(30) },
  { table: 'audit_events', column: 'at', before: daysAgo(400) },
  // Deletes only the history of erased people. The history of people who are still here stays.
  { table: 'changes', column: 'erased_at', before: daysAgo(400) },
  { table: 'devices', column: 'last_login_at', before: daysAgo(400) },
  { table: 'launches', column: 'at', before: daysAgo(400) },
  // A log-out is given up within seven days of its first try. After that, the client's page shows it for 30 days.
  { table: 'log_outs', column: 'made_at', before: daysAgo(40) },
  { table: 'sums_of_hours', column: 'hour', before: daysAgo(400) },
  // The events that are kept for a client must have no gaps, so they are deleted in order (contract 10.2 and 10.22).
  { table: 'events', column: 'numbered_at', before: daysAgo(90), inOrderOf: 'seq' },
  // The time is cast to the column's own type. Without the cast, Postgres cannot use the index.
  { table: 'rate_limits', column: 'expire', before: sql`(extract(epoch from now()) * 1000)::bigint` },
];

export async function sweep({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  for (const rows of expired) {
    while (!signal?.aborted) {
      const startedAt = performance.now();
      if ((await deleteBatch(db, rows)) < batchSize) break;
      // Pauses for as long as it worked, so that requests get their turn.
      await rest(performance.now() - startedAt, signal);
    }
  }
}

/** Deletes nothing if rows must be deleted in order and another instance is doing so now. */
const deleteBatch = (db: Database, rows: ExpiredRows): Promise<number> =>
  deleteExpiredRows(db, rows, batchSize).catch((error) => {
    if (rows.inOrderOf && isDatabaseBusy(error)) return 0;
    throw error;
  });
