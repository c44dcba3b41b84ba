// "Confirm it's you": the user gives a credential again before a change for which an old login is not enough. The page keeps
// the form that asked for the change, and sends it together with the credential.

import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { confirmSession } from '../../../db/tables/sessions.ts';
import { type CodeFactor, lockUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Form } from '../../web/requests.ts';
import type { AllowanceName } from '../ground/allowances.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { rememberCredential } from '../ground/device.ts';
import { checkAssertion, consumePasskey } from '../passkey/passkey-assertion.ts';
import { PasskeyRefusal } from '../passkey/webauthn.ts';
import { guessOwnPassword, wrongPassword } from '../password/own-password.ts';
import { type AnyActor, lockActor, recordActorEvent, requireOwnAllowance } from '../session/actor.ts';
import { asksForCode, lacksSecondFactor, needsMoreThanPassword } from '../session/second-factor.ts';
import { amrOf, isFresh, passkeyAmr } from '../session/sessions.ts';
import { requireTryLeft, tryCode } from './code-try.ts';

export type ConfirmAsks = {
  email: string;
  /** False if the user has no credential yet. Then they must first set one by mail. */
  canConfirm: boolean;
  hasPassword: boolean;
  /**
   * The kinds of second factor whose code the user must give besides the password. A recovery code works, too. Empty if the
   * password is enough.
   */
  codeFactors: CodeFactor[];
  hasPasskey: boolean;
  /** What the user can confirm with if they have no passkey at hand. */
  otherWay?: 'password' | 'mail';
  error?: string;
  codeError?: string;
};

/**
 * In the result, `asks` says what the user must still give. It is undefined if a recent credential, or the credential in this
 * form, is enough. With `clientNeedsFactor`, a passkey is asked for even after a recent password. Throws 429 and what
 * `guessPassword` throws.
 */
export async function confirm(
  deps: Dependencies,
  actor: AnyActor,
  form: Form,
  { change, clientNeedsFactor }: { change?: AllowanceName; clientNeedsFactor?: boolean } = {},
): Promise<{ asks?: ConfirmAsks }> {
  if (change) await requireOwnAllowance(deps, actor, change);
  const asks = findAsks(deps, actor, clientNeedsFactor);
  if (!asks) return {};
  const passkey = form.get('confirmPasskey');
  if (passkey) {
    if (await confirmByPasskey(deps, actor, passkey)) return {};
    return { asks: { ...asks, error: faultWords.passkey_refused } };
  }
  const password = form.get('confirmPassword');
  const code = asks.codeFactors.length > 0 ? (form.get('confirmCode') ?? null) : undefined;
  if (password === undefined || code === null || !asks.hasPassword) return { asks };
  try {
    const codeError = await confirmByPassword(deps, actor, password, code);
    return codeError ? { asks: { ...asks, codeError: faultWords[codeError] } } : {};
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return { asks: { ...asks, error: faultWords.confirm_wrong } };
  }
}

/** Returns undefined if the user gave every needed credential in the last ten minutes. */
export function findAsks(
  deps: Dependencies,
  { session }: AnyActor,
  clientNeedsFactor?: boolean,
): ConfirmAsks | undefined {
  const { user } = session;
  const isAsked = lacksSecondFactor(deps.config, session, clientNeedsFactor);
  if (isFresh(session, deps.now()) && !isAsked) return undefined;
  const lacksFactor = isAsked || needsMoreThanPassword(deps.config, user);
  return {
    email: user.email,
    canConfirm: hasOwnLogin(user),
    // If a second factor is needed, the password is offered only with a code. The password alone would bypass the second
    // factor.
    hasPassword: user.hasPassword && (!lacksFactor || asksForCode(user)),
    codeFactors: lacksFactor ? user.codeFactors : [],
    hasPasskey: user.hasPasskey,
    otherWay: findOtherWay(user, lacksFactor),
  };
}

function findOtherWay(user: User, lacksFactor: boolean): ConfirmAsks['otherWay'] {
  if (lacksFactor && !asksForCode(user)) return undefined;
  return user.hasPassword ? 'password' : 'mail';
}

/** For a form with its own field for the password. Asks only users who have no password, or need more than a password. */
export async function confirmWithoutPassword(
  deps: Dependencies,
  actor: AnyActor,
  form: Form,
): Promise<{ asks?: ConfirmAsks }> {
  const { session } = actor;
  const hasOnlyPasskeys = !session.user.hasPassword && session.user.hasPasskey;
  const mustAsk =
    hasOnlyPasskeys ||
    lacksSecondFactor(deps.config, session) ||
    needsMoreThanPassword(deps.config, session.user);
  return mustAsk ? confirm(deps, actor, form) : {};
}

/** If `typed` is undefined, the password is enough. Returns what is wrong with the code, or undefined if all is right. */
async function confirmByPassword(
  deps: Dependencies,
  actor: AnyActor,
  password: string,
  typed: string | undefined,
): Promise<'code_wrong' | 'code_of_other_time' | undefined> {
  const { request, visit } = actor;
  const { id, user } = actor.session;
  await requireOwnAllowance(deps, actor, 'login.confirmed');
  // After the tries at codes are used up, no more passwords are hashed.
  if (typed !== undefined) await requireTryLeft(deps, request, visit, user.id);
  const passwordHash = await guessOwnPassword(deps, actor, password);
  // As in a login, only somebody who knows the password can try a code.
  const code =
    typed === undefined ? undefined : await tryCode(deps, request, visit, { userId: user.id, typed });
  return inTransactionOf(visit, deps.db, async (trx) => {
    // While the password was hashed, it may have changed, or the session may have ended.
    const locked = await lockUser(trx, { id: user.id, passwordHash });
    if (!locked) throw wrongPassword();
    const factor = await code?.use(trx, locked);
    if (factor === 'other_time') return 'code_of_other_time';
    if (factor === 'wrong') return 'code_wrong';
    const amr = factor && { amr: amrOf.code };
    if (!(await confirmSession(trx, { id, now: deps.now(), ...amr }))) throw new AppError('login_required');
    await rememberCredential(trx, deps, request, user.id);
    const details = factor && { details: { factor } };
    await recordActorEvent(trx, actor, {
      type: 'login.confirmed',
      reason: factor ? 'code' : 'password',
      ...details,
    });
    await code?.giveBack(trx);
    return undefined;
  });
}

async function confirmByPasskey(deps: Dependencies, actor: AnyActor, passkey: string): Promise<boolean> {
  const { session, request, visit } = actor;
  const userId = session.user.id;
  try {
    const assertion = await checkAssertion(deps, request, visit, { purpose: 'confirm', userId }, passkey);
    await inTransactionOf(visit, deps.db, async (trx) => {
      await lockActor(trx, actor);
      const refusal = await consumePasskey(trx, deps, assertion);
      if (refusal) throw new PasskeyRefusal(refusal);
      const isLive = await confirmSession(trx, { id: session.id, now: deps.now(), amr: passkeyAmr });
      if (!isLive) throw new AppError('login_required');
      await rememberCredential(trx, deps, request, userId);
      await recordActorEvent(trx, actor, { type: 'login.confirmed', reason: 'passkey' });
    });
    return true;
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    const { requestId, address } = visit;
    deps.log.record({ requestId, address, reason: `passkey_${error.reason}` }, 'passkey not accepted');
    return false;
  }
}
