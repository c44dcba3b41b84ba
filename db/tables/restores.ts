// The only writer of `restores`: when this database was put back to an earlier time, by its own clock, and when billing went on
// after that. Until then it waits, which triggers see to (contract 7.340 to 7.346).
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

export async function insertRestore(db: Database): Promise<void> {
  await db.insertInto('restores').defaultValues().execute();
}

/** The restore that may be newer than a hand-off: its sender's clock may be fast by the leeway of contract 3.24 and 9.111. */
export const selectRestoreSince = (db: Database, { issuedAt }: { issuedAt: Date }) =>
  db
    .selectFrom('restores')
    .select('at')
    .where('at', '>=', sql<Date>`${issuedAt}::timestamptz - interval '30 seconds'`);

/** Since when billing waits; undefined if it does not. */
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

/** Lets billing go on. The result is whether it waited. */
export async function resumeBilling(db: Database): Promise<boolean> {
  const result = await db
    .updateTable('restores')
    .set({ billing_resumed_at: sql`clock_timestamp()` })
    .where('billing_resumed_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
