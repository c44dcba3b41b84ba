// Freezing an account. A person with a take-back link but without a factor can do it, and so can an administrator whom the
// owner calls (contract 2.55 to 2.58 and 12.171). Only administrators and operators end a freeze or another suspension
// (`thaw`).
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { listReservations, releaseAllAddresses } from '../../../db/tables/reserved-addresses.ts';
import { listToldMailboxes, type ToldMailbox } from '../../../db/tables/take-back-changes.ts';
import { nobodysHash, setUserFrozen, type User, updateUser } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { deleteFactors } from '../factor/remove-factors.ts';
import { notifyMailbox } from '../ground/notices.ts';
import { findWindowSince, worksUntil } from '../ground/take-back-window.ts';
import { type AuthorTrail, type Recorder, trailOf } from '../ground/trail.ts';
import { isAnyLeft } from './left-factors.ts';
import { endTakeBackLinks, giveToMailbox, mayFreeze, requireTakeBack } from './take-back.ts';

/**
 * Does not use the link up. Throws what `requireTakeBack` throws, 400 if no factor remains, and 403 `not_allowed` if another
 * mailbox got the link about the earliest change.
 */
export async function freeze(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  token: string,
): Promise<void> {
  const { db, now } = deps;
  await inTransactionOf(visit, db, async (trx) => {
    const open = await requireTakeBack(deps, token, trx);
    if (!isAnyLeft(open.left))
      throw new AppError('invalid_request', { detail: 'Set a new password to take the account back.' });
    if (!(await mayFreeze(trx, open, now())))
      throw new AppError('not_allowed', { detail: faultWords.told_later });
    await freezeUser(trx, deps, open.user, request);
    deferAuditEvent(trx, { ...trailOf(visit), type: 'account.frozen', userId: open.user.id });
  });
}

/** Freezes a user, even one who is suspended already. The caller has locked the user. */
export async function freezeUser(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
  request?: Request,
): Promise<void> {
  await tellMailboxes(trx, deps, user, 'account_frozen', request);
  await setUserFrozen(trx, user.id, deps.now());
}

async function tellMailboxes(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
  kind: 'account_frozen' | 'account_thawed',
  request?: Request,
): Promise<void> {
  for (const { email, isPresent } of await listMailboxes(trx, user, deps.now()))
    if (!isPresent || user.holdsEmail)
      await notifyMailbox(trx, deps, { userId: user.id, email }, kind, request);
}

export type Mailbox = { email: string; isPresent: boolean; told: Omit<ToldMailbox, 'email'>[] };

/**
 * Lists the current address, then the reserved addresses, earliest first. `told` lists the changes that were reported in mails to
 * that address.
 */
export async function listMailboxes(db: Database, user: User, now: Date): Promise<Mailbox[]> {
  const { id: userId, email: present } = user;
  const [reserved, working] = await Promise.all([
    listReservations(db, { userId, now }),
    listToldMailboxes(db, { userId, worksUntil: worksUntil(user, now), now }),
  ]);
  return [present, ...reserved].map((email) => ({
    email,
    isPresent: email === present,
    told: working.filter((told) => told.email === email),
  }));
}

type Thaw = { keep: string; removesFactors: boolean; trail: AuthorTrail; record: Recorder };

/**
 * Gives the account to the mailbox `keep`. Returns false if `listMailboxes` does not list `keep`. The caller has locked the
 * user's links and the user.
 */
export async function thaw(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now' | 'endsWithPerson'>,
  user: User,
  { keep, removesFactors, trail, record }: Thaw,
): Promise<boolean> {
  const { id: userId } = user;
  const now = deps.now();
  const mailboxes = await listMailboxes(trx, user, now);
  if (!mailboxes.some(({ email }) => email === keep)) return false;
  const isPresent = keep === user.email;
  if (user.frozenAt) await tellMailboxes(trx, deps, user, 'account_thawed');
  else if (!isPresent || user.holdsEmail)
    await notifyMailbox(trx, deps, { userId, email: keep }, 'account_resumed');
  await setUserFrozen(trx, userId, null);
  const thawed = { ...user, suspendedAt: null, frozenAt: null };
  const type = user.frozenAt ? 'account.thawed' : 'user.resumed';
  record({ type, details: { kept: isPresent ? 'present' : 'earlier' } });
  if (isPresent) {
    await endTakeBackLinks(trx, userId, [keep]);
    await releaseAllAddresses(trx, userId);
    await deps.endsWithPerson.takeOutInvoiceEmail(trx, deps, thawed, { trail });
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
  if (removesFactors || !isPresent)
    deferMail(trx, {
      kind: user.holdsEmail ? 'set_password' : 'prove_address',
      userId,
      recipient: keep,
      details: {},
      now,
    });
  return true;
}
