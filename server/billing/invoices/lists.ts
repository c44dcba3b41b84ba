// Everybody's contracts and invoices, for the commands and for administrators (contract 12.140 to 12.142).
import type { Database } from '../../../db/postgres/client.ts';
import {
  type ListedContract,
  type ListedInvoice,
  listContracts,
  listInvoices,
} from '../../../db/tables/invoice-lists.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { readPage } from '../../basics/page.ts';
import { contractStatusSchema, describeContract } from '../contracts/contract-list.ts';
import { findLastDay } from '../contracts/last-day.ts';
import { findZone } from './issue.ts';

export const contractStates = [...contractStatusSchema.options, 'held'] as const;
export const invoiceStates = ['open', 'paid', 'void', 'overdue'] as const;

/** `held` is why the next period of the contract cannot be invoiced. `email` is null once the user is erased. */
export const describeListedContract = (
  { held, email, ...contract }: ListedContract,
  { now, zone }: { now: Date; zone: string },
) => ({
  ...describeContract(contract, now),
  held,
  email,
  last_day: findLastDay(zone, contract, now),
});

/** Amounts are in minor units. */
export const describeListedInvoice = (invoice: ListedInvoice) => ({
  number: invoice.number,
  signup_id: invoice.signupId,
  status: invoice.status,
  overdue: invoice.isOverdue,
  currency: invoice.currency,
  total: invoice.total,
  open: invoice.open,
  issued_at: invoice.issuedAt.toISOString(),
  due_at: invoice.dueAt.toISOString(),
  email: invoice.email,
});

type Asked<Before> = { state?: string | undefined; before?: Before | undefined; now: Date };

/** Returns a page of 50 contracts, newest first. `next` is the `before` of the next page. It is null on the last page. */
export async function readContracts(db: Database, asked: Asked<string>) {
  const zone = await findZone(db);
  const { page, last } = await readPage((limit) => listContracts(db, { ...asked, limit }));
  return {
    contracts: page.map((contract) => {
      const described = describeListedContract(contract, { now: asked.now, zone });
      const { price } = described;
      return { ...described, minorDigits: price && minorDigits(price.currency) };
    }),
    next: last?.id ?? null,
  };
}

/** Returns a page of 50 invoices, newest first. `user_id` is null once the user is erased. */
export async function readInvoices(db: Database, asked: Asked<number>) {
  const zone = await findZone(db);
  const { page, last } = await readPage((limit) => listInvoices(db, { ...asked, zone, limit }));
  return {
    invoices: page.map((invoice) => ({
      ...describeListedInvoice(invoice),
      due_on: invoice.dueOn,
      user_id: invoice.userId,
      minorDigits: minorDigits(invoice.currency),
    })),
    next: last?.id ?? null,
  };
}
