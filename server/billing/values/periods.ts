// Computes billing periods, in UTC. `alignToZone` makes the first period of a contract begin on the same day in the seller's zone
// and in UTC. Then all later periods begin on the same day in both, even if version 1.0.0 computes them.
import { type Contract, type Ending, endsByReport } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';
import { dayIn, startOfDay } from './days.ts';

/**
 * Returns the anchor day a month or a year later, at the same time of day. If the month is too short, returns its last day. So
 * with the anchor day 31, 31 January leads to 28 February, and 28 February leads to 31 March.
 */
export function endOfPeriod(start: Date, interval: 'month' | 'year', anchorDay: number): Date {
  const months = start.getUTCMonth() + (interval === 'month' ? 1 : 12);
  const end = new Date(start);
  // Day 0 of a month is the last day of the month before.
  const lastDay = new Date(start);
  lastDay.setUTCFullYear(start.getUTCFullYear(), months + 1, 0);
  end.setUTCFullYear(start.getUTCFullYear(), months, Math.min(anchorDay, lastDay.getUTCDate()));
  return end;
}

/** Returns the start of the period that contains `at`, or `start` if `at` is earlier. The first period begins at `start`. */
export function startOfPresentPeriod(
  start: Date,
  interval: 'month' | 'year',
  anchorDay: number,
  at: Date,
): Date {
  let present = start;
  for (;;) {
    const end = endOfPeriod(present, interval, anchorDay);
    if (end > at) return present;
    present = end;
  }
}

/**
 * Returns the instant from which no period begins. If the CRM reported the end of the contract, this is the start of the day of
 * that end, in the seller's `zone`. The contract's last day is the day before (contract 7.525 and 7.428).
 */
export const findPeriodsEnd = (
  zone: string,
  ending: Pick<Ending, 'cancelsAt' | 'reportedCancelsAt'>,
): Date | null =>
  ending.cancelsAt && endsByReport(ending)
    ? startOfDay(zone, dayIn(zone, ending.cancelsAt))
    : ending.cancelsAt;

/** Lists the periods that are neither invoiced nor waiting yet, and that begin by `until` and before `endsAt`. */
export function listPeriods(
  { status, plan, price, billingAnchorDay, nextPeriodStartsAt }: Contract,
  until: Date,
  endsAt: Date | null,
): { charges: Charge[]; nextPeriodStartsAt: Date | null } {
  const charges: Charge[] = [];
  let startsAt = nextPeriodStartsAt;
  if ((status === 'active' || status === 'past_due') && price && billingAnchorDay)
    while (startsAt && startsAt <= until && !(endsAt && startsAt >= endsAt)) {
      const next = endOfPeriod(startsAt, price.interval, billingAnchorDay);
      charges.push({ plan, price, startsAt, endsAt: next });
      startsAt = next;
    }
  return { charges, nextPeriodStartsAt: startsAt };
}
