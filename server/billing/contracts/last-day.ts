// Finds the last day of a contract, as customers and staff read it everywhere (contract 7.428 and 7.429).
import { type Contract, endsByReport } from '../../../db/tables/service-contracts.ts';
import { dayIn, lastDayBefore } from '../values/days.ts';
import { findPeriodsEnd } from '../values/periods.ts';
import { presentStatus } from './contract-states.ts';

type Ending = Pick<
  Contract,
  'status' | 'trialEndsAt' | 'cancelsAt' | 'reportedCancelsAt' | 'nextPeriodStartsAt'
>;

/** Returns the day on which a trial's last instant falls. */
export const lastDayOfTrial = (zone: string, endsAt: Date): string =>
  dayIn(zone, new Date(endsAt.getTime() - 1));

/**
 * Returns null if the contract has no end, or if the time of its end is not stored. That time is not stored if a report or an
 * erasure ended a contract that had no planned end.
 */
export function findLastDay(zone: string, contract: Ending, now: Date): string | null {
  const { status: stored, trialEndsAt, cancelsAt, nextPeriodStartsAt } = contract;
  const status = presentStatus(contract, now);
  if (status === 'trialing' || status === 'expired') return trialEndsAt && lastDayOfTrial(zone, trialEndsAt);
  // A contract that ended under version 0.6.0 may have a `cancels_at` that is later than its real end. Nobody knows the real
  // end.
  if (!cancelsAt || (status === 'canceled' && cancelsAt > now)) return null;
  // A contract ended immediately, not with a period, if three things are true: it is stored as canceled, its next period would
  // not begin at `cancelsAt`, and the CRM did not report this end.
  const endsWithPeriod =
    stored !== 'canceled' || nextPeriodStartsAt?.getTime() === cancelsAt.getTime() || endsByReport(contract);
  const end = findPeriodsEnd(zone, contract) ?? cancelsAt;
  return endsWithPeriod ? lastDayBefore(zone, end) : dayIn(zone, end);
}

/**
 * Returns a function that finds the last day for a change in the history, if that change moved the end of a contract or of its
 * trial. `contracts` are the account's contracts as they are now.
 */
export const findLastDayIn =
  (zone: string, contracts: Ending[], now: Date) =>
  (member: 'trial_ends_at' | 'cancels_at', at: Date): string => {
    if (member === 'trial_ends_at') return lastDayOfTrial(zone, at);
    const contract = contracts.find(({ cancelsAt }) => cancelsAt?.getTime() === at.getTime());
    // If no contract has this end now, somebody has undone or replaced it. Only an end with a period can be undone or replaced.
    // So the last day is the day before the end.
    return (contract && findLastDay(zone, contract, now)) ?? lastDayBefore(zone, at);
  };
