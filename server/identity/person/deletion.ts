// A user who asks for their account to be deleted has 14 days to change their mind, and is then erased (erase-user.ts).
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { hasOtherAdmin, setDeletionDue } from '../../../db/tables/deletions.ts';
import type { User } from '../../../db/tables/users.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { notify, notifyWithTakeBack } from '../ground/notices.ts';
import { findTimeOfChange } from '../ground/take-back-window.ts';
import { type Actor, type Confirmed, lockActor, lockOpenActor, recordActorEvent } from '../session/actor.ts';

export const graceDays = 14;

export const dueAfter = (now: Date) => daysAfter(now, graceDays);

/** Returns true for an administrator if no other administrator can log in. The caller has locked the user. */
export const isLastAdmin = async (trx: Transaction<DB>, { id, role }: Pick<User, 'id' | 'role'>) =>
  role === 'admin' && !(await hasOtherAdmin(trx, id));

/**
 * A deletion that is planned already keeps its date. Returns `last_admin`, and plans nothing, for the last administrator.
 * Throws 401 `login_required` if the session has ended.
 */
export async function requestDeletion(
  deps: Dependencies,
  actor: Confirmed<Actor>,
): Promise<'planned' | 'last_admin'> {
  const { request, visit } = actor;
  return inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockOpenActor(trx, actor);
    if (user.deletionDueAt) return 'planned';
    if (await isLastAdmin(trx, user)) return 'last_admin';
    const at = await findTimeOfChange(trx, deps, user.id);
    await setDeletionDue(trx, user.id, dueAfter(at));
    await recordActorEvent(trx, actor, { type: 'user.deletion_requested' });
    await notifyWithTakeBack(trx, deps, user, 'deletion_requested', { at, request });
    return 'planned';
  });
}

/** A session without a recent credential is enough, because canceling only keeps things as they were. */
export async function cancelDeletion(deps: Dependencies, actor: Actor): Promise<void> {
  const { request, visit } = actor;
  await inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockActor(trx, actor);
    if (!user.deletionDueAt) return;
    await setDeletionDue(trx, user.id, null);
    await recordActorEvent(trx, actor, { type: 'user.deletion_canceled' });
    await notify(trx, deps, user, 'deletion_canceled', request);
  });
}
