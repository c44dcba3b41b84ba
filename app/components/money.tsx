/** `unitAmount` is in minor units. `minorDigits` is how many digits follow the decimal point. */
export type Amount = { currency: string; unitAmount: number; minorDigits: number };

export function Money({ currency, unitAmount, minorDigits }: Amount) {
  const format = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  });
  return <span className="money">{format.format(unitAmount / 10 ** minorDigits)}</span>;
}
