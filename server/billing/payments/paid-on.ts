// The day of a payment, as people give it: noon of that day in the seller's zone (contract 7.157).
import type { Database } from '../../../db/postgres/client.ts';
import { findZone } from '../invoices/issue.ts';
import { dayIn, noonOf } from '../values/days.ts';

/** Undefined for anything but a day from 2000 to today. Without a text it is today; without a seller, in UTC. */
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

/** Whether a text is a day from 2000 to today. */
export function isPayday(day: string, today: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || day < '2000-01-01' || day > today) return false;
  const instant = new Date(`${day}T00:00:00Z`);
  // 30 February is none.
  return !Number.isNaN(instant.getTime()) && instant.toISOString().slice(0, 10) === day;
}
