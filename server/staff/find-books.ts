// Finds contracts and invoices by their number, by a signup id, or by any text that finds the people they belong to (contract
// 12.243 and 12.244).
import type { ContractSort, Found, InvoiceSort } from '../../db/tables/staff-lists.ts';
import { findNamed } from '../../db/tables/staff-lists.ts';
import { readContracts, readInvoices } from '../billing/invoices/lists.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { findPeople, readKeys, readSearch } from './find-people.ts';

type Deps = Pick<Dependencies, 'db' | 'now'>;

type Asked<Sort, Before> = {
  state?: string | undefined;
  sort?: Sort | undefined;
  q?: string | undefined;
  before?: Before | undefined;
};

/** `more` says that `q` finds more people than this, whose contracts are not listed. */
export async function searchContracts(deps: Deps, { q, ...asked }: Asked<ContractSort, string>) {
  const { found, more } = await find(deps, q);
  return { ...(await readContracts(deps.db, { ...asked, found, now: deps.now() })), more };
}

export async function searchInvoices(deps: Deps, { q, ...asked }: Asked<InvoiceSort, number>) {
  const { found, more } = await find(deps, q);
  return { ...(await readInvoices(deps.db, { ...asked, found, now: deps.now() })), more };
}

async function find(deps: Deps, q = ''): Promise<{ found?: Found; more: boolean }> {
  const search = readSearch(q);
  if (search === '') return { more: false };
  const { text, invoiceNumber } = readKeys(search);
  const named = await findNamed(deps.db, { text, number: invoiceNumber });
  if (named) return { found: named, more: false };
  const { people, more } = await findPeople(deps, { q: search });
  return { found: { people: people.map(({ id }) => id) }, more };
}
