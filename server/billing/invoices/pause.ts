// After a restore, billing waits until an operator resumes it (contract 7.340 to 7.349). New documents must not get the numbers
// that the restore lost.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { isKnownPrefix } from '../../../db/tables/billing-settings.ts';
import { findLastNumber, lockSeries, raiseSeries, writeNumber } from '../../../db/tables/document-series.ts';
import { readClock } from '../../../db/tables/documents.ts';
import { insertLostDocuments, listLostDocuments } from '../../../db/tables/lost-documents.ts';
import { releaseBillingMails } from '../../../db/tables/mails.ts';
import { findBillingPause, resumeBilling } from '../../../db/tables/restores.ts';
import type { PaymentTrail } from '../../acts/act.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { dayIn } from '../values/days.ts';
import { findSettings, findZone, zoneOf } from './issue.ts';

/**
 * Throws 409 `billing_paused` while billing waits. A trigger in the database would also refuse the document, but its error has no
 * code for the caller.
 */
export async function requireBillingGoesOn(db: Database): Promise<void> {
  if (await findBillingPause(db)) throw new AppError('billing_paused');
}

type DocumentNumber = { prefix: string; year: number; serial: number };

/** Returns undefined for a text that is not a document number. */
export function readDocumentNumber(text: string): DocumentNumber | undefined {
  const [, prefix, year, serial] = /^([A-Z0-9-]{1,12})(\d{4})-(\d{4,15})$/.exec(text) ?? [];
  if (prefix === undefined) return undefined;
  const read = { prefix, year: Number(year), serial: Number(serial) };
  return read.serial > 0 && writeNumber(read, read.serial) === text ? read : undefined;
}

/** If more numbers than this would be lost, the given number is probably a typing error. */
const mostLost = 1_000;

export type Lost = { first: string; last: string; count: number };

export type Skipped = {
  /** For each series, one span of lost numbers. */
  lost: Lost[];
  /** The given numbers that changed nothing, because the last number of their series is higher. `last` is that number. */
  below: { number: string; last: string }[];
};

/**
 * Marks each of `numbers` and all earlier numbers of its series as used, because somebody may have documents with these
 * numbers. The numbers that were not used before are lost. Works only while billing waits. Throws 422 `validation_failed`.
 */
export async function skipNumbers(trx: Transaction<DB>, numbers: string[]): Promise<Skipped> {
  const skipped: Skipped = { lost: [], below: [] };
  for (const text of numbers) {
    const number = readDocumentNumber(text);
    if (!number) throw refuse(`${text} is no number of a document, such as INV-2026-0041.`);
    const last = await findLastNumber(trx, number);
    if (last > number.serial) skipped.below.push({ number: text, last: writeNumber(number, last) });
    // If the series has already used this number, nothing changes, so the number's year is not checked.
    if (last >= number.serial) continue;
    const today = dayIn(await findZone(trx), await readClock(trx));
    const year = Number(today.slice(0, 4));
    if (number.year !== year && number.year !== year - 1)
      throw refuse(`${text} is neither of this year nor of the last one.`);
    if (!(await isKnownPrefix(trx, number.prefix)))
      throw refuse(
        `No settings of billing have ever had numbers that begin with ${number.prefix}. If those that had are lost, set them again, and then run this once more.`,
      );
    const gap = await skipNumbersUpTo(trx, number, today);
    if (gap) skipped.lost.push(gap);
  }
  return skipped;
}

/** After this, no new document of the series gets a date before `dated`. Throws 422 `validation_failed` for too many numbers. */
async function skipNumbersUpTo(
  trx: Transaction<DB>,
  number: DocumentNumber,
  dated: string,
): Promise<Lost | undefined> {
  const endOfYear = `${number.year}-12-31`;
  const day = dated < endOfYear ? dated : endOfYear;
  const { lastNumber } = await lockSeries(trx, number, day);
  await raiseSeries(trx, number, { lastNumber: number.serial, lastIssuedOn: day });
  const count = number.serial - lastNumber;
  if (count <= 0) return undefined;
  if (count > mostLost)
    throw refuse(
      `${writeNumber(number, number.serial)} is ${count} numbers above the last one here, ${writeNumber(number, lastNumber)}. If that is no typing error, go there in steps of ${mostLost}.`,
    );
  const lost = Array.from({ length: count }, (_, at) => writeNumber(number, lastNumber + 1 + at));
  await insertLostDocuments(trx, lost);
  const [first, last] = [lost[0] as string, lost.at(-1) as string];
  const details = { number: describeSpan({ first, last }), count, by: 'cli' };
  deferAuditEvent(trx, { type: 'document.lost', details });
  return { first, last, count };
}

const refuse = (detail: string) => invalidMember('/last', detail);

/** Returns the numbers in `next` that belong to none of the series in `named`. */
export const listUnnamed = (next: string[], named: string[]): string[] => {
  const seriesOf = (text: string) => text.replace(/\d+$/, '');
  return next.filter((number) => !named.map(seriesOf).includes(seriesOf(number)));
};

/** Returns the next number of each series in use. Without a seller, there are no series. */
export async function listNextNumbers(db: Database): Promise<string[]> {
  const settings = await findSettings(db);
  if (!settings) return [];
  const year = Number(dayIn(zoneOf(settings), await readClock(db)).slice(0, 4));
  const { invoice, credit_note } = settings.settings.numbers;
  const numbers: string[] = [];
  for (const prefix of [invoice, credit_note])
    numbers.push(writeNumber({ prefix, year }, (await findLastNumber(db, { prefix, year })) + 1));
  return numbers;
}

/** Writes a span such as "INV-2026-0041 to INV-2026-0043". */
export const describeSpan = ({ first, last }: Pick<Lost, 'first' | 'last'>): string =>
  first === last ? first : `${first} to ${last}`;

export const describeLost = (lost: Pick<Lost, 'first' | 'last'>[]): string =>
  lost.map(describeSpan).join(', ');

/** Returns the lost numbers, as spans of consecutive numbers. */
export async function listLost(db: Database): Promise<Lost[]> {
  const spans: (Lost & { end: DocumentNumber })[] = [];
  for (const text of await listLostDocuments(db)) {
    const number = readDocumentNumber(text) as DocumentNumber;
    const span = spans.find(
      ({ end }) =>
        end.prefix === number.prefix && end.year === number.year && end.serial + 1 === number.serial,
    );
    if (span) Object.assign(span, { last: text, count: span.count + 1, end: number });
    else spans.push({ first: text, last: text, count: 1, end: number });
  }
  return spans.map(({ end, ...lost }) => lost);
}

/** Resumes billing on all instances, and releases the mails on hold. Returns false if billing was not waiting. */
export async function resume(trx: Transaction<DB>, now: Date, trail: PaymentTrail): Promise<boolean> {
  if (!(await resumeBilling(trx))) return false;
  const mails = await releaseBillingMails(trx, now);
  deferAuditEvent(trx, { ...trail, type: 'billing.resumed', details: { ...trail.details, mails } });
  return true;
}
