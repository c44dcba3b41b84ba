// The address for invoices of an account (contract 7.242 to 7.245, 7.262, 7.263 and 7.404).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  type BillingDetails,
  findBillingDetails,
  lockBillingDetails,
  updateBillingDetails,
} from '../../../db/tables/billing-details.ts';
import { deferEndOfInvoiceEmailTokens } from '../../../db/tables/mail-tokens.ts';
import { deferMail, deleteUnsentInvoiceEmailMails } from '../../../db/tables/mails.ts';
import { listUsersOfAccount } from '../../../db/tables/users.ts';
import type { Dependencies, EndsWithPerson } from '../../ground/dependencies.ts';
import { keepTrace } from '../../identity/ground/address-proof.ts';
import { notify } from '../../identity/ground/notices.ts';
import type { Trace } from '../../web/trace-context.ts';

/** Ends all links that could prove the account's address for invoices, including links in unsent mails. */
export async function endInvoiceEmailLinks(trx: Transaction<DB>, accountId: string): Promise<void> {
  // Unsent mails are deleted first. If one of them is being sent, its row is locked until its token is stored. The deletion
  // waits for that lock, so the next statement ends this token, too.
  await deleteUnsentInvoiceEmailMails(trx, accountId);
  deferEndOfInvoiceEmailTokens(trx, accountId);
}

export type LinkMail = { userId: string; recipient: string; now: Date; trace: Trace | undefined };

/**
 * A mail with `until` is among the mails that people wait for (db/tables/mails.ts). Nothing reads the value here, so it is
 * empty.
 */
export const deferInvoiceEmailLink = (trx: Transaction<DB>, { trace, ...mail }: LinkMail): void =>
  deferMail(trx, { kind: 'invoice_email', ...mail, details: { ...keepTrace(trace), until: '' } });

/** What was done to the address for invoices. */
type InvoiceEmailChange = 'given' | 'proved' | 'kept' | 'removed';

/**
 * Tells everybody in the account about a change of the address for invoices. `request` comes from the person who made the
 * change.
 */
export async function tellOfInvoiceEmail(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  accountId: string,
  what: InvoiceEmailChange,
  request: Request | undefined,
): Promise<void> {
  for (const user of await listUsersOfAccount(trx, accountId))
    await notify(trx, deps, user, 'invoice_email_changed', request, { what });
}

export const takeOutInvoiceEmail: EndsWithPerson['takeOutInvoiceEmail'] = async (
  trx,
  deps,
  user,
  { since, trail, request },
) => {
  const accountId = user.account.id;
  const found = await findBillingDetails(trx, accountId);
  if (!found?.invoiceEmail || !mayBeOfThief(found, since)) return;
  const details = await lockBillingDetails(trx, accountId);
  const editedHere = [...new Set([...details.editedHere, 'invoiceEmail' as const])].sort();
  await updateBillingDetails(trx, accountId, { ...details, editedHere, invoiceEmail: null });
  await endInvoiceEmailLinks(trx, accountId);
  const changed = {
    type: 'billing.updated' as const,
    reason: 'taken_out',
    details: { changed: ['invoiceEmail'] },
  };
  deferAuditEvent(trx, { ...trail, ...changed, userId: user.id });
  await tellOfInvoiceEmail(trx, deps, accountId, 'removed', request);
};

const mayBeOfThief = (
  { isInvoiceEmailUndecided, invoiceEmailEditedAt: at }: BillingDetails,
  since: Date | undefined,
): boolean => isInvoiceEmailUndecided || (at !== null && (since === undefined || at >= since));
