import { describe, expect, it } from 'vitest';
import { buildEpcText } from '../../server/billing/documents/epc-code.ts';
import { requireSums } from '../../server/billing/documents/require-sums.ts';
import { formatAmount, writeDecimal } from '../../server/billing/values/decimals.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { fillPaymentLink } from '../../server/billing/values/payment-link.ts';
import { samples } from '../support/billing/document-samples.ts';

const invoice: DocumentFacts = samples['an invoice with tax'];
const credit: DocumentFacts = samples['a credit note'];
const reverse: DocumentFacts = samples['an invoice with reverse charge'];
const gross: DocumentFacts = samples['an invoice of a gross price'];

describe('our own check of sums', () => {
  it.each(Object.entries(samples))('takes %s', (_, facts) => {
    expect(() => requireSums(facts)).not.toThrow();
  });

  it.each<[why: string, facts: DocumentFacts]>([
    ['net and tax do not make the total', { ...invoice, total: 3452 }],
    ['the tax is not that of the rate', { ...invoice, tax: 552, total: 3452 }],
    ['the tax is not that of the rate', { ...invoice, tax: 550, total: 3450 }],
    ['the tax is not that of the rate', { ...gross, net: 2436, tax: 464 }],
    ['the tax is not that of the rate', { ...gross, net: 2438, tax: 462 }],
    ['the tax is not that of the rate', { ...credit, net: 2897, tax: 554 }],
    ['an amount is not a whole number from 0', { ...invoice, net: 2900.5 }],
    ['an amount is not a whole number from 0', { ...invoice, net: -2900 }],
    ['an amount is not a whole number from 0', { ...invoice, total: 2 ** 53 }],
    ['the rate is not from 0 to 100 %', { ...invoice, rate: 19.5 }],
    ['the total is 0', { ...invoice, net: 0, tax: 0, total: 0 }],
    ['a rate of 0 does not go with category S', { ...invoice, rate: 0, tax: 0, total: 2900 }],
    ['a rate of 1900 does not go with category E', { ...invoice, category: 'E', words: 'None' }],
    ['tax is charged without a rate', { ...reverse, tax: 1, net: 2899 }],
    ['it does not say why no tax is charged', { ...reverse, words: null }],
    ['it does not say “Reverse charge”', { ...reverse, words: 'None' }],
    ['reverse charge needs both VAT ids', { ...reverse, buyer: { ...reverse.buyer, vat_id: null } }],
    [
      'the seller has neither VAT id nor tax number',
      { ...invoice, seller: { ...invoice.seller, vat_id: undefined, tax_number: undefined } },
    ],
    ['a credit note names its invoice, and nothing else does', { ...credit, invoice: null }],
    ['a credit note names its invoice, and nothing else does', { ...invoice, invoice: credit.invoice }],
    ['an invoice has a last day to pay, and nothing else does', { ...invoice, due_on: null }],
    ['it has no line', { ...invoice, lines: [] }],
    ['the lines do not make the sum', { ...invoice, lines: [{ title: 'A', quantity: 1, amount: 2899 }] }],
    [
      'a line is not so many times an amount',
      { ...invoice, lines: [{ title: 'A', quantity: 3, amount: 2900 }] },
    ],
    [
      'a quantity is not a whole number from 1',
      { ...invoice, lines: [{ title: 'A', quantity: 0, amount: 2900 }] },
    ],
    ['it is due before it is issued', { ...invoice, due_on: '2026-11-25' }],
    ['its period ends before it begins', { ...invoice, line: { ...invoice.line, last_day: '2026-10-31' } }],
  ])('says that %s', (why, facts) => {
    expect(() => requireSums(facts)).toThrow(why);
  });

  it('names the number, and all that is wrong', () => {
    expect(() => requireSums({ ...invoice, total: 1, due_on: null })).toThrow(
      /^INV-2026-0001: net and tax do not make the total; an invoice has/,
    );
  });

  // Contract 7.54.
  it('takes a credit note that version 0.5.0 dated before its invoice', () => {
    expect(() => requireSums({ ...credit, issued_on: '2026-11-25' })).not.toThrow();
  });

  it('takes the tax of a part credit up to two units off, as credits are rounded all together', () => {
    expect(() => requireSums({ ...credit, net: 838, tax: 162, total: 1000 })).toThrow();
    expect(() => requireSums({ ...credit, net: 839, tax: 161, total: 1000 })).not.toThrow();
  });
});

describe('amounts', () => {
  it.each([
    [3451, 'EUR', '34.51', 'EUR 34.51'],
    [5, 'EUR', '0.05', 'EUR 0.05'],
    [123456789, 'EUR', '1234567.89', 'EUR 1,234,567.89'],
    [100000, 'JPY', '100000', 'JPY 100,000'],
    [1234567, 'KWD', '1234.567', 'KWD 1,234.567'],
    [99_999_999_999_999, 'EUR', '999999999999.99', 'EUR 999,999,999,999.99'],
  ])('%i of %s are %s', (amount, currency, decimal, shown) => {
    expect(writeDecimal(amount, currency)).toBe(decimal);
    expect(formatAmount(amount, currency)).toBe(shown);
  });
});

describe('the code to pay by (contract 7.206)', () => {
  it('is as EPC069-12 has it', () => {
    expect(buildEpcText(invoice)?.split('\n')).toEqual([
      'BCD',
      '002',
      '1',
      'SCT',
      'COBADEFFXXX',
      'Blumen & Söhne GmbH',
      'DE89370400440532013000',
      'EUR34.51',
      '',
      '',
      'INV-2026-0001',
    ]);
  });

  it('is for what is open, if that is asked for', () => {
    expect(buildEpcText(invoice, 1000)).toContain('EUR10.00');
  });

  it('has at most 70 characters of a name, and fewer if the code would exceed 331 bytes', () => {
    const nameOf = (name: string) =>
      buildEpcText({ ...invoice, seller: { ...invoice.seller, name } })?.split('\n')[5];
    expect(nameOf('A'.repeat(200))).toBe('A'.repeat(70));
    const wide = buildEpcText({ ...invoice, seller: { ...invoice.seller, name: '😀'.repeat(70) } }) ?? '';
    expect(new TextEncoder().encode(wide).length).toBeLessThanOrEqual(331);
    expect(wide).toContain('😀'.repeat(50));
  });

  it.each<[string, DocumentFacts]>([
    ['of a credit note', credit],
    ['without an IBAN', { ...invoice, seller: { ...invoice.seller, iban: undefined } }],
    ['in another currency', { ...invoice, currency: 'CHF' }],
    ['above 999,999,999.99', { ...invoice, total: 100_000_000_000 }],
  ])('is left out %s', (_, facts) => {
    expect(buildEpcText(facts)).toBeUndefined();
  });

  it('is left out if nothing is open, and is there at the limit', () => {
    expect(buildEpcText(invoice, 0)).toBeUndefined();
    expect(buildEpcText(invoice, 99_999_999_999)).toContain('EUR999999999.99');
    expect(buildEpcText(invoice, 1)).toContain('EUR0.01');
  });
});

it('the link to pay by names the invoice, percent-encoded', () => {
  const link = 'https://pay.example/{number}?amount={amount}&currency={currency}&n={number}&other={other}';
  expect(fillPaymentLink(link, { number: 'INV 1/2', amount: 3451, currency: 'EUR' })).toBe(
    'https://pay.example/INV%201%2F2?amount=34.51&currency=EUR&n=INV%201%2F2&other={other}',
  );
});
