// If a new country changes the tax, it waits until an administrator accepts it (contract 7.394 to 7.399). So nobody can choose
// their tax by typing an address.
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
import { isSameVatId } from '../values/vat-ids.ts';
import { findSettings } from './issue.ts';
import { isCountryUnread, mayHideCountry } from './read-details.ts';
import { isTaxedAlike } from './tax.ts';

/** A country that has waited for 14 days is overdue. */
export const overdueBefore = (now: Date): Date => daysAfter(now, -14);

/** Returns the details as somebody last gave them, including what waits for an administrator. */
export const asGiven = (details: BillingDetails): BillingDetails => {
  if (!details.waiting) return details;
  const { address, country, vatId } = details.waiting;
  return {
    ...details,
    address,
    country,
    vatId,
    hasCheckedVatId: details.hasCheckedVatId && isSameVatId(vatId, details.vatId),
  };
};

type Settled = DetailValues & Pick<BillingDetails, 'waiting'>;

/**
 * Splits `given` into details that apply now and details that wait for an administrator. `trx` has locked the account's
 * details.
 */
export async function settlePlace(
  trx: Transaction<DB>,
  accountId: string,
  { details, given, now }: { details: BillingDetails; given: DetailValues; now: Date },
): Promise<Settled> {
  const { country } = given;
  if (country === null || !(await changesTax(trx, accountId, details, { ...given, country })))
    return { ...given, waiting: null };
  const { address, vatId } = given;
  // If details wait already, another change does not restart the 14 days after which they are overdue.
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
  // The first country of an account without documents applies immediately. But if an earlier country could not be read, the new
  // country is not the first.
  if (country === null && !isCountryUnread(details) && !(await hasDocuments(trx, accountId))) return false;
  const after = {
    country: given.country,
    vatId: given.vatId,
    hasCheckedVatId: hasCheckedVatId && isSameVatId(given.vatId, vatId),
  };
  return !isTaxedAlike(found.settings, { country, vatId, hasCheckedVatId }, after);
}

/**
 * Accepts or rejects `country`, which waits for an administrator. Returns false if no country or another one waits. `trx` has
 * locked the account.
 */
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
  // While the account has no country, its periods are blocked. So `address` does not count as edited, and a signup may still
  // give a country, even if a customer typed the rejected country.
  if (isCountryUnread(details)) return others;
  // The CRM repeats the rejected address in each report. `address` counts as edited here, so that the CRM cannot set it again
  // and the address does not wait for an administrator again.
  return [...others, 'address' as const].sort();
}
