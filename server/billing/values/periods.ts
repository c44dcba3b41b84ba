// Billing periods, in UTC. The first one of a contract begins on the same day in the seller's zone and in UTC (`alignToZone`), so
// all of them do, also if 1.0.0 computes the next one.
import type { Contract } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';

/**
 * Returns the anchor day a month or a year later, at the same time of day. If the month is too short, its last day counts.
 * So with the anchor day 31, 31 January leads to 28 February, and 28 February leads to 31 March.
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

/** Lists the periods that begin by `until` and before the contract ends, but not those already invoiced or waiting. */
export function listPeriods(
  { status, plan, price, billingAnchorDay, cancelsAt, nextPeriodStartsAt }: Contract,
  until: Date,
): { charges: Charge[]; nextPeriodStartsAt: Date | null } {
  const charges: Charge[] = [];
  let startsAt = nextPeriodStartsAt;
  if ((status === 'active' || status === 'past_due') && price && billingAnchorDay)
    while (startsAt && startsAt <= until && !(cancelsAt && startsAt >= cancelsAt)) {
      const endsAt = endOfPeriod(startsAt, price.interval, billingAnchorDay);
      charges.push({ plan, price, startsAt, endsAt });
      startsAt = endsAt;
    }
  return { charges, nextPeriodStartsAt: startsAt };
}
