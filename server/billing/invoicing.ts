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
import { type AuditEvent, deferAuditEvent } from '../../db/tables/audit-events.ts';
import {
  findCanceledContracts,
  findContractsInArrears,
  findContractsToInvoice,
  findEndedTrials,
  type Search,
} from '../../db/tables/due-contracts.ts';
import { insertInvoice, isPastDue } from '../../db/tables/invoices.ts';
import {
  type Contract,
  isHeld,
  lockContract,
  setCancelsAt,
  setHeld,
  updateContract,
} from '../../db/tables/service-contracts.ts';
import { limitLockWait } from '../../db/timeouts.ts';
import { daysAfter } from '../basics/instant.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { applyMove, isRunning, type Move, presentStatus } from './contract-states.ts';
import { type Charge, findSettings, issueInvoice, type Settings } from './issue.ts';
import { writeDueMails } from './mails.ts';
import { endOfPeriod } from './periods.ts';

const daysToPay = 14;
const batchSize = 100;

type Billing = Pick<Dependencies, 'db' | 'now' | 'log'>;

/**
 * Invoices every period that has begun, marks contracts past due, then trials expired, and writes mails that are due, until
 * nothing is left or `signal` aborts.
 */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { now } = billing;
  await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract) => {
    return (await invoiceBegun(trx, contract, { now: now() })) !== contract;
  });
  await forEachContract(billing, signal, findContractsInArrears, (trx, contract) =>
    settleContract(trx, contract, now()),
  );
  await forEachContract(billing, signal, findCanceledContracts, (trx, contract) =>
    endContract(trx, contract, now()),
  );
  // Trials come last, because nothing waits for them: a trial counts as expired from the moment it ends. The first run may
  // find trials of many years.
  await forEachContract(billing, signal, findEndedTrials, (trx, contract) =>
    expireTrial(trx, contract, now()),
  );
  await writeDueMails(billing, signal);
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

/** `isEnding`: the contract ends, so what began while it was past due is invoiced, too. */
type Billed = { now: Date; isEnding?: boolean };

/**
 * Invoices every period that has begun and in which the contract had not ended. The result is the contract afterwards. `trx` has
 * locked the contract.
 */
export async function invoiceBegun(
  trx: Transaction<DB>,
  contract: Contract,
  billed: Billed,
): Promise<Contract> {
  // Read once: all that this transaction issues names the same version.
  const settings = await findSettings(trx);
  let present = contract;
  for (;;) {
    const next = await invoiceNextPeriod(trx, settings, present, billed);
    if (!next) return present;
    present = next;
  }
}

/** Invoices the next period. Undefined if every period that has begun is invoiced, or the next one is held. */
async function invoiceNextPeriod(
  trx: Transaction<DB>,
  settings: Settings | undefined,
  contract: Contract,
  { now, isEnding }: Billed,
): Promise<Contract | undefined> {
  const { status, price, nextPeriodStartsAt: startsAt, billingAnchorDay, cancelsAt } = contract;
  const isBilled =
    status === 'active' ||
    (status === 'past_due' && isEnding) ||
    (status === 'canceled' && cancelsAt !== null);
  // Another instance may have invoiced the period meanwhile.
  if (!isBilled || !price || !startsAt || !billingAnchorDay || startsAt > now) return;
  if (cancelsAt && startsAt >= cancelsAt) return;
  const endsAt = endOfPeriod(startsAt, price.interval, billingAnchorDay);
  const charge = { plan: contract.plan, price, startsAt, endsAt };
  if (!settings) await issueWithoutSeller(trx, contract, charge, now);
  else if (price.unitAmount > 0) {
    const issued = await issueInvoice(trx, settings, contract, charge);
    if ('held' in issued) {
      await setHeld(trx, contract.id, { code: issued.held, at: now });
      return undefined;
    }
  }
  await setHeld(trx, contract.id, null);
  const invoiced = { ...contract, nextPeriodStartsAt: endsAt };
  await updateContract(trx, contract.id, invoiced);
  return invoiced;
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
 * Makes an active contract past due if something is open past its days, and one that is past due active if nothing is. `trx` has
 * locked the contract. False if nothing was to be done.
 */
export async function settleContract(trx: Transaction<DB>, contract: Contract, now: Date): Promise<boolean> {
  // It has ended, however late the job is that writes it down.
  if (!isRunning(presentStatus(contract, now))) return false;
  const isDue = await isPastDue(trx, contract.id, now);
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
 * Ends a contract that `trx` has locked, and invoices what began before. What is held of that is invoiced later. False if it has
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
  if (!contract.cancelsAt && (await isHeld(trx, contract.id))) await setCancelsAt(trx, contract.id, now);
  return moveContract(trx, billed, 'cancel', trail);
}
