// Which users see a client among the products (contract 8.60 to 8.63).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { logIn } from '../support/app/visitor.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const env = {
  SSO_CLIENTS: 'for_merchants,for_administrators,for_both,for_visitors',
  SSO_FOR_MERCHANTS_LISTED: 'merchants',
  SSO_FOR_ADMINISTRATORS_LISTED: 'administrators',
  SSO_FOR_BOTH_LISTED: 'administrators, merchants',
  SSO_FOR_VISITORS_LISTED: 'visited',
};

let now = new Date();
const app = shared(() => openApp({ env, now: () => now }));

/** Returns the names of the products that a program gets. The page has to show these names, too. */
async function productsOf(cookie: string): Promise<string[]> {
  const products = await openClient(app.send, cookie).products.list.query();
  const { text } = await app.send('/profile/products', { cookie });
  const shown = [...text.matchAll(/Open<span class="visually-hidden"> (?:<!-- -->)?([^<]+)</g)];
  expect(shown.map(([, title]) => title).sort()).toEqual(products.map(({ title }) => title).sort());
  return products.map(({ name }) => name);
}

const usual = ['marketplace', 'network_site'];

describe('a client is listed', () => {
  it.each([
    ['customer@example.test', []],
    ['unverified@example.test', []],
    ['merchant@example.test', ['for_merchants', 'for_both']],
    // Clients see this user as a merchant, although their only capability is not in force.
    ['new-merchant@example.test', ['for_merchants', 'for_both']],
    ['manager@example.test', ['for_administrators', 'for_both']],
    ['admin@example.test', ['for_administrators', 'for_both']],
  ])('to %s by the role that clients see: %j', async (email, more) => {
    expect(await productsOf(await app.login(email))).toEqual([...usual, ...more]);
  });

  it('to an administrator as that, whatever their account may do', async () => {
    await sql`update accounts set capabilities = '{sell_services}'
      where id = (select account_id from users where email = 'admin@example.test')`.execute(app.db);
    const cookie = await app.login('admin@example.test');
    expect(await productsOf(cookie)).toEqual([...usual, 'for_administrators', 'for_both']);
  });

  it('to people who have been there, even long after that login is gone, and to nobody else', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    for (const client of ['for_visitors', 'crm_app', 'for_merchants'])
      expect((await browser.send(`/sso/launch/${client}`)).status).toBe(303);
    const all = ['marketplace', 'network_site', 'crm_app', 'for_visitors'];
    expect(await productsOf(browser.cookie())).toEqual(all);
    await browser.send('/logout', { form: {} });
    await sql`delete from launches`.execute(app.db);
    expect(await productsOf(await app.login('customer@example.test'))).toEqual(all);
    expect(await productsOf(await app.login('manager@example.test'))).not.toContain('for_visitors');
  });
});

describe('a client for people with a contract', () => {
  const contract = { plan: 'starter', status: 'active' };
  const report = async (signupId: string, email: string, more: object = {}) => {
    const user = { email, name: 'Wanda' };
    const occurred_at = now.toISOString();
    const signup = buildSignup(signupId, { user, occurred_at, contract: { ...contract, ...more } }, now);
    expect((await sendSignup(app, signup, { at: now })).status).toBeLessThan(300);
  };
  const later = (days: number) => {
    now = new Date(now.getTime() + days * 24 * 3_600_000);
  };

  it('is listed while one is running: active, late with a payment, or on trial', async () => {
    const email = 'merchant@example.test';
    const cookie = await app.login(email);
    const isListed = async () => (await productsOf(cookie)).includes('crm_app');
    expect(await isListed()).toBe(false);
    await report('runs', email);
    expect(await isListed()).toBe(true);
    await sql`update service_contracts set status = 'past_due' where signup_id = 'runs'`.execute(app.db);
    expect(await isListed()).toBe(true);
    later(1);
    await report('runs', email, { status: 'canceled' });
    expect(await isListed()).toBe(false);

    const trial_ends_at = new Date(now.getTime() + 2 * 24 * 3_600_000).toISOString();
    await report('tries', email, { status: 'trialing', trial_ends_at });
    expect(await isListed()).toBe(true);
    // After the end of the trial, the product is not listed, even if the billing job has not stored the end.
    later(2);
    await sql`update service_contracts set status = 'trialing' where signup_id = 'tries'`.execute(app.db);
    expect(await isListed()).toBe(false);
  });

  it('says nothing of a contract before the address is proved', async () => {
    await report('unproved', 'unverified@example.test');
    const cookie = await app.login('unverified@example.test');
    expect(await productsOf(cookie)).toEqual(usual);
    await sql`update users set email_verified_at = now() where email = 'unverified@example.test'`.execute(
      app.db,
    );
    expect(await productsOf(cookie)).toEqual(['marketplace', 'network_site', 'crm_app']);
  });
});

it('a client that is not listed refuses nobody', async () => {
  const browser = await logIn(app.send, 'new-merchant@example.test');
  expect(await productsOf(browser.cookie())).not.toContain('for_administrators');
  const answer = await browser.send('/sso/launch/for_administrators');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toContain('payload=');
});

it('a person to whom nothing is listed is told so', async () => {
  const settings = Object.fromEntries(
    ['SSO_MARKETPLACE', 'SSO_WEBSITE'].map((prefix) => [`${prefix}_LISTED`, 'administrators']),
  );
  const other = await app.startInstance({ env: settings });
  const { text } = await other.send('/profile/products', {
    cookie: await other.login('manager@example.test'),
  });
  expect(text).toContain('Open<span');
  await sql`delete from client_users`.execute(app.db);
  const cookie = await other.login('customer@example.test');
  expect((await other.send('/profile/products', { cookie })).text).toContain('No products yet');
});
