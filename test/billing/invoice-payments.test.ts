import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../server/basics/errors.ts';
import { cancelContract } from '../../server/billing/invoices/invoicing.ts';
import { openClient } from '../support/app/trpc.ts';
import { openBilling } from '../support/crm/billing.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling());
beforeEach(() => billing.setClock('2026-01-31T10:00:00.000Z'));
afterEach(() => expect(billing.takeFaults()).toEqual([]));

/** An active contract with its first invoice, dated by the test's clock. */
async function open(signupId: string): Promise<{ contractId: string; number: string }> {
  const contractId = await billing.report(signupId);
  await billing.bill();
  return { contractId, number: (await numbersOf(contractId))[0] as string };
}

const numbersOf = async (contractId: string) =>
  (await billing.invoicesOf(contractId)).map(({ number }) => number);

/** Returns `settled`, or the code of the refusal. */
const settle = (number: string, status: 'paid' | 'void', db = billing.app.db): Promise<string> =>
  billing.settle(number, status, db).then(
    () => 'settled',
    (error) => (error instanceof AppError ? error.code : Promise.reject(error)),
  );

const events = { paid: 'payment.recorded', void: 'credit_note.issued' };

async function billAt(instant: string): Promise<void> {
  await billing.setClock(instant);
  await billing.bill();
}

describe('an unpaid invoice', () => {
  it('makes its contract past due exactly 14 days after its date', async () => {
    const { contractId } = await open('overdue');
    await billAt('2026-02-14T09:59:59.999Z');
    expect(await billing.statusOf(contractId)).toBe('active');
    await billAt('2026-02-14T10:00:00.000Z');
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.bill();
    expect(await billing.eventsOf({ contractId })).toEqual(['invoice.issued', 'contract.moved fall_behind']);
  });

  it('shows its contract as past due in the list of contracts, until it is paid', async () => {
    const { contractId } = await open('listed');
    await billAt('2026-02-14T10:00:00.000Z');
    const client = openClient(billing.app.send, await billing.app.login('customer@example.test'));
    const shown = async () =>
      (await client.contracts.list.query()).find(({ id }) => id === contractId)?.status;
    expect(await shown()).toBe('past_due');
    await billing.pay(contractId);
    expect(await shown()).toBe('active');
  });

  it('is overdue 14 days after its own date, however late it was issued', async () => {
    const contractId = await billing.report(
      'counts-from-date',
      {},
      { occurredAt: '2026-01-01T10:00:00.000Z' },
    );
    await billing.bill();
    await billAt('2026-02-14T09:59:59.999Z');
    expect(await billing.statusOf(contractId)).toBe('active');
    await billAt('2026-02-14T10:00:00.000Z');
    expect(await billing.statusOf(contractId)).toBe('past_due');
  });

  it('keeps its contract past due whatever the CRM reports, and the running period keeps its price', async () => {
    const { contractId } = await open('reported');
    await billAt('2026-03-15T10:00:00.000Z');
    const dearer = { price: { currency: 'EUR', unit_amount: 5_000, interval: 'month' }, plan: 'pro' };
    await billing.report('reported', dearer);
    expect(await billing.statusOf(contractId)).toBe('past_due');
    const amounts = async () =>
      (await billing.invoicesOf(contractId)).map(({ plan, unit_amount }) => `${plan} ${unit_amount}`);
    expect(await amounts()).toEqual(['starter 2900', 'starter 2900']);
    await billing.pay(contractId);
    expect(await billing.statusOf(contractId)).toBe('active');
    await billAt('2026-04-01T10:00:00.000Z');
    expect(await amounts()).toEqual(['starter 2900', 'starter 2900', 'pro 5000']);
  });

  it('does not revive a canceled contract, whether overdue or paid', async () => {
    const { contractId, number } = await open('canceled');
    await cancelContract({ db: billing.app.db, now: billing.now }, 'canceled');
    await billAt('2026-02-20T10:00:00.000Z');
    expect(await billing.statusOf(contractId)).toBe('canceled');
    expect(await settle(number, 'paid')).toBe('settled');
    expect(await billing.statusOf(contractId)).toBe('canceled');
  });

  it('is not settled by a CRM report about its contract', async () => {
    const { contractId } = await open('reported-again');
    await billAt('2026-02-14T10:00:00.000Z');
    await billing.report('reported-again', { plan: 'pro' }, { occurredAt: '2026-02-14T09:00:00.000Z' });
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
  });
});

describe.each(['paid', 'void'] as const)('an invoice that is set to %s', (status) => {
  it('in time keeps its contract active', async () => {
    const { contractId, number } = await open(`${status}-in-time`);
    await billing.setClock('2026-02-14T09:59:59.999Z');
    expect(await settle(number, status)).toBe('settled');
    await billAt('2026-02-20T10:00:00.000Z');
    expect(await billing.statusOf(contractId)).toBe('active');
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      { status, paid_at: status === 'paid' ? new Date('2026-02-14T09:59:59.999Z') : null },
    ]);
    expect(await billing.eventsOf({ number })).toEqual(['invoice.issued', events[status]]);
  });

  it('late makes its contract active again, with billing continued without a gap', async () => {
    const { contractId, number } = await open(`${status}-late`);
    await billAt('2026-02-14T10:00:00.000Z');
    await billAt('2026-03-05T10:00:00.000Z');
    expect(await settle(number, status)).toBe('settled');
    expect(await billing.statusOf(contractId)).toBe('active');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('active');
    expect(await billing.periodsOf(contractId)).toEqual([
      '2026-01-31 to 2026-02-28',
      '2026-02-28 to 2026-03-31',
    ]);
    expect(await billing.eventsOf({ contractId })).toEqual([
      'invoice.issued',
      'contract.moved fall_behind',
      ...(status === 'void' ? ['credit_note.issued'] : []),
      'contract.moved activate',
      'invoice.issued',
    ]);
  });

  it('makes its contract active only if no other invoice is overdue', async () => {
    const contractId = await billing.report(`${status}-others`);
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await billing.bill();
    await billAt('2026-03-15T10:00:00.000Z');
    const [first, second] = (await numbersOf(contractId)) as [string, string];
    await billing.settle(second, status);
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.settle(first, status);
    expect(await billing.statusOf(contractId)).toBe('active');
  });

  it('makes its contract active even if another invoice is open but not due yet', async () => {
    const { contractId, number } = await open(`${status}-not-due`);
    await billing.setClock('2026-02-28T10:00:00.000Z');
    await billing.bill();
    expect(await numbersOf(contractId)).toHaveLength(2);
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.settle(number, status);
    expect(await billing.statusOf(contractId)).toBe('active');
  });
});

// Contract 7.159.
it.each([
  ['paid', 'paid'],
  ['void', 'void'],
  ['void', 'paid'],
] as const)('an invoice that is %s and then set to %s stays as it was: 409', async (first, second) => {
  const { contractId, number } = await open(`${first}-${second}`);
  expect(await settle(number, first)).toBe('settled');
  const closed = await billing.invoicesOf(contractId);
  await billing.setClock('2026-02-01T10:00:00.000Z');
  expect(await settle(number, second)).toBe('already_settled');
  expect(await billing.invoicesOf(contractId)).toEqual(closed);
  expect(await billing.eventsOf({ number })).toEqual(['invoice.issued', events[first]]);
});

it('an invoice that is paid can be made void, and what was paid waits', async () => {
  const { contractId, number } = await open('paid-then-void');
  await settle(number, 'paid');
  expect(await settle(number, 'void')).toBe('settled');
  expect(await billing.invoicesOf(contractId)).toMatchObject([
    { status: 'void', credited: '2900', allocated: '0', paid_at: null },
  ]);
  const { rows } = await sql`select unallocated from payments where invoice_number = ${number}`.execute(
    billing.app.db,
  );
  expect(rows).toEqual([{ unallocated: '2900' }]);
});

it.each(['0', '999999', String(Number.MAX_SAFE_INTEGER), 'INV-2026-0001'])(
  'a payment of what is open of the unknown invoice %s is 404',
  async (number) => {
    expect(await settle(number, 'paid')).toBe('not_found');
  },
);

it('a payment waits for a billing job that is marking the contract past due, and wins', async () => {
  const { contractId, number } = await open('meets-the-job');
  const paid = await billing.app.db.transaction().execute(async (trx) => {
    await sql`select from service_contracts where id = ${contractId} for update`.execute(trx);
    const settled = settle(number, 'paid');
    const waits = vi.waitFor(async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(billing.app.db);
      expect(rows).not.toHaveLength(0);
    }, 15_000);
    await Promise.race([settled, waits]);
    await sql`update service_contracts set status = 'past_due' where id = ${contractId}`.execute(trx);
    return { settled };
  });
  expect(await paid.settled).toBe('settled');
  expect(await billing.statusOf(contractId)).toBe('active');
});

describe('sixteen payments at once', () => {
  it('settle an invoice once, and leave it void if any of them is a void', async () => {
    const { contractId, number } = await open('once');
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, at) => settle(number, at % 2 ? 'paid' : 'void')),
    );
    // A payment may come before the void. The void then frees the payment.
    const settled = outcomes.filter((outcome) => outcome === 'settled').length;
    expect([1, 2]).toContain(settled);
    expect(outcomes.filter((outcome) => outcome === 'already_settled')).toHaveLength(16 - settled);
    expect(await billing.invoicesOf(contractId)).toMatchObject([{ status: 'void', allocated: '0' }]);
    expect(await billing.eventsOf({ number })).toHaveLength(1 + settled);
  });

  it('leave no paid contract past due, even beside sixteen billing jobs', async () => {
    const { app } = billing;
    const other = connect(app.databaseUrl, { poolSize: 12 });
    const contracts: { contractId: string; number: string }[] = [];
    for (let at = 0; at < 16; at++) contracts.push(await open(`race-${at}`));
    await billing.setClock('2026-02-14T10:00:00.000Z');
    await Promise.all(
      contracts.flatMap(({ number }, at) => [
        billing.bill(at % 2 ? app.db : other.db),
        settle(number, 'paid', other.db),
      ]),
    );
    await other.close();
    await billing.bill();
    for (const { contractId } of contracts) expect(await billing.statusOf(contractId)).toBe('active');
  });
});
