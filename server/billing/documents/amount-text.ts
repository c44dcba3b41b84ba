// Amounts as documents write them. Made of the digits themselves: a division by 100 is not exact above 2^53.
import { minorDigits } from '../currencies.ts';

/** Such as 1234.56, with the currency's digits. */
export function toDecimal(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${amount < 0 ? '-' : ''}${whole}${digits > 0 ? `.${text.slice(-digits)}` : ''}`;
}

/** Such as 1,234.56. */
export const formatDecimal = (amount: number, currency: string): string =>
  toDecimal(amount, currency).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');

/** Such as EUR 1,234.56. */
export const formatAmount = (amount: number, currency: string): string =>
  `${currency} ${formatDecimal(amount, currency)}`;

/** Such as 19 or 5.5, of hundredths of a percent. */
export const formatPercent = (rate: number): string => String(rate / 100);
