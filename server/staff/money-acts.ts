// What administrators do with money, and operators by command (contract 7.154 to 7.160).
import { v7 as uuidv7 } from 'uuid';
import { findBuyerOf, findInvoice, type Invoice } from '../../db/tables/invoices.ts';
import { findPayment, lockPayments, type Payment } from '../../db/tables/payments.ts';
import { type Contract, findContract, lockContract } from '../../db/tables/service-contracts.ts';
import { act, isId, type Subject } from '../acts/act.ts';
import { readBy, refuse } from '../acts/fields.ts';
import { minorDigits } from '../basics/currencies.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { endContract } from '../billing/invoices/invoicing.ts';
import { creditInvoice, reissueInvoice } from '../billing/payments/credit.ts';
import { allocate, lockInvoices, payBack, recordMoney } from '../billing/payments/ledger.ts';
import { readPaidOn } from '../billing/payments/paid-on.ts';
import { describeRecorded } from '../billing/payments/payment-answer.ts';
import { methodSchema, numberSchema, paymentIdSchema } from '../billing/payments/payment-message.ts';
import { maxAmount } from '../billing/values/amounts.ts';
import { readDecimal } from '../billing/values/decimals.ts';

/** What forms about it are made from: whatever moves money of it changes one of these. */
export const seenOfInvoice = ({ number, status, credited, allocated }: Invoice) => ({
  ...{ number, status, credited, allocated },
});
export const seenOfPayment = ({ id, unallocated }: Payment) => ({ id, unallocated });
const seenOfContract = ({ id, status, cancelsAt }: Contract) => ({ id, status, cancelsAt });

const asIs = (result: unknown) => result;

const invoice: Subject<Invoice> = {
  name: 'invoice',
  keys: ['number'],
  async find(db, { number = '' }) {
    const thing = await findInvoice(db, number.trim());
    return thing && { thing, ...(await findBuyerOf(db, thing)) };
  },
  async lock(trx, { number = '' }) {
    const found = await findInvoice(trx, number.trim());
    if (found) await lockInvoices(trx, [found]);
  },
  answer: asIs,
};

/** A payment is nobody's: only what it pays is somebody's. */
const payment: Subject<Payment> = {
  name: 'payment',
  keys: ['payment'],
  async find(db, { payment: id = '' }) {
    const thing = await findPayment(db, id);
    return thing?.kind === 'payment' ? { thing, accountId: null, userId: null } : undefined;
  },
  lock: (trx, { payment: id = '' }) => lockPayments(trx, [id]),
  answer: asIs,
};

/** A payment and the invoice that it is to pay, which says whose it is. */
const paymentToInvoice: Subject<Payment> = {
  ...payment,
  async find(db, given) {
    const found = await payment.find(db, given);
    return found && { ...(await invoice.find(db, given)), ...found };
  },
  async lock(trx, given) {
    await invoice.lock?.(trx, given);
    await payment.lock?.(trx, given);
  },
};

const contract: Subject<Contract> = {
  name: 'contract',
  keys: ['contract'],
  async find(db, { contract: id = '' }) {
    const thing = isId(id) ? await findContract(db, { id }) : undefined;
    return thing && { thing, accountId: thing.accountId, userId: thing.userId };
  },
  lock: (trx, { contract: id = '' }) => lockContract(trx, { id }),
  answer: (result) => ({ done: result !== undefined }),
};

function readAmount(text: string, currency: string): number {
  const amount = readDecimal(text, minorDigits(currency));
  if (!amount) return refuse('amount_malformed');
  return amount > maxAmount ? refuse('amount_too_high') : amount;
}

const pay = act({
  about: invoice,
  right: 'billing.recordPayment',
  fields: {
    payment: (typed) => readBy(paymentIdSchema, 'payment_id_malformed')(typed.trim() || uuidv7()),
    amount: (typed, { thing }) => readAmount(typed, thing.currency),
    paidAt: async (typed, { db, now }) =>
      (await readPaidOn(db, typed || undefined, now())) ?? refuse('day_malformed'),
    method: (typed) => (typed.trim() ? readBy(methodSchema, 'method_length')(typed) : null),
  },
  see: (_db, target) => seenOfInvoice(target),
  async do({ trx, target: { number: invoiceNumber, currency }, by }, { payment: id, ...paid }) {
    const facts = { kind: 'payment', of: null, currency, reference: null, invoiceNumber } as const;
    try {
      return await describeRecorded(trx, await recordMoney(trx, { id, ...paid, ...facts }, by));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_key_reused') throw error;
      throw new AppError('validation_failed', {
        errors: [{ pointer: '/payment', detail: faultWords.payment_reused }],
      });
    }
  },
});

const credit = act({
  about: invoice,
  right: 'billing.credit',
  fields: {
    amount: (typed, { thing }) => (typed.trim() ? readAmount(typed, thing.currency) : undefined),
  },
  see: pay.see,
  do: async ({ trx, target, by }, { amount }) => ({
    creditNote: (await creditInvoice(trx, target.number, amount, by)) ?? null,
  }),
});

const reissue = act({
  about: invoice,
  right: 'billing.reissue',
  fields: {},
  see: pay.see,
  do: ({ trx, target, by }) => reissueInvoice(trx, target.number, by),
});

const allocatePayment = act({
  about: paymentToInvoice,
  right: 'billing.allocate',
  fields: {
    async number(typed, { db }) {
      const number = readBy(numberSchema, 'invoice_unknown')(typed);
      return (await findInvoice(db, number)) ? number : refuse('invoice_unknown');
    },
  },
  see: (_db, target) => seenOfPayment(target),
  do: async ({ trx, target: { id: paymentId }, by }, { number }) => ({
    amount: await allocate(trx, { paymentId, number }, by),
  }),
});

const paidBack = act({
  about: payment,
  right: 'billing.paidBack',
  fields: {},
  see: allocatePayment.see,
  do: async ({ trx, target: { id: paymentId }, by }) => ({
    amount: await payBack(trx, { paymentId, id: uuidv7(), paidAt: by.now }, by),
  }),
});

const cancelContract = act({
  about: contract,
  right: 'billing.cancelContract',
  fields: {},
  see: (_db, target) => seenOfContract(target),
  async do({ trx, target, by: { now, trail } }) {
    return (await endContract(trx, target, now, trail)) ? {} : undefined;
  },
});

/** By the intent of the form. */
export const moneyActs = {
  pay,
  credit,
  reissue,
  allocate: allocatePayment,
  'paid-back': paidBack,
  cancel: cancelContract,
};
