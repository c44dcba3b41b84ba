// The account's service contracts and invoices, read only: the CRM and operators change them. Nobody sees any before their
// address is proved.
import { z } from 'zod';
import { findInvoiceOfAccount, type Invoice, listInvoices } from '../../db/tables/invoices.ts';
import { listContracts } from '../../db/tables/service-contracts.ts';
import { AppError } from '../basics/errors.ts';
import { presentStatus } from '../billing/contract-states.ts';
import { minorDigits } from '../billing/currencies.ts';
import { textSchema } from '../http/text.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { person, router } from './init.ts';

export const contractsRouter = router({
  /** Newest first. Amounts are in minor units; `minorDigits` of their digits come after the decimal point. */
  list: person.query(async ({ ctx: { deps, session } }) => {
    if (!session.user.emailVerifiedAt) return [];
    const contracts = await listContracts(deps.db, session.user.account.id);
    return contracts.map((contract) => ({
      id: contract.id,
      plan: contract.plan,
      status: presentStatus(contract, deps.now()),
      trialEndsAt: contract.trialEndsAt,
      price: contract.price && { ...contract.price, minorDigits: minorDigits(contract.price.currency) },
    }));
  }),
});

export const invoicesRouter = router({
  /** Newest first. */
  list: person.query(async ({ ctx: { deps, session } }) => {
    if (!session.user.emailVerifiedAt) return [];
    const invoices = await listInvoices(deps.db, session.user.account.id);
    return invoices.map((invoice) => describe(deps, invoice));
  }),

  /** The invoice, and whom it is for. Throws 404 `not_found` for an invoice that the account does not have. */
  get: person
    .input(z.object({ number: textSchema('number') }))
    .query(async ({ ctx: { deps, session }, input }) => {
      const { emailVerifiedAt, account } = session.user;
      const invoice = emailVerifiedAt && (await findInvoiceOfAccount(deps.db, input.number, account.id));
      if (!invoice) throw new AppError('not_found');
      return describe(deps, invoice);
    }),
});

const describe = <Of extends Invoice>(
  { now }: Pick<Dependencies, 'now'>,
  { id, contractId, pastDueAt, ...invoice }: Of,
) => ({
  ...invoice,
  isOverdue: invoice.status === 'open' && invoice.dueAt <= now(),
  minorDigits: minorDigits(invoice.currency),
});
