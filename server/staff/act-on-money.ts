// What administrators do with money, and with a contract (contract 7.151 to 7.160): the one way in which each of the acts of
// book-acts.ts is done.
import type { Transaction } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { lockUsers } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import type { Bookkeeper } from '../billing/ledger.ts';
import { trailOf } from '../identity/ground/trail.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { readWhy } from './act.ts';
import { digestSeen, requireRight } from './act-on-books.ts';
import { type RightName, rights, type StaffRole } from './rights.ts';
import { countLook, isStaff, originOf, requireStaffConfirmed, type Staff } from './staff.ts';

/** The fields of the forms, as they arrived. */
export type BookFields = Partial<
  Record<'number' | 'payment' | 'amount' | 'paidAt' | 'method' | 'contract', string>
>;

/** What an act is about: whose it is, and what its form was made from. Ids are null once they are erased. */
export type BookTarget = { accountId: string | null; userId: string | null; seen: unknown };

export type BookAct<Read, Result> = {
  right: RightName;
  /** Takes no lock. Undefined: there is no such invoice, payment or contract. */
  find: (db: Database, given: BookFields) => Promise<BookTarget | undefined>;
  /** Locks what the form was made from, so that `find` finds what is true until the end. */
  lock: (trx: Transaction<DB>, given: BookFields) => Promise<void>;
  /** Reads the fields of the form. Throws 422 `validation_failed`. */
  read: (db: Database, given: BookFields, now: Date) => Promise<Read>;
  /** Does it. It locks what else it changes. */
  do: (trx: Transaction<DB>, read: Read, by: Bookkeeper) => Promise<Result>;
};

/** Whether somebody of the staff may do that to what is of this account: administrators, but nothing of their own account. */
export const mayActOnMoney = (
  right: RightName,
  { role, account }: Staff['session']['user'],
  { accountId }: Pick<BookTarget, 'accountId'>,
): boolean => rights[right][role as StaffRole] === 'everybody' && account.id !== accountId;

/** Throws what contract 12.14 says, in that order. Without `seen` nothing is compared. */
export async function actOnMoney<Read, Result>(
  deps: Dependencies,
  staff: Staff,
  act: BookAct<Read, Result>,
  { why: typed, seen, ...given }: BookFields & { why: string; seen?: string | undefined },
): Promise<Result> {
  const { user: actor, id: sessionId } = staff.session;
  const { db, now } = deps;
  requireRight(staff, act.right);
  const known = await act.find(db, given);
  if (!known) throw new AppError('not_found');
  if (!mayActOnMoney(act.right, actor, known)) throw new AppError('not_allowed');
  requireStaffConfirmed(deps, staff);
  const why = readWhy(typed);
  const read = await act.read(db, given, now());
  if (known.userId) await countLook(deps, staff, known.userId);
  return inTransaction(
    db,
    originOf(staff, why),
    async (trx) => {
      const [present] = await lockUsers(trx, [actor.id]);
      if (!present || !(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
      await act.lock(trx, given);
      const target = await act.find(trx, given);
      if (!target) throw new AppError('not_found');
      if (!isStaff(present) || !mayActOnMoney(act.right, present as typeof actor, target))
        throw new AppError('not_allowed');
      if (seen !== undefined && digestSeen(target.seen) !== seen) throw new AppError('edited_meanwhile');
      const trail = {
        ...trailOf(staff.visit),
        actorId: actor.id,
        why,
        details: { by: 'staff' as const },
      };
      return act.do(trx, read, { now: now(), recordedBy: 'staff', trail });
    },
    { deadline: staff.visit.deadline },
  );
}
