// The only writer of `lost_documents`: numbers that somebody may have got before the database was restored, and that it does not
// know. They are never given again, and each is explained: lost, or recovered from its file.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** Adds numbers that the last restore has lost. Billing waits since then. */
export async function insertLostDocuments(trx: Transaction<DB>, numbers: string[]): Promise<void> {
  await sql`
    insert into lost_documents (number, restored_at)
      select number, (select max(at) from restores where billing_resumed_at is null)
      from unnest(${numbers}::text[]) number`.execute(trx);
}

/** Notes that a lost document is back. False if it is not lost, or back already. */
export async function markRecovered(trx: Transaction<DB>, number: string): Promise<boolean> {
  const result = await trx
    .updateTable('lost_documents')
    .set({ recovered_at: sql`clock_timestamp()` })
    .where('number', '=', number)
    .where('recovered_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** The numbers that stay lost, in the order of their series. */
export async function listLostDocuments(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('lost_documents')
    .select('number')
    .where('recovered_at', 'is', null)
    .orderBy(sql`length(number)`)
    .orderBy(sql`number collate "C"`)
    .execute();
  return rows.map(({ number }) => number);
}
