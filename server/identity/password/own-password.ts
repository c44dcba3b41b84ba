import { recordAuditEvent } from '../../../db/tables/audit-events.ts';
import { findPasswordOwner } from '../../../db/tables/password-owners.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { trailOf } from '../ground/trail.ts';
import type { AnyActor } from '../session/actor.ts';
import { lacksSecondFactor, needsMoreThanPassword } from '../session/second-factor.ts';
import { isFresh } from '../session/sessions.ts';
import { guessPassword } from './guess-password.ts';

/**
 * Checks the user's password, and returns its hash. Throws 422, 401 `login_required` if a second factor is needed first, and
 * what `guessPassword` throws.
 */
export async function requireOwnPassword(
  deps: Dependencies,
  actor: AnyActor,
  currentPassword: string,
): Promise<string> {
  const { session } = actor;
  // The password alone would bypass the second factor. So the user must first give a credential that includes the second
  // factor.
  const isStale = needsMoreThanPassword(deps.config, session.user) && !isFresh(session, deps.now());
  if (isStale || lacksSecondFactor(deps.config, session)) throw new AppError('login_required');
  return guessOwnPassword(deps, actor, currentPassword);
}

/** Like `requireOwnPassword`, for a caller that asks for the second factor itself. */
export async function guessOwnPassword(
  deps: Dependencies,
  { session, request, visit }: AnyActor,
  currentPassword: string,
): Promise<string> {
  const { db, read } = deps;
  const { id: userId, email, hasPassword } = session.user;
  // Without a password there is nothing to guess, so no guess is counted. Otherwise this user could use up the guesses of
  // somebody else who holds the address.
  if (!hasPassword) throw wrongPassword();
  const { isRight, owner, giveBack } = await guessPassword(deps, request, visit, {
    email,
    password: currentPassword,
    find: (deviceHash) => findPasswordOwner(read, { userId }, deviceHash),
  });
  if (!isRight || !owner?.passwordHash) {
    const event = { type: 'password.refused' as const, reason: 'wrong_password' };
    await recordAuditEvent(db, { ...event, ...trailOf(visit), userId });
    throw wrongPassword();
  }
  await giveBack(db);
  return owner.passwordHash;
}

/**
 * A user who has passkeys but no password must have used a passkey in the last ten minutes. `confirmWithoutPassword` asks for
 * it.
 */
export async function requireOwnCredential(
  deps: Dependencies,
  actor: AnyActor,
  currentPassword: string,
): Promise<void> {
  const { hasPassword, hasPasskey } = actor.session.user;
  if (!hasPassword && hasPasskey && isFresh(actor.session, deps.now())) return;
  await requireOwnPassword(deps, actor, currentPassword);
}

export const wrongPassword = (): AppError => invalidMember('/currentPassword', faultWords.password_wrong);
