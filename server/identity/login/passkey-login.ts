// A passkey identifies its owner, and nobody can guess one. So no limit for strangers applies, and owners get in even if all
// tries at their password are used up.

import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { lockUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { spendAllowance } from '../ground/allowances.ts';
import { suspensionOf } from '../ground/suspension.ts';
import { refusedLogin, trailOf } from '../ground/trail.ts';
import { type Assertion, checkAssertion, consumePasskey } from '../passkey/passkey-assertion.ts';
import { PasskeyRefusal } from '../passkey/webauthn.ts';
import { startSession } from '../session/sessions.ts';
import { countLogin } from './count-login.ts';
import type { LoginStep } from './pending-login.ts';

type Refusal = 'unknown_passkey' | 'wrong_passkey';

/**
 * `unknown_passkey`: nobody has the passkey, and the browser may forget it. After a correct passkey, throws 403
 * `account_suspended` or `account_frozen`.
 */
export async function logInByPasskey(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  passkey: string,
): Promise<LoginStep | Refusal> {
  const { log } = deps;
  const { address, requestId } = visit;
  const tryPasskey = async (): Promise<LoginStep | Refusal> => {
    try {
      const assertion = await checkAssertion(deps, request, visit, { purpose: 'login' }, passkey);
      return { setCookies: await start(deps, request, visit, assertion), needsCode: false };
    } catch (error) {
      if (!(error instanceof PasskeyRefusal)) throw error;
      const { reason, userId } = error;
      log.record({ requestId, address, userId, reason: `passkey_${reason}` }, 'login refused');
      return reason === 'unknown_passkey' ? reason : 'wrong_passkey';
    }
  };
  return countLogin(deps, tryPasskey, (step) => (typeof step === 'string' ? 'wrong_passkey' : 'ok'));
}

async function start(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  assertion: Assertion,
): Promise<string[]> {
  const { userId } = assertion.passkey;
  const trail = { ...trailOf(visit), userId, details: { passkey: assertion.passkey.id } };
  const outcome = await inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    if (!user) throw new PasskeyRefusal('unknown_passkey', userId);
    const refusal = await consumePasskey(trx, deps, assertion);
    if (refusal === 'challenge_used') return refusal;
    await spendAllowance(trx, 'login-passkey', assertion.passkey.id);
    // The counter has not grown, so somebody may have a copy of the passkey. Only somebody who has the passkey gets this far, so
    // no stranger can fill the table with these events.
    if (refusal === 'counter') deferAuditEvent(trx, { ...trail, ...refusedLogin('passkey_counter') });
    if (refusal) return refusal;
    if (user.suspendedAt) {
      deferAuditEvent(trx, { ...trail, ...refusedLogin('suspended') });
      return suspensionOf(user);
    }
    deferAuditEvent(trx, { ...trail, type: 'login.succeeded', reason: 'passkey' });
    return startSession(trx, deps, { user, startedBy: 'passkey', request, visit });
  });
  if (outcome instanceof AppError) throw outcome;
  if (typeof outcome === 'string') throw new PasskeyRefusal(outcome, userId);
  return outcome;
}
