import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { daysAfter } from '../../server/basics/instant.ts';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { recordLog } from '../support/app/log.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import { setBillingClock, setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const listOf = async (cookie: string, before?: string) =>
  openClient(app.send, cookie).activity.list.query({ before });

const newest = async (cookie: string) => (await listOf(cookie)).events[0];

describe('a change is told', () => {
  it('as the marketplace’s, beside the hand-off that made it, in one line', async () => {
    const browser = openBrowser(app.send);
    const profile = {
      id: 'told',
      email: 'told@example.test',
      name: 'Tilda',
      capabilities: ['sell_services'],
    };
    await handOver(app, profile);
    await browser.send(await buildHandOff(app, profile));
    // The click in this browser accepts the hand-off.
    const page = (await browser.send(await buildHandOff(app, profile))).headers.get('location') ?? '';
    await browser.send(page, { form: {} });
    const newer = { ...profile, name: 'Tilly', capabilities: [], profileUpdatedAt: new Date() };
    expect((await browser.send(await buildHandOff(app, newer))).status).toBe(303);
    const { events } = await listOf(browser.cookie());
    expect(events[0]).toMatchObject({
      what: 'Came here from the marketplace',
      by: 'By the marketplace',
      changes: [
        { what: 'What the account may do', from: 'sell services', to: null },
        { what: 'Name', from: 'Tilda', to: 'Tilly' },
      ],
    });
    expect(events.filter(({ changes }) => JSON.stringify(changes).includes('Tilly'))).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      what: 'The account was created from a marketplace account',
      changes: expect.arrayContaining([
        { what: 'Email address', from: null, to: 'told@example.test' },
        { what: 'ID at the marketplace', from: null, to: 'told' },
      ]),
    });
    const text = textOf(await app.send('/profile/activity', { cookie: browser.cookie() }));
    expect(text).toContain('What the account may do: sell services removed');
    expect(text).toContain('By the marketplace');
  });

  it('as our support team’s, by SQL and by command, without who it was (contract 12.21)', async () => {
    const cookie = await app.login('merchant@example.test');
    await sql`update users set name = 'By Hand', role = 'manager' where email = 'merchant@example.test'`.execute(
      app.db,
    );
    const line = await newest(cookie);
    expect(line).toMatchObject({
      what: 'The profile was changed',
      by: 'By our support team',
      device: null,
      changes: [
        { what: 'Name', from: 'Maya Merchant', to: 'By Hand' },
        // The profiles of managers have this role, too. `null` stands for the role that the account gives.
        { what: 'Role', from: null, to: 'Administrator' },
      ],
    });
    await sql`update users set role = 'user' where email = 'merchant@example.test'`.execute(app.db);
    expect((await newest(cookie))?.changes).toEqual([{ what: 'Role', from: 'Administrator', to: null }]);
    const { rows } = await sql<{ role: string }>`select distinct role from changes`.execute(app.db);
    const page = await app.send('/profile/activity', { cookie });
    for (const { role } of rows) expect(textOf(page)).not.toContain(role);
    await runCli(app.databaseUrl, ['user:suspend', 'merchant@example.test']);
    await runCli(app.databaseUrl, ['user:resume', 'merchant@example.test']);
    const events = (await listOf(await app.login('merchant@example.test'))).events.slice(1, 3);
    expect(events).toMatchObject([
      {
        what: 'We ended the suspension of the account',
        by: 'By our support team',
        changes: [{ what: 'Suspended or frozen', from: 'yes', to: 'no' }],
      },
      {
        what: 'We suspended the account',
        changes: [{ what: 'Suspended or frozen', from: 'no', to: 'yes' }],
      },
    ]);
  });

  it('as somebody else’s in the same account, without who it was', async () => {
    await sql`update users set account_id = (select account_id from users where email = 'customer@example.test')
      where email = 'new-merchant@example.test'`.execute(app.db);
    const mine = await app.login('customer@example.test');
    const theirs = await app.login('new-merchant@example.test');
    const json = { json: { accountName: 'Ours', name: 'Only Theirs' } };
    await app.send('/trpc/profile.update', { cookie: theirs, json });
    expect(await newest(mine)).toMatchObject({
      what: 'The account was changed',
      by: 'By someone else in your account',
      changes: [{ what: 'Account name', from: 'Casey’s account', to: 'Ours' }],
    });
    expect(await newest(theirs)).toMatchObject({
      what: 'Changed the name and account name',
      by: 'By you',
    });
    const { text } = await app.send('/trpc/activity.list', { cookie: mine });
    expect(text).not.toMatch(/Only Theirs|new-merchant/);
    expect(text).not.toContain(await idOf(app.db, 'new-merchant@example.test'));
  });

  it('as the CRM’s and as a job’s, of contracts, once the address is proved', async () => {
    const email = 'unverified@example.test';
    const contract = {
      plan: 'starter',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
    };
    await pushSignup(app, buildSignup('crm_told', { user: { email, name: 'x' }, contract }));
    const { log } = recordLog();
    await setSettings(app.db);
    await setBillingClock(app.db, daysAfter(new Date(), -20).toISOString());
    await runBilling({ db: app.db, now: () => new Date(), log });
    await runBilling({ db: app.db, now: () => new Date(), log });
    const cookie = await app.login(email);
    const hidden = JSON.stringify(await listOf(cookie));
    expect(hidden).not.toMatch(/contract|starter|overdue|CRM/i);
    await sql`update users set email_verified_at = now() where email = ${email}`.execute(app.db);
    const { events } = await listOf(cookie);
    expect(events.slice(0, 4)).toMatchObject([
      { changes: [{ what: 'Email address verified', from: 'no', to: 'yes' }] },
      { what: 'Logged in', by: null, changes: [] },
      {
        what: 'A service contract was changed',
        by: 'Automatically',
        changes: [{ what: 'State of the contract', from: 'Active', to: 'Payment overdue' }],
      },
      {
        what: 'A service contract was added',
        by: 'By our sales system',
        changes: [
          { what: 'Plan', from: null, to: 'starter' },
          { what: 'State of the contract', from: null, to: 'Active' },
          { what: 'Price', from: null, to: '29.00 EUR a month' },
        ],
      },
    ]);
  });
});

it('lines without an event are on the pages like others: each once, in order, from nobody else', async () => {
  const email = 'manager@example.test';
  const cookie = await app.login(email);
  const id = await idOf(app.db, email);
  for (let n = 0; n < 70; n++) {
    await sql`update users set name = ${`Line ${n}`} where id = ${id}`.execute(app.db);
    if (n % 3 === 0)
      await sql`insert into audit_events (id, type, user_id) values (gen_random_uuid(), 'logout', ${id})`.execute(
        app.db,
      );
  }
  const seen: string[] = [];
  let before: string | undefined;
  do {
    const page: Awaited<ReturnType<typeof listOf>> = await listOf(cookie, before);
    seen.push(...page.events.map(({ changes, what }) => changes[0]?.to ?? what));
    before = page.next ?? undefined;
    await sql`update users set name = ${`Later ${seen.length}`} where id = ${id}`.execute(app.db);
  } while (before);
  const expected = Array.from({ length: 70 }, (_, n) =>
    n % 3 === 0 ? [`Line ${n}`, 'Logged out'] : [`Line ${n}`],
  );
  expect(seen).toEqual([...expected.flat().reverse(), 'Logged in', seen.at(-1)]);
  // If the position in the list is a change of another user, the list is empty.
  const { rows } = await sql<{
    id: string;
  }>`select id from changes where user_id = ${id} order by id desc limit 1`.execute(app.db);
  const other = await app.login('admin@example.test');
  expect(await listOf(other, `change-${rows[0]?.id}`)).toEqual({ events: [], next: null });
  for (const wrong of ['change-', 'change-1x', `change-${'9'.repeat(19)}`, '1'])
    expect(await refusalOf(listOf(other, wrong))).toMatchObject({ problem: 'validation_failed' });
});
