import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import {
  deletePasskey,
  insertPasskey,
  type ListedPasskey,
  listPasskeys,
  renamePasskey,
} from '../../../db/tables/passkeys.ts';
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { nameSchema } from '../../basics/names.ts';
import { isUuid } from '../../basics/uuid.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { describeDevice, userAgentOf } from '../ground/device.ts';
import { isEstablishedBrowser, isRevocable } from '../ground/established-browsers.ts';
import { giveInvitedRole, lockLinksOfInvited } from '../ground/invited-role.ts';
import { notify, notifyWithTakeBack } from '../ground/notices.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import { type AnyActor, type Confirmed, lockOpenActor, recordActorEvent } from '../session/actor.ts';
import { type ChallengeUse, consumeChallenge } from './passkey-challenges.ts';
import { checkRegistration } from './passkey-registration.ts';
import { nameUser, PasskeyRefusal } from './webauthn.ts';

export const maxPasskeys = 20;

/** The owner can also be a user who must add a passkey before they may do anything else. */
type Owner = Confirmed<AnyActor>;

export async function describeOwnPasskeys(deps: Dependencies, { session, request }: AnyActor) {
  const { user } = session;
  const passkeys = await listPasskeys(deps.db, user.id);
  return {
    email: user.email,
    hasPassword: user.hasPassword,
    passkeys: passkeys.map(({ credentialId, transports, ...shown }) => shown),
    refused: findReasonNotToAdd(user, passkeys),
    suggestedName: describeDevice(userAgentOf(request)),
    isRevocable: await isRevocable(deps, request, user),
  };
}

/**
 * Returns what our script tells the browser about the user's passkeys, so that the browser forgets removed ones. The script's
 * library prescribes the names of the members.
 */
export async function describeSignals(deps: Dependencies, { session: { user } }: AnyActor) {
  const passkeys = user.hasPasskey ? await listPasskeys(deps.db, user.id) : [];
  return {
    userID: nameUser(user.id),
    userName: user.email,
    userDisplayName: user.name,
    allAcceptedCredentialIDs: passkeys.map(({ credentialId }) => credentialId),
  };
}

/** The email address must be proved first. Otherwise no mail could help a user who lost the passkey. */
export function findReasonNotToAdd(
  user: User,
  passkeys: ListedPasskey[],
): 'unproved' | 'too_many' | undefined {
  if (!user.emailVerifiedAt) return 'unproved';
  return passkeys.length >= maxPasskeys ? 'too_many' : undefined;
}

/** Throws 401 `login_required` if the session has ended, 403 `email_unverified`, and 422 at `/name` or `/passkey`. */
export async function addOwnPasskey(
  deps: Dependencies,
  actor: Owner,
  fields: { name: string; passkey: string },
): Promise<void> {
  const { request, visit } = actor;
  const { id: userId } = actor.session.user;
  const fresh = await readNewPasskey(deps, request, visit, { purpose: 'add', userId }, fields);
  await inTransactionOf(visit, deps.db, async (trx) => {
    await lockLinksOfInvited(trx, deps, userId);
    const user = await lockOpenActor(trx, actor);
    const reason = findReasonNotToAdd(user, await listPasskeys(trx, userId));
    if (reason === 'unproved') throw new AppError('email_unverified');
    if (reason === 'too_many') throw refusalAt('/passkey', faultWords.passkeys_full);
    const at = await findTimeOfChange(trx, deps, userId);
    const fromEstablishedBrowser = await isEstablishedBrowser(trx, deps, request, userId);
    const passkey = await storeNewPasskey(trx, userId, { ...fresh, fromEstablishedBrowser, at });
    await recordActorEvent(trx, actor, { type: 'passkey.added', details: { passkey } });
    await notifyWithTakeBack(trx, deps, user, 'passkey_added', { at, request });
    await giveInvitedRole(trx, deps, { user, session: actor.session, visit });
  });
}

type NewPasskey = Awaited<ReturnType<typeof checkRegistration>> & { name: string };

/** Throws 422 `validation_failed` at `/name` or `/passkey`. */
export async function readNewPasskey(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  use: ChallengeUse,
  fields: { name: string; passkey: string },
): Promise<NewPasskey> {
  const name = readName(fields.name);
  const checked = await checkRegistration(deps, request, visit, use, fields.passkey).catch((error) =>
    refuse(deps, visit, error),
  );
  return { ...checked, name };
}

/** Accepts each challenge only one time. The caller has locked the user. Returns the id. Throws 422 at `/passkey`. */
export async function storeNewPasskey(
  trx: Database,
  userId: string,
  { created, challenge, at, ...kept }: NewPasskey & { fromEstablishedBrowser: boolean; at: Date },
): Promise<string> {
  const passkey = { ...created, ...kept, id: uuidv7(), userId, now: at };
  if (!(await consumeChallenge(trx, challenge)) || !(await insertPasskey(trx, passkey))) throw notAdded();
  return passkey.id;
}

/** Throws 401 `login_required` if the session has ended, 404 `not_found`, and 422 `validation_failed`. */
export async function renameOwnPasskey(
  deps: Dependencies,
  // Renaming needs a recent credential, because the name is how owners recognise a passkey that a thief has added.
  actor: Owner,
  fields: { id: string; name: string },
): Promise<void> {
  const { id } = fields;
  const name = readName(fields.name);
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const { id: userId } = await lockOpenActor(trx, actor);
    if (!isUuid(id) || !(await renamePasskey(trx, { id, userId, name }))) throw gone();
  });
}

/**
 * Ends no session. Throws 401 `login_required`, 404 `not_found`, and 422 `validation_failed` if the passkey is the user's last
 * way to log in.
 */
export async function removeOwnPasskey(deps: Dependencies, actor: Owner, id: string): Promise<void> {
  const userId = actor.session.user.id;
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!isUuid(id) || !(await deletePasskey(trx, { id, userId }))) throw gone();
    if (!user.hasPassword && (await listPasskeys(trx, userId)).length === 0)
      throw refusalAt('/id', faultWords.passkey_last);
    await recordActorEvent(trx, actor, { type: 'passkey.removed', details: { passkey: id } });
    await notify(trx, deps, user, 'passkey_removed', actor.request);
  });
}

function readName(text: string): string {
  const read = nameSchema.safeParse(text);
  if (read.success) return read.data;
  throw refusalAt('/name', read.error.issues[0]?.message ?? faultWords.name_missing);
}

function refuse({ log }: Dependencies, { address, requestId }: Visit, error: unknown): never {
  if (!(error instanceof PasskeyRefusal)) throw error;
  log.record({ requestId, address, reason: `passkey_${error.reason}` }, 'passkey not added');
  throw notAdded();
}

const refusalAt = (pointer: string, detail: string) =>
  new AppError('validation_failed', { detail, errors: [{ pointer, detail }] });

const notAdded = () => refusalAt('/passkey', faultWords.passkey_not_added);

const gone = () => new AppError('not_found', { detail: faultWords.passkey_gone });
