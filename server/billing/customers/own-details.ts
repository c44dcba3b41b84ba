// The billing details that customers can read and change themselves (contract 7.230 to 7.245).
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  findBillingDetails,
  keepInvoiceEmail,
  lockBillingDetails,
  noDetails,
  proveInvoiceEmail,
} from '../../../db/tables/billing-details.ts';
import { consumeMailToken, findAddressToken } from '../../../db/tables/mail-tokens.ts';
import { findReservation } from '../../../db/tables/reserved-addresses.ts';
import { lockUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findDeviceName } from '../../identity/ground/device.ts';
import { hashToken } from '../../identity/ground/tokens.ts';
import { trailOf } from '../../identity/ground/trail.ts';
import {
  type Actor,
  lockOpenActor,
  recordActorEvent,
  requireConfirmed,
  requireOwnAllowance,
} from '../../identity/session/actor.ts';
import type { Visit } from '../../web/requests.ts';
import { isCountryUnread } from '../invoices/read-details.ts';
import { asGiven } from '../invoices/waiting-country.ts';
import { deferInvoiceEmailLink, endInvoiceEmailLinks, tellOfInvoiceEmail } from './invoice-email.ts';
import { readGiven, type SomeDetails, saveDetails } from './save-details.ts';

/** Throws 403 `email_unverified`, because billing is only for people with a proved email address (contract 2.3). */
export function requireProved({ session }: Actor): void {
  if (!session.user.emailVerifiedAt) throw new AppError('email_unverified');
}

/** Throws 403 `email_unverified`. */
export async function describeOwnDetails({ db }: Pick<Dependencies, 'db'>, actor: Actor) {
  requireProved(actor);
  const { account, email } = actor.session.user;
  const found = (await findBillingDetails(db, account.id)) ?? noDetails;
  const {
    editedHere: _edited,
    invoiceEmailEditedAt: _editedAt,
    isInvoiceEmailUndecided: _undecided,
    provedInvoiceEmail,
    ...details
  } = found;
  return {
    ...details,
    isCountryUnread: isCountryUnread(found),
    hasProvedInvoiceEmail: provedInvoiceEmail !== null || details.invoiceEmail === email,
  };
}

/**
 * A detail that is not given stays as it is. Throws 403 `email_unverified`, 422 `validation_failed` and 429 `rate_limited`.
 * Throws 401 `login_required` if no credential was given in the last ten minutes.
 */
export async function updateOwnDetails(deps: Dependencies, actor: Actor, given: SomeDetails): Promise<void> {
  requireProved(actor);
  const { db, config } = deps;
  const { user } = actor.session;
  const known = asGiven((await findBillingDetails(db, user.account.id)) ?? noDetails);
  // Faults are reported before a credential is asked for.
  const { invoiceEmail } = readGiven(known, given, config);
  requireConfirmed(deps, actor);
  const isOwn = invoiceEmail === user.email && user.holdsEmail;
  const asks = invoiceEmail !== null && invoiceEmail !== known.invoiceEmail && !isOwn;
  await requireOwnAllowance(deps, actor, 'billing.updated');
  if (asks) await countMail(deps, actor, invoiceEmail);
  await inTransactionOf(actor.visit, db, async (trx) => {
    const present = await lockOpenActor(trx, actor);
    const accountId = present.account.id;
    const saved = await saveDetails(trx, deps, accountId, given);
    if (!saved) return;
    const { changed, value } = saved;
    await recordActorEvent(trx, actor, { type: 'billing.updated', details: { changed } });
    if (!changed.includes('invoiceEmail')) return;
    await endInvoiceEmailLinks(trx, accountId);
    const isOwn =
      value.invoiceEmail === present.email && present.holdsEmail && present.emailVerifiedAt !== null;
    const what = isOwn ? 'proved' : value.invoiceEmail === null ? 'removed' : 'given';
    await tellOfInvoiceEmail(trx, deps, accountId, what, actor.request);
    if (value.invoiceEmail === null) return;
    if (isOwn) await proveInvoiceEmail(trx, { accountId, email: present.email, at: deps.now() });
    else if (asks) await sendLink(trx, deps, actor, value.invoiceEmail);
  });
}

/**
 * Keeps the address for invoices that a signup named, as if the person had entered it. Throws the same errors as
 * `updateOwnDetails`, and 409 `edited_meanwhile` if the address has changed.
 */
export async function keepOwnInvoiceEmail(deps: Dependencies, actor: Actor, email: string): Promise<void> {
  requireProved(actor);
  requireConfirmed(deps, actor);
  await requireOwnAllowance(deps, actor, 'billing.updated');
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const { id: accountId } = (await lockOpenActor(trx, actor)).account;
    const { invoiceEmail, isInvoiceEmailUndecided } = await lockBillingDetails(trx, accountId);
    if (invoiceEmail !== email) throw new AppError('edited_meanwhile');
    if (!isInvoiceEmailUndecided) return;
    await keepInvoiceEmail(trx, accountId, deps.now());
    await recordActorEvent(trx, actor, {
      type: 'billing.updated',
      reason: 'kept',
      details: { changed: ['invoiceEmail'] },
    });
    await tellOfInvoiceEmail(trx, deps, accountId, 'kept', actor.request);
  });
}

/**
 * Returns the address for invoices that a signup named, or undefined if there is none or somebody in the account has decided
 * about it.
 */
export async function findUndecidedInvoiceEmail(
  { db }: Pick<Dependencies, 'db'>,
  { session: { user } }: Actor,
): Promise<{ email: string; isProved: boolean } | undefined> {
  const found = user.emailVerifiedAt ? await findBillingDetails(db, user.account.id) : undefined;
  if (!found?.invoiceEmail || !found.isInvoiceEmailUndecided || found.invoiceEmail === user.email)
    return undefined;
  return { email: found.invoiceEmail, isProved: found.provedInvoiceEmail !== null };
}

/** Does nothing if the account has no unproved address for invoices. Throws the same errors as `updateOwnDetails`. */
export async function mailInvoiceEmailAgain(deps: Dependencies, actor: Actor): Promise<void> {
  requireProved(actor);
  const { account } = actor.session.user;
  const { invoiceEmail, provedInvoiceEmail } = (await findBillingDetails(deps.db, account.id)) ?? noDetails;
  if (invoiceEmail === null || provedInvoiceEmail !== null) return;
  requireConfirmed(deps, actor);
  await countMail(deps, actor, invoiceEmail);
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const { account: present } = await lockOpenActor(trx, actor);
    if ((await lockBillingDetails(trx, present.id)).invoiceEmail !== invoiceEmail) return;
    await endInvoiceEmailLinks(trx, present.id);
    await sendLink(trx, deps, actor, invoiceEmail);
  });
}

/** Limits how many mails with a link an email address gets, because it may be a stranger's. Throws 429 `rate_limited`. */
async function countMail(deps: Dependencies, { request, visit }: Actor, email: string): Promise<void> {
  const device = await findDeviceName(deps, request, email);
  await deps.mailLimits.countTry({ account: email, address: visit.address, device });
}

async function sendLink(
  trx: Transaction<DB>,
  { now }: Dependencies,
  actor: Actor,
  recipient: string,
): Promise<void> {
  await recordActorEvent(trx, actor, { type: 'billing.invoice_email_asked' });
  // A reserved address gets no mail with a link (contract 2.35). This does not throw, because the person who asks must not
  // learn that the address is reserved.
  if (await findReservation(trx, { email: recipient, now: now() })) return;
  const { session, visit } = actor;
  deferInvoiceEmailLink(trx, { userId: session.user.id, recipient, now: now(), trace: visit.trace });
}

/** Returns undefined if the link does not work. Does not use up the link. */
export async function findInvoiceEmail(deps: Pick<Dependencies, 'db' | 'now'>, token: string) {
  const opened = await openLink(deps, token);
  return opened && { email: opened.email };
}

async function openLink({ db, now }: Pick<Dependencies, 'db' | 'now'>, token: string) {
  const key = { tokenHash: hashToken(token), purpose: 'invoice_email', now: now() } as const;
  const found = await findAddressToken(db, key);
  return found && { ...key, userId: found.userId, email: found.email };
}

/** Throws 404 `not_found` if the link does not work. */
export async function confirmInvoiceEmail(
  deps: Pick<Dependencies, 'db' | 'now'>,
  visit: Visit,
  token: string,
): Promise<void> {
  const opened = await openLink(deps, token);
  if (!opened) throw new AppError('not_found');
  const { userId, email } = opened;
  await inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    if (!user) throw new AppError('not_found');
    const accountId = user.account.id;
    // Locks the details before the link. Functions that end links lock in the same order, so that no deadlock is possible.
    await lockBillingDetails(trx, accountId);
    if (!(await consumeMailToken(trx, opened))) throw new AppError('not_found');
    if (!(await proveInvoiceEmail(trx, { accountId, email, at: deps.now() })))
      throw new AppError('not_found');
    // Anybody who has the link can open it. Their IP address and browser stay private, so the audit has only the request id.
    const { requestId } = trailOf(visit);
    deferAuditEvent(trx, { type: 'billing.invoice_email_proved', requestId, userId });
    await tellOfInvoiceEmail(trx, deps, accountId, 'proved', undefined);
  });
}
