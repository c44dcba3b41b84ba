// The commands that read the books (contract 7.170 to 7.198 and 11.112).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { run as runOn } from '../support/app/process.ts';
import { type Books, openBooks } from '../support/billing/books.ts';
import { dayOfSeller } from '../support/billing/settings.ts';
import { sharedFolder } from '../support/run/shared.ts';

let books: Books;
const folder = await sharedFolder();
let number = '';
beforeAll(async () => {
  // Commands use the machine's clock, so the test data does, too.
  books = await openBooks({ at: new Date(Date.now() - 60_000).toISOString() });
  const { id } = await books.report('crm_1', {}, { email: 'books@example.test' });
  await books.bill();
  await books.report('crm_2', { price: { currency: 'USD', unit_amount: 100, interval: 'month' } });
  await books.bill();
  number = (await books.documentsOf(id))[0]?.number ?? '';
});
afterAll(() => books.close());

const run = (...args: string[]) => runCli(books.databaseUrl, args);
const day = () => dayOfSeller(books.now());

it('billing:export makes a folder of seven files, the same each time and on Deno, and writes to no other', async () => {
  const out = join(folder, 'one');
  const span = ['--from', day(), '--to', day()];
  const first = await run('billing:export', ...span, '--out', out);
  expect([first.code, first.err]).toEqual([0, '']);
  expect(first.out).toContain('documents.csv: 1 records\n');
  const names = [
    ...['allocations.csv', 'documents.csv', 'ec_sales.csv', 'lines.csv', 'money.csv', 'oss.csv', 'tax.csv'],
  ];
  expect((await readdir(out)).sort()).toEqual(names);
  const text = await readFile(join(out, 'documents.csv'), 'utf8');
  expect(text).toMatch(/^number,kind,issued_on,due_on,[^\n]*\r\n[^\n]*\r\n$/);
  expect(text).toContain(`\r\n${number},invoice,${day()},`);
  expect(text).toContain(',EUR,29.00,5.51,34.51,0.00,0.00,34.51,open,,');
  expect(await readFile(join(out, 'tax.csv'), 'utf8')).toBe(
    `number,category,rate,net,tax,kind,issued_on,currency,country\r\n${number},S,19.00,29.00,5.51,invoice,${day()},EUR,DE\r\n`,
  );
  const again = await run('billing:export', ...span, '--out', out);
  expect([again.code, again.out]).toEqual([1, '']);
  expect(again.err).toContain('is not empty');
  const other = join(folder, 'two');
  const second = await run('billing:export', ...span, '--out', other, '--json');
  expect(JSON.parse(second.out)).toMatchObject({ 'documents.csv': 1, 'money.csv': 0 });
  const onDeno = join(folder, 'deno');
  const args = ['build/service/cli.js', 'billing:export', ...span, '--out', onDeno];
  const third = runOn('deno', args, { DATABASE_URL: books.databaseUrl, NODE_ENV: 'test' });
  expect(await third.exited, third.output()).toBe(0);
  for (const name of names)
    for (const copy of [other, onDeno])
      expect(await readFile(join(copy, name))).toEqual(await readFile(join(out, name)));
});

it.each([
  ['2026-01-01', '2999-01-01'],
  ['2026-02-30', '2026-03-01'],
  ['2026-03-01', '2026-02-01'],
])('billing:export from %s to %s is wrong usage, and makes no folder', async (from, to) => {
  const out = join(folder, 'wrong');
  expect((await run('billing:export', '--from', from, '--to', to, '--out', out)).code).toBe(2);
  expect(await readdir(folder)).not.toContain('wrong');
});

it('contract:preview prints what is to come, or why nothing is', async () => {
  const { code, out } = await run('contract:preview', 'crm_1', '--months', '3', '--json');
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, lines.length]).toEqual([0, 3]);
  const members = ['issued_on', 'period_first_day', 'period_last_day', 'currency', 'net', 'tax', 'total'];
  expect(Object.keys(lines[0])).toEqual([...members, 'category', 'rate']);
  expect(lines[0]).toMatchObject({ net: 2_900, tax: 551, total: 3_451, category: 'S', rate: 1_900 });
  expect((await run('contract:preview', 'crm_1', '--months', '3')).out).toContain('total EUR 34.51');
  const held = await run('contract:preview', 'crm_2', '--months', '3', '--json');
  expect([held.code, held.out]).toEqual([0, '{"held":"tax_currency"}\n']);
  expect((await run('contract:preview', 'nobody', '--months', '3')).code).toBe(1);
  expect((await run('contract:preview', 'crm_1', '--months', '0')).code).toBe(2);
});

it('contracts and invoices print what they say for programs, by the state of now', async () => {
  const { db } = books;
  const parse = async (...args: string[]) =>
    (await run(...args, '--json')).out
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const [invoice] = await parse('invoices');
  expect(Object.keys(invoice)).toEqual([
    ...[
      'number',
      'signup_id',
      'status',
      'overdue',
      'currency',
      'total',
      'open',
      'issued_at',
      'due_at',
      'email',
    ],
  ]);
  expect(invoice).toMatchObject({
    signup_id: 'crm_1',
    total: 3_451,
    currency: 'EUR',
    email: 'books@example.test',
  });
  const [contract] = await parse('contracts');
  expect(Object.keys(contract)).toEqual([
    ...[
      'signup_id',
      'id',
      'user_id',
      'status',
      'plan',
      'trial_ends_at',
      'cancels_at',
      'price',
      'occurred_at',
    ],
    ...['held', 'email', 'last_day'],
  ]);
  const idsOf = async (...args: string[]) =>
    (await parse('contracts', ...args)).map((each) => each.signup_id);
  // No job has stored the end of the trial yet.
  const ago = new Date(Date.now() - 1_000);
  await sql`update service_contracts set status = 'trialing', trial_ends_at = ${ago}
    where signup_id = 'crm_2'`.execute(db);
  expect([await idsOf('--state', 'expired'), await idsOf('--state', 'trialing')]).toEqual([['crm_2'], []]);
  await sql`update service_contracts set cancels_at = ${ago} where signup_id = 'crm_1'`.execute(db);
  expect([await idsOf('--state', 'canceled'), await idsOf('--state', 'active')]).toEqual([['crm_1'], []]);
  await sql`update service_contracts set status = 'active', trial_ends_at = null, cancels_at = null`.execute(
    db,
  );
  const numbersIn = async (state: string) =>
    (await parse('invoices', '--state', state)).map((each) => each.number);
  const setDue = async (at: Date) => {
    await sql`alter table invoices disable trigger invoices_refuse_change`.execute(db);
    await sql`update invoices set due_at = ${at}`.execute(db);
    await sql`alter table invoices enable trigger invoices_refuse_change`.execute(db);
  };
  await setDue(ago);
  expect([await numbersIn('overdue'), await numbersIn('open'), await numbersIn('paid')]).toEqual([
    [number],
    [number],
    [],
  ]);
  await setDue(invoice.due_at);
});

it('contracts and invoices list by state and account', async () => {
  const list = async (...args: string[]) => (await run(...args)).out.trim().split('\n').filter(Boolean);
  expect(await list('contracts')).toHaveLength(2);
  expect(await list('contracts', '--state', 'held')).toEqual([
    expect.stringContaining('blocked: tax_currency'),
  ]);
  const [contract = ''] = await list('contracts', '--account', 'books@example.test', '--json');
  expect(JSON.parse(contract)).toMatchObject({ signup_id: 'crm_1', status: 'active', held: null });
  expect(await list('contracts', '--state', 'canceled')).toEqual([]);
  const [invoice = ''] = await list('invoices', '--state', 'open', '--json');
  expect(JSON.parse(invoice)).toMatchObject({ number, status: 'open', overdue: false, open: 3_451 });
  expect(await list('invoices', '--state', 'overdue')).toEqual([]);
  const none = await run('invoices', '--state', 'overdue');
  expect([none.code, none.out, none.err]).toEqual([0, '', 'No invoices.\n']);
  expect((await run('contracts', '--state', 'canceled')).err).toBe('No contracts.\n');
  expect((await run('invoices', '--state', 'overdue', '--json')).err).toBe('');
  const [dueOn] = (
    await sql<{ day: string }>`select facts->>'due_on' as day from documents`.execute(books.db)
  ).rows;
  expect(await list('invoices')).toEqual([expect.stringContaining(`  due ${dueOn?.day}  books@`)]);
  expect((await run('invoices', '--account', 'no-one@example.test')).code).toBe(1);
  const other = 'other@example.test';
  await books.report(
    'crm_3',
    { status: 'trialing', trial_ends_at: '2100-01-01T00:00:00Z' },
    { email: other },
  );
  expect(await list('contracts', '--account', other)).toHaveLength(1);
  expect(await list('invoices', '--account', other)).toEqual([]);
  const [invoiced = ''] = await list('invoices', '--account', 'books@example.test', '--json');
  expect(JSON.parse(invoiced)).toMatchObject({ number });
});

it('without a seller there is nothing to preview, and what is exported is of days in UTC', async () => {
  await sql`update billing_settings set stopped_at = now()`.execute(books.db);
  const { code, out, err } = await run('contract:preview', 'crm_1', '--months', '3', '--json');
  expect([code, out, err.length > 0]).toEqual([1, '', true]);
  const today = new Date().toISOString().slice(0, 10);
  const export_ = (to: string, name: string) =>
    run('billing:export', '--from', '2026-01-01', '--to', to, '--out', join(folder, name));
  expect((await export_(today, 'no-seller')).code).toBe(0);
  const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
  expect((await export_(tomorrow, 'tomorrow')).code).toBe(2);
});
