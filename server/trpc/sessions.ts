// The places that this login is active, and ending each.
import Bowser from 'bowser';
import { z } from 'zod';
import { endSessions, listSessions } from '../../db/sessions.ts';
import { inTransaction } from '../../db/transactions.ts';
import { AppError } from '../errors.ts';
import { sessionLimits } from '../identity/sessions.ts';
import { authenticated, router } from './init.ts';

export const sessionsRouter = router({
  /** The last seen first; `current` is the one that asks. */
  list: authenticated.query(async ({ ctx: { services, session } }) => {
    const sessions = await listSessions(services.db, session.user.id, sessionLimits(services.now()));
    return sessions.map(({ userAgent, ...listed }) => ({
      ...listed,
      device: describeDevice(userAgent),
      current: listed.id === session.id,
    }));
  }),

  /** 404 `not_found` where the user has no such session, somebody else's included. */
  end: authenticated
    .input(z.object({ id: z.uuid() }))
    .mutation(async ({ ctx: { services, session, audit }, input }) => {
      await inTransaction(services.db, async (trx) => {
        const ended = await endSessions(trx, session.user.id, { id: input.id }, services.now());
        if (ended === 0)
          throw new AppError('not_found', { detail: 'There is no such login, or it has ended already.' });
        await audit(trx, { type: 'session.ended' });
      });
    }),

  /** How many there were. */
  endOthers: authenticated.mutation(async ({ ctx: { services, session, audit } }) =>
    inTransaction(services.db, async (trx) => {
      const ended = await endSessions(trx, session.user.id, { exceptId: session.id }, services.now());
      await audit(trx, { type: 'session.ended_others', details: { ended } });
      return { ended };
    }),
  ),
});

/** Such as "Firefox on Linux". */
function describeDevice(userAgent: string): string {
  if (!userAgent) return 'Unknown program';
  const { browser, os } = Bowser.parse(userAgent);
  return [browser.name || 'Unknown program', os.name].filter(Boolean).join(' on ');
}
