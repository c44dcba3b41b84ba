// Calculates with amounts of money (contract 7.60 and 7.61), in whole minor units. Multiplications use BigInt, because a price
// times a rate can be too large for an exact number.

/** The limit for prices and payments. */
export const maxAmount = 10 ** 12;

export type Amounts = { net: number; tax: number; total: number };

/** Divides by `divisor`, which must be above 0, and rounds half away from zero. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const [size, sign] = dividend < 0n ? [-dividend, -1n] : [dividend, 1n];
  return sign * ((size * 2n + divisor) / (divisor * 2n));
}

const wholeRate = 10_000n;

/** `rate` is in hundredths of a percent. For a net price the tax is rounded. For a gross price the net amount is rounded. */
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
 * Returns the net amount and tax of a credit of `total`, after earlier credits of `before`. It rounds the sum of all credits so
 * far, and not each credit. So all credits add up to the invoice, even if a restore has lost a credit.
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
