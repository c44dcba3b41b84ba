// Computes the page /admin/billing (contract 7.191 to 7.194 and 7.300 to 7.306): what needs attention, what is to come, and the
// income. Amounts are in minor units.
import type { Transaction } from 'kysely';
import { z } from 'zod';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import {
  listBlocked,
  listIgnored,
  listIncomplete,
  listOverdue,
  listUnmade,
  listUnprinted,
  listVatIdsToCheck,
  listWaitingCountries,
  sumOpen,
  sumUnallocated,
} from '../../../db/tables/invoice-lists.ts';
import {
  hasIncomeBefore,
  type Income,
  listPastDue,
  listTrialsEnding,
  type Recurring,
  sumIncome,
  sumRecurring,
} from '../../../db/tables/reports.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { lastDayOfTrial } from '../contracts/last-day.ts';
import { divideRounded } from '../values/amounts.ts';
import { nameCountry } from '../values/countries.ts';
import { dayIn } from '../values/days.ts';
import { findSettings, zoneOf } from './issue.ts';
import { listReverseCountries } from './tax.ts';
import { overdueBefore } from './waiting-country.ts';

const most = 100;
const monthsOfIncome = 13;
const trialDays = 30;
const unprintedDays = 30;

/** A month such as 2025-11. */
export const monthSchema = z
  .string()
  .max(7)
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/);

/** Uses only one connection, so that the other connections stay free for logins. */
export const summariseBilling = ({ db, now }: Pick<Dependencies, 'db' | 'now'>, before?: string) =>
  inTransaction(db, { by: 'service' }, (trx) => readSummary(trx, { now: now(), before }));

export async function readSummary(
  db: Transaction<DB>,
  { now, before }: { now: Date; before?: string | undefined },
) {
  const settings = await findSettings(db);
  const zone = zoneOf(settings);
  // Without `before`, the span has no end, because a document may have a date in the future. Such a document is added to the
  // newest month.
  const from = addMonth(before ?? addMonth(dayIn(zone, now).slice(0, 7), 1), -monthsOfIncome);
  const limit = most + 1;
  const [
    vatIds,
    open,
    overdue,
    held,
    incomplete,
    ignored,
    unmade,
    unprinted,
    countries,
    unallocated,
    recurring,
    trials,
    pastDue,
    income,
    more,
    waitsSince,
  ] = await Promise.all([
    listVatIdsToCheck(db, listReverseCountries(settings?.settings.seller)),
    sumOpen(db, now),
    listOverdue(db, now),
    listBlocked(db),
    listIncomplete(db),
    listIgnored(db),
    listUnmade(db),
    listUnprinted(db, daysAfter(now, -unprintedDays)),
    listWaitingCountries(db),
    sumUnallocated(db),
    sumRecurring(db, now),
    listTrialsEnding(db, { now, until: daysAfter(now, trialDays), limit }),
    listPastDue(db, { now, limit }),
    sumIncome(db, { from, before }),
    hasIncomeBefore(db, from),
    findBillingPause(db),
  ]);
  const lists = { vatIds, overdue, pastDue, held, countries, incomplete, ignored, unmade, unprinted, trials };
  return {
    /** VAT ids that wait for an administrator, and could reverse the tax. */
    vatIds: vatIds.slice(0, most),
    open: open.map(withDigits),
    overdue: overdue.slice(0, most).map(withDigits),
    pastDue: pastDue.slice(0, most).map(({ open, waiting, ...contract }) => ({
      ...contract,
      open: open.map(withDigits),
      /** How many periods will not be invoiced until the customer has paid, and the sums of their prices. */
      waiting: { count: waiting.count, sums: waiting.sums.map(withDigits) },
    })),
    unallocated: unallocated.map(withDigits),
    held: held.slice(0, most),
    /** Countries that wait for an administrator, because they would change the tax. */
    countries: countries
      .slice(0, most)
      .map((each) => ({ ...each, isOverdue: each.since < overdueBefore(now) })),
    incomplete: incomplete.slice(0, most),
    ignored: ignored.slice(0, most),
    unmade: unmade.slice(0, most),
    /** Documents of the last 30 days that show some letters as □. */
    unprinted: unprinted.slice(0, most),
    trials: trials
      .slice(0, most)
      .map((trial) => ({ ...trial, lastDay: lastDayOfTrial(zone, trial.trialEndsAt) })),
    recurring: recurring.map(describeRecurring),
    /** Whether plan prices include tax. Null without a seller. */
    prices: settings?.settings.tax.prices ?? null,
    income: { rows: income.map(describeIncome), earlier: more ? from : null },
    /** When the database was restored, if billing still waits because of it. */
    waitsSince: waitsSince ?? null,
    /** The names of the lists that were cut off. */
    more: Object.entries(lists).flatMap(([name, { length }]) => (length > most ? [name] : [])),
  };
}

const withDigits = <T extends { currency: string }>(each: T) => ({
  ...each,
  minorDigits: minorDigits(each.currency),
});

const describeIncome = (row: Income) => ({
  ...withDigits(row),
  countryName: row.country && nameCountry(row.country),
});

/**
 * Computes the recurring income of one month. A yearly price is divided by 12, and only the sum is rounded (contract 7.304).
 */
function describeRecurring({ plan, currency, count, yearly, ofMonths, ofYears }: Recurring) {
  const twelfths = BigInt(ofMonths) * 12n + BigInt(ofYears);
  return {
    ...{ plan, currency, count, yearly },
    amount: Number(divideRounded(twelfths, 12n)),
    minorDigits: currency === null ? 0 : minorDigits(currency),
  };
}

function addMonth(month: string, months: number): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + months);
  return first.toISOString().slice(0, 7);
}
