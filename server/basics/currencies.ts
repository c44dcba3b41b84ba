// The currencies for prices: the assigned codes of ISO 4217 that have a minor unit.
import * as list from 'dinero.js/currencies';

const currencies = new Map(Object.values(list).map((currency) => [currency.code as string, currency]));

export const isCurrency = (code: string) => currencies.has(code);

/** Returns how many digits come after the decimal point: 2 for EUR, 0 for JPY. */
export function minorDigits(code: string): number {
  const { base, exponent } = currencies.get(code) ?? { base: 10, exponent: 2 };
  // The ariary and the ouguiya have five subunits, but ISO 4217 writes them with two digits.
  return base === 10 ? exponent : 2;
}
