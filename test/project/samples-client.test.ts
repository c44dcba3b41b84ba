// The client that docs/integrate.md has its readers build, part by part and as a whole.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf, openApp, type TestApp, type TestInstance } from '../support/app.ts';
import { findFreePort } from '../support/process.ts';
import { hasTools, importSample } from '../support/run-sample.ts';
import {
  openBrowser,
  openJavaScriptSite,
  openWordPressSite,
  type SampleSite,
} from '../support/sample-sites.ts';
import {
  clientSample,
  ownMachineSample,
  proofSample,
  serverSample,
  verifierSample,
} from '../support/samples.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

const settings = { issuer: 'http://localhost:3000', client: 'shop' };
const secret = 'a-secret-of-the-shop-for-this-test';
const next = 'the-next-secret-of-the-shop-for-it';

const kinds = [
  ['JavaScript', openJavaScriptSite, true],
  ['PHP, as a WordPress plugin', openWordPressSite, await hasTools('php')],
] as const;

for (const [kind, openSampleSite, isHere] of kinds) {
  describe.runIf(isHere)(`the client in ${kind},`, () => {
    let site: SampleSite;
    let plain: TestInstance;
    let rotating: TestInstance;
    let customer: string;
    beforeAll(async () => {
      site = await openSampleSite(settings);
      const env = { SSO_CLIENTS: 'shop', SSO_SHOP_CALLBACK_URL: site.callbackUrl };
      plain = await app.startInstance({ env: { ...env, SSO_SHOP_SECRET: secret } });
      rotating = await app.startInstance({ env: { ...env, SSO_SHOP_SECRET: `${secret},${next}` } });
      customer = await app.login('customer@example.test');
    });
    afterAll(() => site.close());
    beforeEach(() => site.holdSecrets([secret]));

    /** The path on the site that the launch sends somebody to who is logged in. */
    async function launch(path: string, cookie = customer, { send } = plain): Promise<string> {
      const { origin, pathname, search } = locationOf(await send(path, { cookie }));
      expect(origin).toBe(new URL(site.callbackUrl).origin);
      return pathname + search;
    }

    /** A browser that has asked for a login, and the hand-off on its way to it. */
    async function start(instance = plain) {
      const browser = openBrowser(site);
      const { location } = await browser.go(withQuery(site.login, 'return_to=%2Forders'));
      const callback = await launch(location ?? '', customer, instance);
      return { browser, callback };
    }

    const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

    const pathOf = (location: string | null) => location?.replace(new URL(site.callbackUrl).origin, '');

    /** A page with a link to the login, no redirect, no session. */
    async function expectPage({ browser, callback }: Awaited<ReturnType<typeof start>>, reason: string) {
      const answer = await browser.go(callback);
      expect([answer.status, answer.location, answer.set]).toEqual([401, null, []]);
      expect(answer.text.replaceAll('&amp;', '&')).toContain(`${site.login}"`);
      expect(await site.readLog()).toEqual([`hand-off refused: ${reason}`]);
    }

    it('logs in, and goes on to where the person wanted to go', async () => {
      const { browser, callback } = await start();
      const [attempt] = browser.cookies.keys();
      expect(attempt).toMatch(/^__Host-\w+_[\w-]{22,32}$/);
      const answer = await browser.go(callback);
      expect([answer.status, pathOf(answer.location)]).toEqual([303, '/orders']);
      expect([...browser.cookies.keys()]).not.toContain(attempt);
      expect((await browser.go('/')).text).toBe('customer@example.test');
      // A login again has a session of its own, of the same person.
      const before = [...browser.cookies.values()];
      const { location } = await browser.go(site.login);
      expect(pathOf((await browser.go(await launch(location ?? ''))).location)).toBe('/');
      expect([...browser.cookies.values()]).not.toEqual(before);
      expect((await browser.go('/')).text).toBe('customer@example.test');
    });

    it('sets cookies that scripts and other sites do not get', async () => {
      const { set } = await openBrowser(site).go(site.login);
      expect(set).toHaveLength(1);
      for (const attribute of [
        /; HttpOnly/i,
        /; Secure/i,
        /; SameSite=Lax/i,
        /; Max-Age=600/i,
        /; Path=\/(;|$)/i,
      ])
        expect(set[0]).toMatch(attribute);
      expect(set[0]).not.toMatch(/domain/i);
    });

    it('refuses a replay, whatever cookies come with it', async () => {
      const { browser, callback } = await start();
      const attempts = new Map(browser.cookies);
      await browser.go(callback);
      await expectPage({ browser, callback }, 'state unknown');
      for (const [name, value] of attempts) browser.cookies.set(name, value);
      await expectPage({ browser, callback }, 'used before');
    });

    it('starts a session for exactly one of 16 requests at once', async () => {
      const { browser, callback } = await start();
      const [attempt] = browser.cookies;
      const answers = await Promise.all(
        Array.from({ length: 16 }, () => {
          const twin = openBrowser(site);
          twin.cookies.set(...(attempt ?? ['', '']));
          return twin.go(callback);
        }),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(401)]);
      expect(await site.readLog()).toEqual(Array(15).fill('hand-off refused: used before'));
    });

    it('shows a page for a planted hand-off of another attempt, and leaves it unused', async () => {
      const victim = await start();
      const attacker = await start();
      const nonces = await site.countNonces();
      await expectPage({ browser: victim.browser, callback: attacker.callback }, 'state unknown');
      await expectPage({ browser: openBrowser(site), callback: attacker.callback }, 'state unknown');
      expect(await site.countNonces()).toBe(nonces);
      expect((await victim.browser.go('/')).text).toBe('nobody');
      for (const { browser, callback } of [attacker, victim])
        expect(pathOf((await browser.go(callback)).location)).toBe('/orders');
    });

    it('starts a login of its own for a hand-off without a state, and leaves it unused', async () => {
      const { browser } = await start();
      const nonces = await site.countNonces();
      const answer = await browser.go(await launch('/sso/launch/shop'));
      expect([answer.status, pathOf(answer.location), answer.set]).toEqual([303, site.login, []]);
      expect(await site.countNonces()).toBe(nonces);
      const { location } = await browser.go(pathOf(answer.location) ?? '');
      expect(pathOf((await browser.go(await launch(location ?? ''))).location)).toBe('/');
      expect((await browser.go('/')).text).toBe('customer@example.test');
    });

    it('leads on to its start page where somebody is logged in already', async () => {
      const { browser, callback } = await start();
      await browser.go(callback);
      const merchant = await app.login('merchant@example.test');
      const answer = await browser.go(await launch('/sso/launch/shop', merchant));
      expect([answer.status, pathOf(answer.location), answer.set]).toEqual([303, '/', []]);
      expect((await browser.go('/')).text).toBe('customer@example.test');
    });

    it('shows a page for a state that nobody asked with, and for an error', async () => {
      const browser = openBrowser(site);
      await expectPage({ browser, callback: await launch('/sso/launch/shop?state=mine') }, 'state unknown');
      const callback = await launch('/sso/launch/shop?prompt=none&state=mine', 'none=1');
      expect(callback).toContain('error=login_required');
      await expectPage({ browser, callback }, 'payload malformed');
    });

    it('looks at the state only of a hand-off that is genuine', async () => {
      const callback = (await launch('/sso/launch/shop')).replace(/.$/, (digit) =>
        digit === '0' ? '1' : '0',
      );
      await expectPage({ browser: openBrowser(site), callback }, 'signature wrong');
    });

    it('takes either signature of a rotation, with either secret', async () => {
      for (const held of [[secret], [next], [secret, next], [next, 'another-secret']]) {
        await site.holdSecrets(held);
        const { browser, callback } = await start(rotating);
        expect(callback).toContain('&signature_next=');
        expect(pathOf((await browser.go(callback)).location)).toBe('/orders');
      }
      await site.holdSecrets(['another-secret']);
      await expectPage(await start(rotating), 'signature wrong');
      await site.holdSecrets([next]);
      await expectPage(await start(), 'signature wrong');
    });

    it('keeps five attempts of a browser, and drops the oldest', async () => {
      const browser = openBrowser(site);
      const locations: string[] = [];
      for (let attempt = 0; attempt < 6; attempt++) {
        const { location } = await browser.go(site.login);
        locations.push(location ?? '');
        // Which is older shows in the times only: the newest comes first.
        const kept = [...browser.cookies];
        const [name = '', startedAt] = kept.pop() ?? [];
        browser.cookies.clear();
        browser.cookies.set(name, String(Number(startedAt) - 60 + attempt));
        for (const cookie of kept) browser.cookies.set(...cookie);
      }
      expect(browser.cookies.size).toBe(5);
      const [oldest = '', ...others] = locations;
      await expectPage({ browser, callback: await launch(oldest) }, 'state unknown');
      for (const location of others.reverse())
        expect((await browser.go(await launch(location))).status).toBe(303);
    });

    it('uses nothing up before the click', async () => {
      const { browser, callback } = await start();
      const ahead = { headers: { 'sec-purpose': 'prefetch;prerender' } };
      for (const options of [{ method: 'HEAD' }, ahead])
        expect(await browser.go(callback, options)).toMatchObject({ status: 204, set: [], text: '' });
      expect((await browser.go(callback)).status).toBe(303);
    });
  });
}

describe.runIf(await hasTools('php'))('the users of WordPress', () => {
  let site: Awaited<ReturnType<typeof openWordPressSite>>;
  let service: TestInstance;
  beforeAll(async () => {
    site = await openWordPressSite(settings);
    await site.holdSecrets([secret]);
    const client = { SSO_SHOP_CALLBACK_URL: site.callbackUrl, SSO_SHOP_SECRET: secret };
    service = await app.startInstance({ env: { SSO_CLIENTS: 'shop', ...client } });
  });
  afterAll(() => site.close());

  const readUsers = async () => JSON.parse(await readFile(site.users, 'utf8'));

  async function logIn(email: string) {
    const browser = openBrowser(site);
    const { location } = await browser.go(site.login);
    const launched = await service.send(location ?? '', { cookie: await service.login(email) });
    return browser.go(locationOf(launched).pathname + locationOf(launched).search);
  }

  it('are found by the id of the person, and kept up to date', async () => {
    expect((await logIn('merchant@example.test')).status).toBe(303);
    const [made] = await readUsers();
    const { identity_id: id } = made.meta_input;
    expect(made).toMatchObject({
      user_email: 'merchant@example.test',
      role: 'subscriber',
      user_login: `identity-${id}`,
    });
    const old = { ...made, role: 'editor', user_email: 'old@example.test', display_name: 'Old' };
    await writeFile(site.users, JSON.stringify([old]));
    expect((await logIn('merchant@example.test')).status).toBe(303);
    expect(await readUsers()).toEqual([{ ...made, role: 'editor', ID: 0 }]);
  });

  it('who were there before are not taken over', async () => {
    const before = [{ user_email: 'manager@example.test', role: 'administrator', meta_input: {} }];
    await writeFile(site.users, JSON.stringify(before));
    expect(await logIn('manager@example.test')).toMatchObject({ status: 401, set: [] });
    expect(await readUsers()).toEqual(before);
    expect(await site.readLog()).toEqual([expect.stringContaining('already used')]);
  });
});

it('a client in JavaScript that asks for the password again gets it asked', async () => {
  const site = await openJavaScriptSite(settings);
  const { location } = await openBrowser(site).go('/login?again&return_to=/payout');
  const { searchParams } = new URL(location ?? '');
  expect([searchParams.get('prompt'), searchParams.get('return_to')]).toEqual(['login', '/payout']);
});

it('a credential of long ago, or none, proves nobody', async () => {
  const { isProved } = await importSample(proofSample);
  const now = Date.now() / 1_000;
  for (const [authTime, expected] of [
    [now, true],
    [now - 329, true],
    [now - 331, false],
    [undefined, false],
  ])
    expect(isProved({ authTime })).toBe(expected);
  expect(isProved({ authTime: now - 31 }, 0)).toBe(false);
});

describe('the whole', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identity-sample-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('logs in on the machine of its reader', async () => {
    const port = await findFreePort();
    const here = (text: string) => text.replaceAll('4000', String(port));
    const settings = [...here(ownMachineSample).matchAll(/\b([A-Z_]+)=(\S+)/g)].map(
      ([, ...setting]) => setting,
    );
    const service = await app.startInstance({ env: Object.fromEntries(settings) });
    await writeFile(join(folder, 'verify-hand-off.mjs'), verifierSample);
    await writeFile(join(folder, 'login.mjs'), clientSample);
    await writeFile(join(folder, 'server.mjs'), here(serverSample));
    const child = spawn(process.execPath, [join(folder, 'server.mjs')], { stdio: 'inherit' });
    try {
      const site = `http://localhost:${port}`;
      const open = async (url: string, cookie = '') => {
        const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
        const cookies = response.headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
        return { location: response.headers.get('location') ?? '', cookies, text: await response.text() };
      };
      await expect
        .poll(() => open(site).catch(() => undefined), { timeout: 10_000 })
        .toMatchObject({
          text: expect.stringContaining('href="/login"'),
        });
      const start = await open(`${site}/login`);
      const cookie = await service.login('customer@example.test');
      const callback = locationOf(await service.send(start.location, { cookie })).href;
      const arrival = await open(callback, start.cookies.join('; '));
      expect([arrival.location, arrival.cookies.length]).toEqual(['/', 2]);
      const { text } = await open(site, arrival.cookies.join('; '));
      expect(JSON.parse(text)).toMatchObject({ email: 'customer@example.test', role: 'customer' });
    } finally {
      child.kill();
    }
  });
});
