// Reads the day of a payment as people type it. The payment counts as made at noon of that day in the seller's time zone
// (contract 7.157).
import type { Database } from '../../../db/postgres/client.ts';
import { findZone } from '../invoices/issue.ts';
import { dayIn, isDay, noonOf } from '../values/days.ts';

/** If there is no text, the day is today. Returns undefined for a text that is not a day from 2000 to today. */
export async function readPaidOn(
  db: Database,
  text: string | undefined,
  now: Date,
): Promise<Date | undefined> {
  const zone = await findZone(db);
  const today = dayIn(zone, now);
  const day = text?.trim() || today;
  return isPayday(day, today) ? noonOf(zone, day) : undefined;
}

export const isPayday = (text: string, today: string): boolean =>
  isDay(text) && text >= '2000-01-01' && text <= today;
