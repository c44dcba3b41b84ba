// A database that 0.6.0 has left, as plain SQL, is migrated to this version: its rows are there, and its people go on. It was
// begun by an even earlier version, so it has rows from before many of today's features.
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrations } from '../../db/migrations/list.ts';
import { folded } from '../../db/migrations/m100-baseline.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { locationOf, openApp, type TestApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { cookieOf, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildPayment, findFaultsInBooks, readInvoice, report } from '../support/billing/money.ts';
import { type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { loadDump, type Rows, readRows } from '../support/database/dump.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { readOn } from '../support/events/events.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { enterCode, expectCodeAsked, payloadOf, showCode } from '../support/people/totp-app.ts';

/** What the browsers, apps and senders of that database know, and the database does not. */
type Known = {
  /** The users whose sessions go on, by session token. */
  sessions: Record<string, string>;
  signups: { webhookId: string; body: string; status: number; answer: string }[];
  /** The token in a mail to customer@example.test. */
  setPassword: string;
  authenticator: { email: string; secret: string; codes: string[] };
  /** The token in a mail to cora@example.test. That user's address is cora-new@example.test now. */
  undo: string;
  /** The token in a mail to found@example.test, an address that was offered to lost@example.test. */
  newAddress: string;
  /** The events that the CRM has read: number, type, user. */
  events: [seq: number, type: string, userId: string | null][];
  /** The invoice of invoiced@example.test, over 34.51 EUR. 10.00 EUR are paid, and 5.00 EUR are credited. */
  invoice: string;
};

const otherPassword = 'seven quiet lanterns';
const shop = { id: 'shop-1', role: 'merchant' as const, accountName: 'Shop & Sons' };

describe('a database of 0.6.0', () => {
  let known: Known;
  let before: Rows;
  let after: Rows;
  let url: string;
  let drop: () => Promise<void>;
  let app: TestApp;

  beforeAll(async () => {
    const read = (ending: string) => readFile(new URL(`0.6.0.${ending}`, import.meta.url), 'utf8');
    known = JSON.parse(await read('json'));
    ({ url, drop } = await emptyDatabase(inject('templateUrl')));
    await loadDump(url, await read('sql'));
    const { db, close } = connect(url);
    before = await readRows(db);
    await migrate(url);
    after = await readRows(db);
    await close();
    app = await openApp({ databaseUrl: url });
  });
  afterAll(async () => {
    await app?.close();
    await drop?.();
  });

  const from = '198.51.100.7';
  const open = async (email: string, password: string) => {
    const browser = openBrowser((path, options) => app.send(path, { from, ...options }));
    return { browser, answer: await browser.login(email, password) };
  };
  const logIn = async (email: string, password = demoPassword) => {
    const { browser, answer } = await open(email, password);
    expect([email, answer.status, locationOf(answer).pathname]).toEqual([email, 303, '/profile']);
    return browser;
  };
  const profileOf = async (cookie: string) => JSON.parse((await app.send('/sso/profile', { cookie })).text);

  it('keeps every row, and every value in it', () => {
    expect(Object.values(before).filter(({ rows }) => rows.length > 0).length).toBeGreaterThan(14);
    const lost: string[] = [];
    for (const [name, table] of Object.entries(before)) {
      const now = after[name] ?? { columns: [], rows: [] };
      const isKept = (column: string) => now.columns.includes(column);
      lost.push(...table.columns.filter((column) => !isKept(column)).map((column) => `${name}.${column}`));
      const columns = table.columns.filter(isKept);
      const valuesOf = ({ columns: all, rows }: Rows[string]) =>
        rows.map((row) => JSON.stringify(columns.map((column) => row[all.indexOf(column)]))).sort();
      if (name === 'kysely_migration') expect(valuesOf(now)).toEqual(expect.arrayContaining(valuesOf(table)));
      else expect(valuesOf(now), name).toEqual(valuesOf(table));
    }
    expect(lost).toEqual([]);
    expect(after.kysely_migration?.rows.map(([name]) => name).sort()).toEqual([
      ...folded,
      ...Object.keys(migrations),
    ]);
  });

  it('lets its people in by their passwords, and launches them with their capabilities', async () => {
    const people: [email: string, password: string, capabilities: string[]][] = [
      ['merchant@example.test', demoPassword, ['manage_storefront', 'sell_products', 'sell_services']],
      ['new-merchant@example.test', demoPassword, []],
      ['customer@example.test', demoPassword, []],
      ['admin@example.test', demoPassword, []],
      ['paid@example.test', otherPassword, []],
    ];
    for (const [email, password, capabilities] of people) {
      const browser = await logIn(email, password);
      const launched = payloadOf(await browser.send('/sso/launch/marketplace'));
      expect([email, launched?.profile.email, launched?.profile.account.capabilities]).toEqual([
        email,
        email,
        capabilities,
      ]);
    }
    expect((await open('merchant@example.test', otherPassword)).answer.status).toBe(401);
  });

  it('keeps out who is suspended, and whose password was changed', async () => {
    expect((await open('suspended@example.test', demoPassword)).answer.status).toBe(403);
    expect((await open('manager@example.test', otherPassword)).answer.status).toBe(401);
    expect((await open('frozen@example.test', otherPassword)).answer.status).toBe(403);
  });

  it('goes on with its sessions', async () => {
    for (const [email, cookie] of Object.entries(known.sessions))
      expect((await profileOf(cookie)).email).toBe(email);
    const renamed = {
      json: { json: { name: 'After The Upgrade' } },
      cookie: known.sessions['merchant@example.test'],
    };
    expect((await app.send('/trpc/profile.update', renamed)).status).toBe(200);
    expect((await profileOf(known.sessions['merchant@example.test'] ?? '')).name).toBe('After The Upgrade');
  });

  it('lists an invoice from before there was a seller to whom it is for (contract 7.472)', async () => {
    const paid = await logIn('paid@example.test', otherPassword);
    const page = await paid.send('/profile/billing');
    expect(page.text).toContain('data-document="1"');
    expect(textOf(page)).toMatch(/Invoice 1 .*29[.,]00/);
    expect((await paid.send('/invoices/1')).status).toBe(404);
  });

  it('shows a document, and goes on with what is paid and credited of it', async () => {
    const cookie = known.sessions['invoiced@example.test'];
    const page = textOf(await app.send(`/invoices/${known.invoice}`, { cookie }));
    expect(page).toContain('Credited -EUR 5.00 Paid -EUR 10.00');
    const pdf = await app.send(`/invoices/${known.invoice}.pdf`, { cookie });
    expect([pdf.status, pdf.text.slice(0, 5)]).toEqual([200, '%PDF-']);
    await report(app, buildPayment(1_951, { invoice_number: known.invoice }));
    const { db, close } = connect(url);
    expect(await readInvoice(db, known.invoice)).toEqual({
      total: 3_451,
      credited: 500,
      allocated: 2_951,
      status: 'paid',
    });
    expect(await findFaultsInBooks(db)).toEqual([]);
    await close();
  });

  it('gives somebody the address that they were offered', async () => {
    const link = `/new-address?token=${known.newAddress}`;
    expect((await app.send(link, { form: { newPassword: 'eight louder lanterns' }, from })).status).toBe(303);
    await logIn('found@example.test', 'eight louder lanterns');
    expect((await open('lost@example.test', otherPassword)).answer.status).toBe(401);
  });

  it('shows what happened before', async () => {
    const browser = await logIn('customer@example.test');
    const page = textOf(await browser.send('/profile/activity'));
    expect(page).toMatch(/name/i);
    expect(
      (
        await browser.send('/profile', {
          form: { intent: 'names', name: 'Casey Later', accountName: 'Casey’s' },
        })
      ).status,
    ).toBe(303);
    const { code, out } = await runCli(url, ['history', 'customer@example.test']);
    expect(code).toBe(0);
    expect(out).toMatch(/name .*Casey.* → .*Casey Later/);
    // The history also knows who somebody was before.
    expect(out).toContain('customer@example.test');
  });

  it('gives a marketplace user who arrives again what the marketplace says now', async () => {
    const before = await profileOf(known.sessions['shop-1@example.test'] ?? '');
    expect(before.account.capabilities).toEqual(['manage_storefront', 'sell_products']);
    const said = {
      ...shop,
      name: 'Sharon Renamed',
      capabilities: ['sell_services'],
      profileUpdatedAt: new Date(),
    };
    const answer = await handOver(app, said, { from });
    expect(answer.status).toBe(303);
    const now = await profileOf(cookieOf(answer));
    expect([now.id, now.name, now.account.capabilities]).toEqual([
      before.id,
      'Sharon Renamed',
      ['sell_services'],
    ]);
  });

  it('answers a signup that is sent again as it did', async () => {
    for (const { webhookId, body, status, answer } of known.signups) {
      const again = await sendSignup(app, body, { webhookId });
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
        status,
        answer,
        'true',
      ]);
      const { signup_id }: SignupBody = JSON.parse(body);
      const anew = await sendSignup(app, body);
      expect([signup_id, anew.status]).toEqual([signup_id, 200]);
      expect(JSON.parse(anew.text).contract.id).toBe(JSON.parse(answer).contract.id);
    }
  });

  it('takes a link of a mail that was sent before', async () => {
    const path = `/set-password?token=${known.setPassword}`;
    expect((await app.send(path, { form: { newPassword: 'eight louder lanterns' }, from })).status).toBe(303);
    await logIn('customer@example.test', 'eight louder lanterns');
  });

  it('asks for the second factor that was set up', async () => {
    const { email, secret, codes } = known.authenticator;
    const { browser, answer } = await open(email, demoPassword);
    expectCodeAsked(answer);
    expect((await enterCode(browser, showCode(secret, Date.now() + 30_000))).status).toBe(303);
    expect(await browser.whoAmI()).toBe(email);
    const other = await open(email, demoPassword);
    expect((await enterCode(other.browser, codes[0] ?? '', '/login/code?use=recovery')).status).toBe(303);
    expect(await other.browser.whoAmI()).toBe(email);
    expect(textOf(await (await logIn('merchant@example.test')).send('/profile/passkeys'))).toContain(
      'My phone',
    );
  });

  it('goes on with the numbers of events', async () => {
    const events = await readOn(app, 'crm_app');
    const read = known.events.length;
    expect(events.slice(0, read).map(({ seq, type, user_id }) => [seq, type, user_id ?? null])).toEqual(
      known.events,
    );
    // This event had no number yet when 0.6.0 left the database.
    expect(events[read]).toMatchObject({ type: 'profile.updated', profile: { name: 'Casey Waits' } });
  });

  it('brings an address back by the link that its mail had', async () => {
    const link = `/take-back?token=${known.undo}`;
    expect((await app.send(link, { form: { newPassword: 'eight louder lanterns' }, from })).status).toBe(303);
    await logIn('cora@example.test', 'eight louder lanterns');
  });

  it('keeps out who is erased, and knows what is left of them', async () => {
    expect((await open('leaver@example.test', otherPassword)).answer.status).toBe(401);
    const { db, close } = connect(url);
    const { rows } = await sql<{
      erased: boolean;
    }>`select erased_user_id is not null as erased from service_contracts
      where signup_id = 'left'`.execute(db);
    await close();
    expect(rows).toEqual([{ erased: true }]);
  });
});
