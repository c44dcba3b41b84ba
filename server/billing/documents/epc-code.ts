// What the code on an invoice says, so that a banking app fills in the transfer: EPC069-12, version 002.

import { writeDecimal } from '../values/decimals.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

/** A code of 69 × 69 modules, the largest that the guideline allows, holds so many bytes at its level M. */
const maxBytes = 331;
const maxAmount = 99_999_999_999;

const countBytes = (text: string) => new TextEncoder().encode(text).length;

/**
 * The content of the code for what is to be paid. Undefined where there is none: for credit notes, without an IBAN, in another
 * currency than the euro, below 0.01 or above 999,999,999.99 (contract 7.206).
 */
export function buildEpcText(facts: DocumentFacts, amount = facts.total): string | undefined {
  const { kind, currency, seller, number } = facts;
  if (kind !== 'invoice' || currency !== 'EUR' || !seller.iban || amount < 1 || amount > maxAmount)
    return undefined;
  const build = (name: string) =>
    [
      'BCD',
      '002',
      '1',
      'SCT',
      seller.bic ?? '',
      name,
      seller.iban,
      `EUR${writeDecimal(amount, 'EUR')}`,
      '',
      '',
      number,
    ].join('\n');
  // Of a longer name its beginning, as in a transfer.
  const name = Array.from(seller.name.replace(/\s+/g, ' ')).slice(0, 70);
  while (countBytes(build(name.join(''))) > maxBytes) name.pop();
  return build(name.join('').trim());
}
