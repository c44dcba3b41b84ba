// The settings of billing by command (contract 7.129 and 11.66).
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../server/billing/settings/settings.ts';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, hasTerminals, runCli, runCliAtTerminal } from '../support/app/cli.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const app = shared(openApp);
const folder = await sharedFolder();

const why = ['--why', 'A new bank'];
const cli = (args: string[], input?: string) => runCli(app.databaseUrl, args, input);

let files = 0;
async function write(content: unknown): Promise<string> {
  const path = join(folder, `${++files}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function read(args: string[], input?: string): Promise<string> {
  const { code, out, err } = await cli(args, input);
  expect({ code, err }, args.join(' ')).toEqual({ code: 0, err: '' });
  return out;
}

const withTerms = (days_to_pay: number) => ({
  ...germanSettings,
  terms: { ...germanSettings.terms, days_to_pay },
});
const hostile = 'Hana\u200f\u00adgnp';

describe('billing:set and billing:show', () => {
  it('say that there is no seller, make one, and print what counts so that it can be set again', async () => {
    expect(await read(['billing:show'])).toBe('There is no seller yet. billing:set makes one.\n');
    expect(JSON.parse(await read(['billing:show', '--json']))).toEqual({ in_force: null, pending: null });
    const file = await write(germanSettings);
    const tax = [
      'Tax:',
      '  Germany: 19 %, from 2020-01-01',
      '  France: 20 %, from 2020-01-01',
      '  All others: no tax (O: Not subject to German VAT), from 2020-01-01',
      '  EU countries without a rule of their own, so taxed as “All others”: Austria, Belgium,',
    ].join('\n');
    // Contract 7.546 and 7.547.
    const set = await read(['billing:set', file, ...why, '--by', 'Olga Operator']);
    expect(set.startsWith(`Version 1 of the settings counts now.\n\n${tax}`), set).toBe(true);
    const shown = await read(['billing:show']);
    expect(shown).toMatch(/^Version 1 counts since \S+Z, by Olga Operator: A new bank\nTax:\n/);
    expect(shown).toContain(tax);
    const json = shown.slice(shown.indexOf('\n{') + 1);
    expect(JSON.parse(json).tax.rules[0]).toEqual({
      ...{ country: 'DE', percent: '19', category: 'S', from: '2020-01-01' },
    });
    expect(readSettings(JSON.parse(json))).toEqual(germanSettings);
    expect(await read(['billing:set', '-', ...why], json)).toContain(
      'Nothing to change: version 1 has these settings already.\n',
    );
    const events =
      await sql`select user_id, actor_id, why, details from audit_events where type = 'billing.set'`.execute(
        app.db,
      );
    expect(events.rows).toMatchObject([
      {
        user_id: null,
        actor_id: null,
        why: 'A new bank',
        details: { by: 'cli', operator: 'Olga Operator', systemUser: expect.any(String), version: 1 },
      },
    ]);
  });

  it('let another bank account wait, tell the administrators, and say so to programs', async () => {
    const seller = { ...germanSettings.seller, iban: 'FR7630006000011234567890189', foot: hostile };
    const file = await write({ ...germanSettings, seller });
    const done = JSON.parse(await read(['billing:set', file, ...why, '--yes', '--json']));
    expect(done).toEqual({
      done: true,
      intent: 'set',
      id: '2',
      // The hidden characters in the seller's foot need no font.
      unprinted: [],
      pending: { version: 3, counts_from: expect.any(String) },
    });
    const hours = (Date.parse(done.pending.counts_from) - Date.now()) / 3_600_000;
    expect(Math.round(hours * 10)).toBe(240);
    const text = await read(['billing:show', '--json']);
    expect(text).not.toMatch(/[\u200f\u00ad]/);
    expect(JSON.parse(text)).toMatchObject({
      in_force: { version: 2, settings: { seller: { iban: germanSettings.seller.iban, foot: hostile } } },
      pending: { version: 3, counts_from: done.pending.counts_from, settings: { seller }, why: 'A new bank' },
    });
    expect(await read(['billing:show'])).toContain('\nVersion 3 waits until ');
    const { rows } = await sql`select recipient from mails where kind = 'bank_details_changed'`.execute(
      app.db,
    );
    expect(rows).toEqual([{ recipient: 'admin@example.test' }]);
  });

  it('name everything that is wrong, a line each, and change nothing', async () => {
    const wrong = await write({
      ...germanSettings,
      'x\u001b[2J': 1,
      seller: { ...germanSettings.seller, iban: 'DE00' },
      terms: { ...germanSettings.terms, reminder_days: [7, 12] },
    });
    const refused = await cli(['billing:set', wrong, ...why, '--json']);
    expectRefused(refused, /^\/seller\/iban: Check the IBAN: a letter or digit is wrong\.$/m);
    expect(refused.err.trim().split('\n').sort()).toEqual([
      '/seller/iban: Check the IBAN: a letter or digit is wrong.',
      '/terms/reminder_days/1: Leave at least 6 days between the two reminders.',
      '/x\\u{1b}[2J: There is no such member.',
    ]);
    const twice = await write(`{"seller":1,"seller":2}`);
    expectRefused(
      await cli(['billing:set', twice, ...why]),
      /is not strict JSON: duplicate name in an object\.\n$/,
    );
    const large = await write(`"${'x'.repeat(64 * 1024)}"`);
    expectRefused(await cli(['billing:set', large, ...why]), /is larger than 64 KiB\.\n$/);
    expectRefused(await cli(['billing:set', join(folder, 'none'), ...why]), /^Cannot read the file .*ENOENT/);
    expectMisused(await cli(['billing:set', wrong]), /--why/);
    expectMisused(await cli(['billing:set', wrong, '--why', 'x']), /Say why in 3 to 500 characters/);
    const { rows } = await sql`select count(*)::int as n from billing_settings`.execute(app.db);
    expect(rows).toEqual([{ n: 3 }]);
  });

  it('lose no change of sixteen at once: each is a version (contract 7.100)', async () => {
    const days = Array.from({ length: 16 }, (_, at) => 100 + at);
    const texts = await Promise.all(
      days.map(async (each) => read(['billing:set', await write(withTerms(each)), ...why, '--json'])),
    );
    const versions = texts.map((text) => Number(JSON.parse(text).id)).sort((one, other) => one - other);
    expect(versions).toEqual(Array.from({ length: 16 }, (_, at) => 4 + at));
    const { rows } = await sql<{ days: number }>`
      select (settings #>> '{terms,days_to_pay}')::int as days from billing_settings where version > 3 order by 1`.execute(
      app.db,
    );
    expect(rows.map((row) => row.days)).toEqual(days);
  }, 120_000);

  const notRun = hasTerminals ? '' : ' (NOT RUN: there is no script of util-linux)';
  it.skipIf(!hasTerminals)(`ask at a terminal, unless there is --yes${notRun}`, async () => {
    const countVersions = async () =>
      (await sql<{ n: number }>`select count(*)::int as n from billing_settings`.execute(app.db)).rows[0]
        ?.n ?? 0;
    const before = await countVersions();
    const args = ['billing:set', await write(withTerms(30)), ...why];
    const refused = await runCliAtTerminal(app.databaseUrl, args, 'no');
    expect(refused).toMatchObject({
      code: 1,
      out: expect.stringContaining('Let Blumen GmbH be the seller?'),
    });
    expect(refused.out).toContain('Nothing was done.');
    const agreed = ['billing:set', await write(withTerms(31)), ...why, '--yes'];
    const done = await runCliAtTerminal(app.databaseUrl, agreed, 'no');
    expect([done.code, done.out.includes('Type yes')]).toEqual([0, false]);
    expect(await countVersions()).toBe(before + 1);
  });

  // Contract 7.494.
  it('name each character that no font has, and set the settings', async () => {
    const seller = { ...germanSettings.seller, name: 'Blumen 花🌸花' };
    const plans = { starter: { title: 'ร้าน', description: 'Nothing special' } };
    const file = await write({ ...germanSettings, seller, plans });
    const { code, out, err } = await cli(['billing:set', file, ...why]);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Version \d+ of the settings counts now/),
    });
    expect(err.split('\n')).toEqual([
      '/seller/name: no font has 花 🌸. Documents show □ for letters, and leave emoji out.',
      '/plans/starter/title: no font has ร ้ า น. Documents show □ for letters, and leave emoji out.',
      'BILLING_FONT_FILES may name fonts that have them.',
      '',
    ]);
    expect(JSON.parse(await read(['billing:set', file, ...why, '--json'])).unprinted).toEqual([
      { pointer: '/seller/name', characters: ['花', '🌸'] },
      { pointer: '/plans/starter/title', characters: ['ร', '้', 'า', 'น'] },
    ]);
  });
});

// Contract 7.496.
describe('billing:sample', () => {
  const isPdf = async (path: string) => (await readFile(path)).subarray(0, 5).toString() === '%PDF-';

  it('writes what counts, or a file of settings, and replaces no file', async () => {
    const [counts, given] = [join(folder, 'counts.pdf'), join(folder, 'given.pdf')];
    expectRefused(
      await cli(['billing:sample', given, '--settings', await write({})]),
      /^\/seller: This is missing/,
    );
    await read(['billing:set', await write(withTerms(7)), ...why]);
    expect(await read(['billing:sample', counts])).toBe(
      `${counts} has a sample invoice, credit note and reminder.\n`,
    );
    expect(await isPdf(counts)).toBe(true);
    const settings = { ...germanSettings, seller: { ...germanSettings.seller, name: '花' } };
    const made = await cli(['billing:sample', given, '--settings', await write(settings)]);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('/seller/name: no font has 花.') });
    expect(await isPdf(given)).toBe(true);
    const before = await readFile(given);
    expectRefused(await cli(['billing:sample', given]), /there is such a file already \(EEXIST\)\.\n$/);
    expect(await readFile(given)).toEqual(before);
    expectRefused(await cli(['billing:sample', join(folder, 'none', 'x.pdf')]), /there is no such folder/);
  });

  it('needs no database if it has settings, and says that there is no seller', async () => {
    const out = join(folder, 'alone.pdf');
    const file = await write(germanSettings);
    const { code, err } = await runCli('postgres://127.0.0.1:1/none', [
      'billing:sample',
      out,
      '--settings',
      file,
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(await isPdf(out)).toBe(true);
    await sql`update billing_settings set stopped_at = now()`.execute(app.db);
    expectRefused(await cli(['billing:sample', join(folder, 'no.pdf')]), /^There is no seller yet/);
  });
});
