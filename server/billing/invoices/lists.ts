// Lists everybody's contracts and invoices, for commands and administrators (contract 12.140 to 12.142).
import type { Database } from '../../../db/postgres/client.ts';
import type { ListedContract, ListedInvoice } from '../../../db/tables/invoice-lists.ts';
import {
  type ContractSort,
  countContracts,
  countInvoices,
  type Found,
  type InvoiceSort,
  listContracts,
  listInvoices,
} from '../../../db/tables/staff-lists.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { readCount, readPage } from '../../basics/page.ts';
import { contractStatusSchema, describeContract } from '../contracts/contract-list.ts';
import { findLastDay } from '../contracts/last-day.ts';
import { findSettings, findZone, zoneOf } from './issue.ts';
import { listReverseCountries } from './tax.ts';

export const contractStates = [...contractStatusSchema.options, 'held', 'vat-id'] as const;
export const invoiceStates = ['open', 'paid', 'void', 'overdue'] as const;

/** `held` says why the next period of the contract cannot be invoiced. `email` is null if the user is erased. */
export const describeListedContract = (
  { held, email, createdAt: _, ...contract }: ListedContract,
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

type Asked<Sort, Before> = {
  state?: string | undefined;
  found?: Found | undefined;
  sort?: Sort | undefined;
  before?: Before | undefined;
  now: Date;
};

/** Returns a page of 50 contracts. `next` is the `before` of the next page, or null on the last page. */
export async function readContracts(
  db: Database,
  { sort = '-created', before, ...asked }: Asked<ContractSort, string>,
) {
  const settings = await findSettings(db);
  const zone = zoneOf(settings);
  const filters = { ...asked, vatIdsOf: listReverseCountries(settings?.settings.seller) };
  const { page, last } = await readPage((limit) => listContracts(db, { sort, before, limit, ...filters }));
  return {
    contracts: page.map((contract) => {
      const described = describeListedContract(contract, { now: filters.now, zone });
      const { price } = described;
      return {
        ...described,
        created_at: contract.createdAt.toISOString(),
        minorDigits: price && minorDigits(price.currency),
      };
    }),
    next: last?.id ?? null,
    count: await readCount({ page, last, before }, (limit) => countContracts(db, limit, filters)),
  };
}

/** Returns a page of 50 invoices. `user_id` is null if the user is erased. */
export async function readInvoices(
  db: Database,
  { sort = '-issued', before, ...filters }: Asked<InvoiceSort, number>,
) {
  const zone = await findZone(db);
  const { page, last } = await readPage((limit) =>
    listInvoices(db, { sort, before, limit, zone, ...filters }),
  );
  return {
    invoices: page.map((invoice) => ({
      ...describeListedInvoice(invoice),
      due_on: invoice.dueOn,
      user_id: invoice.userId,
      minorDigits: minorDigits(invoice.currency),
    })),
    next: last?.id ?? null,
    count: await readCount({ page, last, before }, (limit) => countInvoices(db, limit, filters)),
  };
}
