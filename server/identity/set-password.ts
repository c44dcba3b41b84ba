// A password by mail: for who never had one, or forgot it. The link proves the address, so that setting a
// password by it verifies the address too.
import { v7 as uuidv7 } from 'uuid';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { deleteLinks } from '../../db/external-links.ts';
import { consumeMailLink, deleteMailLinks } from '../../db/mail-links.ts';
import { insertMail } from '../../db/mails.ts';
import { endSessions } from '../../db/sessions.ts';
import { inTransaction } from '../../db/transactions.ts';
import { findUserByEmail, lockUser, updateUser } from '../../db/users.ts';
import type { Services } from '../backend.ts';
import { AppError, toFieldErrors } from '../errors.ts';
import type { Visit } from '../http.ts';
import { readEmailAddress } from './email-address.ts';
import { openMailLink } from './mail-links.ts';
import { hashPassword, newPasswordSchema } from './passwords.ts';
import { startSession } from './sessions.ts';

/**
 * Mails a link to whoever has that address here; `next` is a path here to go on to. The caller learns nothing of whether anybody has. Throws 422
 * `validation_failed` for what is no address, and 429 `rate_limited`.
 */
export async function requestPasswordLink(
  services: Services,
  visit: Visit,
  { email: typed, next }: { email: string; next?: string },
): Promise<void> {
  const { db, now, mailLimits } = services;
  const email = readEmailAddress(typed);
  if (!email) {
    const errors = [{ pointer: '/email', detail: 'This is not an e-mail address.' }];
    throw new AppError('validation_failed', { errors });
  }
  await mailLimits.countTry(email, visit.address);
  // One transaction with a write in either case: its time does not tell whether there is such a user.
  await inTransaction(db, async (trx) => {
    const user = await findUserByEmail(trx, email);
    const isKnown = user !== undefined && !user.isSuspended;
    await recordAuditEvent(trx, {
      type: 'password_link.requested',
      reason: isKnown ? 'sent' : user ? 'suspended' : 'unknown_user',
      userId: user?.id,
      address: visit.address,
      requestId: visit.requestId,
    });
    if (!isKnown) return;
    const details = { name: user.name, ...(next && { next }) };
    const mail = { id: uuidv7(), kind: 'set_password', userId: user.id, recipient: email } as const;
    await insertMail(trx, { ...mail, details, now: now() });
  });
}

/** Whose password a link sets; undefined for a link that does not work (any more). */
export async function describePasswordLink(
  { db, now }: Services,
  token: string,
): Promise<string | undefined> {
  return (await openMailLink(db, 'set_password', token, now()))?.email;
}

/**
 * Uses the link up; the result is the `Set-Cookie` value of a new session, the only one that is left. Throws 404
 * `not_found` for a link that does not work, 422 `validation_failed`, and 403 `account_suspended`.
 */
export async function setPassword(
  services: Services,
  request: Request,
  visit: Visit,
  { token, newPassword }: { token: string; newPassword: string },
): Promise<string> {
  const { db, config, now } = services;
  const link = await openMailLink(db, 'set_password', token, now());
  if (!link) throw new AppError('not_found');
  const password = await newPasswordSchema.safeParseAsync(newPassword);
  if (!password.success) {
    const [fault] = toFieldErrors(password.error);
    const errors = [{ pointer: '/newPassword', detail: fault?.detail ?? '' }];
    throw new AppError('validation_failed', { errors });
  }
  const passwordHash = await hashPassword(password.data);
  return inTransaction(db, async (trx) => {
    const user = await lockUser(trx, { id: link.userId });
    if (!user || user.email !== link.email || !(await consumeMailLink(trx, link)))
      throw new AppError('not_found');
    if (user.isSuspended) throw new AppError('account_suspended');
    if (!user.emailVerifiedAt) {
      // Who came by a link of an unproved address may be somebody else; they prove it by this password.
      await deleteLinks(trx, user.id);
    }
    await updateUser(trx, user.id, { passwordHash, emailVerifiedAt: user.emailVerifiedAt ?? now() });
    await deleteMailLinks(trx, user.id);
    await endSessions(trx, user.id, 'all', now());
    const { address, requestId } = visit;
    await recordAuditEvent(trx, {
      type: 'password.set',
      reason: 'by_mail',
      userId: user.id,
      address,
      requestId,
    });
    return startSession(trx, { userId: user.id, request, visit, issuer: config.issuer, now: now() });
  });
}
