// The states of a service contract (contract 7.28 to 7.32): which state may follow which, and what a report from the CRM
// changes. A trial counts as ended once its time is over, even if the billing job has not stored its end yet.
import type {
  Contract,
  ContractStatus,
  ContractTerms,
  Ending,
} from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';
import { alignToZone } from '../values/days.ts';
import { endOfPeriod, startOfPresentPeriod } from '../values/periods.ts';

const moves = {
  activate: { from: ['trialing', 'past_due'], to: 'active' },
  fall_behind: { from: ['active'], to: 'past_due' },
  cancel: { from: ['trialing', 'active', 'past_due'], to: 'canceled' },
  expire: { from: ['trialing'], to: 'expired' },
} as const satisfies Record<string, { from: readonly ContractStatus[]; to: ContractStatus }>;

export type Move = keyof typeof moves;

/** Returns undefined if the current state does not allow the move. */
export function applyMove(status: ContractStatus, move: Move): ContractStatus | undefined {
  const { from, to } = moves[move];
  return (from as readonly ContractStatus[]).includes(status) ? to : undefined;
}

/**
 * Returns the state at the time `now`. The stored state may still be an earlier one, because the billing job changes it later.
 */
export function presentStatus(
  { status, trialEndsAt, cancelsAt }: Pick<Contract, 'status' | 'trialEndsAt' | 'cancelsAt'>,
  now: Date,
): ContractStatus {
  if (cancelsAt !== null && cancelsAt.getTime() <= now.getTime())
    return applyMove(status, 'cancel') ?? status;
  const hasEnded = trialEndsAt !== null && trialEndsAt.getTime() <= now.getTime();
  return (hasEnded && status === 'trialing' && applyMove(status, 'expire')) || status;
}

/** Returns whether the contract is neither canceled nor expired (contract 8.61). */
export const isRunning = (status: ContractStatus): boolean => status !== 'canceled' && status !== 'expired';

type Scheduled = Pick<Contract, 'status' | 'nextPeriodStartsAt'>;

/** Returns whether the contract ended with its trial, or without ever having a period. */
export const hasNoPeriods = ({ status, nextPeriodStartsAt }: Scheduled): boolean =>
  !isRunning(status) && nextPeriodStartsAt === null;

/**
 * Returns whether the contract has had its last period. Charges that wait for the next period are then due. Returns false for a
 * contract that never had a period.
 */
export const isPastLast = ({ status, nextPeriodStartsAt }: Scheduled, isEnding = false): boolean =>
  (isEnding || status === 'canceled') && nextPeriodStartsAt !== null;

/** What a report from the CRM says about a contract. */
export type Report = Pick<ContractTerms, 'plan' | 'trialEndsAt' | 'price' | 'occurredAt'> & {
  status: 'trialing' | 'active' | 'canceled';
  /** The end of the contract, as the CRM reports it. */
  cancelsAt: Date | null;
};

/**
 * Returns when this report ends the contract, or undefined if it does not. A report of `canceled` ends the contract at
 * `occurredAt`, or at `cancelsAt` if that is earlier. Any other report ends it only if its `cancelsAt` is in the past.
 */
export function readEnd({ status, cancelsAt, occurredAt }: Report, now: Date): Date | undefined {
  const ends = [...(status === 'canceled' ? [occurredAt] : []), ...(cancelsAt ? [cancelsAt] : [])];
  const earliest = ends.sort((one, other) => one.getTime() - other.getTime())[0];
  return status === 'canceled' || (earliest && earliest <= now) ? earliest : undefined;
}

/**
 * Returns the end that the contract has once `report` is stored. If somebody here chose an earlier end, that end stays. If the
 * report says `canceled`, a planned end in the future moves to the time when the report arrived (contract 7.427).
 */
export function settleCancelsAt(known: Ending | undefined, report: Report, now: Date): Ending {
  const [reportedCancelsAt, chosenCancelsAt] = [report.cancelsAt, known?.chosenCancelsAt ?? null];
  const end = readEnd(report, now);
  if (end && end <= now && reportedCancelsAt)
    return { cancelsAt: end, reportedCancelsAt: end, chosenCancelsAt };
  if (end) return { cancelsAt: known?.cancelsAt ? now : null, reportedCancelsAt, chosenCancelsAt };
  const cancelsAt =
    reportedCancelsAt && chosenCancelsAt && chosenCancelsAt < reportedCancelsAt
      ? chosenCancelsAt
      : (reportedCancelsAt ?? chosenCancelsAt);
  return { cancelsAt, reportedCancelsAt, chosenCancelsAt };
}

/**
 * For each state that a report may say: the states of the contract in which the report is stored. These are the reported state
 * itself, and each state that may move to it.
 */
const reportable: Record<Report['status'], readonly ContractStatus[]> = {
  trialing: ['trialing'],
  active: ['active', ...moves.activate.from],
  canceled: moves.cancel.from,
};

/** The values of `reason` in the answer to the CRM: why a report changed nothing (contract 7.43). */
export const idleReasons = ['older', 'same_time', 'ended', 'not_allowed'] as const;
export type IdleReason = (typeof idleReasons)[number];

/** Returns why the report changes nothing, or undefined if the report is to be stored. */
export function findIdleReason(contract: Known, report: Report, now: Date): IdleReason | undefined {
  const [reportedAt, appliedAt] = [report.occurredAt.getTime(), contract.occurredAt.getTime()];
  if (reportedAt < appliedAt) return 'older';
  if (reportedAt === appliedAt) return 'same_time';
  const status = presentStatus(contract, now);
  if (!isRunning(status)) return 'ended';
  return reportable[report.status].includes(status) ? undefined : 'not_allowed';
}

type Known = ContractTerms & Pick<Contract, 'cancelsAt'>;

/**
 * Returns the contract's terms once the report `said` is stored. The report replaces everything that earlier reports said.
 * `zone` is the seller's time zone.
 */
export function applyReport(
  contract: Known | undefined,
  said: Report,
  { now, zone }: { now: Date; zone: string },
): ContractTerms {
  const { cancelsAt: _end, ...report } = said;
  const status = readEnd(said, now) ? 'canceled' : said.status;
  return {
    ...report,
    status: presentStatus({ ...report, status, cancelsAt: null }, now),
    ...scheduleBilling(contract, { ...said, status }, now, zone),
  };
}

/**
 * Plans the billing periods. They begin when a contract is first active with a price.
 * If a contract had no price for a while, new periods start when it gets a price. The time without a price is not invoiced. A
 * period that was over when the report arrived (`now`) is not invoiced either.
 * Periods that began under version 1.0.0, or in another time zone of the seller, may begin on different days in UTC and in the
 * zone. They are aligned with the zone once the price changes (contract 7.550). If the contract has an end, nothing is aligned,
 * because the end is the start of one of these periods.
 */
function scheduleBilling(
  contract: Known | undefined,
  { status, price, occurredAt }: Report,
  now: Date,
  zone: string,
): Pick<ContractTerms, 'nextPeriodStartsAt' | 'billingAnchorDay'> {
  const { nextPeriodStartsAt = null, billingAnchorDay = null } = contract ?? {};
  const isBilled = nextPeriodStartsAt !== null && billingAnchorDay !== null;
  const goesOn = isBilled && contract?.price;
  if (status !== 'active' || !price || (goesOn && isSamePrice(contract.price, price)))
    return { nextPeriodStartsAt, billingAnchorDay };
  const isKept = isBilled && (goesOn || nextPeriodStartsAt > occurredAt);
  const from = isKept ? nextPeriodStartsAt : occurredAt;
  const start = contract?.cancelsAt ? from : alignToZone(zone, from);
  // The anchor day can be later than the day on which the period starts: 31 for a period that starts on 28 February. So if the
  // new start is on the same day of the month, the anchor day does not change.
  const isSameDay = start.getUTCDate() === from.getUTCDate();
  const anchorDay = isKept && isSameDay ? billingAnchorDay : start.getUTCDate();
  return {
    nextPeriodStartsAt: goesOn ? start : startOfPresentPeriod(start, price.interval, anchorDay, now),
    billingAnchorDay: anchorDay,
  };
}

const isSamePrice = (one: ContractTerms['price'], other: ContractTerms['price']) =>
  one?.currency === other?.currency &&
  one?.unitAmount === other?.unitAmount &&
  one?.interval === other?.interval;

/**
 * The first period of a contract begins at the time of the report. `scheduleBilling` may have moved its start to a later time
 * of that day, to align it with the zone. The billing job would invoice the period only at that time. This function takes the
 * period out of the schedule and returns it as `first`, so that the caller can invoice it immediately.
 */
export function takeFirstPeriod(
  before: ContractTerms | undefined,
  terms: ContractTerms,
  now: Date,
): { terms: ContractTerms; first?: Charge } {
  const { plan, price, occurredAt: startsAt, nextPeriodStartsAt: aligned, billingAnchorDay } = terms;
  const goesOn = before?.nextPeriodStartsAt && (before.price || before.nextPeriodStartsAt > startsAt);
  if (!price || !aligned || !billingAnchorDay || goesOn || aligned <= startsAt || aligned <= now)
    return { terms };
  const endsAt = endOfPeriod(aligned, price.interval, billingAnchorDay);
  return { terms: { ...terms, nextPeriodStartsAt: endsAt }, first: { plan, price, startsAt, endsAt } };
}
