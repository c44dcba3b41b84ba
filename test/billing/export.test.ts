// The export, as a bookkeeper's program reads it (contract 7.130 and 7.170 to 7.183): its sums are right at the end of any day,
// and the figures of earlier days stay as they were.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { readDocuments } from '../../db/tables/accounting-export.ts';
import { AppError } from '../../server/basics/errors.ts';
import {
  allocate,
  type Money,
  payBack,
  type Recorder,
  recordMoney,
} from '../../server/billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import { writeCsv } from '../../server/runtime/csv.ts';
import { openBooks } from '../support/billing/books.ts';
import { addOldInvoice, renameBuyer } from '../support/billing/money.ts';
import { dayOfSeller, germanSettings, setSettings } from '../support/billing/settings.ts';
import { createRandom, seed } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

let old: string[];
const books = shared(() => openBooks({ at: '2026-12-01T10:00:00.000Z' }));
beforeAll(async () => {
  old = [];
  for (const name of ['OldOpen', 'OldPaid', 'OldVoid']) {
    const { id } = await books.report(name, { status: 'trialing', trial_ends_at: '2099-01-01T00:00:00Z' });
    old.push(await addOldInvoice(books.db, id, { issuedAt: books.now() }));
  }
  await record({ invoiceNumber: old[1] ?? '', amount: 2_900 });
  await work((trx) => creditInvoice(trx, old[2] ?? '', undefined, by()));
}, 60_000);

const by = (): Recorder => ({ now: books.now(), recordedBy: 'payments' });
const work = <T>(does: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(books.db, { by: 'service', cause: 'test' }, does);
let serial = 0;
const record = (money: Partial<Money> & { amount: number }) =>
  work((trx) =>
    recordMoney(
      trx,
      {
        ...{ id: `pay-${++serial}`, kind: 'payment', of: null, currency: 'EUR', paidAt: books.now() },
        ...{ method: null, reference: null, invoiceNumber: null, ...money },
      } as Money,
      by(),
    ),
  );

type Row = Record<string, string>;

async function exportAll(from: string, to: string) {
  const texts: Record<string, string> = {};
  await exportBooks(books.db, { from, to }, async (name, records) => {
    texts[name] = (texts[name] ?? '') + writeCsv(records);
  });
  const read = (name: string): Row[] => {
    const [header = '', ...lines] = (texts[name] ?? '').split('\r\n').slice(0, -1);
    const columns = header.split(',');
    return lines.map((line) => {
      const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
      );
      return Object.fromEntries(columns.map((column, at) => [column, fields[at] ?? '']));
    });
  };
  return { texts, read };
}

/** An amount in minor units. Each amount in the files has all digits of its currency. */
const minor = (amount = '') => BigInt(amount.replace('.', ''));
const sum = (rows: Row[], column: string) => rows.reduce((total, row) => total + minor(row[column]), 0n);

/** Checks the files by themselves, without code of the service. */
function check(read: (name: string) => Row[]): void {
  const documents = read('documents.csv');
  const isInvoice = ({ kind }: Row) => kind === 'invoice';
  const invoices = documents.filter(isInvoice);
  const [money, allocations, tax, lines] = ['money', 'allocations', 'tax', 'lines'].map((name) =>
    read(`${name}.csv`),
  ) as [Row[], Row[], Row[], Row[]];
  for (const invoice of invoices) {
    const of = `${invoice.number}: `;
    const credits = documents.filter((each) => each.invoice === invoice.number);
    const [total, credited, allocated, open] = ['total', 'credited', 'allocated', 'open'].map((column) =>
      minor(invoice[column]),
    ) as [bigint, bigint, bigint, bigint];
    // Contract 7.180.
    expect(of + (total - credited - allocated)).toBe(of + open);
    expect(open >= 0n, of).toBe(true);
    if (/^INV/.test(invoice.number ?? '')) expect(of + sum(credits, 'total')).toBe(of + credited);
    const paid = allocations.filter(({ number }) => number === invoice.number);
    expect(of + sum(paid, 'amount')).toBe(of + allocated);
    const status = total > 0n && credited === total ? 'void' : open === 0n ? 'paid' : 'open';
    expect(of + invoice.status).toBe(of + status);
    const isWhole = credits.length > 0 && credited === total;
    expect(of + (sum(credits, 'tax') === minor(invoice.tax) || !isWhole)).toBe(`${of}true`);
    expect(sum(credits, 'tax') <= minor(invoice.tax), of).toBe(true);
  }
  for (const document of documents) {
    expect(minor(document.net) + minor(document.tax)).toBe(minor(document.total));
    const own = ({ number }: Row) => number === document.number;
    // Invoices from before there was a seller are only in documents.csv (contract 7.475).
    const booked = old.includes(document.number ?? '')
      ? [0n, 0n]
      : [minor(document.net), minor(document.tax)];
    expect([sum(tax.filter(own), 'net'), sum(tax.filter(own), 'tax')]).toEqual(booked);
    expect(sum(lines.filter(own), 'net')).toBe(booked[0]);
    for (const { kind, issued_on } of [...tax.filter(own), ...lines.filter(own)])
      expect([kind, issued_on]).toEqual([document.kind, document.issued_on]);
  }
  // The tax of a span is that of invoices less that of credit notes, by `tax.csv` alone.
  const owed = (rows: Row[]) =>
    sum(rows.filter(isInvoice), 'tax') -
    sum(
      rows.filter((row) => !isInvoice(row)),
      'tax',
    );
  expect(owed(tax)).toBe(owed(documents));
  for (const currency of new Set(money.map((row) => row.currency))) {
    const own = (row: Row) => row.currency === currency;
    const [received, back] = [money.filter(own), money.filter(own)].map((rows, at) =>
      rows.filter(({ kind }) => (kind === 'payment') === (at === 0)),
    ) as [Row[], Row[]];
    expect(sum(received, 'amount') - sum(back, 'amount')).toBe(
      sum(allocations.filter(own), 'amount') + sum(money.filter(own), 'unallocated'),
    );
  }
}

const random = createRandom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;

describe('the books', () => {
  it('balance at the end of every day, and a day that is over stays as it was', {
    timeout: 120_000,
  }, async () => {
    const payments: string[] = [];
    const numbers = async () =>
      (
        await sql<{
          number: string;
        }>`select coalesce(document, number::text) as number from invoices`.execute(books.db)
      ).rows.map(({ number }) => number);
    // Invoices from before there was a seller do not say when they became void.
    const documents = async () => (await numbers()).filter((number) => !old.includes(number));
    const acts: (() => Promise<unknown>)[] = [
      async () => {
        await books.report(`Books${++serial}`, {
          price: { currency: 'EUR', unit_amount: 1 + below(100_000), interval: 'month' },
        });
        await books.bill();
      },
      async () =>
        record({
          id: payments.at(payments.push(`pay-${++serial}`) - 1) ?? '',
          invoiceNumber: oneOf(await numbers()),
          amount: 1 + below(60_000),
        }),
      async () =>
        record({
          id: payments.at(payments.push(`pay-${++serial}`) - 1) ?? '',
          invoiceNumber: oneOf([null, 'NOBODY-1']),
          amount: 1 + below(9_000),
          currency: oneOf(['EUR', 'JPY', 'USD']),
        }),
      () =>
        record({ kind: 'refund', of: oneOf([...payments, `pay-${serial + 2}`]), amount: 1 + below(20_000) }),
      async () =>
        work(async (trx) =>
          creditInvoice(trx, oneOf(await documents()), oneOf([undefined, 1 + below(9_000)]), by()),
        ),
      async () => {
        const number = oneOf(await numbers());
        await renameBuyer(books.db, number);
        return work((trx) => reissueInvoice(trx, number, by()));
      },
      async () =>
        work(async (trx) =>
          allocate(trx, { paymentId: oneOf(payments), number: oneOf(await numbers()) }, by()),
        ),
      () =>
        work((trx) =>
          payBack(trx, { paymentId: oneOf(payments), id: `back-${++serial}`, paidAt: books.now() }, by()),
        ),
    ];
    const past = new Map<string, Record<string, string>>();
    let done = 0;
    for (let count = 0; count < 250; count++) {
      await books.setClock(new Date(books.now().getTime() + below(6) * 3_600_000 + 61_000));
      try {
        await (count < 10 ? acts[0] : oneOf(acts))?.();
        done++;
      } catch (error) {
        // A refused act changes nothing.
        if (!(error instanceof AppError)) throw error;
      }
      if (count % 25 !== 24) continue;
      const today = dayOfSeller(books.now());
      const { read } = await exportAll('2026-01-01', today);
      check(read);
      const yesterday = new Date(Date.parse(today) - 24 * 3_600_000).toISOString().slice(0, 10);
      past.set(yesterday, (await exportAll('2026-01-01', yesterday)).texts);
    }
    expect(done).toBeGreaterThan(100);
    for (const [day, before] of past) {
      const { texts, read } = await exportAll('2026-01-01', day);
      expect(texts).toEqual(before);
      check(read);
    }
    const today = dayOfSeller(books.now());
    // The stored amounts equal the amounts in the files.
    const stored =
      await sql<Row>`select id, unallocated from payments order by recorded_at, id collate "C"`.execute(
        books.db,
      );
    const { read, texts } = await exportAll('2026-01-01', today);
    expect(read('money.csv').map(({ id, unallocated }) => `${id} ${minor(unallocated)}`)).toEqual(
      stored.rows.map(({ id, unallocated }) => `${id} ${unallocated}`),
    );
    expect((await exportAll('2026-01-01', today)).texts).toEqual(texts);
    // An invoice from before there was a seller is voided after its payment. Until then it counts as paid.
    await books.setClock(new Date(books.now().getTime() + 2 * 24 * 3_600_000));
    await work((trx) => creditInvoice(trx, old[1] ?? '', undefined, by()));
    check((await exportAll('2026-01-01', today)).read);
  });

  it('of a day that has just ended wait for what is not committed yet, and no longer', async () => {
    const day = '2027-06-30';
    await books.setClock('2027-06-30T21:59:59.500Z');
    const id = 'last-of-day';
    const { commit, committed } = await new Promise<{ commit: () => void; committed: Promise<void> }>(
      (begun) => {
        const committed = work(async (trx) => {
          const named = { currency: 'EUR', amount: 1, paidAt: books.now(), invoiceNumber: null };
          const money = { id, kind: 'payment', of: null, ...named, method: null, reference: null } as const;
          await recordMoney(trx, money, by());
          await new Promise<void>((commit) => begun({ commit, committed }));
        });
      },
    );
    // The export of a day that is not over does not wait for the commit.
    expect((await exportAll(day, day)).read('money.csv')).toEqual([]);
    await books.setClock('2027-06-30T22:00:00.200Z');
    let isOver = false;
    const exported = exportAll(day, day).finally(() => {
      isOver = true;
    });
    await new Promise((done) => setTimeout(done, 500));
    const wasOver = isOver;
    commit();
    await committed;
    expect(wasOver).toBe(false);
    const { texts, read } = await exported;
    expect(read('money.csv')).toMatchObject([{ id }]);
    expect((await exportAll(day, day)).texts).toEqual(texts);
  });

  it('show one moment, even if something is recorded while they are written', async () => {
    const today = dayOfSeller(books.now());
    const written: string[] = [];
    let added = '';
    await exportBooks(books.db, { from: today, to: today }, async (name, records) => {
      if (added === '') added = (await record({ amount: 7 })).payment.id;
      if (name === 'money.csv') written.push(...records.map(([id = '']) => id));
    });
    expect(written).toContain('id');
    expect(written).not.toContain(added);
  });

  it('lose nothing of what was paid too much when an invoice is reissued', async () => {
    const { id } = await books.report('Reissued');
    await books.bill();
    const [invoice] = await books.documentsOf(id);
    const { payment } = await record({ invoiceNumber: invoice?.number ?? '', amount: 5_000 });
    expect(payment.unallocated).toBe(1_549);
    await renameBuyer(books.db, invoice?.number ?? '');
    await work((trx) => reissueInvoice(trx, invoice?.number ?? '', by()));
    const { rows } = await sql<Row>`select unallocated from payments where id = ${payment.id}`.execute(
      books.db,
    );
    expect(rows).toEqual([{ unallocated: '1549' }]);
  });

  it('have credit notes, what was allocated and taken back, and what was paid back, each in the day it was in Berlin', async () => {
    // The last minute of a day in Berlin, and then the first of the next.
    const day = new Date(books.now().getTime() + 5 * 24 * 3_600_000).toISOString().slice(0, 10);
    const next = new Date(Date.parse(day) + 24 * 3_600_000).toISOString().slice(0, 10);
    const setTime = async (on: string, time: string) => {
      const offset = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', timeZoneName: 'longOffset' })
        .format(new Date(`${on}T12:00:00Z`))
        .slice(-6);
      await books.setClock(`${on}T${time}${offset}`);
    };
    await setTime(day, '23:59:00');
    const { id } = await books.report('Rows');
    await books.bill();
    const number = (await books.documentsOf(id))[0]?.number ?? '';
    const { payment } = await record({ invoiceNumber: number, amount: 3_451 });
    await setTime(next, '00:00:30');
    const credit = await work((trx) => creditInvoice(trx, number, 1_000, by()));
    await work((trx) => payBack(trx, { paymentId: payment.id, id: 'rows-back', paidAt: books.now() }, by()));
    await record({ id: 'rows-refund', kind: 'refund', of: payment.id, amount: 451 });
    const [first, second] = [await exportAll(day, day), await exportAll(next, next)];
    const about = (rows: Row[]) => rows.filter((row) => [row.number, row.invoice].includes(number));
    expect(about(first.read('documents.csv'))).toMatchObject([
      {
        number,
        kind: 'invoice',
        issued_on: day,
        credited: '0.00',
        allocated: '34.51',
        open: '0.00',
        status: 'paid',
      },
    ]);
    expect(about(second.read('documents.csv'))).toMatchObject([
      {
        ...{ number: credit, kind: 'credit_note', issued_on: next, due_on: '', invoice: number },
        ...{ net: '8.40', tax: '1.60', total: '10.00', credited: '', allocated: '', open: '', status: '' },
      },
    ]);
    expect(first.read('money.csv')).toMatchObject([
      { id: payment.id, kind: 'payment', of: '', amount: '34.51', unallocated: '0.00', recorded_on: day },
    ]);
    const back = { of: payment.id, unallocated: '0.00', recorded_on: next };
    expect(second.read('money.csv')).toMatchObject([
      { id: 'rows-back', kind: 'paid_back', amount: '10.00', ...back },
      { id: 'rows-refund', kind: 'refund', amount: '4.51', ...back },
    ]);
    expect(first.read('allocations.csv')).toMatchObject([{ payment: payment.id, number, amount: '34.51' }]);
    expect(second.read('allocations.csv').map(({ amount }) => amount)).toEqual(['-10.00', '-4.51']);
  });

  it('have every document of a span with many once, in the order of days and numbers', async () => {
    await books.report('Many');
    await books.bill();
    const undo = new Error('undo');
    await work(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      // Adds three and a half times as many documents as are sorted together, most of them of one day.
      await sql`
        insert into documents (number, kind, invoice, prefix, year, settings_version, issued_on, first_day, last_day,
          currency, net, tax, total, category, rate, issued_at, facts)
        select 'MANY-' || n, kind, -n, 'MANY-', 2019, settings_version, day, day, day,
          currency, net, tax, total, category, rate, day, facts
        from (select documents from documents where kind = 'invoice' limit 1) one (document), unnest(array[document]),
          generate_series(1, 7_000) n,
          lateral (select date '2019-01-01' + case when n between 1_500 and 5_500 then 100 else n % 300 end) at (day)`.execute(
        trx,
      );
      const found: string[] = [];
      for await (const slice of readDocuments(trx, { zone: 'UTC', from: '2018-12-01', to: '2019-10-20' }))
        found.push(...slice.map(({ issued_on, number }) => `${issued_on} ${number}`));
      const { rows } = await sql<{ one: string }>`
        select issued_on || ' ' || number as one from documents
        where prefix = 'MANY-' and issued_on <= '2019-10-20' order by issued_on, length(number), number collate "C"`.execute(
        trx,
      );
      expect(rows.length).toBeGreaterThan(6_500);
      expect(found).toEqual(rows.map(({ one }) => one));
      throw undo;
    }).catch((error) => {
      if (error !== undo) throw error;
    });
  });

  it('have the country, what is reported to the OSS, and what stands in the EC sales list (contract 7.540 to 7.543)', async () => {
    await setSettings(books.db, {
      ...germanSettings,
      tax: {
        ...germanSettings.tax,
        rules: [
          ...germanSettings.tax.rules,
          { country: 'GB', rate: 2_000, category: 'S', from: '2020-01-01' },
        ],
      },
    });
    await books.setClock('2028-06-30T10:00:00.000Z');
    const numbers: Record<string, string> = {};
    const ids: Record<string, { id: string; accountId: string }> = {};
    const sell = async (name: string, country: string | null, vatId: string | null = null) => {
      const contract = await books.report(name, {
        price: { currency: 'EUR', unit_amount: 10_000, interval: 'year' },
      });
      await sql`insert into billing_details (account_id, line1, postcode, city, country, vat_id, checked_vat_id)
        values (${contract.accountId}, ${country && 'Weg 1'}, ${country && '10115'}, ${country && 'Anywhere'}, ${country}, ${vatId}, ${vatId})`.execute(
        books.db,
      );
      await books.bill();
      numbers[name] = (await books.documentsOf(contract.id))[0]?.number ?? '';
      ids[name] = contract;
    };
    await sell('FR_1', 'FR');
    await sell('FR_2', 'FR');
    await sell('GB', 'GB');
    await sell('Home', null);
    await sell('AT_1', 'AT', 'ATU12345678');
    await sell('GR', 'GR', 'EL123456789');
    await books.setClock('2028-07-01T10:00:00.000Z');
    await sell('FR_3', 'FR');
    await sell('AT_2', 'AT', 'ATU12345678');
    for (const [name, amount] of [
      ['FR_1', 1_200],
      ['FR_3', undefined],
      ['AT_1', 2_500],
    ] as const)
      await work((trx) => creditInvoice(trx, numbers[name] ?? '', amount, by()));
    const { texts, read } = await exportAll('2028-06-30', '2028-07-01');
    expect(texts['oss.csv']?.split('\r\n')).toEqual([
      'quarter,country,rate,currency,net,tax,corrected_quarter',
      '2028-Q2,FR,20.00,EUR,200.00,40.00,',
      '2028-Q3,FR,20.00,EUR,0.00,0.00,',
      '2028-Q3,FR,20.00,EUR,-10.00,-2.00,2028-Q2',
      '',
    ]);
    expect(texts['ec_sales.csv']?.split('\r\n')).toEqual([
      'month,vat_id,country,currency,net',
      '2028-06,ATU12345678,AT,EUR,100.00',
      '2028-06,EL123456789,GR,EUR,100.00',
      '2028-07,ATU12345678,AT,EUR,75.00',
      '',
    ]);
    const days = await Promise.all(
      [
        ['2028-06-30', '2028-06-30'],
        ['2028-07-01', '2028-07-01'],
      ].map(async ([from = '', to = '']) =>
        (await exportAll(from, to)).texts['oss.csv']?.split('\r\n').slice(1, -1),
      ),
    );
    expect(days.flat()).toEqual(texts['oss.csv']?.split('\r\n').slice(1, -1));
    // The seller moves, and credits what was sold from Germany.
    for (const [country, name] of [
      ['FR', 'FR_2'],
      ['AT', 'AT_1'],
    ] as const) {
      const address = { ...germanSettings.seller.address, country };
      await setSettings(books.db, { ...germanSettings, seller: { ...germanSettings.seller, address } });
      await work((trx) => creditInvoice(trx, numbers[name] ?? '', 1_200, by()));
    }
    await setSettings(books.db);
    const moved = (await exportAll('2028-06-30', '2028-07-01')).texts;
    expect(moved['oss.csv']).toBe(texts['oss.csv']?.replace('-10.00,-2.00', '-20.00,-4.00'));
    expect(moved['ec_sales.csv']).toBe(texts['ec_sales.csv']?.replace('75.00', '63.00'));
    const documents = read('documents.csv');
    const of = (name: string) => documents.find(({ number }) => number === numbers[name]);
    const keys = { account: ids.AT_1?.accountId, signup_id: 'AT_1' };
    expect(of('AT_1')).toMatchObject({ category: 'AE', rate: '0.00', country: 'AT', ...keys });
    // The seller's country decides if the buyer gave no country.
    expect(of('Home')).toMatchObject({ category: 'S', rate: '19.00', country: 'DE', buyer_country: '' });
    for (const name of ['tax.csv', 'lines.csv'])
      expect(read(name).map(({ number, country }) => [number, country])).toEqual(
        documents.map(({ number, country }) => [number, country]),
      );
  });

  it('have invoices from before there was a seller in documents.csv, without tax (contract 7.475)', async () => {
    const { read } = await exportAll('2026-12-01', '2026-12-01');
    const found = read('documents.csv').filter(({ number }) => old.includes(number ?? ''));
    expect(found.map(({ number, kind, net, tax, total }) => [number, kind, net, tax, total])).toEqual(
      old.map((number) => [number, 'invoice', '29.00', '0.00', '29.00']),
    );
    const { period_first_day, period_last_day, issued_on, due_on } = found[0] ?? {};
    expect([issued_on, due_on, period_first_day, period_last_day]).toEqual([
      ...['2026-12-01', '2026-12-15', '2026-12-01', '2026-12-31'],
    ]);
  });

  it('have that mark also before small signs, and after signs that nobody sees', () => {
    const given = ['\u200b=1', '﹣1', 'a;\u2060﹢1', '\u200bplain', '-1'];
    expect(writeCsv([given])).toBe(`"'\u200b=1","'﹣1","a;'\u2060﹢1",\u200bplain,-1\r\n`);
  });

  it('have a mark before text that a spreadsheet would take for a formula, and nowhere else', async () => {
    const { id, accountId } = await books.report('Formula');
    await sql`insert into billing_details (account_id, company) values (${accountId}, '=HYPERLINK("x", 1)')`.execute(
      books.db,
    );
    await books.bill();
    const [document] = await books.documentsOf(id);
    await record({
      id: '-1',
      invoiceNumber: document?.number,
      amount: 100,
      method: '@card',
      reference: '+49, "cash"\t',
    } as never);
    const day = dayOfSeller(books.now());
    // No form accepts a VAT id like this, and no settings accept a title like this.
    await work(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`update documents set facts = jsonb_set(jsonb_set(facts, '{line,title}', '"-1;=2"'), '{buyer,vat_id}', '"@1"')
        where number = ${document?.number}`.execute(trx);
    });
    const { read, texts } = await exportAll(day, day);
    const booked = read('documents.csv').find(({ number }) => number === document?.number);
    expect(booked).toMatchObject({ buyer: `'=HYPERLINK("x", 1)`, buyer_vat_id: "'@1" });
    expect(read('lines.csv').find(({ number }) => number === document?.number)?.title).toBe("'-1;'=2");
    expect(texts['money.csv']).toContain(
      `\r\n-1,payment,,EUR,1.00,0.00,${day},${day},"'@card","'+49, ""cash""\t"\r\n`,
    );
    expect(texts['allocations.csv']).toContain(`\r\n-1,${document?.number},1.00,EUR,`);
    for (const text of Object.values(texts)) expect(text).toMatch(/^[a-z_,]+\r\n(?:[^\n]*[^\r\n]\r\n)*$/);
  });

  it.each([
    ['2026-12-02', '2026-12-01'],
    ['2026-12-01', '2099-12-01'],
  ])('are refused from %s to %s', async (from, to) => {
    await expect(exportAll(from, to)).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
