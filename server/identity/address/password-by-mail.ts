// Setting a password by the link in a mail (request-password-mail.ts). Using the link also proves the email address.
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner, lockAddressOwner } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { lockExternalLinks, sleepExternalLinks } from '../../../db/tables/external-links.ts';
import { consumeMailToken, type MailTokenEnd } from '../../../db/tables/mail-tokens.ts';
import { deletePendingHandOffs } from '../../../db/tables/pending-hand-offs.ts';
import { lockUser, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { openMailToken, voidMails } from '../ground/address-proof.ts';
import { isNewcomer } from '../ground/customers.ts';
import { readDevice } from '../ground/device.ts';
import { awaitsFirstCredential, isEstablishedBrowser } from '../ground/established-browsers.ts';
import { notify } from '../ground/notices.ts';
import { requireNotSuspended } from '../ground/suspension.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import { trailOf } from '../ground/trail.ts';
import { type LoginStep, startSessionOrAsk } from '../login/pending-login.ts';
import { readNewPasskey, storeNewPasskey } from '../passkey/own-passkeys.ts';
import { hashNewPassword } from '../password/new-password.ts';
import { asksForCode } from '../session/second-factor.ts';
import { endWhatPasswordOpened, passkeyAmr } from '../session/sessions.ts';

export type PasswordMail = {
  email: string;
  /**
   * Says whose password is set. `own`: the password of the user that the mail is for. `holder`: the password of the address's
   * new holder. `taken`: nobody's, because the new holder can log in.
   */
  sets: 'own' | 'holder' | 'taken';
  /**
   * True only for newcomers, who have no credential yet. A passkey added by mail would bypass the credentials of other users.
   */
  mayBePasskey: boolean;
};

export async function findPasswordMail(
  { db, now }: Dependencies,
  token: string,
): Promise<PasswordMail | undefined> {
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) return undefined;
  const holder = await findAddressOwner(db, opened.email, now());
  return {
    email: opened.email,
    sets: whoseIsSet(opened.userId, holder),
    mayBePasskey: !holder || isNewcomer(holder),
  };
}

/** Throws 404 `not_found` if the token does not work, or its user is no newcomer and so may add no passkey by mail. */
export async function requireNewcomer(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  token: string,
): Promise<Pick<User, 'id' | 'email' | 'name'>> {
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) throw new AppError('not_found');
  const holder = await findAddressOwner(db, opened.email, now());
  const sets = whoseIsSet(opened.userId, holder);
  if (sets === 'taken' || (holder && !isNewcomer(holder))) throw new AppError('not_found');
  return holder ?? { ...opened, id: opened.userId };
}

export type NewCredential = { newPassword: string } | { passkey: string; name: string };

type ReadCredential = Partial<
  Awaited<ReturnType<typeof hashNewPassword>> & {
    passkey: { userId: string } & Awaited<ReturnType<typeof readNewPasskey>>;
  }
>;

async function readCredential(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  given: NewCredential,
  opened: { token: string; email: string; name: string },
): Promise<ReadCredential> {
  if ('passkey' in given) {
    const { id: userId } = await requireNewcomer(deps, opened.token);
    const use = { purpose: 'arrive', userId } as const;
    return { passkey: { userId, ...(await readNewPasskey(deps, request, visit, use, given)) } };
  }
  return hashNewPassword(deps, visit, { password: given.newPassword, ...opened });
}

/** The first user who proves a typed address holds it. */
function whoseIsSet(userId: string, holder: User | undefined): PasswordMail['sets'] {
  if (!holder || holder.id === userId) return 'own';
  const hasArrived = !isNewcomer(holder) || holder.emailVerifiedAt !== null;
  return hasArrived ? 'taken' : 'holder';
}

/**
 * Sets the password, or adds a newcomer's first passkey. Returns the user's only session, or a pending login that waits for the
 * code. The user's marketplace links then sleep, because nobody has shown that the links belong to the owner of the email
 * address. If the result is `taken`, nothing changes. Throws 404 `not_found`, 422 `validation_failed`, 403 `account_suspended`,
 * and what `hashNewPassword` throws.
 */
export async function setPasswordByMail(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { token, ...given }: { token: string } & NewCredential,
): Promise<LoginStep | 'taken'> {
  const { db, now } = deps;
  const opened = await openMailToken(db, 'set_password', token, now());
  if (!opened) throw new AppError('not_found');
  // Check this before hashing. A link with the result `taken` is not used up, so somebody could make us hash with it endlessly.
  const owner = await findAddressOwner(db, opened.email, now());
  if (whoseIsSet(opened.userId, owner) === 'taken') return 'taken';
  const credential = await readCredential(deps, request, visit, given, { token, ...opened });
  const { passwordHash, giveBack, passkey } = credential;
  return inTransactionOf(visit, db, async (trx) => {
    await lockExternalLinks(trx, opened.userId);
    const holder = await lockAddressOwner(trx, opened.email, now());
    const sets = whoseIsSet(opened.userId, holder);
    const user = sets === 'own' ? (holder ?? (await lockUser(trx, { id: opened.userId }))) : holder;
    if (user) requireNotSuspended(user);
    if (sets === 'taken') return 'taken';
    if (user?.email !== opened.email) throw new AppError('not_found');
    if (!(await consumeMailToken(trx, opened))) throw new AppError('not_found');
    const isFirstCredential = await awaitsFirstCredential(trx, user);
    await updateUser(trx, user.id, {
      passwordHash,
      holdsEmail: true,
      emailVerifiedAt: user.emailVerifiedAt ?? now(),
    });
    if (passkey) {
      // The user may have got a credential since the first check of this request. A new passkey must not bypass that
      // credential.
      if (!isNewcomer(user) || user.id !== passkey.userId) throw new AppError('not_found');
      const fromEstablishedBrowser =
        isFirstCredential || (await isEstablishedBrowser(trx, deps, request, user.id));
      const at = await findTimeOfChange(trx, deps, user.id);
      await storeNewPasskey(trx, user.id, { ...passkey, fromEstablishedBrowser, at });
    }
    const proved = { ...user, holdsEmail: true };
    await endWhatMailsOpened(trx, deps, user.id, passkey ? 'passkey_added' : 'password_set');
    const type = passkey ? 'passkey.added' : 'password.set';
    deferAuditEvent(trx, { ...trailOf(visit), type, reason: 'by_mail', userId: user.id });
    await notify(trx, deps, proved, passkey ? 'passkey_added' : 'password_set', request);
    const amr = passkey && passkeyAmr;
    // Starting a session would end the old sessions. But a user who must give a code gets no session yet, so the old sessions
    // end here.
    if (asksForCode(user)) await endWhatPasswordOpened(trx, user.id, now(), readDevice(deps, request));
    const start = { user: proved, startedBy: 'mail', amr, isFirstCredential, request, visit } as const;
    const step = await startSessionOrAsk(trx, deps, start);
    if (!user.emailVerifiedAt) await notify(trx, deps, proved, 'email_proved', request);
    // Before the first credential nobody could log in, so no thief can have changed the address for invoices.
    if (!isFirstCredential) await takeOutLateInvoiceEmail(trx, deps, proved, { request, visit });
    await giveBack?.(trx);
    return step;
  });
}

const lateDays = 30;

/** A password set by mail removes an address for invoices that somebody gave within the last `lateDays`. */
export const takeOutLateInvoiceEmail = (
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now' | 'endsWithPerson'>,
  user: User,
  { request, visit }: { request: Request; visit: Visit },
): Promise<void> =>
  deps.endsWithPerson.takeOutInvoiceEmail(trx, deps, user, {
    since: daysAfter(deps.now(), -lateDays),
    trail: trailOf(visit),
    request,
  });

/** The caller has locked the user's links and the user. */
export async function endWhatMailsOpened(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  userId: string,
  by: MailTokenEnd,
): Promise<void> {
  await voidMails(trx, userId, by);
  await sleepExternalLinks(trx, userId, now());
  await deletePendingHandOffs(trx, userId);
}
