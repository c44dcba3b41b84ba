import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import { describe, expect, it } from 'vitest';
import { buildXml } from '../../server/billing/documents/xml.ts';
import { type DocumentFacts, hasXml } from '../../server/billing/values/document-facts.ts';
import { samples } from '../support/billing/document-samples.ts';

const invoice: DocumentFacts = samples['an invoice with tax'];
const outside: DocumentFacts = samples['an invoice outside the scope of tax'];
const exempt: DocumentFacts = samples['an invoice exempt from tax'];

const readAll = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<ram:${name}\\b[^>]*>([^<]*)<`, 'g'))].map(([, text]) => text);

describe('the XML of a document', () => {
  it.each(Object.entries(samples))('is valid by the schema: %s', async (_, facts) => {
    expect(await validateXsd(buildXml(facts), Profile.EN16931)).toEqual({ valid: true, errors: [] });
  });

  it('would be found not valid by the schema', async () => {
    const xml = buildXml(invoice).replace('<ram:LineID>1</ram:LineID>', '');
    expect(await validateXsd(xml, Profile.EN16931)).toMatchObject({ valid: false });
  });

  it('is the same each time', () => {
    expect(buildXml(invoice)).toBe(buildXml(structuredClone(invoice)));
  });

  it('holds signs of XML in what others wrote', () => {
    const name = `</ram:Name> & "Sons" <b>'s`;
    const xml = buildXml({ ...invoice, buyer: { ...invoice.buyer, name } });
    expect(xml).toContain("&lt;/ram:Name&gt; &amp; &quot;Sons&quot; &lt;b&gt;'s");
  });

  it.each(['\ufffe', '\uffff', '\u0000', '\ud800'])(
    'is refused with a character that XML has not: %j',
    (sign) => {
      expect(() => buildXml({ ...invoice, buyer: { ...invoice.buyer, name: `A${sign}` } })).toThrow(
        `XML has no character U+${sign.charCodeAt(0).toString(16).toUpperCase()}`,
      );
    },
  );

  it('outside the scope of tax names the tax number, and no VAT id (contract 7.209)', () => {
    const xml = buildXml({ ...outside, buyer: { ...outside.buyer, vat_id: 'ATU12345678' } });
    expect(xml).not.toContain('schemeID="VA"');
    expect(xml).not.toContain('DE123456789');
    expect(xml).not.toContain('ATU12345678');
    expect(xml).not.toContain('RateApplicablePercent');
    expect(xml).toContain('<ram:ID schemeID="FC">30/123/45678</ram:ID>');
  });

  it('names the seller by their tax number, or else by their address, where there is no VAT id (contract 7.209)', () => {
    const sellerOf = (facts: DocumentFacts) =>
      /<ram:SellerTradeParty>(.*?)<ram:Name>/s.exec(buildXml(facts))?.[1];
    expect(sellerOf(invoice)).toBe('');
    const { vat_id: _, ...untaxed } = invoice.seller;
    expect(sellerOf({ ...invoice, seller: untaxed })).toBe('<ram:ID>30/123/45678</ram:ID>');
    const { tax_number: __, ...unnumbered } = outside.seller;
    expect(sellerOf({ ...outside, seller: unnumbered })).toBe('<ram:ID>rechnung@blumen.example</ram:ID>');
  });

  it.each([
    ['GR', 'EL123456789', true],
    ['GB', 'XI123456789', true],
    ['GB', 'GB123456789', true],
    ['FR', 'DE123456789', false],
  ])('takes in %s %s as a VAT id, as what begins with its country: %s', (country, vat_id, isTaken) => {
    const address = { line1: '1', postcode: '1', city: 'C', country };
    const xml = buildXml({ ...invoice, buyer: { ...invoice.buyer, address, vat_id } });
    const [, buyer = ''] = /<ram:BuyerTradeParty>(.*?)<\/ram:BuyerTradeParty>/s.exec(xml) ?? [];
    expect(buyer.includes(`<ram:ID schemeID="VA">${vat_id}</ram:ID>`)).toBe(isTaken);
    expect(buyer.startsWith(`<ram:ID>${vat_id}</ram:ID>`)).toBe(!isTaken);
    // If the seller's id is no VAT ID, the XML gives it as their tax number.
    const sold = buildXml({
      ...invoice,
      seller: { ...invoice.seller, tax_number: undefined, address, vat_id },
    });
    expect(sold.includes(`<ram:ID schemeID="FC">${vat_id}</ram:ID>`)).toBe(!isTaken);
  });

  it('has one line, of quantity 1 at the net amount, of an invoice and of a credit note (contract 7.208)', () => {
    for (const [facts, code] of [
      [invoice, '380'],
      [samples['a credit note'], '381'],
    ] as const) {
      const xml = buildXml(facts);
      expect(xml).toContain(`<ram:TypeCode>${code}</ram:TypeCode>`);
      expect(readAll(xml, 'BilledQuantity')).toEqual(['1']);
      const net = (facts.net / 100).toFixed(2);
      expect([readAll(xml, 'ChargeAmount'), readAll(xml, 'LineTotalAmount')]).toEqual([[net], [net, net]]);
      expect(readAll(xml, 'GrandTotalAmount')).toEqual([(facts.total / 100).toFixed(2)]);
    }
  });

  it('names the invoice that a credit note corrects, and its date', () => {
    const xml = buildXml(samples['a credit note']);
    expect(xml).toContain('<ram:TypeCode>381</ram:TypeCode>');
    expect(xml).toMatch(/<ram:InvoiceReferencedDocument><ram:IssuerAssignedID>INV-2026-0001<.*>20261126</);
    expect(readAll(xml, 'IBANID')).toEqual([]);
  });

  it('names the lost number that it takes the place of (contract 7.420)', () => {
    expect(readAll(buildXml(samples['an invoice in place of a lost one']), 'Content')[0]).toBe(
      'Takes the place of invoice INV-2026-0999.',
    );
  });

  it('takes an id that does not begin with its country as a name of the buyer only', () => {
    const buyer = { ...invoice.buyer, vat_id: '12-3456789' };
    expect(buildXml({ ...invoice, buyer })).toContain('<ram:BuyerTradeParty><ram:ID>12-3456789</ram:ID>');
  });

  it('has the amounts of yen without digits', () => {
    expect(readAll(buildXml(samples['an invoice in yen']), 'GrandTotalAmount')).toEqual(['5000']);
  });
});

describe('a document has no XML (contract 7.207)', () => {
  it.each<[string, DocumentFacts]>([
    ['without the address of the buyer', { ...invoice, buyer: { ...invoice.buyer, address: null } }],
    ['in a currency of three digits', { ...invoice, currency: 'KWD' }],
    [
      'if it is exempt and the seller has no id',
      { ...exempt, seller: { ...exempt.seller, tax_number: undefined } },
    ],
  ])('%s', (_, facts) => {
    expect(hasXml(facts)).toBe(false);
  });

  it('but all others have some', () => {
    expect(Object.values(samples).map(hasXml)).not.toContain(false);
  });
});
