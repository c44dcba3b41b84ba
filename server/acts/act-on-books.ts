// What administrators do with the books, with a contract (contract 7.123, 7.124 and 7.151 to 7.160) and with a mail (contract
// 12.123): the one way to all that is about no person. What is done to people is server/staff/act.ts.
import type { Transaction } from 'kysely';
import { encodeHex } from 'oslo/encoding';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import type { AuditEvent } from '../../db/tables/audit-events.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { lockUsers } from '../../db/tables/users.ts';
import { AppError, type FieldError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { trailOf } from '../identity/ground/trail.ts';
import { sha256 } from '../runtime/hash.ts';
import { mayDo, type RightName, type StaffRole } from './rights.ts';
import { countLook, isStaff, originOf, requireStaffConfirmed, type Staff } from './staff.ts';
import { readWhy } from './why.ts';

/** The fields of the forms, as they arrived. */
export type BookFields = Partial<
  Record<'number' | 'payment' | 'amount' | 'paidAt' | 'method' | 'contract' | 'id', string>
>;

/** What an act is about: whose it is, and what its form was made from. Ids are null if it is nobody's, or once they are erased. */
export type BookTarget = { accountId: string | null; userId: string | null; seen: unknown };

/** What the audit keeps of who does something with money. */
export type BooksTrail = Omit<AuditEvent, 'type' | 'reason' | 'details'> & {
  details: { by: 'payments' | 'staff' | 'cli'; [name: string]: string };
};

/** An administrator, as whoever does it. */
type ByStaff = { now: Date; recordedBy: 'staff'; trail: BooksTrail & { actorId: string; why: string } };

export type BookAct<Read, Result> = {
  right: RightName;
  /** Takes no lock. Undefined: there is no such invoice, payment or contract. */
  find: (db: Database, given: BookFields) => Promise<BookTarget | undefined>;
  /** Locks what the form was made from, so that `find` finds what is true until the end. */
  lock: (trx: Transaction<DB>, given: BookFields) => Promise<unknown>;
  /** Reads the fields of the form. Throws 422 `validation_failed`. */
  read: (db: Database, given: BookFields, now: Date) => Promise<Read>;
  /** Throws 429 `rate_limited`. */
  requireAllowance?: () => Promise<void>;
  /** Does it. It locks what else it changes. */
  do: (trx: Transaction<DB>, read: Read, by: ByStaff) => Promise<Result>;
};

/** What a form that is about this was made from (contract 12.19). */
export const digestSeen = (about: unknown): string => encodeHex(sha256(JSON.stringify(about)));

/** Throws 404 `not_found` for whoever of the staff may not do that, as if it were not there. */
export function requireRight({ session }: Pick<Staff, 'session'>, right: RightName): void {
  if (!mayDo(right, session.user.role)) throw new AppError('not_found');
}

/** Whether somebody of the staff may do that to what is of this account: administrators, but nothing of their own account. */
export const mayActOnBooks = (
  right: RightName,
  { role, account }: Staff['session']['user'],
  { accountId }: Pick<BookTarget, 'accountId'>,
): boolean => mayDo(right, role as StaffRole) && account.id !== accountId;

/** Throws what contract 12.14 says, in that order. Without `seen` nothing is compared. */
export async function actOnBooks<Read, Result>(
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
  if (!mayActOnBooks(act.right, actor, known)) throw new AppError('not_allowed');
  requireStaffConfirmed(deps, staff);
  const { why, read } = await readBoth(typed, () => act.read(db, given, now()));
  if (known.userId) await countLook(deps, staff, { userId: known.userId });
  await act.requireAllowance?.();
  return inTransaction(
    db,
    originOf(staff, why),
    async (trx) => {
      const [present] = await lockUsers(trx, [actor.id]);
      if (!present || !(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
      await act.lock(trx, given);
      const target = await act.find(trx, given);
      if (!target) throw new AppError('not_found');
      if (!isStaff(present) || !mayActOnBooks(act.right, present as typeof actor, target))
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

/** Reads both, so that one answer names all that is wrong. */
async function readBoth<Read>(
  typed: string,
  reads: () => Promise<Read>,
): Promise<{ why: string; read: Read }> {
  const errors: FieldError[] = [];
  const collect = (error: unknown): undefined => {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    errors.push(...error.errors);
  };
  const read = await reads().catch(collect);
  const why = await Promise.resolve(typed).then(readWhy).catch(collect);
  if (errors.length > 0 || why === undefined) throw new AppError('validation_failed', { errors });
  return { why, read: read as Read };
}
