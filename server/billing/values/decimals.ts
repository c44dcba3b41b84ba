// Amounts as people read and write them: decimal, with the digits of the currency. All functions are pure, and made of the digits
// themselves: a division is not exact for every amount.
import { minorDigits } from '../../basics/currencies.ts';

/**
 * Minor units; undefined for anything else than a decimal number with no more than so many digits after its point or comma. No mark
 * stands between thousands.
 */
export function readDecimal(text: string, digits: number): number | undefined {
  const [, whole, part = ''] = /^(\d{1,13})(?:[.,](\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  return Number(whole + part.padEnd(digits, '0'));
}

/** Minor units with the decimal point that the currency has: 2900 of EUR is 29.00, of JPY 2900. */
export const writeDecimal = (amount: number, currency: string): string =>
  writeDigits(amount, minorDigits(currency));

/** Such as 19.00 for 1900 with two digits. */
export function writeDigits(amount: number, digits: number): string {
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  const at = text.length - digits;
  return `${amount < 0 ? '-' : ''}${text.slice(0, at)}${digits > 0 ? `.${text.slice(at)}` : ''}`;
}

/** Such as 1,234.56. */
export const formatDecimal = (amount: number, currency: string): string =>
  writeDecimal(amount, currency).replace(/\d(?=(\d{3})+(\.|$))/g, '$&,');

/** Such as EUR 1,234.56. */
export const formatAmount = (amount: number, currency: string): string =>
  `${currency} ${formatDecimal(amount, currency)}`;

/** Such as 19 or 5.5, of hundredths of a percent. */
export const formatPercent = (rate: number): string => String(rate / 100);
