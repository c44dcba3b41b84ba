// What administrators see of billing (contract 7.191 to 7.198, and 12.140 to 12.142).
import { z } from 'zod';
import { searchAsStaff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import { signupIdSchema } from '../../billing/contracts/signup-message.ts';
import { contractStates, invoiceStates, readContracts, readInvoices } from '../../billing/invoices/lists.ts';
import { readPreview } from '../../billing/invoices/preview.ts';
import { monthSchema, summariseBilling } from '../../billing/invoices/summary.ts';
import { describeForStaff, describePreview, listWaiting } from '../../staff/invoices.ts';
import { text } from './acts.ts';
import { allowed, router, staff } from './init.ts';

/** An empty text filters nothing. */
const filter = (states: readonly string[]) =>
  textSchema('state')
    .refine((state) => state === '' || states.includes(state))
    .transform((state) => state || undefined)
    .optional();

export const adminInvoicesRouter = router({
  /** The newest first. A page names people, so it counts as a search. */
  contracts: allowed('billing.contracts')
    .input(z.object({ state: filter(contractStates), before: z.uuid().optional() }).default({}))
    .query(({ ctx, input }) =>
      searchAsStaff(ctx, 'contracts', () => readContracts(ctx.deps.db, { ...input, now: ctx.deps.now() })),
    ),

  /** The newest first. A page names people, so it counts as a search. `before` is the `next` of another page. */
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
      const read = await searchAsStaff(ctx, 'invoices', () =>
        readInvoices(ctx.deps.db, { ...input, now: ctx.deps.now() }),
      );
      return { ...read, next: read.next === null ? null : String(read.next) };
    }),

  summary: allowed('billing.summary')
    .input(z.object({ before: monthSchema.optional() }).optional())
    .query(({ ctx: { deps }, input }) => summariseBilling(deps, input?.before)),

  /** The future documents of a contract. Throws 404 `not_found`, or `not_configured` without a seller. */
  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx: { deps }, input: { signup, months } }) => readPreview(deps.db, signup, months)),
});

export const invoiceFormsRouter = router({
  /** An invoice or a credit note. */
  document: staff
    .input(z.object({ number: text('number') }))
    .query(({ ctx, input }) => describeForStaff(ctx.deps, ctx, input.number)),

  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx, input: { signup, months } }) => describePreview(ctx.deps, signup, months)),

  waiting: staff.query(({ ctx }) => listWaiting(ctx.deps, ctx)),
});
