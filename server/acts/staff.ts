// Checks that a user is staff (contract 12.1 to 12.7), and limits what a stolen session can see (contract 12.33 to 12.35).
import { sql } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { deferAuditEvent, findLooks, hasEventOf, recordAuditEvent } from '../../db/tables/audit-events.ts';
import type { User } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { spendAllowance } from '../identity/ground/allowances.ts';
import { tellOtherAdministrators } from '../identity/ground/tell-administrators.ts';
import { trailOf } from '../identity/ground/trail.ts';
import type { Actor } from '../identity/session/actor.ts';
import { hasSecondFactor, needsStaffFactor } from '../identity/session/second-factor.ts';
import { type BrowserSession, type LiveSession, requireLoggedIn } from '../identity/session/sessions.ts';
import { isStaffRole, type StaffRole } from './rights.ts';

/** An actor whose session `requireStaff` has checked. Only that function decides whether a session belongs to staff. */
export type Staff = Actor & { session: LiveSession & { user: User & { role: StaffRole } } };

const workingDayMs = 12 * 60 * 60 * 1_000;

/** Returns false for staff whose deletion is planned. Does not check the second factor: only `requireStaff` does. */
export const isStaff = ({ role, deletionDueAt }: Pick<User, 'role' | 'deletionDueAt'>): boolean =>
  isStaffRole(role) && deletionDueAt === null;

/** Throws 401 `login_required`, 403 `second_factor_required`, and 404 `not_found` for users who are not staff. */
export function requireStaff(
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  found: BrowserSession | undefined,
): Staff['session'] {
  const session = requireLoggedIn(found);
  if (!isStaff(session.user)) throw new AppError('not_found');
  const { user, amr } = session;
  // If a user has removed their second factor, `amr` of an older session still has `mfa`. So this also checks that the user has
  // a second factor now. Without this check, staff could go on with only the password.
  const lacksFactor = needsStaffFactor(config, user) && !(hasSecondFactor(user) && amr.includes('mfa'));
  if (session.state === 'must_set_up_factor' || lacksFactor) throw new AppError('second_factor_required');
  if (!session.authTime || session.authTime.getTime() < now().getTime() - workingDayMs)
    throw new AppError('login_required');
  return session as Staff['session'];
}

const looksAnHour = 300;

/**
 * Each document of an erased person counts as a person of its own, because nothing says which documents belonged to one person.
 */
export type LookedAt = { userId: string; number?: string } | { userId: null; number: string };

/** Audits the first look at a person in an hour. Past the limit, throws 429 `rate_limited` and tells the other administrators. */
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

/** Counts and audits a search. Past the limit, throws 429 `rate_limited` and tells the other administrators. */
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

/** Tells the other administrators that the actor has reached a limit, at most once a day. */
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

/**
 * Only one transaction at a time may count the files that a member of the staff has downloaded. Otherwise two requests at the
 * same time could exceed the limit.
 */
export const lockFilesOf = (trx: Database, actorId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`files of ${actorId}`}, 0))`.execute(trx);

export const originOf = ({ session, visit }: Staff, why?: string) =>
  ({
    by: 'staff',
    actor: session.user.id,
    request: visit.requestId,
    ...(why !== undefined && { why }),
  }) as const;
