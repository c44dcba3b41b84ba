// An archive copy names a lost number twice: after one restore, and after the next one (contract 7.422).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { recordMoney } from '../../server/billing/payments/allocate.ts';
import { runCli } from '../support/app/cli.ts';
import { openBooks } from '../support/billing/books.ts';
import { shared } from '../support/run/shared.ts';

const books = shared(() => openBooks({ at: '2027-01-20T10:00:00.000Z' }));
beforeAll(async () => {
  await books.report('C1');
  await books.report('C2');
  await books.bill();
  await books.setClock('2027-02-20T10:00:00.000Z');
  await cli('database:restored', '--last', 'INV-2027-0003', 'CN-2027-0001');
  await cli('billing:resume', '--yes', '--lost', 'INV-2027-0003:C1:2027-02-20');
}, 120_000);
const cli = (...args: string[]) => runCli(books.databaseUrl, args);
const resume = (...args: string[]) => cli('billing:resume', '--yes', '--json', ...args);

const replacing = async (lost: string) =>
  (
    await sql<{ n: string }>`select number || ' ' || (facts #>> '{record,signup_id}') as n from documents
      where facts ->> 'replaces' = ${lost} order by number`.execute(books.db)
  ).rows.map(({ n }) => n);

it('a later resume refuses a period that is invoiced already', async () => {
  await cli('database:restored');
  const { code, out } = await resume('--lost', 'INV-2027-0003:C1:2027-02-20');
  expect([code, out]).toEqual([1, '']);
});

it('a later resume refuses a lost number that has an invoice in its place', async () => {
  await cli('database:restored');
  const { code, out } = await resume('--lost', 'INV-2027-0003:C2:2027-02-20');
  await inTransaction(books.db, { by: 'service', cause: 'test' }, (trx) =>
    recordMoney(
      trx,
      {
        id: 'p',
        kind: 'payment',
        of: null,
        currency: 'EUR',
        amount: 3451,
        invoiceNumber: 'INV-2027-0003',
        paidAt: books.now(),
        method: null,
        reference: null,
      },
      { now: books.now(), recordedBy: 'payments' },
    ),
  );
  const paid = (
    await sql<{ n: string }>`select i.document as n from allocations a join invoices i on i.number = a.invoice
      where a.payment = 'p'`.execute(books.db)
  ).rows;
  expect({ code, out, replacing: await replacing('INV-2027-0003'), paid }).toEqual({
    code: 1,
    out: '',
    replacing: ['INV-2027-0004 C1'],
    paid: [{ n: 'INV-2027-0004' }],
  });
});

it('no invoice takes the place of a credit note', async () => {
  await books.setClock('2027-02-21T10:00:00.000Z');
  await books.report('C3');
  await cli('database:restored');
  const { code } = await cli('billing:resume', '--yes', '--lost', 'CN-2027-0001:C3:2027-02-21');
  expect([code, await replacing('CN-2027-0001')]).toEqual([1, []]);
});

it('copies are not dropped in silence if billing does not wait', async () => {
  await cli('billing:resume', '--yes');
  const resume = (copy: string) => cli('billing:resume', '--yes', '--lost', copy);
  expect((await resume('INV-2027-0002:C2:2027-02-20')).code).toBe(1);
  expect((await resume('INV-2027-0003:C1:2027-02-20')).code).toBe(0);
});
