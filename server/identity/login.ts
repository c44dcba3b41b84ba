// Login and logout. A wrong password, a user without one and an unknown address get the same answer, after the same
// work.
import { recordAuditEvent } from '../../db/audit-events.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { endSessions } from '../../db/sessions.ts';
import { findPasswordHash, lockUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import { finishPendingHandOff } from '../marketplace/pending-hand-off.ts';
import type { Services } from '../services.ts';
import { readEmailAddress } from './email-address.ts';
import { verifyPassword } from './passwords.ts';
import { buildEndedCookie, findSession, startSession } from './sessions.ts';

/**
 * The `Set-Cookie` value of a new session, or undefined for wrong credentials. Throws 429 `rate_limited` and, after a
 * right password, 403 `account_suspended`.
 */
export async function login(
  services: Services,
  request: Request,
  visit: Visit,
  credentials: { email: string; password: string },
): Promise<string | undefined> {
  const { db, read, guessLimits } = services;
  const email = readEmailAddress(credentials.email);
  const trail = { address: visit.address, requestId: visit.requestId };
  const attempt = await guessLimits
    .countTry(email ?? credentials.email, visit.address)
    .catch(async (error) => {
      if (error instanceof AppError)
        await recordAuditEvent(db, { ...trail, type: 'login.refused', reason: 'rate_limited' });
      throw error;
    });

  const known = await findPasswordHash(read, email ?? '');
  const isRight = await verifyPassword(known?.passwordHash, credentials.password);
  if (!known?.passwordHash || !isRight) {
    const reason = !known ? 'unknown_user' : known.passwordHash === null ? 'no_password' : 'wrong_password';
    await recordAuditEvent(db, { ...trail, type: 'login.refused', reason, userId: known?.userId });
    return undefined;
  }

  const { userId, passwordHash } = known;
  const outcome = await inTransaction(db, async (trx) => {
    // Hashing took a while: the password may have changed since.
    const user = await lockUser(trx, { id: userId, passwordHash });
    if (!user) return undefined;
    await attempt.forgiveEmail(trx);
    if (user.suspendedAt) {
      await recordAuditEvent(trx, { ...trail, type: 'login.refused', reason: 'suspended', userId });
      return 'suspended';
    }
    await recordAuditEvent(trx, { ...trail, type: 'login.succeeded', userId });
    return {
      setCookie: await startSession(trx, services, { userId, startedBy: 'password', request, visit }),
    };
  });
  await attempt.forgiveAddress();
  if (!outcome) return undefined;
  if (outcome === 'suspended') throw new AppError('account_suspended');
  await finishPendingHandOff(services, request, { ...trail, userId });
  return outcome.setCookie;
}

/** Ends this browser's session, if it has one. The result is the `Set-Cookie` value. */
export async function logout(services: Services, request: Request, visit: Visit): Promise<string> {
  const { db, config, now } = services;
  const session = await findSession(services, request);
  if (session && session !== 'suspended') {
    await inTransaction(db, async (trx) => {
      await endSessions(trx, session.user.id, { id: session.id }, now());
      const { address, requestId } = visit;
      await recordAuditEvent(trx, { type: 'logout', userId: session.user.id, address, requestId });
    });
  }
  return buildEndedCookie(config.issuer);
}
