// A sample invoice, credit note and reminder, as an administrator makes them before the first customer (contract 7.496 to
// 7.498).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { lookOf } from '../../server/billing/documents/document-maker.ts';
import { makeFiles } from '../../server/billing/documents/make-files.ts';
import { requireSums } from '../../server/billing/documents/require-sums.ts';
import { buildSampleFacts } from '../../server/billing/invoices/sample.ts';
import type { BillingSettings } from '../../server/billing/settings/settings.ts';
import { exampleSettings } from '../../server/doors/demo/example-settings.ts';
import { composeSample } from '../../server/mail/sample.ts';
import { readConfig } from '../../server/settings/config.ts';
import { openApp } from '../support/app/app.ts';
import { hasPoppler, notRun, readAttachments, readText } from '../support/billing/document-tools.ts';
import { readMarks } from '../support/billing/pdf-structure.ts';
import { germanSettings, setSettings, settingsFrom } from '../support/billing/settings.ts';
import { addStaff } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const config = readConfig({});
const now = new Date('2026-11-29T23:30:00Z');

const make = (settings: BillingSettings, foot = settings.seller.foot) =>
  makeFiles({
    ...composeSample(config, { ...settings, seller: { ...settings.seller, foot } }, now),
    look: lookOf(config),
  });

const { seller, tax, plans } = exampleSettings;
const exempt = { country: '*', rate: 0, category: 'E' as const, words: 'Small', from: '2020-01-01' };

describe('the facts of a sample', () => {
  it.each<[string, BillingSettings, object]>([
    ['a plan with a price', exampleSettings, { net: 2_900, tax: 551, total: 3_451 }],
    [
      'gross prices',
      { ...exampleSettings, tax: { ...tax, prices: 'gross' } },
      { net: 2_437, tax: 463, total: 2_900 },
    ],
    ['no plan', { ...exampleSettings, plans: {} }, { net: 10_000, line: { title: 'Sample plan' } }],
    [
      'a plan without a price',
      { ...exampleSettings, plans: { free: { title: 'Free', price: 0 }, trial: { title: 'Trial' } } },
      { net: 10_000, line: { title: 'Free' } },
    ],
    ['yen', { ...exampleSettings, plans: {}, seller: { ...seller, currency: 'JPY' } }, { net: 100, tax: 19 }],
    [
      'no tax',
      { ...exampleSettings, tax: { ...tax, rules: [exempt, { ...exempt, country: 'DE' }] } },
      { category: 'E', tax: 0, words: 'Small' },
    ],
    [
      'taxes of later',
      settingsFrom('2027-03-01'),
      { issued_on: '2027-03-01', number: 'INV-2027-0000', rate: 1_900 },
    ],
    [
      'plans',
      { ...exampleSettings, plans: { free: { title: 'Free' }, ...plans } },
      { line: { title: 'Starter' } },
    ],
  ])('are right with %s', (_, settings, said) => {
    const { invoice, creditNote } = buildSampleFacts(settings, now);
    for (const facts of [invoice, creditNote]) requireSums(facts);
    expect(invoice).toMatchObject(said);
    expect(creditNote).toMatchObject({ total: invoice.total, invoice: { number: invoice.number } });
    expect([invoice.number, creditNote.number].map((number) => number.slice(-5))).toEqual(['-0000', '-0000']);
  });

  it('are of today in the seller’s time zone', () => {
    expect(buildSampleFacts(exampleSettings, now).invoice).toMatchObject({
      issued_on: '2026-11-30',
      due_on: '2026-12-14',
      line: { first_day: '2026-11-30', last_day: '2026-12-29' },
    });
  });
});

describe.skipIf(!hasPoppler)(`${notRun(hasPoppler, 'poppler-utils')}a sample`, () => {
  it('says on each page that it is one, and has no e-invoice', async () => {
    const { pdf, xml } = await make(exampleSettings);
    const pages = readText(pdf).split('\f').slice(0, -1);
    expect(pages.map((page) => page.split('\n')[0])).toEqual(
      Array(3).fill('SAMPLE: this is no invoice, and nothing is owed.'),
    );
    const [invoice, creditNote, reminder] = pages;
    expect(invoice).toContain('INV-2026-0000 · 1 of 1');
    expect(creditNote).toContain('CN-2026-0000 · 1 of 1');
    for (const words of ['Reminder: invoice INV-2026-0000 from Blumen GmbH', 'EUR 34.51', 'IBAN: DE89 3704'])
      expect(reminder).toContain(words);
    expect(xml).toBeUndefined();
    expect(readAttachments(pdf)).toEqual({});
  });

  it('marks further pages, and counts the pages of each document', async () => {
    const rules = tax.rules.map((rule) => ({
      ...rule,
      category: 'E' as const,
      rate: 0,
      words: 'Why. '.repeat(900),
    }));
    const { pdf } = await make({ ...exampleSettings, tax: { ...tax, rules } });
    const pages = readText(pdf).split('\f').slice(0, -1);
    expect(pages.length).toBeGreaterThan(4);
    for (const page of pages) expect(page).toContain('SAMPLE: this is no invoice');
    expect(pages[1]).toContain('INV-2026-0000 · 2 of 2');
    expect(pages[2]).toContain('CN-2026-0000 · 1 of 2');
    // Everything that is drawn is tagged one time (contract 7.466).
    for (const page of readMarks(pdf)) {
      const contents = page.flatMap(({ content }) => content ?? []);
      expect(contents).toEqual(contents.map((_each, at) => at));
    }
  });
});

describe('/admin/billing/settings/sample.pdf', () => {
  const app = shared(openApp);
  const path = '/admin/billing/settings/sample.pdf';
  let cookie: string;
  beforeEach(async () => {
    cookie = (await addStaff(app)).cookie;
  });
  const get = async (asked = cookie) => {
    const request = new Request(app.config.baseUrl + path, { headers: { cookie: asked } });
    return app.fetch(request, { address: '192.0.2.1' });
  };

  it('is there for administrators once there are settings', async () => {
    const none = await get();
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('not_configured')]);
    await setSettings(app.db);
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="sample.pdf"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(
      Buffer.from(await answer.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    for (const role of ['manager', 'user'] as const)
      expect((await get((await addStaff(app, role)).cookie)).status).toBe(404);
    expect((await get('')).status).not.toBe(200);
    const page = await app.send('/admin/billing/settings', { cookie });
    expect(page.text).toContain(`href="${path}"`);
  });

  it('stores nothing and takes no number', async () => {
    await setSettings(app.db);
    const count = async () =>
      (
        await sql`select (select count(*) from documents) + (select count(*) from invoices)
          + (select count(*) from document_series) + (select count(*) from document_files)
          + (select count(*) from mails) as rows`.execute(app.db)
      ).rows;
    const before = await count();
    expect((await get()).status).toBe(200);
    expect(await count()).toEqual(before);
  });

  it.skipIf(!hasPoppler)('is of what waits', async () => {
    await setSettings(app.db);
    const waiting = {
      ...germanSettings,
      seller: { ...germanSettings.seller, iban: 'FR7630006000011234567890189' },
    };
    await sql`insert into billing_settings (version, settings, counts_from, made_by, why)
      select max(version) + 1, ${JSON.stringify(waiting)}::jsonb, now() + interval '1 day', 'test', 'for a test'
      from billing_settings`.execute(app.db);
    const pdf = new Uint8Array(await (await get()).arrayBuffer());
    expect(readText(pdf)).toContain('FR76 3000 6000');
  });
});
