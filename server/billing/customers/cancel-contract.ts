// A customer cancels a contract, or keeps it after all (contract 7.255 to 7.260).
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import {
  type Contract,
  endsByReport,
  findContract,
  lockContract,
  setCancelsAt,
} from '../../../db/tables/service-contracts.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { isUuid } from '../../basics/uuid.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import {
  type Actor,
  lockOpenActor,
  recordActorEvent,
  requireConfirmed,
  requireOwnAllowance,
} from '../../identity/session/actor.ts';
import { isRunning, presentStatus } from '../contracts/contract-states.ts';
import { findLastDay } from '../contracts/last-day.ts';
import { endContract, type Trail } from '../invoices/invoicing.ts';
import { findSettings } from '../invoices/issue.ts';
import { deferContractMail } from '../invoices/mails.ts';
import { lastDayBefore } from '../values/days.ts';
import { endOfPeriod, startOfPresentPeriod } from '../values/periods.ts';
import { requireProved } from './own-details.ts';

/**
 * Returns when the contract ends if it is canceled now. The contract then ends with the current period, or immediately if it is
 * a trial or has no periods.
 */
export function findEnd(contract: Contract, now: Date): Date {
  const { nextPeriodStartsAt, price, billingAnchorDay } = contract;
  if (presentStatus(contract, now) === 'trialing' || !nextPeriodStartsAt) return now;
  // The next period has not begun. So either the current period is invoiced already, or the contract has not had a period yet.
  // In both cases, the contract ends when the next period would begin.
  if (nextPeriodStartsAt > now) return nextPeriodStartsAt;
  if (!price || !billingAnchorDay) return now;
  const start = startOfPresentPeriod(nextPeriodStartsAt, price.interval, billingAnchorDay, now);
  return endOfPeriod(start, price.interval, billingAnchorDay);
}

/**
 * Returns whether the contract is canceled already. If the CRM reported the contract's end, and canceling now would end the
 * contract even earlier, this returns false.
 */
export const isCanceled = (contract: Contract, now: Date): boolean =>
  contract.cancelsAt !== null && (!endsByReport(contract) || findEnd(contract, now) >= contract.cancelsAt);

/**
 * Says how the contract ends. `wouldEndOn` is the last day if the contract is canceled now. It is null if the contract cannot
 * be canceled, or would end immediately.
 */
export function describeEnd(zone: string, contract: Contract, now: Date) {
  const status = presentStatus(contract, now);
  const endsAt = isRunning(status) && !isCanceled(contract, now) ? findEnd(contract, now) : now;
  return {
    status,
    lastDay: findLastDay(zone, contract, now),
    wouldEndOn: endsAt > now ? lastDayBefore(zone, endsAt) : null,
  };
}

/** Cancels a running contract that is not canceled yet (contract 7.256). `trx` has locked the contract. */
export async function endWithPeriod(
  trx: Transaction<DB>,
  contract: Contract,
  now: Date,
  trail?: Trail,
): Promise<void> {
  const cancelsAt = findEnd(contract, now);
  await setCancelsAt(trx, contract.id, cancelsAt);
  if (cancelsAt <= now) await endContract(trx, contract, now, trail);
}

export const mayCancel = (settings: Awaited<ReturnType<typeof findSettings>>): boolean =>
  settings?.settings.terms.customers_may_cancel === true;

/**
 * Changes nothing if the contract is canceled already. Throws 403 `email_unverified` and `not_allowed`, 404 `not_found`, 422
 * `validation_failed` if the contract has ended, 401 `login_required`, and 429 `rate_limited`.
 */
export async function cancelOwnContract(deps: Dependencies, actor: Actor, id: string): Promise<void> {
  requireProved(actor);
  await requireOwnContract(deps, actor, id);
  if (!mayCancel(await findSettings(deps.db))) throw notOffered();
  requireConfirmed(deps, actor);
  await requireOwnAllowance(deps, actor, 'contract.cancel_asked');
  await changeContract(deps, actor, id, async (trx, contract) => {
    const now = deps.now();
    if (!isRunning(presentStatus(contract, now))) throw refuse(faultWords.contract_ended);
    if (isCanceled(contract, now)) return;
    if (!mayCancel(await findSettings(trx))) throw notOffered();
    await endWithPeriod(trx, contract, now);
    await recordActorEvent(trx, actor, { type: 'contract.cancel_asked', details: { contractId: id } });
    deferContractMail(trx, 'contract_cancel_asked', contract, { now });
  });
}

/** Changes nothing if the contract is not canceled. Throws the same errors as `cancelOwnContract`. */
export async function keepOwnContract(deps: Dependencies, actor: Actor, id: string): Promise<void> {
  requireProved(actor);
  await requireOwnContract(deps, actor, id);
  requireConfirmed(deps, actor);
  await changeContract(deps, actor, id, async (trx, contract) => {
    const now = deps.now();
    if (!isRunning(presentStatus(contract, now))) throw refuse(faultWords.contract_kept_late);
    if (!contract.cancelsAt) return;
    // The CRM has reported this end, so only the CRM can undo it.
    if (endsByReport(contract)) throw refuse(faultWords.contract_ends_by_report);
    const { reportedCancelsAt } = contract;
    await setCancelsAt(trx, id, reportedCancelsAt && reportedCancelsAt > now ? reportedCancelsAt : null);
    await recordActorEvent(trx, actor, { type: 'contract.kept', details: { contractId: id } });
    deferContractMail(trx, 'contract_kept', contract, { now });
  });
}

const isOwn = (contract: Pick<Contract, 'accountId'> | undefined, { session }: Actor) =>
  contract?.accountId === session.user.account.id;

/**
 * Call this before you ask the customer for a credential. Nobody should enter a credential only to learn that the contract is
 * not theirs.
 */
async function requireOwnContract({ db }: Dependencies, actor: Actor, id: string): Promise<void> {
  if (!isUuid(id) || !isOwn(await findContract(db, { id }), actor)) throw unknown();
}

const changeContract = (
  { db }: Dependencies,
  actor: Actor,
  id: string,
  change: (trx: Transaction<DB>, contract: Contract) => Promise<void>,
): Promise<void> =>
  inTransactionOf(actor.visit, db, async (trx) => {
    await lockOpenActor(trx, actor);
    const contract = await lockContract(trx, { id });
    if (!contract || !isOwn(contract, actor)) throw unknown();
    await change(trx, contract);
  });

const refuse = (detail: string) => invalidMember('/contract', detail);

const unknown = () => new AppError('not_found', { detail: faultWords.contract_unknown });

const notOffered = () => new AppError('not_allowed', { detail: faultWords.cancel_not_offered });
