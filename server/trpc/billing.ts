// Service contracts and invoices of the account, to read; the CRM and operators change them.
import { z } from 'zod';
import { findInvoiceOfAccount, type Invoice, listInvoices } from '../../db/invoices.ts';
import { listContracts } from '../../db/service-contracts.ts';
import { presentStatus } from '../billing/contract-states.ts';
import { minorDigits } from '../billing/currencies.ts';
import { AppError } from '../errors.ts';
import { authenticated, router } from './init.ts';

export const contractsRouter = router({
  /** The newest first. Amounts are in minor units, of which `minorDigits` stand after the point. */
  list: authenticated.query(async ({ ctx: { services, session } }) => {
    const contracts = await listContracts(services.db, session.user.account.id);
    return contracts.map((contract) => ({
      id: contract.id,
      plan: contract.plan,
      status: presentStatus(contract, services.now()),
      trialEndsAt: contract.trialEndsAt,
      price: contract.price && { ...contract.price, minorDigits: minorDigits(contract.price.currency) },
    }));
  }),
});

export const invoicesRouter = router({
  /** The newest first. */
  list: authenticated.query(async ({ ctx: { services, session } }) => {
    const invoices = await listInvoices(services.db, session.user.account.id);
    return invoices.map(describe);
  }),

  /** 404 `not_found` where the account has no such invoice, somebody else's included. */
  get: authenticated
    .input(z.object({ number: z.int().min(1) }))
    .query(async ({ ctx: { services, session }, input }) => {
      const invoice = await findInvoiceOfAccount(services.db, input.number, session.user.account.id);
      if (!invoice) throw new AppError('not_found');
      return { ...describe(invoice), accountName: invoice.accountName };
    }),
});

const describe = ({ contractId, ...invoice }: Invoice) => ({
  ...invoice,
  minorDigits: minorDigits(invoice.currency),
});
