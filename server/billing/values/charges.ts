// Decides which charges go onto which document (contract 7.531 to 7.534). Invoices and previews use the same functions.
import type { ContractCharge, OpenCharge } from '../../../db/tables/contract-charges.ts';
import type { Contract } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';
import { maxAmount } from './amounts.ts';

/** A line of a document. `amount` is for the whole `quantity`. `amount` includes tax if the prices in the settings do. */
export type ChargeLine = Pick<ContractCharge, 'id' | 'title' | 'quantity'> & { amount: number };

/**
 * A planned document: a period, and its charges. `taken` has these charges, and how much of each remains for later documents.
 */
export type Planned = {
  period: Charge;
  lines: ChargeLine[];
  taken: { id: string; left: number }[];
  sum: number;
};

/** Charges without a period are invoiced as if they had a period of one millisecond and no price. */
export const isMoment = ({ startsAt, endsAt }: Pick<Charge, 'startsAt' | 'endsAt'>): boolean =>
  endsAt.getTime() - startsAt.getTime() === 1;

export const momentAt = (at: Date) => ({ startsAt: at, endsAt: new Date(at.getTime() + 1) });

type Plan = {
  /** Sorted by their start. */
  periods: Charge[];
  open: OpenCharge[];
  contract: Pick<Contract, 'plan' | 'price' | 'nextPeriodStartsAt'>;
  /** Whether no further period of the contract follows. If so, charges that wait for the next period are due. */
  isLast: boolean;
  now: Date;
  /** The end of the contract, if it is within the planned time. Charges that become due at this end are planned, too. */
  endsAt?: Date | undefined;
};

/** Plans the documents of begun periods, of charges that are due immediately, and of later periods. */
export function* planDocuments(given: Plan): Generator<Planned, void> {
  const { periods, open, contract, isLast, now, endsAt } = given;
  let rest = open;
  const { plan: name, price: present, nextPeriodStartsAt } = contract;
  const plan = (period: Charge, isOver = isLast): Planned => {
    // A charge in another currency than the contract's price fits no later period. So it is due immediately.
    const isDue = ({ currency, due }: OpenCharge) =>
      due === 'now' || isOver || (nextPeriodStartsAt && present && present.currency !== currency);
    const fits = rest.filter(
      (charge) => charge.currency === period.price.currency && (!isMoment(period) || isDue(charge)),
    );
    const planned = takeCharges(period, fits);
    const left = new Map(planned.taken.map((each) => [each.id, each.left]));
    rest = rest.flatMap((charge) => {
      const still = left.get(charge.id) ?? charge.left;
      return still === 0 ? [] : { ...charge, left: still };
    });
    return planned;
  };
  function* planMoments(at: Date, isOver: boolean): Generator<Planned, void> {
    for (const currency of new Set(open.map((charge) => charge.currency))) {
      const price = { currency, unitAmount: 0, quantity: 1 };
      const planned = plan({ plan: name, price, ...momentAt(at) }, isOver);
      if (planned.sum > 0) yield planned;
    }
  }
  for (const period of periods) if (period.startsAt <= now) yield plan(period);
  yield* planMoments(now, isLast);
  for (const period of periods) if (period.startsAt > now) yield plan(period);
  if (endsAt) yield* planMoments(endsAt, true);
}

/** A document uses a deduction only up to the sum that is to be paid. The rest of the deduction waits for the next document. */
function takeCharges(period: Charge, open: OpenCharge[]): Planned {
  const planned: Planned = { period, lines: [], taken: [], sum: period.price.unitAmount };
  for (const { id, title, quantity, unitAmount, left } of open) {
    const amount = left > 0 ? left : Math.max(left, -planned.sum);
    if (amount === 0 || planned.sum + amount > maxAmount) continue;
    planned.sum += amount;
    planned.taken.push({ id, left: left - amount });
    planned.lines.push({ id, title, quantity: amount === unitAmount * quantity ? quantity : 1, amount });
  }
  return planned;
}
