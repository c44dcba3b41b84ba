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
import { trailOf } from '../ground/trail.ts';
import { isConfirmed, type LiveSession, type LoggedInSession } from './sessions.ts';

/** Somebody who is logged in, whatever they have to do first, and the request they make. */
export type AnyActor = { session: LoggedInSession; request: Request; visit: Visit };

/** Somebody to whom all of their account is open. */
export type Actor = AnyActor & { session: LiveSession };

declare const confirmed: unique symbol;

/** Somebody who gave a credential in this session within ten minutes. Only `requireConfirmed` says so. */
export type Confirmed<Who extends AnyActor> = Who & { readonly [confirmed]: true };

/**
 * Throws 401 `login_required` if no credential was given in that session within ten minutes. Pages have asked for one already
 * ("Confirm it's you"); this is for whoever goes past them.
 */
export function requireConfirmed<Who extends AnyActor>(
  deps: Pick<Dependencies, 'config' | 'now'>,
  actor: Who,
): Confirmed<Who> {
  if (!isConfirmed(deps, actor.session)) throw new AppError('login_required');
  return actor as Confirmed<Who>;
}

/** Their row and account, held until the transaction ends. Throws 401 `login_required` where they are gone. */
export async function lockActor(trx: Transaction<DB>, { session }: Pick<AnyActor, 'session'>): Promise<User> {
  const user = await lockUser(trx, { id: session.user.id });
  if (!user) throw new AppError('login_required');
  return user;
}

/**
 * The same for a change that takes a credential given within ten minutes (contract 9.20). Their session stays open
 * until the transaction ends. Throws 401 `login_required` also where it has ended meanwhile: whoever sits at it must not keep
 * anything by what they sent just before.
 */
export async function lockOpenActor(trx: Transaction<DB>, actor: Pick<AnyActor, 'session'>): Promise<User> {
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
  { session }: Pick<AnyActor, 'session'>,
  name: AllowanceName,
  of = ownerOf(session, name),
): Promise<void> {
  await requireAllowance(db, name, of);
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
  { session, visit }: AnyActor,
  event: ActorEvent,
  of?: string,
): Promise<void> {
  if (event.type in allowances) {
    const name = event.type as AllowanceName;
    await spendAllowance(trx, name, of ?? ownerOf(session, name));
  }
  deferAuditEvent(trx, { ...event, ...trailOf(visit), userId: session.user.id });
}
