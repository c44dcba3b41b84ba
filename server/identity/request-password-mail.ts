// Asking for the mail through which a password is set (password-by-mail.ts).
import type { Transaction } from 'kysely';
import { deferAuditEvent } from '../../db/audit-events.ts';
import { deferMail } from '../../db/mails.ts';
import type { DB } from '../../db/schema.ts';
import { findHolder } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { type Actor, trailOf } from './actor.ts';
import { keepNext, keepTrace } from './address-proof.ts';
import { answerAlike } from './answer-alike.ts';
import { malformedEmail, readEmailAddress } from './email-address.ts';
import { requestEmailVerification } from './verify-email.ts';

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
  if (!email) throw new AppError('validation_failed', { errors: [malformedEmail] });
  const limits = services.passwordMailLimits;
  await answerAlike(services, visit, { email, request, limits }, (trx) =>
    sendPasswordMail(trx, services, visit, { email, next }),
  );
}

/**
 * For somebody who is logged in. Whoever holds an address may be somebody else than whoever merely typed it: that mail
 * proves the address, too. Throws 429 `rate_limited`.
 */
export async function requestOwnPasswordMail(services: Services, actor: Actor): Promise<void> {
  const { email, holdsEmail } = actor.session.user;
  if (!holdsEmail) return requestEmailVerification(services, actor, undefined);
  return requestPasswordMail(services, actor.visit, { email }, actor.request);
}

async function sendPasswordMail(
  trx: Transaction<DB>,
  { config, now, log, metrics }: Services,
  visit: Visit,
  { email, next }: { email: string; next?: string },
): Promise<void> {
  const trail = { address: visit.address, requestId: visit.requestId };
  const user = await findHolder(trx, email);
  // Not stored: strangers could grow the table without end.
  if (!user) {
    metrics.countPasswordMail('unknown_user');
    return log.info({ ...trail, reason: 'unknown_user' }, 'password mail refused');
  }
  const reason = user.suspendedAt ? 'suspended' : 'sent';
  metrics.countPasswordMail(reason);
  const event = { type: 'password_link.requested', reason, userId: user.id };
  deferAuditEvent(trx, { ...trailOf(visit), ...event });
  if (user.suspendedAt) return;
  deferMail(trx, {
    kind: 'set_password',
    userId: user.id,
    recipient: email,
    details: { ...keepNext(config, next), ...keepTrace(visit.trace) },
    now: now(),
  });
}
