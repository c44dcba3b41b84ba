// Records each payment of a file one time, or shows what an import would do (contract 7.314 to 7.319, and 7.514 to 7.518).
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction, type Origin } from '../../../db/postgres/transactions.ts';
import { LostRace } from '../../../db/races.ts';
import type { DB } from '../../../db/schema.ts';
import { findInvoice, findInvoiceToPay } from '../../../db/tables/invoices.ts';
import { findPayment, findPayments, listReturns, type Payment } from '../../../db/tables/payments.ts';
import { AppError } from '../../basics/errors.ts';
import { findZone } from '../invoices/issue.ts';
import { noonOf } from '../values/days.ts';
import { lockInvoices, type Recorder, recordMoney } from './allocate.ts';
import { type Match, matchPayments, type Proposal } from './match-payments.ts';
import { describeRecorded, type PaymentAnswer } from './payment-answer.ts';
import { type Fault, type ListedPayment, normalise } from './payment-file.ts';

/**
 * What became of a payment. `whole`, `part` and `unallocated` say how much of it was allocated when it was recorded. `known`
 * means that it was recorded before. `refund` means that the money went out and gives a payment back. `left` means that it was
 * not recorded, because people have to decide. `out` means that the money went out and concerns no invoice.
 */
export const outcomes = ['whole', 'part', 'unallocated', 'known', 'refund', 'left', 'out'] as const;
export type Outcome = (typeof outcomes)[number];

export type LineResult = Pick<ListedPayment, 'line' | 'id' | 'number' | 'currency' | 'amount' | 'isOut'> & {
  outcome: Outcome;
  allocated: number;
  unallocated: number;
  /**
   * The number of the invoice that the text of the payment names. It is null if the column `number` names the invoice, or if no
   * invoice was found.
   */
  matched: string | null;
  /** Numbers of invoices that people may choose from. */
  proposals: string[];
  /** Recorded payments that may be the same payment as this one. */
  alike: string[];
};

export async function findRecorded(db: Database, payments: ListedPayment[]): Promise<Map<string, Payment>> {
  const ids = payments.map(({ id }) => id);
  return new Map((await findPayments(db, ids)).map((payment) => [payment.id, payment]));
}

/** `known` has the ids that are recorded already. It is a fault if an id is recorded with other facts. */
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

/**
 * Does not compare the day, which is part of the id. The stored instant (noon of that day) may differ, because the seller's time
 * zone may have changed.
 */
const isOf = ({ number, currency, amount, isOut }: ListedPayment, recorded: Payment) =>
  recorded.kind === (isOut ? 'refund' : 'payment') &&
  normalise(recorded.invoiceNumber ?? '') === number &&
  recorded.currency === currency &&
  recorded.amount === amount;

/** Looks for matches only of payments that are new, and whose `number` does not name an invoice. */
const findMatches = async (db: Database, payments: ListedPayment[], known: Set<string>) => {
  const asked: ListedPayment[] = [];
  for (const payment of payments)
    if (!known.has(payment.id) && !(payment.number && (await findInvoiceToPay(db, payment.number))))
      asked.push(payment);
  return matchPayments(db, asked);
};

/** Shows what the import would do now, and changes nothing. */
export async function* planPayments(
  db: Database,
  payments: ListedPayment[],
  known: Set<string>,
): AsyncGenerator<LineResult, void> {
  const matches = await findMatches(db, payments, known);
  const open = new Map<number, number>();
  const givenBack = new Set<string>();
  const planned: ListedPayment[] = [];
  const [came, went] = splitByWay(payments);
  for (const payment of [...came, ...went]) {
    const match = matches.get(payment.id);
    if (known.has(payment.id)) {
      yield describe(payment, 'known');
      continue;
    }
    const exact = match?.exact ?? (payment.isOut ? findPlanned(payment, match, planned) : undefined);
    if (payment.isOut) {
      const isNew = exact?.payment !== undefined && !givenBack.has(exact.payment);
      if (isNew) givenBack.add(exact.payment as string);
      yield isNew ? describe(payment, 'refund', { matched: exact }) : leave(payment, match);
      continue;
    }
    const number = exact?.number ?? payment.number;
    const invoice = number === null ? undefined : await findInvoiceToPay(db, number);
    const left = invoice?.currency === payment.currency ? (open.get(invoice.id) ?? invoice.open) : 0;
    const matched = exact && left === payment.amount ? exact : undefined;
    if (!matched && payment.isBank) {
      yield leave(payment, match);
      continue;
    }
    const allocated = exact && !matched ? 0 : Math.min(left, payment.amount);
    if (invoice && allocated > 0) open.set(invoice.id, left - allocated);
    if (invoice && allocated === payment.amount) planned.push({ ...payment, number: invoice.number });
    yield describe(payment, allocated, { matched, match });
  }
}

const splitByWay = (payments: ListedPayment[]): [came: ListedPayment[], went: ListedPayment[]] => [
  payments.filter(({ isOut }) => !isOut),
  payments.filter(({ isOut }) => isOut),
];

/**
 * Finds the payment that outgoing money gives back, among the payments of the same file. Returns undefined unless exactly one
 * fits.
 */
function findPlanned(
  { amount, currency }: ListedPayment,
  match: Match | undefined,
  planned: ListedPayment[],
): Proposal | undefined {
  if (!match || match.proposals.length + match.alike.length > 0) return undefined;
  const [only, ...others] = planned.filter(
    (each) => match.sure.includes(each.number ?? '') && each.amount === amount && each.currency === currency,
  );
  return only?.number && others.length === 0
    ? { number: only.number, open: 0, buyer: '', payment: only.id }
    : undefined;
}

export type Importing = { origin: Origin; by: () => Recorder };

/** Records each payment in its own transaction, until the import is stopped. */
export async function* importPayments(
  db: Database,
  payments: ListedPayment[],
  { known, origin, by, isStopped }: Importing & { known: Set<string>; isStopped: () => boolean },
): AsyncGenerator<LineResult, void> {
  const zone = await findZone(db);
  const noons = new Map<string, Date>();
  // Money that went out may refund a payment in the same file. So it is matched only after that payment is recorded.
  for (const part of splitByWay(payments)) {
    const matches = await findMatches(db, part, known);
    for (const payment of part) {
      if (isStopped()) return;
      const match = matches.get(payment.id);
      if (known.has(payment.id)) {
        yield describe(payment, 'known');
        continue;
      }
      if (payment.isBank && !match?.exact) {
        yield leave(payment, match);
        continue;
      }
      const paidAt = noons.get(payment.day) ?? noonOf(zone, payment.day);
      noons.set(payment.day, paidAt);
      yield await inTransaction(db, origin, async (trx) => {
        const { exact } = match ?? {};
        const matched = exact && (await isStillExact(trx, payment, exact)) ? exact : undefined;
        // Another import may have recorded the payment before the seller's time zone changed. Then the stored instant differs,
        // and recording the payment again would be refused.
        if (await findPayment(trx, payment.id)) return describe(payment, 'known');
        if (payment.isBank && !matched) return leave(payment, match);
        const { applied, allocated } = await recordListed(trx, payment, {
          to: matched,
          pays: matched?.number ?? payment.number,
          paidAt,
          by: by(),
        });
        if (!applied) return describe(payment, 'known');
        return describe(payment, payment.isOut ? 'refund' : allocated, { matched, match });
      });
    }
  }
}

/**
 * Returns whether the payment still fits the match `exact`. Locks the invoice, so that no other payment can pay it before the
 * transaction ends.
 */
export async function isStillExact(
  trx: Transaction<DB>,
  { amount, currency }: ListedPayment,
  exact: Proposal,
): Promise<boolean> {
  const found = await findInvoice(trx, exact.number);
  const invoice = found && (await lockInvoices(trx, [found])).get(found.id);
  if (exact.payment !== undefined) return (await listReturns(trx, exact.payment)).length === 0;
  return invoice?.open === amount && invoice.currency === currency;
}

/**
 * Records a line. Money that came in pays the invoice `pays`. Money that went out gives back the payment in `to`. The record
 * keeps the number that the payer wrote, even if the money pays another invoice. So each version of this service sees the same
 * payment in the same line.
 */
export async function recordListed(
  trx: Transaction<DB>,
  { id, number: invoiceNumber, amount, currency, reference, isOut }: ListedPayment,
  { to, pays, paidAt, by }: { to: Proposal | undefined; pays: string | null; paidAt: Date; by: Recorder },
): Promise<PaymentAnswer> {
  const facts = { id, currency, amount, paidAt, method: null, reference, invoiceNumber };
  const money =
    isOut && to?.payment
      ? ({ ...facts, kind: 'refund', of: to.payment } as const)
      : ({ ...facts, kind: 'payment', of: null } as const);
  try {
    return await describeRecorded(trx, await recordMoney(trx, money, by, isOut ? null : pays));
  } catch (error) {
    // Another import has just recorded the line, perhaps with noon of another time zone. The next attempt finds that payment.
    if (error instanceof AppError && error.code === 'idempotency_key_reused') throw new LostRace();
    throw error;
  }
}

function describe(
  { line, id, number, currency, amount, isOut }: ListedPayment,
  allocated: number | Exclude<Outcome, 'whole' | 'part' | 'unallocated'>,
  { matched, match }: { matched?: Proposal | undefined; match?: Match | undefined } = {},
): LineResult {
  const said = {
    ...{ line, id, number, currency, amount, isOut, matched: matched?.number ?? null },
    alike: match?.alike ?? [],
  };
  if (typeof allocated === 'string')
    return {
      ...{ ...said, outcome: allocated, allocated: 0, unallocated: 0 },
      proposals: allocated === 'left' ? numbersOf(match) : [],
    };
  const outcome = allocated === amount ? 'whole' : allocated > 0 ? 'part' : 'unallocated';
  const proposals = outcome === 'unallocated' ? numbersOf(match) : [];
  return { ...said, outcome, allocated, unallocated: amount - allocated, proposals };
}

const leave = (payment: ListedPayment, match: Match | undefined) =>
  describe(payment, payment.isOut && !match ? 'out' : 'left', { match });

const numbersOf = (match: Match | undefined) => [
  ...new Set((match?.proposals ?? []).map(({ number }) => number)),
];
