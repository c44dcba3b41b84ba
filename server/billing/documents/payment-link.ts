// Where an invoice is paid online: the link of the settings, with what is known of the invoice in it.
import type { DocumentFacts } from '../document-facts.ts';
import { toDecimal } from './amount-text.ts';

/** The link of an invoice, for `amount`, which is what is open of it. Undefined if there is none. */
export function buildPaymentLink(
  { payment, number, currency, total }: DocumentFacts,
  amount = total,
): string | undefined {
  const values: Record<string, string> = { number, currency, amount: toDecimal(amount, currency) };
  return payment?.link?.replace(/\{(number|amount|currency)\}/g, (_, name) =>
    encodeURIComponent(values[name] ?? ''),
  );
}
