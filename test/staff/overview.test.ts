// The overview of administrators (contract 12.107 to 12.110).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { addToSums } from '../../db/tables/sums-of-hours.ts';
import { openApp } from '../support/app/app.ts';
import { addContract } from '../support/billing/money.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { addStaff, call, readData } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const at = new Date('2026-11-26T10:30:00Z');
const hoursAgo = (hours: number) => new Date(Date.UTC(2026, 10, 26, 10 - hours));

let cookie: string;
const app = shared(() => openApp({ now: () => at }));
beforeAll(async () => {
  ({ cookie } = await addStaff(app));
  const sum = (key: string, hours: number, count: number) => ({
    hour: hoursAgo(hours),
    key: `identity_${key}`,
    count,
    lastAt: hoursAgo(hours),
  });
  await addToSums(app.db, [
    sum('logins_total{result="ok"}', 0, 3),
    // These logins are from an instance whose clock was ahead.
    sum('logins_total{result="ok"}', -30, 80_000),
    sum('logins_total{result="ok"}', 23, 4),
    sum('logins_total{result="ok"}', 24, 50),
    sum('logins_total{result="wrong_password"}', 2, 1_234),
    sum('logins_total{result="ok"}', 24 * 20, 600),
    sum('logins_total{result="ok"}', 24 * 31, 7_000),
    sum('launches_total{client="crm_app",outcome="payload"}', 1, 5),
    sum('launches_total{client="crm_app",outcome="login"}', 1, 6),
    sum('refusals_total{code="nonce_replayed",client="marketplace"}', 1, 7),
    sum('refusals_total{code="not_found",client="no-client"}', 1, 8),
    sum('sign_ups_total{result="password"}', 1, 9),
    sum('sign_ups_total{result="passkey"}', 1, 1),
    sum('signups_total{result="created"}', 1, 11),
    sum('mails_total{result="sent"}', 1, 12),
    sum('inbound_hand_offs_total{result="accepted"}', 1, 13),
  ]);
});

const get = async (of: string) => readData(await call(app, 'overview.get', cookie, { of }, true));
const page = (query = '') => app.send(`/admin${query}`, { cookie, headers: { accept: 'text/html' } });

it.each([
  ['24h', 24, 7],
  ['7d', 7, 57],
  ['30d', 30, 657],
])('has the sums of %s', async (of, points, logins) => {
  const found = await get(of);
  expect(found.series).toHaveLength(points);
  expect(found.series.reduce((all: number, point: { logins: number }) => all + point.logins, 0)).toBe(logins);
  expect(found.logins).toEqual([
    ...(logins < 1_234 ? [{ result: 'wrong_password', count: 1_234 }] : []),
    { result: 'ok', count: logins },
  ]);
  expect(found).toMatchObject({
    launches: [
      { client: 'crm_app', outcome: 'login', count: 6 },
      { client: 'crm_app', outcome: 'payload', count: 5 },
    ],
    refusals: [
      { code: 'not_found', client: 'no-client', title: null, count: 8 },
      { code: 'nonce_replayed', client: 'marketplace', title: 'Marketplace', count: 7 },
    ],
    signUps: 10,
    signups: [{ result: 'created', count: 11 }],
    mails: [{ result: 'sent', count: 12 }],
    handOffs: [{ result: 'accepted', count: 13 }],
  });
});

it.each([
  ['', 24],
  ['?of=7d', 7],
  ['?of=30d', 30],
  ['?of=nothing', 24],
])('shows the same in the picture and in its table (%s)', async (query, steps) => {
  const { status, text } = await page(query);
  expect(status).toBe(200);
  const drawn = (of: string) =>
    [
      ...(text.match(new RegExp(`aria-labelledby="course-${of}-title.*?</svg>`, 's'))?.[0] ?? '').matchAll(
        /data-count="(\d+)"/g,
      ),
    ].map(([, count]) => count);
  const rows = [...text.matchAll(/<tr data-at="[^"]+">.*?<\/tr>/g)]
    .map(([row]) => [...row.matchAll(/<td>([\d,]+)<\/td>/g)].map(([, count]) => count?.replace(',', '')))
    .reverse();
  expect(rows).toHaveLength(steps);
  expect(rows.map(([logins]) => logins)).toEqual(drawn('logins'));
  expect(rows.map(([, launches]) => launches)).toEqual(drawn('launches'));
  for (const of of ['logins', 'launches'])
    expect(text).toMatch(
      new RegExp(`<svg[^>]* role="img" aria-labelledby="course-${of}-title course-${of}-about"`),
    );
  expect(text).toContain('Logins and launches since');
});

it.each([
  ['24h', 'logins', 7, null],
  ['24h', 'launches', 5, null],
  ['24h', 'signUps', 10, null],
  ['24h', 'refusals', 15, null],
  ['7d', 'logins', 57, null],
  ['30d', 'logins', 657, null],
])(
  'has four numbers, and their change if the span before is known (%s, %s, contract 12.253)',
  async (of, name, count, changePercent) => {
    const numbers: { name: string }[] = (await get(of)).numbers;
    expect(numbers.map((each) => each.name)).toEqual(['logins', 'launches', 'signUps', 'refusals']);
    expect(numbers.find((each) => each.name === name)).toEqual({ name, count, changePercent });
  },
);

it('compares as many whole hours of both spans (contract 12.253)', async () => {
  const change = async (of: string) => (await get(of)).numbers[3].changePercent;
  const key = 'identity_refusals_total{code="not_found",client="no-client"}';
  const add = (hours: number, count: number) =>
    addToSums(app.db, [{ hour: hoursAgo(hours), key, count, lastAt: hoursAgo(hours) }]);
  // Two things do not count: the hour of the earlier span that corresponds to the present hour, and everything before that
  // span.
  await add(24, 1_000);
  await add(48, 1_000);
  expect(await change('24h')).toBe(null);
  await add(25, 10);
  expect(await change('24h')).toBe(50);
  await add(47, 20);
  expect(await change('24h')).toBe(-50);
  const { text } = await page();
  const [, number = ''] = /data-number="refusals">(.*?)<\/div>/s.exec(text) ?? [];
  expect(number.replaceAll(/<[^>]*>/g, '')).toContain('\u221250\u00a0% against the 24 hours before');
  const [, unknown = ''] = /data-number="launches">(.*?)<\/div>/s.exec(text) ?? [];
  expect(unknown.replaceAll(/<[^>]*>/g, '')).toBe('Launches5');
});

it('compares with a span that began with the hour of the first sum (contract 12.253)', async () => {
  const hour = new Date('2026-09-28T00:00:00Z');
  await addToSums(app.db, [{ hour, key: 'identity_logins_total{result="ok"}', count: 1, lastAt: hour }]);
  // 654 logins are compared with 7,001, without the present hour.
  expect((await get('30d')).numbers[0]).toEqual({ name: 'logins', count: 657, changePercent: -91 });
});

it('has the numbers first, then what waits, and then what happened', async () => {
  const { text } = await page();
  const ids = [...text.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids.slice(0, 4)).toEqual(['numbers', 'now', 'happened', 'logins']);
  expect(text).not.toContain('killed');
});

it('has what waits as of now', async () => {
  await sql`update users set frozen_at = now(), suspended_at = now() where email = 'customer@example.test'`.execute(
    app.db,
  );
  await expect.poll(async () => (await get('24h')).now.frozen).toBe(1);
  const read = async () => (await page()).text;
  expect(await read()).toMatch(/data-now="frozen">1</);
  expect(await read()).toMatch(/data-now="invoices">0</);
  expect(await read()).toMatch(/data-now="mails">0</);
  const contract = await addContract(app.db);
  await sql`alter table invoices disable trigger user`.execute(app.db);
  await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
      allocated, paid_at, issued_at, due_at)
    select 100000 + n, ${contract}, 'starter', now() + n * interval '1 day', now() + (n + 1) * interval '1 day', 'EUR', 100,
      case n when 1 then 'paid' else 'open' end, case n when 1 then 100 else 0 end, case n when 1 then now() end,
      ${at}::timestamptz - interval '1 day',
      ${at}::timestamptz + case n when 3 then interval '1 minute' else interval '-1 minute' end
    from generate_series(1, 3) n`.execute(app.db);
  await sql`alter table invoices enable trigger user`.execute(app.db);
  await sql`insert into mails (id, kind, recipient, details, created_at, next_attempt_at, last_error, given_up_at, sent_at)
    select gen_random_uuid(), 'new_browser', 'nobody@example.test', '{}', now(), '2999-01-01',
      case n when 1 then '550 no' end, case n when 2 then now() end, case n when 4 then now() end
    from generate_series(1, 4) n`.execute(app.db);
  // One client has been behind for 20 minutes, and one for 10.
  for (const client of ['marketplace', 'crm_app']) await appendEvents(app.db, client, 2);
  await sql`update events set occurred_at = now() - case client when 'crm_app' then interval '10 minutes'
    else interval '20 minutes' end`.execute(app.db);
  expect((await get('24h')).now).toMatchObject({
    behind: [{ client: 'marketplace', title: 'Marketplace', events: 2 }],
    ...{ frozen: 1, openInvoices: 2, overdueInvoices: 1, failedMails: 2 },
  });
  expect(await read()).toMatch(/data-now="mails">2</);
});
