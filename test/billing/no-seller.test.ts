// While nobody sells, nothing is invoiced: periods wait for a seller, and administrators are told one time (contract 7.470 to
// 7.473).
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findSettingsInForce } from '../../db/tables/billing-settings.ts';
import { lockContract } from '../../db/tables/service-contracts.ts';
import { invoiceBegun } from '../../server/billing/invoices/invoicing.ts';
import { seedDemoSeller } from '../../server/doors/demo/demo-users.ts';
import { exampleSettings } from '../../server/doors/demo/example-settings.ts';
import { openBooks } from '../support/billing/books.ts';
import { addContract } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const open = () => openBooks({ at: '2027-01-31T10:00:00.000Z', settings: null });
const books = shared(open);

type Books = Awaited<ReturnType<typeof open>>;
const waitingOf = async ({ db }: Books) =>
  (
    await sql<{
      period: string;
    }>`select starts_at::date || ' ' || plan || ' ' || unit_amount || ' ' || held_code as period
      from waiting_periods order by starts_at`.execute(db)
  ).rows.map(({ period }) => period);
const invoicesOf = async ({ db }: Books) =>
  (
    await sql<{
      said: string;
    }>`select i.document || ' ' || i.period_starts_at::date || ' ' || i.plan || ' ' || d.net as said
      from invoices i left join documents d on d.invoice = i.number order by i.number`.execute(db)
  ).rows.map(({ said }) => said);
const toldOf = async ({ db }: Books) =>
  (
    await sql<{ to: string }>`select recipient || ' ' || (details - 'since')::text as to from mails
      where kind = 'no_seller' order by recipient`.execute(db)
  ).rows.map(({ to }) => to);

it('periods wait for a seller, and are invoiced at their own plan and price once there is one (contract 7.470)', async () => {
  await books.report('Waits');
  await books.bill();
  await books.setClock('2027-02-28T10:00:00.000Z');
  // The second period has begun when this dearer price arrives.
  await books.report('Waits', {
    plan: 'pro',
    price: { currency: 'EUR', unit_amount: 9_900, interval: 'month' },
  });
  await books.setClock('2027-03-31T10:00:00.000Z');
  await books.bill();
  expect(await invoicesOf(books)).toEqual([]);
  expect(await waitingOf(books)).toEqual([
    '2027-01-31 starter 2900 no_seller',
    '2027-02-28 starter 2900 no_seller',
    '2027-03-31 pro 9900 no_seller',
  ]);
  const tried = () => sql`select max(tried_at) as at from waiting_periods`.execute(books.db);
  const before = (await tried()).rows;
  await books.setClock('2027-04-02T10:00:00.000Z');
  await books.bill();
  // Nothing is tried again before there is a seller.
  expect((await tried()).rows).toEqual(before);
  await setSettings(books.db);
  await books.bill();
  expect(await invoicesOf(books)).toEqual([
    'INV-2027-0001 2027-01-31 starter 2900',
    'INV-2027-0002 2027-02-28 starter 2900',
    'INV-2027-0003 2027-03-31 pro 9900',
  ]);
  expect(await waitingOf(books)).toEqual([]);
});

describe('16 contracts that begin at once', () => {
  const many = shared(open);
  it('tell each administrator once, and nobody else (contract 7.471)', async () => {
    const { db, close } = connect(many.databaseUrl, { poolSize: 16 });
    afterAll(close);
    await sql`update users set role = 'admin' where email = 'manager@example.test'`.execute(db);
    const ids = await Promise.all(Array.from({ length: 16 }, () => addContract(db)));
    const bill = (id: string) =>
      inTransaction(db, { by: 'service', cause: 'test' }, async (trx) => {
        const contract = await lockContract(trx, { id });
        // Each transaction has looked for earlier mails before any of them commits.
        if (contract?.nextPeriodStartsAt)
          await invoiceBegun(trx, contract, { now: contract.nextPeriodStartsAt });
        await sql`select pg_sleep(0.2)`.execute(trx);
      });
    await Promise.all(ids.map(bill));
    expect(await waitingOf(many)).toHaveLength(16);
    const told = ['admin@example.test {}', 'manager@example.test {}'];
    expect(await toldOf(many)).toEqual(told);
    // A new administrator is told when the next period has to wait. Nobody is told a second time.
    await sql`update users set role = 'admin' where email = 'customer@example.test'`.execute(db);
    await bill(await addContract(db));
    expect(await toldOf(many)).toEqual([
      'admin@example.test {}',
      'customer@example.test {}',
      'manager@example.test {}',
    ]);
  });
});

describe('local mode', () => {
  const local = shared(open);
  const sellerOf = async () => (await findSettingsInForce(local.db))?.settings;

  it('has a demo seller, set once (contract 7.473)', async () => {
    await Promise.all(Array.from({ length: 16 }, () => seedDemoSeller(local.db, exampleSettings)));
    expect(await findSettingsInForce(local.db)).toEqual({ version: 1, settings: exampleSettings });
    await setSettings(local.db, germanSettings);
    await seedDemoSeller(local.db, exampleSettings);
    expect(await sellerOf()).toEqual(germanSettings);
  });

  it('has none in a database without the demo users, which may be a real one', async () => {
    const real = await open();
    try {
      await sql`delete from users`.execute(real.db);
      await seedDemoSeller(real.db, exampleSettings);
      expect(await findSettingsInForce(real.db)).toBeUndefined();
    } finally {
      await real.close();
    }
  });
});
