// What happens to a contract whose customer does not pay (contract 7.82 and 7.476 to 7.478).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { describeOwnBilling } from '../../server/billing/customers/own-billing.ts';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { summariseBilling } from '../../server/billing/invoices/summary.ts';
import { payOpen } from '../../server/billing/payments/allocate.ts';
import type { Actor } from '../../server/identity/session/actor.ts';
import { openBooks } from '../support/billing/books.ts';
import { addOldInvoice } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const books = shared(() => openBooks({ at: '2027-01-10T10:00:00.000Z' }));
const waits = { ...germanSettings, terms: { ...germanSettings.terms, invoice_while_past_due: false } };

const statusOf = async (id: string) =>
  (await sql<{ status: string }>`select status from service_contracts where id = ${id}`.execute(books.db))
    .rows[0]?.status;
const periodsOf = async (id: string) =>
  (
    await sql<{ of: string }>`select period_starts_at::date || ' ' || status as of from invoices
      where contract_id = ${id} and document is not null order by number`.execute(books.db)
  ).rows.map(({ of }) => of);
const pay = async (number: string) =>
  inTransaction(books.db, { by: 'operator', cause: 'test' }, (trx) =>
    payOpen(
      trx,
      { number, id: `pays ${number}`, paidAt: books.now() },
      { now: books.now(), recordedBy: 'operator' },
    ),
  );
async function billAt(instant: string): Promise<void> {
  await books.setClock(instant);
  await books.bill();
}

describe('by default, also under settings from before there was a choice', () => {
  let id: string;
  let email: string;
  let old: string;
  beforeAll(async () => {
    await books.setClock('2027-01-10T10:00:00.000Z');
    ({ id, email } = await books.report('Owes'));
    // An invoice from before there was a seller is older, but nobody is ever reminded of it.
    old = await addOldInvoice(books.db, id, { issuedAt: new Date('2027-01-01T10:00:00.000Z') });
    await books.bill();
  }, 60_000);

  const reminders = async () =>
    (await books.send()).flatMap(({ to, subject }) =>
      to === email && /reminder|overdue/i.test(subject) ? [/INV-\S+/.exec(subject)?.[0] ?? ''] : [],
    );

  it('documents go on while a contract is past due (contract 7.476)', async () => {
    await billAt('2027-01-25T10:00:00.000Z');
    expect(await statusOf(id)).toBe('past_due');
    await billAt('2027-02-12T10:00:00.000Z');
    await billAt('2027-03-12T10:00:00.000Z');
    expect(await periodsOf(id)).toEqual(['2027-01-10 open', '2027-02-10 open', '2027-03-10 open']);
    expect(await statusOf(id)).toBe('past_due');
  });

  it('only the oldest open invoice of a contract is reminded of (contract 7.477)', async () => {
    await books.makeFiles();
    const [first, second] = (await books.documentsOf(id)).map(({ number }) => number);
    expect(await reminders()).toEqual([first]);
    await billAt('2027-03-13T10:00:00.000Z');
    expect(await reminders()).toEqual([]);
    await pay(first ?? '');
    await pay(old);
    await books.bill();
    expect(await reminders()).toEqual([second]);
  });

  it('the contract stays past due until no overdue invoice is open (contract 7.81)', async () => {
    expect(await statusOf(id)).toBe('past_due');
    const [, second] = await books.documentsOf(id);
    await pay(second?.number ?? '');
    expect(await statusOf(id)).toBe('active');
    // The third invoice is open, but not due yet.
    expect((await periodsOf(id)).at(-1)).toBe('2027-03-10 open');
  });

  it('what has waited is invoiced within a minute once the settings say so, and each period once by 16 jobs', async () => {
    await setSettings(books.db, waits);
    await books.setClock('2027-04-10T10:00:00.000Z');
    const late = await books.report('Late');
    await books.bill();
    await billAt('2027-04-26T10:00:00.000Z');
    await billAt('2027-06-12T10:00:00.000Z');
    expect([await statusOf(late.id), await periodsOf(late.id)]).toEqual(['past_due', ['2027-04-10 open']]);
    await setSettings(books.db);
    await Promise.all(Array.from({ length: 16 }, () => runBilling(books.deps)));
    await books.bill();
    expect(await periodsOf(late.id)).toEqual(['2027-04-10 open', '2027-05-10 open', '2027-06-10 open']);
    expect(await statusOf(late.id)).toBe('past_due');
  });
});

it('if they wait, customer and administrators see how many periods wait, and their sum (contract 7.478)', async () => {
  await setSettings(books.db, waits);
  await books.setClock('2028-01-10T10:00:00.000Z');
  const { id, accountId } = await books.report('Sees');
  await books.bill();
  const session = { user: { account: { id: accountId }, emailVerifiedAt: books.now() } };
  const seen = async () => {
    const [own, { pastDue }] = [
      await describeOwnBilling(books.deps, { session } as Actor),
      await summariseBilling({ db: books.db, now: books.now }),
    ];
    return [own?.contracts[0]?.next, pastDue.find(({ signupId }) => signupId === 'Sees')?.waiting];
  };
  await billAt('2028-01-26T10:00:00.000Z');
  expect(await statusOf(id)).toBe('past_due');
  expect(await seen()).toEqual([
    { state: 'after_payment', periods: 0, sums: [] },
    { count: 0, sums: [] },
  ]);
  await books.setClock('2028-02-15T10:00:00.000Z');
  // The price changes from the next period on.
  await books.report('Sees', { price: { currency: 'EUR', unit_amount: 100, interval: 'month' } });
  await billAt('2028-03-15T10:00:00.000Z');
  expect(await periodsOf(id)).toEqual(['2028-01-10 open']);
  expect(await seen()).toEqual([
    { state: 'after_payment', periods: 2, sums: [{ currency: 'EUR', unitAmount: 3_000, minorDigits: 2 }] },
    { count: 2, sums: [{ currency: 'EUR', amount: 3_000, minorDigits: 2 }] },
  ]);
  // With the usual settings, periods do not wait for a payment.
  await setSettings(books.db);
  expect((await seen())[1]).toEqual({ count: 0, sums: [] });
});
