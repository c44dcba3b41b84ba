// The procedures for what administrators see of billing (contract 7.191 to 7.198, 12.140 to 12.142, and 12.240 to 12.244).
import { z } from 'zod';
import { contractSorts, invoiceSorts } from '../../../db/tables/staff-lists.ts';
import { searchAsStaff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import { signupIdSchema } from '../../billing/contracts/signup-message.ts';
import { contractStates, invoiceStates } from '../../billing/invoices/lists.ts';
import { readPreview } from '../../billing/invoices/preview.ts';
import { monthSchema, summariseBilling } from '../../billing/invoices/summary.ts';
import { searchContracts, searchInvoices } from '../../staff/find-books.ts';
import { describeForStaff, describePreview, findSearched, listWaiting } from '../../staff/invoices.ts';
import { acceptLines, readStatement, requireImporter } from '../../staff/statements.ts';
import { choice, text } from './acts.ts';
import { allowed, router, staff } from './init.ts';

const q = textSchema('q').optional();

export const adminInvoicesRouter = router({
  /** Returns the newest first, unless `sort` says otherwise. A page of the list names people, so it counts as a search. */
  contracts: allowed('billing.contracts')
    .input(
      z
        .object({
          state: choice('state', contractStates),
          sort: choice('sort', contractSorts),
          q,
          before: z.uuid().optional(),
        })
        .default({}),
    )
    .query(({ ctx, input }) => searchAsStaff(ctx, 'contracts', () => searchContracts(ctx.deps, input))),

  /** Returns the newest first, unless `sort` says otherwise. A page of the list names people, so it counts as a search. */
  invoices: allowed('billing.invoices')
    .input(
      z
        .object({
          state: choice('state', invoiceStates),
          sort: choice('sort', invoiceSorts),
          q,
          /** The `next` of the page before. */
          before: textSchema('before')
            .refine((text) => /^[1-9]\d{0,14}$/.test(text))
            .transform(Number)
            .optional(),
        })
        // Only open invoices have an index by the day they are due.
        .refine(({ state, sort }) => !sort?.endsWith('due') || state === 'open' || state === 'overdue', {
          path: ['sort'],
        })
        .default({}),
    )
    .query(async ({ ctx, input }) => {
      const read = await searchAsStaff(ctx, 'invoices', () => searchInvoices(ctx.deps, input));
      return { ...read, next: read.next === null ? null : String(read.next) };
    }),

  summary: allowed('billing.summary')
    .input(z.object({ before: monthSchema.optional() }).optional())
    .query(({ ctx: { deps }, input }) => summariseBilling(deps, input?.before)),

  /** Returns the future documents of a contract. Throws 404 `not_found`, or `not_configured` if there is no seller. */
  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx: { deps }, input: { signup, months } }) => readPreview(deps.db, signup, months)),
});

export const invoiceFormsRouter = router({
  /** Returns an invoice or a credit note. */
  document: staff
    .input(z.object({ number: text('number') }))
    .query(({ ctx, input }) => describeForStaff(ctx.deps, ctx, input.number)),

  preview: allowed('billing.preview')
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx, input: { signup, months } }) => describePreview(ctx.deps, signup, months)),

  /** Staff may type the number of a document into the search for people. Then this returns the number. */
  searched: staff
    .input(z.object({ q: text('q') }))
    .query(({ ctx, input }) => findSearched(ctx.deps, ctx, input.q)),

  waiting: staff
    .input(z.object({ pays: text('number').optional() }))
    .query(({ ctx, input }) => listWaiting(ctx.deps, ctx, input.pays)),

  mayImport: staff.query(({ ctx }) => requireImporter(ctx)),
  readStatement: staff
    .input(z.object({ bytes: z.instanceof(Uint8Array) }))
    .mutation(({ ctx, input: { bytes } }) => readStatement(ctx.deps, ctx, bytes)),
  acceptLines: staff
    .input(z.object({ lines: z.array(z.string()), accept: z.string(), to: z.string(), why: z.string() }))
    .mutation(({ ctx, input }) => acceptLines(ctx.deps, ctx, input)),
});
