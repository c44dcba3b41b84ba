// Statements of banks: what is read, what matches, and that nothing is recorded twice (contract 7.510 to 7.517, 7.524, 7.551,
// 7.554 and 7.590).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { readSigned } from '../../server/billing/payments/bank-layouts.ts';
import {
  findKnown,
  importPayments,
  type LineResult,
  planPayments,
  recordListed,
} from '../../server/billing/payments/import-payments.ts';
import { findNumbers, type Proposal } from '../../server/billing/payments/match-payments.ts';
import { type ListedPayment, readPaymentFile } from '../../server/billing/payments/payment-file.ts';
import { bankSamples, camtEntry, encode, writeCamt } from '../support/billing/bank-samples.ts';
import { openBooks } from '../support/billing/books.ts';
import { addInvoice, findFaultsInBooks, readInvoice } from '../support/billing/money.ts';
import { shared } from '../support/run/shared.ts';

const today = '2026-11-26';
const read = (text: string) => readPaymentFile(encode(text), today);
const texts = { first: 'Rechnung INV-2026-0001', second: 'INV 2026 0002 Übertrag' };

describe('a statement', () => {
  it.each(bankSamples)('of $name is read by its columns', async ({ write, encoding, reference }) => {
    const { payments, faults } = await readPaymentFile(encode(write(texts), encoding), today);
    expect(faults).toEqual([]);
    const said = payments.map(({ number, amount, currency, day, isBank, isOut }) => ({
      ...{ number, amount, currency, day, isBank, isOut },
    }));
    const line = { number: null, currency: 'EUR', day: '2026-02-03', isBank: true };
    expect(said).toEqual([
      { ...line, amount: 123_456, isOut: false },
      { ...line, amount: 990, isOut: true },
      { ...line, amount: 3_451, isOut: false },
    ]);
    expect([payments[0]?.reference, payments[2]?.reference]).toEqual([
      reference(texts.first),
      reference(texts.second),
    ]);
    expect(payments[0]?.id).toMatch(/^bank:[0-9a-f]{64}$/);
  });

  it.each(bankSamples)('of $name gives a payment the same id in both encodings', async ({ write }) => {
    const ids = async (encoding?: 'windows-1252') =>
      (await readPaymentFile(encode(write(texts).replace('\ufeff', ''), encoding), today)).payments.map(
        ({ id }) => id,
      );
    expect(new Set(await ids()).size).toBe(3);
    // A CAMT file says itself that it is UTF-8, but a bank may write Windows-1252.
    expect(await ids('windows-1252')).toEqual(await ids());
  });

  it('leaves out what the bank books after today, and refuses what cannot be read', async () => {
    const [sample] = bankSamples.filter(({ name }) => name === 'Volksbank');
    const text = sample?.write(texts) ?? '';
    expect((await read(text.replaceAll('03.02.2026', '27.11.2026'))).payments).toEqual([]);
    const { payments, faults } = await read(text.replace('1234,56', '12.34,5').replace('EUR', 'Euro'));
    expect(faults.map(({ line, column }) => `${line} ${column}`)).toEqual(['2 currency', '2 amount']);
    expect(payments).toHaveLength(2);
  });

  it.each([
    ['1.234,56', ',', 123_456],
    ['-1.234,5', ',', -123_450],
    ['1234,56-', ',', -123_456],
    ['+1 234,56 €', ',', 123_456],
    ['−9,90', ',', -990],
    ['1,234.56', '.', 123_456],
    ["EUR 1'234.5600", '.', 123_456],
    ['1.234', ',', 123_400],
    ['1.23', ',', undefined],
    ['1,23,4.00', '.', undefined],
    ['1,005', ',', undefined],
    ['--1', '.', undefined],
    ['', '.', undefined],
  ] as const)('reads the amount %j', (text, mark, amount) => {
    expect(readSigned(text, mark, 2)).toBe(amount);
  });
});

describe('CAMT.053', () => {
  const entry = camtEntry('INV-2026-0001', '34.51');
  it.each([
    ['a document type', `<!DOCTYPE Document [<!ENTITY a "b">]>${writeCamt(entry)}`, /document type/],
    ['an external entity', `<!DOCTYPE a SYSTEM "file:///etc/passwd">${writeCamt(entry)}`, /document type/],
    ['an entity', writeCamt(entry.replace('INV', '&inv;')), /not well-formed/],
    ['a broken tag', writeCamt(entry.replace('</Ntry>', '')), /not well-formed/],
    ['too many levels', writeCamt('<a>'.repeat(100_000)), /deeper than 32 levels/],
    ['a long text', writeCamt(camtEntry('x'.repeat(2_001), '1.00')), /over 2000 characters/],
    ['another root', '<html xmlns="x"><body/></html>', /not a statement in CAMT.053/],
    ['another message', writeCamt(entry).replace('camt.053', 'camt.054'), /not a statement in CAMT.053/],
    ['a second root', `${writeCamt(entry)}<a/>`, /not well-formed/],
    ['an entity in an attribute', writeCamt(entry.replace('"EUR"', '"&eur;"')), /not well-formed/],
    ['an attribute of 2 MiB', `<Document a="${'x'.repeat(2 ** 21)}`, /not well-formed/],
    ['nothing', '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"/>', /has no statement/],
  ])('with %s is refused', async (_, text, detail) => {
    const { payments, faults } = await read(text.replace('<?xml version="1.0" encoding="UTF-8"?>\n', ''));
    expect(payments).toEqual([]);
    expect(faults).toEqual([expect.objectContaining({ detail: expect.stringMatching(detail) })]);
  });

  it('in UTF-16 is refused, and says nothing of its encoding that counts', async () => {
    const wide = Buffer.from(`\ufeff${writeCamt(entry)}`, 'utf16le');
    expect((await readPaymentFile(wide, today)).faults).toHaveLength(1);
    const [plain, said] = [writeCamt(entry), writeCamt(entry).replace('UTF-8', 'UTF-16')].map(read);
    expect(await said).toEqual(await plain);
  });

  it('reads each payment of a batch, and the older form of a status', async () => {
    const detail = (amount: string, text: string) =>
      `<TxDtls><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>A &amp; B</Nm></Dbtr></RltdPties><RmtInf><Ustrd><![CDATA[${text}]]></Ustrd></RmtInf></TxDtls>`;
    const batch = camtEntry('', '35.00')
      .replace(/<TxDtls>.*<\/TxDtls>/s, detail('30.00', 'one') + detail('5.00', 'two'))
      .replace('<Sts><Cd>BOOK</Cd></Sts>', '<Sts>BOOK</Sts>');
    const { payments, faults } = await read(writeCamt(batch));
    expect(faults).toEqual([]);
    expect(payments.map(({ amount, reference }) => [amount, reference])).toEqual([
      [3_000, 'one / A & B'],
      [500, 'two / A & B'],
    ]);
    const odd = await read(writeCamt(batch.replace('30.00', '31.00')));
    // The single payments do not add up to the whole amount. So only the whole counts, without a reference.
    expect(odd.payments.map(({ amount, reference }) => [amount, reference])).toEqual([[3_500, null]]);
  });
});

it.each([
  ['Rechnung INV-2026-0041', ['INV-2026-0041']],
  ['inv20260041', ['INV-2026-0041']],
  ['INV 2026 0041, danke', ['INV-2026-0041']],
  ['INV20260115', ['INV-2026-0115']],
  ['2026-0041', ['INV-2026-0041', 'R-2026-0041']],
  ['20260041', ['INV-2026-0041', 'R-2026-0041']],
  ['2026 10041.', ['INV-2026-10041', 'R-2026-10041']],
  ['2026/0041 und 2027-0042', ['INV-2026-0041', 'R-2026-0041', 'INV-2027-0042', 'R-2027-0042']],
  ['IN V-20 26-00 41', ['INV-2026-0041']],
  ['INV-2026-0041 03.02.2026', ['INV-2026-0041']],
  ['INV-2026-0041 vom 20260115, 2026-0042', ['INV-2026-0041']],
  ['INV-2026-10041', ['INV-2026-10041']],
  ['INV-2026-00415', []],
  ['RE-2026-0041', []],
  ['CINV-2026-0041', []],
  ['R 12-2026-0041', []],
  ['120260041', []],
  ['12026-0041', []],
  ['2026', []],
  ['Zahlung vom 2026-01-15', []],
  ['2026-10-15T10:30:00', []],
  ['2026-10-15 10:30', []],
  ['15.01.2026 1015', []],
  ['20260115103000', []],
  ['20260041103000123', []],
  ['E2E-20260041-0001', []],
  ['20260041-0001', []],
  ['20260041ABC', []],
  ['2026 00 41', []],
  ['20260115', [], ['INV-2026-0115', 'R-2026-0115']],
  ['2026-1231', [], ['INV-2026-1231', 'R-2026-1231']],
  ['R 2026-01-15', [], ['R-2026-0115']],
] as [string, string[], string[]?][])('what %j names', (text, sure, dates = []) => {
  expect(findNumbers(text, ['INV-', 'R-'])).toEqual({ sure, dates });
});

it.each([
  ['Retoure INV-2026-0041', ['INV-2026-0041']],
  ['Miete 2026-0041', []],
  ['20260115', []],
])('%j names with a prefix only what has one', (text, sure) => {
  expect(findNumbers(text, ['INV-'], { needsPrefix: true })).toEqual({ sure, dates: [] });
});

describe('an import of a statement', () => {
  const books = shared(() => openBooks({ at: '2026-02-20T10:00:00.000Z' }));
  beforeAll(async () => {
    await books.report('crm_bank', {}, { email: 'customer@example.test' });
  });

  const collect = async (results: AsyncGenerator<LineResult, void>) => {
    const all: LineResult[] = [];
    for await (const result of results) all.push(result);
    return all;
  };
  const readFile = async (...entries: string[]): Promise<ListedPayment[]> => {
    const { payments, faults } = await read(writeCamt(...entries));
    expect(faults).toEqual([]);
    return payments;
  };
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
  const bare = (number: string) => number.replace(/[A-Z-]/g, '');

  it('records what is exact, leaves the rest to people, and does what the dry run says', async () => {
    const [one, two] = [await addInvoice(books.db), await addInvoice(books.db)];
    const payments = await readFile(
      camtEntry(`Rechnung ${one.replaceAll('-', ' ')}`, '34.51', { ref: '1' }),
      camtEntry(`${one} again`, '34.51', { ref: '2' }),
      camtEntry(`Kunde 7 ${bare(two)}`, '10.00', { ref: '3' }),
      camtEntry('Miete', '500.00', { sign: 'DBIT', ref: '4' }),
      camtEntry('Steuererstattung', '12.00', { ref: '5' }),
    );
    const planned = await collect(planPayments(books.db, payments, new Set()));
    expect(await run(payments)).toEqual(planned);
    expect(outcomesOf(planned)).toEqual(['whole', 'left', 'left', 'left', 'out']);
    expect(planned.map(({ line, matched, proposals }) => [line, matched, proposals])).toEqual([
      [1, one, []],
      [2, null, [one]],
      [3, null, [two]],
      [5, null, []],
      [4, null, []],
    ]);
    expect(await readInvoice(books.db, one)).toMatchObject({ status: 'paid' });
    expect(await readInvoice(books.db, two)).toMatchObject({ allocated: 0, status: 'open' });
    expect(outcomesOf(await run(payments))).toEqual(['known', 'left', 'left', 'left', 'out']);
    expect(await findFaultsInBooks(books.db)).toEqual([]);
  });

  it('records nothing twice: the same file, in parts, or across files of other days', async () => {
    const numbers = [await addInvoice(books.db), await addInvoice(books.db), await addInvoice(books.db)];
    const entries = numbers.map((number) => camtEntry(number, '34.51'));
    expect(outcomesOf(await run(await readFile(...entries.slice(0, 2))))).toEqual(['whole', 'whole']);
    expect(outcomesOf(await run(await readFile(...entries.slice(1))))).toEqual(['known', 'whole']);
    expect(outcomesOf(await run(await readFile(...entries)))).toEqual(['known', 'known', 'known']);
  });

  it('counts each payment once, by sixteen runs at once, and pays an invoice once', async () => {
    const number = await addInvoice(books.db);
    const payments = await readFile(
      camtEntry(number, '34.51', { ref: 'a' }),
      camtEntry(number, '34.51', { ref: 'b' }),
    );
    const runs = await Promise.all(
      Array.from({ length: 16 }, (_, at) => run(at % 2 ? payments : payments.toReversed(), new Set())),
    );
    expect(outcomesOf(runs.flat()).filter((outcome) => outcome === 'whole')).toHaveLength(1);
    expect(await readInvoice(books.db, number)).toMatchObject({ allocated: 3_451, status: 'paid' });
    expect(await findFaultsInBooks(books.db)).toEqual([]);
  });

  it('takes a payment back whose return is in the same file, in any order, as the dry run says (contract 7.517)', async () => {
    const number = await addInvoice(books.db);
    const payments = await readFile(
      camtEntry(`Retoure ${number}`, '34.51', { sign: 'DBIT', ref: 'same back' }),
      camtEntry(number, '34.51', { ref: 'same paid' }),
      camtEntry(`Nochmal ${number}`, '34.51', { sign: 'DBIT', ref: 'same again' }),
    );
    const planned = await collect(planPayments(books.db, payments, new Set()));
    expect(planned.map(({ line, outcome }) => [line, outcome])).toEqual([
      [2, 'whole'],
      [1, 'refund'],
      [3, 'left'],
    ]);
    expect((await run(payments)).map(({ line, outcome }) => [line, outcome])).toEqual([
      [2, 'whole'],
      [1, 'refund'],
      [3, 'left'],
    ]);
    expect(await readInvoice(books.db, number)).toMatchObject({ allocated: 0, status: 'open' });
    expect(await findFaultsInBooks(books.db)).toEqual([]);
  });

  it('takes a payment back if the bank returns all of it, once', async () => {
    const number = await addInvoice(books.db);
    const back = camtEntry(`Retoure ${number}`, '34.51', { sign: 'DBIT', ref: 'back' });
    await run(await readFile(camtEntry(number, '34.51', { ref: 'paid' })));
    const part = await readFile(camtEntry(`Teil ${number}`, '4.51', { sign: 'DBIT', ref: 'part' }));
    expect(await run(part)).toMatchObject([{ outcome: 'left', proposals: [number] }]);
    const runs = await Promise.all(
      Array.from({ length: 16 }, async () => run(await readFile(back), new Set())),
    );
    expect(outcomesOf(runs.flat()).filter((outcome) => outcome === 'refund')).toHaveLength(1);
    expect(await readInvoice(books.db, number)).toMatchObject({ allocated: 0, status: 'open' });
    expect(outcomesOf(await run(await readFile(back)))).toEqual(['known']);
    expect((await findKnown(books.db, await readFile(back))).faults).toEqual([]);
    expect(await findFaultsInBooks(books.db)).toEqual([]);
  });

  const acceptByHand = (payment: ListedPayment | undefined, to: Proposal) =>
    inTransaction(books.db, { by: 'operator' }, (trx) =>
      recordListed(trx, payment as ListedPayment, {
        ...{ to, pays: to.number, paidAt: new Date('2026-02-03T11:00:00.000Z') },
        by: { now: books.now(), recordedBy: 'operator' },
      }),
    );
  const proposalOf = (number: string, payment?: string): Proposal => ({
    ...{ number, open: 0, buyer: '' },
    ...(payment !== undefined && { payment }),
  });
  const runSixteen = async (payments: ListedPayment[]) =>
    (await Promise.all(Array.from({ length: 16 }, () => run(payments, new Set())))).flat();

  it('leaves to people what another file of the same account may have said already', async () => {
    const [sample] = bankSamples.filter(({ name }) => name === 'Volksbank');
    const readCsv = async (second: string) =>
      (await read(sample?.write({ first: 'Danke', second }) ?? '')).payments[2] as ListedPayment;
    const number = await addInvoice(books.db, { price: { unitAmount: 5_800 } });
    const first = await readCsv(number);
    expect(await run([first])).toMatchObject([{ outcome: 'left', proposals: [number], alike: [] }]);
    await acceptByHand(first, proposalOf(number));
    // The rest of the invoice is now the same amount as the payment.
    expect(await readInvoice(books.db, number)).toMatchObject({ total: 6_902, allocated: 3_451 });
    const again = await runSixteen(await readFile(camtEntry(`Rg. ${number}`, '34.51', { ref: 'camt' })));
    for (const result of again)
      expect(result).toMatchObject({ outcome: 'left', proposals: [number], alike: [first.id] });
    const later = await readFile(
      camtEntry(number, '34.51', { ref: 'later' }).replaceAll('2026-02-03', '2026-02-04'),
    );
    expect(await run(later)).toMatchObject([{ outcome: 'whole', alike: [] }]);

    const back = await readCsv(`Retoure ${number}`);
    await acceptByHand({ ...back, isOut: true }, proposalOf(number, first.id));
    const camtBack = await readFile(camtEntry(number, '34.51', { sign: 'DBIT', ref: 'camt back' }));
    for (const result of await runSixteen(camtBack))
      expect(result).toMatchObject({ outcome: 'left', alike: [back.id] });
    expect(await findFaultsInBooks(books.db)).toEqual([]);
  });

  it('never pays a second invoice that one line names', async () => {
    const numbers = [await addInvoice(books.db), await addInvoice(books.db)];
    const payments = await readFile(camtEntry(numbers.join(' '), '34.51', { ref: 'both' }));
    for (const result of await runSixteen(payments))
      expect(result).toMatchObject({ outcome: 'left', proposals: numbers });
    await acceptByHand(payments[0], proposalOf(numbers[0] ?? ''));
    expect(outcomesOf(await run(payments))).toEqual(['known']);
    const other = await readFile(camtEntry(numbers.join(' '), '34.51', { ref: 'other source' }));
    expect(outcomesOf(await runSixteen(other))).toEqual(Array(16).fill('left'));
    expect(await readInvoice(books.db, numbers[1] ?? '')).toMatchObject({ allocated: 0, status: 'open' });
  });

  it('proposes the only open invoice of that amount, or those of the payer', async () => {
    const one = await addInvoice(books.db, { price: { unitAmount: 7_700 } });
    const amount = (((await readInvoice(books.db, one))?.total ?? 0) / 100).toFixed(2);
    expect(await run(await readFile(camtEntry('Danke', amount)))).toMatchObject([
      { outcome: 'left', proposals: [one] },
    ]);
    await addInvoice(books.db, { price: { unitAmount: 7_700 } });
    expect(await run(await readFile(camtEntry('Danke', amount)))).toMatchObject([
      { outcome: 'left', proposals: [] },
    ]);
  });

  it('matches the number of our own columns, too, and records what matches nothing', async () => {
    const number = await addInvoice(books.db);
    const lines = [`${bare(number)};34,51`, ';34,52', `;34,51`].map(
      (line, at) => `${line};EUR;2026-02-03;${at === 1 ? `Rg ${bare(number)}` : 'Danke'}`,
    );
    const { payments } = await read(['number;amount;currency;date;reference', ...lines].join('\n'));
    expect(await run(payments)).toMatchObject([
      { outcome: 'whole', matched: number },
      { outcome: 'unallocated', matched: null },
      { outcome: 'unallocated', matched: null },
    ]);
  });

  // From here on, invoices get numbers that may be dates, so this is the last test.
  it('proposes a number that may be a date, and looks for numbers in all of a long text', async () => {
    await sql`update document_series set last_number = 1114 where prefix = 'INV-'`.execute(books.db);
    const [dated, long] = [await addInvoice(books.db), await addInvoice(books.db)];
    const payments = await readFile(
      camtEntry(bare(dated), '34.51', { ref: 'date' }),
      camtEntry(`${'lang '.repeat(60)}${long}`, '34.51', { ref: 'long' }),
    );
    expect(await run(payments)).toMatchObject([
      { outcome: 'left', proposals: [dated] },
      { outcome: 'whole', matched: long },
    ]);
  });
});
