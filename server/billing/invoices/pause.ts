// Billing waits after a restore until an operator resumes it (contract 7.340 to 7.350): numbers that somebody got in the lost
// time must not be given again.
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
import { findSettings, zoneOf } from './issue.ts';

/** Throws 409 `billing_paused`. A trigger would refuse what is issued all the same. */
export async function requireBillingGoesOn(db: Database): Promise<void> {
  if (await findBillingPause(db)) throw new AppError('billing_paused');
}

type DocumentNumber = { prefix: string; year: number; serial: number };

/** The parts of the number of a document; undefined for any other text. */
export function readDocumentNumber(text: string): DocumentNumber | undefined {
  const [, prefix, year, serial] = /^([A-Z0-9-]{1,12})(\d{4})-(\d{4,15})$/.exec(text) ?? [];
  if (prefix === undefined) return undefined;
  const read = { prefix, year: Number(year), serial: Number(serial) };
  return read.serial > 0 && writeNumber(read, read.serial) === text ? read : undefined;
}

/** More numbers than that are a typing error. */
const mostLost = 1_000;

/** What is told of numbers that are lost: the first and the last of them. */
export type Lost = { first: string; last: string; count: number };

export type Skipped = {
  /** What is lost now, by series. */
  lost: Lost[];
  /** The numbers that changed nothing, with the last one of their series, which is above. */
  below: { number: string; last: string }[];
};

/**
 * Takes the numbers up to the given ones as given, because somebody may have got them; what is not known of these is lost. Throws
 * 422 `validation_failed`. Billing waits.
 */
export async function skipNumbers(trx: Transaction<DB>, numbers: string[]): Promise<Skipped> {
  const skipped: Skipped = { lost: [], below: [] };
  for (const text of numbers) {
    const number = readDocumentNumber(text);
    if (!number) throw refuse(`${text} is no number of a document, such as INV-2026-0041.`);
    const last = await findLastNumber(trx, number);
    if (last > number.serial) skipped.below.push({ number: text, last: writeNumber(number, last) });
    // Whatever its year: a number that is here has been given.
    if (last >= number.serial) continue;
    const [settings, clock] = [await findSettings(trx), await readClock(trx)];
    const year = Number(dayIn(zoneOf(settings), clock).slice(0, 4));
    if (number.year !== year && number.year !== year - 1)
      throw refuse(`${text} is neither of this year nor of the last one.`);
    if (!(await isKnownPrefix(trx, number.prefix)))
      throw refuse(
        `No settings of billing have ever had numbers that begin with ${number.prefix}. If those that had are lost, set them again, and then run this once more.`,
      );
    const gap = await skipNumbersUpTo(trx, number, dayIn(zoneOf(settings), clock));
    if (gap) skipped.lost.push(gap);
  }
  return skipped;
}

/**
 * Takes all numbers of a series up to that one as given. Those that it skips are lost. `dated` is the day before which no document of
 * the series is dated from then on. Throws 422 `validation_failed` if it would skip too many. Billing waits.
 */
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

/** The numbers of these of whose series none was named. */
export const listUnnamed = (next: string[], named: string[]): string[] => {
  const seriesOf = (text: string) => text.replace(/\d+$/, '');
  return next.filter((number) => !named.map(seriesOf).includes(seriesOf(number)));
};

/** The numbers that are given next, one for each series in use; none without a seller. */
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

/** Such as "INV-2026-0041 to INV-2026-0043". */
export const describeSpan = ({ first, last }: Pick<Lost, 'first' | 'last'>): string =>
  first === last ? first : `${first} to ${last}`;

export const describeLost = (lost: Pick<Lost, 'first' | 'last'>[]): string =>
  lost.map(describeSpan).join(', ');

/** What stays lost, in spans of numbers that follow each other. */
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

/** Lets billing go on, on all instances, with the mails that waited. False if it did not wait. */
export async function resume(trx: Transaction<DB>, now: Date, trail: PaymentTrail): Promise<boolean> {
  if (!(await resumeBilling(trx))) return false;
  const mails = await releaseBillingMails(trx, now);
  deferAuditEvent(trx, { ...trail, type: 'billing.resumed', details: { ...trail.details, mails } });
  return true;
}
