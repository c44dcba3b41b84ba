// Another country that changes the tax counts once an administrator has looked (contract 7.394 to 7.399), whoever says it: whoever
// types an address must not choose their tax.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import {
  type BillingDetails,
  type DetailName,
  type DetailValues,
  lockBillingDetails,
  updateBillingDetails,
} from '../../../db/tables/billing-details.ts';
import { hasDocuments } from '../../../db/tables/documents.ts';
import { daysAfter } from '../../basics/instant.ts';
import { findSettings } from './issue.ts';
import { isCountryUnread, mayHideCountry } from './read-details.ts';
import { isTaxedAlike } from './tax.ts';

/** What waits since before then is overdue: it has waited for 14 days. */
export const overdueBefore = (now: Date): Date => daysAfter(now, -14);

/** The details as they were given last, what waits included. */
export const asGiven = (details: BillingDetails): BillingDetails => {
  if (!details.waiting) return details;
  const { address, country, vatId } = details.waiting;
  return {
    ...details,
    address,
    country,
    vatId,
    hasCheckedVatId: details.hasCheckedVatId && vatId === details.vatId,
  };
};

type Settled = DetailValues & Pick<BillingDetails, 'waiting'>;

/** What of `given` counts now, and what waits. `trx` has locked the details. */
export async function settlePlace(
  trx: Transaction<DB>,
  accountId: string,
  { details, given, now }: { details: BillingDetails; given: DetailValues; now: Date },
): Promise<Settled> {
  const { country } = given;
  if (country === null || !(await changesTax(trx, accountId, details, { ...given, country })))
    return { ...given, waiting: null };
  const { address, vatId } = given;
  // Whoever changes it again must not begin the days anew.
  const waiting = { address, country, vatId, since: details.waiting?.since ?? now };
  return { ...given, address: details.address, country: details.country, vatId: details.vatId, waiting };
}

async function changesTax(
  trx: Transaction<DB>,
  accountId: string,
  details: BillingDetails,
  given: DetailValues & { country: string },
): Promise<boolean> {
  const { country, vatId, hasCheckedVatId } = details;
  if (given.country === country) return false;
  const found = await findSettings(trx);
  if (!found) return false;
  // The first word about it is what anybody can only say themselves. It is not the first after one that nobody could read.
  if (country === null && !isCountryUnread(details) && !(await hasDocuments(trx, accountId))) return false;
  const after = {
    country: given.country,
    vatId: given.vatId,
    hasCheckedVatId: hasCheckedVatId && given.vatId === vatId,
  };
  return !isTaxedAlike(found.settings, { country, vatId, hasCheckedVatId }, after);
}

/** Lets what waits count, or drops it. False if that country does not wait. `trx` has locked the account. */
export async function decideWaiting(
  trx: Transaction<DB>,
  accountId: string,
  { country, isAccepted }: { country: string; isAccepted: boolean },
): Promise<boolean> {
  const details = await lockBillingDetails(trx, accountId);
  if (details.waiting?.country !== country) return false;
  await updateBillingDetails(trx, accountId, {
    ...(isAccepted ? asGiven(details) : details),
    ignored: isAccepted ? details.ignored.filter((pointer) => !mayHideCountry(pointer)) : details.ignored,
    editedHere: isAccepted ? details.editedHere : editedOnceRefused(details),
    waiting: null,
  });
  return true;
}

function editedOnceRefused(details: BillingDetails): DetailName[] {
  const others = details.editedHere.filter((name) => name !== 'address');
  // Invoices are blocked until somebody says the country: the CRM may, even where the customer typed the one that was refused.
  if (isCountryUnread(details)) return others;
  // The CRM sends its address with each report: what was refused does not wait again for that.
  return [...others, 'address' as const].sort();
}
