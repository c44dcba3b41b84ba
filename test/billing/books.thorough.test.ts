// After random acts, sixteen at the same time, the books balance. The sums that check this use none of our code. `FAULTS=long`:
// 10,000 acts.
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { expect, it } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockContract } from '../../db/tables/service-contracts.ts';
import { AppError } from '../../server/basics/errors.ts';
import { cancelContract, invoiceBegun } from '../../server/billing/invoices/invoicing.ts';
import {
  allocate,
  payBack,
  payOpen,
  type Recorder,
  recordMoney,
} from '../../server/billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { openApp } from '../support/app/app.ts';
import {
  addContract,
  addEarlyRefund,
  addOldInvoice,
  buildRefund,
  findFaultsInBooks,
  issueNext,
  readInvoice,
  renameBuyer,
} from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { createRandom, seed } from '../support/run/random.ts';

const acts = byForm({ short: 300, long: 10_000 });

it(`${acts} random acts leave the books balanced`, { timeout: 3_000_000 }, async () => {
  const app = await openApp();
  const { db, close } = connect(app.databaseUrl, { poolSize: 16 });
  const random = createRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const oneOf = <T>(all: T[]) => all[pick(all.length)] as T;
  const done: Record<string, number> = {};
  const refused: Record<string, number> = {};

  const addOne = async () => {
    const currency = pick(6) === 0 ? 'USD' : 'EUR';
    // Amounts that do not divide evenly, and whose tax does not come out even.
    const unitAmount = oneOf([1, 3, 7, 99, 2_900, 3_333, 10_001, 999_999]);
    return addContract(db, { price: { currency, unitAmount } });
  };
  // The first invoices are from before there was a seller.
  const contracts = await Promise.all(Array.from({ length: 12 }, addOne));
  const old = await Promise.all(contracts.slice(0, 6).map((id) => addOldInvoice(db, id)));
  const rates = [
    { country: 'DE', rate: 1_900, category: 'S' as const, from: '2020-01-01' },
    { country: '*', rate: 0, category: 'O' as const, words: 'None', from: '2020-01-01' },
  ];
  const seven = { country: 'DE', rate: 733, category: 'S' as const, from: '2100-03-01' };
  const exempt = {
    country: 'DE',
    rate: 0,
    category: 'E' as const,
    words: 'Small business',
    from: '2020-01-01',
  };
  const variants = [
    { prices: 'net' as const, rules: rates },
    { prices: 'gross' as const, rules: rates },
    { prices: 'gross' as const, rules: [...rates, seven] },
    { prices: 'net' as const, rules: [exempt, ...rates.slice(1)] },
  ];
  // Settings change one after the other, because two changes at the same time would get the same version number.
  let changed = Promise.resolve();
  const change = () => {
    const tax = { ...germanSettings.tax, ...oneOf(variants) };
    changed = changed.then(() => setSettings(db, { ...germanSettings, tax }));
    return changed;
  };
  await setSettings(db, { ...germanSettings, tax: { ...germanSettings.tax, ...variants[0] } });

  const numbers: string[] = [...(old as string[])];
  const payments: { id: string; currency: string }[] = [];
  const number = () => (pick(12) === 0 ? 'unknown' : oneOf(numbers));
  const act = (work: (trx: Parameters<typeof payOpen>[0], by: Recorder) => Promise<unknown>) => {
    // For some acts the clock is 30 days ahead, when invoices may be overdue.
    const now = new Date(Date.now() + pick(2) * 30 * 24 * 3_600_000);
    return inTransaction(db, { by: 'operator', cause: 'test' }, (trx) =>
      work(trx, { now, recordedBy: 'operator' }),
    );
  };
  const named = { method: null, reference: null, paidAt: new Date('2026-02-01T10:00:00Z') };
  const pay = async (amount: number, id: string = uuidv7(), currency = pick(8) === 0 ? 'USD' : 'EUR') => {
    payments.push({ id, currency });
    const invoiceNumber = pick(15) === 0 ? null : number();
    await act((trx, by) =>
      recordMoney(trx, { ...named, id, kind: 'payment', of: null, currency, amount, invoiceNumber }, by),
    );
  };
  const refund = (of: { id: string; currency: string }, amount: number) =>
    act((trx, by) =>
      recordMoney(
        trx,
        {
          ...named,
          id: uuidv7(),
          kind: 'refund',
          of: of.id,
          currency: of.currency,
          amount,
          invoiceNumber: null,
        },
        by,
      ),
    );

  const all: Record<string, [weight: number, () => Promise<unknown>]> = {
    issue: [
      20,
      async () => {
        const issued = await issueNext(db, oneOf(contracts));
        if (issued) numbers.push(issued);
      },
    ],
    pay: [10, () => act((trx, by) => payOpen(trx, { number: number(), id: uuidv7(), paidAt: by.now }, by))],
    part: [12, () => pay(1 + pick(3_000))],
    'too much': [3, () => pay(1_000_000 + pick(1_000_000))],
    refund: [10, () => refund(oneOf(payments), 1 + pick(3_000))],
    'refund first': [
      6,
      async () => {
        const payment = { id: uuidv7(), currency: 'EUR' };
        await addEarlyRefund(db, buildRefund(payment.id, 1 + pick(3_000)));
        await pay(1 + pick(4_000), payment.id, 'EUR');
      },
    ],
    'credit in part': [10, () => act((trx, by) => creditInvoice(trx, number(), 1 + pick(2_000), by))],
    'credit in pieces': [
      5,
      async () => {
        const piecemeal = oneOf(numbers);
        const { total = 0, credited = 0 } = (await readInvoice(db, piecemeal)) ?? {};
        const pieces = 2 + pick(4);
        for (let piece = 1; piece < pieces; piece++) {
          const amount = Math.floor((total - credited) / pieces);
          await act((trx, by) => creditInvoice(trx, piecemeal, Math.max(1, amount), by));
        }
        await act((trx, by) => creditInvoice(trx, piecemeal, undefined, by));
      },
    ],
    credit: [3, () => act((trx, by) => creditInvoice(trx, number(), undefined, by))],
    reissue: [
      6,
      async () => {
        const reissued = number();
        await renameBuyer(db, reissued);
        await act((trx, by) => reissueInvoice(trx, reissued, by));
      },
    ],
    allocate: [
      8,
      () => act((trx, by) => allocate(trx, { paymentId: oneOf(payments).id, number: number() }, by)),
    ],
    'paid back': [
      4,
      () =>
        act((trx, by) => payBack(trx, { paymentId: oneOf(payments).id, id: uuidv7(), paidAt: by.now }, by)),
    ],
    'new contract': [2, async () => contracts.push(await addOne())],
    'new settings': [2, change],
    cancel: [
      2,
      async () => {
        if (contracts.length < 10) return;
        const [id = ''] = contracts.splice(pick(contracts.length), 1);
        const { signup_id } = await db
          .selectFrom('service_contracts')
          .select('signup_id')
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        await cancelContract({ db, now: () => new Date('2020-01-02') }, signup_id);
      },
    ],
  };
  const drawn = Object.entries(all).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name));
  const expected = ['busy', 'already_settled', 'not_found', 'not_allowed', 'validation_failed'];

  const perform = async (name: string) => {
    try {
      await all[name]?.[1]();
      done[name] = (done[name] ?? 0) + 1;
    } catch (error) {
      // An act that waits for a number may wait longer than a statement may run on a busy machine. Then the act has done
      // nothing.
      const code = isDatabaseAway(error) ? 'busy' : error instanceof AppError ? error.code : '';
      if (!expected.includes(code)) throw error;
      refused[code] = (refused[code] ?? 0) + 1;
    }
  };

  await pay(100);
  for (let round = 0; round < acts / 100; round++) {
    let left = 100;
    const work = async () => {
      while (left-- > 0) await perform(oneOf(drawn));
    };
    await Promise.all(Array.from({ length: 16 }, work));
    expect(await findFaultsInBooks(db), `after ${(round + 1) * 100} acts`).toEqual([]);
  }
  // By chance, an act that is rarely drawn or mostly refused may not have succeeded yet.
  for (const name of Object.keys(all))
    for (let tries = 0; !done[name] && tries < 100; tries++) await perform(name);
  expect(await findFaultsInBooks(db)).toEqual([]);
  // Every act succeeded at least once.
  expect(Object.keys(done).sort()).toEqual(Object.keys(all).sort());
  const { rows } = await sql<{ kind: string; n: number }>`
    select kind, count(*)::int as n from documents group by kind`.execute(db);
  expect(rows).toHaveLength(2);
  expect(refused.busy ?? 0).toBeLessThan(acts / 20);
  noteFigures('acts on the books', { ...done, ...refused });
  await close();
  await app.close();
});

it('one transaction issues everything by one version of the settings, even if they change meanwhile', async () => {
  const app = await openApp();
  const { db, close } = connect(app.databaseUrl, { poolSize: 4 });
  const work = <T>(does: Parameters<typeof inTransaction<T>>[2]) =>
    inTransaction(db, { by: 'operator', cause: 'test' }, does);
  const { seller, numbers, tax } = germanSettings;
  const other = {
    ...germanSettings,
    seller: { ...seller, name: 'Another GmbH' },
    numbers: { ...numbers, invoice: 'NEXT-' },
    tax: { ...tax, rules: tax.rules.map((rule) => (rule.country === 'DE' ? { ...rule, rate: 700 } : rule)) },
  };
  /** Sets other settings while `issues` waits for its first number in the series of `prefix`. */
  const setMeanwhile = (prefix: string, issues: () => Promise<unknown>) =>
    work(async (trx) => {
      await sql`select from document_series where prefix = ${prefix} for update`.execute(trx);
      const issued = issues();
      await expect
        .poll(async () => {
          const { rows } = await sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
          return rows.length;
        })
        .toBe(1);
      await setSettings(db, other);
      return { issued };
    }).then(({ issued }) => issued);
  const documents = async (contractId: string) =>
    (
      await sql`select split_part(d.number, '-', 1) as prefix, settings_version as version, rate, facts #>> '{seller,name}' as seller
        from documents d join invoices i on i.number = d.invoice
        where i.contract_id = ${contractId} order by i.number, d.kind desc`.execute(db)
    ).rows;
  const first = { prefix: 'INV', version: 1, rate: 1_900, seller: seller.name };

  await setSettings(db);
  const toCredit = await issueNext(db, await addContract(db));
  await work((trx) => creditInvoice(trx, toCredit ?? '', 1, { now: new Date(), recordedBy: 'operator' }));
  const contracts = [await addContract(db), await addContract(db)] as const;
  const number = await issueNext(db, contracts[1]);
  await setMeanwhile(numbers.invoice, () =>
    work(async (trx) => {
      const contract = await lockContract(trx, { id: contracts[0] });
      if (contract) await invoiceBegun(trx, contract, { now: new Date('2100-03-15') });
    }),
  );
  expect(await documents(contracts[0])).toEqual([first, first, first]);

  await setSettings(db);
  const third = { ...first, version: 3 };
  await renameBuyer(db, number ?? '');
  await setMeanwhile(numbers.credit_note, () =>
    work((trx) => reissueInvoice(trx, number ?? '', { now: new Date(), recordedBy: 'operator' })),
  );
  expect(await documents(contracts[1])).toEqual([first, { ...third, prefix: 'CN' }, third]);
  await close();
  await app.close();
});
