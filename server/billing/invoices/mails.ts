// Mails about contracts, documents and money: when one is written, and its key (contract 7.270 to 7.285). Whether it is still
// true is looked at when it is sent (server/mail/billing-mails.ts).
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findDueReminders, findEndingTrials } from '../../../db/tables/billing-mails.ts';
import { findSettingsInForce } from '../../../db/tables/billing-settings.ts';
import { markReminded } from '../../../db/tables/invoices.ts';
import { deferBillingMail, deferMail } from '../../../db/tables/mails.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

/** Sends a document to its buyer, and a copy to the archive. */
export function deferDocumentMails(
  trx: Transaction<DB>,
  { kind, number, record }: Pick<DocumentFacts, 'kind' | 'number' | 'record'>,
  now: Date,
): void {
  const about = {
    kind: `${kind}_issued`,
    key: documentMailKey(kind, number),
    details: { document: number },
  } as const;
  deferBillingMail(trx, { ...about, contractId: record.contract_id, now });
  // Whether there is an archive, and its address, is known when it is sent.
  const copy = { key: archiveMailKey(kind, number), details: { ...about.details, archive: 'true' } };
  deferMail(trx, { ...about, ...copy, userId: null, recipient: '', now });
}

/** Thanks for a payment that has paid something of an invoice with a document. */
export function deferPaymentMail(
  trx: Transaction<DB>,
  { payment, number, contractId }: { payment: string; number: string; contractId: string },
  now: Date,
): void {
  const key = paymentMailKey(payment, number);
  deferBillingMail(trx, {
    kind: 'payment_received',
    key,
    contractId,
    details: { document: number, payment },
    now,
  });
}

/** Tells that a customer has ended their contract, or goes on after all. Each time that they do is told. */
export function deferContractMail(
  trx: Transaction<DB>,
  kind: 'contract_cancel_asked' | 'contract_kept',
  { id: contractId }: { id: string },
  now: Date,
): void {
  const key = `${kind}:${contractId}:${now.getTime()}`;
  deferBillingMail(trx, { kind, key, contractId, details: { contract: contractId }, now });
}

const documentMailKey = (kind: DocumentFacts['kind'], number: string) => `${kind}_issued:${number}`;
const archiveMailKey = (kind: DocumentFacts['kind'], number: string) =>
  `${documentMailKey(kind, number)}:archive`;
const reminderKey = (which: 1 | 2, number: string) => `invoice_reminder_${which}:${number}`;
const paymentMailKey = (payment: string, number: string) => `payment_received:${payment}:${number}`;

type Billing = Pick<Dependencies, 'db' | 'now'>;

const batchSize = 100;

/** Writes the mails that nothing but time causes: reminders, and that a trial ends. None without a seller. */
export async function writeDueMails({ db, now }: Billing, signal?: AbortSignal): Promise<void> {
  if (!(await findSettingsInForce(db))) return;
  const write = (work: (trx: Transaction<DB>) => Promise<void>) =>
    inTransaction(db, { by: 'service', cause: 'billing' }, work);
  await forEach(signal, findDueReminders, ({ number, contractId, which }, at) =>
    write(async (trx) => {
      if (!(await markReminded(trx, number, which))) return;
      const kind = `invoice_reminder_${which}` as const;
      const details = { document: number };
      deferBillingMail(trx, { kind, key: reminderKey(which, number), contractId, details, now: at });
    }),
  );
  await forEach(signal, findEndingTrials, ({ key, contractId, endsAt }, at) =>
    write(async (trx) => {
      const details = { contract: contractId, ends: endsAt.toISOString() };
      deferBillingMail(trx, { kind: 'trial_ends', key, contractId, details, now: at });
    }),
  );

  async function forEach<Due>(
    signal: AbortSignal | undefined,
    find: (db: Database, search: { now: Date; limit: number }) => Promise<Due[]>,
    work: (due: Due, at: Date) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const at = now();
      const found = await find(db, { now: at, limit: batchSize });
      for (const due of found) {
        if (signal?.aborted) return;
        await work(due, at);
      }
      if (found.length < batchSize) return;
    }
  }
}
