// Finds which buyer and tax an invoice would have if it were issued again now (contract 7.74 and 7.431).
import type { Database } from '../../../db/postgres/client.ts';
import { findFacts } from '../../../db/tables/documents.ts';
import type { Invoice } from '../../../db/tables/invoices.ts';
import { findContract } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { findBuyer } from '../invoices/buyers.ts';
import { type BlockedCode, computeInvoice, findSettings } from '../invoices/issue.ts';
import type { Tax } from '../invoices/tax.ts';
import type { BillingSettings } from '../settings/settings.ts';
import type { ChargeLine } from '../values/charges.ts';
import { formatPercent } from '../values/decimals.ts';
import { type DocumentFacts, listAddress } from '../values/document-facts.ts';

/**
 * `before` and `after` are lines of text with the buyer and the tax: of the invoice, and of the invoice that would replace it.
 * `tax` is the line with the tax of the invoice that would replace it.
 */
export type ReissueSides = { before: string[]; after: string[]; tax: string; isSame: boolean };

/** Returns undefined if nothing can be compared: there is no document, no seller or no buyer, or a part is credited already. */
export async function compareReissue(db: Database, invoice: Invoice): Promise<ReissueSides | undefined> {
  if (!invoice.hasDocument || invoice.credited > 0) return undefined;
  const facts = (await findFacts(db, invoice.number)) as DocumentFacts | undefined;
  const settings = await findSettings(db);
  const contract = await findContract(db, { id: invoice.contractId });
  const buyer = contract && (await findBuyer(db, contract));
  if (!facts || !settings || !buyer) return undefined;
  const again = chargeAgain(settings.settings, invoice, facts);
  const drawn = computeInvoice(again.settings, again.charge, buyer, again.lines);
  const before = describe(facts.buyer, facts);
  const after = describe(buyer.facts, drawn);
  const isSame = before.join('\n') === after.join('\n');
  return { before: [...new Set(before)], after: [...new Set(after)], tax: sayTax(drawn), isSame };
}

/**
 * Returns the charge of the invoice, and settings for issuing it again. In these settings, prices include tax only if the
 * prices of the invoice did.
 */
export function chargeAgain(
  settings: BillingSettings,
  { plan, currency, periodStartsAt: startsAt, periodEndsAt: endsAt }: Invoice,
  { prices, net, total, lines = [] }: DocumentFacts,
): { settings: BillingSettings; charge: Charge; lines: ChargeLine[] } {
  const kept = lines.flatMap(({ charge: id, ...line }) => (id === undefined ? [] : { ...line, id }));
  const unitAmount = kept.reduce((rest, { amount }) => rest - amount, prices === 'net' ? net : total);
  const quantity = lines.find(({ charge }) => charge === undefined)?.quantity ?? 1;
  const price = { currency, unitAmount, quantity };
  return {
    lines: kept,
    settings: { ...settings, tax: { ...settings.tax, prices } },
    charge: { plan, price, startsAt, endsAt },
  };
}

function describe(
  { name, vat_id: vatId, email, ...buyer }: DocumentFacts['buyer'],
  tax: Tax | { blocked: BlockedCode },
): string[] {
  const lines = [name, ...listAddress(buyer), vatId && `VAT ID ${vatId}`, email, sayTax(tax)];
  return lines.flatMap((line) => line || []);
}

const sayTax = (tax: Tax | { blocked: BlockedCode }) =>
  'blocked' in tax
    ? blockedWords[tax.blocked]
    : `Tax ${formatPercent(tax.rate)}%${tax.words ? `: ${tax.words}` : ''}`;

export const blockedWords: Record<BlockedCode, string> = {
  account_erased: faultWords.reissue_no_buyer,
  country_unread: faultWords.blocked_country_unread,
  vat_id_unchecked: faultWords.blocked_vat_id_unchecked,
  no_tax_rule: faultWords.blocked_no_tax_rule,
  tax_currency: faultWords.blocked_tax_currency,
  price_too_high: faultWords.blocked_price_too_high,
};
