import { z } from 'zod';
import { listOwnActivity } from '../../identity/history/activity.ts';
import { person, router } from './init.ts';

export const activityRouter = router({
  list: person
    .input(
      z.object({ before: z.union([z.uuid(), z.string().regex(/^change-\d{1,18}$/)]).optional() }).optional(),
    )
    .query(({ ctx, input }) => listOwnActivity(ctx.deps, ctx, input?.before)),
});
