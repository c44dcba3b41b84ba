// Taking an account back, by the link in a mail that told of a change (contract section 2). Whoever made the change may know
// the password and be logged in, so the owner of the mailbox sets a new password in the same step, gives a factor that is
// left, and nobody else is in from then on.
import type { Transaction } from 'kysely';
import { deferAuditEvent } from '../../db/audit-events.ts';
import { setDeletionDue } from '../../db/deletions.ts';
import { lockExternalLinks } from '../../db/external-links.ts';
import { findTakeBackToken } from '../../db/mail-tokens.ts';
import { deleteUnsentTakeBackMails } from '../../db/mails.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { findReservation, releaseAddresses } from '../../db/reserved-addresses.ts';
import type { DB } from '../../db/schema.ts';
import { countGuess, deleteTakeBackChanges, type Mailboxes } from '../../db/take-back-changes.ts';
import { findUserById, lockUser, type User, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import { daysAfter } from '../instant.ts';
import type { Services } from '../services.ts';
import { trailOf } from './actor.ts';
import { graceDays } from './deletion.ts';
import { readDevice } from './device.ts';
import { findLeftFactors, isAnyLeft, type LeftFactors } from './left-factors.ts';
import { notify, notifyOnceADay } from './notices.ts';
import { type Assertion, checkAssertion, consumePasskey } from './passkey-assertion.ts';
import { endWhatMailsOpened } from './password-by-mail.ts';
import { hashPassword, requireGoodPassword } from './passwords.ts';
import { deleteFactors, type KeptFactor } from './remove-factors.ts';
import { type FactorUse, readFactor } from './second-factor-check.ts';
import { amrOf, endWhatPasswordOpened, startSession } from './sessions.ts';
import { requireNotSuspended } from './suspension.ts';
import { findWindowSince, type Happenings, listHappenings } from './take-back-window.ts';
import { hashToken } from './tokens.ts';
import { PasskeyRefusal } from './webauthn.ts';

/** `changeId`: of what the mailbox was told of. `since`: when the window begins. */
type OpenTakeBack = { user: User; mailbox: string; changeId: string; since: Date; left: LeftFactors };

/** What a link leads to. Throws 404 `not_found` for one that does not work, and 403 where its user is suspended. */
export async function requireTakeBack(
  { db: anyDb, now: clock }: Pick<Services, 'db' | 'now'>,
  token: string,
  /** With a transaction, the user is locked until its end. */
  trx?: Transaction<DB>,
): Promise<OpenTakeBack> {
  const db: Database = trx ?? anyDb;
  const now = clock();
  const key = { tokenHash: hashToken(token), now };
  const found = await findTakeBackToken(db, key);
  if (!found) throw new AppError('not_found');
  const { userId, email: mailbox, changeId } = found;
  const user = await (trx ? lockUser(trx, { id: userId }) : findUserById(db, userId));
  // Another request may have used it while this one waited for the lock.
  if (!user || (trx && !(await findTakeBackToken(db, key)))) throw new AppError('not_found');
  requireNotSuspended(user);
  const isTheirs = mailbox === user.email || (await findReservation(db, { email: mailbox, now })) === userId;
  const since = isTheirs && (await findWindowSince(db, user, mailbox, now));
  if (!since) throw new AppError('not_found');
  return { user, mailbox, changeId, since, left: await findLeftFactors(db, user, since) };
}

/** What /take-back shows: which factors it asks for, if any. */
export type TakeBackPage = {
  email: string;
  happened: Happenings;
  asks: { code: boolean; passkey: boolean } | undefined;
};

/** Undefined for a link that does not work (any more). Uses nothing up. Throws 403 as `requireTakeBack`. */
export async function findTakeBack(services: Services, token: string): Promise<TakeBackPage | undefined> {
  const open = await requireTakeBack(services, token).catch((error) => {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (!open) return undefined;
  const { user, mailbox: email, since, left } = open;
  const happened = await listHappenings(services.db, user.id, since);
  const asks = { code: left.app !== undefined, passkey: left.passkeys.length > 0 };
  return { email, happened, asks: isAnyLeft(left) ? asks : undefined };
}

/**
 * Whether whoever takes the account back from its present mailbox is asked for a factor, if something is told to that now.
 * For /profile/email, before the change.
 */
export async function asksForFactor(
  { db, now: clock }: Pick<Services, 'db' | 'now'>,
  user: User,
): Promise<boolean> {
  const now = clock();
  const since = (await findWindowSince(db, user, user.email, now)) ?? now;
  return isAnyLeft(await findLeftFactors(db, user, since));
}

type Given = { newPassword: string; code?: string | undefined; passkey?: string | undefined };

/**
 * Uses the link up. The result is a new session, the user's only one. Throws 404 `not_found` and 403 as `requireTakeBack`,
 * 422 `validation_failed` at `/newPassword`, `/code` or `/passkey`, 429 `rate_limited` after too many wrong codes, and what
 * `hashPassword` throws; then nothing has changed.
 */
export async function takeBack(
  services: Services,
  request: Request,
  visit: Visit,
  { token, newPassword, ...given }: Given & { token: string },
): Promise<string[]> {
  const { config } = services;
  const { user, mailbox: email, changeId, left } = await requireTakeBack(services, token);
  await requireGoodPassword(newPassword, { config, email, name: user.name });
  const factor = await readGiven(services, request, visit, { changeId, user, left, ...given });
  const passwordHash = await visit.deadline.pause(() => hashPassword(newPassword, visit.signal));
  const setCookies = await inTransactionOf(visit, services.db, async (trx) => {
    await lockExternalLinks(trx, user.id);
    const open = await requireTakeBack(services, token, trx);
    const keeps = await useFactor(trx, services, factor, open.left);
    if (keeps === 'wrong_code') return undefined;
    const { mailbox, since } = open;
    const trail = trailOf(visit);
    const device = readDevice(services, request);
    const change = { user: open.user, mailbox, since, keeps, passwordHash, device };
    const restored = await giveToMailbox(trx, services, { ...change, trail, request });
    const amr = keeps && ('app' in keeps ? amrOf.code : amrOf.passkey);
    await notify(trx, services, restored, 'password_set', request);
    if (factor && 'code' in factor && factor.code.kind === 'recovery_code')
      await notify(trx, services, restored, 'recovery_code_used', request);
    return startSession(trx, services, { user: restored, startedBy: 'mail', amr, request, visit });
  });
  return setCookies ?? refuseCode(services, request, visit, { user, isLast: isLastGuess(factor) });
}

/**
 * Gives the account to a mailbox of its user, as it was before the window. The caller holds links and user, and has seen
 * that the mailbox is theirs. The result is the user as they are then.
 */
export async function giveToMailbox(
  trx: Transaction<DB>,
  services: Pick<Services, 'now'>,
  {
    user,
    mailbox: email,
    since,
    keeps,
    passwordHash,
    device,
    trail,
    request,
  }: {
    user: User;
    mailbox: string;
    since: Date;
    keeps?: KeptFactor | undefined;
    passwordHash: string;
    /** The browser in which it is done, which stays as old as it was; others are forgotten. */
    device?: Uint8Array | undefined;
    trail: Partial<ReturnType<typeof trailOf>> & { details?: Record<string, string> };
    request?: Request;
  },
): Promise<User> {
  const now = services.now();
  const { id: userId, deletionDueAt } = user;
  const released = await releaseAddresses(trx, { email, userId, now });
  await endTakeBackLinks(trx, userId, { of: [email, user.email, ...released.map((each) => each.email)] });
  await updateUser(trx, userId, { email, emailVerifiedAt: now, passwordHash });
  await deleteFactors(trx, userId, { since, keeps });
  await endWhatMailsOpened(trx, services, userId);
  await endWhatPasswordOpened(trx, userId, now, device);
  deferAuditEvent(trx, { ...trail, type: 'account.taken_back', userId });
  if (user.email !== email) await notify(trx, services, user, 'email_change_undone', request);
  const restored = { ...user, email, emailVerifiedAt: now };
  if (deletionDueAt && daysAfter(deletionDueAt, -graceDays) >= since) {
    await setDeletionDue(trx, userId, null);
    deferAuditEvent(trx, { ...trail, type: 'user.deletion_canceled', userId });
    await notify(trx, services, restored, 'deletion_canceled', request);
  }
  const present = await lockUser(trx, { id: userId });
  if (!present) throw new AppError('not_found');
  return present;
}

/** Of a user whom the caller has locked: those sent, and those still to be sent. */
export async function endTakeBackLinks(
  trx: Transaction<DB>,
  userId: string,
  mailboxes: Mailboxes,
): Promise<void> {
  // In this order: a mail that is being sent locks its row, then that of what it tells of.
  await deleteUnsentTakeBackMails(trx, userId, mailboxes);
  await deleteTakeBackChanges(trx, userId, mailboxes);
}

type Factor = { code: FactorUse; isLast: boolean } | { passkey: Assertion } | undefined;

const isLastGuess = (factor: Factor) => factor !== undefined && 'code' in factor && factor.isLast;

/** The factor that was given: a code that may be right, which is counted, or a right passkey. Uses nothing up. */
async function readGiven(
  services: Services,
  request: Request,
  visit: Visit,
  given: Omit<Given, 'newPassword'> & Pick<OpenTakeBack, 'changeId' | 'user' | 'left'>,
): Promise<Factor> {
  const { changeId, user, left, code = '', passkey } = given;
  if (!isAnyLeft(left)) return undefined;
  if (passkey) {
    const use = { purpose: 'take-back', userId: user.id } as const;
    return {
      passkey: await checkAssertion(services, request, visit, use, passkey).catch((error) =>
        refusePasskey(services, visit, error),
      ),
    };
  }
  if (!left.app || code.trim() === '') throw refusalAt(left.app ? '/code' : '/passkey', missing(left));
  const isLast = await countTry(services, visit, changeId);
  const factor = await readFactor(services, user.id, code, { madeBy: left.app.codesMadeBy });
  return factor ? { code: factor, isLast } : refuseCode(services, request, visit, { user, isLast });
}

/** Uses it up. What to keep of the factors added since. The user is locked, and `left` looked at since then. */
async function useFactor(
  trx: Transaction<DB>,
  services: Services,
  factor: Factor,
  left: LeftFactors,
): Promise<KeptFactor | 'wrong_code' | undefined> {
  if (!isAnyLeft(left)) return undefined;
  if (!factor) throw refusalAt(left.app ? '/code' : '/passkey', missing(left));
  if ('passkey' in factor) return requireLeft(trx, services, factor.passkey, left);
  if (!left.app || !(await factor.code.consume(trx))) return 'wrong_code';
  return { app: true };
}

async function requireLeft(
  trx: Transaction<DB>,
  services: Services,
  assertion: Assertion,
  left: LeftFactors,
): Promise<KeptFactor> {
  const refusal = await consumePasskey(trx, services, assertion);
  const { id } = assertion.passkey;
  if (refusal || !left.passkeys.some((each) => each.id === id)) throw wrongPasskey();
  return { passkey: id };
}

const maxGuesses = 30;

/**
 * Counted for what the mailbox was told of, however often the mail was sent, and before the code is looked at. For nothing
 * else: the owner may be guessing where a thief did. Whether it is the last that is looked at, now or at all.
 */
async function countTry(
  { db, takeBackLimits }: Services,
  { address }: Visit,
  changeId: string,
): Promise<boolean> {
  const { isLast } = await takeBackLimits.countTry({ account: changeId, address, device: undefined });
  const guesses = await countGuess(db, { id: changeId, max: maxGuesses });
  if (guesses !== undefined) return isLast || guesses === maxGuesses;
  throw new AppError('rate_limited', {
    detail:
      'Too many wrong codes have been given with this link. Use a passkey, or a link from another of our emails, or freeze the account.',
    headers: { 'Retry-After': String(24 * 60 * 60) },
  });
}

/**
 * Throws 422 `validation_failed` at `/code`. Whoever guesses reads a mailbox of the account, which may be one that its owner
 * has left: the owner is told as at the login, once no more codes are looked at.
 */
async function refuseCode(
  services: Services,
  request: Request,
  visit: Visit,
  { user: { id: userId }, isLast }: { user: User; isLast: boolean },
): Promise<never> {
  await inTransactionOf(visit, services.db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    if (!user) return;
    const refused = { type: 'account.take_back_refused', reason: 'wrong_code', userId };
    deferAuditEvent(trx, { ...trailOf(visit), ...refused });
    if (isLast) await notifyOnceADay(trx, services, user, 'codes_guessed', request);
  });
  throw wrongCode();
}

function refusePasskey({ log }: Services, { address, requestId }: Visit, error: unknown): never {
  if (!(error instanceof PasskeyRefusal)) throw error;
  log.info({ requestId, address, reason: `passkey_${error.reason}` }, 'passkey not accepted');
  throw wrongPasskey();
}

const refusalAt = (pointer: string, detail: string) =>
  new AppError('validation_failed', { detail, errors: [{ pointer, detail }] });

const missing = ({ app, passkeys }: LeftFactors) =>
  app
    ? `Enter a code from your authenticator app, or a recovery code${passkeys.length > 0 ? ', or use a passkey' : ''}.`
    : 'Use a passkey of yours.';

const wrongCode = () => refusalAt('/code', 'This code is not right, or has been used. Enter another one.');

const wrongPasskey = () => refusalAt('/passkey', 'The passkey was not accepted. Try again.');
