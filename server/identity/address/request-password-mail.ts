// Requests for the mail that sets a password (password-by-mail.ts).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { keepNext, keepTrace } from '../ground/address-proof.ts';
import { answerAlike } from '../ground/answer-alike.ts';
import { malformedEmail, readEmailAddress } from '../ground/email-address.ts';
import { repeatTakeBackMail } from '../ground/notices.ts';
import { trailOf } from '../ground/trail.ts';
import type { Actor } from '../session/actor.ts';
import { requestEmailVerification } from './verify-email.ts';

/** Neither the answer nor its time shows who holds the address (contract 2.135). Throws 422 `validation_failed` and 429. */
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
 * Sends the mail to the user's own address. If the user merely typed that address, somebody else may own it, so the link in the
 * mail also proves the address.
 */
export async function requestOwnPasswordMail(deps: Dependencies, actor: Actor): Promise<void> {
  const { email, holdsEmail } = actor.session.user;
  if (!holdsEmail) return requestEmailVerification(deps, actor, undefined);
  return requestPasswordMail(deps, actor.visit, { email }, actor.request);
}

async function sendPasswordMail(
  trx: Transaction<DB>,
  deps: Dependencies,
  visit: Visit,
  { email, next }: { email: string; next?: string },
): Promise<void> {
  const { clients, now, log, metrics } = deps;
  const trail = { address: visit.address, requestId: visit.requestId };
  const user = await findAddressOwner(trx, email, now());
  // The request is logged but not stored. Otherwise strangers could grow the table without limit.
  if (!user) {
    metrics.countPasswordMail('unknown_user');
    return log.record({ ...trail, reason: 'unknown_user' }, 'password mail refused');
  }
  const { id: userId, suspendedAt } = user;
  const isReserved = user.email !== email;
  metrics.countPasswordMail(suspendedAt ? 'suspended' : 'sent');
  const reason = suspendedAt ? 'suspended' : isReserved ? 'reserved' : 'sent';
  deferAuditEvent(trx, { ...trailOf(visit), type: 'password_link.requested', reason, userId });
  if (suspendedAt) return;
  const trace = keepTrace(visit.trace);
  if (isReserved) return repeatTakeBackMail(trx, deps, { userId, email }, trace);
  const details = { ...keepNext(clients, next), ...trace };
  deferMail(trx, { kind: 'set_password', userId, recipient: email, details, now: now() });
}
