// An old backup is put back after documents were sent (contract 7.340 to 7.362 and 7.420 to 7.423). No number is given twice,
// each lost number is explained, and a new invoice replaces each lost one that was sent.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { type Money, type Recorder, recordMoney } from '../../server/billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import { resumeBilling } from '../../server/billing/upkeep/resume.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { openBooks } from '../support/billing/books.ts';
import { renameBuyer } from '../support/billing/money.ts';
import { dayOfSeller } from '../support/billing/settings.ts';
import { backUpDatabase } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const before = '2026-11-20T10:00:00.000Z';
const after = '2026-12-20T10:00:00.000Z';
const archive = 'archive@example.test';

/** For each number of a lost invoice, what its archive copy says, in the form that `billing:resume` accepts. */
let copies: Map<string, string>;

const by = (): Recorder => ({ now: books.now(), recordedBy: 'payments' });
const work = <T>(does: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(books.db, { by: 'service', cause: 'test' }, does);
const cli = (...args: string[]) => runCli(books.databaseUrl, args);
const copyOf = (number: string) => copies.get(number) ?? '';

const money: Omit<Money, 'id' | 'kind' | 'of'> & { kind: 'payment'; of: null } = {
  ...{ kind: 'payment', of: null, currency: 'EUR', amount: 3_451, invoiceNumber: null },
  ...{ paidAt: new Date(after), method: null, reference: null },
};

/** Counts the unsent billing mails that are not on hold. */
const countDueMails = async () =>
  (
    await sql<{
      n: number;
    }>`select count(*)::int as n from mails where sent_at is null and next_attempt_at < '9999-01-01'
      and kind like any('{invoice\\_%,payment\\_%,credit\\_%,trial\\_%}') and kind <> 'invoice_email'`.execute(
      books.db,
    )
  ).rows[0]?.n;

const numbersOf = async (kind?: string) =>
  (
    await sql<{ number: string }>`select number from documents
      where ${kind ?? null}::text is null or kind = ${kind ?? null} order by number`.execute(books.db)
  ).rows.map(({ number }) => number);

/** Lists the invoices that replace lost numbers, by the lost number. */
const listReplaced = async () =>
  new Map(
    (
      await sql<{ lost: string; number: string }>`select number, facts ->> 'replaces' as lost
        from documents where facts ? 'replaces' order by number`.execute(books.db)
    ).rows.map(({ lost, number }) => [lost, number]),
  );

const paidBy = async (payment: string) =>
  (
    await sql<{ number: string }>`select i.document as number from allocations a
      join invoices i on i.number = a.invoice where a.payment = ${payment}`.execute(books.db)
  ).rows.map(({ number }) => number);

/** Reports the contracts that were new in the lost time. */
const reportNew = async () => {
  for (const name of ['Late1', 'Late2'])
    await books.report(name, {}, { email: `${name}@late.example.test`.toLowerCase() });
};

const books = shared(() => openBooks({ at: before, env: { BILLING_ARCHIVE_EMAIL: archive } }));
beforeAll(async () => {
  for (let at = 1; at <= 11; at++) await books.report(`Customer${at}`);
  await books.bill();
  await books.makeFiles();
  await books.send();
  expect(await numbersOf()).toHaveLength(11);
  const backup = await backUpDatabase(books.databaseUrl);

  await books.setClock(after);
  await books.bill();
  await reportNew();
  await books.bill();
  await work((trx) => creditInvoice(trx, 'INV-2026-0014', undefined, by()));
  await books.makeFiles();
  const sent = (await books.send()).filter(({ to }) => to === archive).map(({ text }) => text);
  copies = new Map(
    sent.flatMap((text) => {
      const [, copy, number] = /--lost ((INV-2026-00\d\d):\S+:2026-12-20)/.exec(text) ?? [];
      return copy && number ? [[number, copy] as const] : [];
    }),
  );
  expect([...copies.keys()].sort()).toEqual(Array.from({ length: 13 }, (_, at) => `INV-2026-00${at + 12}`));

  await backup.restore();
  await books.setClock(after);
}, 120_000);

describe('database:restored', () => {
  it.each([
    ['no number', ['41'], /41 is no number of a document/],
    ['a number that we would not write', ['INV-2026-041'], /is no number of a document/],
    ['another year', ['INV-2062-0041'], /is neither of this year nor of the last one/],
    ['a beginning that no settings had', ['INC-2026-0041'], /have ever had numbers that begin with INC-/],
    [
      'a number far above',
      ['INV-2026-0031', 'CN-2026-900000008'],
      /CN-2026-900000008 is 900000008 numbers above/,
    ],
  ])('refuses %s, and does nothing', async (_, last, sentence) => {
    expectMisused(await cli('database:restored', '--last', ...last), sentence);
    expect((await sql`select from restores`.execute(books.db)).rows).toEqual([]);
  });

  it('notes which numbers are lost, and what comes next', async () => {
    const outcome = await cli('database:restored', '--last', 'INV-2026-0033', 'CN-2026-0008');
    expect(outcome).toMatchObject({ code: 0, err: '' });
    expect(outcome.out).toContain(
      'The next invoice is number INV-2026-0034, and the next credit note CN-2026-0009. Lost are INV-2026-0012 to INV-2026-0033, CN-2026-0001 to CN-2026-0008. ',
    );
    const { rows } =
      await sql`select details from audit_events where type = 'document.lost' order by id`.execute(books.db);
    expect(rows).toMatchObject([
      { details: { number: 'INV-2026-0012 to INV-2026-0033', count: 22 } },
      { details: { number: 'CN-2026-0001 to CN-2026-0008', count: 8 } },
    ]);
    expect(
      (await sql`select last_issued_on::text as day from document_series`.execute(books.db)).rows,
    ).toEqual([{ day: '2026-12-20' }, { day: '2026-12-20' }]);
  });

  it('can be given again with a higher number, and leaves a lower one alone', async () => {
    const { out } = await cli('database:restored', '--last', 'INV-2026-0035', 'CN-2026-0002');
    expect(out).toContain(
      'number INV-2026-0036, and the next credit note CN-2026-0009. Lost are INV-2026-0034 to INV-2026-0035. ',
    );
    // Contract 11.145.
    expect(out).toMatch(/\nCN-2026-0002 changed nothing, because CN-2026-0008 has been given: .*\n$/);
  });

  it('says which series got no number (contract 11.145)', async () => {
    const credits = 'No --last was given for the numbers that go on with CN-2026-0009: ';
    const { out } = await cli('database:restored', '--last', 'INV-2026-0035');
    expect(out).toContain(`\n${credits}`);
    expect(out.match(/No --last|changed nothing/g)).toHaveLength(1);
    const none = await cli('database:restored');
    expect(none.out).toContain(`\nNo --last was given for the numbers that go on with INV-2026-0036: `);
    expect(none.out).toContain(`\n${credits}`);
  });

  it('takes an existing number from years ago, as a file beside a backup has it', async () => {
    await sql`insert into document_series values ('CN-', 2024, 7, '2024-12-30')`.execute(books.db);
    const { code, out } = await cli(
      'database:restored',
      '--last',
      'INV-2026-0035',
      'CN-2026-0008',
      'CN-2024-0007',
    );
    expect([code, out]).toEqual([0, expect.not.stringMatching(/No --last|changed nothing/)]);
    await sql`delete from document_series where year = 2024`.execute(books.db);
  });
});

describe('until billing:resume', () => {
  it('nothing is issued in any way, no contract becomes past due, and no mail leaves', async () => {
    expect(await countDueMails()).toBe(0);
    const { logged } = books;
    const before = logged.length;
    await sql`update invoices set reminded = 0`.execute(books.db);
    await books.bill();
    expect(await numbersOf()).toHaveLength(11);
    // Billing has logged no failure.
    expect(logged.slice(before)).toEqual([]);
    expect(await books.send()).toEqual([]);
    const { rows } = await sql`select from service_contracts where status <> 'active'`.execute(books.db);
    expect(rows).toEqual([]);
    for (const table of ['documents', 'invoices'])
      await expect(sql`insert into ${sql.table(table)} default values`.execute(books.db)).rejects.toThrow(
        'billing waits since the database was restored',
      );
    await expect(sql`update service_contracts set status = 'past_due'`.execute(books.db)).rejects.toThrow(
      'billing waits since the database was restored',
    );
  });

  it('no invoice is credited or issued anew', async () => {
    const paused = { code: 'billing_paused', status: 409 };
    await expect(work((trx) => creditInvoice(trx, 'INV-2026-0004', 100, by()))).rejects.toMatchObject(paused);
    await expect(work((trx) => reissueInvoice(trx, 'INV-2026-0004', by()))).rejects.toMatchObject(paused);
    expectRefused(
      await cli('invoice:credit', 'INV-2026-0004', '--yes'),
      /^Nothing changed: .*billing:resume\.\n$/,
    );
  });

  it('payments are recorded and pay, and thanks for them wait', async () => {
    const { payment } = await work((trx) =>
      recordMoney(
        trx,
        {
          ...{ id: 'pay-INV-2026-0001', kind: 'payment', of: null, currency: 'EUR', amount: 3_451 },
          ...{ paidAt: books.now(), method: null, reference: null, invoiceNumber: 'INV-2026-0001' },
        },
        by(),
      ),
    );
    expect(payment.unallocated).toBe(0);
    expect(await countDueMails()).toBe(0);
    expect(await books.send()).toEqual([]);
    await sql`update mails set last_error = 'none' where sent_at is null`.execute(books.db);
    expect((await cli('mails', '--retry')).code).toBe(0);
    expect(await books.send()).toEqual([]);
    // Makes these mails due without the trigger that puts mails on hold, as if they had been written at the moment of the
    // restore.
    await sql`alter table mails disable trigger mails_hold_billing`.execute(books.db);
    await sql`update mails set next_attempt_at = ${books.now()} where sent_at is null`.execute(books.db);
    await sql`alter table mails enable trigger mails_hold_billing`.execute(books.db);
    expect(await books.send()).toEqual([]);
  });

  it('a payment that names a lost number waits', async () => {
    await work((trx) => recordMoney(trx, { ...money, id: 'early', invoiceNumber: 'inv-2026-0013' }, by()));
    expect(await paidBy('early')).toEqual([]);
  });

  it('a report of the CRM is taken, and what has begun waits with its price', async () => {
    const { id } = await books.report('Customer1', {
      price: { currency: 'EUR', unit_amount: 9_900, interval: 'month' },
    });
    const { rows } = await sql`select unit_amount from waiting_periods where contract_id = ${id}`.execute(
      books.db,
    );
    expect(rows).toEqual([{ unit_amount: '2900' }]);
  });
});

describe('billing:resume', () => {
  it('asks, and does nothing if a file is no archive copy, or not the copy of a lost document', async () => {
    expectMisused(await cli('billing:resume'), /Nobody can be asked here: give --yes/);
    expectMisused(
      await cli('billing:resume', '--yes', '--lost', 'INV-2026-0012'),
      /Enter such as INV-2026-0041:crm_1:/,
    );
    const [first, late] = [copyOf('INV-2026-0012'), copyOf('INV-2026-0023')];
    const cases: [string[], RegExp][] = [
      [['INV-2026-0011:Customer1:2026-12-20'], /INV-2026-0011 is not among the lost numbers/],
      [[first, first], /INV-2026-0012 is given twice/],
      [[first, late], /The contract of signup Late\d is not here\. Let the CRM send its signups again/],
      [
        [first.replace(/-20$/, '-21')],
        /INV-2026-0012 has no invoice in its place: no period of signup Customer\d+ /,
      ],
      [
        [first, first.replace('0012', '0033')],
        /INV-2026-0012 and INV-2026-0033 are both for signup Customer\d+ and 2026-12-20\. Give only/,
      ],
    ];
    for (const [lost, sentence] of cases)
      expectRefused(await cli('billing:resume', '--yes', '--lost', ...lost), sentence);
    await books.bill();
    expect(await numbersOf()).toHaveLength(11);
  });

  it('says what comes next and what stays lost, and issues again the documents in the archive copies', async () => {
    await reportNew();
    await books.bill();
    // One archive copy was not found.
    const given = [...copies].filter(([number]) => number !== 'INV-2026-0020');
    const lost = given.map(([, copy]) => copy);
    const outcomes = await Promise.all(
      [1, 2].map(() => cli('billing:resume', '--yes', '--why', 'restored', '--json', '--lost', ...lost)),
    );
    const said = outcomes.map(({ out }) => JSON.parse(out)).sort((a, b) => Number(b.done) - Number(a.done));
    expect(said).toMatchObject([
      { done: true, intent: 'resume', next: ['INV-2026-0036', 'CN-2026-0009'] },
      { done: false, intent: 'resume' },
    ]);
    expect(said[0].lost).toEqual(['CN-2026-0001 to CN-2026-0008', 'INV-2026-0012 to INV-2026-0035']);
    const replaced = await listReplaced();
    expect([...replaced.keys()].sort()).toEqual(given.map(([number]) => number).sort());
    expect(said[0].replaced).toHaveLength(12);
    for (const { lost, number } of said[0].replaced) expect(replaced.get(lost)).toBe(number);
    const { rows } = await sql<{ copy: string }>`select concat(facts ->> 'replaces', ':',
      facts #>> '{record,signup_id}', ':', facts #>> '{line,first_day}') as copy
      from documents where facts ? 'replaces'`.execute(books.db);
    expect(rows.map(({ copy }) => copy).sort()).toEqual(lost.sort());
    expect((await cli('billing:resume')).out).toBe('Billing was not waiting.\n');
  });

  it('then the rest is issued, too, and each number is explained', async () => {
    await books.bill();
    const numbers = await numbersOf('invoice');
    expect(numbers.at(-1)).toBe('INV-2026-0048');
    const { rows } = await sql<{
      number: string;
    }>`select number from lost_documents where number like 'INV%'`.execute(books.db);
    expect([...numbers, ...rows.map(({ number }) => number)].sort()).toEqual(
      Array.from({ length: 48 }, (_, at) => `INV-2026-${String(at + 1).padStart(4, '0')}`),
    );
    const found: string[][] = [];
    await exportBooks(books.db, { from: '2026-11-01', to: '2026-12-20' }, async (name, records) => {
      if (name === 'documents.csv') found.push(...records.filter(([, kind]) => kind === 'lost'));
    });
    const replaced = await listReplaced();
    const rowOf = (number: string) =>
      `${number},lost,${dayOfSeller()}${','.repeat(12)}${replaced.get(number) ?? ''}${','.repeat(8)}`;
    expect(found.map((record) => record.join(',')).sort()).toEqual(
      [...rows.map(({ number }) => number), ...Array.from({ length: 8 }, (_, at) => `CN-2026-000${at + 1}`)]
        .map(rowOf)
        .sort(),
    );
  });

  it('the mail about an invoice says which lost number it takes the place of', async () => {
    await books.makeFiles();
    const mails = await books.send();
    for (const [lost, number] of await listReplaced()) {
      const about = mails.filter(({ subject }) => subject.startsWith(`Invoice ${number} `));
      expect(about.map(({ to }) => to)).toContain(archive);
      expect(about).toHaveLength(2);
      for (const { text } of about) expect(text).toContain(`It takes the place of invoice ${lost}, `);
    }
    expect(mails.filter(({ text }) => text.includes('takes the place of'))).toHaveLength(24);
    // Contract 7.276.
    const [thanks] = await paidBy('early');
    expect(mails.some(({ subject }) => subject.startsWith(`Payment received for invoice ${thanks} `))).toBe(
      true,
    );
  });

  it('a payment that names the lost number pays the invoice in its place, whenever it came', async () => {
    const replaced = await listReplaced();
    expect(await paidBy('early')).toEqual([replaced.get('INV-2026-0013')]);
    const { code, out } = await cli(
      'payment:record',
      'INV-2026-0015',
      '--amount',
      '34.51',
      '--id',
      'late',
      '--json',
    );
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { unallocated: 0, invoice: { number: replaced.get('INV-2026-0015'), status: 'paid' } },
    ]);
    await work((trx) => recordMoney(trx, { ...money, id: 'none', invoiceNumber: 'INV-2026-0020' }, by()));
    expect(await paidBy('none')).toEqual([]);
    // Neither a credit note nor an invoice issued after it replaces a lost number (contract 7.424).
    const credited = replaced.get('INV-2026-0016') ?? '';
    await renameBuyer(books.db, credited);
    await work((trx) => reissueInvoice(trx, credited, by()));
    expect(await listReplaced()).toEqual(replaced);
    await books.makeFiles();
    await books.send();
  });

  it('a mail that somebody wrote at the moment of the resume leaves, too', async () => {
    await sql`update mails set sent_at = null, next_attempt_at = '9999-01-01 00:00:00Z'
      where key = 'payment_received:pay-INV-2026-0001:INV-2026-0001'`.execute(books.db);
    expect(await books.send()).toEqual([]);
    await books.bill();
    expect((await books.send()).map(({ subject }) => subject)).toEqual([
      expect.stringContaining('INV-2026-0001'),
    ]);
  });
});

it('no payment that comes at the moment of the resume misses its invoice', async () => {
  await books.setClock('2027-01-20T10:00:00.000Z');
  expect((await cli('database:restored', '--last', 'INV-2027-0003')).code).toBe(0);
  const copy = { number: 'INV-2027-0002', signupId: 'Customer1', firstDay: '2027-01-20' };
  const pay = (at: number) =>
    work((trx) =>
      recordMoney(trx, { ...money, id: `race-${at}`, amount: 100, invoiceNumber: copy.number }, by()),
    );
  const resumes = Array.from({ length: 16 }, () =>
    work((trx) => resumeBilling(trx, [copy], { details: { by: 'cli' } })),
  );
  const [outcomes] = await Promise.all([
    Promise.all(resumes),
    Promise.all(Array.from({ length: 16 }, (_, at) => pay(at))),
  ]);
  expect(outcomes.filter((replaced) => replaced !== undefined)).toEqual([
    [{ lost: 'INV-2027-0002', number: 'INV-2027-0004' }],
  ]);
  for (let at = 0; at < 16; at++) expect(await paidBy(`race-${at}`)).toEqual(['INV-2027-0004']);
});
