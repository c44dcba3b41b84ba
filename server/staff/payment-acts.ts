// Acts about money: administrators do them by form, and operators by command (contract 7.154 to 7.160).
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import {
  type BillingDetails,
  findBillingDetails,
  lockBillingDetails,
} from '../../db/tables/billing-details.ts';
import { findBuyerOf, findInvoice, findInvoiceToPay, type Invoice } from '../../db/tables/invoices.ts';
import { findPayment, lockPayments, type Payment } from '../../db/tables/payments.ts';
import { type Contract, findContract, lockContract } from '../../db/tables/service-contracts.ts';
import { type ActContext, type AnyAct, act, offerIf, type Subject } from '../acts/act.ts';
import { readBy, readOneOf, refuse } from '../acts/fields.ts';
import { isCurrency, minorDigits } from '../basics/currencies.ts';
import { AppError, invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { isUuid } from '../basics/uuid.ts';
import { isRunning, presentStatus } from '../billing/contracts/contract-states.ts';
import { describeEnd, endWithPeriod, isCanceled } from '../billing/customers/cancel-contract.ts';
import type { SomeDetails } from '../billing/customers/save-details.ts';
import { endContract } from '../billing/invoices/invoicing.ts';
import { findZone } from '../billing/invoices/issue.ts';
import { deferContractMail } from '../billing/invoices/mails.ts';
import { allocate, lockInvoices, payBack, payOpen, recordMoney } from '../billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../billing/payments/credit.ts';
import { readPaidOn } from '../billing/payments/paid-on.ts';
import { describeRecorded, type PaymentAnswer } from '../billing/payments/payment-answer.ts';
import { methodSchema, numberSchema, paymentIdSchema } from '../billing/payments/payment-message.ts';
import { compareReissue, type ReissueSides } from '../billing/payments/reissue.ts';
import { maxAmount } from '../billing/values/amounts.ts';
import { readDecimal } from '../billing/values/decimals.ts';
import { basisOfDetails, detailFields, detailOptions, editDetails, isAnyGiven } from './edit-details.ts';

/** The facts that forms about an invoice are made from. Everything that moves money of the invoice changes one of them. */
export const basisOfInvoice = ({ number, status, credited, allocated }: Invoice) => ({
  ...{ number, status, credited, allocated },
});
/**
 * The facts that forms for a credit are made from. Until 1.2.0 they have `credits`, for an instance of version 0.6.0, which can
 * only credit a whole invoice. Because of `credits`, such an instance refuses a form of this version as out of date. Otherwise
 * it would credit everything.
 */
export const basisOfCredit = (invoice: Invoice) => ({ ...basisOfInvoice(invoice), credits: ['all', 'part'] });
export const basisOfReissue = (
  invoice: Invoice,
  sides: ReissueSides | undefined,
  details: BillingDetails | undefined,
) => ({
  ...basisOfInvoice(invoice),
  after: sides?.after ?? null,
  details: basisOfDetails(details),
});
/** The facts that forms about a contract are made from. The last day that the forms name is one of them. */
export const basisOfContract = ({ status, lastDay, wouldEndOn }: ReturnType<typeof describeEnd>) => ({
  ...{ status, lastDay, wouldEndOn },
});
export const basisOfPayment = ({ id, unallocated }: Payment) => ({ id, unallocated });

const asIs = (result: unknown) => result;

/** Postgres accepts no text with U+0000, so no name contains it. */
const nameIn = (text = '') => (text.includes('\0') ? '' : text.trim());

const invoice: Subject<Invoice> = {
  name: 'invoice',
  keys: ['number'],
  mayLackSeen: true,
  async find(db, { number }) {
    const thing = await findInvoice(db, nameIn(number));
    return thing && { thing, ...(await findBuyerOf(db, thing)) };
  },
  async lock(trx, { number }) {
    const found = await findInvoice(trx, nameIn(number));
    if (found) await lockInvoices(trx, [found]);
  },
  answer: asIs,
};

/** An invoice, and the billing details that its buyer has now. */
const invoiceAndBuyer: Subject<Invoice> = {
  ...invoice,
  async lock(trx, given) {
    await invoice.lock?.(trx, given);
    const found = await findInvoice(trx, nameIn(given.number));
    const accountId = found && (await accountOf(trx, found));
    if (accountId) await lockBillingDetails(trx, accountId);
  },
};

const accountOf = async (db: Database, of: Invoice) => (await findBuyerOf(db, of)).accountId;

/** A payment itself belongs to nobody: only the invoice that it pays has a buyer. */
const payment: Subject<Payment> = {
  name: 'payment',
  keys: ['payment'],
  mayLackSeen: true,
  async find(db, { payment: id }) {
    const thing = await findPayment(db, nameIn(id));
    return thing?.kind === 'payment' ? { thing, accountId: null, userId: null } : undefined;
  },
  lock: (trx, { payment: id }) => lockPayments(trx, [nameIn(id)]),
  answer: asIs,
};

/** A payment that is about to pay an invoice. The payment belongs to the buyer of that invoice. */
const paymentToInvoice: Subject<Payment> = {
  ...payment,
  async find(db, given, config) {
    const found = await payment.find(db, given, config);
    const to = found && (await invoice.find(db, given, config));
    return to ? { ...to, thing: found.thing } : found;
  },
  async lock(trx, given) {
    await invoice.lock?.(trx, given);
    await payment.lock?.(trx, given);
  },
};

const contract: Subject<Contract> = {
  name: 'contract',
  keys: ['contract'],
  mayLackSeen: true,
  async find(db, { contract: id = '' }) {
    const thing = isUuid(id) ? await findContract(db, { id }) : undefined;
    return thing && { thing, accountId: thing.accountId, userId: thing.userId };
  },
  lock: (trx, { contract: id = '' }) => lockContract(trx, { id }),
  answer: (result) => ({ done: result !== undefined, ...sayLastDay(result as Canceled | undefined) }),
};

/** A contract that ended immediately has no `lastDay`. */
type Canceled = { contractId: string; lastDay?: string };

const sayLastDay = (canceled: Canceled | undefined) => canceled?.lastDay && { lastDay: canceled.lastDay };

function readAmount(text: string, currency: string): number {
  const amount = readDecimal(text, minorDigits(currency));
  if (!amount) return refuse('amount_malformed');
  return amount > maxAmount ? refuse('amount_too_high') : amount;
}

/** The fields of a payment other than its amount and invoice. */
const paidFields = {
  payment: (typed: string) => readBy(paymentIdSchema, 'payment_id_malformed')(typed.trim() || uuidv7()),
  paidAt: async (typed: string, { db, now }: { db: Database; now: () => Date }) =>
    (await readPaidOn(db, typed || undefined, now())) ?? refuse('day_malformed'),
  method: (typed: string) => (typed.trim() ? readBy(methodSchema, 'method_length')(typed) : null),
};

type Paid = { payment: string; paidAt: Date; method: string | null; amount: number; currency: string };

async function record(
  { trx, by }: ActContext<unknown>,
  invoiceNumber: string,
  { payment: id, ...paid }: Paid,
) {
  const facts = { id, ...paid, kind: 'payment', of: null, reference: null, invoiceNumber } as const;
  try {
    return await describeRecorded(trx, await recordMoney(trx, facts, by));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'idempotency_key_reused') throw error;
    throw invalidMember('/payment', faultWords.payment_reused);
  }
}

const pay = act({
  about: invoice,
  right: { name: 'billing.recordPayment' },
  offers: () => [{}],
  fields: { ...paidFields, amount: (typed, { thing }) => readAmount(typed, thing.currency) },
  formBasis: (_db, target) => basisOfInvoice(target),
  do: (context, read) =>
    record(context, context.target.number, { ...read, currency: context.target.currency }),
});

const sayPaid = (_target: unknown, { result }: { result?: PaymentAnswer }) => {
  if (!result) return {};
  const { payment_id: id, applied: done, ...more } = result;
  return { id, done, ...more };
};

/**
 * The number that a payer gave, which may be unknown. A number that a restore has lost stands for the invoice that replaces it
 * (contract 7.423).
 */
const named: Subject<Pick<Invoice, 'number'> & Partial<Invoice>> = {
  ...invoice,
  async find(db, { number = '' }) {
    const thing = await findInvoiceToPay(db, number.trim());
    return thing
      ? { thing: { ...thing, number }, ...(await findBuyerOf(db, thing)) }
      : { thing: { number }, accountId: null, userId: null };
  },
};

/** A command also accepts an unknown number (contract 7.162). */
const recordNamed = act({
  about: named,
  right: pay.right,
  command: {
    name: 'payment:record',
    takes: {
      amount: { option: '--amount <decimal>', isRequired: true },
      currency: { option: '--currency <code>' },
      paidAt: { option: '--paid-at <day>' },
      method: { option: '--method <text>' },
      payment: { option: '--id <id>' },
    },
    json: sayPaid,
  },
  fields: {
    currency(typed, { thing }) {
      const code = typed || thing.currency || refuse('currency_missing');
      return isCurrency(code) ? code : refuse('currency_unknown');
    },
    amount: (typed, { thing, given }) => readAmount(typed, given.currency || thing.currency || ''),
    ...paidFields,
  },
  formBasis: () => null,
  do: (context, read) => record(context, context.target.number, read),
});

/** Pays the whole open amount, by command. */
const payAll = act({
  about: invoice,
  right: pay.right,
  command: { name: 'invoice:paid', mustChange: ({ status }) => status === 'void', json: sayPaid },
  fields: {},
  formBasis: pay.formBasis,
  async do({ trx, target: { number, status }, by }) {
    if (status !== 'open') return undefined;
    return describeRecorded(trx, await payOpen(trx, { number, id: uuidv7(), paidAt: by.now }, by));
  },
});

const sayCredited = (
  { number, status, open }: Invoice,
  { result }: { result?: { creditNote: string | null } },
) => ({
  ...(result?.creditNote && { credit_note: result.creditNote }),
  ...(result && { invoice: { number, status, open } }),
});

const readCredits = readOneOf('all', 'part');

const credit = act({
  about: invoice,
  right: { name: 'billing.credit' },
  // Crediting everything has a form of its own, so that nobody does it by leaving the amount empty.
  offers: ({ status, hasDocument }: Invoice) => [
    ...offerIf(status !== 'void', { credits: 'all' }),
    ...offerIf(status !== 'void' && hasDocument, { credits: 'part' }),
  ],
  command: {
    name: 'invoice:credit',
    takes: { amount: { option: '--amount <decimal>' } },
    asks: 'always',
    json: sayCredited,
  },
  fields: {
    amount: (typed, { thing }) => (typed.trim() ? readAmount(typed, thing.currency) : undefined),
  },
  // People easily send an empty amount by mistake, and a credit cannot be undone. So they choose between all and a part.
  formFields: {
    credits: (typed, { thing: { hasDocument } }) => (hasDocument ? readCredits(typed) : 'all'),
    amount(typed, { thing, given: { credits } }) {
      if (credits === 'part' && thing.hasDocument) return readAmount(typed, thing.currency);
      return typed.trim() && (credits === 'all' || !thing.hasDocument)
        ? refuse('credit_all_has_amount')
        : undefined;
    },
  },
  formBasis: (_db, target) => basisOfCredit(target),
  do: async ({ trx, target, by }, { amount }) => ({
    creditNote: (await creditInvoice(trx, target.number, amount, by)) ?? null,
  }),
});

/** Credits everything that is not credited yet, by command. */
const voidInvoice = act({
  about: invoice,
  right: credit.right,
  command: { name: 'invoice:void', asks: 'on a terminal', json: sayCredited },
  fields: {},
  formBasis: credit.formBasis,
  do: async (context) =>
    context.target.status === 'void' ? undefined : credit.do(context, { amount: undefined }),
});

const reissue = act({
  about: invoiceAndBuyer,
  right: { name: 'billing.reissue' },
  offers: ({ hasDocument, credited }: Invoice) => offerIf(hasDocument && credited === 0),
  command: {
    name: 'invoice:reissue',
    takes: detailOptions,
    needsWhy: 'for options',
    asks: 'always',
    json: (_target, { result: { creditNote, invoice: number } }) => ({
      credit_note: creditNote,
      invoice: number,
    }),
  },
  fields: detailFields(accountOf),
  async formBasis(db, target) {
    const accountId = await accountOf(db, target);
    const details = accountId ? await findBillingDetails(db, accountId) : undefined;
    return basisOfReissue(target, await compareReissue(db, target), details);
  },
  async do(context, read) {
    if (isAnyGiven(read)) await editBuyer(context, read);
    return reissueInvoice(context.trx, context.target.number, context.by);
  },
});

/**
 * Changes the billing details before a reissue. Throws 422 if a change of the tax would follow, because the form cannot show
 * what the new invoice would say then.
 */
async function editBuyer(context: ActContext<Invoice>, read: SomeDetails): Promise<void> {
  const { trx, target, by } = context;
  const { accountId, userId } = await findBuyerOf(trx, target);
  const before = await compareReissue(trx, target);
  // In these cases the invoice cannot be issued again, and `reissueInvoice` says why.
  if (!accountId || !before) return;
  // Checked before the change, too, because the address that waits would go onto the invoice with a country that is given here.
  const requireNoneWaits = async () => {
    if ((await findBillingDetails(trx, accountId))?.waiting)
      throw invalidMember('/number', faultWords.reissue_tax);
  };
  await requireNoneWaits();
  const edited = await editDetails(context, accountId, read);
  const after = await compareReissue(trx, target);
  if (after?.tax !== before.tax) throw invalidMember('/number', faultWords.reissue_tax);
  await requireNoneWaits();
  if (edited)
    deferAuditEvent(trx, {
      ...{ ...by.trail, ...(userId !== null && { userId }), type: 'staff.edit_billing_details' },
      details: { ...by.trail.details, ...edited },
    });
}

const allocatePayment = act({
  about: paymentToInvoice,
  right: { name: 'billing.allocate' },
  offers: ({ kind, id }: Payment) => offerIf(kind === 'payment', { payment: id }),
  command: {
    name: 'payment:allocate',
    takes: { number: '<number>' },
    json: ({ unallocated }, { given: { number }, result: { amount } }) => ({
      ...{ amount, unallocated, invoice: number },
    }),
  },
  fields: {
    async number(typed, { db }) {
      const number = readBy(numberSchema, 'invoice_unknown')(typed.trim().toUpperCase());
      return (await findInvoice(db, number)) ? number : refuse('invoice_unknown');
    },
  },
  formBasis: (_db, target) => basisOfPayment(target),
  do: async ({ trx, target: { id: paymentId }, by }, { number }) => ({
    amount: await allocate(trx, { paymentId, number }, by),
  }),
});

const paidBack = act({
  about: payment,
  right: { name: 'billing.paidBack' },
  offers: ({ kind, id }: Payment) => offerIf(kind === 'payment', { payment: id }),
  command: {
    name: 'payment:paid-back',
    asks: 'always',
    json: ({ currency }, { result: { amount } }) => ({ amount, currency }),
  },
  fields: {},
  formBasis: allocatePayment.formBasis,
  do: async ({ trx, target: { id: paymentId }, by }) => ({
    amount: await payBack(trx, { paymentId, id: uuidv7(), paidAt: by.now }, by),
  }),
});

const goesOn = (target: Contract, now: Date) => isRunning(presentStatus(target, now));

/** Ends a contract immediately. */
const cancelContract = act({
  about: contract,
  right: { name: 'billing.cancelContract' },
  event: 'staff.cancel_contract',
  offers: ({ id, status }: Pick<Contract, 'id' | 'status'>) => offerIf(isRunning(status), { contract: id }),
  fields: {},
  formBasis: async (db, target, now) => basisOfContract(describeEnd(await findZone(db), target, now)),
  async do({ trx, target, by: { now, trail } }): Promise<Canceled | undefined> {
    if (!goesOn(target, now) || !(await endContract(trx, target, now, trail))) return undefined;
    deferContractMail(trx, 'contract_cancel_asked', target, { now, isBySupport: true });
    return { contractId: target.id };
  },
});

/** Cancels a contract as its customer would (contract 7.425). */
const cancelAtPeriodEnd = act({
  about: contract,
  right: { name: 'billing.endAtPeriodEnd' },
  event: 'staff.cancel_contract',
  offers: ({ id, wouldEndOn }: { id: string; wouldEndOn: string | null }) =>
    offerIf(wouldEndOn !== null, { contract: id }),
  fields: {},
  formBasis: cancelContract.formBasis,
  async do({ trx, target, by: { now, trail } }): Promise<Canceled | undefined> {
    if (!goesOn(target, now) || isCanceled(target, now)) return undefined;
    const { wouldEndOn: lastDay } = describeEnd(await findZone(trx), target, now);
    await endWithPeriod(trx, target, now, trail);
    deferContractMail(trx, 'contract_cancel_asked', target, { now, isBySupport: true });
    return { contractId: target.id, ...(lastDay && { lastDay }) };
  },
});

/** One command cancels immediately or at the end of a period. */
const cancelByCommand = act({
  about: contract,
  right: cancelContract.right,
  event: 'staff.cancel_contract',
  command: {
    name: 'contract:cancel',
    takes: { kind: { option: '--at-period-end', values: ['at_period_end', 'at_once'] } },
    asks: 'on a terminal',
    json: (_target, { result }) => ({ ...(result?.lastDay && { last_day: result.lastDay }) }),
  },
  fields: { kind: readOneOf('at_period_end', 'at_once') },
  formBasis: cancelContract.formBasis,
  do: (context, { kind }) => (kind === 'at_once' ? cancelContract : cancelAtPeriodEnd).do(context, {}),
});

/** The acts, by the intent of their form. */
export const paymentActs = {
  pay,
  credit,
  reissue,
  allocate: allocatePayment,
  'paid-back': paidBack,
  'cancel-at-period-end': cancelAtPeriodEnd,
  cancel: cancelContract,
};

/** Acts that have only a command, with the intent that the command prints. */
export const paymentsByCommand: [intent: string, act: AnyAct][] = [
  ['pay', recordNamed],
  ['pay', payAll],
  ['credit', voidInvoice],
  ['cancel', cancelByCommand],
];
