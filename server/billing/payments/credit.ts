// Credits an invoice, whole or in part, and issues it anew (contract 7.70 to 7.75).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { findFacts } from '../../../db/tables/documents.ts';
import { findInvoice, type Invoice, lockInvoice, updateSettled } from '../../../db/tables/invoices.ts';
import { findPayment, type Payment } from '../../../db/tables/payments.ts';
import { type Contract, lockContract } from '../../../db/tables/service-contracts.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { findBuyer } from '../invoices/buyers.ts';
import { settleContract } from '../invoices/invoicing.ts';
import {
  type BlockedCode,
  findSettings,
  issueCreditNote,
  issueInvoice,
  type Settings,
} from '../invoices/issue.ts';
import { requireBillingGoesOn } from '../invoices/pause.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { allocateUpTo, freeAllocated, type Recorder } from './allocate.ts';

/**
 * Credits an invoice over `amount`, or all that is not credited; what was paid of that is free for other uses. One from before
 * there was a seller has no document, and only becomes void. The result is the number of the credit note, if there is one.
 * Throws 404 `not_found`, 409 `already_settled` if all is credited or `billing_paused`, and 422 for more than is left, or a part
 * without a document.
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
    throw new AppError('validation_failed', {
      errors: [
        {
          pointer: '/amount',
          detail: invoice.hasDocument ? faultWords.credit_too_much : faultWords.credit_part_of_old,
        },
      ],
    });
  const creditNote = invoice.hasDocument
    ? (await credit(trx, invoice, amount ?? left, by)).number
    : await voidWithoutDocument(trx, invoice, by);
  await settleContract(trx, contract, by.now);
  return creditNote;
}

/**
 * Credits an invoice whole, and issues the same period at the same price to the buyer as they are now; what was paid of it goes
 * along. Throws 404 `not_found`, 409 `already_settled` if anything is credited or `billing_paused`, 403 `not_allowed` without a
 * document or a buyer, and 422 if there can be no new one.
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
  const { number: creditNote, facts, settings, freed } = await credit(trx, invoice, invoice.unitAmount, by);
  // The price as it was meant, before or with tax.
  const tax = { ...settings.settings.tax, prices: facts.prices };
  const issued = await issueInvoice(
    trx,
    { ...settings, settings: { ...settings.settings, tax } },
    contract,
    {
      plan: invoice.plan,
      price: { currency: invoice.currency, unitAmount: facts.prices === 'net' ? facts.net : facts.total },
      startsAt: invoice.periodStartsAt,
      endsAt: invoice.periodEndsAt,
    },
    { trail: by.trail },
  );
  if ('blocked' in issued) throw invalidMember('/number', blockedWords[issued.blocked]);
  const renewed = await lockInvoice(trx, issued.id);
  // `freed` is newest first. Allocated oldest first, so that a later refund takes the newest again; and no other money of theirs.
  for (const { payment: id, amount: most } of freed.reverse())
    await allocateUpTo(trx, { payment: (await findPayment(trx, id)) as Payment, invoice: renewed, most });
  await settleContract(trx, contract, by.now);
  return { creditNote, invoice: issued.number };
}

const blockedWords: Record<BlockedCode, string> = {
  account_erased: faultWords.reissue_no_buyer,
  country_unread: faultWords.blocked_country_unread,
  no_tax_rule: faultWords.blocked_no_tax_rule,
  tax_currency: faultWords.blocked_tax_currency,
  price_too_high: faultWords.blocked_price_too_high,
};

async function lockToCorrect(
  trx: Transaction<DB>,
  number: string,
): Promise<{ contract: Contract; invoice: Invoice }> {
  const found = await findInvoice(trx, number);
  const contract = found && (await lockContract(trx, { id: found.contractId }));
  if (!contract) throw new AppError('not_found');
  return { contract, invoice: await lockInvoice(trx, found.id) };
}

/** An invoice from before there was a seller. */
async function voidWithoutDocument(trx: Transaction<DB>, invoice: Invoice, by: Recorder): Promise<undefined> {
  await freeCredited(trx, invoice, invoice.unitAmount, by);
  const details = { ...by.trail?.details, number: invoice.number };
  deferAuditEvent(trx, { ...by.trail, type: 'invoice.void', details });
}

async function credit(trx: Transaction<DB>, invoice: Invoice, amount: number, by: Recorder) {
  const freed = await freeCredited(trx, invoice, invoice.credited + amount, by);
  // There have been settings since there are documents.
  const [facts, settings] = await Promise.all([
    findFacts(trx, invoice.number) as Promise<DocumentFacts>,
    findSettings(trx) as Promise<Settings>,
  ]);
  const number = await issueCreditNote(trx, settings, invoice, { facts, total: amount, trail: by.trail });
  return { number, facts, settings, freed };
}

/** Writes down what is credited in all, and frees what was paid of it. `invoice` stays as it was. */
async function freeCredited(
  trx: Transaction<DB>,
  invoice: Invoice,
  credited: number,
  { now }: Pick<Recorder, 'now'>,
) {
  // `freeAllocated` keeps what it is given as the row is then.
  const present = { ...invoice };
  const freed = await freeAllocated(trx, present, Math.min(invoice.allocated, invoice.unitAmount - credited));
  await updateSettled(trx, present, { credited, allocated: present.allocated, paidAt: now });
  return freed;
}
