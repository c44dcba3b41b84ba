// The only writer of `documents`. A document never changes.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB, Json } from '../schema.ts';
import { queueDocument } from './documents-to-make.ts';

/** `facts` is `DocumentFacts` of server/billing/document-facts.ts. */
export type NewDocument = {
  number: string;
  kind: 'invoice' | 'credit_note';
  /** The id of its invoice, or of the invoice that it corrects. */
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

/** Adds a document, whose file is to be made. */
export async function insertDocument(trx: Transaction<DB>, document: NewDocument): Promise<void> {
  const { number, issuedAt } = document;
  await trx
    .insertInto('documents')
    .values({
      number,
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
      issued_at: issuedAt,
      facts: JSON.stringify(document.facts) as unknown as Json,
    })
    .execute();
  await queueDocument(trx, number, issuedAt);
}

/** What the document says; undefined if there is no such document. */
export async function findFacts(db: Database, number: string): Promise<unknown> {
  const row = await db
    .selectFrom('documents')
    .select('facts')
    .where('number', '=', number)
    .executeTakeFirst();
  return row?.facts;
}

/** By the clock of the database, which dates all documents. */
export async function readClock(db: Database): Promise<Date> {
  const { at } = await db.selectNoFrom(sql<Date>`billing_now()`.as('at')).executeTakeFirstOrThrow();
  return at;
}
