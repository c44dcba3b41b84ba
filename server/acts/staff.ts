// Who is staff (contract 12.1 to 12.7), and what a stolen session of theirs can see (contract 12.33 to 12.35).
import { sql } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { deferAuditEvent, findLooks, hasEventOf, recordAuditEvent } from '../../db/tables/audit-events.ts';
import type { User } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { spendAllowance } from '../identity/ground/allowances.ts';
import { trailOf } from '../identity/ground/trail.ts';
import type { Actor } from '../identity/session/actor.ts';
import { hasSecondFactor, needsStaffFactor } from '../identity/session/second-factor.ts';
import {
  type BrowserSession,
  isConfirmed,
  type LiveSession,
  requireLoggedIn,
} from '../identity/session/sessions.ts';
import { isStaffRole, type StaffRole } from './rights.ts';
import { tellOtherAdministrators } from './tell-administrators.ts';

/** Somebody of the staff, and the request they make. Only `requireStaff` says who is. */
export type Staff = Actor & { session: LiveSession & { user: User & { role: StaffRole } } };

const workingDayMs = 12 * 60 * 60 * 1_000;

/** Whether that user is staff, once they have given what staff must give. Staff who are leaving are none. */
export const isStaff = ({ role, deletionDueAt }: Pick<User, 'role' | 'deletionDueAt'>): boolean =>
  isStaffRole(role) && deletionDueAt === null;

/**
 * The session of somebody of the staff. Throws 401 `login_required` without a session, or if the last credential is over 12
 * hours old; 404 `not_found` for anybody else, as if there were nothing here; and 403 `second_factor_required`.
 */
export function requireStaff(
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  found: BrowserSession | undefined,
): Staff['session'] {
  const session = requireLoggedIn(found);
  if (!isStaff(session.user)) throw new AppError('not_found');
  if (session.state === 'must_set_up_factor' || lacksStaffFactor(config, session))
    throw new AppError('second_factor_required');
  if (!session.authTime || session.authTime.getTime() < now().getTime() - workingDayMs)
    throw new AppError('login_required');
  return session as Staff['session'];
}

const lacksStaffFactor = (config: Dependencies['config'], { user, amr }: Pick<LiveSession, 'user' | 'amr'>) =>
  // Also of those who have removed theirs since: their password alone would go on for it.
  needsStaffFactor(config, user) && !(hasSecondFactor(user) && amr.includes('mfa'));

/** Throws 401 `login_required` if no credential was given within ten minutes. */
export function requireStaffConfirmed(deps: Dependencies, { session }: Staff): void {
  if (!isConfirmed(deps, session)) throw new AppError('login_required');
}

const looksAnHour = 300;

/** Who is looked at. A document of somebody who was erased counts as somebody. */
export type LookedAt = { userId: string; number?: string } | { userId: null; number: string };

/**
 * Counts a look at somebody. The first in an hour is audited, with the document that was looked at, if any. Throws 429
 * `rate_limited` for somebody of the staff who has looked at 300 other people within the last hour, and tells the other
 * administrators.
 */
export async function countLook(
  deps: Dependencies,
  staff: Staff,
  { userId, number }: LookedAt,
): Promise<void> {
  const actorId = staff.session.user.id;
  if (userId === actorId) return;
  const waitSeconds = await inTransaction(deps.db, originOf(staff), async (trx) => {
    await lockLooksOf(trx, actorId);
    const { isKnown, people, oldestAgeSeconds } = await findLooks(trx, {
      actorId,
      whom: userId ?? (number as string),
    });
    if (isKnown) return undefined;
    if (people >= looksAnHour) return Math.max(1, Math.ceil(3_600 - oldestAgeSeconds));
    deferAuditEvent(trx, {
      ...trailOf(staff.visit),
      ...{ type: 'staff.looked', actorId },
      ...(userId !== null && { userId }),
      ...(number !== undefined && { details: { number } }),
    });
    return undefined;
  });
  if (waitSeconds === undefined) return;
  await tellOfLimit(deps, staff);
  throw new AppError('rate_limited', { headers: { 'Retry-After': String(waitSeconds) } });
}

/**
 * Reads a list that names people: it counts as a search, and is recorded with how many it has shown, which `name` is the list of. Throws
 * 429 `rate_limited` after 600 in an hour, and tells the other administrators.
 */
export async function searchAsStaff<Name extends string, Found extends Record<Name, unknown[]>>(
  { deps, ...staff }: Staff & { deps: Dependencies },
  name: Name,
  read: () => Promise<Found>,
): Promise<Found> {
  const { id: actorId } = staff.session.user;
  try {
    await spendAllowance(deps.db, 'staff.searched', actorId);
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') await tellOfLimit(deps, staff);
    throw error;
  }
  const found = await read();
  await recordAuditEvent(deps.db, {
    ...{ ...trailOf(staff.visit), type: 'staff.searched', actorId },
    details: { hits: found[name].length },
  });
  return found;
}

/** Tells the other administrators, once a day, whose session has reached a limit. */
const tellOfLimit = (deps: Dependencies, staff: Staff): Promise<void> =>
  inTransaction(deps.db, originOf(staff), async (trx) => {
    const { id: actorId } = staff.session.user;
    await lockLooksOf(trx, actorId);
    if (await hasEventOf(trx, { actorId, type: 'staff.limited', hours: 24 })) return;
    deferAuditEvent(trx, { ...trailOf(staff.visit), type: 'staff.limited', actorId });
    await tellOtherAdministrators(trx, deps, { kind: 'staff_limited', actorId, about: actorId });
  });

const lockLooksOf = (trx: Database, actorId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`looks of ${actorId}`}, 0))`.execute(trx);

/** One file after another is counted. */
export const lockFilesOf = (trx: Database, actorId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`files of ${actorId}`}, 0))`.execute(trx);

export const originOf = ({ session, visit }: Staff, why?: string) =>
  ({
    by: 'staff',
    actor: session.user.id,
    request: visit.requestId,
    ...(why !== undefined && { why }),
  }) as const;
