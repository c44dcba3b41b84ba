// The authenticator app and the recovery codes of a user who is logged in.

import { encode } from 'uqr';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import {
  deleteAuthenticator,
  findAuthenticator,
  insertAuthenticator,
} from '../../../db/tables/authenticators.ts';
import { forgetDevices } from '../../../db/tables/devices.ts';
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  replaceRecoveryCodes,
} from '../../../db/tables/recovery-codes.ts';
import { type Amr, endSessions, setSessionAmr } from '../../../db/tables/sessions.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { seal } from '../../basics/sealing.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { readDevice } from '../ground/device.ts';
import { isEstablishedBrowser, isRevocable } from '../ground/established-browsers.ts';
import { describeInvitation, giveInvitedRole, lockLinksOfInvited } from '../ground/invited-role.ts';
import { notify, notifyWithTakeBack } from '../ground/notices.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import {
  type AnyActor,
  type Confirmed,
  lockOpenActor,
  recordActorEvent,
  requireOwnAllowance,
} from '../session/actor.ts';
import {
  lacksSecondFactor,
  mustSetUpFactor,
  needsSecondFactor,
  needsStaffFactor,
} from '../session/second-factor.ts';
import { amrOf } from '../session/sessions.ts';
import { secretContext } from './authenticator-code.ts';
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts';
import { findSetUpSecret, forgetSetUpSecret, keepSetUpSecret } from './set-up-secret.ts';
import { buildKeyUri, createSecret, findOtherSteps, findStep, isCode, spellSecret } from './totp.ts';
import { readTypedCode } from './typed-code.ts';

/** The owner can also be a user who must set up a second factor before they may do anything else. */
type Owner = Confirmed<AnyActor>;

export async function describeAuthenticator(
  deps: Dependencies,
  { session, request }: AnyActor,
  clientNeedsFactor?: boolean,
) {
  const { config, db } = deps;
  const { user } = session;
  const lacksFactor = lacksSecondFactor(config, session, clientNeedsFactor);
  const found = await findAuthenticator(db, user.id);
  return {
    email: user.email,
    hasPasskey: user.hasPasskey,
    isRequired: needsSecondFactor(config, user),
    comesFirst: mustSetUpFactor(config, session),
    isFactorGiven: session.amr.includes('mfa'),
    /** True if the user is staff, but may not help other people until they have given a second factor. */
    isStaffWithoutFactor: needsStaffFactor(config, user) && !session.amr.includes('mfa'),
    isRevocable: await isRevocable(deps, request, user),
    invitation: await describeInvitation(deps, user.id),
    mustUsePasskey: lacksFactor && user.hasPasskey,
    isOn: found && {
      addedAt: found.addedAt,
      lastUsedAt: found.lastUsedAt,
      codesLeft: await countRecoveryCodes(db, user.id),
    },
  };
}

export type SetUp = {
  secret: string;
  uri: string;
  qr: { size: number; path: string };
};

/**
 * If a secret already waits for its first code, that secret is kept, so that two tabs show the same secret. Returns a
 * `Set-Cookie` value.
 */
export async function startSetUp(deps: Dependencies, actor: Owner): Promise<string> {
  await requireOwnAllowance(deps, actor, 'authenticator.added');
  return keepSetUpSecret(deps, actor, (await findSetUpSecret(deps, actor)) ?? createSecret());
}

export async function findSetUp(deps: Dependencies, actor: AnyActor): Promise<SetUp | undefined> {
  const secret = await findSetUpSecret(deps, actor);
  if (!secret) return undefined;
  const uri = buildKeyUri(secret, { issuer: deps.config.name, email: actor.session.user.email });
  return { secret: spellSecret(secret), uri, qr: drawQr(uri) };
}

/**
 * Ends every other session. Returns `on` if an app is already set up, `gone` if no secret waits for its code, and otherwise the
 * recovery codes, which are shown only this one time. Throws 422 `validation_failed`.
 */
export async function addAuthenticator(
  deps: Dependencies,
  actor: Owner,
  given: { code: string },
): Promise<{ codes: string[]; setCookie: string } | 'on' | 'gone'> {
  const { config, db, now } = deps;
  const { session, request, visit } = actor;
  const secret = await findSetUpSecret(deps, actor);
  if (!secret) return 'gone';
  const code = readTypedCode(given.code);
  if (!isCode(code)) throw refuseCode('code_of_app_wrong');
  const at = now();
  const step = await findStep(secret, code, at);
  if (step === undefined) {
    const isOfOtherTime = (await findOtherSteps(secret, code, at)).length > 0;
    throw refuseCode(isOfOtherTime ? 'code_of_other_time' : 'code_of_app_wrong');
  }
  const sealedSecret = await seal(config.encryptionKeys, secretContext(session.user.id), secret);
  return inTransactionOf(visit, db, async (trx) => {
    await lockLinksOfInvited(trx, deps, session.user.id);
    const user = await lockOpenActor(trx, actor);
    if (!hasOwnLogin(user)) throw new AppError('login_required');
    if (user.codeFactors.includes('authenticator')) return 'on';
    // The code is the second factor of this session.
    const amr = session.amr.includes('mfa') ? (session.amr as Amr[]) : amrOf.code;
    await setSessionAmr(trx, session.id, amr);
    const at = await findTimeOfChange(trx, deps, user.id);
    const fromEstablishedBrowser = await isEstablishedBrowser(trx, deps, request, user.id);
    const added = { userId: user.id, sealedSecret, step, now: at };
    await insertAuthenticator(trx, { ...added, fromEstablishedBrowser });
    // The other sessions were started without the app, so they end.
    await endSessions(trx, user.id, { exceptId: session.id }, now());
    // Nobody has given a code in the user's other browsers yet. So these browsers are forgotten: tries at codes there now count
    // together with the tries in all unknown browsers.
    await forgetDevices(trx, user.id, now(), readDevice(deps, request));
    const codes = createRecoveryCodes();
    await replaceRecoveryCodes(trx, { userId: user.id, codeHashes: hashAll(user.id, codes), now: at });
    await recordActorEvent(trx, actor, { type: 'authenticator.added' });
    await notifyWithTakeBack(trx, deps, user, 'authenticator_added', { at, request });
    await giveInvitedRole(trx, deps, { user, session, visit });
    return { codes, setCookie: forgetSetUpSecret(deps) };
  });
}

/** Returns new recovery codes, or undefined if no app is set up. */
export async function renewRecoveryCodes(deps: Dependencies, actor: Owner): Promise<string[] | undefined> {
  return inTransactionOf(actor.visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!user.codeFactors.includes('authenticator')) return undefined;
    const codes = createRecoveryCodes();
    const at = await findTimeOfChange(trx, deps, user.id);
    await replaceRecoveryCodes(trx, { userId: user.id, codeHashes: hashAll(user.id, codes), now: at });
    await recordActorEvent(trx, actor, { type: 'recovery_codes.made' });
    await notifyWithTakeBack(trx, deps, user, 'recovery_codes_made', { at, request: actor.request });
    return codes;
  });
}

export async function removeAuthenticator(deps: Dependencies, actor: Owner): Promise<void> {
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!(await deleteAuthenticator(trx, user.id))) return;
    await deleteRecoveryCodes(trx, user.id);
    await recordActorEvent(trx, actor, { type: 'authenticator.removed' });
    await notify(trx, deps, user, 'authenticator_removed', actor.request);
  });
}

/** Draws the QR code as one path in which each square is one unit, with the margin that scanners need. */
function drawQr(text: string): SetUp['qr'] {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return { size, path };
}

const hashAll = (userId: string, codes: string[]) => codes.map((code) => hashRecoveryCode(userId, code));

const refuseCode = (fault: 'code_of_app_wrong' | 'code_of_other_time') =>
  invalidMember('/code', faultWords[fault]);
