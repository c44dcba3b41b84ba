// Proving an address from a session of its user: a mail with a link, and the click on it.
import { consumeMailToken } from '../../db/mail-tokens.ts';
import { deferMail } from '../../db/mails.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { findReservation } from '../../db/reserved-addresses.ts';
import { lockUser, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../services.ts';
import { type Actor, lockActor, recordActorEvent } from './actor.ts';
import { keepNext, keepTrace, openMailToken } from './address-proof.ts';
import { findDeviceName } from './device.ts';
import { notify } from './notices.ts';

/**
 * Does nothing for a proved address. The mail to an address that somebody merely typed leads to setting a password,
 * in any browser; a holder proves theirs by a click in a session of their own. `next` is a path here to go on to. Throws
 * 429 `rate_limited`.
 */
export async function requestEmailVerification(
  services: Services,
  actor: Actor,
  next: string | undefined,
): Promise<void> {
  const { config, db, mailLimits, now } = services;
  const { user } = actor.session;
  if (user.emailVerifiedAt) return;
  // An address that somebody merely typed is not theirs to spend an owner's allowance on.
  const device = await findDeviceName(services, actor.request, user.email);
  await mailLimits.countTry({ account: user.email, address: actor.visit.address, device });
  await inTransactionOf(actor.visit, db, async (trx) => {
    // A hand-off may have moved their link to somebody else, and removed them.
    await lockActor(trx, actor);
    // Reserved for whoever had it until a short while ago: it gets no other mail.
    if (!user.holdsEmail && (await findReservation(trx, { email: user.email, now: now() }))) return;
    deferMail(trx, {
      kind: user.holdsEmail ? 'verify_email' : 'prove_address',
      userId: user.id,
      recipient: user.email,
      details: { ...keepNext(config, next), ...keepTrace(actor.visit.trace) },
      now: now(),
    });
    await recordActorEvent(trx, actor, { type: 'email.verification_requested' });
  });
}

/**
 * Works only in a session of the user whom the mail was for: a stranger who got the mail by mistake must not verify
 * that user's address by a click. Throws 404 `not_found` for a token that does not work.
 */
export async function verifyEmail(services: Services, actor: Actor, token: string): Promise<void> {
  const { db, now } = services;
  const opened = await openMailToken(db, 'verify_email', token, now());
  if (opened?.userId !== actor.session.user.id) throw new AppError('not_found');
  await inTransactionOf(actor.visit, db, async (trx) => {
    const user = await lockUser(trx, { id: opened.userId });
    if (!user?.holdsEmail || user.email !== opened.email || !(await consumeMailToken(trx, opened)))
      throw new AppError('not_found');
    if (user.emailVerifiedAt) return;
    await updateUser(trx, user.id, { emailVerifiedAt: now() });
    await recordActorEvent(trx, actor, { type: 'email.verified', reason: 'by_mail' });
    await notify(trx, services, user, 'email_proved', actor.request);
  });
}

/** Whether that mail token is one that `verifyEmail` takes. Uses nothing up. */
export async function canVerifyEmail({ db, now }: Services, actor: Actor, token: string): Promise<boolean> {
  const opened = await openMailToken(db, 'verify_email', token, now());
  return opened?.userId === actor.session.user.id;
}
