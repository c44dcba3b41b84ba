// Reads and writes amounts as people do. They are converted digit by digit, because division is not exact for every amount.
import { minorDigits } from '../../basics/currencies.ts';

/** Returns minor units. Accepts up to `digits` digits after a point or comma, but no mark between thousands. */
export function readDecimal(text: string, digits: number): number | undefined {
  const [, whole, part = ''] = /^(\d{1,13})(?:[.,](\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  return Number(whole + part.padEnd(digits, '0'));
}

/** Puts the decimal point where the currency has it: 2900 becomes 29.00 in EUR, and stays 2900 in JPY. */
export const writeDecimal = (amount: number, currency: string): string =>
  writeDigits(amount, minorDigits(currency));

/** With two digits, writes 1900 as 19.00. */
export function writeDigits(amount: number, digits: number): string {
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  const at = text.length - digits;
  return `${amount < 0 ? '-' : ''}${text.slice(0, at)}${digits > 0 ? `.${text.slice(at)}` : ''}`;
}

/** Writes commas between thousands, such as 1,234.56. */
export const formatDecimal = (amount: number, currency: string): string =>
  writeDecimal(amount, currency).replace(/\d(?=(\d{3})+(\.|$))/g, '$&,');

/** Writes the currency in front, such as EUR 1,234.56. */
export const formatAmount = (amount: number, currency: string): string =>
  `${currency} ${formatDecimal(amount, currency)}`;

/** Reads a percentage, such as 19 or 8,1 %, as hundredths of a percent. It may be at most 100 % and have two decimals. */
export function readPercent(text: string): number | undefined {
  const rate = readDecimal(text.replace(/%\s*$/, ''), 2);
  return rate !== undefined && rate <= 10_000 ? rate : undefined;
}

/** `rate` is in hundredths of a percent: 1900 becomes 19, and 550 becomes 5.5. */
export const formatPercent = (rate: number): string => String(rate / 100);
