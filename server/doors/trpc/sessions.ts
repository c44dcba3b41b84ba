import { z } from 'zod';
import { textSchema } from '../../basics/text.ts';
import {
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
  needsPasswordToEndOthers,
} from '../../identity/person/own-sessions.ts';
import { person, router } from './init.ts';

export const sessionsRouter = router({
  list: person.query(({ ctx }) => listOwnSessions(ctx.deps, ctx)),

  end: person
    .input(z.object({ id: z.uuid(), currentPassword: textSchema('currentPassword').optional() }))
    .mutation(async ({ ctx, input }) => {
      await endOwnSession(ctx.deps, ctx, input);
      ctx.headers.set('Clear-Site-Data', '"cache"');
    }),

  endOthersNeeds: person.query(({ ctx }) => ({
    needsPassword: needsPasswordToEndOthers(ctx.deps, ctx),
  })),

  endOthers: person
    .input(z.object({ currentPassword: textSchema('currentPassword').optional() }).optional())
    .mutation(async ({ ctx, input }) => {
      const ended = await endOtherSessions(ctx.deps, ctx, input?.currentPassword);
      ctx.headers.set('Clear-Site-Data', '"cache"');
      return { ended };
    }),
});
