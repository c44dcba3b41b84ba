// Billing never looks back for what arrives late (contract 7.33).
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openBilling, price } from '../support/crm/billing.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling());
beforeEach(() => billing.setClock('2026-03-20T10:00:00.000Z'));
afterEach(() => expect(billing.takeFaults()).toEqual([]));

const free = { price: undefined };
const yearly = { price: { ...price, interval: 'year' } };

it.each([
  ['years ago', '2000-01-05T10:00:00.000Z', {}, '2026-03-05 to 2026-04-05'],
  ['years ago, on a 31st', '2000-01-31T10:00:00.000Z', {}, '2026-02-28 to 2026-03-31'],
  ['years ago, by the year', '2000-02-29T10:00:00.000Z', yearly, '2026-02-28 to 2027-02-28'],
  ['to have a period end as it arrives', '2026-01-20T10:00:00.000Z', {}, '2026-03-20 to 2026-04-20'],
  ['to have a period end just after', '2026-01-20T10:00:00.001Z', {}, '2026-02-20 to 2026-03-20'],
  ['within the first period', '2026-03-01T10:00:00.000Z', {}, '2026-03-01 to 2026-04-01'],
])('a signup dated %s is invoiced from the period in progress', async (about, occurredAt, terms, period) => {
  const contractId = await billing.report(about.replace(/\W/g, '-'), terms, { occurredAt });
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual([period]);
});

it('a signup from a 31st that arrives late keeps its day in the months after', async () => {
  const contractId = await billing.report('anchor', {}, { occurredAt: '2025-08-31T10:00:00.000Z' });
  await billing.bill();
  await billing.pay(contractId);
  await billing.setClock('2026-05-01T10:00:00.000Z');
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual([
    '2026-02-28 to 2026-03-31',
    '2026-03-31 to 2026-04-30',
    '2026-04-30 to 2026-05-31',
  ]);
});

it('16 messages at once about a signup of long ago make one invoice, and later ones none', async () => {
  const report = (day: number) => billing.report('crowd', {}, { occurredAt: `2001-01-${day}T10:00:00.000Z` });
  const ids = await Promise.all(Array.from({ length: 16 }, (_, at) => report(10 + at)));
  expect(new Set(ids).size).toBe(1);
  await billing.bill();
  await report(30);
  await billing.bill();
  expect(await billing.periodsOf(ids[0] ?? '')).toHaveLength(1);
});

it('a price that arrives later is invoiced from the period in progress then', async () => {
  const contractId = await billing.report('priced', free, { occurredAt: '2001-01-01T10:00:00.000Z' });
  await billing.bill();
  await billing.report('priced', {}, { occurredAt: '2001-05-31T10:00:00.000Z' });
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual(['2026-02-28 to 2026-03-31']);
});

it('a contract that repeats the end of its trial is invoiced from the period in progress, not from there', async () => {
  const trial_ends_at = '2020-01-01T10:00:00.000Z';
  const contractId = await billing.report(
    'whole',
    { trial_ends_at },
    { occurredAt: '2025-06-15T10:00:00.000Z' },
  );
  await billing.report(
    'whole',
    { trial_ends_at, plan: 'larger' },
    { occurredAt: '2026-03-20T09:00:00.000Z' },
  );
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual(['2026-03-15 to 2026-04-15']);
  expect(await billing.statusOf(contractId)).toBe('active');
});

it('a trial that is reported active late is invoiced from the period in progress', async () => {
  const trial = { status: 'trialing', trial_ends_at: '2026-12-31T10:00:00.000Z' };
  const contractId = await billing.report('trial', trial, { occurredAt: '2025-01-01T10:00:00.000Z' });
  await billing.report('trial', {}, { occurredAt: '2025-06-15T10:00:00.000Z' });
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual(['2026-03-15 to 2026-04-15']);
});

it('a price that comes back late, dated within a period that is invoiced, leaves the time between unbilled', async () => {
  const contractId = await billing.report('back', {}, { occurredAt: '2026-03-10T10:00:00.000Z' });
  await billing.bill();
  await billing.pay(contractId);
  await billing.report('back', free, { occurredAt: '2026-03-15T10:00:00.000Z' });
  await billing.setClock('2026-07-20T10:00:00.000Z');
  await billing.report('back', {}, { occurredAt: '2026-03-16T10:00:00.000Z' });
  await billing.bill();
  expect(await billing.periodsOf(contractId)).toEqual([
    '2026-03-10 to 2026-04-10',
    '2026-07-10 to 2026-08-10',
  ]);
});

it('a new price counts from the period after its arrival, whatever date it has and however late the job is', async () => {
  const dear = { price: { ...price, unit_amount: 9_900 } };
  const contractId = await billing.report('dearer', {}, { occurredAt: '2026-03-10T10:00:00.000Z' });
  await billing.setClock('2026-05-20T10:00:00.000Z');
  await billing.report('dearer', dear, { occurredAt: '2026-03-15T10:00:00.000Z' });
  await billing.setClock('2026-06-10T10:00:00.000Z');
  await billing.bill();
  const invoices = await billing.invoicesOf(contractId);
  expect(invoices.map(({ unit_amount }) => unit_amount)).toEqual(['2900', '2900', '2900', '9900']);
});
