// Reads the lists of contracts and invoices that administrators page through (contract 12.140 and 12.240 to 12.244). This file
// only reads.
import { type RawBuilder, sql } from 'kysely';
import { countUpTo } from '../count.ts';
import type { Database } from '../postgres/client.ts';
import { statusAt } from './contract-views.ts';
import {
  blockedCode,
  hasVatIdToCheck,
  type InvoiceRow,
  type ListedContract,
  type ListedInvoice,
  selectContracts,
  selectInvoices,
  toContract,
  toInvoice,
} from './invoice-lists.ts';

/** Columns with an index. A `-` at the beginning reverses the order. */
export const contractSorts = ['created', '-created', 'signup', '-signup'] as const;
export const invoiceSorts = ['issued', '-issued', 'due', '-due'] as const;

export type ContractSort = (typeof contractSorts)[number];
export type InvoiceSort = (typeof invoiceSorts)[number];

/** What a search has found: people, or a contract. `invoice` is set if the search was for an invoice of that contract. */
export type Found = { people: string[] } | { contract: string; invoice: number | null };

/** `vatIdsOf` is for the state `vat-id`. It names the countries whose VAT ids have to be checked. */
type Filters = { state?: string | undefined; found?: Found | undefined; now: Date; vatIdsOf?: string[] };

type Page<Sort, Before> = { sort: Sort; before?: Before | undefined; limit: number };

const isDown = (sort: string) => sort.startsWith('-');

const orderOf = (sort: string) => (isDown(sort) ? sql`desc` : sql`asc`);

/** Builds a condition for the rows after `last` in the order of `sort`. */
const comesAfter = (sort: string, place: RawBuilder<unknown>, last: RawBuilder<unknown>) =>
  isDown(sort) ? sql<boolean>`${place} < ${last}` : sql<boolean>`${place} > ${last}`;

const listContractsOf = (people: string[]) =>
  sql`select other.id from service_contracts other where other.user_id = any(${people}::uuid[])`;

function contractFits({ state, found, now, vatIdsOf = [] }: Filters): RawBuilder<boolean> {
  const isFound =
    found &&
    ('people' in found
      ? sql`service_contracts.id = any(array(${listContractsOf(found.people)}))`
      : sql`service_contracts.id = ${found.contract}`);
  const isIn =
    state === 'held'
      ? // Few contracts have waiting periods. This condition makes Postgres read only these contracts.
        sql`service_contracts.id in (select contract_id from waiting_periods) and ${blockedCode} is not null`
      : state === 'vat-id'
        ? hasVatIdToCheck(vatIdsOf)
        : state && sql`${statusAt(now)} = ${state}`;
  return sql<boolean>`${isFound ?? sql`true`} and ${isIn || sql`true`}`;
}

/** `before` is the id of a contract. This returns only contracts that come after it in this order. */
export async function listContracts(
  db: Database,
  { sort, before, limit, ...filters }: Filters & Page<ContractSort, string>,
): Promise<ListedContract[]> {
  const isBySignup = sort.endsWith('signup');
  const place = isBySignup ? sql`service_contracts.signup_id` : sql`service_contracts.id`;
  const last = isBySignup
    ? sql`(select other.signup_id from service_contracts other where other.id = ${before ?? null})`
    : sql`${before ?? null}::uuid`;
  const rows = await selectContracts(db)
    .where(contractFits(filters))
    .$if(before !== undefined, (query) => query.where(comesAfter(sort, place, last)))
    .orderBy(sql`${place} ${orderOf(sort)}`)
    .limit(limit)
    .execute();
  return rows.map(toContract);
}

export const countContracts = (db: Database, limit: number, filters: Filters): Promise<number> =>
  countUpTo(db, limit, sql`from service_contracts where ${contractFits(filters)}`);

function invoiceFits({ state, found, now }: Filters): RawBuilder<boolean> {
  const isFound =
    found &&
    ('people' in found
      ? // This looks up the invoice numbers of these people first. Otherwise Postgres might read everybody's invoices.
        sql`i.number = any(array(select number from invoices where contract_id in (${listContractsOf(found.people)})))`
      : found.invoice === null
        ? sql`i.contract_id = ${found.contract}`
        : sql`i.number = ${found.invoice}`);
  // Written as in the index invoices_due_at_idx. Postgres could not use that index if the status were a parameter.
  const isOpen = sql`i.status = 'open'`;
  const isIn =
    state === 'overdue'
      ? sql`${isOpen} and i.due_at <= ${now}`
      : state === 'open'
        ? isOpen
        : state && sql`i.status = ${state}`;
  return sql<boolean>`${isFound ?? sql`true`} and ${isIn || sql`true`}`;
}

/** `before` is the `id` of an invoice. This returns only invoices that come after it in this order. */
export async function listInvoices(db: Database, asked: AskedInvoices): Promise<ListedInvoice[]> {
  const { rows } = await buildInvoiceList(asked).execute(db);
  return rows.map(toInvoice);
}

type AskedInvoices = Filters & Page<InvoiceSort, number> & { zone: string };

export function buildInvoiceList(asked: AskedInvoices): RawBuilder<InvoiceRow> {
  const { sort, before, limit, zone, ...filters } = asked;
  const isByDue = sort.endsWith('due');
  const place = isByDue ? sql`(i.due_at, i.number)` : sql`i.number`;
  const last = isByDue
    ? sql`((select due_at from invoices where number = ${before ?? null}), ${before ?? null}::bigint)`
    : sql`${before ?? null}::bigint`;
  const order = orderOf(sort);
  return sql<InvoiceRow>`${selectInvoices({ now: filters.now, zone })}
    where ${invoiceFits(filters)} ${before === undefined ? sql`` : sql`and ${comesAfter(sort, place, last)}`}
    order by ${isByDue ? sql`i.due_at ${order}, ` : sql``}i.number ${order} limit ${limit}`;
}

export const countInvoices = (db: Database, limit: number, filters: Filters): Promise<number> =>
  countUpTo(db, limit, sql`from invoices i where ${invoiceFits(filters)}`);

/** Finds an invoice by its number or the number of its credit note, or otherwise a contract by its signup id. */
export async function findNamed(
  db: Database,
  { text, number }: { text: string; number: string | undefined },
): Promise<{ contract: string; invoice: number | null } | undefined> {
  const { rows } = await sql<{ contract: string; invoice: string | null }>`
    select i.contract_id as contract, i.number as invoice
      from documents d join invoices i on i.number = d.invoice where d.number = upper(${text})
    union all
    select contract_id, number from invoices where number = ${number ?? null}::bigint and document is null
    union all
    select id, null from service_contracts where signup_id = ${text}
    limit 1`.execute(db);
  const [named] = rows;
  return named && { ...named, invoice: named.invoice === null ? null : Number(named.invoice) };
}
