// The authenticator app of somebody who is logged in: setting it up, making new recovery codes, and turning it off, each
// with a credential given a moment ago.

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
import type { Dependencies } from '../../ground/dependencies.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { readDevice } from '../ground/device.ts';
import { isEstablishedBrowser, isRevocable } from '../ground/established-browsers.ts';
import { notify, notifyWithTakeBack } from '../ground/notices.ts';
import { seal } from '../ground/sealing.ts';
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

/** A user who may set up an authenticator app, even if they must do so before anything else. */
type Owner = Confirmed<AnyActor>;

/** What the page shows when nobody is setting up an app. */
export async function describeAuthenticator(deps: Dependencies, { session, request }: AnyActor) {
  const { config, db } = deps;
  const { user } = session;
  const lacksFactor = lacksSecondFactor(config, session);
  const found = await findAuthenticator(db, user.id);
  return {
    email: user.email,
    hasPasskey: user.hasPasskey,
    isRequired: needsSecondFactor(config, user),
    /** Whether the user must set up a second factor before they can open anything else. */
    comesFirst: mustSetUpFactor(config, session),
    /** Whether the user could help other people, but for the factor. */
    isStaffWithoutFactor: needsStaffFactor(config, user) && !session.amr.includes('mfa'),
    /** Whether a link in a mail can remove a factor that the user adds in this browser now. */
    isRevocable: await isRevocable(deps, request, user),
    /** Whether the user has a passkey, but logged in with their password alone. */
    mustUsePasskey: lacksFactor && user.hasPasskey,
    isOn: found && {
      addedAt: found.addedAt,
      lastUsedAt: found.lastUsedAt,
      codesLeft: await countRecoveryCodes(db, user.id),
    },
  };
}

export type SetUp = {
  /** The secret as text, for typing into the app. */
  secret: string;
  uri: string;
  qr: { size: number; path: string };
};

/**
 * Makes a secret, which counts once the user gives a code of it. One that waits for its code already stays the same, so
 * that two tabs show one secret. The result is a `Set-Cookie` value.
 */
export async function startSetUp(deps: Dependencies, actor: Owner): Promise<string> {
  await requireOwnAllowance(deps, actor, 'authenticator.added');
  return keepSetUpSecret(deps, actor, (await findSetUpSecret(deps, actor)) ?? createSecret());
}

/** The secret that waits for its code; undefined if none does, or none of this user and session. */
export async function findSetUp(deps: Dependencies, actor: AnyActor): Promise<SetUp | undefined> {
  const secret = await findSetUpSecret(deps, actor);
  if (!secret) return undefined;
  const uri = buildKeyUri(secret, { issuer: deps.config.name, email: actor.session.user.email });
  return { secret: spellSecret(secret), uri, qr: drawQr(uri) };
}

/**
 * Turns the app on, logs the user out everywhere else, and returns the recovery codes, which are shown only this once, with
 * a `Set-Cookie` value. `on` if an app is on already, `gone` if no secret waits. Throws 422 `validation_failed` for a wrong
 * code.
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
    const user = await lockOpenActor(trx, actor);
    if (!hasOwnLogin(user)) throw new AppError('login_required');
    if (user.codeFactors.includes('authenticator')) return 'on';
    // With the code the user has given a second factor in this session.
    const amr = session.amr.includes('mfa') ? (session.amr as Amr[]) : amrOf.code;
    await setSessionAmr(trx, session.id, amr);
    const at = await findTimeOfChange(trx, deps, user.id);
    const fromEstablishedBrowser = await isEstablishedBrowser(trx, deps, request, user.id);
    const added = { userId: user.id, sealedSecret, step, now: at };
    await insertAuthenticator(trx, { ...added, fromEstablishedBrowser });
    // The other sessions were started without the app.
    await endSessions(trx, user.id, { exceptId: session.id }, now());
    // Other browsers have shown the password at most, so none of them keeps an allowance for codes.
    await forgetDevices(trx, user.id, now(), readDevice(deps, request));
    const codes = createRecoveryCodes();
    await replaceRecoveryCodes(trx, { userId: user.id, codeHashes: hashAll(user.id, codes), now: at });
    await recordActorEvent(trx, actor, { type: 'authenticator.added' });
    await notifyWithTakeBack(trx, deps, user, 'authenticator_added', { at, request });
    return { codes, setCookie: forgetSetUpSecret(deps) };
  });
}

/** Makes new recovery codes in place of those that are left. Undefined if no app is set up. */
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

/** Removes the app and its recovery codes. */
export async function removeAuthenticator(deps: Dependencies, actor: Owner): Promise<void> {
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!(await deleteAuthenticator(trx, user.id))) return;
    await deleteRecoveryCodes(trx, user.id);
    await recordActorEvent(trx, actor, { type: 'authenticator.removed' });
    await notify(trx, deps, user, 'authenticator_removed', actor.request);
  });
}

/** Draws each dark square as a piece of one path, on a grid of one unit, with the margin that scanners need. */
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
