// The window of a take-back (contract section 2): since when what was done with an account may have been somebody else's
// doing, as seen from one of its mailboxes.
import type { Database } from '../../db/postgres/client.ts';
import { findLastChangeAt, listTakeBackChanges, type TakeBackChange } from '../../db/take-back-changes.ts';
import type { User } from '../../db/users.ts';
import { daysAfter } from '../instant.ts';
import type { Services } from '../services.ts';
import { takeBackDays } from './notices.ts';

/** What happened in it, without where and to which address. */
export type Happening = Pick<TakeBackChange, 'what' | 'at' | 'device'>;

export type Window = { since: Date; happened: Happening[] };

// As the database has it (m020-take-back): what is left of the time of a suspended user is counted from then.
const timeStandsStillAt = new Date('3000-01-01T00:00:00Z');

type Clock = { user: Pick<User, 'suspendedAt'>; now: Date };

/** Those whose links still work, or would if the user were not suspended. */
export const listWorking = (changes: TakeBackChange[], { user, now }: Clock): TakeBackChange[] =>
  changes.filter(({ expiresAt }) => expiresAt > (user.suspendedAt ? timeStandsStillAt : now));

/**
 * It begins with the first change that was told to this mailbox in the seven days before the oldest one whose link to it
 * still works. Undefined where none does. `changes` are all of the user, the oldest first; those from before an earlier
 * take-back are gone.
 */
export function findWindow(changes: TakeBackChange[], email: string, clock: Clock): Window | undefined {
  const told = changes.filter((change) => change.email === email);
  const oldest = listWorking(told, clock)[0];
  if (!oldest) return undefined;
  // By when their links end, and not by when they were: while a user is suspended, time stands still.
  const from = daysAfter(oldest.expiresAt, -takeBackDays);
  const first = told.find(({ expiresAt }) => expiresAt >= from) ?? oldest;
  const happened = changes
    .filter(({ at }) => at >= first.at)
    .map(({ what, at, device }) => ({ what, at, device }));
  return { since: first.at, happened };
}

/**
 * The time of a change that a mailbox is told of, and of all that is stored with it: later than each such change of the user
 * before, so that no instance's clock decides what came first. The caller has locked the user.
 */
export async function findTimeOfChange(
  trx: Database,
  { now: clock }: Pick<Services, 'now'>,
  userId: string,
): Promise<Date> {
  const [now, last] = [clock(), await findLastChangeAt(trx, userId)];
  return last && last >= now ? new Date(last.getTime() + 1) : now;
}

/** When the last mail with a take-back link that still works was written, for pages where somebody may be shut out. */
export async function findTakeBackHint(
  { db, now }: Pick<Services, 'db' | 'now'>,
  userId: string,
): Promise<Date | undefined> {
  const changes = await listTakeBackChanges(db, userId);
  return changes.findLast(({ expiresAt }) => expiresAt > now())?.at;
}
