// The only writer of `document_files`: the PDF and the XML of each document, which are made only one time.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

/** `missing` has the letters that the PDF shows as □. */
type NewFiles = { number: string; pdf: Uint8Array; xml?: string | null | undefined; missing?: string[] };

const longestList = 100;

/** If the document has files already, they stay as they are. */
export async function insertFiles(
  trx: Transaction<DB>,
  { number, pdf, xml = null, missing = [] }: NewFiles,
): Promise<void> {
  const unprinted = missing.slice(0, longestList).join('') || null;
  // The database computes the digests, so that each digest is of the bytes that the database received.
  await sql`
    insert into document_files (number, pdf, pdf_sha256, xml, xml_sha256, unprinted, made_at)
      select number, pdf, sha256(pdf), xml, sha256(xml), ${unprinted}::text, billing_now()
      from (values (${number}::text, ${pdf}::bytea, convert_to(${xml}::text, 'UTF8'))) as made (number, pdf, xml)
      on conflict (number) do nothing`.execute(trx);
}

export type FileKind = 'pdf' | 'xml';

/** `bytes` is null if the document has no file of that kind. It is undefined if the document's files are not made yet. */
export type FoundFile = { bytes: Uint8Array<ArrayBuffer> | null | undefined; facts: unknown };

/** Returns undefined if the account has no such document. */
export async function findFileOfAccount(
  db: Database,
  asked: { number: string; kind: FileKind; accountId: string },
): Promise<FoundFile | undefined> {
  const row = await select(db, asked)
    .innerJoin('invoices as i', 'i.number', 'd.invoice')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .where('c.account_id', '=', asked.accountId)
    .executeTakeFirst();
  return row && readRow(row);
}

/** Finds a file of a document on any account. */
export async function findFile(
  db: Database,
  asked: { number: string; kind: FileKind },
): Promise<FoundFile | undefined> {
  const row = await select(db, asked).executeTakeFirst();
  return row && readRow(row);
}

const select = (db: Database, { number, kind }: { number: string; kind: FileKind }) =>
  db
    .selectFrom('documents as d')
    .leftJoin('document_files as f', 'f.number', 'd.number')
    .select(['f.number as made', `f.${kind} as bytes`, 'd.facts'])
    .where('d.number', '=', number);

type Row = { made: string | null; bytes: Uint8Array | null; facts: unknown };

const readRow = ({ made, bytes, facts }: Row): FoundFile => ({
  bytes: made === null ? undefined : bytes && new Uint8Array(bytes),
  facts,
});
