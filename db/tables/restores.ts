// The only writer of `restores`: when this database was put back to an earlier time, by its own clock.
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
