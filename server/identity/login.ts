// Login and logout. One answer and one amount of work, whether the user is unknown, has no password, or
// typed a wrong one.
import { recordAuditEvent } from '../../db/audit-events.ts';
import { endSessions } from '../../db/sessions.ts';
import { inTransaction } from '../../db/transactions.ts';
import { findCredentialsByEmail } from '../../db/users.ts';
import type { Services } from '../backend.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http.ts';
import { readEmailAddress } from './email-address.ts';
import { verifyPassword } from './passwords.ts';
import { finishPendingLink } from './pending-link.ts';
import { buildEndedCookie, findSession, startSessionByPassword } from './sessions.ts';

/**
 * The `Set-Cookie` value of a new session, or undefined for wrong credentials. Throws 429 `rate_limited`, and
 * 403 `account_suspended` to who knows the password.
 */
export async function login(
  services: Services,
  request: Request,
  visit: Visit,
  credentials: { email: string; password: string },
): Promise<string | undefined> {
  const { db, read, config, now, guessLimits } = services;
  const email = readEmailAddress(credentials.email);
  const guessKey = email ?? credentials.email;
  const trail = { address: visit.address, requestId: visit.requestId };
  const attempt = await guessLimits.countTry(guessKey, visit.address).catch(async (error) => {
    if (error instanceof AppError)
      await recordAuditEvent(db, { ...trail, type: 'login.refused', reason: 'rate_limited' });
    throw error;
  });

  const user = await findCredentialsByEmail(read, email ?? '');
  const isRight = await verifyPassword(user?.passwordHash, credentials.password);
  if (!user?.passwordHash || !isRight) {
    const reason = !user ? 'unknown_user' : user.passwordHash === null ? 'no_password' : 'wrong_password';
    await recordAuditEvent(db, { ...trail, type: 'login.refused', reason, userId: user?.id });
    return undefined;
  }

  if (user.suspendedAt) {
    await attempt.forgive();
    await recordAuditEvent(db, { ...trail, type: 'login.refused', reason: 'suspended', userId: user.id });
    throw new AppError('account_suspended');
  }
  await attempt.forgiveAddress();
  const { id: userId, passwordHash } = user;
  const proof = { passwordHash, triesKey: attempt.emailKey };
  const session = { userId, request, visit, issuer: config.issuer, now: now() };
  // One statement, yet in a transaction: alone it would take effect also where the connection breaks before its answer.
  const cookie = await inTransaction(db, (trx) => startSessionByPassword(trx, proof, session));
  if (cookie) await finishPendingLink(services, request, { ...trail, userId });
  return cookie;
}

/** Ends the session of this browser, if it has one; the result is the `Set-Cookie` value. */
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
