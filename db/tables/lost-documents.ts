// The only writer of `lost_documents`: numbers that a restore has lost. Somebody may have received a document with such a
// number, so the number is never given again. A new invoice may take the place of a lost document (contract 7.420). Until
// version 0.6.0, a document could be recovered from its file (`recovered_at`).
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** Adds numbers that the last restore has lost, while billing is still paused. */
export async function insertLostDocuments(trx: Transaction<DB>, numbers: string[]): Promise<void> {
  await sql`
    insert into lost_documents (number, restored_at)
      select number, (select max(at) from restores where billing_resumed_at is null)
      from unnest(${numbers}::text[]) number`.execute(trx);
}

/** Returns the numbers that are lost. Locks their rows in the same order for all callers. */
export async function lockLost(trx: Transaction<DB>, numbers: string[]): Promise<string[]> {
  const { rows } = await sql<{ number: string }>`
    select number from lost_documents where number = any(${numbers}) and recovered_at is null
    order by number for update`.execute(trx);
  return rows.map(({ number }) => number);
}

/**
 * Returns the number of the invoice that takes the place of the lost document. If another transaction is choosing that invoice
 * now, this waits until the transaction ends.
 */
export async function findReplacing(db: Database, lost: string): Promise<string | undefined> {
  const { rows: known } = await sql`
    select from lost_documents where number = ${lost} and recovered_at is null for share`.execute(db);
  if (known.length === 0) return undefined;
  const { rows } = await sql<{ number: string | null }>`
    select ${replacing} as number from lost_documents l where l.number = ${lost}`.execute(db);
  return rows[0]?.number ?? undefined;
}

/**
 * The number of the invoice that takes the place of `lost_documents as l`. That invoice is among the first documents after the
 * restore.
 */
export const replacing = sql`(
  select d.number from documents d
  where d.issued_on >= l.restored_at::date - 1 and d.facts ->> 'replaces' = l.number
  order by d.issued_on limit 1)`;

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
