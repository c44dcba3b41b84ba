// Where the owner is logged in, and ending that.
import { z } from 'zod';
import { endOtherSessions, endOwnSession, listOwnSessions } from '../identity/own-sessions.ts';
import { authenticated, router } from './init.ts';

export const sessionsRouter = router({
  list: authenticated.query(({ ctx }) => listOwnSessions(ctx.services, ctx)),

  end: authenticated
    .input(z.object({ id: z.uuid() }))
    .mutation(({ ctx, input }) => endOwnSession(ctx.services, ctx, input.id)),

  endOthers: authenticated.mutation(async ({ ctx }) => ({
    ended: await endOtherSessions(ctx.services, ctx),
  })),
});
