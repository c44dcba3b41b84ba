// The last day of a contract, as customers and staff read it everywhere (contract 7.428 and 7.429).
import type { Contract } from '../../../db/tables/service-contracts.ts';
import { dayIn, lastDayBefore } from '../values/days.ts';
import { presentStatus } from './contract-states.ts';

type Ending = Pick<Contract, 'status' | 'trialEndsAt' | 'cancelsAt' | 'nextPeriodStartsAt'>;

/** The day of a trial's last instant. */
export const lastDayOfTrial = (zone: string, endsAt: Date): string =>
  dayIn(zone, new Date(endsAt.getTime() - 1));

/** Null if the contract goes on, or if it ended by a report or an erasure, whose time is not stored. */
export function findLastDay(zone: string, contract: Ending, now: Date): string | null {
  const { status: stored, trialEndsAt, cancelsAt, nextPeriodStartsAt } = contract;
  const status = presentStatus(contract, now);
  if (status === 'trialing' || status === 'expired') return trialEndsAt && lastDayOfTrial(zone, trialEndsAt);
  // Version 0.6.0 left a later `cancels_at` in a contract that had ended.
  if (!cancelsAt || (status === 'canceled' && cancelsAt > now)) return null;
  // A contract that ended at once was stored as canceled then, and no period was to begin at that instant.
  const endsWithPeriod = stored !== 'canceled' || nextPeriodStartsAt?.getTime() === cancelsAt.getTime();
  return endsWithPeriod ? lastDayBefore(zone, cancelsAt) : dayIn(zone, cancelsAt);
}

/** The last day that a change in the history names. `contracts` are those of the account, as they are now. */
export const findLastDayIn =
  (zone: string, contracts: Ending[], now: Date) =>
  (member: 'trial_ends_at' | 'cancels_at', at: Date): string => {
    if (member === 'trial_ends_at') return lastDayOfTrial(zone, at);
    const contract = contracts.find(({ cancelsAt }) => cancelsAt?.getTime() === at.getTime());
    // A cancellation that was undone later, or that came to another end, was one with a period.
    return (contract && findLastDay(zone, contract, now)) ?? lastDayBefore(zone, at);
  };
