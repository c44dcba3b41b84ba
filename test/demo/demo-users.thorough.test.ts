// Contract 11.1 and 11.2: the demo users of local mode, seeded one time, never in production.
import { sql } from 'kysely';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { type AppOptions, locationOf, openApp, type TestApp } from '../support/app/app.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const opened: TestApp[] = [];
async function open(options?: AppOptions): Promise<TestApp> {
  const app = await openApp(options);
  opened.push(app);
  return app;
}

const app = shared(openApp);
afterAll(() => Promise.all(opened.map(({ close }) => close())));

const emails = async ({ db } = app) =>
  (await sql<{ email: string }>`select email from users order by email`.execute(db)).rows.map(
    ({ email }) => email,
  );

const everybody = [
  'admin@example.test',
  'customer@example.test',
  'manager@example.test',
  'merchant@example.test',
  'new-merchant@example.test',
  'suspended@example.test',
  'unverified@example.test',
];

describe('the demo users of local mode', () => {
  it('are the seven that the contract names', async () => {
    expect(await emails()).toEqual(everybody);
  });

  it.each([
    ['merchant@example.test', 'merchant', ['manage_storefront', 'sell_products', 'sell_services']],
    ['new-merchant@example.test', 'merchant', []],
    ['customer@example.test', 'customer', []],
    ['manager@example.test', 'admin', []],
    ['admin@example.test', 'admin', []],
    ['unverified@example.test', 'customer', []],
  ])('include %s, who logs in as %s', async (email, role, capabilities) => {
    const cookie = await app.login(email);
    const profile = JSON.parse((await app.send('/sso/profile', { cookie })).text);
    expect(profile).toMatchObject({ email, role, account: { capabilities } });
    const launched = await app.send('/sso/launch/marketplace', { cookie });
    const goesTo = email.startsWith('unverified') ? '/verify-email' : '/demo/marketplace/callback';
    expect(locationOf(launched).pathname).toBe(goesTo);
  });

  it('include one who is suspended, one with an unverified capability, and a manager', async () => {
    const form = { email: 'suspended@example.test', password: 'local demo password' };
    expect((await app.send('/login', { form })).status).toBe(403);
    const { rows } = await sql`select u.role, a.capabilities, a.verified_at from users u
      join accounts a on a.id = u.account_id
      where email in ('new-merchant@example.test', 'manager@example.test') order by email`.execute(app.db);
    expect(rows).toEqual([
      { role: 'manager', capabilities: [], verified_at: null },
      { role: 'user', capabilities: ['sell_products'], verified_at: null },
    ]);
  });

  it('are listed on the login page, with their password', async () => {
    const { text } = await app.send('/login');
    for (const email of everybody) expect(text).toContain(email);
    expect(text).toContain('local demo password');
  });

  it('are seeded once: a later start changes none and brings none back', async () => {
    await sql`delete from users where email = 'manager@example.test'`.execute(app.db);
    await sql`update users set name = 'Changed' where email = 'admin@example.test'`.execute(app.db);
    const { login, send } = await app.startInstance();
    expect(await emails()).toEqual(everybody.filter((email) => email !== 'manager@example.test'));
    const cookie = await login('admin@example.test');
    expect(JSON.parse((await send('/sso/profile', { cookie })).text).name).toBe('Changed');
  });

  it('are seeded once when 8 instances start at once', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const started = await openApp();
    try {
      const instances = await Promise.all(
        Array.from({ length: 8 }, () => started.startInstance({ databaseUrl: url })),
      );
      const [first] = instances;
      const cookie = await first?.login('admin@example.test');
      for (const { send } of instances) expect((await send('/sso/profile', { cookie })).status).toBe(200);
    } finally {
      await started.close();
      await drop();
    }
  });
});

describe('the demo users', () => {
  const production = {
    NODE_ENV: 'production',
    IDENTITY_ISSUER: 'https://id.market.test',
    DATABASE_URL: 'postgres://unused',
    SMTP_URL: 'smtp://mail.market.test',
    MAIL_FROM: 'id@market.test',
    TRUSTED_PROXIES: 'none',
    IDENTITY_ENCRYPTION_KEY: 'fXtK1cQ0sN2mRr9hYw3uEo7bVg5LzPa8DjUiH4xTkSg=',
    SSO_MARKETPLACE_CALLBACK_URL: 'https://www.market.test/sso',
    SSO_MARKETPLACE_SECRET: 'mhX7Zr2VbQk9sTfWc4LdYp8GnJu3Ae6R',
  };

  it('do not exist in production, nor do the demo clients', async () => {
    const live = await open({ env: production });
    expect(await emails(live)).toEqual([]);
    for (const client of ['marketplace', 'network_site', 'crm_app'])
      for (const end of ['', '/login', '/callback'])
        expect((await live.send(`/demo/${client}${end}`)).status).toBe(404);
    expect((await live.send('/sso/launch/crm_app')).status).toBe(404);
    const login = await live.send('/login');
    expect(login.status).toBe(200);
    expect(login.text).not.toMatch(/local mode|local demo|example\.test/i);
    for (const email of everybody) {
      const form = { email, password: 'local demo password' };
      expect((await live.send('/login', { form })).status).toBe(401);
    }
  });

  it('keep the service from starting in production, even if renamed', async () => {
    const local = await open();
    await sql`update users set email = id || '@market.test', password_hash = null`.execute(local.db);
    await sql`delete from users where role <> 'admin'`.execute(local.db);
    await expect(local.startInstance({ env: production })).rejects.toThrow(/demo users/);
    await sql`delete from users`.execute(local.db);
    await expect(local.startInstance({ env: production })).resolves.toBeDefined();
  });
});
