// The only writer of `restores`: when this database was restored, by its own clock, and when billing resumed. Until then,
// triggers make billing wait (contract 7.340 to 7.346).
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

export async function insertRestore(db: Database): Promise<void> {
  await db.insertInto('restores').defaultValues().execute();
}

/** Finds a restore that may be later than the hand-off. The sender's clock may be 30 seconds fast (contract 3.24 and 9.111). */
export const selectRestoreSince = (db: Database, { issuedAt }: { issuedAt: Date }) =>
  db
    .selectFrom('restores')
    .select('at')
    .where('at', '>=', sql<Date>`${issuedAt}::timestamptz - interval '30 seconds'`);

/** Returns the instant since which billing waits. */
export async function findBillingPause(db: Database): Promise<Date | undefined> {
  const row = await db
    .selectFrom('restores')
    .select('at')
    .where('billing_resumed_at', 'is', null)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

/** Returns false if billing was not waiting. */
export async function resumeBilling(db: Database): Promise<boolean> {
  const result = await db
    .updateTable('restores')
    .set({ billing_resumed_at: sql`clock_timestamp()` })
    .where('billing_resumed_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
