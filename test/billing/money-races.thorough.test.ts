// Reports of money at the same time: sixteen equal reports count once, and the order of reports does not change the result.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockPayments } from '../../db/tables/payments.ts';
import { AppError } from '../../server/basics/errors.ts';
import { allocate, payBack, type payOpen, type Recorder } from '../../server/billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { openApp } from '../support/app/app.ts';
import {
  addInvoice,
  buildPayment,
  buildRefund,
  findFaultsInBooks,
  type Report,
  readInvoice,
  readUnallocated,
  renameBuyer,
  report,
} from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { connect } from '../support/database/postgres.ts';
import { fc, seed, shuffle } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

let many: ReturnType<typeof connect>;
const app = shared(openApp);
const other = shared(() => app.startInstance());
beforeAll(async () => {
  many = connect(app.databaseUrl, { poolSize: 16 });
  await setSettings(app.db);
});
afterAll(async () => {
  expect(await findFaultsInBooks(app.db)).toEqual([]);
  await many.close();
});

const sixteen = <T>(work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 16 }, (_, at) => work(at)));

/** Returns `done`, or the code of the refusal. */
const tryTo = (
  work: (trx: Parameters<typeof payOpen>[0], by: Recorder) => Promise<unknown>,
): Promise<string> =>
  inTransaction(many.db, { by: 'operator', cause: 'test' }, (trx) =>
    work(trx, { now: new Date(), recordedBy: 'operator' }),
  ).then(
    () => 'done',
    (error) => (error instanceof AppError ? error.code : Promise.reject(error)),
  );

const count = (outcomes: string[], outcome: string) => outcomes.filter((each) => each === outcome).length;

it('a credit does not wait for payments that it frees nothing from', async () => {
  const number = await addInvoice(app.db);
  const [older, newer] = [
    buildPayment(1_000, { invoice_number: number }),
    buildPayment(2_451, { invoice_number: number }),
  ];
  for (const payment of [older, newer]) await report(app, payment);
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
    await lockPayments(trx, [older.payment_id]);
    expect(await tryTo((other, by) => creditInvoice(other, number, 2_000, by))).toBe('done');
  });
  expect(await readUnallocated(app.db, newer.payment_id)).toBe(2_000);
});

it('very many payments take one place in the locks of the server, and each of them is locked', async () => {
  const ids = Array.from({ length: 501 }, (_, at) => `many-${at}`);
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
    await lockPayments(trx, ids);
    const { rows } = await sql`
      select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`.execute(trx);
    expect(rows).toHaveLength(1);
    await expect(
      inTransaction(many.db, { by: 'operator', cause: 'test' }, async (other) => {
        await sql`set local lock_timeout = '100ms'`.execute(other);
        await lockPayments(other, ['many-7']);
      }),
    ).rejects.toMatchObject({ code: '55P03' });
  });
});

describe('sixteen at once (contract 7.148 and 7.158)', () => {
  it('record a payment once, under sixteen webhook-ids at two instances', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(3_000, { invoice_number: number });
    const answers = await sixteen((at) => report(at % 2 ? app : other, payment));
    expect(answers.filter(({ status, applied }) => status === 201 && applied)).toHaveLength(1);
    expect(answers.filter(({ status, applied }) => status === 200 && !applied)).toHaveLength(15);
    for (const { allocated, invoice } of answers) expect([allocated, invoice?.open]).toEqual([3_000, 451]);
    const { rows } = await sql`
      select from audit_events where details ->> 'payment' = ${payment.payment_id}`.execute(app.db);
    expect(rows).toHaveLength(1);
  });

  it('record a payment and its fifteen refunds, and the right amount is left', async () => {
    const number = await addInvoice(app.db);
    const payment = buildPayment(3_451, { invoice_number: number });
    const reports = [payment, ...Array.from({ length: 15 }, () => buildRefund(payment.payment_id, 100))];
    // A refund that comes before the payment is sent again.
    await sixteen((at) => vi.waitFor(() => report(at % 2 ? app : other, reports[at]), 30_000));
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 1_951, status: 'open' });
  });

  it('put one payment to sixteen invoices, and no more than there is', async () => {
    const payment = buildPayment(10_000);
    await report(app, payment);
    const numbers: string[] = [];
    while (numbers.length < 16) numbers.push(await addInvoice(app.db));
    const outcomes = await sixteen((at) =>
      tryTo((trx, by) => allocate(trx, { paymentId: payment.payment_id, number: numbers[at] ?? '' }, by)),
    );
    expect([count(outcomes, 'done'), count(outcomes, 'already_settled')]).toEqual([3, 13]);
    expect(await readUnallocated(app.db, payment.payment_id)).toBe(0);
  });

  it('put sixteen payments to one invoice, and no more than is open', async () => {
    const number = await addInvoice(app.db);
    const payments = await sixteen(async () => (await report(app, buildPayment(1_000))).payment_id);
    const outcomes = await sixteen((at) =>
      tryTo((trx, by) => allocate(trx, { paymentId: payments[at] ?? '', number }, by)),
    );
    expect([count(outcomes, 'done'), count(outcomes, 'already_settled')]).toEqual([4, 12]);
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 3_451, status: 'paid' });
  });

  it('pay back what is left once', async () => {
    const { payment_id: paymentId } = await report(app, buildPayment(1_000));
    const outcomes = await sixteen((at) =>
      tryTo((trx, by) => payBack(trx, { paymentId, id: `back_${at}`, paidAt: by.now }, by)),
    );
    expect([count(outcomes, 'done'), count(outcomes, 'already_settled')]).toEqual([1, 15]);
  });

  it('credit the rest once, by one credit note', async () => {
    const number = await addInvoice(app.db);
    await tryTo((trx, by) => creditInvoice(trx, number, 1_000, by));
    const outcomes = await sixteen(() => tryTo((trx, by) => creditInvoice(trx, number, undefined, by)));
    expect([count(outcomes, 'done'), count(outcomes, 'already_settled')]).toEqual([1, 15]);
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 3_451, status: 'void' });
  });

  it('credit parts, and no more than there is', async () => {
    const number = await addInvoice(app.db);
    const outcomes = await sixteen(() => tryTo((trx, by) => creditInvoice(trx, number, 1_000, by)));
    expect([count(outcomes, 'done'), count(outcomes, 'validation_failed')]).toEqual([3, 13]);
  });

  it('issue an invoice anew once', async () => {
    const number = await addInvoice(app.db);
    await report(app, buildPayment(3_451, { invoice_number: number }));
    await renameBuyer(app.db, number);
    const outcomes = await sixteen(() => tryTo((trx, by) => reissueInvoice(trx, number, by)));
    expect([count(outcomes, 'done'), count(outcomes, 'already_settled')]).toEqual([1, 15]);
  });

  it('pay beside a void: the invoice is void, and all that was paid waits', async () => {
    const number = await addInvoice(app.db);
    const answers = await sixteen(async (at) =>
      at % 4 === 0
        ? tryTo((trx, by) => creditInvoice(trx, number, undefined, by))
        : (await report(at % 2 ? app : other, buildPayment(500, { invoice_number: number }))).payment_id,
    );
    expect([count(answers, 'done'), count(answers, 'already_settled')]).toEqual([1, 3]);
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, status: 'void' });
    for (const id of answers.filter((each) => each.startsWith('pay_')))
      expect(await readUnallocated(app.db, id)).toBe(500);
  });
});

/** Returns the result of a payment and its refunds: each row, the invoice, and what pays it. */
async function endOf(reports: Report[], number: string) {
  const ids = reports.map(({ payment_id }) => payment_id);
  const { rows } = await sql<{ id: string; unallocated: string }>`
    select id, unallocated::float8 from payments where id = any(${ids}::text[]) order by id`.execute(app.db);
  const left = Object.fromEntries(rows.map(({ id, unallocated }) => [id.split(':')[1], unallocated]));
  return { left, invoice: await readInvoice(app.db, number) };
}

it('in any order the refunds of a payment come to the same (contract 7.136)', async () => {
  let tries = 0;
  const amounts = fc.integer({ min: 1, max: 60 }).map((each) => each * 100);
  const refunds = fc.array(fc.record({ amount: amounts, day: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(amounts, refunds, async (amount, backs) => {
      const ends = [];
      for (let order = 0; order < 3; order++) {
        const number = await addInvoice(app.db);
        const id = `any${tries++}`;
        const reports = [
          buildPayment(amount, { payment_id: `${id}:p`, invoice_number: number }),
          ...backs.map((back, at) =>
            buildRefund(`${id}:p`, back.amount, {
              payment_id: `${id}:r${at}`,
              paid_at: `2026-02-0${back.day}T10:00:00Z`,
            }),
          ),
        ];
        const [payment, ...refunds] = reports;
        for (const each of [payment, ...(order === 0 ? refunds : shuffle(refunds))]) await report(app, each);
        ends.push(await endOf(reports, number));
      }
      expect(ends[1]).toEqual(ends[0]);
      expect(ends[2]).toEqual(ends[0]);
    }),
    { seed, numRuns: 12 },
  );
});
