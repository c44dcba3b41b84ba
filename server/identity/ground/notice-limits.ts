// How many notices a mailbox gets (contract 9.132 to 9.135). What comes beyond is in one mail about the rest, which says that
// more happened and where to look; where one with a take-back link is held back, that mail has the link.

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import type { NoticeKind } from '../../../db/tables/mail-kinds.ts';
import { deferMail, findLastRest, joinRest } from '../../../db/tables/mails.ts';
import { countChange } from '../../../db/tables/rate-limits.ts';
import { digestOf } from './rate-limits.ts';

const hourMs = 60 * 60 * 1_000;

// By mailbox, and not by user: it is the mailbox that fills up, whoever comes and goes with its address.
const limits = [
  { name: 'hour', times: 20, windowMs: hourMs },
  { name: 'day', times: 60, windowMs: 24 * hourMs },
];

type Notice = {
  kind: NoticeKind;
  userId: string;
  recipient: string;
  details: { at: string; device?: string; traceId?: string };
  now: Date;
};

/** What a notice with a take-back link says of it: to which change, and until when it works. */
type TakeBackLink = { change: string; until: string };

/** Writes the notice, or holds it back, in the transaction that it tells of. */
export async function insertWithinLimits(
  trx: Transaction<DB>,
  notice: Notice,
  link?: TakeBackLink,
): Promise<void> {
  const details = { ...notice.details, ...link };
  if (await isWithinLimits(trx, notice.recipient)) deferMail(trx, { ...notice, details });
  else await holdBack(trx, notice, link);
}

/** Others that count for this mailbox wait from here on until the transaction ends. */
async function isWithinLimits(trx: Database, recipient: string): Promise<boolean> {
  const mailbox = digestOf(recipient);
  for (const { name, ...limit } of limits)
    if (!(await countChange(trx, { key: `notices-${name}:${mailbox}`, ...limit }))) return false;
  return true;
}

/**
 * The mail about the rest takes in what is held back until a worker takes it. The next one is due an hour later; but the
 * first one with a link waits for none without, which whoever is in the account could have had sent.
 */
async function holdBack(trx: Transaction<DB>, notice: Notice, link: TakeBackLink | undefined): Promise<void> {
  const { kind, userId, recipient, now } = notice;
  const last = await findLastRest(trx, { userId, recipient });
  const lastDueAt = link ? last.withLinkDueAt : last.dueAt;
  const dueAt = new Date(Math.max(now.getTime(), lastDueAt ? lastDueAt.getTime() + hourMs : 0));
  if (await joinRest(trx, { userId, recipient, dueAt, link: link && { kind, ...link } })) return;
  // Its kind is for the version before, which sends it as that notice.
  const details = { at: now.toISOString(), rest: 'true', ...link };
  deferMail(trx, { kind, userId, recipient, details, now: dueAt });
}
