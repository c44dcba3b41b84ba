// The window of a take-back (contract 2.44): the time in which somebody other than the owner may have used the account, as
// seen from one of its mailboxes.
import type { Database } from '../../../db/postgres/client.ts';
import {
  findLastChangeAt,
  findLastWorkingChangeAt,
  findWindowStart,
  listChangesSince,
  type TakeBackChange,
} from '../../../db/tables/take-back-changes.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { takeBackDays } from './notices.ts';

// The database uses this date, too (db/schema.sql): it keeps the time that a suspended user has left, counted from this date.
const timeStandsStillAt = new Date('3000-01-01T00:00:00Z');

/** A link works if it ends after this time. For a suspended user, links work that would if the user were not suspended. */
export const worksUntil = ({ suspendedAt }: Pick<User, 'suspendedAt'>, now: Date): Date =>
  suspendedAt ? timeStandsStillAt : now;

/**
 * When the window begins, or undefined if no link to that mailbox works. Changes from before an earlier take-back do not count.
 */
export const findWindowSince = (
  db: Database,
  user: Pick<User, 'id' | 'suspendedAt'>,
  email: string,
  now: Date,
): Promise<Date | undefined> =>
  findWindowStart(db, { userId: user.id, email, worksUntil: worksUntil(user, now), days: takeBackDays });

/** What happened in a window: the newest changes, and how many came before. It does not say where, nor to which address. */
export type Happenings = { shown: Pick<TakeBackChange, 'what' | 'at' | 'device'>[]; earlier: number };

const maxShown = 50;

/** Lists what happened since then, in order of time. */
export async function listHappenings(db: Database, userId: string, since: Date): Promise<Happenings> {
  const { newest, count } = await listChangesSince(db, { userId, since, limit: maxShown });
  return { shown: newest.reverse(), earlier: count - newest.length };
}

/**
 * The time for a change that a mailbox is told of, and for all that is stored with it. It is later than each such change of
 * the user before, so no instance's clock decides what came first. The caller has locked the user.
 */
export async function findTimeOfChange(
  trx: Database,
  { now: clock }: Pick<Dependencies, 'now'>,
  userId: string,
): Promise<Date> {
  const [now, last] = [clock(), await findLastChangeAt(trx, userId)];
  return last && last >= now ? new Date(last.getTime() + 1) : now;
}

/** When the last mail with a take-back link that still works was written. For pages that may have shut out the owner. */
export const findTakeBackHint = (
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  userId: string,
): Promise<Date | undefined> => findLastWorkingChangeAt(db, { userId, worksUntil: now() });
