// Asking for one's account to be deleted, and changing one's mind (contract 2.77 to 2.80).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp, targetOf } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { eventsOf } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const page = '/profile/delete';
const password = 'local demo password';
const customer = 'customer@example.test';
const html = { accept: 'text/html' };
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let lagMs = 0;
const now = () => new Date(Date.now() + lagMs);
const app = shared(() => openApp({ now }));

const findUser = async (email: string) => {
  const { rows } = await sql<{ id: string; due: Date | null }>`
    select id, deletion_due_at as due from users where email = ${email}`.execute(app.db);
  return rows[0] ?? { id: '', due: null };
};

const readTypes = async (email: string) =>
  (await eventsOf(app.db, (await findUser(email)).id)).map(({ type }) => type);

const ask = (browser: Browser, more: Record<string, string> = {}) =>
  browser.send(page, { form: { intent: 'delete', ...more } });
const keep = (browser: Browser, query = '') => browser.send(page + query, { form: { intent: 'keep' } });

const reset = async () => {
  await sql`update users set deletion_due_at = null`.execute(app.db);
  // Only five requests a day are allowed (test/attacks/allowances.thorough.test.ts), so this forgets earlier ones.
  await sql`delete from rate_limits where key like 'allowance-user.deletion_requested:%'`.execute(app.db);
};

const sixteen = (request: () => Promise<Answer>) => Promise.all(Array.from({ length: 16 }, request));

describe('the page that deletes an account', () => {
  it('needs a login', async () => {
    const answer = await app.send(page, { headers: html });
    expect([answer.status, locationOf(answer).href]).toEqual([
      303,
      'http://localhost:3000/login?next=%2Fprofile%2Fdelete',
    ]);
    for (const intent of ['delete', 'keep'])
      expect(locationOf(await app.send(page, { form: { intent } })).pathname).toBe('/login');
  });

  it('shows which contracts end and which invoices are open, before anything is asked', async () => {
    const contract = {
      plan: 'leaving',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 4_200, interval: 'month' },
    };
    const signup = buildSignup('crm_leaving', { user: { email: customer, name: 'x' }, contract });
    await pushSignup(app, signup);
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at)
      select gen_random_uuid(), user_id, account_id, 'crm_over', 'over', 'canceled', now()
      from service_contracts where signup_id = 'crm_leaving'`.execute(app.db);
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        allocated, status, issued_at, due_at, paid_at)
      select number, id, 'leaving', now() - number * interval '1 day', now(), 'EUR', 4200,
        case when number = 902 then 4200 else 0 end, case when number = 901 then 'open' else 'paid' end, now(), now(), case when number = 902 then now() end
      from service_contracts, generate_series(901, 902) number where signup_id = 'crm_leaving'`.execute(
      app.db,
    );
    const browser = await logIn(app.send, customer);
    const text = textOf(await browser.send(page, { headers: html }));
    expect(text).toContain('Service contracts leaving EUR 42.00 a month Active');
    expect(text).toContain('Invoice 901');
    expect(text).not.toContain('Invoice 902');
    expect(text).not.toContain('over ');
    expect(text).toContain('we will permanently delete your profile and logins.');
    expect((await findUser(customer)).due).toBeNull();
  });

  it('plans it in 14 days, tells the owner by mail, and keeps them logged in', async () => {
    const browser = await logIn(app.send, customer);
    const before = now().getTime();
    const answer = await ask(browser);
    expect([answer.status, locationOf(answer).pathname]).toEqual([303, page]);
    const { due } = await findUser(customer);
    expect(due?.getTime()).toBeGreaterThanOrEqual(before + 14 * dayMs);
    expect(due?.getTime()).toBeLessThanOrEqual(now().getTime() + 14 * dayMs);
    expect(await listNotices(app.db, customer)).toContain('deletion_requested');
    expect(await readTypes(customer)).toContain('user.deletion_requested');
    expect(textOf(await browser.send(page, { headers: html }))).toContain('Your account will be deleted');
    expect(textOf(await browser.send('/profile', { headers: html }))).toContain('Keep your account');
    expect(await browser.whoAmI()).toBe(customer);
    expect(await (await logIn(app.send, customer)).whoAmI()).toBe(customer);
    await reset();
  });

  it('names connected accounts where there are some', async () => {
    const browser = openBrowser(app.send);
    const { pathname, search } = locationOf(
      await browser.send(await buildHandOff(app, { id: 'connected' }, now())),
    );
    await browser.send(pathname + search, { form: {} });
    expect(textOf(await browser.send(page))).toContain(
      'permanently delete your profile, logins and connected accounts.',
    );
  });

  it('is the page to keep the account while it is planned, and the others lead there', async () => {
    const browser = await logIn(app.send, customer);
    const read = async (path: string) => textOf(await browser.send(path)).replaceAll(' .', '.');
    const places = ['/profile', '/profile/security', '/profile/products', '/profile/data'];
    expect(await read('/profile')).toContain('You can use our products and buy through them.');
    expect((await browser.send(page)).text).toContain('<title>Delete your account');
    await ask(browser);
    expect((await browser.send(page)).text).toContain('<title>Your account will be deleted');
    for (const path of places) {
      const text = await read(path);
      expect(text, path).toContain('Keep your account');
      expect(text, path).not.toMatch(/Delete your account|You can use our products|change your mind/);
    }
    const said =
      /Your account will be deleted on \d+ \w+ \d{4}, \d\d:\d\d UTC\. Until then you cannot open our products\./;
    for (const path of places.slice(0, 3)) expect(await read(path)).toMatch(said);
    await keep(browser);
    for (const path of places) expect(await read(path)).not.toContain('Keep your account');
  });

  it('asks for the password where the last one was given over ten minutes ago', async () => {
    const browser = await logIn(app.send, customer);
    lagMs += 11 * minuteMs;
    const asked = await ask(browser);
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Confirm it’s you');
    expect(asked.text).toContain('<button type="submit" class="danger">Delete your account</button>');
    expect((await ask(browser, { confirmPassword: 'not this one' })).status).toBe(401);
    expect((await findUser(customer)).due).toBeNull();
    expect((await ask(browser, { confirmPassword: password })).status).toBe(303);
    expect((await findUser(customer)).due).not.toBeNull();
    await reset();
  });

  it('is not for a session that a hand-off started', async () => {
    const browser = openBrowser(app.send);
    const opened = await browser.send(await buildHandOff(app, { id: 'leaver' }, now()));
    const { pathname, search } = locationOf(opened);
    expect((await browser.send(pathname + search, { form: {} })).status).toBe(303);
    expect(await browser.whoAmI()).toBe('leaver@example.test');
    for (const more of [undefined, { confirmPassword: '' }, { confirmPassword: password }]) {
      const asked = await ask(browser, more);
      expect([asked.status, textOf(asked)]).toEqual([401, expect.stringContaining('Set a password first')]);
    }
    expect((await findUser('leaver@example.test')).due).toBeNull();
  });

  it('refuses what is no action of it, and a click from elsewhere', async () => {
    const browser = await logIn(app.send, customer);
    expect((await browser.send(page, { form: { intent: 'other' } })).status).toBe(400);
    const headers = { origin: 'https://evil.example' };
    for (const intent of ['delete', 'keep'])
      expect((await browser.send(page, { form: { intent }, headers })).status).toBe(403);
    expect((await findUser(customer)).due).toBeNull();
  });

  it('plans once, and cancels once, when 16 ask at once', async () => {
    const email = 'merchant@example.test';
    const browser = await logIn(app.send, email);
    for (const { status } of await sixteen(() => ask(browser))) expect(status).toBe(303);
    const { due } = await findUser(email);
    lagMs += minuteMs;
    expect((await ask(browser)).status).toBe(303);
    expect((await findUser(email)).due).toEqual(due);
    for (const { status } of await sixteen(() => keep(browser))) expect(status).toBe(303);
    expect((await findUser(email)).due).toBeNull();
    const notices = await listNotices(app.db, email);
    expect(notices.filter((kind) => kind.startsWith('deletion_'))).toEqual([
      'deletion_requested',
      'deletion_canceled',
    ]);
    const types = await readTypes(email);
    expect(types.filter((type) => type.startsWith('user.deletion_'))).toEqual([
      'user.deletion_requested',
      'user.deletion_canceled',
    ]);
  });

  it('keeps the account by one click, however old the login is, and says so', async () => {
    const browser = await logIn(app.send, customer);
    await ask(browser);
    lagMs += 60 * minuteMs;
    const answer = await keep(browser);
    expect((await findUser(customer)).due).toBeNull();
    const { pathname, search } = locationOf(answer);
    expect(textOf(await browser.send(pathname + search, { headers: html }))).toContain(
      'Your account will not be deleted.',
    );
  });
});

describe('while the deletion is planned, a launch', () => {
  const launch = '/sso/launch/marketplace?state=abc';

  it('stops at the page that offers to keep the account, and goes on from there (contract 4.19)', async () => {
    const browser = await logIn(app.send, customer);
    await ask(browser);
    const stopped = locationOf(await browser.send(launch));
    expect(stopped.pathname).toBe(page);
    expect(stopped.searchParams.get('next')).toBe(launch);
    const shown = textOf(await browser.send(stopped.pathname + stopped.search, { headers: html }));
    expect(shown).toContain('To continue to Marketplace, keep your account.');
    const kept = targetOf(await keep(browser, stopped.search));
    expect(kept.pathname + kept.search).toBe(launch);
    expect(locationOf(await browser.send(launch)).searchParams.has('payload')).toBe(true);
    const again = targetOf(await browser.send(stopped.pathname + stopped.search, { headers: html }));
    expect(again.pathname + again.search).toBe(launch);
  });

  it('gets interaction_required where it must show no page, and never a payload (contract 4.5)', async () => {
    const browser = await logIn(app.send, customer);
    await ask(browser);
    const { searchParams } = locationOf(await browser.send(`${launch}&prompt=none`));
    expect(Object.fromEntries(searchParams)).toEqual({ error: 'interaction_required', state: 'abc' });
    const handedOver = await openHandOff(app, await buildHandOff(app, { id: 'leaver' }, now()));
    expect(handedOver.status).toBe(303);
    await reset();
  });

  it('leads nowhere else from the click', async () => {
    const browser = await logIn(app.send, customer);
    await ask(browser);
    const kept = await keep(browser, '?next=https://evil.example/');
    expect(kept.headers.get('location')).toBe('/profile?saved=deletion-canceled');
  });
});

describe('an administrator', () => {
  it('cannot leave as the last one, and is told so', async () => {
    const browser = await logIn(app.send, 'admin@example.test');
    const refused = await ask(browser);
    expect([refused.status, textOf(refused)]).toEqual([
      409,
      expect.stringContaining('You are the only administrator'),
    ]);
    expect((await findUser('admin@example.test')).due).toBeNull();
  });

  it('can leave where there is another, but not both at once', async () => {
    await sql`update users set role = 'admin' where email = 'manager@example.test'`.execute(app.db);
    const browsers = [
      await logIn(app.send, 'admin@example.test'),
      await logIn(app.send, 'manager@example.test'),
    ];
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(browsers.map((browser) => ask(browser)));
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      await reset();
    }
  });

  it('that is suspended, or leaves too, does not count', async () => {
    const browser = await logIn(app.send, 'admin@example.test');
    await sql`update users set suspended_at = now() where email = 'manager@example.test'`.execute(app.db);
    expect((await ask(browser)).status).toBe(409);
  });
});
