// Requests for the mail with which a user sets a password (password-by-mail.ts).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { findHolder } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Visit } from '../../http/requests.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { keepNext, keepTrace } from '../ground/address-proof.ts';
import { answerAlike } from '../ground/answer-alike.ts';
import { malformedEmail, readEmailAddress } from '../ground/email-address.ts';
import { trailOf } from '../ground/trail.ts';
import type { Actor } from '../session/actor.ts';
import { requestEmailVerification } from './verify-email.ts';

/**
 * Sends the mail if somebody here has that address; neither the answer nor its time tells the caller. `next` is a path of
 * ours to go on to. `request` says which browser asks: a browser that the user knows has an allowance of its own. Throws
 * 422 `validation_failed` for a malformed address, and 429 `rate_limited`.
 */
export async function requestPasswordMail(
  deps: Dependencies,
  visit: Visit,
  { email: typed, next }: { email: string; next?: string },
  request?: Request,
): Promise<void> {
  const email = readEmailAddress(typed);
  if (!email) throw new AppError('validation_failed', { errors: [malformedEmail] });
  const limits = deps.passwordMailLimits;
  await answerAlike(deps, visit, { email, request, limits }, (trx) =>
    sendPasswordMail(trx, deps, visit, { email, next }),
  );
}

/**
 * Sends the mail to somebody who is logged in. If they merely typed their address, somebody else may own it, so they get
 * the mail that also proves the address. Throws 429 `rate_limited`.
 */
export async function requestOwnPasswordMail(deps: Dependencies, actor: Actor): Promise<void> {
  const { email, holdsEmail } = actor.session.user;
  if (!holdsEmail) return requestEmailVerification(deps, actor, undefined);
  return requestPasswordMail(deps, actor.visit, { email }, actor.request);
}

async function sendPasswordMail(
  trx: Transaction<DB>,
  { config, now, log, metrics }: Dependencies,
  visit: Visit,
  { email, next }: { email: string; next?: string },
): Promise<void> {
  const trail = { address: visit.address, requestId: visit.requestId };
  const user = await findHolder(trx, email);
  // Logged, not stored: strangers could grow the table without end.
  if (!user) {
    metrics.countPasswordMail('unknown_user');
    return log.record({ ...trail, reason: 'unknown_user' }, 'password mail refused');
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
