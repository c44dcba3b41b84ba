// The address for invoices of an account: the links that prove it, who hears of a change, and what takes it out again
// (contract 7.242 to 7.245, 7.262, 7.263 and 7.404).
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import {
  type BillingDetails,
  findBillingDetails,
  lockBillingDetails,
  updateBillingDetails,
} from '../../db/tables/billing-details.ts';
import { deferEndOfInvoiceEmailTokens } from '../../db/tables/mail-tokens.ts';
import { deleteUnsentInvoiceEmailMails } from '../../db/tables/mails.ts';
import { listUsersOfAccount, type User } from '../../db/tables/users.ts';
import { daysAfter } from '../basics/instant.ts';
import { notify } from '../identity/ground/notices.ts';
import type { AuthorTrail, trailOf } from '../identity/ground/trail.ts';
import type { Dependencies } from '../instance/dependencies.ts';

/** Ends the links to an address for invoices, sent or still to be sent, whoever of the account asked for them. */
export async function endInvoiceEmailLinks(trx: Transaction<DB>, accountId: string): Promise<void> {
  // In this order: a mail that is being sent makes its token while its row is locked.
  await deleteUnsentInvoiceEmailMails(trx, accountId);
  deferEndOfInvoiceEmailTokens(trx, accountId);
}

/** Tells everybody of the account that invoices go elsewhere. `request` is that of the person who did it. */
export async function tellOfInvoiceEmail(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  accountId: string,
  request: Request | undefined,
): Promise<void> {
  for (const user of await listUsersOfAccount(trx, accountId))
    await notify(trx, deps, user, 'invoice_email_changed', request);
}

/** How long after it was given a password that is set by mail takes it out. */
const lateDays = 30;

/**
 * Takes out the address for invoices if somebody gave it here, who may have been a thief; `since` is how far back to look. One that a
 * signup named, and nobody has kept, goes in any case: a stranger may have signed up. Signups do not put it back. The caller has
 * locked the account.
 */
export async function takeOutInvoiceEmail(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: Pick<User, 'id' | 'account'>,
  {
    since,
    trail,
    request,
  }: {
    since?: Date;
    trail: Partial<ReturnType<typeof trailOf> & AuthorTrail>;
    request?: Request | undefined;
  },
): Promise<void> {
  const accountId = user.account.id;
  const found = await findBillingDetails(trx, accountId);
  if (!found?.invoiceEmail || !mayBeOfThief(found, since)) return;
  const details = await lockBillingDetails(trx, accountId);
  const editedHere = [...new Set([...details.editedHere, 'invoiceEmail' as const])].sort();
  await updateBillingDetails(trx, accountId, { ...details, editedHere, invoiceEmail: null });
  await endInvoiceEmailLinks(trx, accountId);
  const changed = { type: 'billing.updated', reason: 'taken_out', details: { changed: ['invoiceEmail'] } };
  deferAuditEvent(trx, { ...trail, ...changed, userId: user.id });
  await tellOfInvoiceEmail(trx, deps, accountId, request);
}

const mayBeOfThief = (
  { isInvoiceEmailUndecided, invoiceEmailEditedAt: at }: BillingDetails,
  since: Date | undefined,
): boolean => isInvoiceEmailUndecided || (at !== null && (since === undefined || at >= since));

/** As `takeOutInvoiceEmail`, for a password that was set by mail: of those given lately. */
export const takeOutLateInvoiceEmail = (
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: Pick<User, 'id' | 'account'>,
  by: { trail: ReturnType<typeof trailOf>; request: Request },
): Promise<void> => takeOutInvoiceEmail(trx, deps, user, { ...by, since: daysAfter(deps.now(), -lateDays) });
