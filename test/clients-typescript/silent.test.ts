// Silent logins on the kit for TypeScript (contract 13.128, 13.129 and 13.136).
import { beforeEach, expect, it } from 'vitest';
import type { RefusalCode } from '../../clients/typescript/src/index.ts';
import { openShop } from '../support/clients/kit-shop.ts';

let shop: ReturnType<typeof openShop>;
let browser: ReturnType<typeof shop.openBrowser>;
beforeEach(() => {
  shop = openShop();
  browser = shop.openBrowser();
});

/** Opens a page that logs in silently. Returns the URL of the launch, or undefined if the page is shown. */
async function visit(path = '/news?page=2', by = browser, headers: Record<string, string> = {}) {
  const answer = await shop.identity.loginSilently(by.request(path, { headers }));
  return answer && (by.keepCookies(answer).headers.get('location') ?? '');
}

const noPerson: RefusalCode[] = ['login_required', 'interaction_required', 'access_denied'];
const locationAfter = async (address: string, by = browser) =>
  (await by.open(address)).headers.get('location') ?? '';

it('asks once without a page, and comes back logged in to this page (contract 13.128)', async () => {
  const launch = (await visit()) ?? '';
  expect(Object.fromEntries(new URL(launch).searchParams)).toMatchObject({
    prompt: 'none',
    return_to: '/news?page=2',
  });
  expect(await locationAfter(await shop.fake.handOff(launch))).toBe(`${shop.origin}/news?page=2`);
  expect(await browser.person()).toBeDefined();
  expect(await visit()).toBeUndefined();
});

it.each(noPerson)(
  'comes back to this page after %s, and is not tried again for ten minutes (contract 13.128 and 13.129)',
  async (code) => {
    const launch = (await visit()) ?? '';
    const back = await locationAfter(await shop.fake.refusal(code, launch));
    expect(back).toBe(`${shop.origin}/news?page=2`);
    expect(await visit(back)).toBeUndefined();
    expect(await visit('/other')).toBeUndefined();
    expect(shop.logged).toEqual([]);
    // The browser drops the cookie after ten minutes.
    browser.cookies.delete('__Host-shop_silent');
    expect(await visit()).toBeDefined();
  },
);

it('marks the browser for ten minutes (contract 13.129)', async () => {
  const answer = await shop.identity.loginSilently(browser.request('/'));
  expect(answer?.headers.getSetCookie().at(-1)).toBe(
    '__Host-shop_silent=1; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax',
  );
});

it('is tried again after a login and a log-out (contract 13.129)', async () => {
  await visit();
  expect(browser.cookies.has('__Host-shop_silent')).toBe(true);
  await browser.logIn();
  expect(browser.cookies.has('__Host-shop_silent')).toBe(false);
  const token = await shop.identity.logoutToken(browser.request('/'));
  browser.cookies.set('__Host-shop_silent', '1');
  await browser.open('/logout', { method: 'POST', body: new URLSearchParams({ token }) });
  expect(await visit()).toBeDefined();
});

it('loops in no browser that keeps no cookies, and shows it each page, in 200 visits (contract 13.136)', async () => {
  for (let n = 0; n < 200; n++) {
    const blocked = shop.openBrowser();
    const launch = (await visit(`/news?page=${n}`, blocked)) ?? '';
    blocked.cookies.clear();
    // In half of the visits, somebody is logged in at the service.
    const address = await (n % 2 ? shop.fake.handOff(launch) : shop.fake.refusal('login_required', launch));
    const back = await locationAfter(address, blocked);
    expect(back).toBe(`${shop.origin}/news?page=${n}&silent=no`);
    blocked.cookies.clear();
    expect(await visit(back, blocked)).toBeUndefined();
  }
  expect(shop.logged).toEqual([]);
});

it('comes back to the page with its query byte for byte (contract 13.136)', async () => {
  for (const query of ['?a=1%20x&sig=%2B%7E&flag&b=+', '?x=%zz&&', '?%73ilent2=1', '']) {
    const launch = (await visit(`/news${query}`)) ?? '';
    browser.cookies.clear();
    const back = await locationAfter(await shop.fake.refusal('login_required', launch));
    expect(back).toBe(`${shop.origin}/news${query}${query ? '&' : '?'}silent=no`);
  }
  const state = `silent.${'A'.repeat(22)}.${Buffer.from('/a?b=%20#c?d').toString('base64url')}`;
  const back = await locationAfter(`/sso/callback?error=login_required&state=${state}`);
  expect(back).toBe(`${shop.origin}/a?b=%20&silent=no#c?d`);
});

it('leads to no page of another site, whatever the state says', async () => {
  const state = (page: string) => `silent.${'A'.repeat(22)}.${Buffer.from(page).toString('base64url')}`;
  for (const page of ['//evil.example/', '/\\evil.example', 'https://evil.example/', '']) {
    const answer = await browser.open(`/sso/callback?error=login_required&state=${state(page)}`);
    expect([answer.status, answer.headers.get('identity-refusal')], page).toEqual([403, 'state_unknown']);
  }
  const answer = await browser.open(`/sso/callback?error=login_required&state=${state('/.//evil.example')}`);
  expect(new URL(answer.headers.get('location') ?? '').origin).toBe(shop.origin);
});

it('starts no session of a state whose cookie is not there', async () => {
  const launch = (await visit()) ?? '';
  const stranger = shop.openBrowser();
  await stranger.open(await shop.fake.handOff(launch));
  expect([...stranger.cookies]).toEqual([]);
});

it('is tried for pages only, and not if the address would be too long', async () => {
  for (const dest of ['image', 'iframe', 'empty'])
    expect(await visit('/', browser, { 'sec-fetch-dest': dest })).toBeUndefined();
  expect(await visit('/', browser, { 'sec-purpose': 'prefetch' })).toBeUndefined();
  expect(await visit(`/${'a'.repeat(400)}`)).toBeUndefined();
  expect(await shop.identity.loginSilently(browser.request('/', { method: 'POST' }))).toBeUndefined();
  expect(browser.cookies.size).toBe(0);
  expect(await visit('/', browser, { 'sec-fetch-dest': 'document' })).toBeDefined();
});

it('answers 503 if the store is away, as a hand-off does that nobody asked for (contract 13.132)', async () => {
  await browser.logIn();
  shop.stores.sessions.find = () => Promise.reject(new Error('away'));
  const answer = await shop.identity.loginSilently(browser.request('/'));
  expect([answer?.status, answer?.headers.get('identity-refusal')]).toEqual([503, 'store_unavailable']);
  const launch = 'https://id.example.test/sso/launch/shop';
  const unasked = await shop.fake.refusal('state_missing', launch);
  const refused = await browser.open(unasked);
  expect([refused.status, refused.headers.get('location')]).toEqual([503, null]);
  expect([refused.headers.get('retry-after'), shop.logged.at(-1)?.outcome]).toEqual([
    '5',
    'store_unavailable',
  ]);
});

it('keeps five attempts at most, silent ones among them', async () => {
  for (let n = 0; n < 7; n++) {
    browser.cookies.delete('__Host-shop_silent');
    shop.pass(1);
    await (n % 2 ? visit() : browser.start());
  }
  expect([...browser.cookies.keys()].filter((name) => name.includes('attempt'))).toHaveLength(5);
});

it('leaves other attempts with prompt=none to the client', async () => {
  const seen: string[] = [];
  shop = openShop({
    hooks: {
      onRefusal({ code }) {
        seen.push(code);
        return new Response('not logged in');
      },
    },
  });
  browser = shop.openBrowser();
  const start = await shop.identity.startLogin(browser.request('/login'), { prompt: 'none' });
  const launch = browser.keepCookies(start).headers.get('location') ?? '';
  const answer = await browser.open(await shop.fake.refusal('login_required', launch));
  expect([answer.status, await answer.text(), seen]).toEqual([200, 'not logged in', ['login_required']]);
});
