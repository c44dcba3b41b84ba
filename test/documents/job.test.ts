import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { daysAfter } from '../../server/basics/instant.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { lookOf, openDocumentMaker } from '../../server/billing/documents/document-maker.ts';
import { makeDueDocuments } from '../../server/billing/documents/make-due.ts';
import { summariseBilling } from '../../server/billing/invoices/summary.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { recordLog } from '../support/app/log.ts';
import { samples } from '../support/billing/document-samples.ts';
import { copyDocuments } from '../support/billing/money.ts';
import { readSealedFacts } from '../support/billing/sealed-facts.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { openBilling } from '../support/crm/billing.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const stranger = 'merchant@example.test';

let contractId: string;
let number: string;
let creditNumber: string;
const billing = shared(() => openBilling({ settings: null }));
beforeAll(async () => {
  const { db } = billing.app;
  await setSettings(db);
  contractId = await billing.report('files');
  await sql`insert into billing_details (account_id, company, line1, postcode, city, country)
    select account_id, 'Flowers Ltd', 'Rue 1', '75001', 'Paris', 'FR' from service_contracts where id = ${contractId}`.execute(
    db,
  );
  await billing.bill();
  number = (await billing.invoicesOf(contractId))[0]?.number ?? '';
  await billing.settle(number, 'void');
  const { rows } = await sql<{
    number: string;
  }>`select number from documents where kind = 'credit_note'`.execute(db);
  creditNumber = rows[0]?.number ?? '';
});

function openJob(db = billing.app.db) {
  const { log, logged } = recordLog();
  const { config } = billing.app;
  const maker = openDocumentMaker(lookOf(config));
  return { run: () => makeDueDocuments({ db, log, config, maker }), logged };
}

const rowOf = async (table: 'document_files' | 'documents_to_make', of: string) =>
  (
    await sql<Record<string, unknown>>`select * from ${sql.table(table)} where number = ${of}`.execute(
      billing.app.db,
    )
  ).rows[0];

/** Waits until the service has made the files of a document. */
const filesOf = (of: string) =>
  vi.waitFor(
    async () => {
      const files = await rowOf('document_files', of);
      if (!files) throw new Error(`${of} is not made`);
      return files;
    },
    { timeout: 15_000 },
  );

/** Adds a document like the invoice, with a number of its own and `changes`. It is queued unless `isQueued` is false. */
async function addDocument(of: string, changes: Partial<DocumentFacts>, isQueued = true): Promise<void> {
  await copyDocuments(
    billing.app.db,
    sql`jsonb_build_object('number', ${of}::text, 'kind', 'credit_note', 'facts', d.facts || ${JSON.stringify(changes)}::jsonb ||
      jsonb_build_object('number', ${of}::text, 'record', d.facts -> 'record'))`,
    sql`where number = ${number}`,
  );
  if (isQueued)
    await sql`insert into documents_to_make (number, next_try_at) values (${of}, billing_now())`.execute(
      billing.app.db,
    );
}

const sha256 = (bytes: unknown) =>
  createHash('sha256')
    .update(bytes as Buffer)
    .digest();

async function get(path: string, cookie?: string, accept = '*/*') {
  const { app } = billing;
  const headers = { ...(cookie && { cookie }), accept };
  const answer = await app.fetch(new Request(app.config.baseUrl + path, { headers }), {
    address: '192.0.2.1',
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes };
}

describe('the files of a document', () => {
  it('are made by the service after it is issued, with their SHA-256, and the queue is empty then', async () => {
    for (const each of [number, creditNumber]) {
      const files = await filesOf(each);
      expect(files.pdf_sha256).toEqual(sha256(files.pdf));
      expect(files.xml_sha256).toEqual(sha256(files.xml));
      expect(String(files.xml)).toContain(`<ram:ID>${each}</ram:ID>`);
      expect(readSealedFacts(files.pdf as Uint8Array, billing.app.config.encryptionKeys)).toMatchObject({
        number: each,
      });
      await expect.poll(() => rowOf('documents_to_make', each)).toBeUndefined();
    }
  });

  // Contract 7.54.
  it('are made of a credit note that version 0.5.0 dated before its invoice', async () => {
    const invoice = { number, issued_on: '2027-03-01' };
    await addDocument('EARLY-1', { kind: 'credit_note', issued_on: '2027-02-28', due_on: null, invoice });
    const { pdf, xml } = await filesOf('EARLY-1');
    expect(readSealedFacts(pdf as Uint8Array, billing.app.config.encryptionKeys)).toMatchObject({
      ...{ issued_on: '2027-02-28', invoice },
    });
    expect(String(xml)).toContain('20270228');
  });

  it('are made once by 16 at once', async () => {
    const numbers = Array.from({ length: 4 }, (_, at) => `ONCE-${at}`);
    for (const each of numbers) await addDocument(each, {});
    const others = Array.from({ length: 16 }, () => connect(billing.app.databaseUrl, { poolSize: 2 }));
    const jobs = others.map(({ db }) => openJob(db));
    await Promise.all(jobs.map(({ run }) => run()));
    for (const each of numbers) expect(await filesOf(each)).toBeTruthy();
    expect(jobs.flatMap(({ logged }) => logged)).toEqual([]);
    await Promise.all(others.map(({ close }) => close()));
  });

  it('stay as they were first made, even if somebody makes them again (contract 7.218)', async () => {
    const before = await filesOf(number);
    await sql`insert into documents_to_make (number, next_try_at) values (${number}, billing_now())`.execute(
      billing.app.db,
    );
    await openJob().run();
    await expect.poll(() => rowOf('documents_to_make', number)).toBeUndefined();
    expect(await rowOf('document_files', number)).toEqual(before);
  });

  const { vat_id, tax_number, ...withoutTaxIds } = germanSettings.seller;
  const otherNumber = { tax_number: '99/999/99999' };
  it.each<{ of: string; buyer: string; left: object; category: string; named: object }>([
    { of: 'has a tax number left', buyer: owner, left: otherNumber, category: 'S', named: otherNumber },
    { of: 'has none left', buyer: owner, left: {}, category: 'S', named: { vat_id, tax_number } },
    {
      of: 'has no VAT id for reverse charge',
      buyer: stranger,
      left: otherNumber,
      category: 'AE',
      named: { vat_id, tax_number },
    },
  ])('are made of a credit note whose seller $of', async ({ of, buyer, left, category, named }) => {
    const { db } = billing.app;
    const id = await billing.report(of.replaceAll(' ', '_'), {}, { email: buyer });
    const checked = buyer === stranger ? 'FR40303265045' : null;
    await sql`insert into billing_details (account_id, line1, postcode, city, country, vat_id, checked_vat_id)
      select account_id, 'Rue 1', '75001', 'Paris', 'FR', ${checked}::text, ${checked}::text
      from service_contracts where id = ${id} on conflict do nothing`.execute(db);
    await billing.bill();
    const invoice = (await billing.invoicesOf(id))[0]?.number ?? '';
    const exempt = { country: '*', rate: 0, category: 'E' as const, words: 'Small', from: '2020-01-01' };
    await setSettings(db, {
      ...germanSettings,
      seller: { ...withoutTaxIds, name: 'Small Flowers', ...left },
      tax: { ...germanSettings.tax, rules: [exempt, { ...exempt, country: 'DE' }] },
    });
    await billing.settle(invoice, 'void');
    await setSettings(db);
    const { rows } = await sql<{ facts: DocumentFacts }>`select facts from documents
      where kind = 'credit_note' and facts #>> '{invoice,number}' = ${invoice}`.execute(db);
    const { seller, ...facts } = (rows[0] as { facts: DocumentFacts }).facts;
    expect(facts.category).toBe(category);
    expect(seller).toEqual({ ...withoutTaxIds, name: 'Small Flowers', ...named });
    expect(await filesOf(facts.number)).toMatchObject({ xml: expect.anything() });
  });

  it('are never changed (contract 7.218)', async () => {
    await filesOf(number);
    for (const change of [sql`update document_files set pdf = '\\x00'`, sql`delete from document_files`])
      await expect(change.execute(billing.app.db)).rejects.toThrow('document_files keeps what was recorded');
  });

  // Contract 7.491 to 7.493.
  it('are made with □ for a letter that no font has; staff see which, and the XML has it', async () => {
    const seller = { ...germanSettings.seller, name: 'Blumen 花🌸花屋 GmbH' };
    await addDocument('BOX-1', { seller });
    const { unprinted, xml } = await filesOf('BOX-1');
    expect(unprinted).toBe('花屋');
    expect(String(xml)).toContain('<ram:Name>Blumen 花🌸花屋 GmbH</ram:Name>');
    expect((await filesOf(number)).unprinted).toBeNull();
    const { unprinted: listed } = await summariseBilling({ db: billing.app.db, now: () => new Date() });
    expect(listed).toContainEqual({ number: 'BOX-1', letters: '花屋' });
    expect(listed.map((each) => each.number)).not.toContain(number);
    const later = () => daysAfter(new Date(), 31);
    expect((await summariseBilling({ db: billing.app.db, now: later })).unprinted).toEqual([]);
  });

  it('are not made where sums do not fit; that is kept, logged and tried again', async () => {
    const [of, error] = ['FAIL-SUM', 'FAIL-SUM: net and tax do not make the total'];
    await addDocument(of, { total: 1 });
    await openJob().run();
    await expect.poll(async () => (await rowOf('documents_to_make', of))?.last_error).toContain(error);
    expect(await rowOf('document_files', of)).toBeUndefined();
    const pause = await sql<{ seconds: number; tries: number }>`
      select tries, extract(epoch from next_try_at - now())::int as seconds
      from documents_to_make where number = ${of}`.execute(billing.app.db);
    expect(pause.rows[0]?.tries).toBe(1);
    expect(pause.rows[0]?.seconds).toBeGreaterThan(20);
    expect(pause.rows[0]?.seconds).toBeLessThanOrEqual(30);

    // Each pause is twice as long as the one before, up to six hours.
    for (const [tries, seconds] of [
      [1, 60],
      [20, 21_600],
    ]) {
      await sql`update documents_to_make set tries = ${tries}, next_try_at = now() where number = ${of}`.execute(
        billing.app.db,
      );
      const job = openJob();
      await job.run();
      await expect
        .poll(async () => {
          const { rows } = await sql<{
            seconds: number;
          }>`select extract(epoch from next_try_at - now())::int as seconds
            from documents_to_make where number = ${of} and tries = ${Number(tries) + 1} `.execute(
            billing.app.db,
          );
          return Math.abs((rows[0]?.seconds ?? 0) - Number(seconds)) < 10;
        })
        .toBe(true);
    }
    await sql`delete from documents_to_make where number = ${of}`.execute(billing.app.db);
  });
});

it('a buyer whose name and address are from before noncharacters were refused gets both files, also of a credit note', async () => {
  const { db } = billing.app;
  const email = 'before@example.test';
  const id = await billing.report('before', {}, { email });
  await sql`update accounts set name = ${'\uffffFlowers\ufdd0'} where id = (
    select account_id from users where email = ${email})`.execute(db);
  await sql`insert into billing_details (account_id, line1, postcode, city, country)
    select account_id, 'Rue 1', '75001', 'Paris', 'FR' from users where email = ${email}`.execute(db);
  await sql`update users set email = ${'be\ufffefore@example.test'} where email = ${email}`.execute(db);
  await billing.bill();
  await billing.settle((await billing.invoicesOf(id))[0]?.number ?? '', 'void');
  const { rows } = await sql<{ number: string; buyer: unknown }>`select d.number, d.facts -> 'buyer' as buyer
    from documents d join invoices i on i.number = d.invoice where i.contract_id = ${id}`.execute(db);
  expect(rows).toHaveLength(2);
  for (const each of rows) {
    expect(each.buyer).toMatchObject({ name: 'Flowers', email: null });
    expect((await filesOf(each.number)).xml).toBeTruthy();
  }
});

it('a document that fails holds up no other one', async () => {
  await addDocument('HELDUP-1', { total: 1 });
  await addDocument('HELDUP-2', {});
  await openJob().run();
  expect(await filesOf('HELDUP-2')).toBeTruthy();
  expect(await rowOf('document_files', 'HELDUP-1')).toBeUndefined();
  await sql`delete from documents_to_make where number = 'HELDUP-1'`.execute(billing.app.db);
});

describe('the address of a file (contract 7.222 to 7.225)', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await billing.app.login(owner);
    await Promise.all([filesOf(number), filesOf(creditNumber)]);
  });

  it.each([
    ['pdf', 'application/pdf'],
    ['xml', 'application/xml'],
  ] as const)('gives people the bytes of their %s, also of a credit note', async (kind, type) => {
    for (const each of [number, creditNumber]) {
      const answer = await get(`/invoices/${each}.${kind}`, cookie);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe(type);
      expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${each}.${kind}"`);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.bytes).toEqual((await rowOf('document_files', each))?.[kind]);
    }
  });

  it('leaves the page of an invoice as it is', async () => {
    expect((await get(`/invoices/${number}`, cookie)).headers.get('content-type')).toContain('text/html');
  });

  it.each<[string, () => string]>([
    ['there is none with that number', () => '/invoices/INV-1999-0001.pdf'],
    ['it is no number', () => '/invoices/inv%20-1.pdf'],
    ['it is no ending of ours', () => `/invoices/${number}.PDF`],
  ])('answers 404 where %s', async (_, path) => {
    expect((await get(path(), cookie)).status).toBe(404);
  });

  it('answers 404 to people on another account, and 401 to nobody', async () => {
    expect((await get(`/invoices/${number}.pdf`, await billing.app.login(stranger))).status).toBe(404);
    expect((await get(`/invoices/${number}.pdf`)).status).toBe(401);
  });

  it('leads a browser to the login and back', async () => {
    const { status, headers } = await get(`/invoices/${number}.pdf`, undefined, 'text/html');
    expect([status, headers.get('location')]).toEqual([303, `/login?next=%2Finvoices%2F${number}.pdf`]);
  });

  it('answers 404 while the address of the person is not proved', async () => {
    const { db } = billing.app;
    const setProved = (at: Date | null) =>
      sql`update users set email_verified_at = ${at} where email = ${owner}`.execute(db);
    await setProved(null);
    expect((await get(`/invoices/${number}.pdf`, cookie)).status).toBe(404);
    await setProved(new Date());
    expect((await get(`/invoices/${number}.pdf`, cookie)).status).toBe(200);
  });

  it('answers 503 with Retry-After: 1 where the file is not made yet, and logs no error', async () => {
    await addDocument('LATER-1', {}, false);
    const { status, headers } = await get('/invoices/LATER-1.pdf', cookie);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });

  // Contract 7.224.
  it('gives the XML at once, also if there is no PDF, and the same bytes once it is kept', async () => {
    const buyer = { ...samples['an invoice with tax'].buyer, name: 'Blume 🌺 GmbH' };
    await addDocument('NOPDF-1', { buyer }, false);
    expect((await get('/invoices/NOPDF-1.pdf', cookie)).status).toBe(503);
    const given = await get('/invoices/NOPDF-1.xml', cookie);
    expect([given.status, given.headers.get('content-type')]).toEqual([200, 'application/xml']);
    expect(String(given.bytes)).toContain('Blume 🌺 GmbH');
    await addDocument('SOON-1', {});
    const soon = await get('/invoices/SOON-1.xml', cookie);
    expect([soon.status, soon.bytes]).toEqual([200, (await filesOf('SOON-1')).xml]);
    await addDocument('WRONG-1', { total: 1 }, false);
    expect((await get('/invoices/WRONG-1.xml', cookie)).status).toBe(503);
  });

  it('answers 404 for the XML of a document that has none', async () => {
    const { db } = billing.app;
    const { rows } = await sql<{
      facts: DocumentFacts;
    }>`select facts from documents where number = ${number}`.execute(db);
    const buyer = { ...rows[0]?.facts.buyer, address: null } as DocumentFacts['buyer'];
    await addDocument('PLAIN-1', { buyer });
    expect((await filesOf('PLAIN-1')).xml).toBeNull();
    expect((await get('/invoices/PLAIN-1.xml', cookie)).status).toBe(404);
    expect((await get('/invoices/PLAIN-1.pdf', cookie)).status).toBe(200);
  });

  it('gives XML exactly where the pages lead to it, for a document of each kind', async () => {
    const exempt: DocumentFacts = samples['an invoice exempt from tax'];
    const kinds: DocumentFacts[] = [
      ...Object.values(samples),
      { ...exempt, seller: { ...exempt.seller, tax_number: undefined } },
      { ...samples['an invoice with tax'], buyer: { ...exempt.buyer, address: null } },
      { ...samples['an invoice with tax'], currency: 'KWD' },
    ];
    const numbers = kinds.map((_, at) => `EACH-2026-${1_000 + at}`);
    for (const [at, facts] of kinds.entries()) await addDocument(numbers[at] ?? '', facts);
    await Promise.all(numbers.map(filesOf));
    const given = await Promise.all(
      numbers.map(async (each) => (await get(`/invoices/${each}.xml`, cookie)).status === 200),
    );
    expect(given.filter((each) => !each)).toHaveLength(3);
    const list = String((await get('/profile/billing', cookie)).bytes);
    expect(numbers.map((each) => list.includes(`href="/invoices/${each}.xml"`))).toEqual(given);
    const pages = await Promise.all(numbers.map((each) => get(`/invoices/${each}`, cookie)));
    expect(pages.map(({ bytes }, at) => String(bytes).includes(`/invoices/${numbers[at]}.xml"`))).toEqual(
      given,
    );
    // Contract 7.420.
    expect(
      pages.map(({ bytes }) => /the place of<\/dt><dd>Invoice (<!-- -->)?INV-2026-0999</.test(String(bytes))),
    ).toEqual(kinds.map(({ replaces }) => replaces !== undefined));
  });

  it('gives the files of erased people to administrators only (contract 7.381)', async () => {
    const { db } = billing.app;
    const id = await billing.report('gone', {}, { email: 'gone@example.test' });
    await billing.bill();
    const of = (await billing.invoicesOf(id))[0]?.number ?? '';
    const { pdf } = await filesOf(of);
    const user = await db
      .selectFrom('users')
      .select('id')
      .where('email', '=', 'gone@example.test')
      .executeTakeFirstOrThrow();
    await inTransaction(db, { by: 'operator', cause: 'test' }, (trx) =>
      eraseUser(trx, { now: () => new Date(), endsWithPerson }, user.id, { by: 'cli', onlyDue: false }),
    );
    const admin = await billing.app.login('admin@example.test');
    expect((await get(`/admin/invoices/${of}.pdf`, admin)).bytes).toEqual(pdf);
    const manager = await billing.app.login('manager@example.test');
    for (const path of [`${of}.pdf`, of])
      expect((await get(`/admin/invoices/${path}`, manager)).status).toBe(404);
    for (const path of [`/invoices/${of}`, `/invoices/${of}.pdf`, `/admin/invoices/${of}`])
      expect((await get(path, cookie)).status).toBe(404);
  });

  // Contract 12.34.
  it('counts as a look at the buyer, and is audited, also of somebody who was erased', async () => {
    const { db } = billing.app;
    await sql`delete from audit_events where type = 'staff.looked'`.execute(db);
    const admin = await billing.app.login('admin@example.test');
    const listLooks = async () =>
      (
        await sql<{
          looked: string;
        }>`select coalesce(u.email, 'erased') || ' ' || (e.details ->> 'number') as looked
          from audit_events e left join users u on u.id = e.user_id where e.type = 'staff.looked' order by e.id`.execute(
          db,
        )
      ).rows.map(({ looked }) => looked);
    const paths = [`${creditNumber}.pdf`, `${creditNumber}.xml`, `${number}.pdf`, `${number}.xml`, number];
    for (const path of paths) {
      await sql`delete from audit_events where type = 'staff.looked'`.execute(db);
      expect((await get(`/admin/invoices/${path}`, admin)).status).toBe(200);
      expect(await listLooks()).toEqual([`${owner} ${path.split('.')[0]}`]);
    }
    // Several looks at the same buyer leave one audit event.
    for (const path of paths) expect((await get(`/admin/invoices/${path}`, admin)).status).toBe(200);
    expect(await listLooks()).toEqual([`${owner} ${number}`]);
    const { rows } = await sql<{ of: string }>`
      select document as of from invoices where buyer_email = 'gone@example.test'`.execute(db);
    const erased = rows.map(({ of }) => of);
    for (const of of erased)
      for (const path of [`${of}.pdf`, of])
        expect((await get(`/admin/invoices/${path}`, admin)).status).toBe(200);
    expect(await listLooks()).toEqual([`${owner} ${number}`, ...erased.map((of) => `erased ${of}`)]);
  });

  it('is refused to an administrator who has looked at 300 people within an hour', async () => {
    const { db } = billing.app;
    const admin = await billing.app.login('admin@example.test');
    await sql`delete from audit_events where type = 'staff.looked'`.execute(db);
    await sql`insert into audit_events (id, type, actor_id, user_id, details)
      select gen_random_uuid(), 'staff.looked', u.id, case when n % 2 = 0 then gen_random_uuid() end,
        case when n % 2 = 1 then jsonb_build_object('number', 'OTHER-' || n) else '{}' end
      from users u, generate_series(1, 300) as n where u.email = 'admin@example.test'`.execute(db);
    for (const path of [`${number}.xml`, `${number}.pdf`, `${creditNumber}.pdf`, number]) {
      const { status, headers } = await get(`/admin/invoices/${path}`, admin);
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    }
    expect((await get('/admin/invoices/INV-1999-0001.pdf', admin)).status).toBe(404);
    await sql`delete from audit_events where type in ('staff.looked', 'staff.limited')`.execute(db);
    expect((await get(`/admin/invoices/${number}.pdf`, admin)).status).toBe(200);
  });

  it('gives administrators every file under /admin, and managers those of accounts without staff (contract 7.225)', async () => {
    const path = `/admin/invoices/${creditNumber}.pdf`;
    const admin = await billing.app.login('admin@example.test');
    expect((await get(path, admin)).bytes).toEqual((await rowOf('document_files', creditNumber))?.pdf);
    expect((await get(`/admin/invoices/${number}.xml`, admin)).status).toBe(200);
    expect((await get('/admin/invoices/INV-1999-0001.pdf', admin)).status).toBe(404);
    const manager = await billing.app.login('manager@example.test');
    for (const of of [`${creditNumber}.pdf`, `${number}.xml`])
      expect((await get(`/admin/invoices/${of}`, manager)).bytes).toEqual(
        (await get(`/admin/invoices/${of}`, admin)).bytes,
      );
    const { db } = billing.app;
    await sql`delete from audit_events where type = 'staff.looked'`.execute(db);
    const setRole = (role: string) => sql`update users set role = ${role} where email = ${owner}`.execute(db);
    await setRole('manager');
    for (const of of [`${creditNumber}.pdf`, `${number}.xml`])
      expect((await get(`/admin/invoices/${of}`, manager)).status).toBe(404);
    await setRole('user');
    expect((await sql`select from audit_events where type = 'staff.looked'`.execute(db)).rows).toEqual([]);
    expect((await get(path, cookie)).status).toBe(404);
    const { status, headers } = await get(path);
    expect([status, headers.get('location')]).toEqual([
      303,
      `/login?next=${encodeURIComponent(`/admin/invoices/${creditNumber}.pdf`)}`,
    ]);
  });
});
