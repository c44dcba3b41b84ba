// A wrong password, a user without a password and an unknown address get the same answer, after the same work.

import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { deferAuditEvent, recordAuditEvent } from '../../../db/tables/audit-events.ts';
import { findPasswordOwner, type PasswordOwner } from '../../../db/tables/password-owners.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import { lockUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { spendAllowance } from '../ground/allowances.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { findLoginAllowance } from '../ground/established-browsers.ts';
import { suspensionOf } from '../ground/suspension.ts';
import { type LoginRefusal, refusedLogin, trailOf } from '../ground/trail.ts';
import { findPasskeyOffer, type PasskeyOffer } from '../passkey/passkey-offer.ts';
import { guessPassword } from '../password/guess-password.ts';
import { buildEndedCookie, findSession } from '../session/sessions.ts';
import { countLogin } from './count-login.ts';
import { type LoginStep, startSessionOrAsk } from './pending-login.ts';

/** Returns undefined for wrong credentials. After a correct password, throws 403 `account_suspended` or `account_frozen`. */
export async function login(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  credentials: Credentials,
): Promise<PasswordStep | undefined> {
  return countLogin(
    deps,
    () => tryLogin(deps, request, visit, credentials),
    (step) => (step ? (step.needsCode ? 'code_asked' : 'ok') : 'wrong_password'),
  );
}

type Credentials = {
  email: string;
  password: string;
  offer?: PasskeyOffer | undefined;
};

type PasswordStep = LoginStep & { offersPasskey?: boolean };

async function tryLogin(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  credentials: Credentials,
): Promise<PasswordStep | undefined> {
  const { db, read, log, aside, now } = deps;
  const email = readEmailAddress(credentials.email);
  const trail = { address: visit.address, requestId: visit.requestId };
  const { isRight, owner, giveBack } = await guessPassword(deps, request, visit, {
    email: email ?? credentials.email,
    password: credentials.password,
    find: (deviceHash) => findPasswordOwner(read, { email: email ?? '' }, deviceHash),
  });
  if (!isRight || !owner?.passwordHash) {
    const reason = refusalReason(email, owner);
    // No query is made for the log, so the answer takes the same time whether or not there is an owner.
    log.record({ ...trail, userId: owner?.userId, reason }, 'login refused');
    // The event is stored only if there is an account. Otherwise strangers could grow the table without limit.
    const event = { ...trail, ...refusedLogin(reason), userId: owner?.userId };
    // `visit` is read now, because the request may be gone later.
    const seen = { ...trail, userAgent: visit.userAgent, place: visit.place };
    if (owner)
      aside.start(() => recordAuditEvent(db, { ...event, ...trailOf(seen) }), event, 'audit event lost');
    return undefined;
  }
  const { userId, passwordHash } = owner;
  const browser = trailOf(visit);

  const outcome = await inTransactionOf(visit, db, async (trx) => {
    // The password may have changed during the hashing.
    const user = await lockUser(trx, { id: userId, passwordHash });
    if (!user) return undefined;
    const allowance = findLoginAllowance(owner, now());
    await spendAllowance(trx, allowance.name, allowance.of);
    if (user.suspendedAt) {
      deferAuditEvent(trx, { ...browser, ...refusedLogin('suspended'), userId });
      await giveBack(trx);
      return suspensionOf(user);
    }
    const step = await startSessionOrAsk(trx, deps, { user, startedBy: 'password', request, visit });
    if (!step.needsCode) deferAuditEvent(trx, { ...browser, type: 'login.succeeded', userId });
    const offersPasskey = step.isNewSession && (await findPasskeyOffer(trx, deps, user, credentials.offer));
    // The tries are given back last, because this locks the rows of the counts, and other tries wait for these rows.
    await giveBack(trx);
    return { ...step, offersPasskey };
  });
  if (outcome instanceof AppError) throw outcome;
  return outcome;
}

function refusalReason(email: string | undefined, owner: PasswordOwner | undefined): LoginRefusal {
  if (!email) return 'malformed_address';
  if (!owner) return 'unknown_user';
  return owner.passwordHash === null ? 'no_password' : 'wrong_password';
}

/** Returns a `Set-Cookie` value. */
export async function logout(deps: Dependencies, request: Request, visit: Visit): Promise<string> {
  const { db, config, now } = deps;
  const session = await findSession(deps, request, visit);
  if (session && session.state !== 'suspended') {
    await inTransactionOf(visit, db, async (trx) => {
      // If several requests arrive at the same time, only one of them ends the session.
      if ((await endSessions(trx, session.user.id, { id: session.id }, now())) > 0)
        deferAuditEvent(trx, { ...trailOf(visit), type: 'logout', userId: session.user.id });
    });
  }
  return buildEndedCookie(config.issuer);
}
