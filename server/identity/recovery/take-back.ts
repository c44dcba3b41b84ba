// Taking an account back by the link in a mail about a change (contract 2.38 to 2.54). A thief may know the password and be
// logged in. So in one step, the owner gives a remaining factor, if there is one, and sets a new password.

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { setDeletionDue } from '../../../db/tables/deletions.ts';
import { lockExternalLinks } from '../../../db/tables/external-links.ts';
import { endTakeBackTokens, findTakeBackToken } from '../../../db/tables/mail-tokens.ts';
import { deleteUnsentTakeBackMails } from '../../../db/tables/mails.ts';
import {
  findReservation,
  listReservations,
  releaseAddresses,
} from '../../../db/tables/reserved-addresses.ts';
import {
  deleteTakeBackChanges,
  findEarliestMailbox,
  lockTakeBackChanges,
} from '../../../db/tables/take-back-changes.ts';
import { findUserById, lockUser, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { endWhatMailsOpened } from '../address/password-by-mail.ts';
import { deleteFactors, type KeptFactors } from '../factor/remove-factors.ts';
import { readDevice } from '../ground/device.ts';
import { notify } from '../ground/notices.ts';
import { requireNotSuspended } from '../ground/suspension.ts';
import { findWindowSince, type Happenings, listHappenings } from '../ground/take-back-window.ts';
import { hashToken } from '../ground/tokens.ts';
import { type AuthorTrail, trailOf } from '../ground/trail.ts';
import { countNewPassword, requireGoodPassword } from '../password/new-password.ts';
import { graceDays } from '../person/deletion.ts';
import { amrOf, endWhatPasswordOpened, startSession } from '../session/sessions.ts';
import { type Asks, consumeFactor, findAsks, type Given, readGiven, refuseCode } from './given-factor.ts';
import { findLeftFactors, isAnyLeft, type LeftFactors } from './left-factors.ts';
import { ifItWorks } from './new-address.ts';

type OpenTakeBack = { user: User; mailbox: string; changeId: string; since: Date; left: LeftFactors };

/** Throws 404 `not_found` for a link that does not work, and 403 if its user is suspended. */
export async function requireTakeBack(
  { db: anyDb, now: clock }: Pick<Dependencies, 'db' | 'now'>,
  token: string,
  trx?: Transaction<DB>,
): Promise<OpenTakeBack> {
  const db: Database = trx ?? anyDb;
  const now = clock();
  const key = { tokenHash: hashToken(token), now };
  const found = await findTakeBackToken(db, key);
  if (!found) throw new AppError('not_found');
  const { userId, email: mailbox, changeId } = found;
  const user = await (trx ? lockUser(trx, { id: userId }) : findUserById(db, userId));
  // Another request may have used the link while this request waited for the lock.
  if (!user || (trx && !(await findTakeBackToken(db, key)))) throw new AppError('not_found');
  requireNotSuspended(user);
  const isTheirs = mailbox === user.email || (await findReservation(db, { email: mailbox, now })) === userId;
  const since = isTheirs && (await findWindowSince(db, user, mailbox, now));
  if (!since) throw new AppError('not_found');
  return { user, mailbox, changeId, since, left: await findLeftFactors(db, user, since) };
}

export type TakeBackPage = {
  email: string;
  happened: Happenings;
  asks: Asks | undefined;
  mayFreeze: boolean;
};

/**
 * Only the mailbox that got the link about the earliest change may freeze the account (contract 2.136). A thief who changes the
 * address twice has a link, too, because the second link goes to the thief's first address.
 */
export async function mayFreeze(
  db: Database,
  { user, mailbox }: Pick<OpenTakeBack, 'user' | 'mailbox'>,
  now: Date,
): Promise<boolean> {
  const working = { userId: user.id, worksUntil: now, now };
  return (await findEarliestMailbox(db, working)) === mailbox;
}

/** Returns undefined for a link that does not work. Throws 403 if the user is suspended. */
export async function findTakeBack(deps: Dependencies, token: string): Promise<TakeBackPage | undefined> {
  const open = await ifItWorks(requireTakeBack(deps, token));
  if (!open) return undefined;
  const { user, mailbox: email, since, left } = open;
  const happened = await listHappenings(deps.db, user.id, since);
  const asks = findAsks(left);
  return {
    email,
    happened,
    asks,
    mayFreeze: asks !== undefined && (await mayFreeze(deps.db, open, deps.now())),
  };
}

/** Returns whether a take-back from the current mailbox would ask for a factor. /profile/email shows this before a change. */
export async function asksForFactor(
  { db, now: clock }: Pick<Dependencies, 'db' | 'now'>,
  user: User,
): Promise<boolean> {
  const now = clock();
  const since = (await findWindowSince(db, user, user.email, now)) ?? now;
  return isAnyLeft(await findLeftFactors(db, user, since));
}

/**
 * Returns `Set-Cookie` values. Throws 404, 403, 422 at `/newPassword`, `/code` or `/passkey`, 429 or 503. If it throws, the
 * account has not changed.
 */
export async function takeBack(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { token, newPassword, ...given }: Given & { token: string },
): Promise<string[]> {
  const { user, mailbox: email, changeId, left } = await requireTakeBack(deps, token);
  const counted = await countNewPassword(deps, visit, { token });
  const typed = { password: newPassword, email, name: user.name };
  const { hash, giveBack } = await requireGoodPassword(deps, visit, counted, typed);
  const link = { purpose: 'take-back', changeId, user, left } as const;
  const factor = await readGiven(deps, request, visit, link, given);
  const passwordHash = await hash();
  const setCookies = await inTransactionOf(visit, deps.db, async (trx) => {
    await lockExternalLinks(trx, user.id);
    const open = await requireTakeBack(deps, token, trx);
    const keeps = await consumeFactor(trx, deps, factor, open.left);
    if (keeps === 'wrong_code') return undefined;
    const { mailbox, since } = open;
    const trail = trailOf(visit);
    const device = readDevice(deps, request);
    const used = hashToken(token);
    const change = { user: open.user, mailbox, since, keeps, passwordHash, device, used };
    const restored = await giveToMailbox(trx, deps, { ...change, trail, request });
    const amr = keeps && ('codeFactors' in keeps ? amrOf.code : amrOf.passkey);
    await notify(trx, deps, restored, 'password_set', request);
    if (factor && 'code' in factor && factor.code.kind === 'recovery_code')
      await notify(trx, deps, restored, 'recovery_code_used', request);
    const session = await startSession(trx, deps, { user: restored, startedBy: 'mail', amr, request, visit });
    await giveBack(trx);
    return session;
  });
  return setCookies ?? refuseCode(deps, request, visit, link, factor);
}

/**
 * Restores the account as it was before the window. The caller has locked the user's links and the user, and checked the
 * mailbox.
 */
export async function giveToMailbox(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now' | 'endsWithPerson'>,
  {
    user,
    mailbox: email,
    since,
    keeps,
    passwordHash,
    device,
    used,
    trail,
    request,
  }: {
    user: User;
    mailbox: string;
    since: Date;
    keeps?: KeptFactors | undefined;
    passwordHash: string;
    /**
     * The browser that takes the account back. It stays known, and stays established if it was. The user's other browsers are
     * forgotten.
     */
    device?: Uint8Array | undefined;
    used?: Uint8Array;
    trail: Partial<ReturnType<typeof trailOf> & AuthorTrail> & { reason?: string };
    request?: Request;
  },
): Promise<User> {
  const now = deps.now();
  const { id: userId, deletionDueAt } = user;
  await releaseAddresses(trx, { email, userId, now });
  // Only addresses that the user had before the kept address are still reserved. Take-back links mailed to these earlier
  // addresses go on working (contract 2.137).
  await endTakeBackLinks(trx, userId, await listReservations(trx, { userId, now }), used);
  await updateUser(trx, userId, { email, emailVerifiedAt: now, passwordHash });
  await deleteFactors(trx, userId, { since, keeps });
  await endWhatMailsOpened(trx, deps, userId, 'taken_back');
  await endWhatPasswordOpened(trx, userId, now, device);
  deferAuditEvent(trx, { ...trail, type: 'account.taken_back', userId });
  if (user.email !== email) await notify(trx, deps, user, 'email_change_undone', request);
  const restored = { ...user, email, emailVerifiedAt: now };
  await deps.endsWithPerson.takeOutInvoiceEmail(trx, deps, user, { trail, request });
  if (deletionDueAt && daysAfter(deletionDueAt, -graceDays) >= since) {
    await setDeletionDue(trx, userId, null);
    deferAuditEvent(trx, { ...trail, type: 'user.deletion_canceled', userId });
    await notify(trx, deps, restored, 'deletion_canceled', request);
  }
  const present = await lockUser(trx, { id: userId });
  if (!present) throw new AppError('not_found');
  return present;
}

/** Ends take-back links to all mailboxes not in `except`, even in unsent mails. The caller has locked the user. */
export async function endTakeBackLinks(
  trx: Transaction<DB>,
  userId: string,
  except: string[],
  used?: Uint8Array,
): Promise<void> {
  // Mails are locked before changes, because sending a mail locks the row of the mail and then the row of its change. Another
  // order could deadlock.
  await deleteUnsentTakeBackMails(trx, userId, except);
  const changeIds = await lockTakeBackChanges(trx, userId, except);
  await endTakeBackTokens(trx, { changeIds, used });
  await deleteTakeBackChanges(trx, userId, except);
}
