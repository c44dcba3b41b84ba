// Writes a document as an e-invoice: EN 16931 in the syntax CII, the profile EN 16931 of Factur-X and ZUGFeRD. The XML is written
// by hand (docs/inside/decisions/xml-written-by-hand.md), with its elements in the order of the schema.
import { formatPercent, writeDecimal } from '../values/decimals.ts';
import { type Address, type DocumentFacts, type Line, listLines } from '../values/document-facts.ts';
import { FactsError } from './require-sums.ts';

type Element = string | false | null | undefined | Element[];

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
// XML 1.0 cannot contain these characters.
const unwritable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

function text(value: string): string {
  const [found] = unwritable.exec(value) ?? [];
  if (found)
    throw new FactsError(`XML has no character U+${found.codePointAt(0)?.toString(16).toUpperCase()}.`);
  return value.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign);
}

const join = (content: Element): string =>
  Array.isArray(content) ? content.map(join).join('') : content || '';
const tag = (name: string, content: Element, attributes = '') =>
  `<${name}${attributes && ` ${attributes}`}>${join(content)}</${/^\S+/.exec(name)?.[0]}>`;
/** Returns an empty text if there is no value. */
const ram = (name: string, value: string | null | undefined, attributes = '') =>
  value ? tag(`ram:${name}`, text(value), attributes) : '';
const group = (name: string, ...content: Element[]) => tag(`ram:${name}`, content);

const day = (name: string, iso: string, space = 'udt') =>
  group(name, tag(`${space}:DateTimeString`, iso.replaceAll('-', ''), 'format="102"'));

/** Call this only for documents that have XML. Throws a FactsError for text that XML cannot contain. */
export function buildXml(facts: DocumentFacts): string {
  const content = [
    tag(
      'rsm:ExchangedDocumentContext',
      group('GuidelineSpecifiedDocumentContextParameter', ram('ID', 'urn:cen.eu:en16931:2017')),
    ),
    tag('rsm:ExchangedDocument', [
      ram('ID', facts.number),
      ram('TypeCode', facts.kind === 'invoice' ? '380' : '381'),
      day('IssueDateTime', facts.issued_on),
      facts.replaces &&
        group('IncludedNote', ram('Content', `Takes the place of invoice ${facts.replaces}.`)),
      Boolean(facts.seller.foot) && group('IncludedNote', ram('Content', facts.seller.foot)),
    ]),
    tag('rsm:SupplyChainTradeTransaction', [
      listLines(facts).map((line, at) => buildLine(facts, line, at + 1)),
      buildAgreement(facts),
      '<ram:ApplicableHeaderTradeDelivery/>',
      buildSettlement(facts),
    ]),
  ];
  const spaces = [
    'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"',
    'xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"',
    'xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100"',
    'xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"',
  ];
  const root = tag('rsm:CrossIndustryInvoice', content, spaces.join(' '));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}

/** A price must not be negative (BR-27), so a deduction has a negative quantity. */
function buildLine(facts: DocumentFacts, line: Line, id: number) {
  const { category, currency } = facts;
  const quantity = line.net < 0 ? -line.quantity : line.quantity;
  const isExact = line.net % line.quantity === 0;
  const price = writeDecimal(Math.abs(isExact ? line.net / line.quantity : line.net), currency);
  return group(
    'IncludedSupplyChainTradeLineItem',
    group('AssociatedDocumentLineDocument', ram('LineID', String(id))),
    group('SpecifiedTradeProduct', ram('Name', line.title), ram('Description', line.description)),
    group(
      'SpecifiedLineTradeAgreement',
      group(
        'NetPriceProductTradePrice',
        ram('ChargeAmount', price),
        // If the price of a single item is not an exact decimal, the line states the price of the whole quantity.
        !isExact && ram('BasisQuantity', String(line.quantity), 'unitCode="C62"'),
      ),
    ),
    group('SpecifiedLineTradeDelivery', ram('BilledQuantity', String(quantity), 'unitCode="C62"')),
    group(
      'SpecifiedLineTradeSettlement',
      group('ApplicableTradeTax', ram('TypeCode', 'VAT'), ram('CategoryCode', category), buildRate(facts)),
      line.isPeriod && buildPeriod(facts),
      group(
        'SpecifiedTradeSettlementLineMonetarySummation',
        ram('LineTotalAmount', writeDecimal(line.net, currency)),
      ),
    ),
  );
}

// A document outside the scope of tax has no rate, not even 0 (BR-O-05).
const buildRate = ({ category, rate }: DocumentFacts) =>
  category !== 'O' && ram('RateApplicablePercent', formatPercent(rate));

const buildPeriod = ({ line }: DocumentFacts) =>
  group('BillingSpecifiedPeriod', day('StartDateTime', line.first_day), day('EndDateTime', line.last_day));

function buildAgreement({ seller, buyer, category }: DocumentFacts) {
  // A document outside the scope of tax names no VAT id, neither the seller's nor the buyer's (BR-O-02).
  const readVatId = (id: string | null | undefined, country: string | undefined) =>
    category !== 'O' && id && country && isVatId(id, country) ? id : undefined;
  const sellerVatId = readVatId(seller.vat_id, seller.address.country);
  const taxNumber = seller.tax_number ?? (category === 'O' || sellerVatId ? undefined : seller.vat_id);
  const buyerVatId = readVatId(buyer.vat_id, buyer.address?.country);
  return group(
    'ApplicableHeaderTradeAgreement',
    group(
      'SellerTradeParty',
      // A seller without a VAT id must be identified by another number or the email address (BR-CO-26).
      !sellerVatId && ram('ID', taxNumber ?? seller.email),
      ram('Name', seller.name),
      buildAddress(seller.address),
      buildEmail(seller.email),
      Boolean(sellerVatId) && buildRegistration('VA', sellerVatId),
      Boolean(taxNumber) && buildRegistration('FC', taxNumber),
    ),
    group(
      'BuyerTradeParty',
      category !== 'O' && !buyerVatId && ram('ID', buyer.vat_id),
      ram('Name', buyer.name),
      buyer.address && buildAddress(buyer.address),
      Boolean(buyer.email) && buildEmail(buyer.email),
      Boolean(buyerVatId) && buildRegistration('VA', buyerVatId),
    ),
  );
}

/**
 * In EN 16931, a VAT id begins with the code of its country (BR-CO-09). VAT ids of Greece may also begin with EL, and VAT ids
 * of Northern Ireland with XI.
 */
function isVatId(id: string, country: string): boolean {
  const also = country === 'GR' ? 'EL' : country === 'GB' ? 'XI' : country;
  return id.startsWith(country) || id.startsWith(also);
}

const buildAddress = ({ line1, line2, postcode, city, country }: Address) =>
  group(
    'PostalTradeAddress',
    ram('PostcodeCode', postcode),
    ram('LineOne', line1),
    ram('LineTwo', line2),
    ram('CityName', city),
    ram('CountryID', country),
  );

const buildEmail = (email: string | null) =>
  group('URIUniversalCommunication', ram('URIID', email, 'schemeID="EM"'));

const buildRegistration = (scheme: 'VA' | 'FC', id: string | undefined) =>
  group('SpecifiedTaxRegistration', ram('ID', id, `schemeID="${scheme}"`));

const exemptionCodes: Partial<Record<DocumentFacts['category'], string>> = {
  O: 'VATEX-EU-O',
  AE: 'VATEX-EU-AE',
};

function buildSettlement(facts: DocumentFacts) {
  const { number, currency, category, words, due_on, invoice } = facts;
  const [net, tax, total] = [facts.net, facts.tax, facts.total].map((amount) =>
    writeDecimal(amount, currency),
  );
  return group(
    'ApplicableHeaderTradeSettlement',
    ram('PaymentReference', number),
    ram('InvoiceCurrencyCode', currency),
    buildPaymentMeans(facts),
    group(
      'ApplicableTradeTax',
      ram('CalculatedAmount', tax),
      ram('TypeCode', 'VAT'),
      category !== 'S' && ram('ExemptionReason', words),
      ram('BasisAmount', net),
      ram('CategoryCode', category),
      ram('ExemptionReasonCode', exemptionCodes[category]),
      buildRate(facts),
    ),
    buildPeriod(facts),
    group(
      'SpecifiedTradePaymentTerms',
      ram(
        'Description',
        invoice ? `Corrects invoice ${invoice.number}. Nothing is to be paid.` : facts.payment?.text,
      ),
      due_on && day('DueDateDateTime', due_on),
    ),
    group(
      'SpecifiedTradeSettlementHeaderMonetarySummation',
      ram('LineTotalAmount', net),
      ram('TaxBasisTotalAmount', net),
      ram('TaxTotalAmount', tax, `currencyID="${text(currency)}"`),
      ram('GrandTotalAmount', total),
      ram('DuePayableAmount', total),
    ),
    invoice &&
      group(
        'InvoiceReferencedDocument',
        ram('IssuerAssignedID', invoice.number),
        day('FormattedIssueDateTime', invoice.issued_on, 'qdt'),
      ),
  );
}

/** 58 means a SEPA credit transfer, and 30 any other credit transfer. */
const buildPaymentMeans = ({ kind, seller, currency }: DocumentFacts) =>
  kind === 'invoice' &&
  Boolean(seller.iban) &&
  group(
    'SpecifiedTradeSettlementPaymentMeans',
    ram('TypeCode', currency === 'EUR' ? '58' : '30'),
    group('PayeePartyCreditorFinancialAccount', ram('IBANID', seller.iban), ram('AccountName', seller.name)),
    Boolean(seller.bic) && group('PayeeSpecifiedCreditorFinancialInstitution', ram('BICID', seller.bic)),
  );
