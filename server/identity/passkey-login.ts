// Logging in with a passkey, which says by itself who it is. No address is typed and nothing can be guessed, so no limit
// of strangers counts it, and it gets its owner in where they have used up the tries at the password.
import { deferAuditEvent } from '../../db/audit-events.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { lockUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { trailOf } from './actor.ts';
import { spendAllowance } from './allowances.ts';
import { countLogin } from './count-login.ts';
import { type Assertion, checkAssertion, consumePasskey } from './passkey-assertion.ts';
import type { LoginStep } from './pending-login.ts';
import { startSession } from './sessions.ts';
import { suspensionOf } from './suspension.ts';
import { PasskeyRefusal } from './webauthn.ts';

/**
 * A session, or undefined for a passkey that is refused, for whatever reason. `passkey` is what
 * the browser's script posted. Throws 403 `account_suspended` or `account_frozen` after a right one.
 */
export async function logInByPasskey(
  services: Services,
  request: Request,
  visit: Visit,
  passkey: string,
): Promise<LoginStep | undefined> {
  const { log } = services;
  const { address, requestId } = visit;
  const tryPasskey = async (): Promise<LoginStep | undefined> => {
    try {
      const assertion = await checkAssertion(services, request, visit, { purpose: 'login' }, passkey);
      return { setCookies: await start(services, request, visit, assertion), needsCode: false };
    } catch (error) {
      if (!(error instanceof PasskeyRefusal)) throw error;
      log.info({ requestId, address, reason: `passkey_${error.reason}` }, 'login refused');
      return undefined;
    }
  };
  return countLogin(services, tryPasskey, (step) => (step ? 'ok' : 'wrong_passkey'));
}

async function start(
  services: Services,
  request: Request,
  visit: Visit,
  assertion: Assertion,
): Promise<string[]> {
  const { userId } = assertion.passkey;
  const trail = { ...trailOf(visit), userId, details: { passkey: assertion.passkey.id } };
  const outcome = await inTransactionOf(visit, services.db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    if (!user) throw new PasskeyRefusal('unknown_passkey');
    const refusal = await consumePasskey(trx, services, assertion);
    if (refusal === 'challenge_used') return refusal;
    await spendAllowance(trx, 'login-passkey', assertion.passkey.id);
    // The signature is right, so no stranger grows the table: somebody may have a copy of the authenticator.
    if (refusal === 'counter')
      deferAuditEvent(trx, { ...trail, type: 'login.refused', reason: 'passkey_counter' });
    if (refusal) return refusal;
    if (user.suspendedAt) {
      deferAuditEvent(trx, { ...trail, type: 'login.refused', reason: 'suspended' });
      return suspensionOf(user);
    }
    deferAuditEvent(trx, { ...trail, type: 'login.succeeded', reason: 'passkey' });
    return startSession(trx, services, { user, startedBy: 'passkey', request, visit });
  });
  if (outcome instanceof AppError) throw outcome;
  if (typeof outcome === 'string') throw new PasskeyRefusal(outcome);
  return outcome;
}
