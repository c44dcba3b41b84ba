// The acts of administrators on money (contract 7.154 to 7.160). act-on-books.ts does them: it has looked at who may.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import { findBuyerOf, findInvoice, type Invoice } from '../../db/tables/invoices.ts';
import { findPayment, lockPayments, type Payment } from '../../db/tables/payments.ts';
import { type Contract, findContract, lockContract } from '../../db/tables/service-contracts.ts';
import type { BookAct, BookFields, BookTarget } from '../acts/act-on-books.ts';
import { minorDigits } from '../basics/currencies.ts';
import { AppError } from '../basics/errors.ts';
import { type FaultName, faultWords } from '../basics/fault-words.ts';
import { endContract } from '../billing/invoices/invoicing.ts';
import { creditInvoice, reissueInvoice } from '../billing/payments/credit.ts';
import { allocate, lockInvoices, payBack, recordMoney } from '../billing/payments/ledger.ts';
import { readPaidOn } from '../billing/payments/paid-on.ts';
import { describeRecorded, type PaymentAnswer } from '../billing/payments/payment-answer.ts';
import { methodSchema, numberSchema, paymentIdSchema } from '../billing/payments/payment-message.ts';
import { maxAmount } from '../billing/values/amounts.ts';
import { readDecimal } from '../billing/values/decimals.ts';

const refuseField = (name: string, fault: FaultName) =>
  new AppError('validation_failed', { errors: [{ pointer: `/${name}`, detail: faultWords[fault] }] });

/** What forms about it are made from: whatever moves money of it changes one of these. */
export const seenOfInvoice = ({ number, status, credited, allocated }: Invoice) => ({
  ...{ number, status, credited, allocated },
});
export const seenOfPayment = ({ id, unallocated }: Payment) => ({ id, unallocated });
const seenOfContract = ({ id, status, cancelsAt }: Contract) => ({ id, status, cancelsAt });

async function findInvoiceTarget(db: Database, { number = '' }: BookFields): Promise<BookTarget | undefined> {
  const invoice = await findInvoice(db, number.trim());
  return invoice && { ...(await findBuyerOf(db, invoice)), seen: seenOfInvoice(invoice) };
}

async function lockInvoiceTarget(trx: Transaction<DB>, { number = '' }: BookFields): Promise<void> {
  const invoice = await findInvoice(trx, number.trim());
  if (invoice) await lockInvoices(trx, [invoice]);
}

const lockPaymentTarget = (trx: Transaction<DB>, { payment = '' }: BookFields) =>
  lockPayments(trx, [payment]);

/** A payment is nobody's: only what it pays is somebody's. */
async function findPaymentTarget(
  db: Database,
  { payment = '' }: BookFields,
): Promise<BookTarget | undefined> {
  const found = await findPayment(db, payment);
  return found?.kind === 'payment'
    ? { accountId: null, userId: null, seen: seenOfPayment(found) }
    : undefined;
}

const requireInvoice = async (db: Database, number: string): Promise<Invoice> => {
  const invoice = await findInvoice(db, number);
  if (!invoice) throw new AppError('not_found');
  return invoice;
};

function readAmount(text: string, currency: string): number {
  const amount = readDecimal(text, minorDigits(currency));
  if (!amount) throw refuseField('amount', 'amount_malformed');
  if (amount > maxAmount) throw refuseField('amount', 'amount_too_high');
  return amount;
}

type Paid = { number: string; id: string; amount: number; paidAt: Date; method: string | null };

export const recordPayment: BookAct<Paid, PaymentAnswer> = {
  right: 'billing.recordPayment',
  find: findInvoiceTarget,
  lock: lockInvoiceTarget,
  async read(db, { number = '', payment, amount = '', paidAt: day, method: typed }, now) {
    const invoice = await requireInvoice(db, number.trim());
    const id = payment?.trim() || uuidv7();
    if (!paymentIdSchema.safeParse(id).success) throw refuseField('payment', 'payment_id_malformed');
    const paidAt = await readPaidOn(db, day, now);
    if (!paidAt) throw refuseField('paidAt', 'day_malformed');
    const method = typed?.trim() ? methodSchema.safeParse(typed) : undefined;
    if (method && !method.success) throw refuseField('method', 'method_length');
    const given = { number: invoice.number, id, paidAt, method: method?.data ?? null };
    return { ...given, amount: readAmount(amount, invoice.currency) };
  },
  async do(trx, { number, ...paid }, by) {
    const { currency } = await requireInvoice(trx, number);
    const facts = { kind: 'payment', of: null, currency, reference: null, invoiceNumber: number } as const;
    try {
      return await describeRecorded(trx, await recordMoney(trx, { ...paid, ...facts }, by));
    } catch (error) {
      const isReused = error instanceof AppError && error.code === 'idempotency_key_reused';
      throw isReused ? refuseField('payment', 'payment_reused') : error;
    }
  },
};

export const credit: BookAct<{ number: string; amount: number | undefined }, { creditNote: string | null }> =
  {
    right: 'billing.credit',
    find: findInvoiceTarget,
    lock: lockInvoiceTarget,
    async read(db, { number = '', amount }) {
      const invoice = await requireInvoice(db, number.trim());
      return {
        number: invoice.number,
        amount: amount?.trim() ? readAmount(amount, invoice.currency) : undefined,
      };
    },
    do: async (trx, { number, amount }, by) => ({
      creditNote: (await creditInvoice(trx, number, amount, by)) ?? null,
    }),
  };

export const reissue: BookAct<string, { creditNote: string; invoice: string }> = {
  right: 'billing.reissue',
  find: findInvoiceTarget,
  lock: lockInvoiceTarget,
  read: async (_db, { number = '' }) => number.trim(),
  do: reissueInvoice,
};

type Allocated = { paymentId: string; number: string };

export const allocatePayment: BookAct<Allocated, { amount: number }> = {
  right: 'billing.allocate',
  async find(db, given) {
    const payment = await findPaymentTarget(db, given);
    const invoice = payment && (await findInvoiceTarget(db, given));
    return invoice ? { ...invoice, seen: payment.seen } : payment;
  },
  async lock(trx, given) {
    await lockInvoiceTarget(trx, given);
    await lockPaymentTarget(trx, given);
  },
  async read(db, { payment = '', number = '' }) {
    const named = numberSchema.safeParse(number);
    if (!named.success || !(await findInvoice(db, named.data)))
      throw refuseField('number', 'invoice_unknown');
    return { paymentId: payment, number: named.data };
  },
  do: async (trx, read, by) => ({ amount: await allocate(trx, read, by) }),
};

export const paidBack: BookAct<string, { amount: number }> = {
  right: 'billing.paidBack',
  find: findPaymentTarget,
  lock: lockPaymentTarget,
  read: async (_db, { payment = '' }) => payment,
  do: async (trx, paymentId, by) => ({
    amount: await payBack(trx, { paymentId, id: uuidv7(), paidAt: by.now }, by),
  }),
};

export const cancelContract: BookAct<string, { done: boolean }> = {
  right: 'billing.cancelContract',
  async find(db, { contract: id = '' }) {
    const contract = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
      ? await findContract(db, { id })
      : undefined;
    return contract && { ...contract, seen: seenOfContract(contract) };
  },
  async lock(trx, { contract: id = '' }) {
    await lockContract(trx, { id });
  },
  read: async (_db, { contract = '' }) => contract,
  async do(trx, id, { now, trail }) {
    const contract = await lockContract(trx, { id });
    if (!contract) throw new AppError('not_found');
    return { done: await endContract(trx, contract, now, trail) };
  },
};
