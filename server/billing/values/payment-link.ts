// Links to pay an invoice (contract 7.108 and 7.248): https URLs, with or without placeholders.
import { parseUrl } from '../../basics/url.ts';
import { writeDecimal } from './decimals.ts';

const placeholder = /\{(?:number|amount|currency)\}/g;

/** Refuses braces that are not a placeholder, and placeholders in the host. */
export function isLinkTemplate(text: string): boolean {
  if (text.length > 500 || !/^https:\/\/[^\s{}/?#\\@]+(?:[/?#]\S*)?$/.test(text)) return false;
  const filled = text.replaceAll(placeholder, 'x');
  if (/[{}\\\p{C}]/u.test(filled)) return false;
  const url = parseUrl(filled);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}

/** Returns whether the text is an https URL that could be a payment link and has no placeholders. */
export const isPlainLink = (text: string): boolean => !text.includes('{') && isLinkTemplate(text);

/** `amount` is the amount left to pay, in minor units. */
export function fillPaymentLink(
  link: string,
  { number, amount, currency }: { number: string; amount: number; currency: string },
): string {
  const values: Record<string, string> = { number, currency, amount: writeDecimal(amount, currency) };
  return link.replaceAll(placeholder, (name) => encodeURIComponent(values[name.slice(1, -1)] ?? ''));
}
