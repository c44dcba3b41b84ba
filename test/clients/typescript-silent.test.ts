// Silent logins on the kit for TypeScript, at the real service, in a Chromium that blocks the cookies of third parties and
// deletes what bounce trackers keep. Needs Debian's chromium: the headless one of npm has no such protections.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { type BrowserContext, chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { createIdentityClient, createMemoryStores } from '../../clients/typescript/src/index.ts';
import { identityRoutes } from '../../clients/typescript/src/web.ts';
import { listen } from '../../server/runtime/listen.ts';
import { logIn } from '../support/app/browser.ts';
import { findFreePort } from '../support/app/process.ts';
import { customer, openShop } from '../support/clients/shop.ts';
import { byForm } from '../support/faults/faults.ts';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

requirePrograms('/usr/bin/chromium');
const folder = await sharedFolder();
const secret = 'a-secret-that-nobody-else-has-0123456789';
const showPage = (text: string) =>
  new Response(`<p>${text}</p>`, { headers: { 'content-type': 'text/html; charset=utf-8' } });

/** A site with pages that everybody may read. It counts the silent logins that it begins. */
const shop = shared(() =>
  openShop({ host: 'localhost', siteHost: '127.0.0.1', secret }, async ({ sitePort, issuer }) => {
    const origin = `http://127.0.0.1:${sitePort}`;
    const identityUrl = issuer.replace('//', `//shop:${secret}@`);
    const identity = createIdentityClient({ identityUrl, origin, ...createMemoryStores() });
    const answerRoute = identityRoutes(identity);
    let asked = 0;
    async function answer(request: Request) {
      const routed = await answerRoute(request);
      if (routed) return routed;
      const silent = await identity.loginSilently(request);
      if (silent) asked += 1;
      return silent ?? showPage(`Hello, ${(await identity.currentPerson(request))?.name ?? 'stranger'}`);
    }
    const { close } = await listen(answer, { host: '127.0.0.1', port: sitePort });
    return { origin, countAsked: () => asked, close: () => close(0) };
  }),
);

/** A tracker: other sites frame its page, or it redirects the browser on (a bounce). */
const tracker = shared(async () => {
  const port = await findFreePort();
  async function answer(request: Request) {
    const { pathname, search } = new URL(request.url);
    const framed = showPage(`has ${request.headers.get('cookie') ?? 'no cookie'}`);
    framed.headers.set('set-cookie', 'third=1; SameSite=None; Secure; Path=/');
    const headers = { 'set-cookie': 'bounced=1; Path=/', location: `http://elsewhere.test:${port}/` };
    if (pathname === '/bounce') return new Response(null, { status: 302, headers });
    if (pathname === '/framed') return framed;
    return showPage(search ? `<iframe src="http://localhost:${port}/framed"></iframe>` : 'a page');
  }
  const { close } = await listen(answer, { host: '127.0.0.1', port });
  return { port, close: () => close(0) };
});

/** Starts Chromium with the settings of one person instead of its default settings. */
async function start(name: string, profile: object): Promise<BrowserContext> {
  const data = join(folder, name);
  await mkdir(join(data, 'Default'), { recursive: true });
  await writeFile(join(data, 'Default/Preferences'), JSON.stringify({ profile }));
  // Chromium finds a bounce, and deletes the site's data, within seconds instead of hours.
  const bounces = 'delete/true/grace_period/0s/timer_delay/1s/client_bounce_detection_timeout/1s';
  return chromium.launchPersistentContext(data, {
    executablePath: '/usr/bin/chromium',
    env: { ...process.env, HOME: folder } as Record<string, string>,
    headless: false,
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--host-resolver-rules=MAP *.test 127.0.0.1',
      `--enable-features=DIPS:${bounces}/triggering_action/stateful_bounce`,
    ],
  });
}

/** In Chromium's settings: block third-party cookies. */
const protective = { cookie_controls_mode: 1, block_third_party_cookies: true };
const blockedVisits = byForm({ short: 60, long: 200 });
const soon = { timeout: 30_000, interval: 200 };

it('logs in silently where third parties have no cookies and bounce trackers lose theirs (contract 13.128)', async () => {
  const context = await start('protective', protective);
  const page = await context.newPage();
  const read = async (address: string) => {
    await page.goto(address);
    return page.locator('p').textContent();
  };
  const news = `${shop.site.origin}/news?page=2`;
  try {
    // The protections work: the framed page gets no cookie.
    for (let n = 0; n < 2; n++) await page.goto(`http://127.0.0.1:${tracker.port}/?framed`);
    expect(await page.frameLocator('iframe').locator('p').textContent()).toBe('has no cookie');

    expect(await read(news)).toBe('Hello, stranger');
    expect(page.url()).toBe(news);
    await page.goto(`${shop.issuer}/login`);
    await logIn(page, customer);
    await page.waitForURL((url) => url.pathname !== '/login');
    expect(await read(news)).toBe('Hello, stranger');
    await context.clearCookies({ domain: '127.0.0.1' });
    expect(await read(news)).toBe('Hello, Casey Customer');
    expect(page.url()).toBe(news);
    expect(shop.site.countAsked()).toBe(2);

    await page.goto(`http://start.test:${tracker.port}/`);
    await page.evaluate((to) => location.assign(to), `http://bounce.test:${tracker.port}/bounce`);
    await page.waitForURL('http://elsewhere.test:*/');
    const names = async () => (await context.cookies()).map(({ name }) => name);
    expect(await names()).toContain('bounced');
    await page.goto('about:blank');
    await expect.poll(names, soon).not.toContain('bounced');
    // The service has redirected the browser, too. Chromium keeps the service's session, because the person has typed on a page
    // of the service.
    await context.clearCookies({ domain: '127.0.0.1' });
    expect(await read(news)).toBe('Hello, Casey Customer');
  } finally {
    await context.close();
  }
});

it.each([
  ['keeps cookies', {}, 20, 1],
  ['blocks the cookies of the site', { blocks: true }, blockedVisits, blockedVisits],
])(
  'asks a browser that %s at most once in each visit (contract 13.129 and 13.136)',
  async (_, { blocks }: { blocks?: boolean }, visits, asks) => {
    const site = `${shop.site.origin},*`;
    const context = await start(blocks ? 'blocking' : 'keeping', {
      ...protective,
      ...(blocks && { content_settings: { exceptions: { cookies: { [site]: { setting: 2 } } } } }),
    });
    const page = await context.newPage();
    const asked = shop.site.countAsked();
    try {
      for (let n = 0; n < visits; n++) {
        const before = shop.site.countAsked();
        const news = `${shop.site.origin}/news?page=${n}`;
        await page.goto(news, { waitUntil: 'commit' });
        expect(page.url()).toBe(blocks ? `${news}&silent=no` : news);
        expect(shop.site.countAsked() - before).toBeLessThanOrEqual(1);
        // In the second half of the visits, somebody is logged in at the service, so a hand-off comes back.
        if (n === visits / 2) {
          await page.goto(`${shop.issuer}/login`);
          await logIn(page, customer);
          await page.waitForURL((url) => url.pathname !== '/login');
        }
      }
      expect(shop.site.countAsked() - asked).toBe(asks);
      const kept = (await context.cookies()).filter(({ domain }) => domain === '127.0.0.1');
      expect(kept.length > 0).toBe(!blocks);
    } finally {
      await context.close();
    }
  },
);
