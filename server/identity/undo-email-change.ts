// Having an address back that was changed, by the link in the mail to it. Whoever changed it may know the password and be
// logged in, so the owner of the address sets a new password in the same step, and nobody else is in from then on.
import { recordAuditEvent } from '../../db/audit-events.ts';
import { setDeletionDue } from '../../db/deletions.ts';
import { lockExternalLinks } from '../../db/external-links.ts';
import { consumeMailToken, findAddressToken } from '../../db/mail-tokens.ts';
import { deleteUnsentUndoLetters, hasRecentMail } from '../../db/mails.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { deleteRecoveryCodes } from '../../db/recovery-codes.ts';
import { findReservation, releaseAddresses } from '../../db/reserved-addresses.ts';
import { lockUser, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import { daysAfter } from '../instant.ts';
import type { Services } from '../services.ts';
import { trailOf } from './actor.ts';
import { undoDays } from './change-email.ts';
import { notify } from './notices.ts';
import { startAnew } from './password-by-mail.ts';
import { hashNewPassword } from './passwords.ts';
import type { LoginStep } from './pending-login.ts';
import { deleteFactors } from './remove-factors.ts';
import { hashToken } from './tokens.ts';

/** The address that a mail token brings back, or undefined if it does not work (any more). Uses nothing up. */
export async function findUndo(services: Services, token: string): Promise<{ email: string } | undefined> {
  const opened = await openToken(services.db, services, token);
  return opened && { email: opened.email };
}

async function openToken(db: Database, { now: clock }: Pick<Services, 'now'>, token: string) {
  const now = clock();
  const key = { tokenHash: hashToken(token), purpose: 'undo_email_change', now } as const;
  const found = await findAddressToken(db, key);
  const isReserved = found && (await findReservation(db, { email: found.email, now })) === found.userId;
  return isReserved ? { ...key, ...found } : undefined;
}

/** What whoever changed the address may have added. `codes`: the recovery codes of an app that stays. */
type Removed = 'app' | 'codes' | 'passkeys';

/**
 * Uses the mail token up. The user has the address again, whatever changes came after; those can be undone no more, and
 * their addresses are free. The result is a new session, the user's only one, or what waits for the code. Throws 404
 * `not_found` for a token that does not work, 422 `validation_failed`, 403 `account_suspended`, and what `hashPassword`
 * throws.
 */
export async function undoEmailChange(
  services: Services,
  request: Request,
  visit: Visit,
  { token, newPassword }: { token: string; newPassword: string },
): Promise<LoginStep & { removed: Removed[] }> {
  const { db, config, now } = services;
  const opened = await openToken(db, services, token);
  if (!opened) throw new AppError('not_found');
  const { email, userId, name } = opened;
  const passwordHash = await hashNewPassword(visit, newPassword, { config, email, name });
  return inTransactionOf(visit, db, async (trx) => {
    await lockExternalLinks(trx, userId);
    const former = await lockUser(trx, { id: userId });
    if (former?.suspendedAt) throw new AppError('account_suspended');
    const released = former ? await releaseAddresses(trx, { email, userId, now: now() }) : [];
    const [first] = released;
    if (!former || !first) throw new AppError('not_found');
    await deleteUnsentUndoLetters(trx, { userId, recipients: released.map((each) => each.email) });
    await consumeMailToken(trx, opened);
    await updateUser(trx, userId, { email, emailVerifiedAt: now(), passwordHash });
    // Whoever took the address may have locked the owner out by a second factor of their own, just before it or since.
    const since = daysAfter(first.expiresAt, -(undoDays + 1));
    const { hadApp, hadPasskeys } = await deleteFactors(trx, userId, since);
    // Theirs, in place of the owner's.
    const hasNewCodes = await hasRecentMail(trx, { userId, kind: 'recovery_codes_made', since });
    if (hasNewCodes) await deleteRecoveryCodes(trx, userId);
    if (former.deletionDueAt) {
      await setDeletionDue(trx, userId, null);
      await recordAuditEvent(trx, { ...trailOf(visit), type: 'user.deletion_canceled', userId });
      // They may not have heard of it: the mail about it went to the address that they had then.
      await notify(trx, services, { ...former, email }, 'deletion_canceled', request);
    }
    if (hadApp || hadPasskeys)
      await recordAuditEvent(trx, { ...trailOf(visit), type: 'factors.removed', userId });
    const user = await lockUser(trx, { id: userId });
    if (!user) throw new AppError('not_found');
    await recordAuditEvent(trx, { ...trailOf(visit), type: 'email.change_undone', userId });
    await notify(trx, services, former, 'email_change_undone', request);
    const removed: Removed[] = [];
    if (hadApp) removed.push('app');
    if (hasNewCodes && user.hasAuthenticator) removed.push('codes');
    if (hadPasskeys) removed.push('passkeys');
    return { ...(await startAnew(trx, services, { user, request, visit })), removed };
  });
}
