// Limits how many notices a mailbox gets (contract 9.132, 9.133 and 9.270). One summary mail replaces all further notices. The
// summary has a take-back link if one of the notices that it replaces would have had one.

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import type { NoticeKind } from '../../../db/tables/mail-kinds.ts';
import { addToSummary, deferMail, findLastSummary, ownSummary } from '../../../db/tables/mails.ts';
import { countChange } from '../../../db/tables/rate-limits.ts';
import { digestOf } from '../../ground/rate-limits.ts';

const hourMs = 60 * 60 * 1_000;

type Limit = { name: string; times: number; windowMs: number };

// Notices are counted by mailbox, not by user, because a mailbox fills up even if its users change.
const limits: Limit[] = [
  { name: 'hour', times: 20, windowMs: hourMs },
  { name: 'day', times: 60, windowMs: 24 * hourMs },
];

/**
 * Other people can cause these notices. These notices have counts of their own, so that there is room for notices about the
 * owner's login.
 */
const kindsByOthers: NoticeKind[] = ['contract_added', 'invoice_email_changed'];

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
  details: { at: string } & Record<string, string>;
  now: Date;
};

type TakeBackLink = { change: string; until: string };

/** Call it in the transaction of the change that the notice tells of. */
export async function insertWithinLimits(
  trx: Transaction<DB>,
  notice: Notice,
  link?: TakeBackLink,
): Promise<void> {
  const details = { ...notice.details, ...link };
  if (await isWithinLimits(trx, notice)) deferMail(trx, { ...notice, details });
  else await holdBack(trx, notice, link);
}

/** Other transactions that count notices to this mailbox wait until this transaction ends. */
async function isWithinLimits(trx: Database, { kind, recipient }: Notice): Promise<boolean> {
  const mailbox = digestOf(recipient);
  for (const { name, ...limit } of limitsOf(kind))
    if (!(await countChange(trx, { key: `notices-${name}:${mailbox}`, ...limit }))) return false;
  return true;
}

/**
 * A summary with a take-back link waits only for the pause after the last summary that had such a link. Otherwise a thief could
 * first cause a summary without a link, and so delay the link.
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
