// Writes the text of the QR code from which a banking app fills in a transfer: EPC069-12, version 002.

import { writeDecimal } from '../values/decimals.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

/**
 * The EPC's guideline allows codes of at most 69 × 69 modules. With error correction at level M, such a code has room for this
 * many bytes.
 */
const maxBytes = 331;
const maxAmount = 99_999_999_999;

/**
 * Returns undefined for a credit note, for a seller without an IBAN, and for a currency or amount that does not fit (contract
 * 7.206).
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
  // A transfer has room for 70 characters of a name. The loop below removes more characters if the code is still too long.
  const name = Array.from(seller.name.replace(/\s+/g, ' ')).slice(0, 70);
  while (new TextEncoder().encode(build(name.join(''))).length > maxBytes) name.pop();
  return build(name.join('').trim());
}
