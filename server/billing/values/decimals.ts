// Amounts as people read and write them. They are converted by their digits, because division is not exact for every amount.
import { minorDigits } from '../../basics/currencies.ts';

/** Returns minor units. Accepts up to `digits` digits after a point or comma. Accepts no mark between thousands. */
export function readDecimal(text: string, digits: number): number | undefined {
  const [, whole, part = ''] = /^(\d{1,13})(?:[.,](\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  return Number(whole + part.padEnd(digits, '0'));
}

/** Puts the decimal point where the currency has it: 2900 is 29.00 in EUR, and 2900 in JPY. */
export const writeDecimal = (amount: number, currency: string): string =>
  writeDigits(amount, minorDigits(currency));

/** 1900 with two digits is 19.00. */
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

/** Reads percent, such as 19 or 8,1 %, as hundredths of a percent. At most 100 %, with two decimals. */
export function readPercent(text: string): number | undefined {
  const rate = readDecimal(text.replace(/%\s*$/, ''), 2);
  return rate !== undefined && rate <= 10_000 ? rate : undefined;
}

/** `rate` is in hundredths of a percent: 1900 becomes 19, and 550 becomes 5.5. */
export const formatPercent = (rate: number): string => String(rate / 100);
