// Invoices: one for each period of an active contract with a price, and what happens if an invoice is not paid. Also the
// end of trials.
//
// The job may run twice, late, or on two instances at once: it locks a contract, reads its next period under that lock, and
// a unique index allows one invoice a period.
import type { Transaction } from 'kysely';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import {
  findContractsInArrears,
  findContractsToInvoice,
  findEndedTrials,
  type Search,
} from '../../db/tables/due-contracts.ts';
import { closeInvoice, findInvoice, hasDueInvoice, insertInvoice } from '../../db/tables/invoices.ts';
import { type Contract, lockContract, updateContract } from '../../db/tables/service-contracts.ts';
import { limitLockWait } from '../../db/timeouts.ts';
import { daysAfter } from '../basics/instant.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { applyMove, type Move, presentStatus } from './contract-states.ts';
import { endOfPeriod } from './periods.ts';

const daysToPay = 14;
const batchSize = 100;

type Billing = Pick<Dependencies, 'db' | 'now' | 'log'>;

/**
 * Invoices every period that has begun, marks contracts past due, then trials expired, until none is left or `signal`
 * aborts.
 */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { now } = billing;
  await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract) => {
    return (await invoiceBegun(trx, contract, now())) !== contract;
  });
  await forEachContract(billing, signal, findContractsInArrears, async (trx, contract) => {
    return (await hasDueInvoice(trx, contract.id, now())) && moveContract(trx, contract, 'fall_behind');
  });
  // Trials come last, because nothing waits for them: a trial counts as expired from the moment it ends. The first run may
  // find trials of many years.
  await forEachContract(billing, signal, findEndedTrials, (trx, contract) =>
    expireTrial(trx, contract, now()),
  );
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

/** Invoices every period that has begun. The result is the contract afterwards. `trx` has locked the contract. */
export async function invoiceBegun(trx: Transaction<DB>, contract: Contract, now: Date): Promise<Contract> {
  let present = contract;
  for (;;) {
    const next = await invoiceNextPeriod(trx, present, now);
    if (!next) return present;
    present = next;
  }
}

/** Invoices the next period. Undefined if every period that has begun is invoiced. */
async function invoiceNextPeriod(
  trx: Transaction<DB>,
  contract: Contract,
  now: Date,
): Promise<Contract | undefined> {
  const { price, nextPeriodStartsAt: startsAt, billingAnchorDay } = contract;
  // Another instance may have invoiced the period meanwhile.
  if (contract.status !== 'active' || !price || !startsAt || !billingAnchorDay || startsAt > now) return;
  const endsAt = endOfPeriod(startsAt, price.interval, billingAnchorDay);
  const isFree = price.unitAmount === 0;
  const number = await insertInvoice(trx, {
    contractId: contract.id,
    plan: contract.plan,
    periodStartsAt: startsAt,
    periodEndsAt: endsAt,
    currency: price.currency,
    unitAmount: price.unitAmount,
    status: isFree ? 'paid' : 'open',
    issuedAt: now,
    dueAt: daysAfter(now, daysToPay),
    paidAt: isFree ? now : null,
  });
  const invoiced = { ...contract, nextPeriodStartsAt: endsAt };
  await updateContract(trx, contract.id, invoiced);
  deferAuditEvent(trx, { type: 'invoice.issued', details: { number, contractId: contract.id } });
  return invoiced;
}

/** Moves a contract to another state. False if the present state does not allow the move. `trx` has locked the contract. */
async function moveContract(trx: Transaction<DB>, contract: Contract, move: Move): Promise<boolean> {
  const status = applyMove(contract.status, move);
  if (!status) return false;
  await updateContract(trx, contract.id, { ...contract, status });
  const details = { contractId: contract.id, status };
  deferAuditEvent(trx, { type: 'contract.moved', reason: move, details });
  return true;
}

/** Stores that a trial is over. False if it is not over, or its end is stored already. `trx` has locked the contract. */
async function expireTrial(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  return presentStatus(contract, now) === 'expired' && moveContract(trx, contract, 'expire');
}

export type ClosingOutcome = 'closed' | 'already_closed' | 'closed_otherwise' | 'unknown';

/**
 * Records a payment or voids an invoice, for an operator. If nothing is overdue any more, the contract becomes active again.
 */
export async function settleInvoice(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  number: number,
  status: 'paid' | 'void',
): Promise<ClosingOutcome> {
  return inTransaction(db, { by: 'operator', cause: `invoice:${status}` }, async (trx) => {
    const invoice = await findInvoice(trx, number);
    if (!invoice) return 'unknown';
    // The contract is locked first, so that the job cannot mark it past due for this invoice meanwhile.
    const contract = await lockContract(trx, { id: invoice.contractId });
    const closing = status === 'paid' ? { status, paidAt: now() } : { status, paidAt: null };
    if (!(await closeInvoice(trx, number, closing))) {
      return (await findInvoice(trx, number))?.status === status ? 'already_closed' : 'closed_otherwise';
    }
    deferAuditEvent(trx, { type: `invoice.${status}`, details: { number } });
    const isSettled = !(await hasDueInvoice(trx, invoice.contractId, now()));
    if (contract?.status === 'past_due' && isSettled) await moveContract(trx, contract, 'activate');
    return 'closed';
  });
}

/** Ends a contract for good, for an operator. Undefined if there is no such contract, false if it has already ended. */
export async function cancelContract(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  signupId: string,
): Promise<boolean | undefined> {
  return inTransaction(db, { by: 'operator', cause: 'contract:cancel' }, async (trx) => {
    const contract = await lockContract(trx, { signupId });
    return contract && endContract(trx, contract, now());
  });
}

/** Ends a contract that `trx` has locked. False if it has already ended. */
export async function endContract(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  if (await expireTrial(trx, contract, now)) return false;
  return moveContract(trx, await invoiceBegun(trx, contract, now), 'cancel');
}
