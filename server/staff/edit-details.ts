// Administrators change the billing details of an account, alone or together with a reissue (contract 7.441, 7.442 and 7.556).
import type { Database } from '../../db/postgres/client.ts';
import { type BillingDetails, findBillingDetails, noDetails } from '../../db/tables/billing-details.ts';
import { listUsersOfAccount } from '../../db/tables/users.ts';
import type { ActContext } from '../acts/act.ts';
import type { Field, Given } from '../acts/fields.ts';
import { readGiven, type SomeDetails, saveDetails } from '../billing/customers/save-details.ts';
import { asGiven } from '../billing/invoices/waiting-country.ts';
import { notify } from '../identity/ground/notices.ts';

/**
 * The address for invoices is not among them. If it were, invoices could go to an email address that nobody has proved, and not
 * to the customer.
 */
const names = ['company', 'line1', 'line2', 'postcode', 'city', 'country', 'vatId'] as const;
type Name = (typeof names)[number];

/** The options of commands. */
export const detailOptions = {
  company: { option: '--company <text>' },
  line1: { option: '--line1 <text>' },
  line2: { option: '--line2 <text>' },
  postcode: { option: '--postcode <text>' },
  city: { option: '--city <text>' },
  country: { option: '--country <code>' },
  vatId: { option: '--vat-id <id>' },
} satisfies Record<Name, { option: string }>;

/** The fields of an act, each undefined if it is not given. `accountOf` is null if the account is erased. */
export function detailFields<Thing>(
  accountOf: (db: Database, thing: Thing) => Promise<string | null> | string | null,
) {
  const asTyped =
    (name: Name): Field<Thing, string | undefined> =>
    (_typed, { given }) =>
      given[name];
  return {
    ...(Object.fromEntries(names.map((name) => [name, asTyped(name)])) as Record<
      Name,
      Field<Thing, string | undefined>
    >),
    // The first of the fields checks all of them, because address, country and VAT id must fit each other.
    async company(_typed: string, { db, thing, given, config }: Parameters<Field<Thing>>[1]) {
      const accountId = await accountOf(db, thing);
      const known = (accountId && (await findBillingDetails(db, accountId))) || noDetails;
      readGiven(asGiven(known), pick(given), config);
      return given.company;
    },
  };
}

const pick = (given: Given): SomeDetails => Object.fromEntries(names.map((name) => [name, given[name]]));

export const isAnyGiven = (read: SomeDetails): boolean =>
  Object.values(pick(read)).some((text) => text !== undefined);

/** The facts that forms about billing details are made from. */
export const basisOfDetails = ({
  company,
  address,
  country,
  vatId,
  waiting,
}: BillingDetails = noDetails) => ({
  ...{ company, address, country, vatId, waiting },
});

/** Returns undefined if nothing changes. Otherwise everybody in the account is told. */
export async function editDetails(
  { trx, deps }: Pick<ActContext<unknown>, 'trx' | 'deps'>,
  accountId: string,
  read: SomeDetails,
): Promise<{ changed: string[] } | undefined> {
  const saved = await saveDetails(trx, deps, accountId, pick(read), 'changed');
  if (!saved) return undefined;
  for (const user of await listUsersOfAccount(trx, accountId))
    await notify(trx, deps, user, 'billing_details_changed');
  return { changed: saved.changed };
}
