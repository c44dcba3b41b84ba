// Amounts as people write them: decimal, with the digits of the currency. All functions are pure.
import { minorDigits } from './currencies.ts';

/** Minor units; undefined for anything else than a decimal number with no more digits than the currency has. */
export function readDecimal(text: string, currency: string): number | undefined {
  const [, whole, part = ''] = /^(\d{1,13})(?:\.(\d{1,4}))?$/.exec(text.trim()) ?? [];
  const digits = minorDigits(currency);
  if (whole === undefined || part.length > digits) return undefined;
  return Number(whole + part.padEnd(digits, '0'));
}

/** Such as 29.00. */
export function writeDecimal(minorUnits: number, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(Math.abs(minorUnits)).padStart(digits + 1, '0');
  const sign = minorUnits < 0 ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
