// The window of a take-back (contract 2.44): since when what was done with an account may have been somebody else's
// doing, as seen from one of its mailboxes.
import type { Database } from '../../../db/postgres/client.ts';
import {
  findLastChangeAt,
  findLastWorkingChangeAt,
  findWindowStart,
  listChangesSince,
  type TakeBackChange,
} from '../../../db/tables/take-back-changes.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { takeBackDays } from './notices.ts';

// As the database has it (m020-take-back): what is left of the time of a suspended user is counted from then.
const timeStandsStillAt = new Date('3000-01-01T00:00:00Z');

/** A link works if it ends after that, or would if its user were not suspended. */
export const worksUntil = ({ suspendedAt }: Pick<User, 'suspendedAt'>, now: Date): Date =>
  suspendedAt ? timeStandsStillAt : now;

/** Since when it is. Undefined where no link to that mailbox works. Changes from before an earlier take-back are gone. */
export const findWindowSince = (
  db: Database,
  user: Pick<User, 'id' | 'suspendedAt'>,
  email: string,
  now: Date,
): Promise<Date | undefined> =>
  findWindowStart(db, { userId: user.id, email, worksUntil: worksUntil(user, now), days: takeBackDays });

/** What happened in a window, without where and to which address: the newest of it, and how much came before. */
export type Happenings = { shown: Pick<TakeBackChange, 'what' | 'at' | 'device'>[]; earlier: number };

const maxShown = 50;

/** In the order in which they happened. */
export async function listHappenings(db: Database, userId: string, since: Date): Promise<Happenings> {
  const { newest, count } = await listChangesSince(db, { userId, since, limit: maxShown });
  return { shown: newest.reverse(), earlier: count - newest.length };
}

/**
 * The time of a change that a mailbox is told of, and of all that is stored with it: later than each such change of the user
 * before, so that no instance's clock decides what came first. The caller has locked the user.
 */
export async function findTimeOfChange(
  trx: Database,
  { now: clock }: Pick<Dependencies, 'now'>,
  userId: string,
): Promise<Date> {
  const [now, last] = [clock(), await findLastChangeAt(trx, userId)];
  return last && last >= now ? new Date(last.getTime() + 1) : now;
}

/** When the last mail with a take-back link that still works was written, for pages where somebody may be shut out. */
export const findTakeBackHint = (
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  userId: string,
): Promise<Date | undefined> => findLastWorkingChangeAt(db, { userId, worksUntil: now() });
