import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { minorDigits } from '../../server/basics/currencies.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { openBilling } from '../support/crm/billing.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const colleague = 'new-merchant@example.test';
const stranger = 'merchant@example.test';

let contractId: string;
let numbers: string[];
let othersNumber: string;
const billing = shared(() => openBilling());
beforeAll(async () => {
  await sql`update users set account_id = (select account_id from users where email = ${owner})
    where email = ${colleague}`.execute(billing.app.db);
  await billing.setClock('2026-01-31T10:00:00.000Z');
  contractId = await billing.report('kept', {
    price: { currency: 'KWD', unit_amount: 12_345, interval: 'month' },
  });
  await billing.bill();
  await billing.pay(contractId);
  const othersId = await billing.report('of-a-stranger', {}, { email: stranger });
  await billing.bill();
  await billing.setClock('2026-02-28T10:00:00.000Z');
  await billing.bill();
  numbers = (await billing.invoicesOf(contractId)).map(({ number }) => number);
  othersNumber = (await billing.invoicesOf(othersId))[0]?.number ?? '';
});

const openAs = async (email: string) => openClient(billing.app.send, await billing.app.login(email));

/** Two periods. Neither is overdue (contract 11.25). */
const describePeriods = () => [
  {
    number: numbers[1],
    plan: 'starter',
    periodStartsAt: new Date('2026-02-28T10:00:00.000Z'),
    periodEndsAt: new Date('2026-03-31T10:00:00.000Z'),
    currency: 'KWD',
    unitAmount: 12_345,
    minorDigits: 3,
    hasDocument: true,
    credited: 0,
    allocated: 0,
    open: 12_345,
    status: 'open',
    isOverdue: false,
    issuedAt: new Date('2026-02-28T10:00:00.000Z'),
    dueAt: new Date('2026-03-14T10:00:00.000Z'),
    paidAt: null,
  },
  {
    number: numbers[0],
    plan: 'starter',
    periodStartsAt: new Date('2026-01-31T10:00:00.000Z'),
    periodEndsAt: new Date('2026-02-28T10:00:00.000Z'),
    currency: 'KWD',
    unitAmount: 12_345,
    minorDigits: 3,
    hasDocument: true,
    credited: 0,
    allocated: 12_345,
    open: 0,
    status: 'paid',
    isOverdue: false,
    issuedAt: new Date('2026-01-31T10:00:00.000Z'),
    dueAt: new Date('2026-02-14T10:00:00.000Z'),
    paidAt: new Date('2026-01-31T10:00:00.000Z'),
  },
];

describe.each([
  ['the owner of the account', owner],
  ['a colleague on the same account', colleague],
])('%s', (_, email) => {
  it('lists the invoices, newest first', async () => {
    expect(await (await openAs(email)).invoices.list.query()).toEqual(describePeriods());
  });

  it('reads one invoice', async () => {
    const client = await openAs(email);
    for (const invoice of describePeriods()) {
      const number = invoice.number as string;
      expect(await client.invoices.get.query({ number })).toEqual({
        ...invoice,
        kind: 'invoice',
        document: expect.objectContaining({ number, currency: 'KWD', total: 12_345 }),
        hasXml: false,
        ...(invoice.open > 0
          ? { howToPay: expect.anything(), payLink: expect.stringContaining(number) }
          : { howToPay: null, payLink: null }),
      });
    }
  });

  it('cannot read an invoice of another account, which looks as if it did not exist', async () => {
    const client = await openAs(email);
    const none = await refusalOf(client.invoices.get.query({ number: '999999' }));
    expect(none).toMatchObject({ httpStatus: 404, problem: 'not_found' });
    expect(await refusalOf(client.invoices.get.query({ number: othersNumber }))).toEqual(none);
  });
});

it('a user of another account sees only the invoices of that account', async () => {
  const client = await openAs(stranger);
  expect((await client.invoices.list.query()).map(({ number }) => number)).toContain(othersNumber);
  for (const number of numbers) {
    expect((await client.invoices.list.query()).map((invoice) => invoice.number)).not.toContain(number);
    expect(await refusalOf(client.invoices.get.query({ number }))).toMatchObject({ problem: 'not_found' });
  }
});

it('an admin sees no invoices of other accounts either', async () => {
  const client = await openAs('admin@example.test');
  expect(await client.invoices.list.query()).toEqual([]);
  expect(await refusalOf(client.invoices.get.query({ number: othersNumber }))).toMatchObject({
    problem: 'not_found',
  });
});

it('invoices need a session', async () => {
  const client = openClient(billing.app.send);
  for (const call of [client.invoices.list.query(), client.invoices.get.query({ number: othersNumber })]) {
    expect(await refusalOf(call)).toMatchObject({ httpStatus: 401, problem: 'login_required' });
  }
});

it.each([1, null, {}])('the invoice number %j is invalid', async (number) => {
  const client = await openAs(owner);
  expect(await refusalOf(client.invoices.get.query({ number: number as string }))).toMatchObject({
    httpStatus: 422,
    problem: 'validation_failed',
    errors: [{ pointer: '/number' }],
  });
});

it.each(['0', '-1', '1.5', '01', '9007199254740993', '', 'INV-2026-9999'])(
  'the invoice number "%s" is nobody’s',
  async (number) => {
    const client = await openAs(owner);
    expect(await refusalOf(client.invoices.get.query({ number }))).toMatchObject({ httpStatus: 404 });
  },
);

it('the list of contracts says how many minor digits the currency has', async () => {
  expect(await (await openAs(owner)).contracts.list.query()).toEqual([
    {
      id: contractId,
      plan: 'starter',
      status: 'active',
      cancelsAt: null,
      trialEndsAt: null,
      lastDay: null,
      price: { currency: 'KWD', unitAmount: 12_345, quantity: 1, interval: 'month', minorDigits: 3 },
    },
  ]);
});

// The digits are those of ISO 4217, even if people do not use them: nobody pays 1.23 IDR.
it.each([
  ['EUR', 2],
  ['USD', 2],
  ['IDR', 2],
  ['HUF', 2],
  ['MGA', 2],
  ['MRU', 2],
  ['JPY', 0],
  ['KRW', 0],
  ['CLP', 0],
  ['ISK', 0],
  ['UYI', 0],
  ['BHD', 3],
  ['IQD', 3],
  ['KWD', 3],
  ['TND', 3],
  ['CLF', 4],
  ['UYW', 4],
])('the currency %s has %d minor digits', (code, digits) => {
  expect(minorDigits(code)).toBe(digits);
});
