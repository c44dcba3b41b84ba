// Books are deleted once their years are over (contract 7.370 to 7.381): years of a moved clock with credits, refunds, money that
// nobody has dealt with and people who are erased, and after each New Year what goes, goes whole. `FAULTS=long` has more of each.
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { AppError } from '../../server/basics/errors.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import {
  allocate,
  type Bookkeeper,
  payBack,
  payOpen,
  type Recorded,
  recordMoney,
} from '../../server/billing/payments/ledger.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import { recoverDocument } from '../../server/billing/upkeep/recover.ts';
import { deleteOldBooks } from '../../server/billing/upkeep/retention.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { type Books, openBooks, price } from '../support/billing/books.ts';
import { findFaultsInBooks } from '../support/billing/money.ts';
import { expectGone, missing, readDatabase } from '../support/billing/retention.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { byForm } from '../support/faults/faults.ts';
import { createRandom, seed } from '../support/run/random.ts';

const { customers, lastYear, actsPerYear, timeout } = byForm({
  short: { customers: 6, lastYear: 2038, actsPerYear: 10, timeout: 120_000 },
  long: { customers: 150, lastYear: 2055, actsPerYear: 300, timeout: 3_000_000 },
});

const random = createRandom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;

const terms = { ...germanSettings.terms, past_due_after_days: 365 };
const settings = { ...germanSettings, terms };

type Work<T> = (trx: Parameters<typeof payOpen>[0], by: Bookkeeper) => Promise<T>;

const act = <T>(books: Books, work: Work<T>) =>
  inTransaction(books.db, { by: 'operator', cause: 'test' }, (trx) =>
    work(trx, { now: books.now(), recordedBy: 'operator' }),
  );

const named = { currency: 'EUR', method: 'transfer', reference: 'thanks' };

const pay = (books: Books, amount: number, invoiceNumber: string | null, id: string = uuidv7()) =>
  act(books, (trx, by) =>
    recordMoney(
      trx,
      { ...named, id, kind: 'payment', of: null, amount, invoiceNumber, paidAt: books.now() },
      by,
    ),
  );

const refund = (books: Books, of: string, amount: number) =>
  act(books, (trx, by) =>
    recordMoney(
      trx,
      { ...named, id: uuidv7(), kind: 'refund', of, amount, invoiceNumber: null, paidAt: books.now() },
      by,
    ),
  );

const erase = (books: Books, userId: string) =>
  act(books, (trx, { now }) =>
    eraseUser(trx, { now: () => now, endsWithPerson }, userId, { by: 'cli', onlyDue: false }),
  );

/** Sixteen at once. */
const deleteAtOnce = ({ deps }: Books) => Promise.all(Array.from({ length: 16 }, () => deleteOldBooks(deps)));

/** Series have holes once some of a year are deleted. */
const findFaults = async ({ db }: Books, lastYearOver: number) =>
  (await findFaultsInBooks(db)).filter(
    (fault) => Number(/^series .*(\d{4})$/.exec(String(fault))?.[1] ?? 9_999) > lastYearOver,
  );

it(`what goes, goes whole, from 2026 to ${lastYear}`, { timeout }, async () => {
  const books = await openBooks({ at: '2026-12-05T10:00:00Z', settings: null });
  const { db } = books;
  const people: Awaited<ReturnType<Books['report']>>[] = [];
  const addCustomer = async () =>
    people.push(
      await books.report(`Kept${people.length}`, {
        price: { ...price, interval: people.length % 10 === 0 ? 'month' : 'year' },
      }),
    );
  for (let count = 0; count < customers; count++) await addCustomer();
  // The first invoices are from before there was a seller.
  await books.bill();
  await setSettings(db, settings);

  /** Mostly of the last years. */
  const someInvoice = async () => {
    const { rows } = await sql<{ number: string; status: string; open: number }>`
      select coalesce(document, number::text) as number, status, (unit_amount - credited - allocated)::int as open
      from invoices order by issued_at desc limit ${oneOf([5, 30, 1_000])}`.execute(db);
    return oneOf(rows);
  };
  const somePayment = async (where = sql`true`) => {
    const { rows } = await sql<{ id: string; amount: number }>`
      select id, amount::int from payments where kind = 'payment' and ${where}
      order by recorded_at desc limit ${oneOf([5, 30, 1_000])}`.execute(db);
    return rows.length > 0 ? oneOf(rows) : undefined;
  };
  const acts: Record<string, () => Promise<unknown>> = {
    async credit() {
      const { number } = await someInvoice();
      const amount = oneOf([undefined, 1, 700]);
      return act(books, (trx, by) => creditInvoice(trx, number, amount, by));
    },
    async reissue() {
      const { number } = await someInvoice();
      return act(books, (trx, by) => reissueInvoice(trx, number, by));
    },
    async payTooMuch() {
      const { number, open } = await someInvoice();
      return pay(books, open + 1 + below(9_000), oneOf([number, number.toLowerCase()]));
    },
    payForNothing: () => pay(books, 1 + below(5_000), oneOf([null, 'unknown'])),
    async refund() {
      const payment = await somePayment();
      return payment && refund(books, payment.id, oneOf([1, payment.amount, payment.amount]));
    },
    refundOfNothing: () => refund(books, uuidv7(), 5),
    async allocate() {
      const payment = await somePayment(sql`unallocated > 0`);
      const { number } = await someInvoice();
      return payment && act(books, (trx, by) => allocate(trx, { paymentId: payment.id, number }, by));
    },
    async payBack() {
      const payment = await somePayment(sql`unallocated > 0`);
      const back = { paymentId: payment?.id ?? '', id: uuidv7(), paidAt: books.now() };
      return payment && act(books, (trx, by) => payBack(trx, back, by));
    },
    erase: () => erase(books, oneOf(people).userId),
    addCustomer,
  };
  const actOnce = async () => {
    await oneOf([...Object.values(acts), acts.allocate, acts.payBack, acts.payBack])?.().catch((error) => {
      if (!(error instanceof AppError)) throw error;
    });
  };
  /** Pays most of what is open; the rest stays open for ever. */
  const settle = async () => {
    const { rows } = await sql<{
      number: string;
    }>`select coalesce(document, number::text) as number from invoices
      where status = 'open' and number % 11 > 0`.execute(db);
    for (const { number } of rows)
      await act(books, (trx, by) => payOpen(trx, { number, id: uuidv7(), paidAt: books.now() }, by));
  };

  let deleted = 0;
  let keptOfOver = 0;
  for (let year = 2027; year <= lastYear; year++) {
    // The first instant of the year in Berlin.
    await books.setClock(`${year - 1}-12-31T23:00:00Z`);
    await books.makeFiles();
    const over = year - 11;
    const before = await readDatabase(db);
    await deleteAtOnce(books);
    const after = await readDatabase(db);
    const gone = missing(before, after);
    expect(gone).toEqual(expectGone(before, over));
    const { audit_events: told = [], ...added } = missing(after, before);
    expect(added).toEqual({});
    for (const { type, details } of told)
      expect({ type, details }).toEqual({
        type: 'books.deleted',
        details: {
          until: over,
          invoices: expect.any(Number),
          creditNotes: expect.any(Number),
          payments: expect.any(Number),
        },
      });
    const sum = (name: string) =>
      told.reduce((all, { details }) => all + Number((details as Record<string, number>)[name]), 0);
    expect([sum('invoices'), sum('creditNotes'), sum('payments')]).toEqual([
      gone.invoices?.length ?? 0,
      gone.documents?.filter(({ kind }) => kind === 'credit_note').length ?? 0,
      gone.payments?.length ?? 0,
    ]);
    expect(await findFaults(books, over)).toEqual([]);
    deleted += gone.invoices?.length ?? 0;
    keptOfOver += (after.get('invoices') ?? []).filter(
      (row) => Number(JSON.parse(row).issued_at.slice(0, 4)) <= over,
    ).length;

    for (const month of ['04', '11']) {
      await books.setClock(`${year}-${month}-15T10:00:00Z`);
      await books.bill();
      await settle();
      for (let count = 0; count < actsPerYear / 2; count++) await actOnce();
    }
  }
  // Both happened.
  expect(deleted).toBeGreaterThan(customers);
  expect(keptOfOver).toBeGreaterThan(0);
  await books.close();
});

describe('one by one', () => {
  let books: Books;
  beforeAll(async () => {
    books = await openBooks({ at: '2026-12-05T10:00:00Z', settings, env: { BILLING_RETENTION_YEARS: '6' } });
  });
  afterAll(() => books.close());

  let serial = 0;
  /** Contracts that have ended, each with one invoice of 34.51 EUR. */
  const addInvoices = async (count: number, at = '2026-12-05T10:00:00Z') => {
    await books.setClock(at);
    const people: Awaited<ReturnType<Books['report']>>[] = [];
    for (let at = 0; at < count; at++) people.push(await books.report(`One${serial++}`));
    await books.bill();
    await sql`update service_contracts set status = 'canceled'`.execute(books.db);
    return Promise.all(
      people.map(async (person) => {
        const [invoice] = await books.documentsOf(person.id);
        return { ...person, number: invoice?.number ?? '' };
      }),
    );
  };
  const addInvoice = async () => (await addInvoices(1))[0] as Awaited<ReturnType<typeof addInvoices>>[0];
  const payWhole = async (number: string) => {
    const id = uuidv7();
    await act(books, (trx, by) => payOpen(trx, { number, id, paidAt: books.now() }, by));
    return id;
  };
  const isThere = async (number: string) => {
    const { rows } = await sql`select from invoices where document = ${number}`.execute(books.db);
    return rows.length > 0;
  };
  const afterNewYear = async (year: number) => {
    await books.setClock(`${year - 1}-12-31T23:00:00Z`);
    await deleteAtOnce(books);
  };

  it('goes with the first instant of the year after the years of the setting, in the zone of the seller', async () => {
    const { number } = await addInvoice();
    await payWhole(number);
    await books.setClock('2032-12-31T22:59:59.999Z');
    await deleteAtOnce(books);
    expect(await isThere(number)).toBe(true);
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(false);
  });

  it('stays while only one of the two clocks says that its years are over', async () => {
    const { number } = await addInvoice();
    await payWhole(number);
    await books.setClock('2033-06-01T10:00:00Z');
    await deleteOldBooks({ ...books.deps, now: () => new Date('2032-12-31T22:00:00Z') });
    expect(await isThere(number)).toBe(true);
    await books.setClock('2032-12-31T22:00:00Z');
    await deleteOldBooks({ ...books.deps, now: () => new Date('2033-06-01T10:00:00Z') });
    expect(await isThere(number)).toBe(true);
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(false);
  });

  it('stays while billing waits after a restore', async () => {
    const { number } = await addInvoice();
    await payWhole(number);
    await sql`insert into restores default values`.execute(books.db);
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(true);
    await sql`update restores set billing_resumed_at = now()`.execute(books.db);
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(false);
  });

  it('stays whole while any of it is open, unallocated or of a later year', async () => {
    const [later] = await addInvoices(1, '2027-02-01T10:00:00Z');
    const invoices = await addInvoices(7);
    const [two = '', open = '', tooMuch = '', anew = '', credited = '', paidLater = '', late = ''] =
      invoices.map(({ number }) => number);
    // One payment of two invoices, of which one stays open; and one that waits for an invoice of the next year.
    const { payment: ofTwo } = await pay(books, 4_451, two);
    await act(books, (trx, by) => allocate(trx, { paymentId: ofTwo.id, number: open }, by));
    const { payment: rest } = await pay(books, 5_000, null);
    await act(books, (trx, by) => allocate(trx, { paymentId: rest.id, number: tooMuch }, by));
    const { payment: waiting } = await pay(books, 6_902, paidLater);
    const { payment: allocatedLate } = await pay(books, 3_451, null);
    await act(books, (trx, by) => reissueInvoice(trx, anew, by));
    const [, replacing] = await books.documentsOf(invoices[3]?.id ?? '');
    await books.setClock('2027-02-02T10:00:00Z');
    await act(books, (trx, by) => creditInvoice(trx, credited, undefined, by));
    await act(books, (trx, by) => allocate(trx, { paymentId: waiting.id, number: later?.number ?? '' }, by));
    await act(books, (trx, by) => allocate(trx, { paymentId: allocatedLate.id, number: late }, by));
    const all = [late, two, open, tooMuch, anew, credited, paidLater, later?.number ?? ''];
    const listLeft = async () => {
      const found = await Promise.all(all.map(isThere));
      return all.filter((_, at) => found[at]);
    };
    await afterNewYear(2033);
    expect(await listLeft()).toEqual(all);
    await books.setClock('2026-12-31T10:00:00Z');
    await payWhole(open);
    await payWhole(replacing?.number ?? '');
    await act(books, (trx, by) => payBack(trx, { paymentId: rest.id, id: uuidv7(), paidAt: by.now }, by));
    await afterNewYear(2033);
    expect(await listLeft()).toEqual([late, credited, paidLater, later?.number]);
    await afterNewYear(2034);
    expect(await listLeft()).toEqual([]);
  });

  it('is not put back from its PDF', async () => {
    const { number } = await addInvoice();
    await payWhole(number);
    const { rows } = await sql<{ facts: DocumentFacts }>`
      select facts from documents where number = ${number}`.execute(books.db);
    const facts = rows[0]?.facts as DocumentFacts;
    await afterNewYear(2033);
    const trail = { details: { by: 'cli' } } as const;
    await expect(
      inTransaction(books.db, { by: 'operator', cause: 'test' }, (trx) =>
        recoverDocument(trx, { facts, files: undefined }, { now: books.now(), trail }),
      ),
    ).rejects.toThrow('Its number is not among those that a restore has lost.');
    expect(await isThere(number)).toBe(false);
  });

  it('leaves nothing that names somebody who was erased, and answers the CRM as before', async () => {
    const gone = await addInvoice();
    await payWhole(gone.number);
    await act(books, (trx, by) => creditInvoice(trx, gone.number, 100, by));
    await books.makeFiles();
    await books.setClock('2027-03-01T10:00:00Z');
    const freed = await sql<{ id: string }>`
      select id from payments where invoice_number = ${gone.number} and unallocated > 0`.execute(books.db);
    for (const { id } of freed.rows)
      await act(books, (trx, by) => payBack(trx, { paymentId: id, id: uuidv7(), paidAt: by.now }, by));
    await erase(books, gone.userId);
    const isNamed = async () =>
      [...(await readDatabase(books.db))].flatMap(([name, rows]) =>
        rows.some((row) => row.includes(gone.email)) ? [name] : [],
      );
    await sql`delete from mails where kind = 'account_deleted'`.execute(books.db);
    const exported: string[][] = [];
    await exportBooks(books.db, { from: '2026-01-01', to: '2027-02-28' }, async (name, records) => {
      if (name === 'documents.csv') exported.push(...records);
    });
    expect(exported.filter((record) => record.includes(gone.number)).map(([, kind]) => kind)).toEqual([
      'credit_note',
      'invoice',
    ]);
    await afterNewYear(2033);
    // It was paid back in 2027.
    expect(await isNamed()).toEqual(['documents', 'invoices']);
    await afterNewYear(2034);
    expect(await isNamed()).toEqual([]);
    const { rows } = await sql`
      select status, user_id, account_id from service_contracts where id = ${gone.id}`.execute(books.db);
    expect(rows).toEqual([{ status: 'canceled', user_id: null, account_id: null }]);
  });

  it('stays where a refund comes at that moment', async () => {
    const { number } = await addInvoice();
    const payment = await payWhole(number);
    await books.setClock('2033-06-01T10:00:00Z');
    let letGo = () => {};
    const held = new Promise<void>((done) => {
      letGo = done;
    });
    const recorded = inTransaction(books.db, { by: 'payments' }, async (trx) => {
      const money = { ...named, kind: 'refund' as const, of: payment, amount: 5, paidAt: books.now() };
      await recordMoney(
        trx,
        { ...money, id: uuidv7(), invoiceNumber: null },
        { now: books.now(), recordedBy: 'payments' },
      );
      await held;
    });
    await expect
      .poll(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`.execute(books.db);
        return rows.length;
      })
      .toBe(1);
    const deleting = deleteOldBooks(books.deps);
    await expect
      .poll(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(books.db);
        return rows.length;
      })
      .toBe(1);
    letGo();
    await Promise.all([recorded, deleting]);
    expect(await isThere(number)).toBe(true);
    expect(await findFaults(books, 2_032)).toEqual([]);
  });

  it('stays while money that nobody has dealt with names it', async () => {
    const { number } = await addInvoice();
    await payWhole(number);
    const id = uuidv7();
    await act(books, (trx, by) =>
      recordMoney(
        trx,
        {
          ...named,
          ...{ id, kind: 'payment', of: null, currency: 'USD', amount: 5, paidAt: by.now },
          invoiceNumber: number.toLowerCase(),
        },
        by,
      ),
    );
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(true);
    await act(books, (trx, by) => payBack(trx, { paymentId: id, id: uuidv7(), paidAt: by.now }, by));
    await afterNewYear(2033);
    expect(await isThere(number)).toBe(false);
  });

  it('what comes while it is deleted finds none', async () => {
    const invoices = await addInvoices(3);
    const [number = '', other = '', openNumber = ''] = invoices.map((each) => each.number);
    const [payment, back] = [await payWhole(number), await payWhole(other)];
    await act(books, (trx, by) => creditInvoice(trx, other, undefined, by));
    await refund(books, back, 3_451);
    await sql`create function slow_down() returns trigger language plpgsql as
      'begin perform pg_sleep(0.4); return null; end'`.execute(books.db);
    await sql`create trigger slow_down after delete on payments for each statement execute function slow_down()`.execute(
      books.db,
    );
    await books.setClock('2033-06-01T10:00:00Z');
    const deleting = deleteOldBooks(books.deps);
    await expect
      .poll(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep'`.execute(books.db);
        return rows.length;
      })
      .toBe(1);
    const refundOf = (of: string) =>
      act(books, (trx, by) =>
        recordMoney(
          trx,
          // Earlier than the other refund.
          {
            ...named,
            id: uuidv7(),
            kind: 'refund',
            of,
            amount: 2,
            invoiceNumber: null,
            paidAt: new Date('2026-12-04'),
          },
          by,
        ),
      );
    const found = await Promise.allSettled([
      pay(books, 7, number),
      refundOf(payment),
      refundOf(back),
      act(books, (trx, by) => creditInvoice(trx, number, 1, by)),
      act(books, (trx, by) => allocate(trx, { paymentId: payment, number }, by)),
      act(books, (trx, by) => payBack(trx, { paymentId: back, id: uuidv7(), paidAt: by.now }, by)),
      // The invoice of this one stays, as it is open.
      act(books, (trx, by) => allocate(trx, { paymentId: back, number: openNumber }, by)),
    ]);
    await deleting;
    await sql`drop trigger slow_down on payments`.execute(books.db);
    expect(
      found.map((each) =>
        each.status === 'rejected'
          ? (each.reason.code ?? each.reason)
          : 'payment' in (each.value as object) && (each.value as Recorded).payment.unallocated,
      ),
    ).toEqual([7, -2, -2, 'not_found', 'not_found', 'not_found', 'not_found']);
    expect(await findFaults(books, 2_032)).toEqual([]);
  });

  it('what comes at that moment finds all of it, or nothing', async () => {
    const invoices = await addInvoices(byForm({ short: 20, long: 400 }));
    const numbers = invoices.map(({ number }) => number);
    const payments: string[] = [];
    for (const [at, number] of numbers.entries()) {
      // Some are freed, and went back.
      payments.push(await payWhole(number));
      if (at % 2 === 1) continue;
      await act(books, (trx, by) => creditInvoice(trx, number, undefined, by));
      await refund(books, payments[at] ?? '', 3_451);
    }
    await books.setClock('2033-06-01T10:00:00Z');
    const failed: unknown[] = [];
    const attempt = (work: Promise<unknown>) =>
      work.catch((error) => {
        if (!(error instanceof AppError)) failed.push(error);
      });
    await Promise.all([
      deleteAtOnce(books),
      ...numbers.map(async (number, at) => {
        await new Promise((done) => setTimeout(done, below(60)));
        const payment = payments[at] ?? '';
        await attempt(
          oneOf([
            () => refund(books, payment, 2),
            () => pay(books, 7, number),
            () => act(books, (trx, by) => creditInvoice(trx, number, 1, by)),
            () => act(books, (trx, by) => allocate(trx, { paymentId: payment, number }, by)),
            () => pay(books, 3_451, number, payment),
          ])(),
        );
      }),
    ]);
    expect(failed).toEqual([]);
    expect(await findFaults(books, 2_032)).toEqual([]);
    const before = await readDatabase(books.db);
    await deleteAtOnce(books);
    expect(missing(before, await readDatabase(books.db))).toEqual(expectGone(before, 2_026));
  });
});
