// Billing periods, in UTC. All functions are pure.
import type { Contract } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';

/**
 * When a period that begins at `start` ends: a month or a year later, at the same time of day, on the anchor day, or on the
 * last day of a month without that day. So 31 January leads to 28 February, and 28 February to 31 March.
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

/** The start of the first period that is not over at `at`, among the periods that follow each other from `start`. */
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

/** When the period in progress at `at` ends, among the periods that follow each other from `start`, which is not after `at`. */
export const findEndOfPresentPeriod = (
  start: Date,
  interval: 'month' | 'year',
  anchorDay: number,
  at: Date,
): Date => endOfPeriod(startOfPresentPeriod(start, interval, anchorDay, at), interval, anchorDay);

/** The periods of a contract that begin by `until` and before it ends, after those that are invoiced or wait; and what is next. */
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
