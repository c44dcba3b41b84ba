// How many notices a mailbox gets (contract 9.132 to 9.135 and 9.270 to 9.272). One summary mail stands for all further notices: it
// says that more happened and where to look. If a notice with a take-back link is held back, that mail has the link.

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import type { NoticeKind } from '../../../db/tables/mail-kinds.ts';
import { addToSummary, deferMail, findLastSummary, ownSummary } from '../../../db/tables/mails.ts';
import { countChange } from '../../../db/tables/rate-limits.ts';
import { digestOf } from '../../ground/rate-limits.ts';

const hourMs = 60 * 60 * 1_000;

type Limit = { name: string; times: number; windowMs: number };

// Counted by mailbox, not by user: the mailbox fills up, whoever comes and goes with its address.
const limits: Limit[] = [
  { name: 'hour', times: 20, windowMs: hourMs },
  { name: 'day', times: 60, windowMs: 24 * hourMs },
];

/**
 * Kinds that others than the owner can cause: with a signup at the CRM, or in the same account. Each is counted for itself, and
 * held back in a mail of its own, so that nobody uses up the notices about what happens to the owner's login.
 */
const kindsByOthers: NoticeKind[] = ['contract_added', 'invoice_email_changed'];

/** What a notice counts for, and which summary mail it is held back in. */
const groupOf = (kind: NoticeKind): string => (kindsByOthers.includes(kind) ? kind : ownSummary);

const limitsOf = (kind: NoticeKind): Limit[] =>
  kindsByOthers.includes(kind)
    ? [
        { name: `${kind}-hour`, times: 5, windowMs: hourMs },
        { name: `${kind}-day`, times: 20, windowMs: 24 * hourMs },
      ]
    : limits;

type Notice = {
  kind: NoticeKind;
  userId: string;
  recipient: string;
  details: { at: string; device?: string; traceId?: string };
  now: Date;
};

/** What a notice says of its take-back link: the change that the link takes back, and until when the link works. */
type TakeBackLink = { change: string; until: string };

/** Writes the notice or holds it back, in the transaction of the change that the notice tells of. */
export async function insertWithinLimits(
  trx: Transaction<DB>,
  notice: Notice,
  link?: TakeBackLink,
): Promise<void> {
  const details = { ...notice.details, ...link };
  if (await isWithinLimits(trx, notice)) deferMail(trx, { ...notice, details });
  else await holdBack(trx, notice, link);
}

/** Counts a notice. Other transactions that count for this mailbox wait until this one ends. */
async function isWithinLimits(trx: Database, { kind, recipient }: Notice): Promise<boolean> {
  const mailbox = digestOf(recipient);
  for (const { name, ...limit } of limitsOf(kind))
    if (!(await countChange(trx, { key: `notices-${name}:${mailbox}`, ...limit }))) return false;
  return true;
}

/**
 * Holds a notice back in the summary mail, which collects notices until a worker takes it. The next such mail is due
 * an hour later. The first mail with a take-back link does not wait for an earlier mail without a link: a thief in the
 * account could have caused the earlier mail to delay the link.
 */
async function holdBack(trx: Transaction<DB>, notice: Notice, link: TakeBackLink | undefined): Promise<void> {
  const { kind, userId, recipient, now } = notice;
  const rest = { userId, recipient, group: groupOf(kind) };
  const last = await findLastSummary(trx, rest);
  const lastDueAt = link ? last.withLinkDueAt : last.dueAt;
  const dueAt = new Date(Math.max(now.getTime(), lastDueAt ? lastDueAt.getTime() + hourMs : 0));
  if (await addToSummary(trx, { ...rest, dueAt, link: link && { kind, ...link } })) return;
  const details = { at: now.toISOString(), rest: rest.group, ...link };
  deferMail(trx, { kind, userId, recipient, details, now: dueAt });
}
