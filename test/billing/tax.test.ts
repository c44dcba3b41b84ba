import { describe, expect, it } from 'vitest';
import { findTax } from '../../server/billing/invoices/tax.ts';
import { germanSettings } from '../support/billing/settings.ts';

const { seller, tax } = germanSettings;
const rules = [
  { country: 'DE', rate: 1600, category: 'S', from: '2020-07-01' },
  { country: 'DE', rate: 1900, category: 'S', from: '2021-01-01' },
  { country: 'FR', rate: 2000, category: 'S', from: '2026-01-01' },
  { country: '*', rate: 0, category: 'O', words: 'Not taxable here', from: '2021-01-01' },
] as const;
const settings = { seller, tax: { ...tax, rules: [...rules] } };

const buyer = { country: 'DE', vatId: null, hasCheckedVatId: false };
const taxed = (rate: number) => ({ category: 'S', rate, words: null });
const reverse = { category: 'AE', rate: 0, words: 'Reverse charge' };
const outside = { category: 'O', rate: 0, words: 'Not taxable here' };

describe('the tax of a document (contract 7.62 to 7.64)', () => {
  it('is that of the last day of its period, by the newest rule of the country', () => {
    expect(findTax(settings, buyer, '2020-12-31')).toEqual(taxed(1600));
    expect(findTax(settings, buyer, '2021-01-01')).toEqual(taxed(1900));
    expect(findTax(settings, buyer, '2030-01-01')).toEqual(taxed(1900));
  });

  it('is unknown if no rule begins early enough, even if there is a rule for all countries', () => {
    expect(findTax(settings, buyer, '2020-06-30')).toBeUndefined();
    expect(findTax(settings, { ...buyer, country: 'FR' }, '2025-12-31')).toBeUndefined();
  });

  it('is that of the seller’s country if the buyer’s is unknown, and by the rule for all countries if that has none', () => {
    expect(findTax(settings, { ...buyer, country: null }, '2026-01-01')).toEqual(taxed(1900));
    expect(findTax(settings, { ...buyer, country: 'CH' }, '2026-01-01')).toEqual(outside);
  });

  it('is reverse charge between two member states, for a checked VAT id of the buyer’s country', () => {
    const french = { country: 'FR', vatId: 'FR40303265045', hasCheckedVatId: true };
    expect(findTax(settings, french, '2026-01-01')).toEqual(reverse);
    expect(findTax(settings, { ...french, hasCheckedVatId: false }, '2026-01-01')).toEqual(taxed(2000));
    expect(findTax(settings, { ...french, vatId: 'ATU12345678' }, '2026-01-01')).toEqual(taxed(2000));
    expect(findTax(settings, { ...french, vatId: null }, '2026-01-01')).toEqual(taxed(2000));
    // Such texts were stored while there was no postal address. At most they begin like a VAT ID.
    for (const vatId of ['wrong', 'FR wrong', 'FR-40303265045'])
      expect(findTax(settings, { ...french, vatId }, '2026-01-01')).toEqual(taxed(2000));
    for (const vatId of ['wrong', 'FR40303265045'])
      expect(findTax(settings, { ...french, country: null, vatId }, '2026-01-01')).toEqual(taxed(1900));
    const greek = { country: 'GR', vatId: 'EL123456789', hasCheckedVatId: true };
    expect(findTax(settings, greek, '2026-01-01')).toEqual(reverse);
    const german = { country: 'DE', vatId: 'DE136695976', hasCheckedVatId: true };
    expect(findTax(settings, german, '2026-01-01')).toEqual(taxed(1900));
    const swiss = { country: 'CH', vatId: 'CHE123', hasCheckedVatId: true };
    expect(findTax(settings, swiss, '2026-01-01')).toEqual(outside);
    const { vat_id: _, ...withoutId } = seller;
    expect(findTax({ ...settings, seller: withoutId }, french, '2026-01-01')).toEqual(taxed(2000));
    const atSwiss = { ...settings, seller: { ...seller, address: { ...seller.address, country: 'CH' } } };
    expect(findTax(atSwiss, french, '2026-01-01')).toEqual(taxed(2000));
  });
});
