import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { consumeMailToken } from '../../../db/tables/mail-tokens.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { findReservation } from '../../../db/tables/reserved-addresses.ts';
import { lockUser, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { keepNext, keepTrace, openMailToken } from '../ground/address-proof.ts';
import { findDeviceName } from '../ground/device.ts';
import { notify } from '../ground/notices.ts';
import { type Actor, lockActor, recordActorEvent } from '../session/actor.ts';

/** If the address was merely typed, the mail leads to setting a password. Throws 429 `rate_limited`. */
export async function requestEmailVerification(
  deps: Dependencies,
  actor: Actor,
  next: string | undefined,
): Promise<void> {
  const { clients, db, mailLimits, now } = deps;
  const { user } = actor.session;
  if (user.emailVerifiedAt) return;
  // The owner's browsers have counts of their own. So an actor who merely typed the address cannot use up those counts.
  const device = await findDeviceName(deps, actor.request, user.email);
  await mailLimits.countTry({ account: user.email, address: actor.visit.address, device });
  await inTransactionOf(actor.visit, db, async (trx) => {
    // This throws if the actor is gone, for example because a hand-off has moved their marketplace link to another user.
    await lockActor(trx, actor);
    // The address is reserved for its former holder. So no mail to it may prove the address for somebody else.
    if (!user.holdsEmail && (await findReservation(trx, { email: user.email, now: now() }))) return;
    deferMail(trx, {
      kind: user.holdsEmail ? 'verify_email' : 'prove_address',
      userId: user.id,
      recipient: user.email,
      details: { ...keepNext(clients, next), ...keepTrace(actor.visit.trace) },
      now: now(),
    });
    await recordActorEvent(trx, actor, { type: 'email.verification_requested' });
  });
}

/**
 * Works only in a session of the user. If a stranger gets the mail by mistake, their click must not verify the address.
 * Throws 404 `not_found`.
 */
export async function verifyEmail(deps: Dependencies, actor: Actor, token: string): Promise<void> {
  const { db, now } = deps;
  const opened = await openMailToken(db, 'verify_email', token, now());
  if (opened?.userId !== actor.session.user.id) throw new AppError('not_found');
  await inTransactionOf(actor.visit, db, async (trx) => {
    const user = await lockUser(trx, { id: opened.userId });
    if (!user?.holdsEmail || user.email !== opened.email || !(await consumeMailToken(trx, opened)))
      throw new AppError('not_found');
    if (user.emailVerifiedAt) return;
    await updateUser(trx, user.id, { emailVerifiedAt: now() });
    await recordActorEvent(trx, actor, { type: 'email.verified', reason: 'by_mail' });
    await notify(trx, deps, user, 'email_proved', actor.request);
  });
}

export async function canVerifyEmail(
  { db, now }: Dependencies,
  actor: Actor,
  token: string,
): Promise<boolean> {
  const opened = await openMailToken(db, 'verify_email', token, now());
  return opened?.userId === actor.session.user.id;
}
