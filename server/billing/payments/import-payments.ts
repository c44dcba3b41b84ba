// Records each payment of a file once, or shows what that would do (contract 7.314 to 7.319).
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction, type Origin } from '../../../db/postgres/transactions.ts';
import { findInvoiceToPay } from '../../../db/tables/invoices.ts';
import { findPayment, findPayments, type Payment } from '../../../db/tables/payments.ts';
import { findZone } from '../invoices/issue.ts';
import { noonOf } from '../values/days.ts';
import { type Recorder, recordMoney } from './allocate.ts';
import { describeRecorded } from './payment-answer.ts';
import { type Fault, type ListedPayment, normalise } from './payment-file.ts';

/** How much of a payment was allocated when it was recorded. `known`: the payment had been recorded before. */
export const outcomes = ['whole', 'part', 'unallocated', 'known'] as const;
export type Outcome = (typeof outcomes)[number];

export type LineResult = Pick<ListedPayment, 'line' | 'id' | 'number' | 'currency' | 'amount'> & {
  outcome: Outcome;
  allocated: number;
  unallocated: number;
};

const sliceSize = 1_000;

export async function findRecorded(db: Database, payments: ListedPayment[]): Promise<Map<string, Payment>> {
  const found = new Map<string, Payment>();
  for (let from = 0; from < payments.length; from += sliceSize)
    for (const payment of await findPayments(
      db,
      payments.slice(from, from + sliceSize).map(({ id }) => id),
    ))
      found.set(payment.id, payment);
  return found;
}

/** `known` has the ids that are recorded already. A fault is an id that is recorded with other facts. */
export async function findKnown(
  db: Database,
  payments: ListedPayment[],
): Promise<{ known: Set<string>; faults: Fault[] }> {
  const found = await findRecorded(db, payments);
  const faults = payments.flatMap((payment) => {
    const recorded = found.get(payment.id);
    return !recorded || isOf(payment, recorded)
      ? []
      : [{ line: payment.line, detail: 'Another payment is recorded by the id of this line.' }];
  });
  return { known: new Set(found.keys()), faults };
}

/** Does not compare the day. The day is part of the id, and the instant of noon depends on the seller's time zone. */
const isOf = ({ number, currency, amount }: ListedPayment, recorded: Payment) =>
  recorded.kind === 'payment' &&
  normalise(recorded.invoiceNumber ?? '') === number &&
  recorded.currency === currency &&
  recorded.amount === amount;

/** Shows what the import would do now. Reads only. */
export async function* planPayments(
  db: Database,
  payments: ListedPayment[],
  known: Set<string>,
): AsyncGenerator<LineResult, void> {
  const open = new Map<number, number>();
  for (const payment of payments) {
    if (known.has(payment.id)) {
      yield describe(payment, 'known');
      continue;
    }
    const invoice = payment.number === null ? undefined : await findInvoiceToPay(db, payment.number);
    const left = invoice?.currency === payment.currency ? (open.get(invoice.id) ?? invoice.open) : 0;
    const allocated = Math.min(left, payment.amount);
    if (invoice && allocated > 0) open.set(invoice.id, left - allocated);
    yield describe(payment, allocated);
  }
}

/** Records each payment in its own transaction, until the import is stopped. */
export async function* importPayments(
  db: Database,
  payments: ListedPayment[],
  {
    known,
    origin,
    by,
    isStopped,
  }: { known: Set<string>; origin: Origin; by: () => Recorder; isStopped: () => boolean },
): AsyncGenerator<LineResult, void> {
  const zone = await findZone(db);
  const noons = new Map<string, Date>();
  for (const payment of payments) {
    if (isStopped()) return;
    if (known.has(payment.id)) {
      yield describe(payment, 'known');
      continue;
    }
    const { id, number: invoiceNumber, amount, currency, day, reference } = payment;
    const noon = noons.get(day) ?? noonOf(zone, day);
    noons.set(day, noon);
    const { applied, allocated } = await inTransaction(db, origin, async (trx) => {
      // Another run may have recorded the payment before the seller's time zone changed.
      const paidAt = (await findPayment(trx, id))?.paidAt ?? noon;
      const money = { id, kind: 'payment', of: null, currency, amount, paidAt, method: null } as const;
      return describeRecorded(trx, await recordMoney(trx, { ...money, reference, invoiceNumber }, by()));
    });
    yield describe(payment, applied ? allocated : 'known');
  }
}

function describe(
  { line, id, number, currency, amount }: ListedPayment,
  allocated: number | 'known',
): LineResult {
  const said = { line, id, number, currency, amount };
  if (allocated === 'known') return { ...said, outcome: 'known', allocated: 0, unallocated: 0 };
  const outcome = allocated === amount ? 'whole' : allocated > 0 ? 'part' : 'unallocated';
  return { ...said, outcome, allocated, unallocated: amount - allocated };
}
