// Reads the invoices and credit notes of an account, as its owner sees them. This file only reads.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { Invoices } from '../schema.ts';

/**
 * `facts` is null for an invoice from before there was a seller. For a credit note, `plan` and all members after it are those
 * of its invoice.
 */
export type OwnDocument = {
  kind: 'invoice' | 'credit_note';
  number: string;
  issuedAt: Date;
  facts: unknown;
  plan: string;
  currency: string;
  unitAmount: number;
  open: number;
  status: Invoices['status'];
  dueAt: Date;
};

type Row = Omit<OwnDocument, 'unitAmount' | 'open'> & { unitAmount: string; open: string };

const ofInvoice = sql`i.plan, i.currency, i.unit_amount as "unitAmount",
  i.unit_amount - i.credited - i.allocated as open, i.status, i.due_at as "dueAt"`;

/** `at` is text, because a JavaScript Date has no microseconds. */
type Position = { at: string; number: string };

/** With a `-` at the beginning, the newest come first. */
export const documentSorts = ['issued', '-issued'] as const;

export type DocumentSort = (typeof documentSorts)[number];

type Page = { accountId: string; limit: number; sort: DocumentSort };

/** `before` is the number of a document. This returns only documents that come after it in the list. */
export async function listOwnDocuments(
  db: Database,
  { before, ...page }: Page & { before?: string | undefined },
): Promise<OwnDocument[]> {
  const last = before === undefined ? undefined : await findPosition(db, page.accountId, before);
  if (before !== undefined && !last) return [];
  const { rows } = await selectOwnDocuments({ ...page, last }).execute(db);
  return rows.map(readRow);
}

/** Selects the first documents of each contract by an index, and then the first of all these documents. */
export function selectOwnDocuments(page: Page & { last?: Position | undefined }): RawBuilder<Row> {
  const { accountId, limit, sort, last } = page;
  const [order, follows] = sort === 'issued' ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const isAfter = (at: RawBuilder<unknown>, number: RawBuilder<unknown>) =>
    last ? sql`(${at}, ${number}) ${follows} (${last.at}::timestamptz, ${last.number}::text)` : sql`true`;
  return sql<Row>`
    select page.* from service_contracts c cross join lateral (
      (select d.kind, d.number, d.issued_at as "issuedAt", d.facts, ${ofInvoice}
      from documents d join invoices i on i.number = d.invoice
      where d.facts #>> '{record,contract_id}' = c.id::text and ${isAfter(sql`d.issued_at`, sql`d.number`)}
      order by d.issued_at ${order}, d.number ${order} limit ${limit})
      union all
      (select 'invoice', i.number::text, i.issued_at, null::jsonb, ${ofInvoice}
      from invoices i
      where i.contract_id = c.id and i.document is null and ${isAfter(sql`i.issued_at`, sql`i.number::text`)}
      order by i.issued_at ${order}, i.number::text ${order} limit ${limit})) page
    where c.account_id = ${accountId} order by page."issuedAt" ${order}, page.number ${order} limit ${limit}`;
}

async function findPosition(db: Database, accountId: string, number: string): Promise<Position | undefined> {
  const id = /^[1-9]\d{0,14}$/.test(number) ? number : null;
  const { rows } = await sql<Position>`
    select coalesce(d.issued_at, i.issued_at)::text as at, coalesce(d.number, i.number::text) as number
    from service_contracts c join invoices i on i.contract_id = c.id left join documents d on d.invoice = i.number
    where c.account_id = ${accountId}
      and (d.number = ${number} or (i.number = ${id}::bigint and i.document is null))`.execute(db);
  return rows[0];
}

/** Returns open invoices in the order in which they are due. */
export async function listOpenOf(
  db: Database,
  { accountId, limit }: { accountId: string; limit: number },
): Promise<OwnDocument[]> {
  const { rows } = await sql<Row>`
    select 'invoice' as kind, coalesce(i.document, i.number::text) as number, i.issued_at as "issuedAt", d.facts,
      ${ofInvoice}
    from service_contracts c join invoices i on i.contract_id = c.id left join documents d on d.number = i.document
    where c.account_id = ${accountId} and i.status = 'open' order by i.due_at, i.number limit ${limit}`.execute(
    db,
  );
  return rows.map(readRow);
}

/**
 * Returns unallocated money by currency. It comes from payments that name an invoice of the account, or that paid for such an
 * invoice earlier. Leaves out payments that also concern another account, because an administrator must decide which account
 * they belong to.
 */
export async function listOwnUnused(
  db: Database,
  accountId: string,
): Promise<{ currency: string; amount: number }[]> {
  const { rows } = await sql<{ currency: string; amount: string }>`
    with own as materialized (
      select i.number, coalesce(i.document, i.number::text) as called
      from service_contracts c join invoices i on i.contract_id = c.id where c.account_id = ${accountId}
    )
    select p.currency, sum(p.unallocated) as amount
    from payments p
    where p.unallocated <> 0 and p.kind = 'payment'
      and (upper(p.invoice_number) in (select called from own)
        or p.id in (select a.payment from allocations a join own on own.number = a.invoice))
      and not exists (select from allocations a
        where a.payment = p.id and a.invoice not in (select number from own))
      and not exists (select from invoices i
        where i.document = upper(p.invoice_number) and i.number not in (select number from own))
    group by p.currency order by p.currency`.execute(db);
  return rows.map(({ currency, amount }) => ({ currency, amount: Number(amount) }));
}

const readRow = (row: Row): OwnDocument => ({
  ...row,
  unitAmount: Number(row.unitAmount),
  open: Number(row.open),
});
