// The built service, on Node and on Deno: a thread of its own makes documents, and a start loads no code that makes them.
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { insertDocument } from '../../db/tables/documents.ts';
import { insertInvoice } from '../../db/tables/invoices.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, type Runtime, startService } from '../support/app/process.ts';
import { samples } from '../support/billing/document-samples.ts';
import {
  buildOtherFont,
  hasPoppler,
  notRun,
  otherFontName,
  readFonts,
  readText,
} from '../support/billing/document-tools.ts';
import { readSealedFacts } from '../support/billing/sealed-facts.ts';
import { setSettings } from '../support/billing/settings.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { addStaff } from '../support/people/staff.ts';
import { readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
beforeAll(() => setSettings(database.db));

/** Puts a document into the queue, as the job of billing does. */
async function issue(number: string, changes: Partial<DocumentFacts> = {}): Promise<void> {
  const facts = { ...samples['an invoice with names from right to left'], ...changes, number };
  const { line, record, net, tax, total, category, rate, currency } = facts;
  const contractId = crypto.randomUUID();
  const [startsAt, endsAt] = [new Date(record.period_starts_at), new Date(record.period_ends_at)];
  await sql`insert into service_contracts
      (id, user_id, account_id, signup_id, plan, status, occurred_at, created_at)
    select ${contractId}, id, account_id, ${number}, 'starter', 'active', now(), now()
    from users where email = 'customer@example.test'`.execute(database.db);
  await inTransaction(database.db, { by: 'service', cause: 'test' }, async (trx) => {
    const invoiceId = await insertInvoice(trx, {
      contractId,
      plan: line.plan,
      periodStartsAt: startsAt,
      periodEndsAt: endsAt,
      currency,
      unitAmount: total,
      issuedAt: new Date(),
      dueAt: new Date(),
      document: { number, pastDueAt: new Date() },
    });
    const { first_day: firstDay, last_day: lastDay } = line;
    const amounts = { currency, net, tax, total, category, rate };
    const days = { issuedOn: facts.issued_on, firstDay, lastDay, issuedAt: new Date() };
    const kind = 'invoice' as const;
    await insertDocument(trx, {
      number,
      kind,
      invoiceId,
      prefix: 'T-',
      settingsVersion: 1,
      ...amounts,
      ...days,
      facts,
    });
  });
}

type Service = Awaited<ReturnType<typeof startService>>;

const start = (runtime: Runtime, env: Record<string, string> = {}) =>
  findFreePort().then((port) => startService(runtime, port, { DATABASE_URL: database.url, ...env }));

async function stop(service: Service): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.exited, service.output()).toBe(0);
}

/** Waits until the files of a document are made. */
const filesOf = (number: string, service: Service) =>
  vi.waitFor(
    async () => {
      const { rows } = await sql<{ pdf: Buffer; xml: Buffer }>`
        select pdf, xml from document_files where number = ${number}`.execute(database.db);
      if (!rows[0]) throw new Error(`${number} is not made: ${service.output()}`);
      return rows[0];
    },
    { timeout: 30_000 },
  );

describe.each<Runtime>(['node', 'deno'])('the service on %s', (runtime) => {
  it('makes the files of documents, and makes more later', async () => {
    const service = await start(runtime);
    for (const number of [`${runtime.toUpperCase()}-1`, `${runtime.toUpperCase()}-2`]) {
      await issue(number);
      const files = await filesOf(number, service);
      expect(String(files.xml)).toContain(`<ram:ID>${number}</ram:ID>`);
      expect(readSealedFacts(files.pdf, readConfig({}).encryptionKeys)).toMatchObject({ number });
    }
    await stop(service);
  });
});

// Contract 7.498.
describe.each<Runtime>(['node', 'deno'])('a sample on %s', (runtime) => {
  it('is made by a thread, one at a time', async () => {
    const port = await findFreePort();
    const service = await startService(runtime, port, { DATABASE_URL: database.url });
    const { cookie } = await addStaff({ db: database.db, config: readConfig({}) });
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/admin/billing/settings/sample.pdf`, { headers: { cookie } });
    // On a busy machine, the first thread may take longer than a request may.
    await vi.waitFor(async () => {
      const answers = await Promise.all(Array.from({ length: 16 }, ask));
      const statuses = answers.map(({ status }) => status);
      expect([...new Set(statuses)].sort()).toEqual([200, 503]);
      for (const { status, headers } of answers)
        expect(headers.get('retry-after')).toBe(status === 503 ? '1' : null);
    }, 60_000);
    const again = await ask();
    expect(
      Buffer.from(await again.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    await stop(service);
  });
});

// The process stays alive, and makes other documents before and after this one (contract 7.219).
it('a document that needs more memory than its thread has fails as that one, and is tried again', {
  timeout: 200_000,
}, async () => {
  const service = await start('node');
  const { pid } = service.child;
  // The PDF library lays out each letter by itself, so this text takes much memory.
  await issue('MEMORY-1', { words: 'ü'.repeat(200_000) });
  const readQueue = async (number: string) =>
    (
      await sql<{ error: string | null; waits: boolean }>`
        select last_error as error, next_try_at > now() as waits from documents_to_make
        where number = ${number}`.execute(database.db)
    ).rows[0];
  await expect
    .poll(() => readQueue('MEMORY-1'), { timeout: 120_000 })
    .toMatchObject({ error: expect.stringMatching(/memory limit/), waits: true });
  await issue('MEMORY-2');
  await filesOf('MEMORY-2', service);
  // The service does not begin a document that would end the whole process instead of only the thread.
  await issue('MEMORY-3', { words: 'ü'.repeat(1_000_000) });
  await expect
    .poll(() => readQueue('MEMORY-3'), { timeout: 50_000 })
    .toMatchObject({ error: 'The facts of this document take over 1 MB.', waits: true });
  expect(service.child.pid).toBe(pid);
  expect(service.child.exitCode).toBeNull();
  await sql`delete from documents_to_make`.execute(database.db);
  await stop(service);
});

// Contract 7.490.
describe.skipIf(!hasPoppler)(`${notRun(hasPoppler, 'poppler-utils')}BILLING_FONT_FILES`, () => {
  it.each<Runtime>(['node', 'deno'])('shows on %s what the built-in font cannot', async (runtime) => {
    const number = `FONT-${runtime.toUpperCase()}`;
    const { buyer } = samples['an invoice with tax'];
    const folder = await makeFolder();
    const font = join(folder, 'other.ttf');
    await writeFile(font, buildOtherFont());
    const after = await start(runtime, { BILLING_FONT_FILES: font });
    await issue(number, { ...samples['an invoice with tax'], buyer: { ...buyer, name: '花 Ltd' } });
    const { pdf } = await filesOf(number, after);
    const [used, ...more] = readFonts(pdf);
    expect(more).toEqual([]);
    expect(used?.[0]).toContain(`+${otherFontName}`);
    expect(used?.slice(-5, -2)).toEqual(['yes', 'yes', 'yes']);
    expect(readText(pdf)).toContain('花 Ltd');
    await stop(after);
    await rm(folder, { recursive: true });
  });
});

/** Lists the built files that a start loads: `file`, and everything that it imports before it does anything. */
function listLoaded(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const text = readOurFile(`build/service/${file}`);
  for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'"\n]*["']\.\/([^'"]+)["'];?$/gm))
    listLoaded(name, loaded);
  return loaded;
}

it('a start loads nothing of what makes documents', () => {
  const loaded = [...listLoaded('main.js')];
  const isMaking = (file: string) =>
    readFileSync(`build/service/${file}`, 'utf8').includes('class PDFDocument');
  expect(loaded.length).toBeGreaterThan(3);
  expect(loaded.filter(isMaking)).toEqual([]);
  expect([...listLoaded('document-thread.js')].filter(isMaking)).toHaveLength(1);
});
