// Invoices contracts, marks them past due, and ends them. The job may safely run twice, late, or on two instances at the same
// time. It reads the next period of a contract under a lock, and a unique index allows only one invoice for each period.
import type { Transaction } from 'kysely';
import { isDatabaseAway } from '../../../db/postgres/away.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { startVatIdWait } from '../../../db/tables/billing-details.ts';
import {
  lapseCharges,
  listOpenCharges,
  type OpenCharge,
  setChargesLeft,
} from '../../../db/tables/contract-charges.ts';
import {
  findCanceledContracts,
  findContractsInArrears,
  findContractsToInvoice,
  findEndedTrials,
  type Search,
} from '../../../db/tables/due-contracts.ts';
import { findFreeStart, isPastDue } from '../../../db/tables/invoices.ts';
import { releaseBillingMails } from '../../../db/tables/mails.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import {
  type Contract,
  endsByReport,
  lockContract,
  setCancelsAt,
  setCreditFrom,
  updateContract,
} from '../../../db/tables/service-contracts.ts';
import { type Charge, listWaitingPeriods, setWaitingPeriods } from '../../../db/tables/waiting-periods.ts';
import { limitLockWait } from '../../../db/timeouts.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { tellOtherAdministrators } from '../../identity/ground/tell-administrators.ts';
import {
  applyMove,
  hasNoPeriods,
  isPastLast,
  isRunning,
  type Move,
  presentStatus,
} from '../contracts/contract-states.ts';
import { invoicesPastDue } from '../settings/settings.ts';
import { isMoment, momentAt, planDocuments } from '../values/charges.ts';
import { findPeriodsEnd, listPeriods } from '../values/periods.ts';
import { type BlockedCode, findSettings, findZone, issueInvoice, type Settings } from './issue.ts';
import { writeDueMails } from './mails.ts';

const batchSize = 100;

export type Billing = Pick<Dependencies, 'db' | 'now' | 'log'>;

/** While billing waits after a restore, this only ends contracts and trials whose time is over (contract 7.340 to 7.344). */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { db, now } = billing;
  const isWaiting = (await findBillingPause(db)) !== undefined;
  if (!isWaiting) {
    // A transaction that ran while an operator resumed billing may have put its mails on hold. This releases them.
    await releaseBillingMails(db, now());
    await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract, at) => {
      return (await invoiceBegun(trx, contract, { now: at })) !== contract;
    });
    await forEachContract(billing, signal, findContractsInArrears, settleContract);
  }
  await forEachContract(billing, signal, findCanceledContracts, endContract);
  // Trials come last, because there may be very many of them. They can wait: all other code treats a trial as expired once its
  // time is over.
  await forEachContract(billing, signal, findEndedTrials, expireTrial);
  if (!isWaiting) await writeDueMails(billing, signal);
}

/**
 * Works on each contract in its own transaction. If the work on one contract fails, this function goes on with the next
 * contract.
 */
export async function forEachContract(
  { db, now, log }: Billing,
  signal: AbortSignal | undefined,
  find: (db: Database, search: Search) => Promise<string[]>,
  work: (trx: Transaction<DB>, contract: Contract, at: Date) => Promise<boolean>,
): Promise<void> {
  // A contract that failed or needed nothing is not tried again in this run.
  const done: string[] = [];
  for (;;) {
    const ids = await find(db, { now: now(), limit: batchSize, except: done });
    if (ids.length === 0) return;
    for (const id of ids) {
      if (signal?.aborted) return;
      try {
        const isChanged = await inTransaction(db, { by: 'service', cause: 'billing' }, async (trx) => {
          await limitLockWait(trx);
          const contract = await lockContract(trx, { id });
          return contract !== undefined && (await work(trx, contract, now()));
        });
        if (!isChanged) done.push(id);
      } catch (err) {
        if (isDatabaseAway(err)) throw err;
        done.push(id);
        log.error({ err, contractId: id }, 'billing failed');
      }
    }
  }
}

/**
 * If `isEnding`, periods that wait because the contract is past due are invoiced, too. `replaces` has lost invoice numbers, by
 * the first day of their period. The new invoice for that period replaces the lost number.
 */
type Billed = { now: Date; isEnding?: boolean; replaces?: ReadonlyMap<string, string> };

/**
 * Invoices each period that began before the contract ended. `trx` has locked the contract. Returns the contract as it is after
 * that.
 * In three cases a period waits and keeps its price: it is blocked, billing waits, or the contract is past due and the settings
 * let it wait (contract 7.476).
 */
export async function invoiceBegun(
  trx: Transaction<DB>,
  contract: Contract,
  { now, isEnding, replaces }: Billed,
): Promise<Contract> {
  const end = await findEndOf(trx, contract);
  const { charges: begun, nextPeriodStartsAt } = listPeriods(contract, now, end);
  const waiting = await listWaitingPeriods(trx, contract.id);
  const open = await listOpenCharges(trx, contract.id);
  // A waiting period that begins after the contract's end is deleted only when the end has come, because a planned end can be
  // undone.
  const isAfterEnd = ({ startsAt }: Charge) => end !== null && startsAt >= end;
  const periods = waiting.filter((period) => !isMoment(period));
  const kept = (contract.cancelsAt ?? now) > now ? periods.filter(isAfterEnd) : [];
  const charges = [...periods.filter((period) => !isAfterEnd(period)), ...begun];
  if (waiting.length + charges.length + open.length === 0) return contract;
  // The settings are read once, so that all documents of this transaction name the same version.
  const settings = await findSettings(trx);
  const waitsForMoney =
    contract.status === 'past_due' && !isEnding && settings && !invoicesPastDue(settings.settings);
  const { left, blocked } =
    waitsForMoney || (await findBillingPause(trx))
      ? { left: charges, blocked: undefined }
      : await invoiceInOrder(
          trx,
          settings,
          contract,
          { periods: charges, open },
          { now, isEnding, replaces },
        );
  if (blocked === 'vat_id_unchecked') await startVatIdWait(trx, contract.accountId);
  if (waiting.length > 0 || left.length > 0)
    await setWaitingPeriods(trx, contract.id, [...left, ...kept], blocked && { code: blocked, at: now });
  if (begun.length === 0) return contract;
  const billed = { ...contract, nextPeriodStartsAt };
  await updateContract(trx, contract.id, billed);
  return billed;
}

/**
 * Returns the time from which no period begins. Only an end that the CRM reported depends on the seller's zone, so the zone is
 * not read for other ends.
 */
const findEndOf = async (trx: Transaction<DB>, contract: Contract): Promise<Date | null> =>
  findPeriodsEnd(endsByReport(contract) ? await findZone(trx) : 'UTC', contract);

async function invoiceInOrder(
  trx: Transaction<DB>,
  settings: Settings | undefined,
  contract: Contract,
  { periods, open }: { periods: Charge[]; open: OpenCharge[] },
  { now, isEnding = false, replaces }: Billed,
): Promise<{ left: Charge[]; blocked: BlockedCode | 'no_seller' | undefined }> {
  if (!settings) {
    if (periods.length === 0) return { left: [], blocked: undefined };
    // While there is no seller, the job finds a contract only when another of its periods begins. So this runs rarely. The mail
    // is sent at most once in 30 days (contract 7.471).
    await tellOtherAdministrators(trx, { now: () => now }, { kind: 'no_seller', isOnce: true });
    return { left: periods, blocked: 'no_seller' };
  }
  const plan = { periods, open, contract, isLast: isPastLast(contract, isEnding), now };
  // Charges that are due immediately belong to no period (`at` is below 0). If their document is blocked, later documents are
  // still issued. The next run plans these charges again, for the day of that run.
  let held: { period: Charge; code: BlockedCode } | undefined;
  for (const { period: planned, lines, taken, sum } of planDocuments(plan)) {
    const at = periods.indexOf(planned);
    const period = at < 0 ? { ...planned, ...momentAt(await findFreeStart(trx, contract.id, now)) } : planned;
    if (sum > 0) {
      const issued = await issueInvoice(trx, settings, contract, period, {
        ...{ lines, replaces: at < 0 ? undefined : replaces },
      });
      if ('blocked' in issued) {
        if (at >= 0) return { left: periods.slice(at), blocked: issued.blocked };
        held ??= { period, code: issued.blocked };
        continue;
      }
    }
    await setChargesLeft(trx, contract.id, taken);
  }
  return { left: held ? [held.period] : [], blocked: held?.code };
}

export type Trail = Omit<AuditEvent, 'type' | 'reason'>;

/** Returns false if the current state does not allow the move. `trx` has locked the contract. */
async function moveContract(
  trx: Transaction<DB>,
  contract: Contract,
  move: Move,
  trail?: Trail,
): Promise<boolean> {
  const status = applyMove(contract.status, move);
  if (!status) return false;
  const moved = { ...contract, status };
  await updateContract(trx, contract.id, moved);
  if (hasNoPeriods(moved)) await lapseCharges(trx, contract.id);
  const details = { ...trail?.details, contractId: contract.id, status };
  deferAuditEvent(trx, { ...trail, type: 'contract.moved', reason: move, details });
  return true;
}

/** Returns false if the trial is not over, or if its end is stored already. `trx` has locked the contract. */
async function expireTrial(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  return presentStatus(contract, now) === 'expired' && moveContract(trx, contract, 'expire');
}

/**
 * Makes a contract past due if it has overdue invoices, and active if it has none. While billing waits, no contract becomes past
 * due. Returns false if nothing changed. `trx` has locked the contract.
 */
export async function settleContract(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  // The contract may have ended already, although its stored status says that it is running.
  if (!isRunning(presentStatus(contract, now))) return false;
  const isDue = await isPastDue(trx, contract.id, now);
  // A contract does not become past due while billing waits. The restore may have lost payments that will be reported again.
  if (isDue && contract.status === 'active' && (await findBillingPause(trx))) return false;
  if (contract.status === (isDue ? 'active' : 'past_due'))
    return moveContract(trx, contract, isDue ? 'fall_behind' : 'activate');
  return false;
}

/** Returns undefined if no contract has this signup id, and false if the contract has already ended. */
export async function cancelContract(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  signupId: string,
  trail?: Trail,
): Promise<boolean | undefined> {
  const origin = { by: 'operator', cause: 'contract:cancel', why: trail?.why } as const;
  return inTransaction(db, origin, async (trx) => {
    const contract = await lockContract(trx, { signupId });
    return contract && endContract(trx, contract, now(), trail);
  });
}

/** Call this when a contract ends. If a later end was planned, this moves the planned end to now (contract 7.427). */
export async function bringEndForward(
  trx: Transaction<DB>,
  { id, cancelsAt }: Contract,
  now: Date,
): Promise<void> {
  if (cancelsAt && cancelsAt > now) await setCancelsAt(trx, id, now);
}

/**
 * Invoices the periods that have begun, then ends the contract. Returns false if the contract had ended already. `trx` has
 * locked the contract.
 */
export async function endContract(
  trx: Transaction<DB>,
  contract: Contract,
  now: Date,
  trail?: Trail,
): Promise<boolean> {
  if (await expireTrial(trx, contract, now)) return false;
  const billed = await invoiceBegun(trx, contract, { now, isEnding: true });
  const isEnded = await moveContract(trx, billed, 'cancel', trail);
  if (isEnded) await bringEndForward(trx, contract, now);
  // Periods after the reported end may have been invoiced before the report came. This marks them, so that a credit note is
  // issued for each (contract 7.528).
  if (isEnded && endsByReport(contract) && contract.cancelsAt && contract.cancelsAt <= now)
    await setCreditFrom(trx, contract.id, await findEndOf(trx, contract));
  return isEnded;
}
