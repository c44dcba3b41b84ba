// Invoices: one for each period of an active contract with a price, and what it means when one is not paid.
//
// The job may run twice, late, or on two instances at once: each contract is held while its next period is
// invoiced, the period is read under that lock, and a unique index stands behind it.
import type { Transaction } from 'kysely';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { type Database, isDatabaseAway } from '../../db/client.ts';
import { closeInvoice, findInvoice, hasDueInvoice, insertInvoice } from '../../db/invoices.ts';
import type { DB } from '../../db/schema.ts';
import {
  type Contract,
  findContractsInArrears,
  findContractsToInvoice,
  lockContract,
  type Search,
  updateContract,
} from '../../db/service-contracts.ts';
import { inTransaction, limitLockWait } from '../../db/transactions.ts';
import type { Services } from '../backend.ts';
import { applyMove, type Move, presentStatus } from './contract-states.ts';
import { endOfPeriod } from './periods.ts';

const daysToPay = 14;
const batchSize = 100;

type Billing = Pick<Services, 'db' | 'now' | 'log'>;

/** Invoices what is to be invoiced, and marks what is overdue, until nothing is left or it is to stop. */
export async function runBilling(billing: Billing, signal?: AbortSignal): Promise<void> {
  const { now } = billing;
  await forEachContract(billing, signal, findContractsToInvoice, async (trx, contract) => {
    const at = now();
    return (await invoiceBegun(trx, contract, at, at)) !== contract;
  });
  await forEachContract(billing, signal, findContractsInArrears, async (trx, contract) => {
    return (await hasDueInvoice(trx, contract.id, now())) && moveContract(trx, contract, 'fall_behind');
  });
}

/** Each in a transaction of its own, held from its first statement on; one that fails does not stop the others. */
async function forEachContract(
  { db, now, log }: Billing,
  signal: AbortSignal | undefined,
  find: (db: Database, search: Search) => Promise<string[]>,
  work: (trx: Transaction<DB>, contract: Contract) => Promise<boolean>,
): Promise<void> {
  // Those that failed, and those that there was nothing to do for after all.
  const done: string[] = [];
  for (;;) {
    const ids = await find(db, { now: now(), limit: batchSize, except: done });
    if (ids.length === 0) return;
    for (const id of ids) {
      if (signal?.aborted) return;
      try {
        const isChanged = await inTransaction(db, async (trx) => {
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

/** Every period that has begun by then; the contract, which the transaction holds, as it is afterwards. */
export async function invoiceBegun(
  trx: Transaction<DB>,
  contract: Contract,
  until: Date,
  now: Date,
): Promise<Contract> {
  let present = contract;
  for (;;) {
    const next = await invoiceNextPeriod(trx, present, until, now);
    if (!next) return present;
    present = next;
  }
}

/** Undefined where no period has begun by then that is not invoiced. */
async function invoiceNextPeriod(
  trx: Transaction<DB>,
  contract: Contract,
  until: Date,
  now: Date,
): Promise<Contract | undefined> {
  const { price, nextPeriodStartsAt: startsAt, billingAnchorDay } = contract;
  // Another instance may have been here first.
  if (contract.status !== 'active' || !price || !startsAt || !billingAnchorDay || startsAt > until) return;
  const endsAt = endOfPeriod(startsAt, price.interval, billingAnchorDay);
  const isFree = price.unitAmount === 0;
  const number = await insertInvoice(trx, {
    contractId: contract.id,
    plan: contract.plan,
    periodStartsAt: startsAt,
    periodEndsAt: endsAt,
    currency: price.currency,
    unitAmount: price.unitAmount,
    // Nothing to pay is paid.
    status: isFree ? 'paid' : 'open',
    issuedAt: now,
    dueAt: new Date(now.getTime() + daysToPay * 24 * 60 * 60 * 1_000),
    paidAt: isFree ? now : null,
  });
  const invoiced = { ...contract, nextPeriodStartsAt: endsAt };
  await updateContract(trx, contract.id, invoiced);
  await recordAuditEvent(trx, { type: 'invoice.issued', details: { number, contractId: contract.id } });
  return invoiced;
}

/** False where the state does not allow it. The contract is one that the transaction holds. */
async function moveContract(trx: Transaction<DB>, contract: Contract, move: Move): Promise<boolean> {
  const status = applyMove(contract.status, move);
  if (!status) return false;
  await updateContract(trx, contract.id, { ...contract, status });
  const details = { contractId: contract.id, status };
  await recordAuditEvent(trx, { type: 'contract.moved', reason: move, details });
  return true;
}

export type ClosingOutcome = 'closed' | 'already_closed' | 'closed_otherwise' | 'unknown';

/** Records a payment, or voids an invoice; a contract with nothing overdue any more is active again. */
export async function settleInvoice(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  number: number,
  status: 'paid' | 'void',
): Promise<ClosingOutcome> {
  return inTransaction(db, async (trx) => {
    const invoice = await findInvoice(trx, number);
    if (!invoice) return 'unknown';
    // The contract first, as everywhere: so that nobody marks it overdue for this invoice meanwhile.
    const contract = await lockContract(trx, { id: invoice.contractId });
    const closing = status === 'paid' ? { status, paidAt: now() } : { status, paidAt: null };
    if (!(await closeInvoice(trx, number, closing))) {
      return (await findInvoice(trx, number))?.status === status ? 'already_closed' : 'closed_otherwise';
    }
    await recordAuditEvent(trx, { type: `invoice.${status}`, details: { number } });
    const isSettled = !(await hasDueInvoice(trx, invoice.contractId, now()));
    if (contract?.status === 'past_due' && isSettled) await moveContract(trx, contract, 'activate');
    return 'closed';
  });
}

/** Ends a contract for good; undefined where there is none, false where it has ended already. */
export async function cancelContract(
  { db, now }: Pick<Billing, 'db' | 'now'>,
  signupId: string,
): Promise<boolean | undefined> {
  return inTransaction(db, async (trx) => {
    const contract = await lockContract(trx, { signupId });
    if (!contract) return undefined;
    const begun = await invoiceBegun(trx, contract, now(), now());
    return moveContract(trx, { ...begun, status: presentStatus(begun, now()) }, 'cancel');
  });
}
