// The only writer of `documents`. A document never changes.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB, Json } from '../schema.ts';
import { queueDocument } from './documents-to-make.ts';

/** `facts` is `DocumentFacts` of server/billing/values/document-facts.ts. */
export type NewDocument = {
  number: string;
  kind: 'invoice' | 'credit_note';
  /** For a credit note, this is the invoice that it corrects. */
  invoiceId: number;
  prefix: string;
  settingsVersion: number;
  issuedOn: string;
  firstDay: string;
  lastDay: string;
  currency: string;
  net: number;
  tax: number;
  total: number;
  category: 'S' | 'E' | 'O' | 'AE';
  rate: number;
  issuedAt: Date;
  facts: unknown;
};

/** Also adds the document to the queue, so that its files are made. */
export async function insertDocument(trx: Transaction<DB>, document: NewDocument): Promise<void> {
  await trx
    .insertInto('documents')
    .values({
      number: document.number,
      kind: document.kind,
      invoice: document.invoiceId,
      prefix: document.prefix,
      year: Number(document.issuedOn.slice(0, 4)),
      settings_version: document.settingsVersion,
      issued_on: document.issuedOn,
      first_day: document.firstDay,
      last_day: document.lastDay,
      currency: document.currency,
      net: document.net,
      tax: document.tax,
      total: document.total,
      category: document.category,
      rate: document.rate,
      issued_at: document.issuedAt,
      facts: JSON.stringify(document.facts) as unknown as Json,
    })
    .execute();
  await queueDocument(trx, document.number, document.issuedAt);
}

export async function hasDocuments(db: Database, accountId: string): Promise<boolean> {
  const { rows } = await sql`select from documents d join invoices i on i.number = d.invoice
    join service_contracts c on c.id = i.contract_id where c.account_id = ${accountId} limit 1`.execute(db);
  return rows.length > 0;
}

export async function findFacts(db: Database, number: string): Promise<unknown> {
  const row = await db
    .selectFrom('documents')
    .select('facts')
    .where('number', '=', number)
    .executeTakeFirst();
  return row?.facts;
}

export async function listCreditNotes(
  db: Database,
  invoiceId: number,
): Promise<{ number: string; issuedAt: Date; total: number }[]> {
  const rows = await db
    .selectFrom('documents')
    .select(['number', 'issued_at as issuedAt', 'total'])
    .where('invoice', '=', String(invoiceId))
    .where('kind', '=', 'credit_note')
    .orderBy('issued_at')
    .orderBy('number')
    .execute();
  return rows.map((row) => ({ ...row, total: Number(row.total) }));
}

export async function sumCredited(
  db: Database,
  invoiceId: number,
): Promise<{ net: number; tax: number; total: number }> {
  const sumOf = (column: 'net' | 'tax' | 'total') => sql<string>`coalesce(sum(${sql.ref(column)}), 0)`;
  const row = await db
    .selectFrom('documents')
    .select([sumOf('net').as('net'), sumOf('tax').as('tax'), sumOf('total').as('total')])
    .where('invoice', '=', String(invoiceId))
    .where('kind', '=', 'credit_note')
    .executeTakeFirstOrThrow();
  return { net: Number(row.net), tax: Number(row.tax), total: Number(row.total) };
}

export type DocumentEntry = Pick<NewDocument, 'number' | 'kind' | 'invoiceId' | 'facts'>;

export async function findDocumentOf(
  db: Database,
  number: string,
  accountId: string,
): Promise<DocumentEntry | undefined> {
  const row = await db
    .selectFrom('documents as d')
    .innerJoin('invoices as i', 'i.number', 'd.invoice')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select(['d.number', 'd.kind', 'd.invoice', 'd.facts'])
    .where('c.account_id', '=', accountId)
    .where('d.number', '=', number)
    .executeTakeFirst();
  if (!row) return undefined;
  const { invoice, kind, ...rest } = row;
  return { ...rest, kind: kind as DocumentEntry['kind'], invoiceId: Number(invoice) };
}

/** Reads the clock of the database, which dates all documents. */
export async function readClock(db: Database): Promise<Date> {
  const { at } = await db.selectNoFrom(sql<Date>`billing_now()`.as('at')).executeTakeFirstOrThrow();
  return at;
}
