// Two instances issue at the same time, while their connections are cut, and issue what the preview said. `FAULTS=long` has 500
// contracts.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockContract, setCancelsAt } from '../../db/tables/service-contracts.ts';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { deferContractMail } from '../../server/billing/invoices/mails.ts';
import { type Forecast, readPreview } from '../../server/billing/invoices/preview.ts';
import { payOpen, type Recorder } from '../../server/billing/payments/allocate.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { addDays, startOfDay } from '../../server/billing/values/days.ts';
import { type Books, openBooks } from '../support/billing/books.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { createRandom, seed } from '../support/run/random.ts';

// The days run over a New Year, a 29 February, a change of clocks in each zone, and a new rate in the middle of periods.
const { perZone, firstDay, days, kills, beginWithin, newRateFrom, credited, timeout, minSeries } = byForm({
  short: {
    ...{ perZone: 30, firstDay: '2027-12-05', days: 125, kills: 7, beginWithin: 60 },
    ...{ newRateFrom: '2028-02-15', credited: 10, timeout: 120_000, minSeries: 3 },
  },
  long: {
    ...{ perZone: 167, firstDay: '2026-12-20', days: 1_105, kills: 7, beginWithin: 200 },
    ...{ newRateFrom: '2028-07-15', credited: 3, timeout: 1_500_000, minSeries: 7 },
  },
});

/** This is more months than the clock runs. */
const months = 40;

type Act =
  | { what: 'report'; contract: Parameters<Books['report']>[1] }
  | { what: 'cancel' }
  | { what: 'keep' };

type Plan = { signupId: string; buyer: string | undefined; acts: { at: Date; act: Act }[] };

const random = createRandom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;
const isLikely = (percent: number) => below(100) < percent;

/** What happens to one contract. Most begin on the last days of a month, or at midnight. */
function planContract(signupId: string, zone: string): Plan {
  const begins = addDays(firstDay, below(beginWithin));
  const on = isLikely(60) ? lateInMonth(begins) : begins;
  const times = [0, 1, 12 * 3_600_000, 24 * 3_600_000 - 60_000, below(23 * 3_600_000)];
  let at = new Date(startOfDay(zone, on).getTime() + oneOf(times));
  const interval = isLikely(15) ? 'year' : 'month';
  const currency = 'EUR';
  const price = () => ({ currency, unit_amount: isLikely(5) ? 0 : 1 + below(1_000_000), interval });
  const acts: Plan['acts'] = [];
  const add = (after: number, act: Act) => {
    at = new Date(at.getTime() + after * 24 * 3_600_000 + below(1_000));
    acts.push({ at, act });
  };
  if (isLikely(30)) {
    const trialDays = 3 + below(27);
    const ends = new Date(at.getTime() + trialDays * 24 * 3_600_000).toISOString();
    add(0, { what: 'report', contract: { status: 'trialing', trial_ends_at: ends, price: price() } });
    if (isLikely(30)) return { signupId, buyer: undefined, acts };
    add(trialDays - 1, { what: 'report', contract: { status: 'active', price: price() } });
  } else add(0, { what: 'report', contract: { price: price() } });
  for (let changes = below(3); changes > 0; changes--)
    add(10 + below(days / 3), { what: 'report', contract: { price: price() } });
  if (isLikely(30)) {
    add(5 + below(days / 3), { what: 'cancel' });
    if (isLikely(40)) add(0, { what: 'keep' });
  } else if (isLikely(15))
    add(5 + below(days / 3), { what: 'report', contract: { status: 'canceled', price: price() } });
  return { signupId, buyer: oneOf([undefined, undefined, 'DE', 'FR', 'US', 'AT']), acts };
}

function lateInMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return `${day.slice(0, 8)}${Math.min(28 + below(4), last)}`;
}

describe.each(['Europe/Berlin', 'Pacific/Auckland', 'America/Los_Angeles'])('a seller in %s', (zone) => {
  let books: Books;
  let jobs: DatabaseClient[];
  beforeAll(async () => {
    const { seller, terms, tax } = germanSettings;
    books = await openBooks({
      at: startOfDay(zone, firstDay).toISOString(),
      settings: {
        ...germanSettings,
        seller: { ...seller, time_zone: zone },
        terms: { ...terms, past_due_after_days: 60 },
        tax: {
          ...tax,
          prices: zone === 'Pacific/Auckland' ? 'gross' : 'net',
          rules: [...tax.rules, { country: 'DE', rate: 2_100, category: 'S', from: newRateFrom }],
        },
      },
    });
    const url = new URL(books.databaseUrl);
    url.searchParams.set('application_name', 'job');
    jobs = [1, 2].map(() => connect(url.href, { poolSize: 3 }));
  });
  afterAll(async () => {
    for (const { close } of jobs) await close();
    await books.close();
  });

  const inBooks = <T>(work: Parameters<typeof inTransaction<T>>[2]) =>
    inTransaction(books.db, { by: 'operator', cause: 'test' }, work);

  /** Runs the billing jobs of both instances, and repeats this until neither job was cut off. */
  async function bill(isCut: boolean): Promise<void> {
    const run = () => Promise.allSettled(jobs.map(({ db }) => runBilling({ ...books.deps, db })));
    const cut = async () => {
      await new Promise((done) => setTimeout(done, below(25)));
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'job'`.execute(books.db);
    };
    let isFirst = true;
    for (;;) {
      const [ended] = await Promise.all([run(), isFirst && isCut ? cut() : undefined]);
      isFirst = false;
      const failed = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      if (failed.length === 0) return;
      for (const error of failed) if (!isDatabaseAway(error)) throw error;
    }
  }

  /** Pays or credits open invoices, most of them days after they were due. */
  async function settle(): Promise<void> {
    const { rows } = await sql<{ number: string }>`select document as number from invoices
      where status = 'open' and due_at + make_interval(days => (number % 25)::int - 5) <= ${books.now()}`.execute(
      books.db,
    );
    const by: Recorder = { now: books.now(), recordedBy: 'operator' };
    for (const { number } of rows)
      await inBooks(async (trx) => {
        if (isLikely(credited)) await creditInvoice(trx, number, undefined, by);
        else await payOpen(trx, { number, id: `pay:${number}`, paidAt: books.now() }, by);
      });
  }

  it('issues what the preview says', { timeout }, async () => {
    const plans = Array.from({ length: perZone }, (_, at) => planContract(`Forecast${at}`, zone));
    const acts = plans
      .flatMap((plan) => plan.acts.map((each) => ({ ...each, plan })))
      .sort((a, b) => a.at.getTime() - b.at.getTime());
    const cuts = new Set(Array.from({ length: kills }, () => below(days)));
    const forecasts = new Map<string, { id: string; documents: Forecast[] }>();

    async function act({ signupId, buyer }: Plan, { what, ...rest }: Act): Promise<void> {
      if (what === 'report') {
        const isNew = !forecasts.has(signupId);
        const { contract } = rest as { contract: Parameters<Books['report']>[1] };
        const { id, accountId } = await books.report(signupId, contract);
        const vatId = buyer === 'AT' ? 'ATU12345675' : null;
        if (isNew && buyer)
          await sql`insert into billing_details
            (account_id, line1, postcode, city, country, vat_id, checked_vat_id)
            values (${accountId}, 'Street 1', '1000', 'City', ${buyer}, ${vatId}, ${vatId})`.execute(
            books.db,
          );
        if (isNew) forecasts.set(signupId, { id, documents: [] });
      } else {
        await inBooks(async (trx) => {
          const contract = await lockContract(trx, { signupId });
          if (contract?.status !== 'active' || !contract.nextPeriodStartsAt) return;
          await setCancelsAt(trx, contract.id, what === 'cancel' ? contract.nextPeriodStartsAt : null);
          const kind = what === 'cancel' ? 'contract_cancel_asked' : 'contract_kept';
          deferContractMail(trx, kind, contract, { now: books.now() });
        });
      }
      const forecast = forecasts.get(signupId);
      if (!forecast) return;
      const issued = (await books.documentsOf(forecast.id)).length;
      const preview = await readPreview(books.db, signupId, months);
      expect(preview.held).toBeNull();
      forecast.documents = [...forecast.documents.slice(0, issued), ...preview.documents];
    }

    let next = 0;
    let last = firstDay;
    for (let day = 0; day < days; day++) {
      last = addDays(firstDay, day);
      const ends = new Date(startOfDay(zone, addDays(last, 1)).getTime() - 1);
      for (; next < acts.length; next++) {
        const due = acts[next];
        if (!due || due.at > ends) break;
        await books.setClock(due.at);
        await act(due.plan, due.act);
      }
      const { rows } = await sql<{ isDue: boolean }>`select exists (
          select from service_contracts where next_period_starts_at <= ${ends} and status in ('active', 'past_due')
          union all select from waiting_periods where held_code is null
          union all select from service_contracts where cancels_at <= ${ends} and status = 'active'
        ) or ${day} % 3 = 0 as "isDue"`.execute(books.db);
      if (!rows[0]?.isDue && !cuts.has(day)) continue;
      await books.setClock(ends);
      await bill(cuts.has(day));
      if (day % 3 === 0) await settle();
    }

    let count = 0;
    for (const { id, documents } of forecasts.values()) {
      const { rows } = await sql<Forecast>`select issued_on::text, first_day::text as period_first_day,
          last_day::text as period_last_day, d.currency, net::int, tax::int, total::int, category, rate
        from documents d join invoices i on i.number = d.invoice
        where i.contract_id = ${id} and d.kind = 'invoice' order by i.period_starts_at`.execute(books.db);
      expect(rows).toEqual(documents.filter(({ issued_on }) => issued_on <= last));
      count += rows.length;
    }
    // A contract with one invoice a month has about one invoice in 30 days. By chance there may be fewer, so the test expects
    // one in 150 days.
    expect(count).toBeGreaterThan((perZone * days) / 150);
    await checkSeries(books);
    await checkMails(books);
  });
});

/** Expects no gap, no double number, and days in the order of numbers. */
async function checkSeries({ db }: Books): Promise<void> {
  const { rows } = await sql<{ series: string; count: number; max: number; isInOrder: boolean }>`
    select prefix || year as series, count(distinct at)::int as count, max(at)::int as max, bool_and(in_order) as "isInOrder"
    from (
      select prefix, year, at, issued_on >= lag(issued_on, 1, issued_on) over (partition by prefix, year order by at)
          and extract(year from issued_on) = year as in_order
      from (select *, split_part(replace(number, prefix, ''), '-', 2)::int as at from documents) numbered
    ) ordered group by 1 order by 1`.execute(db);
  expect(rows.length).toBeGreaterThanOrEqual(minSeries);
  for (const { count, max, isInOrder, series } of rows)
    expect({ series, count, isInOrder }).toEqual({ series, count: max, isInOrder: true });
}

/** Expects the two mails of each document, and no key twice. */
async function checkMails({ db }: Books): Promise<void> {
  const { rows } = await sql<{
    documents: number;
    issued: number;
    keys: number;
    all: number;
    reminded: number;
  }>`select
    (select count(*)::int from documents) as documents,
    (select count(*)::int from mails where kind in ('invoice_issued', 'credit_note_issued')) as issued,
    (select count(distinct key)::int from mails) as keys,
    (select count(*)::int from mails where key is not null) as all,
    (select count(*)::int from mails where kind like 'invoice_reminder_%') as reminded`.execute(db);
  const [found] = rows;
  expect(found?.issued).toBe((found?.documents ?? 0) * 2);
  expect(found?.all).toBe(found?.keys);
  expect(found?.reminded).toBeGreaterThan(10);
}
