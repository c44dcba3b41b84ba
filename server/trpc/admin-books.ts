// What administrators see of billing (contract 7.191 to 7.198).
import { z } from 'zod';
import {
  listHeld,
  listIgnored,
  listIncomplete,
  listOverdue,
  listUnmade,
  sumOpen,
  sumUnallocated,
} from '../../db/tables/book-lists.ts';
import { findBillingPause } from '../../db/tables/restores.ts';
import { minorDigits } from '../billing/currencies.ts';
import { readPreview } from '../billing/preview.ts';
import { signupIdSchema } from '../billing/signup-message.ts';
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
  /** What is open by age, what is overdue, and what waits for somebody: at most 100 of each. Amounts in minor units. */
  summary: allowed('billing.summary').query(async ({ ctx: { deps } }) => {
    const { db, now } = deps;
    const [open, overdue, held, incomplete, ignored, unmade, unallocated, waitsSince] = await Promise.all([
      sumOpen(db, now()),
      listOverdue(db, now()),
      listHeld(db),
      listIncomplete(db),
      listIgnored(db),
      listUnmade(db),
      sumUnallocated(db),
      findBillingPause(db),
    ]);
    const withDigits = <T extends { currency: string }>(each: T) => ({
      ...each,
      minorDigits: minorDigits(each.currency),
    });
    return {
      open: open.map(withDigits),
      overdue: overdue.map(withDigits),
      unallocated: unallocated.map(withDigits),
      ...{ held, incomplete, ignored, unmade },
      /** When the database was restored, while billing waits since then. */
      waitsSince: waitsSince ?? null,
    };
  }),

  /** The documents to come of a contract. Throws 404 `not_found`, or `not_configured` while there is no seller. */
  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx: { deps }, input: { signup, months } }) => readPreview(deps.db, signup, months)),
});
