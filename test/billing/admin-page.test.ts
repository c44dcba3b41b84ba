// What administrators see of billing (contract 7.191 to 7.198).
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { sumOpen } from '../../db/tables/invoice-lists.ts';
import { buildInvoiceList } from '../../db/tables/staff-lists.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { readSummary } from '../../server/billing/invoices/summary.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { openApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import {
  dayOfSeller,
  germanSettings,
  setBillingClock,
  setSettings,
  settingsFrom,
} from '../support/billing/settings.ts';
import { openBilling } from '../support/crm/billing.ts';
import { addPerson, addStaff, call, readData, readOutcome } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let admin: string;
const billing = shared(() => openBilling({ settings: null }));
beforeAll(async () => {
  await setSettings(billing.app.db, settingsFrom('2020-01-01'));
  await billing.report('crm_open');
  await billing.report('crm_held', { price: { currency: 'USD', unit_amount: 100, interval: 'month' } });
  await billing.bill();
  // Waits for the service's own job. When the job makes a file, it takes the document out of this queue.
  await vi.waitFor(
    async () => {
      const { rows } = await sql`select from documents_to_make`.execute(billing.app.db);
      expect(rows).toEqual([]);
    },
    { timeout: 15_000 },
  );
  await sql`insert into documents_to_make (number, tries, next_try_at, last_error)
    select number, 3, '9999-01-01', 'The font has no such letter' from documents
    on conflict (number) do update set tries = 3, next_try_at = '9999-01-01', last_error = excluded.last_error`.execute(
    billing.app.db,
  );
  await sql`insert into payments (id, kind, currency, amount, paid_at, recorded_at, recorded_by, unallocated)
    values ('lost', 'payment', 'EUR', 5, now(), now(), 'payments', 5)`.execute(billing.app.db);
  admin = (await addStaff(billing.app)).cookie;
});

/**
 * Whether it is already the next day for the seller, as in the last hours of a day in UTC. The next periods then begin a day
 * later, so one period fewer is near enough to be counted.
 */
const isNextDay = () => dayOfSeller() !== new Date().toISOString().slice(0, 10);

it('says since when billing waits after a restore', async () => {
  const { app } = billing;
  const read = async () => [
    readData(await call(app, 'billing.summary', admin, undefined, true)).waitsSince,
    (await app.send('/admin/billing', { cookie: admin })).text.includes(
      'Billing waits: the database was restored on',
    ),
  ];
  expect(await read()).toEqual([null, false]);
  const { rows } = await sql<{ at: Date }>`insert into restores default values returning at`.execute(app.db);
  expect(await read()).toEqual([rows[0]?.at.toISOString(), true]);
  await sql`update restores set billing_resumed_at = now()`.execute(app.db);
  expect(await read()).toEqual([null, false]);
});

it('shows what is open, held, incomplete, unallocated and without a file', async () => {
  const { status, text } = await billing.app.send('/admin/billing', { cookie: admin });
  expect(status).toBe(200);
  for (const part of [
    'Not due yet',
    'EUR\u00a034.51',
    'data-held="tax_currency"',
    'crm_held',
    'It has no address of its buyer, <bdi class="name">Casey’s account</bdi>.',
    'The font has no such letter',
    '1 payment',
    'EUR\u00a00.05',
    'Nothing is overdue.',
  ])
    expect(text.replaceAll('&nbsp;', '\u00a0').replaceAll('<!-- -->', '')).toContain(part);
  // Each listed document has a link to its page.
  const [number] = /INV-\d{4}-\d{4}/.exec(text) ?? [];
  expect(text.match(new RegExp(`href="/admin/invoices/${number}"`, 'g'))).toHaveLength(2);
});

it('leads to the other pages of billing, and says which one is open', async () => {
  const paths = [
    '/admin/billing',
    ...['/admin/invoices', '/admin/contracts'],
    ...['/admin/billing/import', '/admin/billing/unallocated', '/admin/billing/settings'],
  ];
  for (const path of paths) {
    const { text } = await billing.app.send(path, { cookie: admin });
    const [nav = ''] = /<nav class="tabs" aria-label="Billing">.*?<\/nav>/.exec(text) ?? [];
    expect([...nav.matchAll(/href="([^"]+)"/g)].map(([, to]) => to)).toEqual(paths);
    expect(/href="([^"]+)" aria-current="page"/.exec(nav)?.[1]).toBe(path);
  }
});

it('adds up what is open by currency and age', async () => {
  const now = new Date('2031-06-15T12:00:00.000Z');
  const daysBefore = (days: number, ms = 0) => new Date(now.getTime() - days * 24 * 3_600_000 + ms);
  const ages = [
    ['not_due', daysBefore(0, 1)],
    ['to_30_days', daysBefore(0)],
    ['to_30_days', daysBefore(30, 1)],
    ['to_60_days', daysBefore(30)],
    ['to_90_days', daysBefore(60)],
    ['longer', daysBefore(90)],
  ] as const;
  // The invoices have a currency of their own, in a transaction that is rolled back.
  const open = await billing.app.db
    .transaction()
    .execute(async (trx) => {
      await sql`alter table invoices disable trigger user`.execute(trx);
      for (const [at, [, dueAt]] of ages.entries())
        await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
            allocated, status, issued_at, due_at)
          select ${9_000 + at}, id, 'starter', ${daysBefore(200 + at)}, ${dueAt}, 'CHF', ${10 ** at + 1}, 1, 'open', now(), ${dueAt}
          from service_contracts where signup_id = 'crm_open'`.execute(trx);
      throw { open: await sumOpen(trx, now) };
    })
    .catch((thrown) => thrown.open);
  const sums = open.filter(({ currency }: { currency: string }) => currency === 'CHF');
  expect(sums).toEqual([
    { currency: 'CHF', age: 'not_due', count: 1, amount: 1 },
    { currency: 'CHF', age: 'to_30_days', count: 2, amount: 110 },
    { currency: 'CHF', age: 'to_60_days', count: 1, amount: 1_000 },
    { currency: 'CHF', age: 'to_90_days', count: 1, amount: 10_000 },
    { currency: 'CHF', age: 'longer', count: 1, amount: 100_000 },
  ]);
});

it('has at most 100 entries in each list', async () => {
  const now = new Date();
  // Each list has 101 entries, in a transaction that is rolled back.
  const lists = await billing.app.db
    .transaction()
    .execute(async (trx) => {
      const run = (statement: string) => sql.raw(statement).execute(trx);
      for (const table of ['accounts', 'service_contracts', 'invoices', 'documents'])
        await run(`alter table ${table} disable trigger user`);
      await run(
        `insert into accounts (id, name) select gen_random_uuid(), 'Many ' || n from generate_series(1, 101) n`,
      );
      await run(`insert into billing_details (account_id, ignored)
        select id, '{/account/billing/vat_id}' from accounts where name like 'Many %'`);
      await run(`insert into service_contracts (id, account_id, signup_id, plan, status, occurred_at)
        select gen_random_uuid(), id, name, 'starter', 'canceled', now() from accounts where name like 'Many %'`);
      await run(`insert into waiting_periods (contract_id, starts_at, ends_at, plan, currency, unit_amount, held_code, tried_at)
        select id, now(), now(), 'starter', 'EUR', 1, 'no_tax_rule', now() from service_contracts where signup_id like 'Many %'`);
      await run(`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
          issued_at, due_at, document)
        select 9000 + row_number() over (), id, 'starter', now() - interval '2 days', now(), 'EUR', 1, 'open', now(), now() - interval '1 day',
          'MANY-' || signup_id from service_contracts where signup_id like 'Many %'`);
      await run(`insert into documents (number, kind, invoice, prefix, year, settings_version, issued_on, first_day, last_day, currency,
          net, tax, total, category, rate, issued_at, facts)
        select document, 'invoice', number, 'MANY-', 2026, 1, now(), now(), now(), 'EUR', 1, 0, 1, 'O', 0, now(),
          '{"buyer": {"name": "Many", "address": null}}' from invoices where document like 'MANY-%'`);
      await run(`insert into documents_to_make (number, next_try_at, last_error)
        select number, now(), 'fault' from documents where prefix = 'MANY-' on conflict do nothing`);
      throw await readSummary(trx, { now });
    })
    .catch((thrown) => thrown);
  const names = ['overdue', 'held', 'incomplete', 'ignored', 'unmade'];
  expect(names.map((name) => lists[name].length)).toEqual([100, 100, 100, 100, 100]);
  expect(lists.more).toEqual(names);
});

it('names what the CRM reported that is not valid, and no invoice that is credited whole', async () => {
  const { db } = billing.app;
  const { incomplete } = readData(await call(billing.app, 'billing.summary', admin, undefined, true));
  expect(incomplete).toMatchObject([{ number: 'INV-2026-0001' }]);
  await sql`insert into billing_details (account_id, ignored)
    select account_id, '{/account/billing/vat_id}' from service_contracts where signup_id = 'crm_open'`.execute(
    db,
  );
  // An invoice that is credited in part cannot be issued again (contract 7.74).
  const advice = async () =>
    (await billing.app.send('/admin/invoices/INV-2026-0001', { cookie: admin })).text;
  expect(await advice()).toContain('Issue the invoice again with it.');
  await inTransaction(db, { by: 'operator', cause: 'test' }, (trx) =>
    creditInvoice(trx, 'INV-2026-0001', 100, { now: new Date(), recordedBy: 'operator' }),
  );
  expect(await advice()).toContain('You can credit the rest; the next invoice has the address.');
  expect(await advice()).not.toContain('Issue the invoice again with it.');
  await billing.settle('INV-2026-0001', 'void');
  const { text } = await billing.app.send('/admin/billing', { cookie: admin });
  expect(text).toContain('The CRM reported billing details that are not valid: VAT ID');
  expect(text).not.toContain('It has no address of its buyer');
});

it('is there for administrators alone', async () => {
  for (const role of ['manager', 'user'] as const) {
    const { cookie } = await addStaff(billing.app, role);
    for (const name of ['summary', 'contracts', 'invoices'])
      expect(readOutcome(await call(billing.app, `billing.${name}`, cookie, undefined, true))).toBe(
        '404 not_found',
      );
  }
  const { cookie } = await addStaff(billing.app, 'manager');
  const { text } = await billing.app.send('/admin/people', { cookie });
  expect(text).not.toContain('/admin/billing');
});

it('previews a contract', async () => {
  const ask = (signup: string) => call(billing.app, 'billing.preview', admin, { signup, months: 2 }, true);
  const { documents, held } = readData(await ask('crm_open'));
  expect([held, documents.length, documents[0].total]).toEqual([null, isNextDay() ? 1 : 2, 3_451]);
  expect(readData(await ask('crm_held'))).toEqual({ documents: [], held: 'tax_currency' });
  expect(readOutcome(await ask('crm_none'))).toBe('404 not_found');
  for (const [months, outcome] of [
    [0, '422 validation_failed'],
    [1, '200'],
    [120, '200'],
    [121, '422 validation_failed'],
    [1.5, '422 validation_failed'],
  ])
    expect([
      months,
      readOutcome(await call(billing.app, 'billing.preview', admin, { signup: 'crm_open', months }, true)),
    ]).toEqual([months, outcome]);
  await sql`update billing_settings set stopped_at = now()`.execute(billing.app.db);
  expect(readOutcome(await ask('crm_open'))).toBe('404 not_configured');
  await setSettings(billing.app.db);
});

it('begins with what waits, names how many of each, and has income, plans and earlier months', async () => {
  const page = await billing.app.send('/admin/billing', { cookie: admin });
  const ids = [...page.text.matchAll(/<section aria-labelledby="([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual([
    ...[
      'vat-ids',
      'overdue',
      'past-due',
      'unallocated',
      'held',
      'countries',
      'incomplete',
      'unmade',
      'unprinted',
    ],
    ...['trials', 'open', 'recurring', 'income'],
  ]);
  const [nav = ''] = /<nav class="parts".*?<\/nav>/s.exec(page.text) ?? [];
  expect([...nav.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)).toEqual(ids);
  expect(nav.replace(/<[^>]*>/g, ' ')).toMatch(/Blocked\s+1\b/);
  expect(page.text).toMatch(/data-month="2026-\d\d"/);
  expect(page.text).toContain('data-recurring="2900"');
  const earlier = await billing.app.send('/admin/billing?before=2020-01', { cookie: admin });
  expect(earlier.text).toContain('Nothing was issued in these months.');
  for (const before of ['x', '2020-13', "2020-01'"])
    expect((await billing.app.send(`/admin/billing?before=${before}`, { cookie: admin })).text).toContain(
      'data-month',
    );
  expect(readOutcome(await call(billing.app, 'billing.summary', admin, { before: '2020-13' }, true))).toBe(
    '422 validation_failed',
  );
});

it('leads from a person to what their contracts will be charged', async () => {
  const { user_id: id } = await billing.app.db
    .selectFrom('service_contracts')
    .select('user_id')
    .where('signup_id', '=', 'crm_open')
    .executeTakeFirstOrThrow();
  const path = '/admin/billing/preview?signup=crm_open';
  const person = await billing.app.send(`/admin/people/${id}/billing`, { cookie: admin });
  expect(person.text).toContain(`href="${path}"`);
  const { status, text } = await billing.app.send(path, { cookie: admin });
  const shown = text.match(/EUR\u00a034\.51|EUR&nbsp;34\.51/g)?.length;
  expect([status, shown]).toEqual([200, isNextDay() ? 23 : 24]);
  const held = await billing.app.send('/admin/billing/preview?signup=crm_held', { cookie: admin });
  expect(held.text).toContain('Its price is in another currency than yours');
  for (const signup of ['crm_none', '', 'a%00b', 'x'.repeat(200)])
    expect([
      signup,
      (await billing.app.send(`/admin/billing/preview?signup=${signup}`, { cookie: admin })).status,
    ]).toEqual([signup, 404]);
  const { cookie } = await addStaff(billing.app, 'manager');
  expect((await billing.app.send(path, { cookie })).status).toBe(404);
  expect((await billing.app.send(`/admin/people/${id}/billing`, { cookie })).text).not.toContain(path);
});

it('says of what is held for somebody who was erased that it is not tried again', async () => {
  const email = 'gone@example.test';
  await billing.report(
    'crm_gone',
    { price: { currency: 'USD', unit_amount: 100, interval: 'month' } },
    { email },
  );
  await billing.bill();
  const { id } = await billing.app.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  await inTransaction(billing.app.db, { by: 'operator', cause: 'test' }, (trx) =>
    eraseUser(trx, { now: () => billing.now(), endsWithPerson }, id, { by: 'cli', onlyDue: false }),
  );
  const page = await billing.app.send('/admin/billing', { cookie: admin });
  expect(page.text).toContain('data-held="account_erased"');
  expect(textOf(page)).toContain('so there is nobody to invoice. It is not tried again.');
});

it('lists what is overdue, the oldest first, and leads there from each age', async () => {
  const before = billing.now();
  const daysAgo = (days: number) => new Date(before.getTime() - days * 24 * 3_600_000).toISOString();
  const { db } = billing.app;
  const series = { ...germanSettings.numbers, invoice: 'LATE-' };
  await setSettings(db, { ...settingsFrom('2020-01-01'), numbers: series });
  try {
    const numbers: string[] = [];
    for (const [days, signupId] of [
      [20, 'crm_late'],
      [17, 'crm_later'],
    ] as const) {
      await billing.setClock(daysAgo(days));
      await setBillingClock(db, daysAgo(days));
      const contractId = await billing.report(signupId);
      await billing.bill();
      const [invoice] = await billing.invoicesOf(contractId);
      numbers.push(invoice?.number ?? '');
    }
    // With 7 days to pay, both invoices are in time. With 4 days, only the second is, and with 1 day neither.
    for (const [days, overdue] of [
      [7, []],
      [4, numbers.slice(0, 1)],
      [1, numbers],
    ] as const) {
      await billing.setClock(daysAgo(days));
      const page = await billing.app.send('/admin/billing', { cookie: admin });
      const [, section = ''] = /aria-labelledby="overdue"(.*?)<\/section>/s.exec(page.text) ?? [];
      const found = [...section.matchAll(/href="\/admin\/invoices\/([^"]+)"/g)].map(([, number]) => number);
      expect([days, found]).toEqual([days, overdue]);
      expect(page.text.includes('row-link" href="#overdue"')).toBe(overdue.length > 0);
      if (overdue.length > 0) expect(section).toContain('EUR\u00a034.51');
    }
  } finally {
    await billing.setClock(before.toISOString());
    await setBillingClock(db, before.toISOString());
  }
});

describe('the lists (contract 12.140 and 12.142)', () => {
  let cookie: string;
  const now = new Date('2031-06-15T12:00:00.000Z');
  const app = shared(() => openApp({ now: () => now }));
  const contracts: Record<string, string> = {
    trialing: `'trialing', '2031-06-15 12:00:01Z', null`,
    expired: `'trialing', '2031-06-15 12:00:00Z', null`,
    active: `'active', null, '2031-06-15 12:00:01Z'`,
    past_due: `'past_due', null, 'infinity'`,
    canceled: `'active', null, '2031-06-15 12:00:00Z'`,
    held: `'active', null, null`,
  };
  beforeAll(async () => {
    ({ cookie } = await addStaff(app, 'admin', { authTime: now }));
    const { id, accountId } = await addPerson(app);
    for (const [name, values] of Object.entries(contracts))
      await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, occurred_at, status, trial_ends_at,
          cancels_at)
        values (${uuidv7()}, ${id}, ${accountId}, ${name}, 'starter', now(), ${sql.raw(values)})`.execute(
        app.db,
      );
    await sql`insert into waiting_periods (contract_id, starts_at, ends_at, plan, currency, unit_amount, held_code, tried_at)
      select id, now(), now() + interval '1 month', 'starter', 'EUR', 5, 'no_tax_rule', now() from service_contracts
      where signup_id = 'held'`.execute(app.db);
    await sql`update sessions set created_at = ${now}, last_seen_at = ${now}`.execute(app.db);
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        allocated, status, paid_at, issued_at, due_at)
      select n, id, 'starter', now() + n * interval '1 day', now() + (n + 1) * interval '1 day', 'EUR', 100,
        case when n % 4 = 3 then 100 else 0 end, case n % 4 when 3 then 'paid' else 'open' end,
        case n % 4 when 3 then ${now}::timestamptz end, ${now},
        case n % 4 when 0 then ${now}::timestamptz else '2031-06-15 12:00:01Z' end
      from service_contracts, generate_series(1, 120) n where signup_id = 'active'`.execute(app.db);
  });

  const ask = async (name: string, input: unknown) =>
    readData(await call(app, `billing.${name}`, cookie, input, true));

  it('have each contract in its present state, as the command says it', async () => {
    for (const state of Object.keys(contracts)) {
      const { contracts: found } = await ask('contracts', { state });
      const names = found.map((contract: { signup_id: string }) => contract.signup_id);
      expect([state, names]).toEqual([state, state === 'active' ? ['held', 'active'] : [state]]);
    }
    const { contracts: all, next } = await ask('contracts', { state: '' });
    expect(all.map((each: { signup_id: string }) => each.signup_id)).toEqual(
      Object.keys(contracts).reverse(),
    );
    expect([next, all[0].held]).toEqual([null, 'no_tax_rule']);
  });

  it('have fifty invoices a page, the newest first, by state', async () => {
    const numbers = async (state: string) => {
      const found: number[] = [];
      const sizes: number[] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const page = await ask('invoices', { state, ...(before && { before }) });
        found.push(...page.invoices.map(({ number }: { number: string }) => Number(number)));
        sizes.push(page.invoices.length);
        before = page.next;
      }
      return { found, sizes };
    };
    const all = Array.from({ length: 120 }, (_, at) => 120 - at);
    expect(await numbers('')).toEqual({ found: all, sizes: [50, 50, 20] });
    expect((await numbers('open')).found).toEqual(all.filter((n) => n % 4 !== 3));
    expect((await numbers('paid')).found).toEqual(all.filter((n) => n % 4 === 3));
    expect((await numbers('overdue')).found).toEqual(all.filter((n) => n % 4 === 0));
    expect((await numbers('void')).found).toEqual([]);
  });

  it('are pages with their filter in the address, and links to the person and the invoice', async () => {
    const invoices = await app.send('/admin/invoices?state=overdue&before=100', { cookie });
    expect(invoices.status).toBe(200);
    expect(invoices.text).toContain('href="/admin/invoices/96"');
    expect(invoices.text).not.toContain('href="/admin/invoices/100"');
    expect(invoices.text).toMatch(/href="\/admin\/people\/[0-9a-f-]{36}"/);
    expect(invoices.text).toContain('href="/admin/invoices?state=overdue"');
    const { text } = await app.send('/admin/invoices?state=open', { cookie });
    expect(text).toContain('href="/admin/invoices?state=open&amp;before=');
    const held = await app.send('/admin/contracts?state=held', { cookie });
    expect(held.text).toContain('data-held="no_tax_rule"');
    for (const path of [
      '/admin/contracts?state=open',
      '/admin/invoices?state=held',
      '/admin/invoices?before=x',
      '/admin/invoices?sort=total',
      '/admin/invoices?sort=due',
      '/admin/invoices?state=paid&sort=-due',
      '/admin/contracts?sort=issued',
      `/admin/contracts?q=${'x'.repeat(201)}`,
      `/admin/invoices?q=${'x'.repeat(201)}`,
    ])
      expect([path, (await app.send(path, { cookie })).status]).toEqual([path, 422]);
  });

  const outcomeOf = async (name: string, input: unknown) => {
    const answer = await call(app, `billing.${name}`, cookie, input, true);
    return [answer.status, JSON.parse(answer.text).error?.json?.data?.errors?.[0]?.pointer];
  };

  /** Returns all pages of a list, one after the other. */
  async function listAll(name: 'contracts' | 'invoices', key: string, input: object): Promise<string[]> {
    const found: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page = await ask(name, { ...input, ...(before && { before }) });
      found.push(...page[name].map((each: Record<string, string>) => each[key]));
      before = page.next;
    }
    return found;
  }

  it('are sorted by each column with an index, page by page, from either end (contract 12.240 and 12.241)', async () => {
    const newest = Object.keys(contracts).reverse();
    const bySignup = (sort: string) => listAll('contracts', 'signup_id', { sort });
    expect(await bySignup('')).toEqual(newest);
    expect(await bySignup('-created')).toEqual(newest);
    expect(await bySignup('created')).toEqual([...newest].reverse());
    expect(await bySignup('signup')).toEqual([...newest].sort());
    expect(await bySignup('-signup')).toEqual([...newest].sort().reverse());
    const ofSignup = await ask('contracts', { sort: 'signup' });
    const [, second] = ofSignup.contracts;
    const rest = await ask('contracts', { sort: 'signup', before: second.id });
    expect(rest.contracts).toEqual(ofSignup.contracts.slice(2));

    const all = Array.from({ length: 120 }, (_, at) => String(at + 1));
    const byNumber = (input: object) => listAll('invoices', 'number', input);
    expect(await byNumber({ sort: 'issued' })).toEqual(all);
    expect(await byNumber({ sort: '-issued' })).toEqual([...all].reverse());
    const open = all.filter((number) => Number(number) % 4 !== 3);
    const isOverdue = (number: string) => Number(number) % 4 === 0;
    const byDue = [...open.filter(isOverdue), ...open.filter((number) => !isOverdue(number))];
    expect(await byNumber({ state: 'open', sort: 'due' })).toEqual(byDue);
    expect(await byNumber({ state: 'open', sort: '-due' })).toEqual([...byDue].reverse());
    expect(await byNumber({ state: 'overdue', sort: 'due' })).toEqual(open.filter(isOverdue));

    for (const [name, input] of [
      ['invoices', { sort: 'total' }],
      ['invoices', { sort: 'due' }],
      ['invoices', { sort: '-due', state: 'void' }],
      ['contracts', { sort: 'issued' }],
    ] as const)
      expect([name, input, await outcomeOf(name, input)]).toEqual([name, input, [422, '/sort']]);
  });

  it('by the day they are due, open invoices are read by an index', async () => {
    const plan = await app.db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      await sql`set local enable_bitmapscan = off`.execute(trx);
      const list = { state: 'open', sort: 'due', before: 3, limit: 51, zone: 'UTC', now } as const;
      const lines = await sql<{ 'QUERY PLAN': string }>`explain ${buildInvoiceList(list)}`.execute(trx);
      return lines.rows.map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(/Index Scan using invoices_due_at_idx on invoices i.*\n *Index Cond: .*due_at >/);
  });

  it('count what fits, up to 1,000 (contract 12.242)', async () => {
    expect((await ask('invoices', { state: 'overdue', before: '50' })).count).toBe(30);
    expect((await ask('contracts', { state: 'active' })).count).toBe(2);
    expect(textOf(await app.send('/admin/invoices?state=paid', { cookie }))).toContain('30 invoices');
    expect(textOf(await app.send('/admin/contracts?state=held', { cookie }))).toContain('1 contract ');
    const add = (from: number, to: number) =>
      sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
          status, paid_at, issued_at, due_at)
        select n, id, 'starter', now() + n * interval '1 day', now() + (n + 1) * interval '1 day', 'EUR', 0, 'paid',
          ${now}::timestamptz, ${now}, ${now}
        from service_contracts, generate_series(${from}::int, ${to}::int) n where signup_id = 'canceled'`.execute(
        app.db,
      );
    await add(1_001, 1_880);
    expect((await ask('invoices', {})).count).toBe(1_000);
    await add(1_881, 1_881);
    expect((await ask('invoices', {})).count).toBe(null);
    expect(textOf(await app.send('/admin/invoices', { cookie }))).toContain('More than 1,000 invoices');
    await sql`alter table invoices disable trigger all`.execute(app.db);
    await sql`delete from invoices where number > 1000`.execute(app.db);
    await sql`alter table invoices enable trigger all`.execute(app.db);
  });

  it('are searched by number, by signup id and by person (contract 12.243 and 12.288)', async () => {
    const other = await addPerson(app, { name: 'Quirin Vandermeer' });
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, occurred_at, status)
      values (${uuidv7()}, ${other.id}, ${other.accountId}, 'of-quirin', 'pro', now(), 'active')`.execute(
      app.db,
    );
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select 900, id, 'pro', now(), now() + interval '1 day', 'EUR', 100, 'open', ${now}, ${now}
      from service_contracts where signup_id = 'of-quirin'`.execute(app.db);
    const signups = (q: string, input = {}) => listAll('contracts', 'signup_id', { q, ...input });
    const numbers = (q: string, input = {}) => listAll('invoices', 'number', { q, ...input });
    for (const q of [other.email, ` ${other.id} `, 'quirin vander', 'of-quirin', '900'])
      await expect
        .poll(async () => [q, await signups(q), await numbers(q)], { timeout: 10_000 })
        .toEqual([q, ['of-quirin'], ['900']]);
    expect(await numbers('7')).toEqual(['7']);
    expect(await signups('7')).toEqual(['active']);
    expect(await numbers('900', { state: 'paid' })).toEqual([]);
    expect((await numbers('active', { sort: 'issued' })).length).toBe(120);
    for (const q of ['nobody-has-this', '!?', '\0', '99999999999999999'])
      expect([q, await signups(q), await numbers(q)]).toEqual([q, [], []]);
    expect((await ask('invoices', { q: '  ' })).count).toBe(121);
    for (const name of ['contracts', 'invoices'])
      expect(await outcomeOf(name, { q: 'x'.repeat(201) })).toEqual([422, '/q']);
    const page = await app.send('/admin/invoices?q=quirin', { cookie });
    expect([...page.text.matchAll(/data-document="([^"]+)"/g)].map(([, number]) => number)).toEqual(['900']);
    expect(page.text).toContain('value="quirin"');
    expect(page.text).toContain('href="/admin/invoices?q=quirin&amp;sort=issued"');
  });

  it('say that more than 50 people match, and list what belongs to 50 (contract 12.244)', async () => {
    const ids = Array.from({ length: 51 }, () => uuidv7());
    for (const id of ids) await addPerson(app, { id, name: 'Xaverl Manyfold' });
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, occurred_at, status)
      select gen_random_uuid(), id, account_id, 'many-' || id, 'pro', now(), 'active' from users
      where name = 'Xaverl Manyfold'`.execute(app.db);
    await expect
      .poll(async () => (await ask('contracts', { q: 'xaverl' })).more, { timeout: 10_000 })
      .toBe(true);
    expect((await ask('contracts', { q: 'xaverl' })).count).toBe(50);
    const page = textOf(await app.send('/admin/contracts?q=xaverl', { cookie }));
    expect(page).toContain('More than 50 people match, so some contracts may be missing');
    const few = await ask('contracts', { q: ids[0] });
    expect([few.more, few.count]).toEqual([false, 1]);
  });

  it('are searches: counted, and in the audit', async () => {
    const count = async () =>
      (
        await sql<{ hits: number }>`select (details ->> 'hits')::int as hits from audit_events
          where type = 'staff.searched' order by id`.execute(app.db)
      ).rows.map(({ hits }) => hits);
    const before = await count();
    await app.send('/admin/invoices', { cookie });
    await app.send('/admin/contracts?state=held', { cookie });
    expect((await count()).slice(before.length)).toEqual([50, 1]);
  });
});
