// The page of a link that takes an account back.
import { z } from 'zod';
import { freeze } from '../../identity/recovery/freeze.ts';
import { findTakeBack, takeBack } from '../../identity/recovery/take-back.ts';
import { anonymous, router, setCookies } from '../init.ts';

const link = z.object({ token: z.string() });

export const takeBackRouter = router({
  find: anonymous
    .input(link)
    .query(async ({ ctx, input }) => (await findTakeBack(ctx.deps, input.token)) ?? null),

  use: anonymous
    .input(
      link.extend({
        newPassword: z.string(),
        code: z.string().optional(),
        passkey: z.string().optional(),
      }),
    )
    .mutation(async ({ ctx, input }) =>
      setCookies(ctx, await takeBack(ctx.deps, ctx.request, ctx.visit, input)),
    ),

  freeze: anonymous
    .input(link)
    .mutation(({ ctx, input }) => freeze(ctx.deps, ctx.request, ctx.visit, input.token)),
});
