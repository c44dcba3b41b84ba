// Checks VAT ids (contract 7.106 and 7.484). A VAT id of an EU country must have the prefix and form of that country, as in
// VIES. For other countries, any short text is accepted.
import { billingTextSchema } from './billing-text.ts';
import { hasRightVatDigits } from './vat-digits.ts';

/** The form of the part after the prefix, by country. */
const forms: Record<string, RegExp> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  ES: /^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/,
  FI: /^\d{8}$/,
  FR: /^[A-HJ-NP-Z0-9]{2}\d{9}$/,
  GR: /^\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^(?:\d{7}[A-Z]{1,2}|\d[A-Z+*]\d{5}[A-Z])$/,
  IT: /^\d{11}$/,
  LT: /^(?:\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^[A-Z0-9+*]{9}B\d{2}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{10}01$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
};

export const vatPrefix = (country: string): string => (country === 'GR' ? 'EL' : country);

const otherSchema = billingTextSchema(30);

/** Returns the VAT id as documents print it, or undefined if it does not fit the country or has a wrong digit. */
export function readVatId(country: string, text: string): string | undefined {
  if (!forms[country]) return otherSchema.safeParse(text).data;
  const id = bare(text);
  return isVatIdOf(country, id) && hasRightVatDigits(country, id.slice(2)) ? id : undefined;
}

/** Returns whether the VAT id has the prefix and the form of this EU country. Does not compute the check digit. */
export function isVatIdOf(country: string, id: string): boolean {
  const prefix = vatPrefix(country);
  return id.startsWith(prefix) && forms[country]?.test(id.slice(prefix.length)) === true;
}

/**
 * Reads the VAT id of a buyer whose country is not known. If it begins with the prefix of an EU country, it must have that
 * country's form.
 */
export const readVatIdOfAny = (text: string): string | undefined =>
  readVatId(countryOfVatId(text) ?? '', text);

/** Returns whether the VAT id has the form of its country, but a wrong digit. */
export const isMistypedVatId = (text: string): boolean => {
  const country = countryOfVatId(text);
  return country !== undefined && isVatIdOf(country, bare(text)) && readVatId(country, text) === undefined;
};

export const isSameVatId = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && bare(one) === bare(other);

const bare = (text: string) =>
  text
    .slice(0, 60)
    .replaceAll(/[\s.-]/g, '')
    .toUpperCase();

/** Returns the EU country whose prefix the VAT id has. */
const countryOfVatId = (text: string) =>
  Object.keys(forms).find((country) => vatPrefix(country) === bare(text).slice(0, 2));
