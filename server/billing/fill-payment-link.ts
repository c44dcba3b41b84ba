// The link to pay an invoice (contract 7.248), from the one of the settings. Pure.
import { minorDigits } from './currencies.ts';

type Due = { number: string; amount: number; currency: string };

/** Fills in the placeholders, percent-encoded. The amount is decimal, such as 34.51. */
export function fillPaymentLink(link: string, { number, amount, currency }: Due): string {
  const values: Record<string, string> = {
    number,
    currency,
    amount: toDecimal(amount, minorDigits(currency)),
  };
  return link.replaceAll(/\{(number|amount|currency)\}/g, (_, name) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

/** Made of the digits themselves: a division is not exact for every amount. */
function toDecimal(amount: number, digits: number): string {
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
