// Changing an email address by a link in a mail to the new address. For seven days only the user can get the old address back.

import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import {
  consumeMailToken,
  deferEndOfMailTokens,
  findAddressToken,
  type MailTokenEnd,
} from '../../../db/tables/mail-tokens.ts';
import { deferMail, deleteUnsentLetters } from '../../../db/tables/mails.ts';
import {
  deferPendingEmailChange,
  deletePendingEmailChange,
  findPendingEmailChange,
  type PendingEmailChange,
} from '../../../db/tables/pending-email-changes.ts';
import { reserveAddress } from '../../../db/tables/reserved-addresses.ts';
import { lockUser, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { keepTrace, voidMails } from '../ground/address-proof.ts';
import { answerAlike } from '../ground/answer-alike.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { malformedEmail, readNewEmailAddress } from '../ground/email-address.ts';
import { notifyWithTakeBack, takeBackDays } from '../ground/notices.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import { hashToken } from '../ground/tokens.ts';
import { tellOwner } from '../person/sign-up.ts';
import {
  type Actor,
  type Confirmed,
  lockActor,
  lockOpenActor,
  recordActorEvent,
  requireOwnAllowance,
} from '../session/actor.ts';

/** Pages show the change for an hour after the request. The link works for an hour after it is sent (server/mail/letters.ts). */
const linkMs = 60 * 60 * 1_000;

export const findObstacle = (user: User): 'unproved' | 'no_credential' | undefined =>
  user.holdsEmail ? (hasOwnLogin(user) ? undefined : 'no_credential') : 'unproved';

/** Throws 403 `email_unverified`. */
export function requireNoObstacle(user: User): void {
  if (findObstacle(user)) throw new AppError('email_unverified');
}

/** Neither the answer nor its time shows whether the new address is taken. Throws 422, 403 `email_unverified` and 429. */
export async function requestEmailChange(
  deps: Dependencies,
  actor: Confirmed<Actor>,
  typed: string,
): Promise<void> {
  const { now } = deps;
  const { session, request, visit } = actor;
  requireNoObstacle(session.user);
  const email = readNewEmailAddress(typed, deps.config);
  if (!email) throw new AppError('validation_failed', { errors: [malformedEmail] });
  await requireNew(deps, session.user, email);
  // Check the user's own allowance first, because a refused request must not count against the limit of mails to the new
  // address.
  await requireOwnAllowance(deps, actor, 'email.change_requested');
  await answerAlike(deps, visit, { email, request }, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (!user.holdsEmail) throw new AppError('login_required');
    await voidChangeMails(trx, user.id, 'newer_link');
    await recordActorEvent(trx, actor, { type: 'email.change_requested' });
    const details = keepTrace(visit.trace);
    const owner = await findAddressOwner(trx, email, now());
    const mail = { kind: 'change_email', userId: user.id, recipient: email } as const;
    if (owner) await tellOwner(trx, deps, { owner, email, details });
    else deferMail(trx, { ...mail, details, now: now() });
    // Storing the mail above may wait for the row of `owner`. An erasure of the owner locks that row first and the pending
    // change second. This transaction must lock them in that order, too, or the two transactions could deadlock.
    const expiresAt = new Date(now().getTime() + linkMs);
    deferPendingEmailChange(trx, { userId: user.id, email, now: now(), expiresAt });
  });
}

async function voidChangeMails(trx: Transaction<DB>, userId: string, by: MailTokenEnd): Promise<void> {
  // Delete unsent mails before the tokens end. If a mail is being sent at this moment, the deletion waits until it is sent, and
  // the next statement then also ends the token in that mail.
  await deleteUnsentLetters(trx, userId, ['change_email']);
  deferEndOfMailTokens(trx, userId, by, 'change_email');
}

/** The result does not show whether somebody else holds the new address. */
export const findOwnEmailChange = (
  { db, now }: Dependencies,
  { session }: Actor,
): Promise<PendingEmailChange | undefined> => findPendingEmailChange(db, session.user.id, now());

export const cancelEmailChange = ({ db }: Dependencies, actor: Actor): Promise<void> =>
  inTransactionOf(actor.visit, db, async (trx) => {
    const user = await lockActor(trx, actor);
    await voidChangeMails(trx, user.id, 'canceled');
    if (await deletePendingEmailChange(trx, user.id))
      await recordActorEvent(trx, actor, { type: 'email.change_canceled' });
  });

/** The user knows both addresses, so the answer may say that they are the same. */
async function requireNew({ db, now }: Dependencies, user: User, email: string): Promise<void> {
  const refuse = (detail: string) => invalidMember('/email', detail);
  if (email === user.email) throw refuse(faultWords.email_same);
  const owner = await findAddressOwner(db, email, now());
  if (owner?.id === user.id) throw refuse(faultWords.email_left);
}

export async function findEmailChange(
  deps: Dependencies,
  actor: Actor,
  token: string,
): Promise<{ email: string; isTaken: boolean } | undefined> {
  const opened = await openToken(deps, actor, token);
  if (!opened) return undefined;
  const owner = await findAddressOwner(deps.db, opened.email, deps.now());
  return { email: opened.email, isTaken: owner !== undefined };
}

/** The token works only in a session of the user. If a stranger gets the mail, their click must not give them the account. */
async function openToken({ db, now }: Dependencies, { session }: Actor, token: string) {
  const key = { tokenHash: hashToken(token), purpose: 'change_email', now: now() } as const;
  const found = await findAddressToken(db, key);
  return found?.userId === session.user.id ? { ...key, ...found } : undefined;
}

/**
 * Returns `taken` if somebody else holds the address by now. Throws 404 `not_found` for a token that does not work in that
 * session.
 */
export async function confirmEmailChange(
  deps: Dependencies,
  actor: Actor,
  token: string,
): Promise<'changed' | 'taken'> {
  const { db, now } = deps;
  const opened = await openToken(deps, actor, token);
  if (!opened) throw new AppError('not_found');
  const { email } = opened;
  return inTransactionOf(actor.visit, db, async (trx) => {
    const user = await lockUser(trx, { id: opened.userId });
    if (!user?.holdsEmail || user.suspendedAt) throw new AppError('not_found');
    if (await findAddressOwner(trx, email, now())) return 'taken';
    if (!(await consumeMailToken(trx, opened))) throw new AppError('not_found');
    const at = await findTimeOfChange(trx, deps, user.id);
    await updateUser(trx, user.id, { email, emailVerifiedAt: at });
    // `notifyWithTakeBack` stores the change that a take-back undoes. Call it before `reserveAddress`: a trigger on reserved
    // addresses would otherwise store a change of its own.
    await notifyWithTakeBack(trx, deps, user, 'email_changed', { at, request: actor.request });
    await reserveAddress(trx, { email: user.email, userId: user.id, expiresAt: daysAfter(at, takeBackDays) });
    await voidMails(trx, user.id, 'address_changed');
    await recordActorEvent(trx, actor, { type: 'email.changed' });
    return 'changed';
  });
}
