// What billing brings in, as administrators see it (contract 7.300 to 7.306).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { summariseBilling } from '../../server/billing/invoices/summary.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import { openBooks } from '../support/billing/books.ts';
import { addOldInvoice } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const books = shared(() => openBooks({ at: '2026-01-31T22:30:00.000Z', settings: germanSettings }));

const summarise = (before?: string) => summariseBilling({ db: books.db, now: books.now }, before);

/** Net and tax in hundredths by currency, country, category and rate, added up from the files. */
async function addUpTaxFile(from: string, to: string) {
  const files: Record<string, string[][]> = {};
  await exportBooks(books.db, { from, to }, async (name, records) => {
    files[name] = [...(files[name] ?? []), ...records];
  });
  const sums = new Map<string, [net: number, tax: number]>();
  for (const [, category, rate, net, tax, kind, , currency, country] of (files['tax.csv'] ?? []).slice(1)) {
    const sign = kind === 'invoice' ? 100 : -100;
    const key = [currency, country, category, rate].join(' ');
    const [netBefore, taxBefore] = sums.get(key) ?? [0, 0];
    sums.set(key, [netBefore + Math.round(sign * Number(net)), taxBefore + Math.round(sign * Number(tax))]);
  }
  return Object.fromEntries(sums);
}

it('has an income by country for each month that is the sum of its tax.csv, without invoices from before a seller', async () => {
  const { id } = await books.report('crm_old', { status: 'trialing', trial_ends_at: '2099-01-01T00:00:00Z' });
  await addOldInvoice(books.db, id, { issuedAt: books.now() });
  for (const [at, amount, country] of [
    // In Berlin it is the 31st, and an hour later the 1st.
    ['2026-01-31T22:30:00.000Z', 2_222, 'DE'],
    ['2026-01-31T23:40:00.000Z', 3_333, 'DE'],
    ['2026-02-28T22:59:00.000Z', 1_001, 'DE'],
    ['2026-02-28T23:01:00.000Z', 777, 'FR'],
    ['2026-03-01T12:00:00.000Z', 999, 'US'],
  ] as const) {
    await books.setClock(at);
    const { accountId } = await books.report(`crm_${amount}`, {
      price: { currency: 'EUR', unit_amount: amount, interval: 'year' },
    });
    await sql`insert into billing_details (account_id, line1, postcode, city, country)
      values (${accountId}, 'Weg 1', '10115', 'Anywhere', ${country})`.execute(books.db);
    await books.bill();
  }
  const { rows } = await sql<{ number: string }>`select number from documents order by issued_at`.execute(
    books.db,
  );
  await books.setClock('2026-04-02T12:00:00.000Z');
  for (const [number, amount] of [
    [rows[1]?.number, 1_234],
    [rows[2]?.number, undefined],
  ] as const)
    await inTransaction(books.db, { by: 'operator', cause: 'test' }, (trx) =>
      creditInvoice(trx, number ?? '', amount, { now: books.now(), recordedBy: 'operator' }),
    );
  const { income } = await summarise();
  for (const [month, last] of [
    ['2026-01', '31'],
    ['2026-02', '28'],
    ['2026-03', '31'],
    ['2026-04', '02'],
  ]) {
    const ours = income.rows.flatMap(({ net, tax, ...row }) =>
      row.month === month
        ? [
            [
              [row.currency, row.country ?? '', row.category, (row.rate / 100).toFixed(2)].join(' '),
              [net, tax],
            ],
          ]
        : [],
    );
    expect([month, Object.fromEntries(ours)]).toEqual([
      month,
      await addUpTaxFile(`${month}-01`, `${month}-${last}`),
    ]);
  }
  expect(income.rows.filter(({ month }) => month === '2026-01')).toMatchObject([
    { category: 'S', net: 2_222, tax: 422 },
  ]);
  expect(income.rows[0]).toMatchObject({ month: '2026-04' });
  expect(new Set(income.rows.map(({ countryName }) => countryName))).toEqual(
    new Set(['Germany', 'France', 'United States']),
  );
  expect(income.rows.some(({ month, net }) => month === '2026-04' && net < 0)).toBe(true);
});

it('shows thirteen months, and leads to earlier ones while there are any', async () => {
  const { income } = await summarise();
  expect(income.earlier).toBeNull();
  const monthsOf = async (before?: string) => [
    ...new Set((await summarise(before)).income.rows.map(({ month }) => month)),
  ];
  expect(await monthsOf('2026-03')).toEqual(['2026-02', '2026-01']);
  expect(await monthsOf('2026-01')).toEqual([]);
  expect((await summarise('2027-03')).income.earlier).toBe('2026-02');
  expect((await summarise('2027-02')).income.earlier).toBeNull();
});

it('adds up active contracts by plan, with a twelfth of yearly prices, rounded once', async () => {
  const plan = 'rounded';
  const year = (unit_amount: number) => ({ currency: 'EUR', unit_amount, interval: 'year' });
  // The sum is 5 + 4 + 9/12 of 3 = 9.75. If each price were rounded by itself, the sum would be 9.
  for (const [at, price] of [
    { currency: 'EUR', unit_amount: 5, interval: 'month' },
    { currency: 'EUR', unit_amount: 4, interval: 'month' },
    ...[year(3), year(3), year(3)],
    { currency: 'USD', unit_amount: 7, interval: 'month' },
    null,
  ].entries())
    await books.report(`crm_plan_${at}`, { plan, price });
  await books.report('crm_plan_over', { plan });
  await sql`update service_contracts set cancels_at = ${books.now()} where signup_id = 'crm_plan_over'`.execute(
    books.db,
  );
  const { recurring } = await summarise();
  expect(recurring.filter((each) => each.plan === plan)).toEqual([
    { plan, currency: 'EUR', count: 5, yearly: 3, amount: 10, minorDigits: 2 },
    { plan, currency: 'USD', count: 1, yearly: 0, amount: 7, minorDigits: 2 },
    { plan, currency: null, count: 1, yearly: 0, amount: 0, minorDigits: 0 },
  ]);
});

it('lists trials that end within 30 days, the soonest first, and says that there are more than 100', async () => {
  const inDays = (days: number) => new Date(books.now().getTime() + days * 24 * 3_600_000).toISOString();
  for (const days of [30, 1, 31])
    await books.report(`crm_trial_${days}`, { status: 'trialing', trial_ends_at: inDays(days) });
  const { trials, more } = await summarise();
  expect(trials).toMatchObject([
    { signupId: 'crm_trial_1', accountName: expect.any(String), userId: expect.any(String) },
    { signupId: 'crm_trial_30' },
  ]);
  expect(more).toEqual([]);
  const { rows } = await sql<{ count: number }>`insert into service_contracts
    (id, user_id, account_id, signup_id, plan, status, trial_ends_at, occurred_at)
    select gen_random_uuid(), user_id, account_id, 'copy_' || n, plan, status, trial_ends_at, occurred_at
    from service_contracts, generate_series(1, 99) n where signup_id = 'crm_trial_1' returning 1`.execute(
    books.db,
  );
  expect(rows).toHaveLength(99);
  const many = await summarise();
  expect([many.trials.length, many.more]).toEqual([100, ['trials']]);
  expect(many.trials.some(({ signupId }) => signupId === 'crm_trial_30')).toBe(false);
});

it('lists contracts past due, the longest first, with all that is open of them', async () => {
  await setSettings(books.db, {
    ...germanSettings,
    terms: { ...germanSettings.terms, days_to_pay: 0 },
  });
  await books.setClock('2026-04-10T12:00:00.000Z');
  await books.report('crm_late');
  await books.bill();
  await books.setClock('2026-04-12T12:00:00.000Z');
  await books.bill();
  const { pastDue } = await summarise();
  const late = pastDue.find(({ signupId }) => signupId === 'crm_late');
  expect(late?.open).toEqual([{ currency: 'EUR', amount: 3_451, minorDigits: 2 }]);
  const days = pastDue.map(({ dueAt }) => dueAt.getTime());
  expect(days).toEqual([...days].sort((one, other) => one - other));
});

it('is read on one connection, whatever the pool has', async () => {
  const client = connect(books.databaseUrl, { poolSize: 20 });
  await summariseBilling({ db: client.db, now: books.now });
  expect(client.countConnections().all).toBe(1);
  await client.close();
});
