// Credits an invoice, in full or in part. Also reissues an invoice (contract 7.70 to 7.74 and 7.431).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { findFacts } from '../../../db/tables/documents.ts';
import { findInvoice, type Invoice, lockInvoice, updateSettled } from '../../../db/tables/invoices.ts';
import { findPayment, type Payment } from '../../../db/tables/payments.ts';
import { lockContract } from '../../../db/tables/service-contracts.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { findBuyer } from '../invoices/buyers.ts';
import { settleContract } from '../invoices/invoicing.ts';
import { findSettings, issueCreditNote, issueInvoice, type Settings } from '../invoices/issue.ts';
import { requireBillingGoesOn } from '../invoices/pause.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { allocateUpTo, freeAllocated, type Recorder } from './allocate.ts';
import { blockedWords, chargeAgain, compareReissue } from './reissue.ts';

/**
 * Credits `amount` or, without it, everything that is not credited yet. Money that paid the credited part becomes unallocated.
 * An invoice without a document becomes void as a whole. Returns the number of the credit note. Throws 404 `not_found`, 409
 * `already_settled` or `billing_paused`, and 422 for an amount that cannot be credited.
 */
export async function creditInvoice(
  trx: Transaction<DB>,
  number: string,
  amount: number | undefined,
  by: Recorder,
): Promise<string | undefined> {
  const { contract, invoice } = await lockToCorrect(trx, number);
  await requireBillingGoesOn(trx);
  const left = invoice.unitAmount - invoice.credited;
  if (left === 0) throw new AppError('already_settled');
  if (amount !== undefined && (amount > left || (amount < left && !invoice.hasDocument)))
    throw invalidMember(
      '/amount',
      invoice.hasDocument ? faultWords.credit_too_much : faultWords.credit_part_of_old,
    );
  const creditNote = invoice.hasDocument
    ? (await credit(trx, invoice, amount ?? left, by)).number
    : await voidWithoutDocument(trx, invoice, by);
  await settleContract(trx, contract, by.now);
  return creditNote;
}

/**
 * Credits an invoice in full, and invoices the same period to the current buyer, at the same price. Payments move to the new
 * invoice. Throws 404 `not_found` and 409 `billing_paused`. Throws 409 `already_settled` if anything is credited, or if neither
 * the buyer nor the tax would change. Throws 403 `not_allowed` if there is no document or no buyer, and 422 if the new invoice is
 * blocked.
 */
export async function reissueInvoice(
  trx: Transaction<DB>,
  number: string,
  by: Recorder,
): Promise<{ creditNote: string; invoice: string }> {
  const { contract, invoice } = await lockToCorrect(trx, number);
  await requireBillingGoesOn(trx);
  if (invoice.credited === invoice.unitAmount) throw new AppError('already_settled');
  if (invoice.credited > 0) throw new AppError('already_settled', { detail: faultWords.reissue_credited });
  if (!invoice.hasDocument) throw new AppError('not_allowed', { detail: faultWords.reissue_no_document });
  if (!(await findBuyer(trx, contract))?.facts.name)
    throw new AppError('not_allowed', { detail: faultWords.reissue_no_buyer });
  if ((await compareReissue(trx, invoice))?.isSame)
    throw new AppError('already_settled', { detail: faultWords.reissue_same });
  const { number: creditNote, facts, settings, freed } = await credit(trx, invoice, invoice.unitAmount, by);
  const again = chargeAgain(settings.settings, invoice, facts);
  const issued = await issueInvoice(trx, { ...settings, settings: again.settings }, contract, again.charge, {
    ...{ trail: by.trail, creditNote, lines: again.lines },
  });
  if ('blocked' in issued) throw invalidMember('/number', blockedWords[issued.blocked]);
  const renewed = await lockInvoice(trx, issued.id);
  // `freed` begins with the newest allocation. This loop begins with the oldest, so that the new invoice has its allocations in
  // the same order as the old invoice had.
  for (const { payment: id, amount: most } of freed.reverse())
    await allocateUpTo(trx, { payment: (await findPayment(trx, id)) as Payment, invoice: renewed, most });
  await settleContract(trx, contract, by.now);
  return { creditNote, invoice: issued.number };
}

async function lockToCorrect(trx: Transaction<DB>, number: string) {
  const found = await findInvoice(trx, number);
  const contract = found && (await lockContract(trx, { id: found.contractId }));
  if (!contract) throw new AppError('not_found');
  return { contract, invoice: await lockInvoice(trx, found.id) };
}

/** Voids an invoice that was issued while there was no seller. */
async function voidWithoutDocument(trx: Transaction<DB>, invoice: Invoice, by: Recorder): Promise<undefined> {
  await freeCredited(trx, invoice, invoice.unitAmount, by);
  const details = { ...by.trail?.details, number: invoice.number };
  deferAuditEvent(trx, { ...by.trail, type: 'invoice.void', details });
}

async function credit(trx: Transaction<DB>, invoice: Invoice, amount: number, by: Recorder) {
  const freed = await freeCredited(trx, invoice, invoice.credited + amount, by);
  // An invoice with a document was issued under billing settings, and a seller cannot be removed. So both facts and settings
  // exist.
  const [facts, settings] = await Promise.all([
    findFacts(trx, invoice.number) as Promise<DocumentFacts>,
    findSettings(trx) as Promise<Settings>,
  ]);
  const number = await issueCreditNote(trx, settings, invoice, { facts, total: amount, trail: by.trail });
  return { number, facts, settings, freed };
}

/**
 * Stores `credited` as the invoice's credited amount. Money above what is still to be paid becomes unallocated. Does not change
 * `invoice`.
 */
async function freeCredited(
  trx: Transaction<DB>,
  invoice: Invoice,
  credited: number,
  { now }: Pick<Recorder, 'now'>,
) {
  // This is a copy, because `freeAllocated` changes the object that it is given.
  const present = { ...invoice };
  const freed = await freeAllocated(trx, present, Math.min(invoice.allocated, invoice.unitAmount - credited));
  await updateSettled(trx, present, { credited, allocated: present.allocated, paidAt: now });
  return freed;
}
