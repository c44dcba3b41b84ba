// Amounts of money (contract 7.59 to 7.61), in whole minor units. All functions are pure. Products are made with BigInt: a
// price times a rate does not fit a number.

/** The highest price and payment. */
export const maxAmount = 10 ** 12;

export type Amounts = { net: number; tax: number; total: number };

/** Divides by `divisor`, which is above 0, and rounds half away from zero. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const [size, sign] = dividend < 0n ? [-dividend, -1n] : [dividend, 1n];
  return sign * ((size * 2n + divisor) / (divisor * 2n));
}

const wholeRate = 10_000n;

/** What a price comes to. `rate` in hundredths of a percent. Of a net price the tax is rounded, of a gross price the net. */
export function taxPrice(price: number, rate: number, prices: 'net' | 'gross'): Amounts {
  const [amount, share] = [BigInt(price), BigInt(rate)];
  const [net, tax] =
    prices === 'net'
      ? [amount, divideRounded(amount * share, wholeRate)]
      : ((rounded) => [rounded, amount - rounded] as const)(
          divideRounded(amount * wholeRate, wholeRate + share),
        );
  return { net: Number(net), tax: Number(tax), total: Number(net + tax) };
}

/**
 * What a credit of `total` comes to, after `before` of the invoice was credited. The rounded part is the share of all credits so
 * far less what was credited before, so all credits of an invoice come to it exactly: also where one of them was lost in a restore,
 * and those before are not the shares that they would be.
 */
export function shareCredit(
  invoice: Amounts & { prices: 'net' | 'gross' },
  before: Amounts,
  total: number,
): Amounts {
  const [rounded, rest] = invoice.prices === 'net' ? (['tax', 'net'] as const) : (['net', 'tax'] as const);
  const credited = BigInt(before.total + total);
  const share = Number(divideRounded(BigInt(invoice[rounded]) * credited, BigInt(invoice.total)));
  const [left, leftOfRest] = [invoice[rounded] - before[rounded], invoice[rest] - before[rest]];
  const part = Math.min(Math.max(share - before[rounded], 0, total - leftOfRest), left, total);
  return invoice.prices === 'net'
    ? { net: total - part, tax: part, total }
    : { net: part, tax: total - part, total };
}
