// Until 2.0.0, this finds payments that version 0.5.0 recorded from a file (contract 7.315). That version made an id from the
// texts exactly as the file had them. This version normalises the texts first, so it may make another id of the same line.
import type { Database } from '../../../db/postgres/client.ts';
import { listImported, type Payment } from '../../../db/tables/payments.ts';
import { addDays } from '../values/days.ts';
import { findRecorded } from './import-payments.ts';
import { type ListedPayment, nameOf, normalise, type PaymentFacts, writeFacts } from './payment-file.ts';

/** If a payment is recorded already, gives it the id of its record. */
export async function nameAsRecorded(db: Database, payments: ListedPayment[]): Promise<ListedPayment[]> {
  const recorded = await findRecorded(db, payments);
  const unknown = payments.filter(({ id }) => !recorded.has(id));
  if (unknown.length === 0) return payments;
  const older = findOlder(await listImported(db, [...new Set(unknown.map(({ amount }) => amount))]));
  return payments.map((payment) => {
    const id = recorded.has(payment.id) ? undefined : older.get(payment.said)?.pop();
    return id === undefined ? payment : { ...payment, id };
  });
}

/** Returns the ids of recorded payments whose texts are not normalised, by what their lines say. */
function findOlder(imported: Payment[]): Map<string, string[]> {
  const alike = new Map<string, number>();
  for (const payment of imported) {
    const written = writeFacts(factsOf(payment, ''));
    alike.set(written, (alike.get(written) ?? 0) + 1);
  }
  const older = new Map<string, string[]>();
  for (const payment of imported) {
    const day = findDay(payment, alike.get(writeFacts(factsOf(payment, ''))) ?? 0);
    if (day === undefined) continue;
    const said = say(payment, day);
    older.set(said, [...(older.get(said) ?? []), payment.id]);
  }
  return older;
}

/**
 * Finds the day that is part of the id. It may be a day before or after `paidAt`, because the seller's time zone may have
 * changed. Returns undefined if the payment's texts were normalised already, because such a payment has no older id.
 */
function findDay(payment: Payment, alike: number): string | undefined {
  const near = payment.paidAt.toISOString().slice(0, 10);
  if (writeFacts(factsOf(payment, near)) === say(payment, near)) return undefined;
  return [near, addDays(near, -1), addDays(near, 1)].find((day) =>
    Array.from({ length: alike }).some(
      (_, before) => nameOf(writeFacts(factsOf(payment, day)), before) === payment.id,
    ),
  );
}

const say = (payment: Payment, day: string): string => {
  const { number, reference, ...facts } = factsOf(payment, day);
  return writeFacts({ ...facts, number: normalise(number ?? ''), reference: normalise(reference ?? '') });
};

const factsOf = (
  { invoiceNumber: number, amount, currency, reference }: Payment,
  day: string,
): PaymentFacts => ({ number, amount, currency, day, reference });
