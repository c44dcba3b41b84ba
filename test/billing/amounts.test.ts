import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideRounded, maxAmount, shareCredit, taxPrice } from '../../server/billing/values/amounts.ts';

describe('divideRounded', () => {
  it.each([
    [5n, 2n, 3n],
    [-5n, 2n, -3n],
    [4n, 3n, 1n],
    [5n, 3n, 2n],
    [-4n, 3n, -1n],
    [0n, 7n, 0n],
  ])('%d / %d is %d, half away from zero (contract 7.60)', (dividend, divisor, result) => {
    expect(divideRounded(dividend, divisor)).toBe(result);
  });
});

describe('the tax of a price (contract 7.60)', () => {
  it.each([
    [2_900, 1_900, 'net', { net: 2_900, tax: 551, total: 3_451 }],
    [2_900, 1_900, 'gross', { net: 2_437, tax: 463, total: 2_900 }],
    // Half a cent: 50 * 19 % is 9.5.
    [50, 1_900, 'net', { net: 50, tax: 10, total: 60 }],
    [1, 1_900, 'net', { net: 1, tax: 0, total: 1 }],
    [1, 10_000, 'gross', { net: 1, tax: 0, total: 1 }],
    [2_900, 0, 'net', { net: 2_900, tax: 0, total: 2_900 }],
    [2_900, 0, 'gross', { net: 2_900, tax: 0, total: 2_900 }],
    // A double cannot multiply these amounts exactly.
    [999_999_999_999, 2_550, 'net', { net: 999_999_999_999, tax: 255_000_000_000, total: 1_254_999_999_999 }],
    [maxAmount, 1_900, 'gross', { net: 840_336_134_454, tax: 159_663_865_546, total: maxAmount }],
  ] as const)('%d at %d, %s', (price, rate, prices, amounts) => {
    expect(taxPrice(price, rate, prices)).toEqual(amounts);
  });
});

it('the credits of an invoice add up to it exactly, in any parts', () => {
  const anInvoice = fc.record({
    price: fc.integer({ min: 1, max: maxAmount }),
    rate: fc.integer({ min: 0, max: 10_000 }),
    prices: fc.constantFrom('net' as const, 'gross' as const),
  });
  fc.assert(
    fc.property(anInvoice, fc.array(fc.nat({ max: maxAmount }), { maxLength: 10 }), (given, cuts) => {
      const invoice = { ...taxPrice(given.price, given.rate, given.prices), prices: given.prices };
      const places = [...cuts.map((cut) => cut % invoice.total), invoice.total].sort((a, b) => a - b);
      let before = 0;
      const sum = { net: 0, tax: 0, total: 0 };
      for (const place of places.filter((each) => each > 0)) {
        if (place === before) continue;
        const part = shareCredit(invoice, sum, place - before);
        expect(part.net + part.tax).toBe(part.total);
        expect(Math.min(part.net, part.tax)).toBeGreaterThanOrEqual(0);
        sum.net += part.net;
        sum.tax += part.tax;
        sum.total += part.total;
        expect(sum.tax).toBeLessThanOrEqual(invoice.tax);
        before = place;
      }
      expect(sum).toEqual({ net: invoice.net, tax: invoice.tax, total: invoice.total });
    }),
  );
});

it('the rest is credited exactly, even if a restore has lost the credit before', () => {
  const invoice = { ...taxPrice(3, 3_333, 'net'), prices: 'net' as const };
  expect(invoice.tax).toBe(1);
  const first = shareCredit(invoice, { net: 0, tax: 0, total: 0 }, 1);
  const second = shareCredit(invoice, first, 1);
  expect([first.tax, second.tax]).toEqual([0, 1]);
  // The first credit note is lost, the second is recovered.
  expect(shareCredit(invoice, second, 3)).toEqual({ net: 3, tax: 0, total: 3 });
  // The second credit note is lost, the first is recovered.
  expect(shareCredit(invoice, first, 3)).toEqual({ net: 2, tax: 1, total: 3 });
});
