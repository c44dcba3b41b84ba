// Asking for the mail through which a password is set (password-by-mail.ts).
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
 * Sends the mail if somebody here has that address; neither the answer nor its time tells the caller. `next` is a path
 * here to go on to. `request` says which browser asks: one that the user knows has an allowance of its own. Throws 422
 * `validation_failed` for a malformed address, and 429 `rate_limited`.
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
 * For somebody who is logged in. Whoever holds an address may be somebody else than whoever merely typed it: that mail
 * proves the address, too. Throws 429 `rate_limited`.
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
