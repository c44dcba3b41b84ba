// The window of a take-back, for one mailbox (contract 2.44): the time when a thief may have used the account.
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

// While a user is suspended, their links must not expire. A trigger (db/schema.sql) sets the end of each link to this date plus
// the time that the link had left.
const timeStandsStillAt = new Date('3000-01-01T00:00:00Z');

/** Links that end after the returned time have not expired. While a user is suspended, none of their links expires. */
export const worksUntil = ({ suspendedAt }: Pick<User, 'suspendedAt'>, now: Date): Date =>
  suspendedAt ? timeStandsStillAt : now;

/**
 * Finds when the window of a mailbox began. Undefined if no take-back link to the mailbox works. A change from before an
 * earlier take-back does not begin a window.
 */
export const findWindowSince = (
  db: Database,
  user: Pick<User, 'id' | 'suspendedAt'>,
  email: string,
  now: Date,
): Promise<Date | undefined> =>
  findWindowStart(db, { userId: user.id, email, worksUntil: worksUntil(user, now), days: takeBackDays });

/**
 * `earlier` is the number of changes that came before the ones in `shown`. No change names the place or the IP address that it
 * came from.
 */
export type Happenings = { shown: Pick<TakeBackChange, 'what' | 'at' | 'device'>[]; earlier: number };

const maxShown = 50;

export async function listHappenings(db: Database, userId: string, since: Date): Promise<Happenings> {
  const { newest, count } = await listChangesSince(db, { userId, since, limit: maxShown });
  return { shown: newest.reverse(), earlier: count - newest.length };
}

/**
 * Returns a time after all earlier changes of the user, even if another instance's clock is ahead. The caller has locked the
 * user.
 */
export async function findTimeOfChange(
  trx: Database,
  { now: clock }: Pick<Dependencies, 'now'>,
  userId: string,
): Promise<Date> {
  const [now, last] = [clock(), await findLastChangeAt(trx, userId)];
  return last && last >= now ? new Date(last.getTime() + 1) : now;
}

/**
 * Finds when the last mail with a working take-back link was written. Pages show that time if a thief may have locked the owner
 * out.
 */
export const findTakeBackHint = (
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  userId: string,
): Promise<Date | undefined> => findLastWorkingChangeAt(db, { userId, worksUntil: now() });
