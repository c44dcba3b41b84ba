// The sessions of somebody who is logged in: where they are, and ending them.
import Bowser from 'bowser';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { endSessions, listSessions } from '../../db/sessions.ts';
import { AppError } from '../errors.ts';
import type { Services } from '../services.ts';
import { type Actor, recordActorEvent } from './actor.ts';
import { sessionLimits } from './sessions.ts';

/** The last seen first; `current` is the one that asks. */
export async function listOwnSessions({ db, now }: Services, { session }: Actor) {
  const sessions = await listSessions(db, session.user.id, sessionLimits(now()));
  return sessions.map(({ userAgent, ...listed }) => ({
    ...listed,
    device: describeDevice(userAgent),
    current: listed.id === session.id,
  }));
}

/** Such as "Firefox on Linux". */
function describeDevice(userAgent: string): string {
  if (!userAgent) return 'Unknown device';
  const { browser, os } = Bowser.parse(userAgent);
  return [browser.name || 'Unknown device', os.name].filter(Boolean).join(' on ');
}

/** Throws 404 `not_found` where the user has no such session, somebody else's included. */
export async function endOwnSession({ db, now }: Services, actor: Actor, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const ended = await endSessions(trx, actor.session.user.id, { id }, now());
    if (ended === 0)
      throw new AppError('not_found', { detail: 'This session does not exist or has already ended.' });
    await recordActorEvent(trx, actor, { type: 'session.ended' });
  });
}

/** How many there were. */
export async function endOtherSessions({ db, now }: Services, actor: Actor): Promise<number> {
  const { user, id } = actor.session;
  return inTransaction(db, async (trx) => {
    const ended = await endSessions(trx, user.id, { exceptId: id }, now());
    await recordActorEvent(trx, actor, { type: 'session.ended_others', details: { ended } });
    return ended;
  });
}
