// What administrators see of billing (contract 7.191 to 7.198).
import { z } from 'zod';
import { readPreview } from '../billing/preview.ts';
import { signupIdSchema } from '../billing/signup-message.ts';
import { monthSchema, summariseBilling } from '../billing/summary.ts';
import { requireRight } from '../staff/act-on-books.ts';
import type { RightName } from '../staff/rights.ts';
import { router, staff } from './init.ts';

/** Somebody of the staff whose role may do that. To others there is nothing here. */
const allowed = (name: RightName) =>
  staff.use(({ ctx, next }) => {
    requireRight(ctx, name);
    return next();
  });

export const adminBooksRouter = router({
  /** What waits for somebody, and what billing brings in: see server/billing/summary.ts. */
  summary: allowed('billing.summary')
    .input(z.object({ before: monthSchema.optional() }).optional())
    .query(({ ctx: { deps }, input }) => summariseBilling(deps, input?.before)),

  /** The documents to come of a contract. Throws 404 `not_found`, or `not_configured` while there is no seller. */
  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx: { deps }, input: { signup, months } }) => readPreview(deps.db, signup, months)),
});
