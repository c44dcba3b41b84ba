// Invoices contracts, marks them past due, and ends them. The job may run twice, late, or on two instances at once: it locks a
// contract and reads its next period under that lock, and a unique index allows one invoice per period.
import type { Transaction } from 'kysely';
import { isDatabaseAway } from '../../../db/postgres/away.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  findCanceledContracts,
  findContractsInArrears,
  findContractsToInvoice,
  findEndedTrials,
  type Search,
} from '../../../db/tables/due-contracts.ts';
import { insertInvoice, isPastDue } from '../../../db/tables/invoices.ts';
import { releaseBillingMails } from '../../../db/tables/mails.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { type Contract, lockContract, updateContract } from '../../../db/tables/service-contracts.ts';
import { type Charge, listWaitingPeriods, setWaitingPeriods } from '../../../db/tables/waiting-periods.ts';
import { limitLockWait } from '../../../db/timeouts.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { applyMove, isRunning, type Move, presentStatus } from '../contracts/contract-states.ts';
import { listPeriods } from '../values/periods.ts';
import { type BlockedCode, findSettings, issueInvoice } from './issue.ts';
import { writeDueMails } from './mails.ts';

const daysToPay = 14;
const batchSize = 100;

type Billing = Pick<Dependencies, 'db' | 'now' | 'log'>;

/** While billing waits after a restore, only contracts and trials that are over end (contract 7.340 to 7.344). */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { db, now } = billing;
  const isWaiting = (await findBillingPause(db)) !== undefined;
  if (!isWaiting) {
    // Mails of transactions that ran during the resume and did not see it.
    await releaseBillingMails(db, now());
    await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract, at) => {
      return (await invoiceBegun(trx, contract, { now: at })) !== contract;
    });
    await forEachContract(billing, signal, findContractsInArrears, settleContract);
  }
  await forEachContract(billing, signal, findCanceledContracts, endContract);
  // Trials come last, because a trial counts as expired from the moment it ends. The first run may find many years of them.
  await forEachContract(billing, signal, findEndedTrials, expireTrial);
  if (!isWaiting) await writeDueMails(billing, signal);
}

/** Works on each contract in its own transaction, so a contract that fails does not stop the others. */
async function forEachContract(
  { db, now, log }: Billing,
  signal: AbortSignal | undefined,
  find: (db: Database, search: Search) => Promise<string[]>,
  work: (trx: Transaction<DB>, contract: Contract, at: Date) => Promise<boolean>,
): Promise<void> {
  // Contracts that failed or needed nothing are not tried again in this run.
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
 * `isEnding`: the contract ends, so periods that began while it was past due are invoiced as well. `replaces` has the lost
 * numbers that its invoices replace, by the first day of the period.
 */
type Billed = { now: Date; isEnding?: boolean; replaces?: ReadonlyMap<string, string> };

/**
 * Invoices each period that began before the contract ended. A period waits with its price if it is blocked, the contract is past
 * due, or billing waits. The result is the contract afterwards. `trx` has locked the contract.
 */
export async function invoiceBegun(
  trx: Transaction<DB>,
  contract: Contract,
  { now, isEnding, replaces }: Billed,
): Promise<Contract> {
  const { charges: begun, nextPeriodStartsAt } = listPeriods(contract, now);
  const waiting = await listWaitingPeriods(trx, contract.id);
  const charges = [...waiting, ...begun];
  if (charges.length === 0) return contract;
  const isWaiting =
    (contract.status === 'past_due' && !isEnding) || (await findBillingPause(trx)) !== undefined;
  const { left, blocked } = isWaiting
    ? { left: charges, blocked: undefined }
    : await invoiceInOrder(trx, contract, charges, { now, replaces });
  if (waiting.length > 0 || left.length > 0)
    await setWaitingPeriods(trx, contract.id, left, blocked && { code: blocked, at: now });
  if (begun.length === 0) return contract;
  const billed = { ...contract, nextPeriodStartsAt };
  await updateContract(trx, contract.id, billed);
  return billed;
}

async function invoiceInOrder(
  trx: Transaction<DB>,
  contract: Contract,
  charges: Charge[],
  { now, replaces }: Billed,
): Promise<{ left: Charge[]; blocked: BlockedCode | undefined }> {
  // Read once, so that all documents of this transaction name the same version.
  const settings = await findSettings(trx);
  for (const [at, charge] of charges.entries()) {
    if (!settings) await issueWithoutSeller(trx, contract, charge, now);
    else if (charge.price.unitAmount > 0) {
      const issued = await issueInvoice(trx, settings, contract, charge, { replaces });
      if ('blocked' in issued) return { left: charges.slice(at), blocked: issued.blocked };
    }
  }
  return { left: [], blocked: undefined };
}

/** Without billing settings, an invoice is not a tax invoice, and it may be for an amount of 0. */
async function issueWithoutSeller(
  trx: Transaction<DB>,
  contract: Contract,
  { plan, price, startsAt, endsAt }: Charge,
  now: Date,
): Promise<void> {
  const number = await insertInvoice(trx, {
    contractId: contract.id,
    plan,
    periodStartsAt: startsAt,
    periodEndsAt: endsAt,
    currency: price.currency,
    unitAmount: price.unitAmount,
    issuedAt: now,
    dueAt: daysAfter(now, daysToPay),
    ...(price.unitAmount === 0 && { paidAt: now }),
  });
  deferAuditEvent(trx, { type: 'invoice.issued', details: { number, contractId: contract.id } });
}

type Trail = Omit<AuditEvent, 'type' | 'reason'>;

/** False if the current state does not allow the move. `trx` has locked the contract. */
async function moveContract(
  trx: Transaction<DB>,
  contract: Contract,
  move: Move,
  trail?: Trail,
): Promise<boolean> {
  const status = applyMove(contract.status, move);
  if (!status) return false;
  await updateContract(trx, contract.id, { ...contract, status });
  const details = { ...trail?.details, contractId: contract.id, status };
  deferAuditEvent(trx, { ...trail, type: 'contract.moved', reason: move, details });
  return true;
}

/** False if the trial is not over, or its end is stored already. `trx` has locked the contract. */
async function expireTrial(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  return presentStatus(contract, now) === 'expired' && moveContract(trx, contract, 'expire');
}

/**
 * Moves a contract between active and past due, as its overdue invoices say. While billing waits, it does not become past due.
 * False if nothing changed. `trx` has locked the contract.
 */
export async function settleContract(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  // By the clock, because the job may store the end later.
  if (!isRunning(presentStatus(contract, now))) return false;
  const isDue = await isPastDue(trx, contract.id, now);
  // Payments from the time that the restore has lost may be reported again.
  if (isDue && contract.status === 'active' && (await findBillingPause(trx))) return false;
  if (contract.status === (isDue ? 'active' : 'past_due'))
    return moveContract(trx, contract, isDue ? 'fall_behind' : 'activate');
  return false;
}

/** Undefined if there is no such contract, false if it has already ended. */
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

/** Invoices the periods that began before, or later if they are blocked. False if it has already ended. `trx` has locked it. */
export async function endContract(
  trx: Transaction<DB>,
  contract: Contract,
  now: Date,
  trail?: Trail,
): Promise<boolean> {
  if (await expireTrial(trx, contract, now)) return false;
  const billed = await invoiceBegun(trx, contract, { now, isEnding: true });
  return moveContract(trx, billed, 'cancel', trail);
}
