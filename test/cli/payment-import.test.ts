// payment:import as a process (contract 7.314 to 7.319): dry run, faults, kills, and two at the same time.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { expectRefused, hasTerminals, runCli, runCliAtTerminal } from '../support/app/cli.ts';
import { openBooks } from '../support/billing/books.ts';
import { findFaultsInBooks } from '../support/billing/money.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Commands use the machine's clock, so the test data does, too.
const books = shared(() => openBooks({ at: new Date(Date.now() - 60_000).toISOString() }));
const folder = await sharedFolder();
let number = '';
beforeAll(async () => {
  const { id } = await books.report('crm_1');
  await books.bill();
  number = (await books.documentsOf(id))[0]?.number ?? '';
});

async function write(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, ['\ufeffnumber;amount;currency;date;reference', ...lines, ''].join('\r\n'));
  return path;
}

const run = (...args: string[]) => runCli(books.databaseUrl, ['payment:import', ...args]);
const parse = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function countPayments(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from payments`.execute(
    books.db,
  );
  return rows[0]?.count ?? 0;
}

it('says first what it would do, does it, and does nothing the second time', async () => {
  const file = await write(
    'one.csv',
    `${number.toLowerCase()};30,00;EUR;03.02.2026;first`,
    `${number};30,00;EUR;2026-02-03;Rechnung ${number}`,
    'INV-1999-0001;5,00;EUR;2026-02-03;unknown',
    `${number};1,00;EUR;2026-02-04;`,
  );
  const dry = await run(file, '--dry-run');
  expect([dry.code, dry.err, await countPayments()]).toEqual([0, '', 0]);
  expect(dry.out.split('\n')).toEqual([
    `line 2: 30.00 EUR for ${number.toLowerCase()}: allocated whole`,
    `line 3: 30.00 EUR for ${number}: allocated in part, 25.49 unallocated`,
    'line 4: 5.00 EUR for INV-1999-0001: unallocated',
    `line 5: 1.00 EUR for ${number}: unallocated`,
    '4 payments: 1 would be allocated whole, 1 would be allocated in part, 2 would be unallocated, 0 known already. Nothing was recorded.',
    '',
  ]);
  const done = await run(file, '--json', '--why', 'Statement 7', '--by', 'Bea');
  expect([done.code, done.err]).toEqual([0, '']);
  const lines = parse(done.out);
  expect(lines[1]).toEqual({
    ...{ line: 3, id: expect.stringMatching(/^csv:[0-9a-f]{64}$/), number, currency: 'EUR', amount: 3_000 },
    ...{ outcome: 'part', allocated: 451, unallocated: 2_549, matched: null, proposals: [], alike: [] },
  });
  const counts = { whole: 1, part: 1, unallocated: 2, known: 0, refund: 0, left: 0, out: 0 };
  expect(lines.at(-1)).toEqual({ summary: { dry_run: false, payments: 4, ...counts } });
  const { rows } =
    await sql`select why, details->>'operator' as operator, details->>'by' as by from audit_events
    where type = 'payment.recorded'`.execute(books.db);
  expect(rows).toEqual(Array(4).fill({ why: 'Statement 7', operator: 'Bea', by: 'cli' }));
  // Imports the statement a second time, in the form that a program on a Mac gives it.
  const again = await run(
    await write(
      'again.csv',
      `${number.toLowerCase()};30,00;EUR;03.02.2026;first`,
      `${number};30,00;EUR;2026-02-03;Rechnung\u00a0${number}`,
      'INV-1999-0001;5,00;EUR;2026-02-03;unknown',
      `${number};1,00;EUR;2026-02-04;`,
    ),
  );
  expect(again.out).toContain(
    '4 payments: 0 allocated whole, 0 allocated in part, 0 unallocated, 4 known already.',
  );
  expect(await countPayments()).toBe(4);
});

const notRun = hasTerminals ? '' : ' (NOT RUN: there is no script of util-linux)';
it.skipIf(!hasTerminals)(`asks at a terminal, and says how it would end${notRun}`, async () => {
  const before = await countPayments();
  const file = await write('asked.csv', ';7,00;EUR;2026-02-03;asked');
  const ask = (typed: string) => runCliAtTerminal(books.databaseUrl, ['payment:import', file], typed);
  const refused = await ask('no');
  expect(refused.out).toContain('1 payment: 0 would be allocated whole');
  expect([refused.code === 0, await countPayments()]).toEqual([false, before]);
  expect([(await ask('yes')).code, await countPayments()]).toEqual([0, before + 1]);
});

it('names all that is wrong, and records nothing', async () => {
  const before = await countPayments();
  const file = await write('wrong.csv', `${number};1,00;EUR;2026-02-03;good`, ';1.234,56;EUR;morgen;\u202e');
  for (const args of [[file], [file, '--dry-run'], [file, '--json', '--yes']]) {
    const refused = await run(...args);
    expectRefused(refused, /^Line 3, amount: .*\nLine 3, date: .*\nNothing was/);
    expect(refused.err).not.toContain('\u202e');
  }
  expect((await run(join(folder, 'none.csv'))).code).toBe(1);
  const large = join(folder, 'large.csv');
  await writeFile(large, 'x'.repeat(5 * 1024 * 1024 + 1));
  expectRefused(await run(large), /is larger than 5 MiB/);
  expect(await countPayments()).toBe(before);
});

it('records each payment once, however often it is killed and beside whatever else runs', async () => {
  const lines = Array.from({ length: 160 }, (_, at) => `;${1 + Math.floor(at / 4)},00;EUR;2026-02-05;bulk`);
  const file = await write('bulk.csv', ...lines);
  const before = await countPayments();
  /** Kills the import as soon as it has printed `wanted` lines. */
  const killAfter = (wanted: number) =>
    new Promise<void>((done) => {
      const child = spawn(process.execPath, ['build/service/cli.js', 'payment:import', file], {
        cwd: root,
        env: { PATH: process.env.PATH, DATABASE_URL: books.databaseUrl, NODE_ENV: 'test' },
      });
      let said = 0;
      child.stdout.on('data', (data) => {
        said += String(data).split(': unallocated').length - 1;
        if (said >= wanted) child.kill('SIGKILL');
      });
      child.on('close', () => done());
    });
  await killAfter(20);
  const afterKill = await countPayments();
  expect(afterKill - before).toBeGreaterThanOrEqual(20);
  expect(afterKill - before).toBeLessThan(160);
  const [one, other] = await Promise.all([run(file, '--json'), run(file, '--json'), killAfter(30)]);
  expect([one.code, other.code, one.err, other.err]).toEqual([0, 0, '', '']);
  expect(await countPayments()).toBe(before + 160);
  expect(parse((await run(file, '--json')).out).at(-1).summary).toMatchObject({ known: 160, payments: 160 });
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from audit_events
    where type = 'payment.recorded'`.execute(books.db);
  expect(rows[0]?.count).toBe(before + 160);
  expect(await findFaultsInBooks(books.db)).toEqual([]);
});
