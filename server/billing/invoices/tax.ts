// Decides which tax a document charges (contract 7.62 to 7.66).

import type { BillingSettings } from '../settings/settings.ts';
import { isMemberState, memberStates } from '../values/countries.ts';
import type { TaxCategory } from '../values/document-facts.ts';
import { isVatIdOf } from '../values/vat-ids.ts';

export type Tax = { category: TaxCategory; rate: number; words: string | null };

/**
 * `country` is null if the buyer gave none. `hasCheckedVatId` says that `vatId` is marked as checked, so that tax may be
 * reversed. `isVatIdOpen` says that nobody has decided about `vatId` yet.
 */
export type TaxedBuyer = {
  country: string | null;
  vatId: string | null;
  hasCheckedVatId: boolean;
  isVatIdOpen?: boolean;
};

/** Returns the tax for a period that ends on `lastDay`, or undefined if no rule covers it. */
export function findTax(
  { seller, tax }: Pick<BillingSettings, 'seller' | 'tax'>,
  buyer: TaxedBuyer,
  lastDay: string,
): Tax | undefined {
  const country = buyer.country ?? seller.address.country;
  if (buyer.hasCheckedVatId && mayReverse(seller, buyer))
    return { category: 'AE', rate: 0, words: tax.reverse_charge_words };
  const own = tax.rules.filter((rule) => rule.country === country);
  const [rule] = (own.length > 0 ? own : tax.rules.filter((each) => each.country === '*'))
    .filter(({ from }) => from <= lastDay)
    .sort((a, b) => (a.from < b.from ? 1 : -1));
  return rule && { category: rule.category, rate: rule.rate, words: rule.words ?? null };
}

/**
 * Returns whether two buyers pay the same tax. Compares the days on which a tax rule begins, because the tax changes on no
 * other day.
 */
export const isTaxedAlike = (
  settings: Pick<BillingSettings, 'seller' | 'tax'>,
  one: TaxedBuyer,
  other: TaxedBuyer,
): boolean =>
  settings.tax.rules.every(({ from }) => {
    const [a, b] = [one, other].map((buyer) => findTax(settings, buyer, from));
    return a?.category === b?.category && a?.rate === b?.rate;
  });

/** Returns the countries of buyers for whom tax may be reversed. Returns an empty list if there is no seller. */
export const listReverseCountries = (seller: BillingSettings['seller'] | undefined): string[] =>
  seller?.vat_id !== undefined && isMemberState(seller.address.country)
    ? memberStates.filter((country) => country !== seller.address.country)
    : [];

/** Returns whether tax is reversed once the VAT id is marked as checked. */
export const mayReverse = (
  seller: BillingSettings['seller'],
  { country, vatId }: Pick<TaxedBuyer, 'country' | 'vatId'>,
): boolean =>
  country !== null &&
  vatId !== null &&
  listReverseCountries(seller).includes(country) &&
  isVatIdOf(country, vatId);
