// Links to pay an invoice (contract 7.108 and 7.248): an https address with placeholders. All functions are pure.
import { writeDecimal } from './decimals.ts';

const placeholder = /\{(?:number|amount|currency)\}/g;

/** Whether a text is such an address: with no other braces, and with none in its host. */
export function isLinkTemplate(text: string): boolean {
  if (text.length > 500 || !/^https:\/\/[^\s{}/?#\\@]+(?:[/?#]\S*)?$/.test(text)) return false;
  const filled = text.replaceAll(placeholder, 'x');
  if (/[{}\\\p{C}]/u.test(filled) || !URL.canParse(filled)) return false;
  const { protocol, username, password } = new URL(filled);
  return protocol === 'https:' && username === '' && password === '';
}

/** The address for an invoice of which `amount` is open, with its values percent-encoded. */
export function fillPaymentLink(
  link: string,
  { number, amount, currency }: { number: string; amount: number; currency: string },
): string {
  const values: Record<string, string> = { number, currency, amount: writeDecimal(amount, currency) };
  return link.replaceAll(placeholder, (name) => encodeURIComponent(values[name.slice(1, -1)] ?? ''));
}
