// A change of the books by an administrator (contract 7.123 and 7.124): the one way to all that is about money and about no
// person. What it does to people is server/staff/act.ts.
import type { Transaction } from 'kysely';
import { encodeHex } from 'oslo/encoding';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../db/tables/audit-events.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { lockUsers } from '../../db/tables/users.ts';
import { AppError, type FieldError } from '../basics/errors.ts';
import { trailOf } from '../identity/ground/trail.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { sha256 } from '../runtime/hash.ts';
import { readWhy } from './act.ts';
import { isStaffRole, mayDo, type RightName } from './rights.ts';
import { isStaff, originOf, requireStaffConfirmed, type Staff } from './staff.ts';

/** Who changes the books: `name` is `staff`, or that of an operator. */
export type Bookkeeper = {
  name: string;
  actorId: string | null;
  why: string;
  /** Records what was done, with who did it and why. */
  record: (event: Pick<AuditEvent, 'type' | 'reason' | 'details'>) => void;
};

type Asked = { why: string; seen: string };

/** What a form that is about this was made from (contract 12.19). */
export const digestSeen = (about: unknown): string => encodeHex(sha256(JSON.stringify(about)));

/** Throws 404 `not_found` for whoever of the staff may not do that, as if it were not there. */
export function requireRight({ session }: Pick<Staff, 'session'>, right: RightName): void {
  if (!mayDo(right, session.user.role)) throw new AppError('not_found');
}

/**
 * Does what an administrator asks for. `read` reads what they gave, and throws 422; `see` says what the form was made from,
 * once `act` has locked it. Throws what contract 12.14 says, in that order.
 */
export async function actOnBooks<Given, Done>(
  deps: Dependencies,
  staff: Staff,
  { why: typed, seen }: Asked,
  {
    right,
    read,
    requireAllowance,
    lock,
    see,
    act,
  }: {
    right: RightName;
    read: () => Given;
    requireAllowance?: () => Promise<void>;
    lock: (trx: Transaction<DB>) => Promise<unknown>;
    see: (trx: Transaction<DB>) => Promise<unknown>;
    act: (trx: Transaction<DB>, given: Given, by: Bookkeeper) => Promise<Done>;
  },
): Promise<Done> {
  requireRight(staff, right);
  requireStaffConfirmed(deps, staff);
  const { why, given } = readBoth(() => readWhy(typed), read);
  await requireAllowance?.();
  const { session, visit } = staff;
  const actorId = session.user.id;
  return inTransaction(
    deps.db,
    originOf(staff, why),
    async (trx) => {
      const [present] = await lockUsers(trx, [actorId]);
      if (!present || !(await lockOpenSession(trx, session.id))) throw new AppError('login_required');
      if (!isStaff(present) || !isStaffRole(present.role) || !mayDo(right, present.role))
        throw new AppError('not_allowed');
      await lock(trx);
      if (digestSeen(await see(trx)) !== seen) throw new AppError('edited_meanwhile');
      return act(trx, given, {
        name: 'staff',
        actorId,
        why,
        record: ({ details, ...event }) =>
          deferAuditEvent(trx, {
            ...trailOf(visit),
            ...event,
            actorId,
            why,
            details: { by: 'staff', ...details },
          }),
      });
    },
    { deadline: visit.deadline },
  );
}

/** Reads both, so that one answer names all that is wrong. */
function readBoth<Given>(readReason: () => string, read: () => Given): { why: string; given: Given } {
  const errors: FieldError[] = [];
  const collect = <T>(reads: () => T): T | undefined => {
    try {
      return reads();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
      errors.push(...error.errors);
      return undefined;
    }
  };
  const given = collect(read);
  const why = collect(readReason);
  if (errors.length > 0 || why === undefined) throw new AppError('validation_failed', { errors });
  return { why, given: given as Given };
}
