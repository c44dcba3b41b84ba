// A backup of an hour ago is put back, after documents were sent (contract 7.340 to 7.362): nobody gets a number a second time, what
// was sent is put back from its PDFs, and each number is explained.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { openDocumentMaker } from '../../server/billing/documents/document-maker.ts';
import { makeDueDocuments } from '../../server/billing/documents/make-due.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { type Bookkeeper, payOpen, recordMoney } from '../../server/billing/payments/ledger.ts';
import { exportBooks } from '../../server/billing/upkeep/export.ts';
import { recoverDocument } from '../../server/billing/upkeep/recover.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { writeCsv } from '../../server/runtime/csv.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { type Books, openBooks } from '../support/billing/books.ts';
import { backUpDatabase, makeFolder } from '../support/database/postgres.ts';

const before = '2026-11-20T10:00:00.000Z';
const after = '2026-12-20T10:00:00.000Z';

let books: Books;
let folder: string;
/** What was sent in the time that is lost, by number. */
let sent: Map<string, Kept>;
let texts: Record<string, string>;
let mails: string[];

type Kept = { pdf: Buffer; xml: Buffer | null; facts: DocumentFacts };

const by = (): Bookkeeper => ({ now: books.now(), recordedBy: 'payments' });
const work = <T>(does: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(books.db, { by: 'service', cause: 'test' }, does);
const cli = (...args: string[]) => runCli(books.databaseUrl, args);
const fileOf = (number: string) => join(folder, `${number}.pdf`);

/** Billing mails that a version without the rule would send. */
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

async function readKept(): Promise<Map<string, Kept>> {
  const { rows } = await sql<Kept & { number: string }>`
    select d.number, d.facts, f.pdf, f.xml from documents d join document_files f on f.number = d.number`.execute(
    books.db,
  );
  return new Map(rows.map(({ number, ...kept }) => [number, kept]));
}

async function makeFiles(): Promise<void> {
  await sql`update documents_to_make set next_try_at = billing_now()`.execute(books.db);
  const maker = openDocumentMaker(books.deps.config.billingFont);
  await makeDueDocuments({ ...books.deps, maker });
}

async function exportAll(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await exportBooks(books.db, { from: '2026-11-01', to: '2026-12-20' }, async (name, records) => {
    found[name] = (found[name] ?? '') + writeCsv(records);
  });
  return found;
}

const payTwo = async () => {
  for (const number of ['INV-2026-0001', 'INV-2026-0008'])
    await work((trx) => payOpen(trx, { number, id: `pay-${number}`, paidAt: books.now() }, by()));
};

/** The contracts that the CRM reported in the time that is lost. */
const reportNew = async () => {
  for (const name of ['Late1', 'Late2', 'Late3', 'Late4'])
    await books.report(name, {}, { email: `${name}@late.example.test`.toLowerCase() });
};

/** A version of the settings that documents of the lost time name; in the end, one that came after them. */
const setSettingsAgain = () =>
  sql`insert into billing_settings (version, settings, counts_from, made_by, why, made_at)
    select 2, settings, '-infinity', 'test', 'for a test', ${after}::timestamptz + interval '1 hour'
    from billing_settings where version = 1`.execute(books.db);

beforeAll(async () => {
  folder = await makeFolder();
  books = await openBooks({ at: before });
  for (let at = 1; at <= 11; at++) await books.report(`Customer${at}`);
  await books.bill();
  await work((trx) =>
    payOpen(trx, { number: 'INV-2026-0002', id: 'pay-INV-2026-0002', paidAt: books.now() }, by()),
  );
  await makeFiles();
  const known = await numbersOf();
  expect(known).toHaveLength(11);
  const backup = await backUpDatabase(books.databaseUrl);

  // Frees what was paid before the backup, on a day of its own.
  await books.setClock('2026-12-18T10:00:00.000Z');
  await work((trx) => creditInvoice(trx, 'INV-2026-0002', 500, by()));
  await work((trx) => creditInvoice(trx, 'INV-2026-0002', 700, by()));
  await setSettingsAgain();
  await books.setClock(after);
  await books.bill();
  await reportNew();
  await books.bill();
  expect(await numbersOf('invoice')).toHaveLength(26);
  await work((trx) => creditInvoice(trx, 'INV-2026-0014', undefined, by()));
  for (const number of ['INV-2026-0003', 'INV-2026-0015', 'INV-2026-0024', 'INV-2026-0025', 'INV-2026-0026'])
    await work((trx) => reissueInvoice(trx, number, by()));
  await payTwo();
  await makeFiles();
  mails = (await books.send()).map(({ subject }) => subject);
  texts = await exportAll();
  sent = new Map([...(await readKept())].filter(([number]) => !known.includes(number)));
  expect(sent.size).toBe(28);
  for (const [number, { pdf }] of sent) await writeFile(fileOf(number), pdf);

  await backup.restore();
  await books.setClock(after);
}, 120_000);
afterAll(async () => {
  await books.close();
  await rm(folder, { recursive: true });
});

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
    // Contract 11.104.
    expect(out).toMatch(/\nCN-2026-0002 changed nothing, because CN-2026-0008 has been given: .*\n$/);
  });

  it('says of which series no number was given (contract 11.104)', async () => {
    const credits = 'No --last was given for the numbers that go on with CN-2026-0009: ';
    const { out } = await cli('database:restored', '--last', 'INV-2026-0035');
    expect(out).toContain(`\n${credits}`);
    expect(out.match(/No --last|changed nothing/g)).toHaveLength(1);
    const none = await cli('database:restored');
    expect(none.out).toContain(`\nNo --last was given for the numbers that go on with INV-2026-0036: `);
    expect(none.out).toContain(`\n${credits}`);
  });

  it('takes a number of years ago that is here, as a file beside a backup has it', async () => {
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
  it('nothing is issued, by whatever way, no contract is past due, and no mail leaves', async () => {
    expect(await countDueMails()).toBe(0);
    const { logged } = books;
    const before = logged.length;
    await sql`update invoices set reminded = 0`.execute(books.db);
    await books.bill();
    expect(await numbersOf()).toHaveLength(11);
    // It is not tried in vain either.
    expect(logged.slice(before)).toEqual([]);
    expect(await books.send()).toEqual([]);
    const { rows } = await sql`select from service_contracts where status <> 'active'`.execute(books.db);
    expect(rows).toEqual([]);
    for (const table of ['documents', 'invoices'])
      await expect(
        sql`insert into ${sql.table(table)} select * from ${sql.table(table)} limit 1`.execute(books.db),
      ).rejects.toThrow('billing waits since the database was restored');
    await expect(sql`update service_contracts set status = 'past_due'`.execute(books.db)).rejects.toThrow(
      'billing waits since the database was restored',
    );
  });

  it('no invoice is credited or issued anew', async () => {
    const paused = { code: 'billing_paused', status: 409 };
    await expect(work((trx) => creditInvoice(trx, 'INV-2026-0004', 100, by()))).rejects.toMatchObject(paused);
    await expect(work((trx) => reissueInvoice(trx, 'INV-2026-0004', by()))).rejects.toMatchObject(paused);
    expectRefused(await cli('invoice:void', 'INV-2026-0004'), /^Nothing changed: .*billing:resume\.\n$/);
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
    // One that somebody wrote at the moment of the restore, and that no trigger holds.
    await sql`alter table mails disable trigger mails_hold_billing`.execute(books.db);
    await sql`update mails set next_attempt_at = ${books.now()} where sent_at is null`.execute(books.db);
    await sql`alter table mails enable trigger mails_hold_billing`.execute(books.db);
    expect(await books.send()).toEqual([]);
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

describe('invoice:recover', () => {
  it('takes no file that is not ours, or that says something else than its seal', async () => {
    const number = 'INV-2026-0012';
    const { pdf, facts } = sent.get(number) as Kept;
    const write = async (name: string, bytes: Uint8Array | string) => {
      await writeFile(join(folder, name), bytes);
      return join(folder, name);
    };
    const files = [
      join(folder, 'not there.pdf'),
      folder,
      await write('empty.pdf', ''),
      await write('not ours.pdf', pdf.subarray(0, 300)),
      await write(
        'named.pdf',
        `/EF <<\n/F 1 0 R\n>>\n/UF (identity-facts.json)\n1 0 obj\n/Length 10\nstream\n${'x'.repeat(99)}`,
      ),
      await write(
        'forged.pdf',
        await forge(
          pdf,
          JSON.stringify({ facts: { ...facts, total: 1 }, seal: { version: 1, hmac: 'a'.repeat(64) } }),
        ),
      ),
      await write('bomb.pdf', await forge(pdf, ' '.repeat(30_000_000))),
      await write('large.pdf', new Uint8Array(20 * 1_024 * 1_024 + 1)),
    ];
    const { code, out } = await cli('invoice:recover', '--json', ...files);
    expect(code).toBe(1);
    const said = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(said.map(({ done }) => done)).toEqual(files.map(() => false));
    expect(said.map(({ file }) => file)).toEqual(files);
    expect(
      said.map(({ refused }) =>
        /Cannot read the file|larger than 20 MiB|no document of this service/.test(refused),
      ),
    ).not.toContain(false);
    expect(await numbersOf()).toHaveLength(11);
  });

  it('does not keep pages that were changed beside the sealed facts', async () => {
    const number = 'INV-2026-0013';
    const { pdf } = sent.get(number) as Kept;
    // An object of the same number that comes later is the one that a reader shows.
    const changed = Buffer.concat([pdf, Buffer.from('\n8 0 obj\n<<\n/Type /Page\n>>\nendobj\n')]);
    await writeFile(join(folder, 'changed.pdf'), changed);
    const { code, out } = await cli('invoice:recover', join(folder, 'changed.pdf'));
    expect(code).toBe(0);
    expect(out).toMatch(/^INV-2026-0013, .*changed\.pdf: Recovered\. .* its file is made anew/);
    expect((await readKept()).has(number)).toBe(false);
    const { rows } = await sql`select from documents_to_make where number = ${number}`.execute(books.db);
    expect(rows).toHaveLength(1);
    // The right file is still welcome.
    expect((await cli('invoice:recover', fileOf(number))).out).toContain('It was here already.');
    expect((await readKept()).get(number)?.pdf).toEqual(pdf);
  });

  it('waits for a contract that the CRM has to send again', async () => {
    const { code, out } = await cli('invoice:recover', fileOf('INV-2026-0023'));
    expect(code).toBe(1);
    expect(out).toMatch(/^INV-2026-0023, .*Its contract \(of signup Late1\) is not here\. Let the CRM send/);
    await reportNew();
  });

  it('recovers a document once, of 16 at once', async () => {
    const { pdf, xml, facts } = sent.get('INV-2026-0012') as Kept;
    const files = { pdf, xml: xml?.toString() };
    const trail = { details: { by: 'cli' } } as const;
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, () =>
        work((trx) => recoverDocument(trx, { facts, files }, { now: books.now(), trail })),
      ),
    );
    expect(outcomes.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it('refuses, and names, a document of which there is another one, and a number that is not lost', async () => {
    const { facts } = sent.get('INV-2026-0012') as Kept;
    const trail = { details: { by: 'cli' } } as const;
    const recover = (changes: Partial<DocumentFacts>) =>
      work((trx) =>
        recoverDocument(
          trx,
          { facts: { ...facts, ...changes }, files: undefined },
          { now: books.now(), trail },
        ),
      );
    await expect(recover({ words: 'other' })).rejects.toThrow('Another document has this number here.');
    const elsewhere = {
      ...facts.record,
      period_starts_at: '2030-01-01T00:00:00Z',
      period_ends_at: '2030-02-01T00:00:00Z',
    };
    await expect(recover({ number: 'INV-2026-0000' })).rejects.toThrow(
      'This version does not know such a document.',
    );
    await expect(recover({ number: 'INV-2026-0016' })).rejects.toThrow(
      'Invoice INV-2026-0012 is for the same time.',
    );
    const { facts: credit } = sent.get('CN-2026-0001') as Kept;
    await expect(recover({ ...credit, total: 1_000_000 })).rejects.toThrow(
      'More than that is credited of its invoice INV-2026-0002 already.',
    );
    await expect(recover({ number: 'INV-2026-90000', record: elsewhere })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  it('puts back byte for byte all that it gets, in whatever order, and all but what it does not get', async () => {
    const given = [...sent.keys()]
      .filter((number) => number !== 'INV-2026-0020')
      .sort()
      .reverse();
    await setSettingsAgain();
    // A day after the restore: what the credit notes freed was free in the time that is lost.
    await books.setClock('2026-12-21T10:00:00.000Z');
    const { code, out } = await cli('invoice:recover', '--why', 'restored', ...given.map(fileOf));
    await books.setClock(after);
    expect({ code, refused: out.match(/^.*Not recovered.*$/gm) }).toEqual({ code: 0, refused: null });
    expect(out.match(/: Recovered\.$/gm)).toHaveLength(26 - 1);
    expect(out.match(/: It was here already\.$/gm)).toHaveLength(2);
    const kept = await readKept();
    for (const number of given) {
      const { pdf, xml, facts } = kept.get(number) as Kept;
      const {
        contract_id: _c,
        account_id: _a,
        ...record
      } = sent.get(number)?.facts.record ?? ({} as DocumentFacts['record']);
      expect({ pdf, xml, facts }, number).toEqual({
        ...sent.get(number),
        facts: { ...sent.get(number)?.facts, record: expect.objectContaining(record) },
      });
    }
    // The settings that they name are lost, or came later.
    expect(sent.get('INV-2026-0031')?.facts.record.settings_version).toBe(2);
    const { rows } = await sql`select distinct settings_version from documents`.execute(books.db);
    expect(rows).toEqual([{ settings_version: 1 }]);
    const again = await cli('invoice:recover', ...given.map(fileOf));
    expect(again.out.match(/It was here already\./g)).toHaveLength(given.length);
    expect(again.code).toBe(0);
  });

  it('leaves books in which only the lost documents differ from those of before', async () => {
    await work((trx) =>
      payOpen(trx, { number: 'INV-2026-0008', id: 'pay-INV-2026-0008', paidAt: books.now() }, by()),
    );
    const found = await exportAll();
    const lost = (number: string) =>
      `${number},lost,${new Date().toISOString().slice(0, 10)}${','.repeat(15)}`;
    const lines = (text = '') => text.split('\r\n');
    const isOf20 = (line: string) => line.startsWith('INV-2026-0020,');
    for (const name of Object.keys(texts)) {
      const [then, now] = [lines(texts[name]), lines(found[name])];
      expect(
        now.filter((line) => !line.includes(',lost,')),
        name,
      ).toEqual(then.filter((line) => !isOf20(line)));
      expect(then.filter(isOf20)).toHaveLength(name === 'money.csv' || name === 'allocations.csv' ? 0 : 1);
      if (name === 'documents.csv')
        expect(now.filter((line) => line.includes(',lost,'))).toEqual(
          ['INV-2026-0020', 'INV-2026-0032', 'INV-2026-0033', 'INV-2026-0034', 'INV-2026-0035'].map(lost),
        );
    }
  });
});

describe('billing:resume', () => {
  it('asks, and says what comes next and what stays lost', async () => {
    expectMisused(await cli('billing:resume'), /Nobody can be asked here: give --yes/);
    await books.bill();
    expect(await numbersOf()).not.toContain('INV-2026-0036');
    const outcomes = await Promise.all(
      [1, 2].map(() => cli('billing:resume', '--yes', '--why', 'recovered', '--json')),
    );
    const said = outcomes.map(({ out }) => JSON.parse(out)).sort((a, b) => Number(b.done) - Number(a.done));
    expect(said).toMatchObject([
      { done: true, intent: 'resume' },
      { done: false, intent: 'resume' },
    ]);
    expect(said[0]).toMatchObject({
      next: ['INV-2026-0036', 'CN-2026-0009'],
      lost: ['INV-2026-0020', 'INV-2026-0032 to INV-2026-0035'],
    });
    expect((await cli('billing:resume')).out).toBe('Billing was not waiting.\n');
  });

  it('then what was not recovered is issued anew, and nothing else, and no mail goes out twice', async () => {
    await books.bill();
    const numbers = await numbersOf('invoice');
    expect(numbers.at(-1)).toBe('INV-2026-0036');
    const { rows } = await sql<{
      number: string;
    }>`select number from lost_documents where recovered_at is null`.execute(books.db);
    const explained = [...numbers, ...rows.map(({ number }) => number)].sort();
    expect(explained).toEqual(
      Array.from({ length: 36 }, (_, at) => `INV-2026-${String(at + 1).padStart(4, '0')}`),
    );
    await makeFiles();
    const subjects = (await books.send()).map(({ subject }) => subject);
    expect(subjects.some((subject) => subject.includes('INV-2026-0036'))).toBe(true);
    for (const number of sent.keys())
      expect(
        subjects.filter((subject) => subject.includes(number) && /^(Invoice|Credit note) /.test(subject)),
      ).toEqual([]);
    expect(mails.length).toBeGreaterThan(28);
    expect(await work((trx) => creditInvoice(trx, 'INV-2026-0004', 100, by()))).toBe('CN-2026-0009');
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

  it('a file that turns up later is of a number that is lost, and of a time that has another invoice', async () => {
    const { out } = await cli('invoice:recover', fileOf('INV-2026-0020'));
    expect(out).toContain(
      'Invoice INV-2026-0036 is for the same time. Recover its credit note first, or void it.',
    );
    await work((trx) => creditInvoice(trx, 'INV-2026-0036', undefined, by()));
    expect((await cli('invoice:recover', fileOf('INV-2026-0020'))).code).toBe(0);
    expect((await readKept()).get('INV-2026-0020')?.pdf).toEqual(sent.get('INV-2026-0020')?.pdf);
    // A number that is not given yet may be given any moment.
    const { facts } = sent.get('INV-2026-0020') as Kept;
    const record = {
      ...facts.record,
      period_starts_at: '2030-01-01T00:00:00Z',
      period_ends_at: '2030-02-01T00:00:00Z',
    };
    const above = { facts: { ...facts, number: 'INV-2026-0040', record }, files: undefined };
    await expect(
      work((trx) => recoverDocument(trx, above, { now: books.now(), trail: { details: { by: 'cli' } } })),
    ).rejects.toThrow('may be given again any moment');
  });
});

it('an earlier period without an invoice waits, until its invoice is put back', async () => {
  const { facts } = sent.get('INV-2026-0012') as Kept;
  const trail = { details: { by: 'cli' } } as const;
  const recover = (number: string, month: number) => {
    const [starts, ends] = [month, month + 1].map((at) =>
      facts.record.period_starts_at.replace('2026-12', `2027-0${at}`),
    ) as [string, string];
    const record = { ...facts.record, period_starts_at: starts, period_ends_at: ends };
    const changed = { facts: { ...facts, number, record }, files: undefined };
    return work((trx) => recoverDocument(trx, changed, { now: books.now(), trail }));
  };
  const listWaiting = async () =>
    (
      await sql<{
        month: string;
      }>`select to_char(starts_at at time zone 'UTC', 'YYYY-MM') as month from waiting_periods
        where contract_id = ${facts.record.contract_id} order by 1`.execute(books.db)
    ).rows.map(({ month }) => month);
  await recover('INV-2026-0032', 2);
  expect(await listWaiting()).toEqual(['2027-01']);
  await recover('INV-2026-0033', 1);
  expect(await listWaiting()).toEqual([]);
});

/** The same PDF with another attachment. */
async function forge(pdf: Buffer, attachment: string): Promise<Buffer> {
  const text = pdf.toString('latin1');
  const [, ref] = /\/EF <<\s*\/F (\d+) 0 R\s*>>\s*\/UF \(identity-facts\.json\)/.exec(text) ?? [];
  const start = text.indexOf(`\n${ref} 0 obj\n`);
  const from = text.indexOf('stream\n', start) + 'stream\n'.length;
  const [line = '', length] = /\/Length (\d+)/.exec(text.slice(start, from)) ?? [];
  const packed = new Response(new Blob([attachment]).stream().pipeThrough(new CompressionStream('deflate')));
  const bytes = Buffer.from(await packed.arrayBuffer());
  const head = text.slice(0, start) + text.slice(start, from).replace(line, `/Length ${bytes.length}`);
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes, pdf.subarray(from + Number(length))]);
}
