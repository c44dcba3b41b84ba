// Puts documents back that a restore has lost, from their PDF (contract 7.351 to 7.359): its sealed facts say all that the database
// had. Nothing is issued by that, and no mail is sent.

import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { findVersionOfDocument } from '../../../db/tables/billing-settings.ts';
import { insertFiles } from '../../../db/tables/document-files.ts';
import { lockSeries, raiseSeries } from '../../../db/tables/document-series.ts';
import { findFacts, insertDocumentRow } from '../../../db/tables/documents.ts';
import { deleteDocumentToMake, queueDocument } from '../../../db/tables/documents-to-make.ts';
import {
  findInvoice,
  findInvoiceOfTime,
  type Invoice,
  insertInvoice,
  lockInvoice,
} from '../../../db/tables/invoices.ts';
import { markRecovered } from '../../../db/tables/lost-documents.ts';
import { allowRecovery, findBillingPause } from '../../../db/tables/restores.ts';
import { type Contract, lockContract, updateContract } from '../../../db/tables/service-contracts.ts';
import {
  deleteCoveredPeriods,
  listWaitingPeriods,
  setWaitingPeriods,
} from '../../../db/tables/waiting-periods.ts';
import type { BooksTrail } from '../../acts/act.ts';
import type { MadeFiles } from '../documents/make-files.ts';
import { settleContract } from '../invoices/invoicing.ts';
import { buildDocumentRow } from '../invoices/issue.ts';
import { type DocumentNumber, type Lost, raiseTo, readDocumentNumber } from '../invoices/pause.ts';
import { freeCredited } from '../payments/credit.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { listPeriods } from '../values/periods.ts';

/** Why a document cannot be put back, as a sentence for an operator. `mayComeLater`: another document has to come first. */
export class RecoveryError extends Error {
  readonly mayComeLater: boolean;
  constructor(message: string, mayComeLater = false) {
    super(message);
    this.mayComeLater = mayComeLater;
  }
}

/** A document as its file has it. `files` are kept; without them they are made anew from the facts. */
export type FoundDocument = { facts: DocumentFacts; files: MadeFiles | undefined };

export type Recovered = { isNew: boolean; lost: Lost | undefined };

/** Puts a document back, once. Throws a RecoveryError. */
export async function recoverDocument(
  trx: Transaction<DB>,
  { facts, files }: FoundDocument,
  { now, trail }: { now: Date; trail: BooksTrail },
): Promise<Recovered> {
  const parts = readDocumentNumber(facts.number);
  if (!parts || facts.version !== 1) throw new RecoveryError('This version does not know such a document.');
  const known = { isNew: false, lost: undefined };
  if (await isKnown(trx, { facts, files })) return known;
  const contract = await requireContract(trx, facts);
  // Somebody else may have recovered it, until they let go of the contract.
  if (await isKnown(trx, { facts, files })) return known;
  await allowRecovery(trx);
  const corrected = facts.kind === 'credit_note' ? await lockCorrected(trx, contract, facts) : undefined;
  // The money was free from then on: the export of a day in between must not have it as paid and credited (contract 7.361).
  const at = new Date(facts.record.issued_at);
  if (corrected) await freeCredited(trx, corrected, corrected.credited + facts.total, { now, at });
  else await requireFreePeriod(trx, contract, facts);
  const lost = await takeLostNumber(trx, parts, facts);
  const id = corrected?.id ?? (await insertInvoiceOf(trx, contract, facts));
  await insertFactsOf(trx, { ...parts, id, contract, facts });
  if (files) await keepFiles(trx, facts.number, files);
  else await queueDocument(trx, facts.number, now);
  if (!corrected) await coverPeriod(trx, contract, periodOf(facts));
  const present = (await lockContract(trx, { id: contract.id })) as Contract;
  await settleContract(trx, present, now);
  const details = { ...trail.details, number: facts.number, contractId: contract.id };
  deferAuditEvent(trx, { ...trail, type: 'document.recovered', details });
  return { isNew: true, lost };
}

/** Whether the document is here; its file is kept, if it has none yet. */
async function isKnown(trx: Transaction<DB>, { facts, files }: FoundDocument): Promise<boolean> {
  const known = (await findFacts(trx, facts.number)) as DocumentFacts | undefined;
  if (!known) return false;
  if (!isSame(known, facts))
    throw new RecoveryError('Another document has this number here. One of both has to be credited.');
  if (files) await keepFiles(trx, facts.number, files);
  return true;
}

/** A contract that the CRM has reported again since the restore has another id than the document says. */
async function requireContract(trx: Transaction<DB>, { record }: DocumentFacts): Promise<Contract> {
  const contract =
    (await lockContract(trx, { id: record.contract_id })) ??
    (record.signup_id === undefined ? undefined : await lockContract(trx, { signupId: record.signup_id }));
  if (contract) return contract;
  const named = record.signup_id === undefined ? record.contract_id : `of signup ${record.signup_id}`;
  throw new RecoveryError(
    `Its contract (${named}) is not here. Let the CRM send its signups again, and then recover it once more.`,
  );
}

/** Whether both say the same, wherever their contract is. */
function isSame(one: DocumentFacts, other: DocumentFacts): boolean {
  const write = ({ record: { contract_id, account_id, signup_id, ...record }, ...facts }: DocumentFacts) =>
    JSON.stringify({ ...facts, record }, (_, value) =>
      // The database keeps members in another order.
      value && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  return write(one) === write(other);
}

async function lockCorrected(
  trx: Transaction<DB>,
  contract: Contract,
  { invoice: named, total }: DocumentFacts,
): Promise<Invoice> {
  const found = named ? await findInvoice(trx, named.number) : undefined;
  if (!found || !named || found.contractId !== contract.id)
    throw new RecoveryError(`Its invoice ${named?.number} is not here. Recover that first.`, true);
  const invoice = await lockInvoice(trx, found.id);
  if (invoice.credited + total > invoice.unitAmount)
    throw new RecoveryError(`More than that is credited of its invoice ${named.number} already.`);
  return invoice;
}

const periodOf = ({ record }: DocumentFacts) => ({
  startsAt: new Date(record.period_starts_at),
  endsAt: new Date(record.period_ends_at),
});

async function requireFreePeriod(
  trx: Transaction<DB>,
  contract: Contract,
  facts: DocumentFacts,
): Promise<void> {
  const other = await findInvoiceOfTime(trx, contract.id, periodOf(facts));
  if (other)
    throw new RecoveryError(
      `Invoice ${other.number} is for the same time. Recover its credit note first, or void it.`,
      true,
    );
}

/** A number is recovered that is lost, or that is above the last one while billing waits. */
async function takeLostNumber(
  trx: Transaction<DB>,
  number: DocumentNumber,
  { number: text, issued_on: issuedOn }: DocumentFacts,
): Promise<Lost | undefined> {
  const { lastNumber } = await lockSeries(trx, number, issuedOn);
  if (number.serial <= lastNumber) {
    if (!(await markRecovered(trx, text)))
      throw new RecoveryError('Its number is not among those that a restore has lost.');
    await raiseSeries(trx, number, { lastNumber, lastIssuedOn: issuedOn });
    return undefined;
  }
  if (!(await findBillingPause(trx)))
    throw new RecoveryError(
      `Its number is above the last one here, and may be given again any moment. Run database:restored --last ${text} first.`,
    );
  return raiseTo(trx, number, { dated: issuedOn, isItselfLost: false });
}

const insertInvoiceOf = (trx: Transaction<DB>, contract: Contract, { number, ...facts }: DocumentFacts) => {
  const { startsAt: periodStartsAt, endsAt: periodEndsAt } = periodOf({ number, ...facts });
  const { issued_at: issuedAt, due_at: dueAt, past_due_at: pastDueAt } = facts.record;
  return insertInvoice(trx, {
    contractId: contract.id,
    plan: facts.line.plan,
    ...{ periodStartsAt, periodEndsAt },
    currency: facts.currency,
    unitAmount: facts.total,
    issuedAt: new Date(issuedAt),
    dueAt: new Date(dueAt ?? issuedAt),
    document: { number, pastDueAt: new Date(pastDueAt ?? dueAt ?? issuedAt) },
  });
};

async function insertFactsOf(
  trx: Transaction<DB>,
  { prefix, id, contract, facts }: { prefix: string; id: number; contract: Contract; facts: DocumentFacts },
): Promise<void> {
  const issuedAt = new Date(facts.record.issued_at);
  const version = await findVersionOfDocument(trx, { version: facts.record.settings_version, issuedAt });
  if (version === undefined)
    throw new RecoveryError('There are no settings of billing. Set them, and then recover it once more.');
  // Pages and mails find a document by the contract that it names.
  const record = { ...facts.record, contract_id: contract.id, account_id: contract.accountId };
  await insertDocumentRow(trx, {
    ...buildDocumentRow({ ...facts, record }),
    ...{ invoiceId: id, prefix, settingsVersion: version, issuedAt },
  });
}

async function keepFiles(trx: Transaction<DB>, number: string, files: MadeFiles): Promise<void> {
  await insertFiles(trx, { number, ...files });
  await deleteDocumentToMake(trx, number);
}

/** The period is not invoiced again. What begins before it, and is not invoiced, waits for its invoice. */
async function coverPeriod(
  trx: Transaction<DB>,
  contract: Contract,
  period: { startsAt: Date; endsAt: Date },
): Promise<void> {
  const { startsAt, endsAt } = period;
  await deleteCoveredPeriods(trx, contract.id, period);
  const { charges } = listPeriods(contract, new Date(endsAt.getTime() - 1));
  const left = charges.filter((charge) => charge.endsAt <= startsAt || charge.startsAt >= endsAt);
  if (left.length > 0)
    await setWaitingPeriods(
      trx,
      contract.id,
      [...(await listWaitingPeriods(trx, contract.id)), ...left],
      undefined,
    );
  const { nextPeriodStartsAt } = contract;
  await updateContract(trx, contract.id, {
    ...contract,
    // Also where the price of now has another interval: what comes after the invoice is not covered by it.
    nextPeriodStartsAt: nextPeriodStartsAt && nextPeriodStartsAt > endsAt ? nextPeriodStartsAt : endsAt,
    billingAnchorDay: contract.billingAnchorDay ?? startsAt.getUTCDate(),
  });
}
