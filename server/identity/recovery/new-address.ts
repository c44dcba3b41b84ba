// A new address that our support offers to a user who lost their mailbox (contract 12.70 to 12.84). A reader of the old mailbox
// can stop the offer. For seven days after the offer is used, that reader can also take the account back.

import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { lockExternalLinks } from '../../../db/tables/external-links.ts';
import {
  consumeMailToken,
  deferEndOfMailTokens,
  findNewAddressToken,
  type MailTokenEnd,
} from '../../../db/tables/mail-tokens.ts';
import { deferMail, deleteUnsentLetters } from '../../../db/tables/mails.ts';
import {
  deleteNewAddress,
  findNewAddress as findOffer,
  type NewAddress,
  setNewAddress,
} from '../../../db/tables/new-addresses.ts';
import { reserveAddress } from '../../../db/tables/reserved-addresses.ts';
import { findUserById, lockUser, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { endWhatMailsOpened, takeOutLateInvoiceEmail } from '../address/password-by-mail.ts';
import { deleteFactors } from '../factor/remove-factors.ts';
import { notify, notifyWithTakeBack, takeBackDays } from '../ground/notices.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import { hashToken } from '../ground/tokens.ts';
import { trailOf } from '../ground/trail.ts';
import { countNewPassword, findNewPasswordFault, requireGoodPassword } from '../password/new-password.ts';
import { hasSecondFactor } from '../session/second-factor.ts';
import { amrOf, startSession } from '../session/sessions.ts';
import { type Asks, consumeFactor, findAsks, type Given, readGiven, refuseCode } from './given-factor.ts';
import { findLeftFactors, type LeftFactors, noFactors } from './left-factors.ts';

const linkDays = 1;

/** The caller has locked the user, and used `readNewEmailAddress`. Throws 403 `not_allowed` and 409 `email_in_use`. */
export async function offerNewAddress(
  trx: Transaction<DB>,
  { now: clock }: Pick<Dependencies, 'now'>,
  { user, email, removesFactors }: { user: User; email: string; removesFactors: boolean },
): Promise<void> {
  if (!mayHaveNewAddress(user)) throw new AppError('not_allowed');
  const now = clock();
  if (await findAddressOwner(trx, email, now))
    throw new AppError('email_in_use', { detail: faultWords.email_of_other });
  await endLinks(trx, user.id, 'newer_link');
  const offer = { id: uuidv7(), email, askedAt: now, expiresAt: daysAfter(now, linkDays), removesFactors };
  await setNewAddress(trx, { userId: user.id, ...offer });
  const mail = { userId: user.id, details: lane, now };
  // The mail to the old mailbox is sent first, because the new mailbox may belong to a thief.
  if (user.holdsEmail) deferMail(trx, { kind: 'stop_new_address', recipient: user.email, ...mail });
  deferMail(trx, { kind: 'new_address', recipient: email, ...mail });
}

/** Any `until`, even an empty one, puts a mail into the index of mails that people wait for (`mails_awaited_idx`). */
const lane = { until: '' };

export const mayHaveNewAddress = ({ role, suspendedAt }: Pick<User, 'role' | 'suspendedAt'>): boolean =>
  role === 'user' && suspendedAt === null;

/** Ends only the links: the offer stays. The caller has locked the user. */
async function endLinks(trx: Transaction<DB>, userId: string, by: MailTokenEnd): Promise<void> {
  // Delete unsent mails before the tokens end. If a mail is being sent at this moment, the deletion waits until it is sent, and
  // the loop then also ends the token in that mail.
  await deleteUnsentLetters(trx, userId, ['new_address', 'stop_new_address']);
  for (const purpose of ['new_address', 'stop_new_address'] as const)
    deferEndOfMailTokens(trx, userId, by, purpose);
}

export async function describePendingNewAddress(
  db: Database,
  userId: string,
  now: Date,
): Promise<Omit<NewAddress, 'id'> | undefined> {
  const offer = await findOffer(db, userId, now);
  if (!offer) return undefined;
  const { id: _, ...described } = offer;
  return described;
}

type OpenLink = { user: User; mailbox: string; offerId: string; email: string; removesFactors: boolean };

/** Throws 404 `not_found` for a link that does not work. With `trx`, locks the user until the transaction ends. */
async function requireLink(
  { db: anyDb, now: clock }: Pick<Dependencies, 'db' | 'now'>,
  purpose: 'new_address' | 'stop_new_address',
  token: string,
  trx?: Transaction<DB>,
): Promise<OpenLink> {
  const db: Database = trx ?? anyDb;
  const now = clock();
  const key = { tokenHash: hashToken(token), purpose, now };
  const found = await findNewAddressToken(db, key);
  if (!found) throw new AppError('not_found');
  const { userId, email: mailbox } = found;
  const user = await (trx ? lockUser(trx, { id: userId }) : findUserById(db, userId));
  // Another request may have used the link while this request waited for the lock.
  const offer = (!trx || (await findNewAddressToken(db, key))) && (await findOffer(db, userId, now));
  if (!user || !offer || !mayHaveNewAddress(user)) throw new AppError('not_found');
  if (mailbox !== (purpose === 'new_address' ? offer.email : user.email)) throw new AppError('not_found');
  const { id: offerId, email, removesFactors } = offer;
  return { user, mailbox, offerId, email, removesFactors };
}

export async function requireNewAddress(
  deps: Pick<Dependencies, 'db' | 'now'>,
  token: string,
  trx?: Transaction<DB>,
): Promise<OpenLink & { left: LeftFactors }> {
  const open = await requireLink(deps, 'new_address', token, trx);
  // Factors that the link will remove are lost, so nobody can be asked for them.
  return {
    ...open,
    left: open.removesFactors ? noFactors : await findLeftFactors(trx ?? deps.db, open.user),
  };
}

/** Undefined for a link that does not work. */
export const ifItWorks = <Open>(open: Promise<Open>): Promise<Open | undefined> =>
  open.catch((error) => {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  });

/** Does not say whose account it is, because the mail may have gone to a stranger. */
export type NewAddressPage = {
  email: string;
  isTaken: boolean;
  removesFactors: boolean;
  asks: Asks | undefined;
};

export async function findNewAddress(deps: Dependencies, token: string): Promise<NewAddressPage | undefined> {
  const open = await ifItWorks(requireNewAddress(deps, token));
  if (!open) return undefined;
  const { email, removesFactors, left } = open;
  return { email, removesFactors, isTaken: await isTaken(deps.db, open, deps.now()), asks: findAsks(left) };
}

const isTaken = async (db: Database, { email }: OpenLink, now: Date) =>
  (await findAddressOwner(db, email, now)) !== undefined;

/**
 * Returns `Set-Cookie` values, or `taken` if somebody else has the address by now. Throws 404, 422 at `/newPassword`, `/code`
 * or `/passkey`, 429 and 503.
 */
export async function useNewAddress(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { token, newPassword, ...given }: Given & { token: string },
): Promise<string[] | 'taken'> {
  const { db, now } = deps;
  const open = await requireNewAddress(deps, token);
  const { user, email, offerId: changeId, left } = open;
  // Check this before hashing. A link to a taken address is not used up, so somebody could make us hash with it endlessly.
  if (await isTaken(db, open, now())) {
    // This throws if the owner has just used the link and so holds the address.
    await requireNewAddress(deps, token);
    return 'taken';
  }
  // The password is compared with the user's name only after a factor was given. Otherwise a stranger who has the mail could
  // find out the name.
  const counted = await countNewPassword(deps, visit, { token });
  const typed = { password: newPassword, email, name: '' };
  const { hash, giveBack } = await requireGoodPassword(deps, visit, counted, typed);
  const link = { purpose: 'new-address', changeId, user, left } as const;
  const factor = await readGiven(deps, request, visit, link, given);
  // A password with the user's name in it has a fault, but is hashed all the same. A faster answer would tell somebody who has
  // not given a factor that the name is right.
  const faultWithName = await findNewPasswordFault(deps, visit, counted, { ...typed, name: user.name });
  const passwordHash = await hash();
  const setCookies = await inTransactionOf(visit, db, async (trx) => {
    await lockExternalLinks(trx, user.id);
    const present = await requireNewAddress(deps, token, trx);
    if (await isTaken(trx, present, now())) return 'taken';
    const used = await consumeFactor(trx, deps, factor, present.left);
    if (used === 'wrong_code') return used;
    if (faultWithName) throw faultWithName;
    const key = { tokenHash: hashToken(token), purpose: 'new_address', now: now() } as const;
    if (!(await consumeMailToken(trx, { ...key, userId: user.id, email }))) throw new AppError('not_found');
    const changed = await changeAddress(trx, deps, {
      user: present.user,
      email,
      removesFactors: present.removesFactors,
      passwordHash,
      request,
      visit,
    });
    if (factor && 'code' in factor && factor.code.kind === 'recovery_code')
      await notify(trx, deps, changed, 'recovery_code_used', request);
    const amr = used && ('codeFactors' in used ? amrOf.code : amrOf.passkey);
    const session = await startSession(trx, deps, { user: changed, startedBy: 'mail', amr, request, visit });
    await giveBack(trx);
    return session;
  });
  return setCookies === 'wrong_code' ? refuseCode(deps, request, visit, link, factor) : setCookies;
}

async function changeAddress(
  trx: Transaction<DB>,
  deps: Dependencies,
  {
    user,
    email,
    removesFactors,
    passwordHash,
    request,
    visit,
  }: Pick<OpenLink, 'user' | 'email' | 'removesFactors'> & {
    passwordHash: string;
    request: Request;
    visit: Visit;
  },
): Promise<User> {
  const { id: userId } = user;
  await endWhatMailsOpened(trx, deps, userId, 'address_changed');
  if (removesFactors && hasSecondFactor(user)) {
    await deleteFactors(trx, userId);
    deferAuditEvent(trx, { ...trailOf(visit), type: 'factors.removed', userId });
  }
  const at = await findTimeOfChange(trx, deps, userId);
  await updateUser(trx, userId, { email, holdsEmail: true, emailVerifiedAt: at, passwordHash });
  if (user.holdsEmail) {
    // `notifyWithTakeBack` stores the change that a take-back undoes. Call it before `reserveAddress`: a trigger on reserved
    // addresses would otherwise store a change of its own.
    await notifyWithTakeBack(trx, deps, user, 'email_changed', { at, request });
    await reserveAddress(trx, { email: user.email, userId, expiresAt: daysAfter(at, takeBackDays) });
  }
  deferAuditEvent(trx, { ...trailOf(visit), type: 'email.new_address_used', userId });
  const changed = await lockUser(trx, { id: userId });
  if (!changed) throw new AppError('not_found');
  await notify(trx, deps, changed, 'password_set', request);
  await takeOutLateInvoiceEmail(trx, deps, changed, { request, visit });
  return changed;
}

export const canStopNewAddress = async (deps: Dependencies, token: string): Promise<boolean> =>
  (await ifItWorks(requireLink(deps, 'stop_new_address', token))) !== undefined;

/** Throws 404 `not_found`. */
export async function stopNewAddress(deps: Dependencies, visit: Visit, token: string): Promise<void> {
  await inTransactionOf(visit, deps.db, async (trx) => {
    const { user, mailbox: email } = await requireLink(deps, 'stop_new_address', token, trx);
    const key = { tokenHash: hashToken(token), purpose: 'stop_new_address', now: deps.now() } as const;
    if (!(await consumeMailToken(trx, { ...key, userId: user.id, email }))) throw new AppError('not_found');
    await endLinks(trx, user.id, 'canceled');
    await deleteNewAddress(trx, user.id);
    deferAuditEvent(trx, { ...trailOf(visit), type: 'email.new_address_stopped', userId: user.id });
  });
}
