// Reads bank accounts by their IBAN (ISO 13616) and BIC (ISO 9362). Documents print both without spaces and in capitals.
import { isCountry } from './countries.ts';

const compact = (text: string) => text.replaceAll(/\s/g, '').toUpperCase();

/** Returns the IBAN, or undefined if its form or its check digits are wrong. */
export function readIban(text: string): string | undefined {
  if (text.length > 60) return undefined;
  const iban = compact(text);
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) || !isCountryOfBanks(iban.slice(0, 2))) return undefined;
  const digits = [...iban.slice(4), ...iban.slice(0, 4)].map((each) => Number.parseInt(each, 36)).join('');
  return BigInt(digits) % 97n === 1n ? iban : undefined;
}

export function readBic(text: string): string | undefined {
  if (text.length > 40) return undefined;
  const bic = compact(text);
  const isOne = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(bic);
  return isOne && isCountryOfBanks(bic.slice(4, 6)) ? bic : undefined;
}

/** Banks in Kosovo use XK, which ISO 3166 does not assign. */
const isCountryOfBanks = (code: string) => isCountry(code) || code === 'XK';

/** Writes an IBAN in groups of four, as people type it. */
export const spellIban = (iban: string): string => iban.replaceAll(/(.{4})(?=.)/g, '$1 ');
