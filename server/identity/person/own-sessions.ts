import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { listSessions } from '../../../db/tables/live-sessions.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { describeDevice, kindOfDevice } from '../ground/device.ts';
import { requireOwnCredential } from '../password/own-password.ts';
import { type Actor, recordActorEvent } from '../session/actor.ts';
import { isFresh, sessionLimits } from '../session/sessions.ts';

export async function listOwnSessions({ db, now }: Dependencies, { session }: Actor) {
  const sessions = await listSessions(db, session.user.id, sessionLimits(now()));
  return sessions.map(({ userAgent, ...listed }) => ({
    ...listed,
    device: describeDevice(userAgent),
    kind: kindOfDevice(userAgent),
    current: listed.id === session.id,
  }));
}

/** Throws 404 `not_found`. For a session other than the present one, also throws what `endOtherSessions` throws. */
export async function endOwnSession(
  deps: Dependencies,
  actor: Actor,
  { id, currentPassword = '' }: { id: string; currentPassword?: string },
): Promise<void> {
  const { db, now } = deps;
  if (id !== actor.session.id && needsCredentialToEndOthers(deps, actor))
    await requireOwnCredential(deps, actor, currentPassword);
  await inTransactionOf(actor.visit, db, async (trx) => {
    const ended = await endSessions(trx, actor.session.user.id, { id }, now());
    if (ended === 0) throw new AppError('not_found', { detail: faultWords.session_gone });
    await recordActorEvent(trx, actor, { type: 'session.ended' });
  });
}

type Asked = [deps: Pick<Dependencies, 'now'>, actor: Pick<Actor, 'session'>];

/** No credential is needed if the user gave one in the last ten minutes, or if the user has no credential. */
const needsCredentialToEndOthers = (...[{ now }, { session }]: Asked) =>
  hasOwnLogin(session.user) && !isFresh(session, now());

export const needsPasswordToEndOthers = (...[deps, actor]: Asked) =>
  actor.session.user.hasPassword && needsCredentialToEndOthers(deps, actor);

/** Returns how many sessions it ended. Throws 422 `validation_failed` for a wrong or missing password, and 429 `rate_limited`. */
export async function endOtherSessions(
  deps: Dependencies,
  actor: Actor,
  currentPassword = '',
): Promise<number> {
  const { user, id } = actor.session;
  if (needsCredentialToEndOthers(deps, actor)) await requireOwnCredential(deps, actor, currentPassword);
  return inTransactionOf(actor.visit, deps.db, async (trx) => {
    const ended = await endSessions(trx, user.id, { exceptId: id }, deps.now());
    if (ended > 0) await recordActorEvent(trx, actor, { type: 'session.ended_others', details: { ended } });
    return ended;
  });
}
