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
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { readDevice } from '../ground/device.ts';
import { isEstablishedBrowser, isRevocable } from '../ground/established-browsers.ts';
import { notify, notifyWithTakeBack } from '../ground/notices.ts';
import { seal, unseal } from '../ground/sealing.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import {
  type AnyActor,
  type Confirmed,
  lockOpenActor,
  recordActorEvent,
  requireOwnAllowance,
} from '../session/actor.ts';
import { lacksSecondFactor, mustSetUpFactor, needsSecondFactor } from '../session/second-factor.ts';
import { amrOf } from '../session/sessions.ts';
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts';
import { secretContext } from './second-factor-check.ts';
import { buildKeyUri, createSecret, findStep, isCode, spellSecret } from './totp.ts';

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
    isRequired: needsSecondFactor(config, user),
    /** Whether the user must set up a second factor before they can open anything else. */
    comesFirst: mustSetUpFactor(config, session),
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
  /** The new secret, sealed, for the form that takes the code: nothing is stored before a right code. */
  sealed: string;
  /** The secret as text, for typing into the app. */
  secret: string;
  uri: string;
  qr: { size: number; path: string };
};

/** Makes a new secret, which counts once the user gives a code of it. */
export async function offerAuthenticator(deps: Dependencies, actor: Owner): Promise<SetUp> {
  await requireOwnAllowance(deps, actor, 'authenticator.added');
  const secret = createSecret();
  const sealed = await seal(deps.config.encryptionKeys, offerContext(actor), secret);
  return describeOffer(deps, actor, { sealed, secret });
}

/**
 * Turns the app on, logs the user out everywhere else, and returns the recovery codes, which are shown only this once.
 * Undefined if an app is on already. Throws 422 `validation_failed` for a wrong code, and 400 `invalid_request` for a
 * `sealed` that was not made for this user.
 */
export async function addAuthenticator(
  deps: Dependencies,
  actor: Owner,
  given: { sealed: string; code: string },
): Promise<string[] | undefined> {
  const { config, db, now } = deps;
  const { session, request, visit } = actor;
  const { secret } = await openOffer(deps, actor, given.sealed);
  const code = given.code.replace(/\s/g, '');
  const step = isCode(code) ? await findStep(secret, code, now()) : undefined;
  if (step === undefined) throw wrongCode();
  const sealedSecret = await seal(config.encryptionKeys, secretContext(session.user.id), secret);
  return inTransactionOf(visit, db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!hasOwnLogin(user)) throw new AppError('login_required');
    if (user.hasAuthenticator) return undefined;
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
    return codes;
  });
}

/** Shows the set-up again after a wrong code. Throws what `addAuthenticator` throws for `sealed`. */
export async function repeatOffer(deps: Dependencies, actor: AnyActor, sealed: string): Promise<SetUp> {
  return describeOffer(deps, actor, await openOffer(deps, actor, sealed));
}

/** Makes new recovery codes in place of those that are left. Undefined if no app is set up. */
export async function renewRecoveryCodes(deps: Dependencies, actor: Owner): Promise<string[] | undefined> {
  return inTransactionOf(actor.visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!user.hasAuthenticator) return undefined;
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

// Not the context of a stored secret, so that an offered secret never passes for a stored one, nor the other way round.
const offerContext = ({ session }: AnyActor) => `authenticator offer ${session.user.id}`;

type Offer = { sealed: Uint8Array; secret: Uint8Array };

async function openOffer({ config }: Dependencies, actor: AnyActor, text: string): Promise<Offer> {
  const sealed = decode(text);
  const opened = sealed && (await unseal(config.encryptionKeys, offerContext(actor), sealed));
  if (!sealed || !opened)
    throw new AppError('invalid_request', { detail: 'Start setting up the app again.' });
  return { sealed, secret: opened.plain };
}

function describeOffer({ config }: Dependencies, { session }: AnyActor, { sealed, secret }: Offer): SetUp {
  const uri = buildKeyUri(secret, { issuer: config.name, email: session.user.email });
  return { sealed: encodeBytes(sealed), secret: spellSecret(secret), uri, qr: drawQr(uri) };
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

const encodeBytes = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

function decode(text: string): Uint8Array | undefined {
  // The base64 of a nonce, 20 bytes and a tag.
  if (!/^[A-Za-z0-9+/]{64}$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

const wrongCode = () =>
  new AppError('validation_failed', {
    errors: [
      {
        pointer: '/code',
        detail:
          'This code is wrong. Enter the one that the app shows now. If that does not work, check that the clock on your phone is right.',
      },
    ],
  });
