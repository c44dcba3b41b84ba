// What administrators see of billing (contract 7.191 to 7.198, and 12.140 to 12.142).
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
import { minorDigits } from '../billing/currencies.ts';
import { contractStates, invoiceStates, readContracts, readInvoices } from '../billing/lists.ts';
import { readPreview } from '../billing/preview.ts';
import { signupIdSchema } from '../billing/signup-message.ts';
import { textSchema } from '../http/text.ts';
import { requireRight } from '../staff/act-on-books.ts';
import type { RightName } from '../staff/rights.ts';
import { countSearch, recordSearch } from '../staff/staff.ts';
import { router, staff } from './init.ts';

/** Somebody of the staff whose role may do that. To others there is nothing here. */
const allowed = (name: RightName) =>
  staff.use(({ ctx, next }) => {
    requireRight(ctx, name);
    return next();
  });

/** An empty filter is none. */
const filter = (states: readonly string[]) =>
  textSchema('state')
    .refine((state) => state === '' || states.includes(state))
    .transform((state) => state || undefined)
    .optional();

export const adminBooksRouter = router({
  /** A page of contracts, the newest first. They name people, so that each page is a search. */
  contracts: allowed('billing.contracts')
    .input(z.object({ state: filter(contractStates), before: z.uuid().optional() }).default({}))
    .query(async ({ ctx, input }) => {
      await countSearch(ctx.deps, ctx);
      const read = await readContracts(ctx.deps.db, { ...input, now: ctx.deps.now() });
      await recordSearch(ctx.deps, ctx, read.contracts.length);
      return read;
    }),

  /** A page of invoices, likewise. `before` is a `next`. */
  invoices: allowed('billing.invoices')
    .input(
      z
        .object({
          state: filter(invoiceStates),
          before: textSchema('before')
            .refine((text) => /^[1-9]\d{0,14}$/.test(text))
            .transform(Number)
            .optional(),
        })
        .default({}),
    )
    .query(async ({ ctx, input }) => {
      await countSearch(ctx.deps, ctx);
      const read = await readInvoices(ctx.deps.db, { ...input, now: ctx.deps.now() });
      await recordSearch(ctx.deps, ctx, read.invoices.length);
      return { ...read, next: read.next === null ? null : String(read.next) };
    }),

  /** What is open by age, what is overdue, and what waits for somebody: at most 100 of each. Amounts in minor units. */
  summary: allowed('billing.summary').query(async ({ ctx: { deps } }) => {
    const { db, now } = deps;
    const [open, overdue, held, incomplete, ignored, unmade, unallocated] = await Promise.all([
      sumOpen(db, now()),
      listOverdue(db, now()),
      listHeld(db),
      listIncomplete(db),
      listIgnored(db),
      listUnmade(db),
      sumUnallocated(db),
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
    };
  }),

  /** The documents to come of a contract. Throws 404 `not_found`, or `not_configured` while there is no seller. */
  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx: { deps }, input: { signup, months } }) => readPreview(deps.db, signup, months)),
});
