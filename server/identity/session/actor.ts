// Somebody who is logged in, and the request they make: what rules about their own data work with.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../../db/tables/audit-events.ts';
import type { Session } from '../../../db/tables/live-sessions.ts';
import { lockOpenSession } from '../../../db/tables/sessions.ts';
import { lockUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Visit } from '../../http/requests.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import {
  type AllowanceName,
  allowances,
  requireAllowance,
  spendAllowance,
  type withoutAllowance,
} from '../ground/allowances.ts';
import { describeDevice } from '../ground/device.ts';
import { findLiveSession, isConfirmed } from './sessions.ts';

export type Actor = { session: Session; request: Request; visit: Visit };

/** Who is logged in, for changes of their own. Throws 401 `login_required`. */
export async function requireActor(deps: Dependencies, request: Request, visit: Visit): Promise<Actor> {
  const session = await findLiveSession(deps, request, visit);
  if (!session) throw new AppError('login_required');
  return { session, request, visit };
}

/**
 * Throws 401 `login_required` where no credential was given in that session within ten minutes. The page has asked already
 * ("Confirm it's you"); this is for whoever goes past it.
 */
export function requireConfirmed(deps: Dependencies, { session }: Pick<Actor, 'session'>): void {
  if (!isConfirmed(deps, session)) throw new AppError('login_required');
}

/** Their row and account, held until the transaction ends. Throws 401 `login_required` where they are gone. */
export async function lockActor(trx: Transaction<DB>, { session }: Pick<Actor, 'session'>): Promise<User> {
  const user = await lockUser(trx, { id: session.user.id });
  if (!user) throw new AppError('login_required');
  return user;
}

/**
 * The same for a change that takes a credential given within ten minutes (contract 9.20). Their session stays open
 * until the transaction ends. Throws 401 `login_required` also where it has ended meanwhile: whoever sits at it must not keep
 * anything by what they sent just before.
 */
export async function lockOpenActor(trx: Transaction<DB>, actor: Pick<Actor, 'session'>): Promise<User> {
  const user = await lockActor(trx, actor);
  if (!(await lockOpenSession(trx, actor.session.id))) throw new AppError('login_required');
  return user;
}

const ownerOf = ({ id, user }: Session, name: AllowanceName) => (name === 'login.confirmed' ? id : user.id);

/**
 * Before a change that takes some doing, or work of ours. `of` is whose the allowance is, where it is not that of the user, or
 * the session. Throws 429 `rate_limited` where it would be refused.
 */
export async function requireOwnAllowance(
  { db }: Pick<Dependencies, 'db'>,
  { session }: Pick<Actor, 'session'>,
  name: AllowanceName,
  of = ownerOf(session, name),
): Promise<void> {
  await requireAllowance(db, name, of);
}

type Seen = Pick<Visit, 'address' | 'requestId' | 'userAgent' | 'place'>;

/** What an audit event says of the browser that did it. */
export function trailOf({ address, requestId, userAgent, place }: Seen) {
  return { address, requestId, device: userAgent ? describeDevice(userAgent) : undefined, place };
}

/** Each says how often there may be one, or why that needs no saying (allowances.ts). */
type ActorEvent = Pick<AuditEvent, 'reason' | 'details'> & {
  type: AllowanceName | keyof typeof withoutAllowance;
};

/**
 * Counts what has an allowance, which is `of` somebody as in `requireOwnAllowance`. It goes into the transaction that it tells of, once the user is locked. Throws 429
 * `rate_limited`.
 */
export async function recordActorEvent(
  trx: Transaction<DB>,
  { session, visit }: Actor,
  event: ActorEvent,
  of?: string,
): Promise<void> {
  if (event.type in allowances) {
    const name = event.type as AllowanceName;
    await spendAllowance(trx, name, of ?? ownerOf(session, name));
  }
  deferAuditEvent(trx, { ...event, ...trailOf(visit), userId: session.user.id });
}
