// Proving an address from a session of its user: a mail with a link, and the click on it.
import { v7 as uuidv7 } from 'uuid';
import { consumeMailToken } from '../../db/mail-tokens.ts';
import { insertMail } from '../../db/mails.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockUser, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../services.ts';
import { type Actor, recordActorEvent } from './actor.ts';
import { openMailToken } from './address-proof.ts';

/** Does nothing for a verified address. `next` is a path here to go on to. Throws 429 `rate_limited`. */
export async function requestEmailVerification(
  { db, mailLimits, now }: Services,
  actor: Actor,
  next: string | undefined,
): Promise<void> {
  const { user } = actor.session;
  if (user.emailVerifiedAt) return;
  await mailLimits.countTry(user.email, actor.visit.address);
  await inTransaction(db, async (trx) => {
    await insertMail(trx, {
      id: uuidv7(),
      kind: 'verify_email',
      userId: user.id,
      recipient: user.email,
      details: { name: user.name, ...(next && { next }) },
      now: now(),
    });
    await recordActorEvent(trx, actor, { type: 'email.verification_requested' });
  });
}

/**
 * Works only in a session of the user whom the mail was for: a stranger who got the mail by mistake must not verify
 * that user's address by a click. Throws 404 `not_found` for a token that does not work.
 */
export async function verifyEmail({ db, now }: Services, actor: Actor, token: string): Promise<void> {
  const opened = await openMailToken(db, 'verify_email', token, now());
  if (opened?.userId !== actor.session.user.id) throw new AppError('not_found');
  await inTransaction(db, async (trx) => {
    const user = await lockUser(trx, { id: opened.userId });
    if (user?.email !== opened.email || !(await consumeMailToken(trx, opened)))
      throw new AppError('not_found');
    await updateUser(trx, user.id, { emailVerifiedAt: user.emailVerifiedAt ?? now() });
    await recordActorEvent(trx, actor, { type: 'email.verified', reason: 'by_mail' });
  });
}
