// Writes mails about contracts, documents and money (contract 7.270 to 7.282). Each mail has a key, so it is written only once.
// Before a mail is sent, server/mail/billing-mails.ts checks that it is still true.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findDueReminders, findEndingTrials } from '../../../db/tables/billing-mails.ts';
import { findSettingsInForce } from '../../../db/tables/billing-settings.ts';
import { type Invoice, markReminded } from '../../../db/tables/invoices.ts';
import { deferBillingMail, deferMail } from '../../../db/tables/mails.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

/**
 * Writes one mail to the buyer, and a copy to the archive. `creditNote` is set only if the document replaces an earlier
 * invoice: it is the credit note that canceled that invoice.
 */
export function deferDocumentMails(
  trx: Transaction<DB>,
  { kind, number, record }: Pick<DocumentFacts, 'kind' | 'number' | 'record'>,
  now: Date,
  creditNote?: string,
): void {
  const about = {
    kind: `${kind}_issued`,
    key: `${kind}_issued:${number}`,
    details: { document: number, ...(creditNote && { creditNote }) },
  } as const;
  deferBillingMail(trx, { ...about, contractId: record.contract_id, now });
  // The recipient is empty, because the address of the archive is looked up when the copy is sent. Without an archive, no copy
  // is sent.
  const copy = { key: `${about.key}:archive`, details: { ...about.details, archive: 'true' } };
  deferMail(trx, { ...about, ...copy, userId: null, recipient: '', now });
}

/** Call this only for a payment that was allocated. An invoice without a document gets no mail. */
export function deferPaymentMail(
  trx: Transaction<DB>,
  payment: string,
  { number, contractId, hasDocument }: Pick<Invoice, 'number' | 'contractId' | 'hasDocument'>,
  now: Date,
): void {
  if (!hasDocument) return;
  deferBillingMail(trx, {
    kind: 'payment_received',
    key: `payment_received:${payment}:${number}`,
    contractId,
    details: { document: number, payment },
    now,
  });
}

/**
 * Writes a mail each time somebody cancels a contract here, or keeps a canceled one. The time is part of the mail's key, so
 * that each time has its own mail.
 */
export function deferContractMail(
  trx: Transaction<DB>,
  kind: 'contract_cancel_asked' | 'contract_kept',
  { id: contractId }: { id: string },
  { now, isBySupport = false }: { now: Date; isBySupport?: boolean },
): void {
  const key = `${kind}:${contractId}:${now.getTime()}`;
  const details = { contract: contractId, ...(isBySupport && { by: 'support' }) };
  deferBillingMail(trx, { kind, key, contractId, details, now });
}

const batchSize = 100;

/**
 * Writes the mails that become due as time passes: reminders, and notices that a trial will end. Writes none if there is no
 * seller.
 */
export async function writeDueMails(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  if (!(await findSettingsInForce(db))) return;
  await forEach(findDueReminders, async (trx, { number, contractId, which }, at) => {
    if (!(await markReminded(trx, number, which))) return;
    const kind = `invoice_reminder_${which}` as const;
    const details = { document: number };
    deferBillingMail(trx, { kind, key: `${kind}:${number}`, contractId, details, now: at });
  });
  await forEach(findEndingTrials, async (trx, { key, contractId, endsAt }, at) => {
    const details = { contract: contractId, ends: endsAt.toISOString() };
    deferBillingMail(trx, { kind: 'trial_ends', key, contractId, details, now: at });
  });

  async function forEach<Due>(
    find: (db: Database, search: { now: Date; limit: number }) => Promise<Due[]>,
    work: (trx: Transaction<DB>, due: Due, at: Date) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const at = now();
      const found = await find(db, { now: at, limit: batchSize });
      for (const due of found) {
        if (signal?.aborted) return;
        await inTransaction(db, { by: 'service', cause: 'billing' }, (trx) => work(trx, due, at));
      }
      if (found.length < batchSize) return;
    }
  }
}
