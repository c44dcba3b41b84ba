import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelContract } from '../../server/billing/invoices/invoicing.ts';
import { openBilling, price } from '../support/crm/billing.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling());
beforeEach(() => billing.setClock('2026-01-31T10:00:00.000Z'));
afterEach(async () => {
  expect(billing.takeFaults()).toEqual([]);
  const numbers = await billing.numbers();
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
});

const months = [
  '2026-01-31 to 2026-02-28',
  '2026-02-28 to 2026-03-31',
  '2026-03-31 to 2026-04-30',
  '2026-04-30 to 2026-05-31',
  '2026-05-31 to 2026-06-30',
  '2026-06-30 to 2026-07-31',
];

describe('the billing job', () => {
  it('makes one invoice per period, even when it runs twice', async () => {
    const contractId = await billing.report('twice');
    await billing.bill();
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 1));
    await billing.pay(contractId);
    await billing.setClock('2026-02-28T09:59:59.999Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 1));
    await billing.setClock('2026-02-28T10:00:00.000Z');
    await billing.bill();
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 2));
  });

  it('makes up for five missed months, and gives each invoice the usual time to pay', async () => {
    const contractId = await billing.report('late');
    await billing.bill();
    await billing.pay(contractId);
    await billing.setClock('2026-07-01T10:00:00.000Z');
    await billing.bill();
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months);
    const late = (await billing.invoicesOf(contractId)).slice(1);
    expect(late).toHaveLength(5);
    for (const { issued_at, due_at } of late) {
      expect([issued_at, due_at]).toEqual([
        new Date('2026-07-01T10:00:00.000Z'),
        new Date('2026-07-15T10:00:00.000Z'),
      ]);
    }
    expect(await billing.statusOf(contractId)).toBe('active');
  });

  it('invoices each period once when it runs sixteen times at once, beside two instances', async () => {
    const { app } = billing;
    await app.startInstance();
    const other = connect(app.databaseUrl, { poolSize: 8 });
    const ids: string[] = [];
    for (const at of [0, 1, 2, 3]) ids.push(await billing.report(`at-once-${at}`));
    await billing.setClock('2026-07-01T10:00:00.000Z');
    await Promise.all(Array.from({ length: 16 }, (_, at) => billing.bill(at % 2 ? app.db : other.db)));
    await other.close();
    await billing.bill();
    for (const id of ids) expect(await billing.periodsOf(id)).toEqual(months);
  });

  it('invoices nothing twice after the clock was set back, and goes on from where it was', async () => {
    const contractId = await billing.report('clock');
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await billing.bill();
    await billing.setClock('2026-02-01T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 2));
    await billing.setClock('2026-04-01T10:00:00.000Z');
    await billing.pay(contractId);
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 3));
  });

  it('invoices a period by the terms it began with, even if it runs after they changed', async () => {
    const changes = [
      ['late-price', { price: { ...price, unit_amount: 9_900 } }],
      ['late-plan', { plan: 'pro' }],
      ['late-interval', { price: { ...price, interval: 'year' } }],
      ['late-no-price', { price: undefined }],
    ] as const;
    for (const [signupId, change] of changes) {
      await billing.setClock('2026-01-31T10:00:00.000Z');
      const contractId = await billing.report(signupId);
      await billing.setClock('2026-03-01T10:00:00.000Z');
      await billing.report(signupId, change);
      await billing.bill();
      expect(await billing.periodsOf(contractId), signupId).toEqual(months.slice(0, 2));
      for (const invoice of await billing.invoicesOf(contractId)) {
        expect(invoice, signupId).toMatchObject({ plan: 'starter', unit_amount: '2900' });
      }
    }
  });

  it('invoices a period that began before the contract was canceled, even if it runs after that', async () => {
    const contractId = await billing.report('late-cancel');
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await cancelContract({ db: billing.app.db, now: billing.now }, 'late-cancel');
    await billing.bill();
    expect(await billing.periodsOf(contractId)).toEqual(months.slice(0, 2));
  });
});

it('a contract locked by another transaction does not stop the invoices of others', async () => {
  const held = await billing.report('held');
  await billing.setClock('2026-01-31T10:00:01.000Z');
  const other = await billing.report('not-held');
  await billing.app.db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`select from service_contracts where id = ${held} for update`.execute(trx);
    await billing.bill(billing.app.db, 1).catch(() => undefined);
  });
  billing.takeFaults();
  expect(await billing.invoicesOf(other)).toHaveLength(1);
  await billing.bill();
  expect(await billing.invoicesOf(held)).toHaveLength(1);
});

describe('a failed insert of an invoice', () => {
  const failWhere = async (condition: string) => {
    await sql`create or replace function refuse() returns trigger language plpgsql as $$
      begin
        if ${sql.raw(condition)} then raise exception 'refused'; end if;
        return new;
      end $$`.execute(billing.app.db);
    await sql`create or replace trigger refuse before insert on invoices
      for each row execute function refuse()`.execute(billing.app.db);
  };
  afterEach(async () => {
    await sql`delete from service_contracts where signup_id ~ '^copy-'`.execute(billing.app.db);
    await sql`drop trigger if exists refuse on invoices`.execute(billing.app.db);
  });

  it('leaves no gap in the invoice numbers, and the next run makes up for it', async () => {
    // A sequence keeps its value when a transaction fails, so every third try fails and its repeat succeeds.
    await sql`create sequence tries`.execute(billing.app.db);
    await failWhere(`nextval('tries') % 3 = 0`);
    const ids: string[] = [];
    for (const at of [0, 1, 2, 3, 4]) ids.push(await billing.report(`gap-${at}`));
    await billing.setClock('2026-03-01T10:00:00.000Z');
    for (let run = 0; run < 8; run++) {
      await billing.bill();
      // The service's own job may have issued the first invoices. If these were not paid, they would hold up the next ones.
      for (const id of ids) await billing.pay(id);
    }
    expect(billing.takeFaults().length).toBeGreaterThan(0);
    for (const id of ids) expect(await billing.periodsOf(id)).toEqual(months.slice(0, 2));
  });

  it('does not stop other contracts, and is logged', async () => {
    await failWhere(`new.plan = 'refused'`);
    const refused = await billing.report('refused', { plan: 'refused' });
    const other = await billing.report('not-refused');
    await billing.bill();
    expect(await billing.invoicesOf(refused)).toEqual([]);
    expect(await billing.invoicesOf(other)).toHaveLength(1);
    expect(billing.takeFaults()).toEqual([
      { contractId: refused, err: expect.objectContaining({ message: 'refused' }) },
    ]);

    await failWhere('false');
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await billing.bill();
    expect(await billing.periodsOf(refused)).toEqual(months.slice(0, 2));
  });

  it('does not stop other contracts, however many fail before them', async () => {
    await failWhere(`new.plan = 'refused'`);
    const refused = await billing.report('refused-first', { plan: 'refused' });
    await sql`
      insert into service_contracts (id, user_id, account_id, signup_id, plan, status, price_currency,
        price_unit_amount, price_interval, occurred_at, next_period_starts_at, billing_anchor_day)
      select gen_random_uuid(), user_id, account_id, 'copy-' || n, plan, status, price_currency,
        price_unit_amount, price_interval, occurred_at, next_period_starts_at, billing_anchor_day
      from service_contracts, generate_series(1, 250) n where id = ${refused}`.execute(billing.app.db);
    await billing.setClock('2026-01-31T10:00:01.000Z');
    const other = await billing.report('after-many');
    await billing.bill();
    expect(billing.takeFaults()).toHaveLength(251);
    expect(await billing.invoicesOf(other)).toHaveLength(1);
  });
});

it('the database itself refuses a second invoice for a period', async () => {
  const contractId = await billing.report('unique');
  await billing.bill();
  const copy = sql`
    insert into invoices (number, document, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
      status, issued_at, due_at)
    select (select max(number) + 1 from invoices), 'COPY-2026-0001', contract_id, plan, period_starts_at, period_ends_at,
      currency, unit_amount, status, issued_at, due_at
    from invoices where contract_id = ${contractId}`;
  await expect(copy.execute(billing.app.db)).rejects.toMatchObject({
    code: '23505',
    constraint: 'invoices_contract_id_period_starts_at_key',
  });
});
