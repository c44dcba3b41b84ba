// Payments from a file (contract 7.310 to 7.319 and 7.589).
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  findKnown,
  importPayments,
  type LineResult,
  planPayments,
} from '../../server/billing/payments/import-payments.ts';
import { nameAsRecorded } from '../../server/billing/payments/older-ids.ts';
import { type ListedPayment, readPaymentFile } from '../../server/billing/payments/payment-file.ts';
import { openBooks } from '../support/billing/books.ts';
import { addInvoice, findFaultsInBooks, readInvoice } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { createRandom, seed } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

const today = '2026-11-26';
const header = 'number,amount,currency,date,reference';
const read = (text: string | Uint8Array) =>
  readPaymentFile(typeof text === 'string' ? new TextEncoder().encode(text) : text, today);
const readLines = (...lines: string[]) => read([header, ...lines].join('\n'));

async function readWell(text: string): Promise<ListedPayment[]> {
  const { payments, faults } = await read(text);
  expect(faults).toEqual([]);
  return payments;
}

const faultsOf = async (text: string | Uint8Array) =>
  (await read(text)).faults.map(({ line, column }) => `${line}${column ? ` ${column}` : ''}`);

describe('a file', () => {
  it('says of each line what was paid', async () => {
    const text = `${header}\n INV-2026-0001 ,34.51,EUR,2026-11-26,"Zoë’s ""Flowers"", thanks"\n,5,JPY,2000-01-01,\n`;
    expect(await readWell(text)).toMatchObject([
      {
        ...{ line: 2, number: 'INV-2026-0001', amount: 3_451, currency: 'EUR', day: '2026-11-26' },
        reference: 'Zoë’s "Flowers", thanks',
      },
      { line: 3, number: null, amount: 5, currency: 'JPY', day: '2000-01-01', reference: null },
    ]);
  });

  it('is read as spreadsheets write it, and a payment has one id however it is written', async () => {
    const [plain] = await readWell(`${header}\nINV-1,1234.50,EUR,2026-11-05,ab c\n`);
    expect(plain?.id).toMatch(/^csv:[0-9a-f]{64}$/);
    for (const text of [
      `\ufeff${header}\r\nINV-1,1234.50,EUR,2026-11-05,ab c\r\n`,
      '\ufeffnumber;amount;currency;date;reference\r\nINV-1;1234,5;EUR;05.11.2026;ab c\r\n;;;;\r\n\r\n',
      'number;amount;currency;date;reference\nINV-1;1234.5;EUR;5.11.2026;"ab c"',
      'reference,date,currency,"amount",number\rab c,2026-11-05,EUR,"1234,50",INV-1\r',
      `\n${header}\n\n  INV-1,"1234,50",EUR,2026-11-05, ab c \n`,
    ])
      expect([text, (await readWell(text)).map(({ id }) => id)]).toEqual([text, [plain?.id]]);
  });

  it('numbers equal lines in their ids, and gives other lines other ids', async () => {
    const line = 'INV-1,1.00,EUR,2026-11-05,a';
    const others = [
      'INV-2,1.00,EUR,2026-11-05,a',
      'INV-1,1.01,EUR,2026-11-05,a',
      'INV-1,1.00,USD,2026-11-05,a',
    ];
    const more = [
      'INV-1,1.00,EUR,2026-11-04,a',
      'INV-1,1.00,EUR,2026-11-05,b',
      ',1.00,EUR,2026-11-05,INV-1a',
    ];
    const ids = async (lines: string[]) =>
      (await readWell([header, ...lines].join('\n'))).map(({ id }) => id);
    const all = await ids([line, ...others, line, ...more, line]);
    expect(new Set(all).size).toBe(9);
    const [first, second, third] = await ids([line, line, line]);
    expect([all[0], all[4], all[8]]).toEqual([first, second, third]);
  });

  it('is never refused for what a payer wrote, and goes by all of it', async () => {
    const long = 'x'.repeat(260);
    const [one, other] = await readWell(
      `${header}\n"INV\u202e1","1",EUR,2026-11-05,"${long}"\nINV 1,1,EUR,2026-11-05,${long}y\n`,
    );
    expect(one).toMatchObject({ number: 'INV 1', reference: 'x'.repeat(200) });
    expect(other).toMatchObject({ number: 'INV 1', reference: 'x'.repeat(200) });
    expect(one?.id).not.toBe(other?.id);
    const odd = await readWell(`${header}\n"\u200b",1,EUR,2026-11-05,"two\r\nlines\tand more"\n`);
    expect(odd).toMatchObject([{ number: null, reference: 'two lines and more' }]);
  });

  it('is the same payment in each form of Unicode, and with spaces of any kind', async () => {
    const lineOf = (name: string, space: string) =>
      `Rg.${space}7,1,EUR,2026-11-05,Zoë${space}Müller${space}für${space}Ångström ${name}`;
    const [plain] = await readWell(`${header}\n${lineOf('한국', ' ')}`);
    for (const form of ['NFC', 'NFD'])
      for (const space of [' ', '\u00a0', '\u202f', '\u2007', '\u2009', '\u3000'])
        expect(await readWell(`${header}\n${lineOf('한국', space).normalize(form)}`)).toEqual([plain]);
  });

  it('that is wrong has everything named at once', async () => {
    const { payments, faults } = await readLines(
      'INV-1,1.00,EUR,2026-11-05,fine',
      'INV-1,"1.234,56",eur,2026-02-30,a',
      'INV-1,0,EUR,2026-11-27,a',
      'INV-1,1,5,EUR,2026-11-05,a',
    );
    expect(payments).toHaveLength(1);
    expect(faults.map(({ line, column }) => `${line} ${column}`)).toEqual([
      ...['3 currency', '3 amount', '3 date'],
      ...['4 amount', '4 date', '5 undefined'],
    ]);
    expect(faults[1]?.detail).toContain('no mark between thousands');
  });

  it.each([
    ...['1,234.56', '1.234,56', '1 234.56', '1\u00a0234,56', '1’234.56', '1.234', '-5.00', '+5', '5.', '.5'],
    ...['', '0', '0.00', '1e3', 'five', '5 EUR', '10000000000.01', '99999999999999', '٣', '0x10', '=5'],
  ])('with the amount %j is refused', async (amount) => {
    const text = `number;amount;currency;date;reference\nINV-1;"${amount}";EUR;2026-11-05;a`;
    expect(await faultsOf(text)).toEqual(['2 amount']);
  });

  it.each([
    ...['', '2026-11-27', '1999-12-31', '2026-13-01', '30.02.2026', '11/05/2026', '05.11.26', '2026-11-5'],
    ...['2026-11-05T10:00:00Z', '20261105'],
  ])('with the day %j is refused', async (day) => {
    expect(await faultsOf(`${header}\nINV-1,1,EUR,${day},a`)).toEqual(['2 date']);
  });

  it.each([
    ['', '1'],
    ['\n\n', '1'],
    ['INV-1,1,EUR,2026-11-05,a', '1'],
    ['number,amount,currency,date', '1'],
    [`${header},more`, '1'],
    ['number,amount,currency,date,date', '1'],
    ['Number,amount,currency,date,reference', '1'],
    [`${header}\nINV-1,1,EUR,2026-11-05`, '2'],
    [`${header}\nINV-1;1;EUR;2026-11-05;a`, '2'],
    [`${header}\nINV-1,1,EUR,2026-11-05,"a`, 'undefined'],
    [`${header}\nINV-1,1,EUR,2026-11-05,a"b"`, 'undefined'],
    [`${header}\nINV-1,1,EUR,2026-11-05,${'a'.repeat(5_000)}`, 'undefined'],
    [new TextEncoder().encode(header).map((byte, at) => (at === 3 ? 0xe4 : byte)), '1'],
  ])('like %j is refused', async (text, fault) => {
    expect(await faultsOf(text)).toEqual([fault]);
  });

  it('has at most 20,000 payments', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `,${at + 1},JPY,2026-11-05,`);
    expect((await readLines(...lines(20_000))).faults).toEqual([]);
    expect((await readLines(...lines(20_001))).faults).toMatchObject([{ line: 20_002 }]);
    const { faults } = await readLines(...Array(30_000).fill('x'));
    expect([faults.length, faults.at(-1)?.line]).toEqual([20_001, 20_002]);
  });
});

describe('an import', () => {
  const books = shared(() => openBooks({ at: '2026-02-20T10:00:00.000Z' }));
  beforeAll(async () => {
    await books.report('crm_import', {}, { email: 'customer@example.test' });
  });

  async function collect(results: AsyncGenerator<LineResult, void>): Promise<LineResult[]> {
    const all: LineResult[] = [];
    for await (const result of results) all.push(result);
    return all;
  }

  const readFile = async (...lines: string[]) => (await readLines(...lines)).payments;
  const plan = async (payments: ListedPayment[]) =>
    collect(planPayments(books.db, payments, (await findKnown(books.db, payments)).known));
  const run = async (payments: ListedPayment[], known?: Set<string>) =>
    collect(
      importPayments(books.db, payments, {
        known: known ?? (await findKnown(books.db, payments)).known,
        origin: { by: 'operator', cause: 'test' },
        by: () => ({ now: books.now(), recordedBy: 'operator' }),
        isStopped: () => false,
      }),
    );
  const outcomesOf = (results: LineResult[]) => results.map(({ outcome }) => outcome);

  it('does what the dry run says, line by line, and the second time nothing', async () => {
    const random = createRandom(seed);
    const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const numbers: string[] = [];
    for (let at = 0; at < 6; at++) numbers.push(await addInvoice(books.db));
    const lines = Array.from({ length: 60 }, () => {
      const number = oneOf([...numbers, oneOf(numbers).toLowerCase(), 'INV-1999-0001', '']);
      return `${number},${oneOf(['34.51', '10', '40.00', '0.01'])},${oneOf(['EUR', 'EUR', 'EUR', 'USD'])},2026-02-1${oneOf([0, 1])},`;
    });
    const payments = await readFile(...lines);
    const planned = await plan(payments);
    expect(new Set(outcomesOf(planned))).toEqual(new Set(['whole', 'part', 'unallocated']));
    expect(await run(payments)).toEqual(planned);
    expect(await findFaultsInBooks(books.db)).toEqual([]);
    for (const again of [await plan(payments), await run(payments)])
      expect(new Set(outcomesOf(again))).toEqual(new Set(['known']));
  });

  it('counts each payment once, by sixteen runs at once', async () => {
    const number = await addInvoice(books.db);
    const line = `${number},10.00,EUR,2026-02-03,`;
    const payments = await readFile(line, line, `${number},1.00,EUR,2026-02-03,`);
    const runs = await Promise.all(Array.from({ length: 16 }, () => run(payments, new Set())));
    const done = runs.flat().filter(({ outcome }) => outcome !== 'known');
    expect(done.map(({ id }) => id).sort()).toEqual(payments.map(({ id }) => id).sort());
    expect(await readInvoice(books.db, number)).toMatchObject({ allocated: 2_100, status: 'open' });
  });

  /** Names the payment of a line as version 0.5.0 did, if `before` equal lines came before it. */
  const nameAsBefore = ({ number, amount, currency, day, reference }: ListedPayment, before: number) =>
    `csv:${createHash('sha256')
      .update(`${JSON.stringify([number, amount, currency, day, reference])}${before}`)
      .digest('hex')}`;

  it('knows each payment that version 0.5.0 recorded, in whatever form its file was', async () => {
    const plain = 'für Zoë';
    const line = (reference: string) => `INV-2001-0009,1.00,EUR,2026-02-06,${reference}`;
    const [listed] = await readFile(line(plain));
    if (!listed) throw new Error('nothing was read');
    const written = ['NFC', 'NFD'].map((form) => plain.normalize(form));
    written.push(plain.replaceAll(' ', '\u00a0'));
    for (const [at, reference] of written.entries()) {
      const older = { ...listed, reference };
      // There were two equal payments with the last reference.
      for (const before of at === 2 ? [0, 1] : [0])
        await run([{ ...older, id: nameAsBefore(older, before) }], new Set());
    }
    // The time zone has changed since then. In the new zone, the recorded noon falls on another day.
    await setSettings(books.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, time_zone: 'Pacific/Kiritimati' },
    });
    for (const reference of written) {
      const again = await nameAsRecorded(books.db, await readFile(...Array(4).fill(line(reference))));
      expect(outcomesOf(await run(again))).toEqual(Array(4).fill('known'));
      expect(new Set(again.map(({ id }) => id)).size).toBe(4);
    }
    const more = await nameAsRecorded(books.db, await readFile(...Array(5).fill(line(plain))));
    expect(outcomesOf(await run(more))).toEqual([...Array(4).fill('known'), 'unallocated']);
    const next = await nameAsRecorded(books.db, await readFile(...Array(6).fill(line(plain))));
    expect(outcomesOf(await run(next))).toEqual([...Array(5).fill('known'), 'unallocated']);
    const other = await nameAsRecorded(
      books.db,
      await readFile(`INV-2001-0009,1.00,EUR,2026-02-07,${plain}`),
    );
    expect(outcomesOf(await run(other))).toEqual(['unallocated']);
    await setSettings(books.db);
  });

  it('counts a payment once, by sixteen runs at once whose files are in two forms', async () => {
    const files = await Promise.all(
      ['NFC', 'NFD'].map((form) => readFile(`,1.00,EUR,2026-02-08,${'Größe'.normalize(form)}`)),
    );
    const runs = await Promise.all(
      Array.from({ length: 16 }, (_, at) => run(files[at % 2] ?? [], new Set())),
    );
    expect(outcomesOf(runs.flat()).filter((outcome) => outcome !== 'known')).toEqual(['unallocated']);
  });

  it('knows a payment again after the seller has moved to another zone', async () => {
    const payments = await readFile('INV-2001-0001,1.00,EUR,2026-02-04,moved');
    expect(outcomesOf(await run(payments))).toEqual(['unallocated']);
    await setSettings(books.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, time_zone: 'Pacific/Auckland' },
    });
    expect((await findKnown(books.db, payments)).faults).toEqual([]);
    expect(outcomesOf(await run(payments, new Set()))).toEqual(['known']);
    await setSettings(books.db);
  });

  it('is refused if something else is recorded under the id of a line', async () => {
    const payments = await readFile(
      'INV-2001-0002,1.00,EUR,2026-02-04,first',
      ...['amount', 'number', 'currency'].map((other) => `INV-2001-0002,2.00,EUR,2026-02-04,${other}`),
    );
    const others = [{}, { amount: 3 }, { number: 'INV-2001-0003' }, { currency: 'USD' }];
    await run(payments.map((payment, at) => ({ ...payment, ...others[at] })));
    const { faults } = await findKnown(books.db, payments);
    expect(faults.map(({ line }) => line)).toEqual([3, 4, 5]);
  });

  it('ends between two payments when it is stopped', async () => {
    const payments = await readFile(',1.00,EUR,2026-02-05,1', ',1.00,EUR,2026-02-05,2');
    let isStopped = false;
    const results = importPayments(books.db, payments, {
      known: new Set(),
      origin: { by: 'operator', cause: 'test' },
      by: () => ({ now: books.now(), recordedBy: 'operator' }),
      isStopped: () => isStopped,
    });
    await results.next();
    isStopped = true;
    expect(await results.next()).toEqual({ done: true, value: undefined });
    expect((await findKnown(books.db, payments)).known.size).toBe(1);
  });
});
