// The states of a service contract (contract 7.28 to 7.32): which state may follow which, and what a report from the CRM
// changes. All functions are pure. They work out from the clock each time whether a trial is over, so a trial has ended for
// everybody before the billing job writes its end down.
import type { Contract, ContractStatus, ContractTerms } from '../../../db/tables/service-contracts.ts';
import { startOfPresentPeriod } from '../values/periods.ts';

const moves = {
  activate: { from: ['trialing', 'past_due'], to: 'active' },
  fall_behind: { from: ['active'], to: 'past_due' },
  cancel: { from: ['trialing', 'active', 'past_due'], to: 'canceled' },
  expire: { from: ['trialing'], to: 'expired' },
} as const satisfies Record<string, { from: readonly ContractStatus[]; to: ContractStatus }>;

export type Move = keyof typeof moves;

/** The state after a move, or undefined if the present state does not allow it. */
export function applyMove(status: ContractStatus, move: Move): ContractStatus | undefined {
  const { from, to } = moves[move];
  return (from as readonly ContractStatus[]).includes(status) ? to : undefined;
}

/** The state at `now`: a trial expires the moment it ends, and a contract that a customer ended is canceled from then on. */
export function presentStatus(
  { status, trialEndsAt, cancelsAt }: Pick<Contract, 'status' | 'trialEndsAt' | 'cancelsAt'>,
  now: Date,
): ContractStatus {
  if (cancelsAt !== null && cancelsAt.getTime() <= now.getTime())
    return applyMove(status, 'cancel') ?? status;
  const hasEnded = trialEndsAt !== null && trialEndsAt.getTime() <= now.getTime();
  return (hasEnded && status === 'trialing' && applyMove(status, 'expire')) || status;
}

/** Whether a contract in that state goes on (contract 8.62). */
export const isRunning = (status: ContractStatus): boolean => status !== 'canceled' && status !== 'expired';

/** What a report from the CRM says about a contract. */
export type Report = Pick<ContractTerms, 'plan' | 'trialEndsAt' | 'price' | 'occurredAt'> & {
  status: 'trialing' | 'active' | 'canceled';
};

/** The states in which a report counts: those that the report leaves as they are, and those that may move to what it says. */
const reportable: Record<Report['status'], readonly ContractStatus[]> = {
  trialing: ['trialing'],
  active: ['active', ...moves.activate.from],
  canceled: moves.cancel.from,
};

/** Why a report changes nothing, as the CRM gets it (contract 7.43). */
export const idleReasons = ['older', 'same_time', 'ended', 'not_allowed'] as const;
export type IdleReason = (typeof idleReasons)[number];

/** Why a report changes nothing, or undefined if it counts. */
export function findIdleReason(
  contract: ContractTerms & Pick<Contract, 'cancelsAt'>,
  report: Report,
  now: Date,
): IdleReason | undefined {
  const [reportedAt, appliedAt] = [report.occurredAt.getTime(), contract.occurredAt.getTime()];
  if (reportedAt < appliedAt) return 'older';
  if (reportedAt === appliedAt) return 'same_time';
  const status = presentStatus(contract, now);
  if (!isRunning(status)) return 'ended';
  return reportable[report.status].includes(status) ? undefined : 'not_allowed';
}

/** All terms after a report that counts, which replaces the last report whole. */
export function applyReport(contract: ContractTerms | undefined, report: Report, now: Date): ContractTerms {
  return {
    ...report,
    status: presentStatus({ ...report, cancelsAt: null }, now),
    ...scheduleBilling(contract, report, now),
  };
}

/**
 * When billing periods begin. They begin when a contract is first active with a price. If the contract had no price for a
 * while, they begin again when it gets a price: the time between is not invoiced, nor is a period that was over at `now`,
 * when the report arrived.
 */
function scheduleBilling(
  contract: ContractTerms | undefined,
  { status, price, occurredAt }: Report,
  now: Date,
): Pick<ContractTerms, 'nextPeriodStartsAt' | 'billingAnchorDay'> {
  const { nextPeriodStartsAt, billingAnchorDay } = contract ?? {
    nextPeriodStartsAt: null,
    billingAnchorDay: null,
  };
  const isBilled = nextPeriodStartsAt !== null && billingAnchorDay !== null;
  if (status !== 'active' || !price || (isBilled && contract?.price))
    return { nextPeriodStartsAt, billingAnchorDay };
  const [start, anchorDay] =
    isBilled && nextPeriodStartsAt > occurredAt
      ? [nextPeriodStartsAt, billingAnchorDay]
      : [occurredAt, occurredAt.getUTCDate()];
  return {
    nextPeriodStartsAt: startOfPresentPeriod(start, price.interval, anchorDay, now),
    billingAnchorDay: anchorDay,
  };
}
