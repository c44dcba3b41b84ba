import { z } from 'zod';
import { readLastDays } from '../../billing/customers/own-billing.ts';
import { listOwnActivity } from '../../identity/history/activity.ts';
import { person, router } from './init.ts';

export const activityRouter = router({
  list: person
    .input(
      z.object({ before: z.union([z.uuid(), z.string().regex(/^change-\d{1,18}$/)]).optional() }).optional(),
    )
    .query(async ({ ctx, input }) => {
      const findLastDay = await readLastDays(ctx.deps, ctx.session.user.account.id);
      return listOwnActivity(ctx.deps, ctx, { before: input?.before, findLastDay });
    }),
});
