// Signing up by a link in a mail. There is no user before the link is used, so a typed address reserves and reveals nothing.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  assignSignUpTokens,
  consumeMailToken,
  findInvitationToken,
  findSignUpToken,
} from '../../../db/tables/mail-tokens.ts';
import { assignSignUpMails, deferMail } from '../../../db/tables/mails.ts';
import { type InvitedRole, lockInvitation, setTakenBy } from '../../../db/tables/staff-invitations.ts';
import { lockUser, type User } from '../../../db/tables/users.ts';
import { AppError, type FieldError } from '../../basics/errors.ts';
import { nameSchema } from '../../basics/names.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { keepNext, keepTrace } from '../ground/address-proof.ts';
import { answerAlike } from '../ground/answer-alike.ts';
import { createCustomer, hasOwnLogin } from '../ground/customers.ts';
import { describeDevice, userAgentOf } from '../ground/device.ts';
import { malformedEmail, readNewEmailAddress } from '../ground/email-address.ts';
import { askAboutHost } from '../ground/mail-hosts.ts';
import { tellOtherAdministrators } from '../ground/tell-administrators.ts';
import { hashToken } from '../ground/tokens.ts';
import { trailOf } from '../ground/trail.ts';
import { readNewPasskey, storeNewPasskey } from '../passkey/own-passkeys.ts';
import { hashNewPassword } from '../password/new-password.ts';
import { passkeyAmr, startSession } from '../session/sessions.ts';

/** Throws 404 `not_configured`. */
export function requireSignUp({ config }: Pick<Dependencies, 'config'>): void {
  if (config.signUp === 'open') return;
  const detail = 'You cannot create an account here yourself. Contact support to get one.';
  throw new AppError('not_configured', { detail });
}

/** Neither the answer nor its time shows whether there is an account. Throws 404 `not_configured`, 422 and 429. */
export async function requestSignUp(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  typed: { name: string; email: string; isMeant: boolean; next?: string },
): Promise<void> {
  requireSignUp(deps);
  const name = readName(typed.name);
  const email = readNewEmailAddress(typed.email, deps.config);
  const question = askAboutHost(typed.email, typed.isMeant);
  const errors = [...name.errors, ...(email ? question : [malformedEmail])];
  if (!email || errors.length > 0) throw new AppError('validation_failed', { errors });
  const details = { ...keepNext(deps.clients, typed.next), ...keepTrace(visit.trace) };
  await answerAlike(deps, visit, { email, request }, async (trx) => {
    const owner = await findAddressOwner(trx, email, deps.now());
    if (owner) return tellOwner(trx, deps, { owner, email, details });
    deferMail(trx, {
      kind: 'sign_up',
      userId: null,
      recipient: email,
      details: { ...details, name: name.value },
      now: deps.now(),
    });
  });
}

/**
 * The mail says how the holder of the address can log in. A user who is suspended or has changed to another address gets no
 * mail.
 */
export async function tellOwner(
  trx: Transaction<DB>,
  { now }: Dependencies,
  { owner, email, details }: { owner: User; email: string; details: Record<string, string> },
): Promise<void> {
  if (owner.suspendedAt || owner.email !== email) return;
  const kind = hasOwnLogin(owner) ? 'account_exists' : 'set_password';
  deferMail(trx, { kind, userId: owner.id, recipient: email, details, now: now() });
}

function readName(text: string): { value: string; errors: FieldError[] } {
  const parsed = nameSchema.safeParse(text);
  if (parsed.success) return { value: parsed.data, errors: [] };
  return { value: '', errors: [{ pointer: '/name', detail: parsed.error.issues[0]?.message ?? '' }] };
}

/** The purpose of the link: somebody typed the address here, or an administrator invited it to the staff. */
export type SignUpDoor = 'sign_up' | 'invitation';

export type SignUp = {
  email: string;
  name: string;
  isTaken: boolean;
  /** The role that an invitation gives. Undefined for a sign-up. */
  role: InvitedRole | undefined;
};

export async function findSignUp(
  deps: Dependencies,
  token: string,
  door: SignUpDoor = 'sign_up',
): Promise<SignUp | undefined> {
  const opened = await openSignUp(deps, token, door);
  if (!opened) return undefined;
  const { email, name, isTaken, invitation } = opened;
  return { email, name, isTaken, role: invitation?.role };
}

/** Returns the user that the link will make, because a passkey is made for a user. Undefined if the link makes no user. */
export async function findFutureUser(
  deps: Dependencies,
  token: string,
): Promise<Pick<User, 'id' | 'email' | 'name'> | undefined> {
  if (deps.config.signUp !== 'open') return undefined;
  const opened = await openSignUp(deps, token, 'sign_up');
  return opened?.isTaken === false ? opened : undefined;
}

async function openSignUp({ db, config, now }: Dependencies, token: string, door: SignUpDoor) {
  const tokenHash = hashToken(token);
  const key = { tokenHash, purpose: door, now: now() } as const;
  // People can be invited even if nobody can sign up.
  if (door === 'sign_up') requireSignUp({ config });
  const invited = door === 'invitation' ? await findInvitationToken(db, key) : undefined;
  const found = door === 'sign_up' ? await findSignUpToken(db, key) : invited;
  if (!found) return undefined;
  // One link always gives the same id, because a passkey is made for this id before there is a user.
  const id = uuidv7({ msecs: found.expiresAt.getTime(), random: tokenHash.slice(0, 16) });
  const owner = await findAddressOwner(db, found.email, now());
  return { ...key, ...found, invitation: invited?.invitation, id, isTaken: owner !== undefined };
}

/**
 * Returns `Set-Cookie` values. Returns `taken`, and changes nothing, if somebody else holds the address. Throws 404, 422, and
 * what `hashNewPassword` throws.
 */
export async function confirmSignUp(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { token, name: typedName, ...given }: { token: string; name: string } & Credential,
  door: SignUpDoor = 'sign_up',
): Promise<string[] | 'taken'> {
  const { db, now } = deps;
  const opened = await openSignUp(deps, token, door);
  if (!opened) throw new AppError('not_found');
  // Check this before hashing. A link that is `taken` is not used up, so somebody could make us hash with it endlessly.
  if (opened.isTaken) return 'taken';
  const { id, email, invitation } = opened;
  const { value: name, errors } = readName(typedName);
  if (errors.length > 0) throw new AppError('validation_failed', { errors });
  const credential = await readCredential(deps, request, visit, given, { token, id, email, name });
  const { passwordHash, giveBack, passkey } = credential;
  const done = await inTransactionOf(visit, db, async (trx) => {
    // The invitation may have ended while this request waited.
    if (invitation && !(await lockInvitation(trx, invitation.id))) throw new AppError('not_found');
    // If two requests come at the same time, the unique index lets only one through. The other request runs again and finds the
    // new user.
    if (await findAddressOwner(trx, email, now())) return 'taken';
    if (!(await consumeMailToken(trx, opened))) {
      // Another link to the same address was used while this request waited.
      if (await findAddressOwner(trx, email, now())) return 'taken';
      throw new AppError('not_found');
    }
    const proved = { email, holdsEmail: true, emailVerifiedAt: now(), passwordHash };
    await createCustomer(trx, { ...proved, name, account: { name } }, { id, accountId: uuidv7() });
    // From here on, the mails and tokens of the sign-up belong to the user. Assign the mails first. If a mail is being sent at
    // this moment, the statement waits until it is sent, and the second statement then also assigns the token in that mail.
    await assignSignUpMails(trx, { userId: id, email });
    await assignSignUpTokens(trx, { userId: id, email });
    if (passkey) await storeNewPasskey(trx, id, { ...passkey, fromEstablishedBrowser: true, at: now() });
    const event = { type: 'user.created' as const, reason: door, userId: id };
    deferAuditEvent(trx, {
      ...{ ...trailOf(visit), ...event },
      ...(invitation && { details: { invitation: invitation.id } }),
    });
    if (invitation) {
      await setTakenBy(trx, { id: invitation.id, userId: id });
      const { role } = invitation;
      await tellOtherAdministrators(trx, deps, {
        ...{ kind: 'invitation_taken', actorId: id, about: id },
        details: { role },
      });
    }
    const user = await lockUser(trx, { id });
    if (!user) throw new Error('the user was made in this transaction');
    const amr = passkey && passkeyAmr;
    const start = { user, startedBy: 'mail', isFirstCredential: true, request, visit } as const;
    const setCookies = await startSession(trx, deps, { ...start, amr });
    await giveBack?.(trx);
    return setCookies;
  });
  if (done !== 'taken') deps.metrics.countSignUp(passkey ? 'passkey' : 'password');
  return done;
}

type Credential = { newPassword: string } | { passkey: string };

type NewCredential = Partial<
  Awaited<ReturnType<typeof hashNewPassword>> & { passkey: Awaited<ReturnType<typeof readNewPasskey>> }
>;

async function readCredential(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  given: Credential,
  { id, ...link }: Pick<User, 'id' | 'email' | 'name'> & { token: string },
): Promise<NewCredential> {
  if ('passkey' in given) {
    const use = { purpose: 'arrive', userId: id } as const;
    const fields = { name: describeDevice(userAgentOf(request)), passkey: given.passkey };
    return { passkey: await readNewPasskey(deps, request, visit, use, fields) };
  }
  return hashNewPassword(deps, visit, { password: given.newPassword, ...link });
}
