// Changing a password in a session, with the current one.
import { deleteMailTokens } from '../../db/mail-tokens.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { endSessions } from '../../db/sessions.ts';
import { findPasswordHash, lockUser, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../services.ts';
import { type Actor, recordActorEvent } from './actor.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { startSession } from './sessions.ts';

/**
 * Ends every session of the user. The result is the `Set-Cookie` value of a new one, in place of the actor's.
 * `newPassword` has passed `newPasswordSchema`. Throws 422 `validation_failed` for a wrong current password, 429
 * `rate_limited`, and 401 `login_required` if the session has ended meanwhile.
 */
export async function changePassword(
  services: Services,
  actor: Actor,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<string> {
  const { db, read, guessLimits, now } = services;
  const { session, request, visit } = actor;
  const { id: userId, email } = session.user;
  const attempt = await guessLimits.countTry(email, visit.address);
  const currentHash = (await findPasswordHash(read, email))?.passwordHash;
  if (!(await verifyPassword(currentHash, currentPassword)) || !currentHash) {
    await recordActorEvent(db, actor, { type: 'password.refused', reason: 'wrong_password' });
    throw wrongPassword();
  }
  await attempt.forgiveEmail(db);
  await attempt.forgiveAddress();

  const passwordHash = await hashPassword(newPassword);
  return inTransaction(db, async (trx) => {
    if (!(await lockUser(trx, { id: userId, passwordHash: currentHash }))) throw wrongPassword();
    // A session that has ended must not come back under a new token.
    if ((await endSessions(trx, userId, { id: session.id }, now())) === 0)
      throw new AppError('login_required');
    await updateUser(trx, userId, { passwordHash });
    // An old mail could undo the change.
    await deleteMailTokens(trx, userId);
    await recordActorEvent(trx, actor, { type: 'password.changed' });
    return startSession(trx, services, { userId, startedBy: 'password_change', request, visit });
  });
}

function wrongPassword(): AppError {
  return new AppError('validation_failed', {
    errors: [{ pointer: '/currentPassword', detail: 'This is not your current password.' }],
  });
}
