// A login that waits for a code after the password, in the same browser, for ten minutes. Until the code there is no session.
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  deletePendingLogin,
  findPendingLogin,
  insertPendingLogin,
} from '../../../db/tables/pending-logins.ts';
import { type CodeFactor, findUserById, lockUser } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import type { OtherTime } from '../factor/authenticator-code.ts';
import { requireNotSuspended } from '../ground/suspension.ts';
import { findTakeBackHint } from '../ground/take-back-window.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from '../ground/tokens.ts';
import { trailOf } from '../ground/trail.ts';
import { asksForCode } from '../session/second-factor.ts';
import { type NewSession, openSession, startSession } from '../session/sessions.ts';
import { tryCode } from './code-try.ts';
import { countLogin } from './count-login.ts';

const cookie = 'identity_pending_login';
const lifeSeconds = 600;

export type LoginStep = {
  setCookies: string[];
  needsCode: boolean;
  isNewSession?: boolean;
};

/** The caller has locked the user and seen that they are not suspended. */
export async function startSessionOrAsk(
  trx: Transaction<DB>,
  deps: Dependencies,
  start: NewSession,
): Promise<LoginStep> {
  const { user, request, visit } = start;
  if (!asksForCode(user)) {
    const { setCookies, isNew } = await openSession(trx, deps, start);
    return { setCookies, needsCode: false, isNewSession: isNew };
  }
  const { config, now } = deps;
  visit.userId = user.id;
  const previous = readToken(request, config.issuer, cookie);
  if (previous) await deletePendingLogin(trx, hashToken(previous));
  const token = createToken();
  const expiresAt = new Date(now().getTime() + lifeSeconds * 1_000);
  await insertPendingLogin(trx, { tokenHash: hashToken(token), userId: user.id, expiresAt });
  deferAuditEvent(trx, { ...trailOf(visit), type: 'login.code_asked', userId: user.id });
  return { setCookies: [buildTokenCookie(config.issuer, cookie, token, lifeSeconds)], needsCode: true };
}

/** `takeBackSentAt`: when the last mail with a working take-back link was written. */
export async function findOwnPendingLogin(
  deps: Dependencies,
  request: Request,
): Promise<{ codeFactors: CodeFactor[]; takeBackSentAt: Date | undefined } | undefined> {
  const key = readKey(deps, request);
  const userId = key && (await findPendingLogin(deps.db, key));
  const user = userId && (await findUserById(deps.db, userId));
  if (!user) return undefined;
  return { codeFactors: user.codeFactors, takeBackSentAt: await findTakeBackHint(deps, user.id) };
}

/**
 * Returns `Set-Cookie` values. `gone`: no login of this browser waits for a code. Throws 403 `account_suspended` or
 * `account_frozen`. Throws 429 `rate_limited` before it looks at the code.
 */
export async function finishLogin(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  typed: string,
): Promise<string[] | 'wrong' | OtherTime | 'gone'> {
  return countLogin(
    deps,
    () => finish(deps, request, visit, typed),
    (outcome) => (outcome === 'gone' ? undefined : typeof outcome === 'string' ? 'wrong_code' : 'ok'),
  );
}

async function finish(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  typed: string,
): Promise<string[] | 'wrong' | OtherTime | 'gone'> {
  const { db, config } = deps;
  const key = readKey(deps, request);
  const userId = key && (await findPendingLogin(db, key));
  if (!key || !userId) return 'gone';
  visit.userId = userId;
  const code = await tryCode(deps, request, visit, { userId, typed });
  return inTransactionOf(visit, db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    // All code that ends a pending login locks the user first. This transaction has that lock, so the login cannot end now.
    if (!user || !(await findPendingLogin(trx, key))) return 'gone';
    requireNotSuspended(user);
    const factor = await code.use(trx, user);
    if (factor === 'wrong' || factor === 'other_time') return factor;
    await deletePendingLogin(trx, key.tokenHash);
    deferAuditEvent(trx, { ...trailOf(visit), type: 'login.succeeded', userId, details: { factor } });
    const setCookies = await startSession(trx, deps, { user, startedBy: 'code', request, visit });
    await code.giveBack(trx);
    return [...setCookies, buildTokenCookie(config.issuer, cookie, '', 0)];
  });
}

function readKey({ config, now }: Dependencies, request: Request) {
  const token = readToken(request, config.issuer, cookie);
  return token === undefined ? undefined : { tokenHash: hashToken(token), now: now() };
}
