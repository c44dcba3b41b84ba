// A shop on the example of a kit, as a client of the real service; a browser for it; and tests for every such example.
import { expect, it } from 'vitest';
import { listen } from '../../../server/runtime/listen.ts';
import { openApp, type TestApp } from '../app/app.ts';
import { findFreePort } from '../app/process.ts';
import { submitProfile } from '../app/visitor.ts';

export type Site = { origin: string; close: () => Promise<void> };

export type Shop<Of extends Site = Site> = {
  app: TestApp;
  issuer: string;
  site: Of;
  close: () => Promise<void>;
};

/** `openSite` starts the example for the service on `port`. */
export async function openShop<Of extends Site>(
  { host, siteHost = host, secret }: { host: string; siteHost?: string; secret: string },
  openSite: (at: { port: number; sitePort: number; issuer: string }) => Promise<Of>,
): Promise<Shop<Of>> {
  const [port, sitePort] = [await findFreePort(), await findFreePort()];
  const issuer = `http://${host}:${port}`;
  const origin = `http://${siteHost}:${sitePort}`;
  const app = await openApp({
    env: {
      IDENTITY_ISSUER: issuer,
      SSO_CLIENTS: 'shop',
      SSO_SHOP_SECRET: secret,
      SSO_SHOP_CALLBACK_URL: `${origin}/sso/callback`,
      SSO_SHOP_LOGIN_URL: `${origin}/login`,
      SSO_SHOP_EVENTS_URL: `${origin}/sso/events`,
    },
  });
  const listener = await listen(app.fetch, { host, port });
  const closeService = async () => {
    await listener.close(0);
    await app.close();
  };
  const site = await openSite({ port, sitePort, issuer }).catch(async (error) => {
    await closeService();
    throw error;
  });
  return { app, issuer, site, close: () => site.close().finally(closeService) };
}

/** A browser that keeps cookies, and follows no redirect. */
export function openSiteBrowser({ origin }: Pick<Site, 'origin'>, cookies = new Map<string, string>()) {
  return {
    cookies,
    async go(path: string, method = 'GET', body?: URLSearchParams) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(new URL(path, origin), {
        method,
        body: body ?? null,
        headers: { cookie },
        redirect: 'manual',
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/; *max-age=0(;|$)/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      const { status, headers } = response;
      return {
        status,
        headers,
        refusal: headers.get('identity-refusal'),
        location: headers.get('location') ?? '',
        cacheControl: headers.get('cache-control'),
        text: await response.text(),
      };
    },
  };
}

export const customer = 'customer@example.test';

/** A browser that has asked for a login, and the URL that the service sends it to. */
export async function startLogin(
  { app, issuer, site }: Shop,
  identityCookie: string,
  browser = openSiteBrowser(site),
) {
  const { status, location } = await browser.go('/login?return_to=%2Forders%3Fx%3D1');
  expect([status, location.startsWith(`${issuer}/sso/launch/shop?`)]).toEqual([303, true]);
  const launch = await app.send(location, { cookie: identityCookie });
  return { browser, callback: launch.headers.get('location') ?? '' };
}

const soon = { timeout: 15_000, interval: 100 };

/** `findShop` returns the shop that `beforeAll` opened. Its page shows `greeting` to people who are logged in. */
export function testExample(findShop: () => Shop, greeting: string): void {
  it('logs in, goes on to where the person wanted to go, and refuses the same hand-off again', async () => {
    const shop = findShop();
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    expect((await browser.go(callback, 'HEAD')).status).toBe(204);
    const answer = await browser.go(callback);
    expect([answer.status, answer.location]).toEqual([303, `${shop.site.origin}/orders?x=1`]);
    expect((await browser.go('/')).text).toContain(greeting);
    const again = await browser.go(callback);
    expect([again.status, again.refusal]).toEqual([409, 'nonce_replayed']);
    expect(again.headers.get('identity-launch')).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4}$/);
    expect(again.headers.get('cache-control')).toBe('no-store');
  });

  it('logs in from two tabs, in either order', async () => {
    const shop = findShop();
    const cookie = await shop.app.login(customer);
    const first = await startLogin(shop, cookie);
    const second = await startLogin(shop, cookie, first.browser);
    for (const { browser, callback } of [second, first])
      expect((await browser.go(callback)).status).toBe(303);
  });

  it('starts a session for exactly one of 16 requests at once', async () => {
    const shop = findShop();
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    const twins = Array.from({ length: 16 }, () => openSiteBrowser(shop.site, new Map(browser.cookies)));
    const answers = await Promise.all(twins.map((twin) => twin.go(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
    const pages = await Promise.all(twins.map((twin) => twin.go('/')));
    expect(pages.filter(({ text }) => text.includes(greeting))).toHaveLength(1);
  });

  it('shows a page for a planted hand-off, and asks for one of its own where there is no state (contract 3.26 and 3.27)', async () => {
    const shop = findShop();
    const cookie = await shop.app.login(customer);
    const { callback } = await startLogin(shop, cookie);
    const planted = await openSiteBrowser(shop.site).go(callback);
    expect([planted.status, planted.refusal]).toEqual([403, 'state_unknown']);
    const unasked = await shop.app.send('/sso/launch/shop', { cookie });
    const browser = openSiteBrowser(shop.site);
    const { status, location } = await browser.go(unasked.headers.get('location') ?? '');
    expect([status, location]).toEqual([303, `${shop.site.origin}/login`]);
    expect((await browser.go('/')).text).toContain('Log in');
  });

  it('shows a new name, and ends the session with the login, by events (contract 1.3)', async () => {
    const shop = findShop();
    const cookie = await shop.app.login(customer);
    const { browser, callback } = await startLogin(shop, cookie);
    await browser.go(callback);
    const late = await startLogin(shop, cookie);
    const name = `Ann ${Date.now()}`;
    const edit = await submitProfile(shop.app.send, cookie, { intent: 'names', name, accountName: 'Ann' });
    expect(edit.status).toBe(200);
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain(name);
    await shop.app.send('/logout', { method: 'POST', cookie });
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain('Log in');
    const refused = await late.browser.go(late.callback);
    expect([refused.status, refused.refusal]).toEqual([403, 'session_ended']);
  });

  it('refuses a nudge that is not signed, and a method that it does not support', async () => {
    const { site } = findShop();
    const forged = await fetch(`${site.origin}/sso/events`, {
      method: 'POST',
      body: '{"client":"shop","latest":1}',
      headers: { 'webhook-id': 'shop_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    });
    expect([forged.status, forged.headers.get('identity-refusal')]).toEqual([401, 'nudge_signature_wrong']);
    const got = await openSiteBrowser(site).go('/sso/events');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const posted = await openSiteBrowser(site).go('/sso/callback', 'POST');
    expect([posted.status, posted.refusal]).toEqual([405, 'method_not_allowed']);
  });
}
