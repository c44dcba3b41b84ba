// The only writer of `document_files`: the PDF and the XML of a document, made once and kept as bytes.
import { sql, type Transaction } from 'kysely';
import type { DB } from '../schema.ts';

type NewFiles = { number: string; pdf: Uint8Array; xml?: string | null | undefined };

/** Keeps the files of a document, unless it has some already: the first ones stay. */
export async function insertFiles(
  trx: Transaction<DB>,
  { number, pdf, xml = null }: NewFiles,
): Promise<void> {
  // Their digests are taken of what the database has got.
  await sql`
    insert into document_files (number, pdf, pdf_sha256, xml, xml_sha256, made_at)
      select number, pdf, sha256(pdf), xml, sha256(xml), billing_now()
      from (values (${number}::text, ${pdf}::bytea, convert_to(${xml}::text, 'UTF8'))) as made (number, pdf, xml)
      on conflict (number) do nothing`.execute(trx);
}
