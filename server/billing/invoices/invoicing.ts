// Invoices: one for each period of an active contract with a price, and what happens if an invoice is not paid. Also the
// end of trials.
//
// The job may run twice, late, or on two instances at once: it locks a contract, reads its next period under that lock, and
// a unique index allows one invoice a period.
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

/**
 * Invoices every period that has begun, marks contracts past due, then trials expired, and writes mails that are due, until
 * nothing is left or `signal` aborts. While billing waits after a restore, contracts that end do so, and nothing else happens
 * (contract 7.340 to 7.344).
 */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { db, now } = billing;
  const isWaiting = (await findBillingPause(db)) !== undefined;
  if (!isWaiting) {
    // Those that somebody wrote at the moment of the resume, and who did not see it yet.
    await releaseBillingMails(db, now());
    await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract) => {
      return (await invoiceBegun(trx, contract, { now: now() })) !== contract;
    });
    await forEachContract(billing, signal, findContractsInArrears, (trx, contract) =>
      settleContract(trx, contract, now()),
    );
  }
  await forEachContract(billing, signal, findCanceledContracts, (trx, contract) =>
    endContract(trx, contract, now()),
  );
  // Trials come last, because nothing waits for them: a trial counts as expired from the moment it ends. The first run may
  // find trials of many years.
  await forEachContract(billing, signal, findEndedTrials, (trx, contract) =>
    expireTrial(trx, contract, now()),
  );
  if (!isWaiting) await writeDueMails(billing, signal);
}

/** Locks each contract in a transaction of its own. A contract that fails does not stop the others. */
async function forEachContract(
  { db, now, log }: Billing,
  signal: AbortSignal | undefined,
  find: (db: Database, search: Search) => Promise<string[]>,
  work: (trx: Transaction<DB>, contract: Contract) => Promise<boolean>,
): Promise<void> {
  // Contracts that failed, or needed nothing after all, are not taken again.
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
          return contract !== undefined && (await work(trx, contract));
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
 * `isEnding`: the contract ends, so what began while it was past due is invoiced, too. `replaces`: the lost numbers that the invoices
 * of its periods take the place of, by the first day of the period.
 */
type Billed = { now: Date; isEnding?: boolean; replaces?: ReadonlyMap<string, string> };

/**
 * Invoices every period that has begun and in which the contract had not ended. What cannot be invoiced, because it is blocked or the
 * contract is past due or billing waits, waits with its price. The result is the contract afterwards. `trx` has locked the contract.
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

/** Invoices the periods up to the first one that is blocked. The result is what is left, and why. */
async function invoiceInOrder(
  trx: Transaction<DB>,
  contract: Contract,
  charges: Charge[],
  { now, replaces }: Billed,
): Promise<{ left: Charge[]; blocked: BlockedCode | undefined }> {
  // Read once: all that this transaction issues names the same version.
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

/** As before there were sellers: an invoice that is no tax invoice, also over nothing. */
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

/** What the audit keeps of who moves a contract, if it does not move by itself. */
type Trail = Omit<AuditEvent, 'type' | 'reason'>;

/** Moves a contract to another state. False if the present state does not allow the move. `trx` has locked the contract. */
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

/** Stores that a trial is over. False if it is not over, or its end is stored already. `trx` has locked the contract. */
async function expireTrial(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  return presentStatus(contract, now) === 'expired' && moveContract(trx, contract, 'expire');
}

/**
 * Makes an active contract past due if something is open past its days, unless billing waits, and one that is past due active if
 * nothing is. `trx` has locked the contract. False if nothing was to be done.
 */
export async function settleContract(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  // It has ended, however late the job is that writes it down.
  if (!isRunning(presentStatus(contract, now))) return false;
  const isDue = await isPastDue(trx, contract.id, now);
  // What was paid in the lost time may be reported again.
  if (isDue && contract.status === 'active' && (await findBillingPause(trx))) return false;
  if (contract.status === (isDue ? 'active' : 'past_due'))
    return moveContract(trx, contract, isDue ? 'fall_behind' : 'activate');
  return false;
}

/** Ends a contract for good, for an operator. Undefined if there is no such contract, false if it has already ended. */
export async function cancelContract(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  signupId: string,
  trail?: Trail,
): Promise<boolean | undefined> {
  const why = trail?.why;
  const origin = { by: 'operator', cause: 'contract:cancel', ...(why !== undefined && { why }) } as const;
  return inTransaction(db, origin, async (trx) => {
    const contract = await lockContract(trx, { signupId });
    return contract && endContract(trx, contract, now(), trail);
  });
}

/**
 * Ends a contract that `trx` has locked, and invoices what began before. What is blocked of that is invoiced later. False if it has
 * already ended.
 */
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
