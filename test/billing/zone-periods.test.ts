// Periods in the seller's time zone: the days that documents print do not wander with the clocks (contract 7.549 and 7.550).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { endOfPeriod } from '../../server/billing/values/periods.ts';
import { openBooks, price } from '../support/billing/books.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

// It is 00:30 on 1 February in Berlin.
const begun = '2027-01-31T23:30:00.000Z';
// Nothing is past due, because then periods would not be invoiced.
const terms = { ...germanSettings.terms, past_due_after_days: 365 };
const books = shared(() => openBooks({ at: begun, settings: { ...germanSettings, terms } }));

const daysOf = async (contractId: string) =>
  (
    await sql<{ days: string }>`select first_day || ' ' || last_day as days from documents
      join invoices on invoices.number = invoice where contract_id = ${contractId} order by documents.issued_at, documents.number`.execute(
      books.db,
    )
  ).rows.map(({ days }) => days);

const scheduleOf = async (contractId: string) =>
  (
    await sql<{
      next: Date;
      anchor: number;
    }>`select next_period_starts_at as next, billing_anchor_day as anchor
      from service_contracts where id = ${contractId}`.execute(books.db)
  ).rows[0] as { next: Date; anchor: number };

/** Bills at the start of each of the next periods. */
async function follow(contractId: string, periods: number) {
  for (let count = 0; count < periods; count++) {
    await books.setClock((await scheduleOf(contractId)).next);
    await books.bill();
  }
}

const months = [
  ['2027-02-01', '2027-02-28'],
  ['2027-03-01', '2027-03-31'],
  ['2027-04-01', '2027-04-30'],
  ['2027-05-01', '2027-05-31'],
].map((days) => days.join(' '));

it('a contract that begins at half past midnight is invoiced at once, and on the first of each month, in summer too', async () => {
  await books.setClock(begun);
  const { id } = await books.report('crm_midnight');
  // Until a job runs, the period is in `waiting_periods` with its days. The previous version reads it from there, too.
  const { rows } = await sql`select starts_at, ends_at, held_code, tried_at from waiting_periods
    where contract_id = ${id}`.execute(books.db);
  const end = new Date('2027-03-01T00:00:00.000Z');
  expect(rows).toEqual([{ starts_at: new Date(begun), ends_at: end, held_code: null, tried_at: null }]);
  expect(await scheduleOf(id)).toEqual({ next: end, anchor: 1 });
  await books.bill();
  await books.bill();
  expect(await daysOf(id)).toEqual(months.slice(0, 1));
  // A report and the job at the same time bill nothing twice.
  await books.report('crm_midnight');
  await follow(id, 3);
  expect(await daysOf(id)).toEqual(months);
  // The version before computes each end by this function, from the columns that it reads.
  const { next, anchor } = await scheduleOf(id);
  expect([next, anchor]).toEqual([new Date('2027-06-01T00:00:00.000Z'), 1]);
  expect(endOfPeriod(next, 'month', anchor)).toEqual(new Date('2027-07-01T00:00:00.000Z'));
});

it('a contract from before keeps its periods until its price changes, and then has neither a gap nor a day twice', async () => {
  await books.setClock(begun);
  const { id } = await books.report('crm_before');
  // Begins the period as the version before does: at half past eleven on the 31st, in UTC.
  await sql`delete from waiting_periods where contract_id = ${id}`.execute(books.db);
  await sql`update service_contracts set next_period_starts_at = ${begun}, billing_anchor_day = 31
    where id = ${id}`.execute(books.db);
  await follow(id, 2);
  await books.setClock('2027-03-15T10:00:00.000Z');
  await books.report('crm_before', { price: { ...price, unit_amount: 3_900 } });
  expect(await scheduleOf(id)).toEqual({ next: new Date('2027-04-01T00:00:00.000Z'), anchor: 1 });
  await follow(id, 2);
  expect(await daysOf(id)).toEqual(months);
  const { rows } =
    await sql`select sum(net)::int as net from documents join invoices on invoices.number = invoice
    where contract_id = ${id}`.execute(books.db);
  expect(rows).toEqual([{ net: 2 * 2_900 + 2 * 3_900 }]);
});

it('sixteen first reports of contracts at once make one waiting period each', async () => {
  await books.setClock(begun);
  const made = await Promise.all(
    Array.from({ length: 16 }, (_, n) => books.report(`crm_many_${n % 4}`).catch(() => undefined)),
  );
  const ids = [...new Set(made.flatMap((each) => each?.id ?? []))];
  await Promise.all([books.bill(), books.bill(), books.bill()]);
  expect(ids).toHaveLength(4);
  for (const id of ids) expect(await daysOf(id)).toEqual(months.slice(0, 1));
});
