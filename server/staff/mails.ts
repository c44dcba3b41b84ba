// Mails that have not left, and what administrators do about them (contract 12.120 to 12.129).
import type { Transaction } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { giveUpMail, retryMail } from '../../db/tables/mails.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import {
  findUnsentMail,
  listUnsentMails,
  lockUnsentMail,
  type MailPlace,
  type MailState,
  placeOf,
  type UnsentMail,
} from '../../db/tables/unsent-mails.ts';
import {
  type BookAct,
  type BookFields,
  type BooksTrail,
  type BookTarget,
  digestSeen,
  mayActOnBooks,
} from '../acts/act-on-books.ts';
import type { Staff } from '../acts/staff.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { describeAnswer } from '../mail/describe-answer.ts';
import { sayMailKind } from '../mail/kind-words.ts';
import { leaseMs } from '../mail/outbox.ts';

const pageSize = 50;

export type MailsAsked = {
  state?: MailState | undefined;
  kind?: string | undefined;
  before?: MailPlace | undefined;
};

const stateOf = ({ givenUpAt, lastError }: UnsentMail): MailState =>
  givenUpAt ? 'given_up' : lastError === null ? 'waiting' : 'failed';

/** What forms about it are made from. Further tries change nothing that somebody decides by. */
const seenOfMail = (mail: UnsentMail | undefined) =>
  mail ? { id: mail.id, isGivenUp: mail.givenUpAt !== null } : null;

/** A mail as administrators see it: why it failed without an address, and without anything that a server quoted of the mail. */
export const describeMail = (mail: UnsentMail) => ({
  id: mail.id,
  kind: mail.kind,
  what: sayMailKind(mail.kind),
  recipient: mail.recipient,
  userId: mail.userId,
  state: stateOf(mail),
  createdAt: mail.createdAt,
  attempts: mail.attempts,
  nextTryAt: mail.givenUpAt || mail.isHeld ? null : mail.nextAttemptAt,
  givenUpAt: mail.givenUpAt,
  error: describeAnswer(mail.lastError ?? undefined, mail.recipient) ?? null,
  mustLeave: mail.mustLeave,
  isHeld: mail.isHeld,
});

/** A page of 50, with the names of those whom the mails are to. `next` is null on the last one. */
export async function listMails(
  { db }: Dependencies,
  { session }: Staff,
  { state, kind, before }: MailsAsked,
) {
  const filter = { ...(state && { state }), ...(kind !== undefined && { kind }) };
  const rows = await listUnsentMails(db, { ...filter, after: before, limit: pageSize + 1 });
  const page = rows.slice(0, pageSize);
  const ids = page.map(({ userId }) => userId).filter((id) => id !== null);
  const last = rows.length > pageSize ? page.at(-1) : undefined;
  return {
    mails: page.map((mail) => {
      const isOwn = !mayActOnBooks('mails.retry', session.user, mail);
      const said = describeMail(mail);
      return {
        ...said,
        mayRetry: !isOwn && said.state !== 'waiting' && !said.isHeld,
        mayGiveUp: !isOwn && said.state !== 'given_up' && !mail.mustLeave,
        seen: digestSeen(seenOfMail(mail)),
      };
    }),
    people: await listNames(db, [...new Set(ids)]),
    next: last ? writePlace(placeOf(state, last)) : null,
  };
}

const writePlace = ({ at, id }: MailPlace) => `${at.toISOString()}_${id}`;

/** Where a page begins, as `next` of the page before says. */
export function readPlace(text: string): MailPlace | undefined {
  const [, instant = '', id = ''] =
    /^(\d{4}-\d\d-\d\dT[\d:.]{12}Z)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? undefined : { at, id };
}

export const isMailId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** What has left or is gone is nobody's: what the form was made from has changed then. Undefined: that is no id of a mail. */
async function findTarget(db: Database, { id = '' }: BookFields): Promise<BookTarget | undefined> {
  if (!isMailId(id)) return undefined;
  const mail = await findUnsentMail(db, id);
  return { accountId: mail?.accountId ?? null, userId: mail?.userId ?? null, seen: seenOfMail(mail) };
}

/** Who does something about a mail, and when. */
type By = { now: Date; trail: BooksTrail };

/** Does it, and records it if there was something to do. */
async function actOn(
  trx: Transaction<DB>,
  { id, type, trail }: { id: string; type: 'staff.retry_mail' | 'staff.give_up_mail'; trail: BooksTrail },
  change: () => Promise<boolean>,
): Promise<{ done: boolean }> {
  // Read before: the mail may go.
  const mail = await findUnsentMail(trx, id);
  if (!mail || !(await change())) return { done: false };
  const about = mail.userId !== null && { userId: mail.userId };
  const details = { ...trail.details, mail: id, kind: mail.kind };
  deferAuditEvent(trx, { ...trail, ...about, type, details });
  return { done: true };
}

export const sendAgain = (trx: Transaction<DB>, id: string, { now, trail }: By) =>
  actOn(trx, { id, type: 'staff.retry_mail', trail }, () =>
    retryMail(trx, { id, now, leaseEndsAt: new Date(now.getTime() + leaseMs) }),
  );

/** Throws 403 `not_allowed` for a mail that must leave. */
export async function stopTrying(trx: Transaction<DB>, id: string, { now, trail }: By) {
  await requireMayStop(trx, id);
  return actOn(trx, { id, type: 'staff.give_up_mail', trail }, () => giveUpMail(trx, { id, now }));
}

async function requireMayStop(db: Database, id: string): Promise<void> {
  if ((await findUnsentMail(db, id))?.mustLeave) throw new AppError('not_allowed');
}

const lock = (trx: Transaction<DB>, { id = '' }: BookFields) => lockUnsentMail(trx, id);
const read = async (_db: Database, { id = '' }: BookFields) => id;

export const retryMailAct: BookAct<string, { done: boolean }> = {
  ...{ right: 'mails.retry', find: findTarget, lock, read, do: sendAgain },
};

export const giveUpMailAct: BookAct<string, { done: boolean }> = {
  ...{ right: 'mails.giveUp', lock, read, do: stopTrying },
  async find(db, given) {
    const target = await findTarget(db, given);
    if (target) await requireMayStop(db, given.id ?? '');
    return target;
  },
};
