// What administrators see of the business at a glance (contract 12.107 to 12.112).
import { z } from 'zod';
import { getOverview, spans } from '../../staff/overview.ts';
import { router, staff } from './init.ts';

export const adminOverviewRouter = router({
  get: staff
    .input(z.object({ of: z.enum(spans).default('24h') }).default({ of: '24h' }))
    .query(({ ctx, input }) => getOverview(ctx.deps, ctx, input.of)),
});
