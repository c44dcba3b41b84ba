import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelContract } from '../../server/billing/invoices/invoicing.ts';
import { openBilling, price } from '../support/crm/billing.ts';
import { shared } from '../support/run/shared.ts';

const day = 24 * 3_600_000;
const start = '2026-01-31T10:00:00.000Z';

const billing = shared(() => openBilling());
beforeEach(() => billing.setClock(start));
afterEach(() => expect(billing.takeFaults()).toEqual([]));

describe('an invoice', () => {
  it('covers what began while the contract was past due, once the CRM cancels it (contract 7.31)', async () => {
    const contractId = await billing.report('past-due-canceled');
    await billing.bill();
    await billing.setClock('2026-02-20T10:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.setClock('2026-03-20T10:00:00.000Z');
    await billing.report('past-due-canceled', { status: 'canceled' });
    expect(await billing.statusOf(contractId)).toBe('canceled');
    await billing.pay(contractId);
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('canceled');
    expect(await billing.periodsOf(contractId)).toEqual([
      '2026-01-31 to 2026-02-28',
      '2026-02-28 to 2026-03-31',
    ]);
  });

  it('covers the period that starts when the contract became active', async () => {
    const contractId = await billing.report('first', {}, { occurredAt: '2026-01-30T10:30:00.250Z' });
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toEqual([
      {
        number: expect.stringMatching(/^INV\d+-2026-0001$/),
        contract_id: contractId,
        plan: 'starter',
        period_starts_at: new Date('2026-01-30T10:30:00.250Z'),
        period_ends_at: new Date('2026-02-28T10:30:00.250Z'),
        currency: 'EUR',
        unit_amount: '2900',
        credited: '0',
        allocated: '0',
        status: 'open',
        issued_at: new Date(start),
        due_at: new Date(Date.parse(start) + 14 * day),
        past_due_at: new Date(Date.parse(start) + 14 * day),
        reminded: 0,
        paid_at: null,
        buyer_name: 'Casey’s account',
        buyer_email: 'customer@example.test',
      },
    ]);
    expect(await billing.eventsOf({ contractId })).toEqual(['invoice.issued']);
  });

  it('is not made before its period starts', async () => {
    const contractId = await billing.report('ahead', {}, { occurredAt: '2026-01-31T10:04:00.000Z' });
    await billing.setClock('2026-01-31T10:03:59.999Z');
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toEqual([]);
    await billing.setClock('2026-01-31T10:04:00.000Z');
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toHaveLength(1);
  });

  it('is made by the running service, without anybody asking', async () => {
    const contractId = await billing.report('by-itself');
    await expect.poll(() => billing.invoicesOf(contractId), { timeout: 20_000 }).toHaveLength(1);
  });

  it.each([
    ['JPY', 'month', 4_980],
    ['KWD', 'month', 12_345],
    ['EUR', 'year', 1],
    ['USD', 'month', 10 ** 12],
  ])('is in minor units: for %s per %s it says %d', async (currency, interval, unit_amount) => {
    const contractId = await billing.report(`minor-${currency}`, {
      price: { currency, unit_amount, interval },
    });
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      { currency, unit_amount: String(unit_amount), status: 'open' },
    ]);
  });
});

describe('no invoice is made', () => {
  const trial = { status: 'trialing', trial_ends_at: '2026-02-14T10:00:00.000Z' };

  it.each([
    ['on trial', trial, '2026-02-14T09:59:59.999Z'],
    ['whose trial expired', trial, '2026-06-01T10:00:00.000Z'],
    ['without a price', { price: undefined }, '2026-06-01T10:00:00.000Z'],
    ['at a price of 0', { price: { ...price, unit_amount: 0 } }, '2026-06-01T10:00:00.000Z'],
  ])('for a contract %s', async (about, contract, at) => {
    const contractId = await billing.report(`none-${about.replaceAll(' ', '-')}`, contract);
    await billing.bill();
    await billing.setClock(at);
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toEqual([]);
  });

  it('for the periods after a contract was canceled', async () => {
    const contractId = await billing.report('canceled');
    await billing.bill();
    expect(await cancelContract({ db: billing.app.db, now: billing.now }, 'canceled')).toBe(true);
    await billing.setClock('2026-06-01T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(['2026-01-31 to 2026-02-28']);
  });

  it('for the periods after the CRM canceled a contract, and for those before it even if the job is late (contract 7.31)', async () => {
    const contractId = await billing.report('reported');
    await billing.setClock('2026-03-01T10:00:00.000Z');
    const terms = { status: 'canceled', plan: 'other', price: { ...price, unit_amount: 1 } };
    await billing.report('reported', terms, { occurredAt: '2026-03-01T09:00:00.000Z' });
    expect(await billing.statusOf(contractId)).toBe('canceled');
    await billing.setClock('2026-06-01T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual([
      '2026-01-31 to 2026-02-28',
      '2026-02-28 to 2026-03-31',
    ]);
    for (const invoice of await billing.invoicesOf(contractId))
      expect(invoice).toMatchObject({ plan: 'starter', unit_amount: '2900', status: 'open' });
    // Neither an overdue invoice nor a payment brings the contract back.
    await billing.pay(contractId);
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('canceled');
  });

  it('while a contract is past due', async () => {
    const contractId = await billing.report('past-due');
    await billing.bill();
    await billing.setClock('2026-02-20T10:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.setClock('2026-03-20T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(['2026-01-31 to 2026-02-28']);
  });
});

describe('billing follows the CRM', () => {
  it('and begins when a trial becomes active', async () => {
    const trial = { status: 'trialing', trial_ends_at: '2026-02-14T10:00:00.000Z' };
    const contractId = await billing.report('from-trial', trial);
    await billing.bill();
    await billing.setClock('2026-02-10T12:00:00.000Z');
    expect(await billing.report('from-trial', {}, { occurredAt: '2026-02-10T11:00:00.000Z' })).toBe(
      contractId,
    );
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      {
        period_starts_at: new Date('2026-02-10T11:00:00.000Z'),
        period_ends_at: new Date('2026-03-10T11:00:00.000Z'),
      },
    ]);
  });

  it('and takes over a new plan, price and interval with the next period', async () => {
    const contractId = await billing.report('changes');
    await billing.bill();
    await billing.setClock('2026-02-10T10:00:00.000Z');
    await billing.report('changes', {
      plan: 'pro',
      price: { currency: 'USD', unit_amount: 99_900, interval: 'year' },
    });
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(['2026-01-31 to 2026-02-28']);
    await billing.pay(contractId);
    await billing.setClock('2026-02-28T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual([
      '2026-01-31 to 2026-02-28',
      '2026-02-28 to 2027-02-28',
    ]);
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      { plan: 'starter', currency: 'EUR', unit_amount: '2900' },
      { plan: 'pro', currency: 'USD', unit_amount: '99900' },
    ]);
  });

  it.each([
    ['within the invoiced period, goes on after it', '2026-02-20T10:00:00.000Z', '2026-02-28 to 2026-03-31'],
    [
      'later, starts again and leaves the gap unbilled',
      '2026-03-10T10:00:00.000Z',
      '2026-03-10 to 2026-04-10',
    ],
  ])('and, when a removed price comes back %s', async (_, backAt, next) => {
    const signupId = `price-back-${backAt.slice(0, 10)}`;
    const contractId = await billing.report(signupId);
    await billing.bill();
    await billing.pay(contractId);
    await billing.setClock('2026-02-10T10:00:00.000Z');
    await billing.report(signupId, { price: undefined });
    await billing.setClock(backAt);
    await billing.bill();
    await billing.report(signupId);
    await billing.setClock('2026-03-10T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(['2026-01-31 to 2026-02-28', next]);
  });
});
