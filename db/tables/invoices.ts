// The only writer of `invoices` and of the row that numbers them.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { LostRace } from '../races.ts';
import type { DB, Invoices } from '../schema.ts';
import { findReplacing } from './lost-documents.ts';

/** What is owed for a period. Amounts in minor units of the ISO 4217 currency. */
export type Invoice = {
  id: number;
  /** What it is called: the number of its document, or its own from before there was a seller. */
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
  /** What is left to pay: the amount less what was credited and allocated. */
  open: number;
  status: Invoices['status'];
  issuedAt: Date;
  dueAt: Date;
  /** From when on the contract is past due if something is open. */
  pastDueAt: Date;
  paidAt: Date | null;
};

/** The columns of `invoices as i`. */
const columns = [
  'i.number',
  'i.document',
  'i.contract_id',
  'i.plan',
  'i.period_starts_at',
  'i.period_ends_at',
  'i.currency',
  'i.unit_amount',
  'i.credited',
  'i.allocated',
  'i.status',
  'i.issued_at',
  'i.due_at',
  'i.past_due_at',
  'i.paid_at',
] as const;

type NewInvoice = Pick<
  Invoice,
  'contractId' | 'plan' | 'periodStartsAt' | 'periodEndsAt' | 'currency' | 'unitAmount' | 'issuedAt' | 'dueAt'
> & { paidAt?: Date; document?: { number: string; pastDueAt: Date } };

/**
 * Adds an invoice, and takes the next number of the row that all share: a second caller waits until the first commits or fails,
 * so that no number is left out. The result is the invoice's id, which is its number if it has no document.
 */
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
      document: invoice.document?.number ?? null,
      contract_id: invoice.contractId,
      plan: invoice.plan,
      period_starts_at: invoice.periodStartsAt,
      period_ends_at: invoice.periodEndsAt,
      currency: invoice.currency,
      unit_amount: invoice.unitAmount,
      status: invoice.paidAt ? 'paid' : 'open',
      issued_at: invoice.issuedAt,
      due_at: invoice.dueAt,
      past_due_at: invoice.document?.pastDueAt ?? null,
      paid_at: invoice.paidAt ?? null,
    })
    .execute();
  return Number(number);
}

/** The last number of an invoice from before there was a seller; 0 if there is none. */
export async function findLastInvoiceNumber(db: Database): Promise<number> {
  const row = await db.selectFrom('invoice_numbers').select('last_number').executeTakeFirst();
  return Number(row?.last_number ?? 0);
}

/** The next invoice gets a number after that one. The result is the last number given. */
export async function skipInvoiceNumbers(trx: Transaction<DB>, upTo: number): Promise<number> {
  const row = await trx
    .updateTable('invoice_numbers')
    .set({ last_number: sql`greatest(last_number, ${upTo}::bigint)` })
    .returning('last_number')
    .executeTakeFirstOrThrow();
  return Number(row.last_number);
}

/**
 * An invoice with a document has the number of that, which whoever pays may write in small letters; the numbers of those from
 * before there was a seller are digits.
 */
const isCalled = (number: string) =>
  /^[1-9]\d{0,14}$/.test(number)
    ? sql<boolean>`i.number = ${number}::bigint and i.document is null`
    : sql<boolean>`i.document = ${number.toUpperCase()}`;

/** The invoice with that number, on any account. */
export async function findInvoice(db: Database, number: string): Promise<Invoice | undefined> {
  const row = await selectInvoices(db).where(isCalled(number)).executeTakeFirst();
  return row && readRow(row);
}

/** The invoice that a payment with that number pays: of that number, or the one that takes its place since a restore has lost it. */
export async function findInvoiceToPay(db: Database, number: string): Promise<Invoice | undefined> {
  const found = await findInvoice(db, number);
  if (found) return found;
  const replacing = await findReplacing(db, number.toUpperCase());
  return replacing === undefined ? undefined : findInvoice(db, replacing);
}

/** Locks the invoice until the transaction ends. The caller has locked its contract. Throws LostRace if it has just been deleted. */
export async function lockInvoice(trx: Transaction<DB>, id: number): Promise<Invoice> {
  const row = await selectInvoices(trx).where('i.number', '=', String(id)).forUpdate().executeTakeFirst();
  if (!row) throw new LostRace();
  return readRow(row);
}

/** The invoice with that number, if it is on that account; with the buyer's name and address when it was issued. */
export async function findInvoiceOfAccount(
  db: Database,
  number: string,
  accountId: string,
): Promise<(Invoice & { buyerName: string; buyerEmail: string }) | undefined> {
  const row = await selectInvoices(db)
    .innerJoin('service_contracts as c', 'c.id', 'i.contract_id')
    .select(['i.buyer_name as buyerName', 'i.buyer_email as buyerEmail'])
    .where(isCalled(number))
    .where('c.account_id', '=', accountId)
    .executeTakeFirst();
  // A trigger fills in name and address.
  return row && { ...readRow(row), buyerName: row.buyerName ?? '', buyerEmail: row.buyerEmail ?? '' };
}

/** Whose an invoice is, and who it was when it was issued. Ids are null once they are erased. */
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

/** The account's invoices, the newest first. */
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
 * Writes down how much of a locked invoice is credited and allocated. Its status follows from both; `paidAt` is when it was paid,
 * if it is now. The result is what became of the invoice.
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

/** Notes that an open invoice is reminded of for the first or second time. False if it was before, or is not open. */
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

/** Takes back that it is reminded of, because that mail does not go out. */
export async function unmarkReminded(db: Database, number: string, which: 1 | 2): Promise<void> {
  await db
    .updateTable('invoices')
    .set({ reminded: which - 1 })
    .where('document', '=', number)
    .where('reminded', '=', which)
    .execute();
}

/** The ids of the contracts of these invoices, in one order for all callers that lock them. */
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

/** The state that follows from what is credited and allocated, as a check of the table has it. */
const statusOf = ({
  unitAmount,
  credited,
  allocated,
}: Pick<Invoice, 'unitAmount' | 'credited' | 'allocated'>): Invoice['status'] =>
  unitAmount > 0 && credited === unitAmount ? 'void' : credited + allocated === unitAmount ? 'paid' : 'open';

/** Whether something is open past its days. */
export async function isPastDue(db: Database, contractId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('invoices as i')
    .select('i.number')
    .where('i.contract_id', '=', contractId)
    .where('i.status', '=', 'open')
    .where(sql<boolean>`coalesce(i.past_due_at, i.due_at) <= ${now}`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether an invoice of the account is open beyond its time to pay. */
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

type Row = Omit<Selectable<Invoices>, 'buyer_name' | 'buyer_email' | 'reminded'>;

const readRow = (row: Row): Invoice => {
  const [unitAmount, credited, allocated] = [row.unit_amount, row.credited, row.allocated].map(Number) as [
    number,
    number,
    number,
  ];
  return {
    id: Number(row.number),
    number: row.document ?? row.number,
    hasDocument: row.document !== null,
    contractId: row.contract_id,
    plan: row.plan,
    periodStartsAt: row.period_starts_at,
    periodEndsAt: row.period_ends_at,
    currency: row.currency,
    unitAmount,
    credited,
    allocated,
    open: unitAmount - credited - allocated,
    status: row.status,
    issuedAt: row.issued_at,
    dueAt: row.due_at,
    pastDueAt: row.past_due_at ?? row.due_at,
    paidAt: row.paid_at,
  };
};
