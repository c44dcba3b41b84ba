// Records money that comes in or goes back, and allocates it to invoices (contract 7.130 to 7.138).
// Each function locks contracts first, then invoices, then payments. Rows of one kind are locked in a fixed order. If a
// function finds out later that it has locked too little, it starts again (LostRace).
import type { Transaction } from 'kysely';
import { LostRace } from '../../../db/races.ts';
import type { DB } from '../../../db/schema.ts';
import { insertAllocation, listAllocated } from '../../../db/tables/allocations.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  findInvoice,
  findInvoiceToPay,
  type Invoice,
  listContractsOf,
  lockInvoice,
  updateSettled,
} from '../../../db/tables/invoices.ts';
import {
  findPayment,
  insertPayment,
  listReturns,
  listWaitingFor,
  lockPayments,
  type Payment,
  setUnallocated,
} from '../../../db/tables/payments.ts';
import { lockContract } from '../../../db/tables/service-contracts.ts';
import type { PaymentTrail } from '../../acts/act.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { settleContract } from '../invoices/invoicing.ts';
import { deferPaymentMail } from '../invoices/mails.ts';

export type Recorder = { now: Date; recordedBy: Payment['recordedBy']; trail?: PaymentTrail };

export type Money = Pick<
  Payment,
  'id' | 'currency' | 'amount' | 'paidAt' | 'method' | 'reference' | 'invoiceNumber'
> &
  ({ kind: 'payment'; of: null } | { kind: 'refund'; of: string });

export type Recorded = { payment: Payment; applied: boolean };

/**
 * Records each id only one time. A payment pays the invoice with the number `pays`, which by default is the number that the
 * payer wrote. Throws 422 `validation_failed`. Throws 422 `idempotency_key_reused` if the id is recorded with other facts.
 */
export async function recordMoney(
  trx: Transaction<DB>,
  money: Money,
  by: Recorder,
  pays = money.invoiceNumber,
): Promise<Recorded> {
  const named = pays === null ? undefined : await findInvoiceToPay(trx, pays);
  const invoices = await lockInvoices(trx, [
    ...(named ? [named] : []),
    ...(money.kind === 'refund' ? await listPaid(trx, money.of) : []),
  ]);
  await lockPayments(trx, [money.id, ...(money.of === null ? [] : [money.of])]);
  const known = await findPayment(trx, money.id);
  if (known) {
    if (!hasSameFacts(known, money))
      throw new AppError('idempotency_key_reused', {
        detail:
          'This payment_id was reported with other facts. Use a new id for each payment and each refund.',
      });
    return { payment: known, applied: false };
  }
  await (money.kind === 'payment'
    ? applyPayment(trx, money, named && invoices.get(named.id), by)
    : applyRefund(trx, money, invoices, by));
  await settleContracts(trx, invoices, by);
  deferAuditEvent(trx, {
    ...by.trail,
    type: money.kind === 'payment' ? 'payment.recorded' : 'payment.refunded',
    details: { ...by.trail?.details, payment: money.id, ...(named && { number: named.number }) },
  });
  return { payment: (await findPayment(trx, money.id)) as Payment, applied: true };
}

/** Records a payment of the whole open amount. Throws 404 `not_found`, and 409 `already_settled` if nothing is open. */
export async function payOpen(
  trx: Transaction<DB>,
  { number, id, paidAt }: { number: string; id: string; paidAt: Date },
  by: Recorder,
): Promise<Recorded> {
  const found = await findInvoice(trx, number);
  if (!found) throw new AppError('not_found');
  const invoice = (await lockInvoices(trx, [found])).get(found.id);
  if (!invoice || invoice.open === 0) throw new AppError('already_settled');
  const { currency, open: amount } = invoice;
  const named = { invoiceNumber: number, method: null, reference: null };
  return recordMoney(trx, { id, kind: 'payment', of: null, currency, amount, paidAt, ...named }, by);
}

const hasSameFacts = (known: Payment, money: Money) =>
  known.kind === money.kind &&
  known.of === money.of &&
  known.invoiceNumber === money.invoiceNumber &&
  known.currency === money.currency &&
  known.amount === money.amount &&
  known.paidAt.getTime() === money.paidAt.getTime();

/**
 * Pays the invoice that the payment names. Until 1.2.0, this first subtracts refunds that arrived before their payment, because
 * version 1.0.0 accepted such refunds.
 */
async function applyPayment(
  trx: Transaction<DB>,
  money: Money,
  invoice: Invoice | undefined,
  by: Recorder,
): Promise<void> {
  const refunds = (await listReturns(trx, money.id)).filter(({ currency }) => currency === money.currency);
  const gone = Math.min(money.amount, sum(refunds.map(({ amount }) => amount)));
  await settleRefunds(trx, refunds, gone);
  const unallocated = money.amount - gone;
  await insertPayment(trx, { ...money, recordedBy: by.recordedBy, unallocated });
  if (invoice?.currency !== money.currency) return;
  const amount = await allocateUpTo(trx, { payment: { ...money, unallocated }, invoice });
  if (amount > 0) deferPaymentMail(trx, money.id, invoice, by.now);
}

/**
 * Subtracts the refund from the unallocated part of the payment first. Subtracts the rest from the invoices that the payment
 * pays, the newest allocation first.
 */
async function applyRefund(
  trx: Transaction<DB>,
  money: Money & { kind: 'refund' },
  invoices: Map<number, Invoice>,
  by: Recorder,
): Promise<void> {
  if (money.of === money.id) throw invalidMember('/of', 'Must be the id of a payment, not of this refund.');
  const payment = await findPayment(trx, money.of);
  if (!payment) throw invalidMember('/of', faultWords.refund_early);
  if (payment.kind !== 'payment') throw invalidMember('/of', 'Must be the id of a payment.');
  if (payment.currency !== money.currency)
    throw invalidMember('/amount/currency', 'Must be the currency of the payment.');
  await insertPayment(trx, { ...money, recordedBy: by.recordedBy, unallocated: -money.amount });
  let missing = money.amount;
  const left = Math.min(missing, payment.unallocated);
  if (left > 0) await setUnallocated(trx, payment.id, payment.unallocated - left);
  missing -= left;
  for (const { invoiceId, amount } of missing > 0 ? await listAllocated(trx, { payment: payment.id }) : []) {
    const part = Math.min(missing, amount);
    if (part === 0) break;
    const invoice = invoices.get(invoiceId);
    if (!invoice) throw new LostRace();
    await moveAllocated(trx, { payment: payment.id, invoice, amount: -part, paidAt: by.now });
    missing -= part;
  }
  const refunds = (await listReturns(trx, payment.id)).filter(
    ({ kind, currency }) => kind === 'refund' && currency === money.currency,
  );
  await settleRefunds(
    trx,
    refunds,
    sum(refunds.map(({ amount, unallocated }) => amount + unallocated)) + money.amount - missing,
  );
}

const sum = (amounts: number[]) => amounts.reduce((all, amount) => all + amount, 0);

/**
 * Divides `taken` among the refunds of a payment, the oldest first. The order is by when each refund happened, not by when it was
 * reported.
 */
async function settleRefunds(trx: Transaction<DB>, refunds: Payment[], taken: number): Promise<void> {
  const byTime = (one: Payment, other: Payment) =>
    one.paidAt.getTime() - other.paidAt.getTime() || (one.id < other.id ? -1 : 1);
  let left = taken;
  for (const { id, amount, unallocated } of refunds.sort(byTime)) {
    const part = Math.min(left, amount);
    if (unallocated !== part - amount) await setUnallocated(trx, id, part - amount);
    left -= part;
  }
}

/** Throws 404 `not_found`, 409 `already_settled` if there is nothing left to allocate or to pay, and 422 for another currency. */
export async function allocate(
  trx: Transaction<DB>,
  { paymentId, number }: { paymentId: string; number: string },
  by: Recorder,
): Promise<number> {
  const named = await findInvoice(trx, number);
  if (!named || (await findPayment(trx, paymentId))?.kind !== 'payment') throw new AppError('not_found');
  const invoices = await lockInvoices(trx, [named]);
  const invoice = invoices.get(named.id) as Invoice;
  await lockPayments(trx, [paymentId]);
  const payment = await findPayment(trx, paymentId);
  if (!payment) throw new AppError('not_found');
  if (payment.currency !== invoice.currency) throw invalidMember('/number', faultWords.allocate_currency);
  const amount = await allocateUpTo(trx, { payment, invoice });
  if (amount <= 0) throw new AppError('already_settled');
  await settleContracts(trx, invoices, by);
  tellAllocated(trx, { payment: payment.id, invoice, amount }, by);
  return amount;
}

function tellAllocated(
  trx: Transaction<DB>,
  { payment, invoice, amount }: { payment: string; invoice: Invoice; amount: number },
  by: Recorder,
): void {
  deferPaymentMail(trx, payment, invoice, by.now);
  const details = { ...by.trail?.details, payment, number: invoice.number, amount };
  deferAuditEvent(trx, { ...by.trail, type: 'payment.allocated', details });
}

/** `invoices` has, for each lost number, the invoice that replaces it. A payment that names a lost number pays that invoice. */
export async function payWithWaiting(
  trx: Transaction<DB>,
  invoices: Map<string, Invoice>,
  by: Recorder,
): Promise<void> {
  const locked = await lockInvoices(trx, [...invoices.values()]);
  const ids = (await listWaitingFor(trx, [...invoices.keys()])).map(({ id }) => id);
  await lockPayments(trx, ids);
  for (const id of ids) {
    const payment = await findPayment(trx, id);
    const invoice = locked.get(invoices.get(payment?.invoiceNumber?.toUpperCase() ?? '')?.id ?? 0);
    if (!payment || invoice?.currency !== payment.currency) continue;
    const amount = await allocateUpTo(trx, { payment, invoice });
    if (amount > 0) tellAllocated(trx, { payment: id, invoice, amount }, by);
  }
}

/**
 * Records that a payment's unallocated money was paid back. Throws 404 `not_found`, and 409 `already_settled` if the payment
 * has none.
 */
export async function payBack(
  trx: Transaction<DB>,
  { paymentId, id, paidAt }: { paymentId: string; id: string; paidAt: Date },
  by: Recorder,
): Promise<number> {
  await lockPayments(trx, [paymentId]);
  const payment = await findPayment(trx, paymentId);
  if (payment?.kind !== 'payment') throw new AppError('not_found');
  const { currency, unallocated: amount } = payment;
  if (amount === 0) throw new AppError('already_settled');
  await setUnallocated(trx, payment.id, 0);
  await insertPayment(trx, {
    ...{ id, kind: 'paid_back', of: payment.id, currency, amount, paidAt },
    ...{ method: null, reference: null, invoiceNumber: null, recordedBy: by.recordedBy, unallocated: 0 },
  });
  deferAuditEvent(trx, {
    ...by.trail,
    type: 'payment.refunded',
    details: { ...by.trail?.details, payment: payment.id, amount },
  });
  return amount;
}

/** Returns the amount that was allocated. */
export async function allocateUpTo(
  trx: Transaction<DB>,
  {
    payment,
    invoice,
    most = payment.unallocated,
  }: { payment: Pick<Payment, 'id' | 'unallocated' | 'paidAt'>; invoice: Invoice; most?: number },
): Promise<number> {
  const amount = Math.min(payment.unallocated, most, invoice.open);
  if (amount <= 0) return 0;
  await setUnallocated(trx, payment.id, payment.unallocated - amount);
  await moveAllocated(trx, { payment: payment.id, invoice, amount, paidAt: payment.paidAt });
  return amount;
}

/**
 * Takes allocated money away from a locked invoice, until only `allocated` remains allocated. Begins with the newest
 * allocation. The money becomes unallocated.
 */
export async function freeAllocated(
  trx: Transaction<DB>,
  invoice: Invoice,
  allocated: number,
): Promise<{ payment: string; amount: number }[]> {
  const freed: { payment: string; amount: number }[] = [];
  let left = invoice.allocated - allocated;
  // The lock on the invoice also protects its allocations. So only the payments that change need a lock.
  for (const { payment, amount } of await listAllocated(trx, { invoiceId: invoice.id })) {
    const part = Math.min(amount, left);
    if (part <= 0) break;
    freed.push({ payment, amount: part });
    left -= part;
  }
  await lockPayments(
    trx,
    freed.map(({ payment }) => payment),
  );
  for (const { payment: id, amount } of freed) {
    const payment = (await findPayment(trx, id)) as Payment;
    await setUnallocated(trx, id, payment.unallocated + amount);
    await moveAllocated(trx, { payment: id, invoice, amount: -amount, paidAt: payment.paidAt });
  }
  return freed;
}

/** If `amount` is negative, takes money away from the invoice. Updates `invoice` to the new row. */
async function moveAllocated(
  trx: Transaction<DB>,
  { payment, invoice, amount, paidAt }: { payment: string; invoice: Invoice; amount: number; paidAt: Date },
): Promise<void> {
  await insertAllocation(trx, { payment, invoiceId: invoice.id, amount });
  const settled = { credited: invoice.credited, allocated: invoice.allocated + amount, paidAt };
  Object.assign(invoice, await updateSettled(trx, invoice, settled));
}

const listPaid = async (trx: Transaction<DB>, payment: string) =>
  (await listAllocated(trx, { payment })).map(({ invoiceId }) => ({ id: invoiceId }));

/** Locks contracts first, then invoices. All callers use this order, because another order could deadlock. */
export async function lockInvoices(
  trx: Transaction<DB>,
  found: Pick<Invoice, 'id'>[],
): Promise<Map<number, Invoice>> {
  const ids = [...new Set(found.map(({ id }) => id))].sort((a, b) => a - b);
  for (const id of await listContractsOf(trx, ids)) await lockContract(trx, { id });
  const invoices = new Map<number, Invoice>();
  for (const id of ids) invoices.set(id, await lockInvoice(trx, id));
  return invoices;
}

async function settleContracts(
  trx: Transaction<DB>,
  invoices: Map<number, Invoice>,
  { now }: Pick<Recorder, 'now'>,
): Promise<void> {
  for (const id of new Set([...invoices.values()].map(({ contractId }) => contractId))) {
    const contract = await lockContract(trx, { id });
    if (contract) await settleContract(trx, contract, now);
  }
}
