// A payment provider, invoices to pay, and sums of the books by SQL alone.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferContract, lockContract, type Price } from '../../../db/tables/service-contracts.ts';
import { invoiceBegun } from '../../../server/billing/invoices/invoicing.ts';
import type { PaymentAnswer } from '../../../server/billing/payments/payment-answer.ts';
import type { Answer, TestApp } from '../app/app.ts';
import { retryWhileBusy } from '../app/patience.ts';
import { signMessage } from '../crm/crm.ts';

export type Report = {
  payment_id: string;
  kind: 'payment' | 'refund';
  of?: string | null;
  invoice_number?: string | null;
  amount: { currency: string; unit_amount: number };
  paid_at: string;
  method?: string;
  reference?: string;
};

let serial = 0;
const freshId = (kind: string) => `${kind}_${process.pid}_${serial++}`;

export const buildPayment = (amount: number, changes: Partial<Report> = {}): Report => ({
  payment_id: freshId('pay'),
  kind: 'payment',
  amount: { currency: 'EUR', unit_amount: amount },
  paid_at: '2026-02-01T10:00:00.000Z',
  ...changes,
});

export const buildRefund = (of: string, amount: number, changes: Partial<Report> = {}): Report =>
  buildPayment(amount, { payment_id: freshId('ref'), kind: 'refund', of, ...changes });

/** Adds a refund without its payment, as version 1.0.0 could record it. */
export const addEarlyRefund = (db: Kysely<DB>, { payment_id, of = null, amount, paid_at }: Report) =>
  sql`insert into payments (id, kind, of, currency, amount, paid_at, recorded_at, recorded_by, unallocated)
    values (${payment_id}, 'refund', ${of}, ${amount.currency}, ${amount.unit_amount}, ${paid_at}, now(), 'payments',
      ${-amount.unit_amount})`.execute(db);

/** Signs and posts a report, by default with a new webhook id. */
export function sendReport(
  app: Pick<TestApp, 'send' | 'config'>,
  report: unknown,
  options: { webhookId?: string; at?: Date; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const body = typeof report === 'string' ? report : JSON.stringify(report);
  const headers = signMessage(app.config.paymentsSecrets?.[0] ?? '', body, options);
  return app.send('/integrations/payments', {
    method: 'POST',
    body,
    headers: { ...headers, ...options.headers },
  });
}

/** Sends a report that must be accepted. Returns the answer with its status. */
export async function report(
  ...message: Parameters<typeof sendReport>
): Promise<PaymentAnswer & { status: number }> {
  const { status, text } = await retryWhileBusy(() => sendReport(...message));
  if (status >= 300) throw new Error(`the report was answered ${status} ${text}`);
  return { status, ...JSON.parse(text) };
}

/** An active contract of a customer, by default of the demo customer. Nothing of it is invoiced yet. */
export async function addContract(
  db: Kysely<DB>,
  { price, email = 'customer@example.test' }: { price?: Partial<Price>; email?: string } = {},
): Promise<string> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'account_id'])
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const id = uuidv7();
  // The contract begins later than any clock of the service, so that the service's own job invoices nothing.
  const occurredAt = new Date('2100-01-01T10:00:00.000Z');
  await inTransaction(db, { by: 'crm' }, async (trx) =>
    deferContract(trx, {
      ...{ id, userId: user.id, accountId: user.account_id, signupId: `crm_${id}`, plan: 'starter' },
      ...{ status: 'active', trialEndsAt: null, occurredAt, cancelsAt: null },
      ...{ reportedCancelsAt: null, chosenCancelsAt: null },
      price: { currency: 'EUR', unitAmount: 2_900, quantity: 1, interval: 'month', ...price },
      ...{ nextPeriodStartsAt: occurredAt, billingAnchorDay: 1 },
    }),
  );
  return id;
}

/** Issues the next invoice of a contract, and returns its number. Undefined if the contract is not active. */
export async function issueNext(db: Kysely<DB>, contractId: string): Promise<string | undefined> {
  const startsAt = await inTransaction(db, { by: 'service' }, async (trx) => {
    const contract = await lockContract(trx, { id: contractId });
    if (contract?.nextPeriodStartsAt) await invoiceBegun(trx, contract, { now: contract.nextPeriodStartsAt });
    return contract?.nextPeriodStartsAt;
  });
  if (!startsAt) return undefined;
  const invoice = await db
    .selectFrom('invoices')
    .select(['number', 'document'])
    .where('contract_id', '=', contractId)
    .where('period_starts_at', '=', startsAt)
    .orderBy('number', 'desc')
    .executeTakeFirst();
  return invoice && (invoice.document ?? invoice.number);
}

/** A new contract with an invoice. With tax it is over 34.51 EUR, unless `price` says another amount. */
export async function addInvoice(
  db: Kysely<DB>,
  ...of: Parameters<typeof addContract> extends [unknown, ...infer More] ? More : never
): Promise<string> {
  const number = await issueNext(db, await addContract(db, ...of));
  if (!number) throw new Error('nothing was issued');
  return number;
}

/**
 * An invoice as 1.0.0 issued it without a seller: a bare number, and no document. Triggers are off, because one of them refuses
 * such an invoice if there is a seller.
 */
export async function addOldInvoice(
  db: Kysely<DB>,
  contractId: string,
  { issuedAt = new Date(), unitAmount = 2_900 }: { issuedAt?: Date; unitAmount?: number } = {},
): Promise<string> {
  return inTransaction(db, { by: 'service' }, async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    const { rows } = await sql<{ number: string }>`
      with next as (update invoice_numbers set last_number = last_number + 1 returning last_number)
      insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
        issued_at, due_at, buyer_name, buyer_email)
      select last_number, c.id, c.plan, ${issuedAt}::timestamptz, ${issuedAt}::timestamptz + interval '1 month', 'EUR',
        ${unitAmount}, 'open', ${issuedAt}, ${issuedAt}::timestamptz + interval '14 days', a.name, u.email
      from next, service_contracts c left join accounts a on a.id = c.account_id left join users u on u.id = c.user_id
      where c.id = ${contractId}
      returning number`.execute(trx);
    return rows[0]?.number ?? '';
  });
}

/** Gives the buyer of an invoice another name, so that the invoice may be issued again. */
export const renameBuyer = (db: Kysely<DB>, number: string, company = `Renamed ${uuidv7()}`) =>
  sql`insert into billing_details (account_id, company)
    select c.account_id, ${company} from invoices i join service_contracts c on c.id = i.contract_id
    where coalesce(i.document, i.number::text) = ${number}
    on conflict (account_id) do update set company = excluded.company`.execute(db);

/** The columns that are written. Postgres computes the other column, `country`. */
const written =
  sql.raw(`number, kind, invoice, prefix, year, settings_version, issued_on, first_day, last_day, currency,
  net, tax, total, category, rate, issued_at, facts`);

/**
 * Adds copies of documents. The SQL of `from` comes after `from documents d`. `changes` is the JSON by which each copy differs.
 */
export const copyDocuments = (db: Kysely<DB>, changes: RawBuilder<unknown>, from: RawBuilder<unknown>) =>
  sql`insert into documents (${written}) select ${written}
    from (select (jsonb_populate_record(d, ${changes})).* from documents d ${from}) made`.execute(db);

export async function readInvoice(db: Kysely<DB>, number: string) {
  const { rows } = await sql<{ total: number; credited: number; allocated: number; status: string }>`
    select unit_amount::int8::float8 as total, credited::float8, allocated::float8, status
    from invoices where coalesce(document, number::text) = ${number}`.execute(db);
  return rows[0];
}

/** Returns how much of a payment is unallocated. Undefined if the payment is not recorded. */
export async function readUnallocated(db: Kysely<DB>, id: string): Promise<number | undefined> {
  const row = await db.selectFrom('payments').select('unallocated').where('id', '=', id).executeTakeFirst();
  return row && Number(row.unallocated);
}

/** Returns everything that does not add up in the books. Sums rows that never change, without code of the service. */
export async function findFaultsInBooks(db: Kysely<DB>): Promise<unknown[]> {
  const { rows } = await sql<{ fault: string }>`
    with
      paid as (select invoice, sum(amount) as amount from allocations group by invoice),
      credits as (
        select invoice, sum(total) as total, sum(net) as net, sum(tax) as tax, max(rate) as rate, min(rate) as least
        from documents where kind = 'credit_note' group by invoice),
      used as (select payment, sum(amount) as amount from allocations group by payment),
      gone as (
        select of, currency, sum(amount) filter (where kind = 'paid_back') as paid_back,
          sum(amount + unallocated) filter (where kind = 'refund') as refunded
        from payments where kind <> 'payment' group by of, currency)
    select 'invoice ' || i.number || ' allocated' as fault from invoices i left join paid on paid.invoice = i.number
      where i.allocated <> coalesce(paid.amount, 0)
    union all
    select 'invoice ' || i.number || ' credited' from invoices i left join credits c on c.invoice = i.number
      where i.document is not null and i.credited <> coalesce(c.total, 0)
    union all
    select 'invoice ' || number || ' below nothing' from invoices
      where unit_amount - credited - allocated < 0 or credited < 0 or allocated < 0
    union all
    select 'invoice ' || number || ' is ' || status from invoices
      where status <> case when unit_amount > 0 and credited = unit_amount then 'void'
        when unit_amount - credited - allocated = 0 then 'paid' else 'open' end
    union all
    select 'document ' || d.number || ' sum' from documents d where net + tax <> total or total <= 0
    union all
    select 'document ' || d.number || ' of ' || i.number from documents d join invoices i on i.document = d.number
      where d.total <> i.unit_amount or d.currency <> i.currency
    union all
    select 'credits of ' || d.number from documents d join credits c on c.invoice = d.invoice where d.kind = 'invoice'
      and (c.tax > d.tax or c.net > d.net or c.rate <> d.rate or c.least <> d.rate
        or c.total = d.total and (c.tax <> d.tax or c.net <> d.net))
    union all
    select 'payment ' || p.id from payments p
      left join used on used.payment = p.id
      left join gone on gone.of = p.id and gone.currency = p.currency
      where p.kind = 'payment' and p.unallocated <>
        p.amount - coalesce(used.amount, 0) - coalesce(gone.refunded, 0) - coalesce(gone.paid_back, 0)
    union all
    select 'bounds of ' || id from payments
      where kind = 'payment' and unallocated not between 0 and amount
        or kind <> 'payment' and unallocated not between -amount and 0
    union all
    select 'allocation of ' || payment || ' to ' || invoice from allocations group by payment, invoice having sum(amount) < 0
    union all
    select 'currency of ' || a.payment from allocations a join payments p on p.id = a.payment
      join invoices i on i.number = a.invoice where p.currency <> i.currency
    union all
    select 'currency ' || currency from (
      select currency, sum(case kind when 'payment' then amount else -amount end) as received,
        sum(unallocated) as unallocated from payments group by currency) money
      left join (
        select p.currency as c, sum(a.amount) as allocated from allocations a join payments p on p.id = a.payment
        group by p.currency) allocated on c = currency
      where received <> coalesce(allocated, 0) + unallocated
    union all
    select 'series ' || prefix || year from documents group by prefix, year
      having count(*) <> max(substring(number from '\d+$')::bigint)
    union all
    select 'period of ' || contract_id from invoices where status <> 'void' group by contract_id, period_starts_at
      having count(*) > 1`.execute(db);
  return rows.map(({ fault }) => fault);
}
