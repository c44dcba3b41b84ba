// Procedures for the billing pages. Programs cannot call them.
import { z } from 'zod';
import { documentSorts } from '../../../../db/tables/own-documents.ts';
import { describeOwnBilling, hasOwnOverdue } from '../../../billing/customers/own-billing.ts';
import {
  confirmInvoiceEmail,
  findInvoiceEmail,
  findUndecidedInvoiceEmail,
  keepOwnInvoiceEmail,
  mailInvoiceEmailAgain,
} from '../../../billing/customers/own-details.ts';
import { choice } from '../acts.ts';
import { anonymous, lookUp, person, router } from '../init.ts';

const link = z.object({ token: z.string() });

export const billingPagesRouter = router({
  /**
   * Returns null until the user's email address is proved. `before` is the number of the document with which the previous page
   * ended.
   */
  describe: person
    .input(
      z
        .object({
          before: z
            .string()
            .regex(/^[A-Z0-9-]{1,40}$/)
            .optional(),
          sort: choice('sort', documentSorts),
        })
        .optional(),
    )
    .query(async ({ ctx, input }) => (await describeOwnBilling(ctx.deps, ctx, input)) ?? null),
  /** Returns false without a full session. */
  hasOverdue: anonymous.query(async ({ ctx }) => {
    const found = await lookUp(ctx);
    return found?.state === 'live' && hasOwnOverdue(ctx.deps, found.user);
  }),
  /** Returns the address for invoices that nobody in the account has decided about, or null. */
  findUndecided: person.query(async ({ ctx }) => (await findUndecidedInvoiceEmail(ctx.deps, ctx)) ?? null),
  keepInvoiceEmail: person
    .meta({ access: 'confirmed' })
    .input(z.object({ email: z.string() }))
    .mutation(({ ctx, input }) => keepOwnInvoiceEmail(ctx.deps, ctx, input.email)),
  mailInvoiceEmail: person
    .meta({ access: 'confirmed' })
    .mutation(({ ctx }) => mailInvoiceEmailAgain(ctx.deps, ctx)),
});

/** Somebody who reads the mailbox for invoices need not be logged in. */
export const invoiceEmailRouter = router({
  find: anonymous
    .input(link)
    .query(async ({ ctx, input }) => (await findInvoiceEmail(ctx.deps, input.token)) ?? null),
  confirm: anonymous
    .input(link)
    .mutation(({ ctx, input }) => confirmInvoiceEmail(ctx.deps, ctx.visit, input.token)),
});
