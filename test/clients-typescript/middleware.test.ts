// What the middleware of the kit for TypeScript answers. Its use in frameworks is tested in
// test/browser/kit-frameworks.test.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { identityMiddleware, loginSilently, requireLogin } from '../../clients/typescript/src/express.ts';
import type { Profile } from '../../clients/typescript/src/index.ts';
import { identityRoutes } from '../../clients/typescript/src/web.ts';
import { openShop } from '../support/clients/kit-shop.ts';

let shop: ReturnType<typeof openShop>;
let close: () => Promise<unknown>;
let base: string;
const failed: unknown[] = [];

type Incoming = IncomingMessage & { person?: Profile; logoutToken?: string };

/** A site as Express runs it: each handler calls the next one. */
beforeEach(async () => {
  shop = openShop();
  failed.length = 0;
  const middleware = identityMiddleware(shop.identity);
  const guards: Record<string, typeof middleware> = {
    '/orders': requireLogin(shop.identity),
    '/news': loginSilently(shop.identity),
  };
  async function page(request: Incoming, response: ServerResponse) {
    const { person, logoutToken } = request;
    let body = '';
    for await (const chunk of request) body += chunk;
    response.end(JSON.stringify({ person: person?.name, logoutToken, body }));
  }
  const server = createServer((request, response) => {
    const orFail = (go: () => void) => (error?: unknown) => {
      if (error === undefined) return go();
      failed.push(error);
      response.writeHead(500).end();
    };
    const show = orFail(() => void page(request, response));
    const guard = guards[request.url?.split('?')[0] ?? ''];
    const guarded = orFail(() => (guard ? void guard(request, response, show) : show()));
    void middleware(request, response, guarded);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => new Promise((done) => server.close(done));
});
afterEach(() => close());

const send = (address: string, cookies: Map<string, string>, init: RequestInit = {}) =>
  fetch(base + address.replace(shop.origin, ''), {
    ...init,
    redirect: 'manual',
    headers: { ...init.headers, cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
  });

it('logs a person in, shows who it is, and logs out (contract 13.120, 13.126 and 13.127)', async () => {
  const browser = shop.openBrowser();
  const open = async (address: string, init: RequestInit = {}) =>
    browser.keepCookies(await send(address, browser.cookies, init));
  const guarded = await open('/orders');
  expect(guarded.headers.get('location')).toBe(`${shop.origin}/login?return_to=%2Forders`);
  const start = await open(guarded.headers.get('location') ?? '');
  const callback = await open(await shop.fake.handOff(start.headers.get('location') ?? ''));
  expect(callback.headers.get('location')).toBe(`${shop.origin}/orders`);
  const shown = await (await open('/orders')).json();
  expect(shown).toEqual({
    person: 'Zoë O’Neil',
    logoutToken: expect.stringMatching(/^[\da-f]{64}$/),
    body: '',
  });
  const form = { method: 'POST', body: new URLSearchParams({ token: shown.logoutToken }) };
  expect((await open('/logout', form)).headers.get('location')).toMatch(
    /^https:\/\/id\.example\.test\/logout\?/,
  );
  expect(await (await open('/')).json()).toEqual({ logoutToken: '', body: '' });
});

it('leaves the body of other requests to the site', async () => {
  const answer = await send('/forms', new Map(), { method: 'POST', body: 'name=Zoë' });
  expect((await answer.json()).body).toBe('name=Zoë');
});

it('logs in silently where the site says so (contract 13.128)', async () => {
  const answer = await send('/news', new Map());
  expect(answer.headers.get('location')).toContain('prompt=none');
  expect((await send('/news', new Map([['__Host-shop_silent', '1']]))).status).toBe(200);
});

it('answers 503 if a store is away, and gives no other error away (contract 13.132)', async () => {
  const cookies = new Map([['__Host-shop_session', 'A'.repeat(43)]]);
  shop.stores.sessions.find = () => Promise.reject(new Error('away'));
  const answer = await send('/', cookies);
  expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([503, 'store_unavailable']);
  expect((await send('/', new Map())).status).toBe(200);
  expect(failed).toEqual([]);
});

it('reads the events, and then answers the nudge: 503 if that failed, so that it comes again', async () => {
  const nudge = await shop.fake.webhook();
  const answerRoute = identityRoutes(shop.identity);
  expect((await answerRoute(nudge.clone()))?.status).toBe(204);
  expect(shop.countAsked()).toBe(1);
  const forged = new Request(nudge.url, { method: 'POST', headers: nudge.headers, body: 'x' });
  expect((await answerRoute(forged))?.status).toBe(401);
  expect(shop.countAsked()).toBe(1);
  shop.answers.push(() => new Response('away', { status: 502 }));
  const failed = await answerRoute(nudge.clone());
  expect([failed?.status, failed?.headers.get('retry-after')]).toEqual([503, '1']);
  expect(failed?.headers.get('cache-control')).toBe('no-store');
  expect(shop.logged.at(-1)?.outcome).toBe('events_unread');
});

it('reads once more for a nudge that comes while another read is at its last page', async () => {
  let answerLast = (_: Response) => {};
  shop.answers.push(() => new Promise((done) => (answerLast = done)));
  const reads = [shop.identity.readEvents()];
  await expect.poll(shop.countAsked).toBe(1);
  shop.events.push({ type: 'user.suspended', user_id: 'x' });
  reads.push(shop.identity.readEvents(), shop.identity.readEvents());
  answerLast(Response.json({ events: [] }));
  expect(await Promise.all(reads)).toEqual([true, true, true]);
  const claim = await shop.stores.position.claim();
  expect([claim?.position, shop.countAsked()]).toEqual([1, 3]);
});

it('has the paths that the site says, and answers no others', async () => {
  const answerRoute = identityRoutes(shop.identity, { eventsPath: '/nudges', logoutPath: '/bye' });
  const statusOf = async (path: string) => (await answerRoute(new Request(shop.origin + path)))?.status;
  expect(await Promise.all(['/login', '/sso/callback', '/nudges', '/bye'].map(statusOf))).toEqual([
    303, 400, 405, 405,
  ]);
  expect(await Promise.all(['/', '/logout', '/sso/events', '/login/x'].map(statusOf))).toEqual(
    Array(4).fill(undefined),
  );
});
