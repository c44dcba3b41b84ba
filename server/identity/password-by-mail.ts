// Setting a password through a mail, for people who have none or forgot it. The mail token proves the address, so
// using it also verifies the address.
import { v7 as uuidv7 } from 'uuid';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { lockExternalLinks, sleepExternalLinks } from '../../db/external-links.ts';
import { consumeMailToken } from '../../db/mail-tokens.ts';
import { insertMail } from '../../db/mails.ts';
import { deletePendingHandOffs } from '../../db/pending-hand-offs.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { findHolder, lockUser, type User, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { keepNext, keepTrace, openMailToken, voidMails } from './address-proof.ts';
import { hasOwnLogin } from './customers.ts';
import { findDeviceName } from './device.ts';
import { readEmailAddress } from './email-address.ts';
import { notify } from './notices.ts';
import { hashPassword, requireGoodPassword } from './passwords.ts';
import { startSession } from './sessions.ts';

// Longer than the work takes for any address, so that the time of the answer does not tell what was found.
const answerAfterMs = 300;

/**
 * Sends the mail if somebody here has that address; neither the answer nor its time tells the caller. `next` is a path
 * here to go on to. `request` says which browser asks: one that the user knows has an allowance of its own. Throws 422
 * `validation_failed` for a malformed address, and 429 `rate_limited`.
 */
export async function requestPasswordMail(
  services: Services,
  visit: Visit,
  { email: typed, next }: { email: string; next?: string },
  request?: Request,
): Promise<void> {
  const email = readEmailAddress(typed);
  if (!email) {
    const errors = [
      { pointer: '/email', detail: 'Enter an email address in the correct format, like name@example.com.' },
    ];
    throw new AppError('validation_failed', { errors });
  }
  const device = await findDeviceName(services, request, email);
  await services.mailLimits.countTry({ account: email, address: visit.address, device });
  const pause = new Promise((done) => setTimeout(done, answerAfterMs));
  // Stored before the answer: the mail goes out even if this process ends right after it.
  await Promise.all([sendPasswordMail(services, visit, email, next), pause]);
}

async function sendPasswordMail(
  { config, db, now, log, metrics }: Services,
  visit: Visit,
  email: string,
  next: string | undefined,
): Promise<void> {
  const trail = { address: visit.address, requestId: visit.requestId };
  await inTransactionOf(visit, db, async (trx) => {
    const user = await findHolder(trx, email);
    // Not stored: strangers could grow the table without end.
    if (!user) {
      metrics.countPasswordMail('unknown_user');
      return log.info({ ...trail, reason: 'unknown_user' }, 'password mail refused');
    }
    const reason = user.suspendedAt ? 'suspended' : 'sent';
    metrics.countPasswordMail(reason);
    await recordAuditEvent(trx, { ...trail, type: 'password_link.requested', reason, userId: user.id });
    if (user.suspendedAt) return;
    const mail = { id: uuidv7(), kind: 'set_password', userId: user.id, recipient: email } as const;
    await insertMail(trx, {
      ...mail,
      details: { ...keepNext(config, next), ...keepTrace(visit.trace) },
      now: now(),
    });
  });
}

export type PasswordMail = {
  email: string;
  /**
   * Whose password the link sets: `own`, the user's whom the mail was for; `holder`, of somebody else who holds the
   * address by now and has not arrived yet; `taken`, nobody's, because its holder has a way in already.
   */
  sets: 'own' | 'holder' | 'taken';
};

/** What a mail token is for, or undefined if it does not work (any more). Uses nothing up. */
export async function findPasswordMail(
  { db, now }: Services,
  token: string,
): Promise<PasswordMail | undefined> {
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) return undefined;
  return { email: opened.email, sets: whoseIsSet(opened.userId, await findHolder(db, opened.email)) };
}

/** Of an address that was typed, and is being proved: whoever proved it first holds it. */
function whoseIsSet(userId: string, holder: User | undefined): PasswordMail['sets'] {
  if (!holder || holder.id === userId) return 'own';
  const hasArrived = hasOwnLogin(holder) || holder.emailVerifiedAt !== null;
  return hasArrived ? 'taken' : 'holder';
}

/**
 * Uses the mail token up. The result are the `Set-Cookie` values of a new session, the user's only one, or `taken` (see
 * `PasswordMail`), where nothing changes. All of the user's marketplace links sleep from then on: whoever made them had
 * not shown that they own the address. Throws 404 `not_found` for a token that does not work, 422 `validation_failed`,
 * 403 `account_suspended`, and what `hashPassword` throws.
 */
export async function setPasswordByMail(
  services: Services,
  request: Request,
  visit: Visit,
  { token, newPassword }: { token: string; newPassword: string },
): Promise<string[] | 'taken'> {
  const { db, now } = services;
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) throw new AppError('not_found');
  // Before the work of hashing: such a link is not used up, so it could be sent without end.
  if (whoseIsSet(opened.userId, await findHolder(db, opened.email)) === 'taken') return 'taken';
  await requireGoodPassword(newPassword, { config: services.config, ...opened });
  const passwordHash = await visit.deadline.pause(() => hashPassword(newPassword, visit.signal));
  return inTransactionOf(visit, db, async (trx) => {
    await lockExternalLinks(trx, opened.userId);
    const holder = await lockUser(trx, { email: opened.email });
    const sets = whoseIsSet(opened.userId, holder);
    const user = sets === 'own' ? (holder ?? (await lockUser(trx, { id: opened.userId }))) : holder;
    if (user?.email !== opened.email) throw new AppError('not_found');
    if (user.suspendedAt) throw new AppError('account_suspended');
    if (sets === 'taken') return 'taken';
    if (!(await consumeMailToken(trx, opened))) throw new AppError('not_found');
    await updateUser(trx, user.id, {
      passwordHash,
      holdsEmail: true,
      emailVerifiedAt: user.emailVerifiedAt ?? now(),
    });
    await voidMails(trx, user.id);
    await sleepExternalLinks(trx, user.id, now());
    await deletePendingHandOffs(trx, user.id);
    const { address, requestId } = visit;
    const trail = { userId: user.id, address, requestId };
    await recordAuditEvent(trx, { ...trail, type: 'password.set', reason: 'by_mail' });
    const proved = { ...user, holdsEmail: true };
    await notify(trx, services, proved, 'password_set', request);
    if (!user.emailVerifiedAt) await notify(trx, services, proved, 'email_proved', request);
    return startSession(trx, services, { user: proved, startedBy: 'mail', request, visit });
  });
}
