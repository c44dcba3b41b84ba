// Setting a password through a mail, for people who have none or forgot it. The mail token proves the address, so
// using it also verifies the address.
import { v7 as uuidv7 } from 'uuid';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { deleteExternalLinks } from '../../db/external-links.ts';
import { consumeMailToken, deleteMailTokens } from '../../db/mail-tokens.ts';
import { insertMail } from '../../db/mails.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findUserByEmail, lockUser, updateUser } from '../../db/users.ts';
import { AppError, toFieldErrors } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { openMailToken } from './address-proof.ts';
import { readEmailAddress } from './email-address.ts';
import { hashPassword, newPasswordSchema } from './passwords.ts';
import { startSession } from './sessions.ts';

/**
 * Sends the mail if somebody here has that address; the caller cannot tell. `next` is a path here to go on to. Throws
 * 422 `validation_failed` for a malformed address, and 429 `rate_limited`.
 */
export async function requestPasswordMail(
  services: Services,
  visit: Visit,
  { email: typed, next }: { email: string; next?: string },
): Promise<void> {
  const { db, now, mailLimits } = services;
  const email = readEmailAddress(typed);
  if (!email) {
    const errors = [
      { pointer: '/email', detail: 'Enter an email address in the correct format, like name@example.com.' },
    ];
    throw new AppError('validation_failed', { errors });
  }
  await mailLimits.countTry(email, visit.address);
  // One transaction, with a write in any case: the time it takes does not tell whether there is such a user.
  await inTransaction(db, async (trx) => {
    const user = await findUserByEmail(trx, email);
    const getsMail = user !== undefined && !user.suspendedAt;
    await recordAuditEvent(trx, {
      type: 'password_link.requested',
      reason: getsMail ? 'sent' : user ? 'suspended' : 'unknown_user',
      userId: user?.id,
      address: visit.address,
      requestId: visit.requestId,
    });
    if (!getsMail) return;
    const details = { name: user.name, ...(next && { next }) };
    const mail = { id: uuidv7(), kind: 'set_password', userId: user.id, recipient: email } as const;
    await insertMail(trx, { ...mail, details, now: now() });
  });
}

/** The address that a mail token went to, or undefined if the token does not work (any more). */
export async function findPasswordMailAddress(
  { db, now }: Services,
  token: string,
): Promise<string | undefined> {
  return (await openMailToken(db, 'set_password', token, now()))?.email;
}

/**
 * Uses the mail token up. The result is the `Set-Cookie` value of a new session, the user's only one. Throws 404
 * `not_found` for a token that does not work, 422 `validation_failed`, and 403 `account_suspended`.
 */
export async function setPasswordByMail(
  services: Services,
  request: Request,
  visit: Visit,
  { token, newPassword }: { token: string; newPassword: string },
): Promise<string> {
  const { db, now } = services;
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) throw new AppError('not_found');
  const password = await newPasswordSchema.safeParseAsync(newPassword);
  if (!password.success) {
    const [fault] = toFieldErrors(password.error);
    const errors = [{ pointer: '/newPassword', detail: fault?.detail ?? '' }];
    throw new AppError('validation_failed', { errors });
  }
  const passwordHash = await hashPassword(password.data);
  return inTransaction(db, async (trx) => {
    const user = await lockUser(trx, { id: opened.userId });
    if (!user || user.email !== opened.email || !(await consumeMailToken(trx, opened)))
      throw new AppError('not_found');
    if (user.suspendedAt) throw new AppError('account_suspended');
    if (!user.emailVerifiedAt) {
      // Whoever came here through a link with this address had not proved it, and may be somebody else.
      await deleteExternalLinks(trx, user.id);
    }
    await updateUser(trx, user.id, { passwordHash, emailVerifiedAt: user.emailVerifiedAt ?? now() });
    await deleteMailTokens(trx, user.id);
    const { address, requestId } = visit;
    const trail = { userId: user.id, address, requestId };
    await recordAuditEvent(trx, { ...trail, type: 'password.set', reason: 'by_mail' });
    return startSession(trx, services, { userId: user.id, startedBy: 'mail', request, visit });
  });
}
