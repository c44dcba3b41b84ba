import type { Database } from '../../../db/postgres/client.ts';
import { findAccountName } from '../../../db/tables/accounts.ts';
import { type BillingDetails, findBillingDetails, noDetails } from '../../../db/tables/billing-details.ts';
import type { Contract } from '../../../db/tables/service-contracts.ts';
import { findUserById } from '../../../db/tables/users.ts';
import { isPrintable } from '../values/billing-text.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { isCountryUnread } from './read-details.ts';
import type { TaxedBuyer } from './tax.ts';

/** `taxed` is null while the buyer's country cannot be read (contract 7.393). */
export type Buyer = { facts: DocumentFacts['buyer']; taxed: TaxedBuyer | null };

/** Returns undefined if the account is erased. */
export async function findBuyer(
  db: Database,
  { accountId, userId }: Pick<Contract, 'accountId' | 'userId'>,
): Promise<Buyer | undefined> {
  // `user` may be undefined, because a user can be erased while other people still use the account.
  const [details, accountName, user] = await Promise.all([
    findBillingDetails(db, accountId),
    findAccountName(db, accountId),
    findUserById(db, userId),
  ]);
  if (accountName === undefined) return undefined;
  const { address = null, country = null, vatId = null } = details ?? {};
  const email = details?.provedInvoiceEmail ?? user?.email ?? null;
  const name = printable(details?.company ?? accountName) || printable(email ?? '');
  return {
    facts: {
      name,
      address,
      ...(address === null && country !== null && { country }),
      vat_id: vatId,
      // An older email address may have characters that cannot be printed. They were not always refused.
      email: email && isPrintable(email) ? email : null,
    },
    taxed: buildTaxedBuyer(details),
  };
}

export const buildTaxedBuyer = (
  details: Pick<
    BillingDetails,
    'country' | 'vatId' | 'hasCheckedVatId' | 'isVatIdOpen' | 'ignored'
  > = noDetails,
): TaxedBuyer | null => {
  const { country, vatId, hasCheckedVatId, isVatIdOpen } = details;
  return isCountryUnread(details) ? null : { country, vatId, hasCheckedVatId, isVatIdOpen };
};

/** XML cannot contain noncharacters of Unicode, but a name can. */
const printable = (text: string) => Array.from(text).filter(isPrintable).join('');
