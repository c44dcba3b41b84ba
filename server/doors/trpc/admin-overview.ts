// The procedure for what administrators see of the business at a glance (contract 12.107 to 12.110).
import { z } from 'zod';
import { getOverview, spans } from '../../staff/overview.ts';
import { allowed, router } from './init.ts';

export const adminOverviewRouter = router({
  get: allowed('overview.get')
    .input(z.object({ of: z.enum(spans).default('24h') }).default({ of: '24h' }))
    .query(({ ctx, input }) => getOverview(ctx.deps, input.of)),
});
