// The only writer of `invoices` and `invoice_numbers`.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { LostRace } from '../races.ts';
import type { DB, Invoices } from '../schema.ts';
import { findReplacing } from './lost-documents.ts';

/** Amounts are in minor units of the ISO 4217 currency. */
export type Invoice = {
  id: number;
  /** The number of the invoice's document. An invoice from before there was a seller has its id instead. */
  number: string;
  hasDocument: boolean;
  contractId: string;
  plan: string;
  periodStartsAt: Date;
  periodEndsAt: Date;
  currency: string;
  unitAmount: number;
  credited: number;
  allocated: number;
  /** The amount left to pay. */
  open: number;
  status: Invoices['status'];
  issuedAt: Date;
  dueAt: Date;
  /** From this instant on, the invoice makes its contract past due if an amount is still open. */
  pastDueAt: Date;
  paidAt: Date | null;
};

const columns = [
  'i.number as id',
  'i.document',
  'i.contract_id as contractId',
  'i.plan',
  'i.period_starts_at as periodStartsAt',
  'i.period_ends_at as periodEndsAt',
  'i.currency',
  'i.unit_amount as unitAmount',
  'i.credited',
  'i.allocated',
  'i.status',
  'i.issued_at as issuedAt',
  'i.due_at as dueAt',
  'i.past_due_at as pastDueAt',
  'i.paid_at as paidAt',
] as const;

type NewInvoice = Pick<
  Invoice,
  'contractId' | 'plan' | 'periodStartsAt' | 'periodEndsAt' | 'currency' | 'unitAmount' | 'issuedAt' | 'dueAt'
> & { document: { number: string; pastDueAt: Date } };

/** Returns the invoice's id. A second caller waits until the first commits or fails, so that no id is left out. */
export async function insertInvoice(trx: Transaction<DB>, invoice: NewInvoice): Promise<number> {
  const { last_number: number } = await trx
    .updateTable('invoice_numbers')
    .set((eb) => ({ last_number: eb('last_number', '+', '1') }))
    .returning('last_number')
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('invoices')
    .values({
      number,
      document: invoice.document.number,
      contract_id: invoice.contractId,
      plan: invoice.plan,
      period_starts_at: invoice.periodStartsAt,
      period_ends_at: invoice.periodEndsAt,
      currency: invoice.currency,
      unit_amount: invoice.unitAmount,
      status: 'open',
      issued_at: invoice.issuedAt,
      due_at: invoice.dueAt,
      past_due_at: invoice.document.pastDueAt,
    })
    .execute();
  return Number(number);
}

/** Returns the latest millisecond up to `now` at which no period of the contract begins. The caller has locked the contract. */
export async function findFreeStart(trx: Transaction<DB>, contractId: string, now: Date): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    select at from generate_series(0, 1000) as back, lateral (
      select ${now}::timestamptz - back * interval '1 millisecond' as at) moment
    where not exists (select from invoices where contract_id = ${contractId} and period_starts_at = at)
      and not exists (select from waiting_periods where contract_id = ${contractId} and starts_at = at)
    order by back limit 1`.execute(trx);
  if (!rows[0]) throw new LostRace();
  return rows[0].at;
}

/** Returns 0 if there is no invoice. */
export async function findLastInvoiceNumber(db: Database): Promise<number> {
  const row = await db.selectFrom('invoice_numbers').select('last_number').executeTakeFirst();
  return Number(row?.last_number ?? 0);
}

/** Gives new invoices numbers above `upTo`. Returns the highest number that no new invoice gets. */
export async function skipInvoiceNumbers(trx: Transaction<DB>, upTo: number): Promise<number> {
  const row = await trx
    .updateTable('invoice_numbers')
    .set({ last_number: sql`greatest(last_number, ${upTo}::bigint)` })
    .returning('last_number')
    .executeTakeFirstOrThrow();
  return Number(row.last_number);
}

/** A payer may write a document's number in small letters. A number from before there was a seller has only digits. */
const isCalled = (number: string) =>
  isBare(number)
    ? sql<boolean>`i.number = ${number}::bigint and i.document is null`
    : sql<boolean>`i.document = ${number.toUpperCase()}`;

const isBare = (number: string) => /^[1-9]\d{0,14}$/.test(number);

/** Finds an invoice on any account. */
export async function findInvoice(db: Database, number: string): Promise<Invoice | undefined> {
  const row = await selectInvoices(db).where(isCalled(number)).executeTakeFirst();
  return row && readRow(row);
}

/** Finds an invoice by its number. If a restore has lost that number, finds the invoice that takes its place. */
export async function findInvoiceToPay(db: Database, number: string): Promise<Invoice | undefined> {
  const found = await findInvoice(db, number);
  if (found) return found;
  const replacing = await findReplacing(db, number.toUpperCase());
  return replacing === undefined ? undefined : findInvoice(db, replacing);
}

/**
 * With `numbers`, which must be in capitals, finds the invoices with these numbers. With `openAmounts`, finds the open invoices
 * with one of these amounts left to pay. Each invoice comes with its buyer's name.
 */
export async function listToMatch(
  db: Database,
  by: { numbers: string[] } | { openAmounts: number[] },
): Promise<(Invoice & { buyer: string })[]> {
  const rows = await selectInvoices(db)
    .leftJoin('documents as d', 'd.number', 'i.document')
    .select(sql<string>`coalesce(d.facts #>> '{buyer,name}', i.buyer_name, '')`.as('buyer'))
    .where(
      'numbers' in by
        ? sql<boolean>`(i.document = any(${by.numbers})
            or i.document is null and i.number = any(${by.numbers.filter(isBare)}::bigint[]))`
        : sql<boolean>`i.status = 'open' and i.unit_amount - i.credited - i.allocated = any(${by.openAmounts}::bigint[])`,
    )
    .orderBy('i.due_at')
    .orderBy('i.number')
    .limit(20_000)
    .execute();
  return rows.map((row) => ({ ...readRow(row), buyer: row.buyer }));
}

/** The caller has locked the contract. Throws LostRace if the invoice was just deleted. */
export async function lockInvoice(trx: Transaction<DB>, id: number): Promise<Invoice> {
  const row = await selectInvoices(trx).where('i.number', '=', String(id)).forUpdate().executeTakeFirst();
  if (!row) throw new LostRace();
  return readRow(row);
}

/** `name` and `email` are from the time of issue. The id of an erased user or account is null. */
export async function findBuyerOf(
  db: Database,
  { id }: Pick<Invoice, 'id'>,
): Promise<{ userId: string | null; accountId: string | null; name: string; email: string }> {
  const row = await db
    .selectFrom('invoices as i')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select([
      'c.user_id as userId',
      'c.account_id as accountId',
      'i.buyer_name as name',
      'i.buyer_email as email',
    ])
    .where('i.number', '=', String(id))
    .executeTakeFirstOrThrow();
  return { ...row, name: row.name ?? '', email: row.email ?? '' };
}

export async function listInvoices(db: Database, accountId: string): Promise<Invoice[]> {
  const rows = await selectInvoices(db)
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .where('c.account_id', '=', accountId)
    .orderBy('i.number', 'desc')
    .limit(100)
    .execute();
  return rows.map(readRow);
}

/**
 * Returns the invoices of periods that begin at `from` or later, the oldest first. Leaves out invoices that are paid or
 * credited, even in part.
 */
export async function listUnsettledFrom(db: Database, contractId: string, from: Date): Promise<Invoice[]> {
  const rows = await selectInvoices(db)
    .where('i.contract_id', '=', contractId)
    .where('i.period_starts_at', '>=', from)
    .where('i.status', '=', 'open')
    .where('i.credited', '=', '0')
    .where('i.allocated', '=', '0')
    .orderBy('i.number')
    .execute();
  return rows.map(readRow);
}

/**
 * The caller has locked the invoice. Returns what changed. If this pays the invoice in full, `settled.paidAt` becomes its time of
 * payment.
 */
export async function updateSettled(
  trx: Transaction<DB>,
  { id, unitAmount, paidAt }: Invoice,
  settled: { credited: number; allocated: number; paidAt: Date },
): Promise<Pick<Invoice, 'credited' | 'allocated' | 'open' | 'status' | 'paidAt'>> {
  const { credited, allocated } = settled;
  const status = statusOf({ unitAmount, credited, allocated });
  const whenPaid = status === 'paid' ? (paidAt ?? settled.paidAt) : null;
  await trx
    .updateTable('invoices')
    .set({ credited, allocated, status, paid_at: whenPaid })
    .where('number', '=', String(id))
    .execute();
  return { credited, allocated, open: unitAmount - credited - allocated, status, paidAt: whenPaid };
}

/** Returns false if the reminder was written before, or if the invoice is not open. */
export async function markReminded(trx: Transaction<DB>, number: string, which: 1 | 2): Promise<boolean> {
  const result = await trx
    .updateTable('invoices')
    .set({ reminded: which })
    .where('document', '=', number)
    .where('status', '=', 'open')
    .where('reminded', '<', which)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Undoes a reminder if its mail will not be sent. */
export async function unmarkReminded(db: Database, number: string, which: 1 | 2): Promise<void> {
  await db
    .updateTable('invoices')
    .set({ reminded: which - 1 })
    .where('document', '=', number)
    .where('reminded', '=', which)
    .execute();
}

/** Lists contracts in the same order for all callers, which then lock the contracts. */
export async function listContractsOf(db: Database, ids: number[]): Promise<string[]> {
  const rows = await db
    .selectFrom('invoices')
    .select('contract_id as id')
    .distinct()
    .where(sql<boolean>`number = any(${ids}::bigint[])`)
    .orderBy('contract_id')
    .execute();
  return rows.map(({ id }) => id);
}

/** This must match a check constraint of the table. */
const statusOf = ({
  unitAmount,
  credited,
  allocated,
}: Pick<Invoice, 'unitAmount' | 'credited' | 'allocated'>): Invoice['status'] =>
  unitAmount > 0 && credited === unitAmount ? 'void' : credited + allocated === unitAmount ? 'paid' : 'open';

/**
 * False if making the files of invoice `i` has failed so far. Until the files exist, the invoice does not make its contract past
 * due (contract 7.495).
 */
export const isMade = sql<boolean>`not exists (
  select from documents_to_make m where m.number = i.document and m.last_error is not null)`;

export async function isPastDue(db: Database, contractId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('invoices as i')
    .select('i.number')
    .where('i.contract_id', '=', contractId)
    .where('i.status', '=', 'open')
    .where(sql<boolean>`coalesce(i.past_due_at, i.due_at) <= ${now}`)
    .where(isMade)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function hasOverdueInvoice(db: Database, accountId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('invoices as i')
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select('i.number')
    .where('c.account_id', '=', accountId)
    .where('i.status', '=', 'open')
    .where('i.due_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const selectInvoices = (db: Database) => db.selectFrom('invoices as i').select(columns);

type Row = Awaited<ReturnType<ReturnType<typeof selectInvoices>['execute']>>[number];

const readRow = ({ document, ...row }: Row): Invoice => {
  const unitAmount = Number(row.unitAmount);
  const credited = Number(row.credited);
  const allocated = Number(row.allocated);
  return {
    ...row,
    id: Number(row.id),
    number: document ?? row.id,
    hasDocument: document !== null,
    unitAmount,
    credited,
    allocated,
    open: unitAmount - credited - allocated,
    pastDueAt: row.pastDueAt ?? row.dueAt,
  };
};
