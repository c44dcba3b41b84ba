import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../../db/tables/audit-events.ts';
import type { Session } from '../../../db/tables/live-sessions.ts';
import { lockOpenSession } from '../../../db/tables/sessions.ts';
import { lockUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { type AllowanceName, allowances, requireAllowance, spendAllowance } from '../ground/allowances.ts';
import { trailOf } from '../ground/trail.ts';
import { isConfirmed, type LiveSession, type LoggedInSession } from './sessions.ts';

/** A logged-in user and the request that they make. The user may still have to set up a second factor. */
export type AnyActor = { session: LoggedInSession; request: Request; visit: Visit };

export type Actor = AnyActor & { session: LiveSession };

declare const confirmed: unique symbol;

/** A user who gave a credential in this session in the last ten minutes. Only `requireConfirmed` makes this type. */
export type Confirmed<Who extends AnyActor> = Who & { readonly [confirmed]: true };

/**
 * Throws 401 `login_required` if the user must give a credential again. Pages ask for it before. This check stops requests that
 * skip the pages.
 */
export function requireConfirmed<Who extends AnyActor>(
  deps: Pick<Dependencies, 'config' | 'now'>,
  actor: Who,
): Confirmed<Who> {
  if (!isConfirmed(deps, actor.session)) throw new AppError('login_required');
  return actor as Confirmed<Who>;
}

/** Locks the user and their account. Throws 401 `login_required` if the user is gone. */
export async function lockActor(trx: Transaction<DB>, { session }: Pick<AnyActor, 'session'>): Promise<User> {
  const user = await lockUser(trx, { id: session.user.id });
  if (!user) throw new AppError('login_required');
  return user;
}

/**
 * Locks the user for a change that needs a credential given in the last ten minutes (contract 9.19). Throws 401
 * `login_required` if the user is gone or the session has ended, so that a request sent just before the session ended changes
 * nothing.
 */
export async function lockOpenActor(trx: Transaction<DB>, actor: Pick<AnyActor, 'session'>): Promise<User> {
  const user = await lockActor(trx, actor);
  if (!(await lockOpenSession(trx, actor.session.id))) throw new AppError('login_required');
  return user;
}

const ownerOf = ({ id, user }: Session, name: AllowanceName) => (name === 'login.confirmed' ? id : user.id);

/** Call it before a change that costs much work. `of` names the owner of the allowance. Throws 429 `rate_limited`. */
export async function requireOwnAllowance(
  { db }: Pick<Dependencies, 'db'>,
  { session }: Pick<AnyActor, 'session'>,
  name: AllowanceName,
  of = ownerOf(session, name),
): Promise<void> {
  await requireAllowance(db, name, of);
}

/**
 * If the event has an allowance, counts the event. `of` names the allowance's owner. The caller has locked the user. Throws
 * 429.
 */
export async function recordActorEvent(
  trx: Transaction<DB>,
  { session, visit }: AnyActor,
  event: Pick<AuditEvent, 'type' | 'reason' | 'details'>,
  of?: string,
): Promise<void> {
  if (event.type in allowances) {
    const name = event.type as AllowanceName;
    await spendAllowance(trx, name, of ?? ownerOf(session, name));
  }
  deferAuditEvent(trx, { ...event, ...trailOf(visit), userId: session.user.id });
}
