// Credits an invoice, whole or in part, and issues it anew (contract 7.70 to 7.79).
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { findFacts } from '../../db/tables/documents.ts';
import { findInvoice, type Invoice, lockInvoice, updateSettled } from '../../db/tables/invoices.ts';
import { findPayment, type Payment } from '../../db/tables/payments.ts';
import { type Contract, lockContract } from '../../db/tables/service-contracts.ts';
import { AppError } from '../basics/errors.ts';
import type { DocumentFacts } from './document-facts.ts';
import { settleContract } from './invoicing.ts';
import { findSettings, issueCreditNote, issueInvoice, type Settings } from './issue.ts';
import { allocateUpTo, type Bookkeeper, freeAllocated } from './ledger.ts';

/**
 * Credits an invoice over `amount`, or all that is not credited; what was paid of that is free for other uses. One from before
 * there was a seller has no document, and only becomes void. The result is the number of the credit note, if there is one.
 * Throws 404 `not_found`, 409 `already_settled` if all is credited, and 422 for more than is left, or a part without a document.
 */
export async function creditInvoice(
  trx: Transaction<DB>,
  number: string,
  amount: number | undefined,
  by: Bookkeeper,
): Promise<string | undefined> {
  const { contract, invoice } = await lockToCorrect(trx, number);
  const left = invoice.unitAmount - invoice.credited;
  if (left === 0) throw new AppError('already_settled');
  if (amount !== undefined && (amount > left || (amount < left && !invoice.hasDocument)))
    throw new AppError('validation_failed', { errors: [{ pointer: '/amount', detail: tooMuch(invoice) }] });
  const credited = await credit(trx, invoice, amount ?? left, by);
  await settleContract(trx, contract, by.now);
  return credited.number;
}

const tooMuch = ({ hasDocument }: Invoice) =>
  hasDocument
    ? 'Must not be more than is left of the invoice.'
    : 'An invoice without a tax document can only be voided whole.';

/**
 * Credits an invoice whole, and issues the same period at the same price to the buyer as they are now; what was paid goes along.
 * Throws 404 `not_found`, 409 `already_settled` if anything is credited, and 422 if there can be no new one.
 */
export async function reissueInvoice(
  trx: Transaction<DB>,
  number: string,
  by: Bookkeeper,
): Promise<{ creditNote: string; invoice: string }> {
  const { contract, invoice } = await lockToCorrect(trx, number);
  if (invoice.credited > 0) throw new AppError('already_settled');
  if (!invoice.hasDocument) throw new AppError('not_allowed');
  const credited = await credit(trx, invoice, invoice.unitAmount, by);
  const { facts, settings, freed } = credited;
  if (!facts || !settings || !credited.number) throw new AppError('not_allowed');
  // The price as it was meant, before or with tax.
  const tax = { ...settings.settings.tax, prices: facts.prices };
  const issued = await issueInvoice(trx, { ...settings, settings: { ...settings.settings, tax } }, contract, {
    plan: invoice.plan,
    price: { currency: invoice.currency, unitAmount: facts.prices === 'net' ? facts.net : facts.total },
    startsAt: invoice.periodStartsAt,
    endsAt: invoice.periodEndsAt,
  });
  if ('held' in issued)
    throw new AppError('validation_failed', { errors: [{ pointer: '/number', detail: issued.held }] });
  const renewed = await lockInvoice(trx, issued.id);
  for (const { payment: id, amount } of freed) {
    const payment = (await findPayment(trx, id)) as Payment;
    await allocateUpTo(trx, { payment, invoice: renewed, atMost: amount });
  }
  await settleContract(trx, contract, by.now);
  return { creditNote: credited.number, invoice: issued.number };
}

async function lockToCorrect(
  trx: Transaction<DB>,
  number: string,
): Promise<{ contract: Contract; invoice: Invoice }> {
  const found = await findInvoice(trx, number);
  const contract = found && (await lockContract(trx, { id: found.contractId }));
  if (!contract) throw new AppError('not_found');
  return { contract, invoice: await lockInvoice(trx, found.id) };
}

async function credit(
  trx: Transaction<DB>,
  invoice: Invoice,
  amount: number,
  { now, trail }: Bookkeeper,
): Promise<{
  number?: string;
  facts?: DocumentFacts;
  settings?: Settings;
  freed: { payment: string; amount: number }[];
}> {
  const credited = invoice.credited + amount;
  const freed = await freeAllocated(trx, invoice, Math.min(invoice.allocated, invoice.unitAmount - credited));
  const settle = () => updateSettled(trx, invoice, { credited, allocated: invoice.allocated, paidAt: now });
  if (!invoice.hasDocument) {
    await settle();
    const details = { ...trail?.details, number: invoice.number };
    deferAuditEvent(trx, { ...trail, type: 'invoice.void', details });
    return { freed };
  }
  const [facts, settings] = await Promise.all([
    findFacts(trx, invoice.number) as Promise<DocumentFacts>,
    findSettings(trx),
  ]);
  if (!settings) throw new AppError('not_allowed');
  const before = { ...invoice };
  await settle();
  return { number: await issueCreditNote(trx, settings, before, facts, amount), facts, settings, freed };
}
