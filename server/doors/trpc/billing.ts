// Procedures for the contracts, invoices and billing details of one's own account. A person whose email address is not proved
// sees none of these.
import { z } from 'zod';
import { listInvoices } from '../../../db/tables/invoices.ts';
import { listContracts } from '../../../db/tables/service-contracts.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { textSchema } from '../../basics/text.ts';
import { presentStatus } from '../../billing/contracts/contract-states.ts';
import { findLastDay } from '../../billing/contracts/last-day.ts';
import { cancelOwnContract, keepOwnContract } from '../../billing/customers/cancel-contract.ts';
import { getOwnDocument } from '../../billing/customers/own-billing.ts';
import { describeOwnDetails, updateOwnDetails } from '../../billing/customers/own-details.ts';
import { findZone } from '../../billing/invoices/issue.ts';
import { person, router } from './init.ts';

/** These procedures refuse wrong input before they ask for a credential. */
const changing = person.meta({ access: 'confirmed' });

const ofContract = z.object({ contract: textSchema('contract') });

export const contractsRouter = router({
  /** Returns the newest first. Amounts are in minor units. Their last `minorDigits` digits come after the decimal point. */
  list: person.query(async ({ ctx: { deps, session } }) => {
    if (!session.user.emailVerifiedAt) return [];
    const [zone, contracts] = await Promise.all([
      findZone(deps.db),
      listContracts(deps.db, session.user.account.id),
    ]);
    return contracts.map((contract) => ({
      id: contract.id,
      plan: contract.plan,
      status: presentStatus(contract, deps.now()),
      trialEndsAt: contract.trialEndsAt,
      cancelsAt: contract.cancelsAt,
      lastDay: findLastDay(zone, contract, deps.now()),
      price: contract.price && { ...contract.price, minorDigits: minorDigits(contract.price.currency) },
    }));
  }),

  /** Cancels a contract. The contract ends with the current period, and a trial ends immediately. */
  cancel: changing
    .input(ofContract)
    .mutation(({ ctx, input }) => cancelOwnContract(ctx.deps, ctx, input.contract)),

  /** Undoes the cancellation. This works until the contract has ended. */
  keep: changing
    .input(ofContract)
    .mutation(({ ctx, input }) => keepOwnContract(ctx.deps, ctx, input.contract)),
});

export const invoicesRouter = router({
  list: person.query(async ({ ctx: { deps, session } }) => {
    if (!session.user.emailVerifiedAt) return [];
    const invoices = await listInvoices(deps.db, session.user.account.id);
    return invoices.map(({ id, contractId, pastDueAt, ...invoice }) => ({
      ...invoice,
      isOverdue: invoice.status === 'open' && invoice.dueAt <= deps.now(),
      minorDigits: minorDigits(invoice.currency),
    }));
  }),

  /** Returns an invoice or a credit note. Throws 404 `not_found` if the account does not have it. */
  get: person
    .input(z.object({ number: textSchema('number') }))
    .query(({ ctx, input }) => getOwnDocument(ctx.deps, ctx, input.number)),
});

/** If a member is not given, it stays as it is. */
const detailsSchema = z
  .object({
    company: textSchema('company'),
    line1: textSchema('line1'),
    line2: textSchema('line2'),
    postcode: textSchema('postcode'),
    city: textSchema('city'),
    country: textSchema('country'),
    vatId: textSchema('vatId'),
    invoiceEmail: textSchema('invoiceEmail'),
  })
  .partial();

export const billingRouter = router({
  /** Throws 403 `email_unverified`. */
  details: person.query(({ ctx }) => describeOwnDetails(ctx.deps, ctx)),

  update: changing.input(detailsSchema).mutation(({ ctx, input }) => updateOwnDetails(ctx.deps, ctx, input)),
});
