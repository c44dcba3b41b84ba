// A change that staff, or an operator by command, make to somebody (contract 12.14 to 12.23): the one way in which each of the
// acts of acts.ts is done.
import type { Transaction } from 'kysely';
import { encodeHex } from 'oslo/encoding';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { lockExternalLinks } from '../../db/tables/external-links.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { findUserById, listUsersOfAccount, lockUsers, type User } from '../../db/tables/users.ts';
import type { ActContext, Author } from '../acts/context.ts';
import { isStaffRole, mayAct } from '../acts/rights.ts';
import { countLook, isStaff, originOf, requireStaffConfirmed, type Staff } from '../acts/staff.ts';
import { readWhy } from '../acts/why.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type AuthorTrail, trailOf } from '../identity/ground/trail.ts';
import { isLastAdmin } from '../identity/person/deletion.ts';
import { sha256 } from '../runtime/hash.ts';
import { type Act, acts, eventOf, type Given, type Intent } from './acts.ts';

/** What every act asks for. `seen` is what the form was made from (`seenOf`). */
export type Asked = { id: string; why: string; seen: string };

/** The SHA-256, in hex, of the JSON of what the act changes. */
export async function seenOf(db: Transaction<DB> | Dependencies['db'], act: Act, target: User, now: Date) {
  return encodeHex(sha256(JSON.stringify(await act.see(db, target, now))));
}

/**
 * Does what somebody of the staff asks for. `nothing`: there was nothing to do. Throws what contract 12.14 says, in that order.
 */
export async function actAsStaff(
  deps: Dependencies,
  staff: Staff,
  intent: Intent,
  { id, why: typed, seen, ...given }: Asked & Given,
): Promise<'done' | 'nothing'> {
  const act: Act = acts[intent];
  const { user: actor, id: sessionId } = staff.session;
  const known = await findPerson(deps, id);
  if (!known) throw new AppError('not_found');
  const others = await listUsersOfAccount(deps.db, known.account.id);
  if (!mayAct(act.right, actor, known, others)) throw new AppError('not_allowed');
  requireStaffConfirmed(deps, staff);
  const why = readWhy(typed);
  const read = act.read(given, deps.config);
  await countLook(deps, staff, { userId: id });
  await act.requireAllowance?.(deps, known);

  return inTransaction(
    deps.db,
    originOf(staff, why),
    async (trx) => {
      if (act.locksLinks) await lockExternalLinks(trx, id);
      const locked = await lockUsers(trx, [actor.id, id]);
      const [present, target] = [actor.id, id].map((each) => locked.find((user) => user.id === each));
      if (!present || !(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
      if (!target) throw new AppError('not_found');
      const othersNow = await listUsersOfAccount(trx, target.account.id);
      if (!isStaff(present) || !mayAct(act.right, present, target, othersNow))
        throw new AppError('not_allowed');
      if ((await seenOf(trx, act, target, deps.now())) !== seen) throw new AppError('edited_meanwhile');
      const author = { by: 'staff', actorId: actor.id, why, visit: staff.visit } as const;
      return doAct(intent, buildContext(trx, deps, target, author), read);
    },
    { deadline: staff.visit.deadline },
  );
}

/** Does what an operator asks for, in the transaction of a command that has locked the person and their links. */
export function actAsOperator(
  trx: Transaction<DB>,
  deps: ActContext['deps'],
  { intent, target, given, author }: { intent: Intent; target: User; given: Given; author: Author },
): Promise<'done' | 'nothing'> {
  const act: Act = acts[intent];
  return doAct(intent, buildContext(trx, deps, target, author), act.read(given, deps.config));
}

async function doAct(intent: Intent, context: ActContext, read: unknown): Promise<'done' | 'nothing'> {
  const act: Act = acts[intent];
  const details = await act.do(context, read);
  if (!details) return 'nothing';
  const { trx, target, trail, author } = context;
  // Only this event says from where, and by which operator: the person reads the others.
  const from = author.by === 'staff' ? trailOf(author.visit) : {};
  const operator = author.by === 'operator' && { operator: author.name, systemUser: author.systemUser };
  deferAuditEvent(trx, {
    ...trail,
    ...from,
    type: eventOf(intent),
    userId: target.id,
    details: { ...trail.details, ...operator, ...details },
  });
  return 'done';
}

function buildContext(
  trx: Transaction<DB>,
  deps: ActContext['deps'],
  target: User,
  author: Author,
): ActContext {
  const trail: AuthorTrail =
    author.by === 'staff'
      ? {
          requestId: author.visit.requestId,
          actorId: author.actorId,
          why: author.why,
          details: { by: 'staff' },
        }
      : { why: author.why, details: { by: 'cli' } };
  return {
    trx,
    deps,
    target,
    author,
    async requireOtherAdmin() {
      if (await isLastAdmin(trx, target)) throw new AppError('last_admin');
    },
    trail,
    record(event) {
      const details = { ...trail.details, ...event.details };
      deferAuditEvent(trx, { ...trail, ...event, userId: target.id, details });
    },
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The person with that id, without a lock. */
export const findPerson = async ({ db }: Pick<Dependencies, 'db'>, id: string): Promise<User | undefined> =>
  uuid.test(id) ? findUserById(db, id) : undefined;

/** The intents that somebody of the staff may use on a person, for their page. */
export const listIntents = (actor: User, target: User, others: Pick<User, 'role'>[]): Intent[] =>
  isStaffRole(actor.role)
    ? (Object.keys(acts) as Intent[]).filter((intent) => mayAct(acts[intent].right, actor, target, others))
    : [];
