// Freezing an account (contract 2.55 to 2.58): what somebody with a take-back link can do without giving a factor that is
// left. A freeze is a suspension that only an administrator or operator ends (`thaw`), who has found out whose account it is.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { releaseAllAddresses } from '../../../db/tables/reserved-addresses.ts';
import { listToldMailboxes, type ToldMailbox } from '../../../db/tables/take-back-changes.ts';
import { nobodysHash, setUserFrozen, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { takeOutInvoiceEmail } from '../../billing/invoice-email.ts';
import type { Visit } from '../../http/requests.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { deleteFactors } from '../factor/remove-factors.ts';
import { notifyMailbox } from '../ground/notices.ts';
import { findWindowSince, worksUntil } from '../ground/take-back-window.ts';
import { type AuthorTrail, type Recorder, trailOf } from '../ground/trail.ts';
import { isAnyLeft } from './left-factors.ts';
import { endTakeBackLinks, giveToMailbox, requireTakeBack } from './take-back.ts';

/**
 * Freezes an account, and does not use the link up. Throws 404 `not_found` and 403 as `requireTakeBack`, and 400
 * `invalid_request` if no factor is left: then the link is enough to take the account back.
 */
export async function freeze(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  token: string,
): Promise<void> {
  const { db, now } = deps;
  await inTransactionOf(visit, db, async (trx) => {
    const { user, left } = await requireTakeBack(deps, token, trx);
    if (!isAnyLeft(left))
      throw new AppError('invalid_request', { detail: 'Set a new password to take the account back.' });
    for (const { email } of await listMailboxes(trx, user, now()))
      await notifyMailbox(trx, deps, { userId: user.id, email }, 'account_frozen', request);
    await setUserFrozen(trx, user.id, now());
    deferAuditEvent(trx, { ...trailOf(visit), type: 'account.frozen', userId: user.id });
  });
}

/** A mailbox that the account may be given to, and what we told that mailbox. */
export type Mailbox = { email: string; isPresent: boolean; told: Omit<ToldMailbox, 'email'>[] };

/** The user's present address, and every other address with a link that works, or would without the suspension. */
export async function listMailboxes(db: Database, user: User, now: Date): Promise<Mailbox[]> {
  const working = await listToldMailboxes(db, { userId: user.id, worksUntil: worksUntil(user, now), now });
  const emails = new Set([user.email, ...working.map(({ email }) => email)]);
  return [...emails].map((email) => ({
    email,
    isPresent: email === user.email,
    told: working.filter((told) => told.email === email),
  }));
}

type Thaw = { keep: string; removesFactors: boolean; trail: AuthorTrail; record: Recorder };

/**
 * Ends a freeze, and gives the account to the mailbox `keep`. False if `keep` is none of `listMailboxes`. The caller holds
 * links and user, who is frozen.
 */
export async function thaw(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
  { keep, removesFactors, trail, record }: Thaw,
): Promise<boolean> {
  const { id: userId } = user;
  const now = deps.now();
  const mailboxes = await listMailboxes(trx, user, now);
  if (!mailboxes.some(({ email }) => email === keep)) return false;
  for (const { email } of mailboxes) await notifyMailbox(trx, deps, { userId, email }, 'account_thawed');
  await setUserFrozen(trx, userId, null);
  const thawed = { ...user, suspendedAt: null, frozenAt: null };
  record({ type: 'account.thawed', details: { kept: keep === user.email ? 'present' : 'earlier' } });
  if (keep === user.email) {
    await endTakeBackLinks(trx, userId, { except: keep });
    await releaseAllAddresses(trx, userId);
    await takeOutInvoiceEmail(trx, deps, thawed, { trail });
  } else {
    const since = (await findWindowSince(trx, thawed, keep, now)) ?? now;
    await giveToMailbox(trx, deps, {
      user: thawed,
      mailbox: keep,
      since,
      passwordHash: nobodysHash,
      trail: { ...trail, reason: 'thawed' },
    });
  }
  if (removesFactors) {
    await deleteFactors(trx, userId);
    record({ type: 'factors.removed' });
    await notifyMailbox(trx, deps, { userId, email: keep }, 'factors_removed');
    await updateUser(trx, userId, { passwordHash: nobodysHash });
  }
  if (removesFactors || keep !== user.email)
    deferMail(trx, { kind: 'set_password', userId, recipient: keep, details: {}, now });
  return true;
}
