// Amounts of money as people write them. All functions are pure.
import { minorDigits } from './currencies.ts';

/** Minor units with the decimal point that the currency has: 2900 of EUR is 29.00, of JPY 2900. */
export function toDecimal(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  const at = text.length - digits;
  return `${amount < 0 ? '-' : ''}${text.slice(0, at)}${digits > 0 ? `.${text.slice(at)}` : ''}`;
}

/** An amount in a sentence or a mail: EUR 1,234.50. */
export const sayAmount = (amount: number, currency: string): string =>
  `${currency} ${toDecimal(amount, currency).replace(/\d(?=(\d{3})+(\.|$))/g, '$&,')}`;
