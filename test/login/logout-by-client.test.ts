// A logout that a client started (contract 4.27 and 4.28).
import { describe, expect, it } from 'vitest';
import { type Answer, codeOf, openApp, targetOf } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { isLoggedIn, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const shop = 'https://shop.localhost:8443';
const email = 'customer@example.test';

const callback = { SSO_SHOP_CALLBACK_URL: `${shop}/sso/callback?lang=de` };
const app = shared(() => openApp({ env: { SSO_CLIENTS: 'shop', ...callback } }));

const pathOf = (query: Record<string, string> | string) => `/logout?${new URLSearchParams(query)}`;
const leadOf = ({ status, headers }: Answer) => [status, headers.get('location')];

describe('a logout that a client started', () => {
  it('asks first, and names the client', async () => {
    const cookie = await app.login(email);
    for (const method of ['GET', 'HEAD']) {
      const answer = await app.send(pathOf({ client: 'shop', return_to: '/bye' }), { method, cookie });
      expect(leadOf(answer)).toEqual([200, null]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      if (method === 'GET') expect(textOf(answer)).toContain('You will then go back to Shop.');
    }
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });

  it('goes on to the path on the client’s site after the click', async () => {
    const cookie = await app.login(email);
    const answer = await app.send(pathOf({ client: 'shop', return_to: '/bye?x=1&y=ü#end' }), {
      method: 'POST',
      cookie,
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/go\?next=%2Flogout%3F/);
    const { pathname, search } = targetOf(answer);
    expect(leadOf(await app.send(pathname + search))).toEqual([303, `${shop}/bye?x=1&y=%C3%BC#end`]);
    expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0');
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
  });

  it('goes on at once where nobody is logged in, and after a second click (contract 11.39)', async () => {
    const path = pathOf({ client: 'shop', return_to: '/bye' });
    const ended = await app.login(email);
    await app.send('/logout', { method: 'POST', cookie: ended });
    for (const cookie of [undefined, ended, 'identity_session=x']) {
      expect(leadOf(await app.send(path, { cookie }))).toEqual([303, `${shop}/bye`]);
      const clicked = await app.send(path, { method: 'POST', cookie });
      expect(leadOf(clicked)).toEqual([
        303,
        `/go?next=${encodeURIComponent('/logout?client=shop&return_to=/bye')}`,
      ]);
    }
  });

  it('goes to the start of the client’s site where it names no path', async () => {
    expect(leadOf(await app.send('/logout?client=shop'))).toEqual([303, `${shop}/`]);
  });

  it('from another site is refused, and ends nothing', async () => {
    const cookie = await app.login(email);
    const headers = { origin: shop };
    const answer = await app.send(pathOf({ client: 'shop' }), { method: 'POST', cookie, headers });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'cross_site_request']);
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });
});

it('a logout where nobody is logged in asks nothing, and says that it is done (contract 11.39)', async () => {
  const ended = await app.login(email);
  await app.send('/logout', { method: 'POST', cookie: ended });
  for (const cookie of [undefined, ended, 'identity_session=x'])
    for (const method of ['GET', 'HEAD']) {
      const answer = await app.send('/logout', { method, cookie });
      expect(leadOf(answer)).toEqual([303, '/login?logged_out']);
      expect(textOf(await app.send('/login?logged_out', { cookie }))).toContain('You have logged out.');
    }
  expect((await app.send('/logout', { cookie: await app.login(email) })).status).toBe(200);
});

describe('a logout never leads to another site', () => {
  const refused = [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example/',
    'https:evil.example',
    `${shop}/bye`,
    '@evil.example/',
    '.evil.example/',
    ':1/',
    '/\t/evil.example',
    '/\n/evil.example',
    'javascript:alert(1)',
    '',
    '?x',
    `/${'x'.repeat(2_048)}`,
  ];
  it.each(refused.map((path) => [JSON.stringify(path.slice(0, 40)), path]))(
    'but refuses %s, and ends nothing',
    async (_, return_to) => {
      const cookie = await app.login(email);
      for (const [method, login] of [['GET'], ['GET', cookie], ['POST', cookie]]) {
        const answer = await app.send(pathOf({ client: 'shop', return_to }), { method, cookie: login });
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
        expect(JSON.parse(answer.text).errors).toMatchObject([{ pointer: '/return_to' }]);
      }
      expect(await isLoggedIn(app.send, cookie)).toBe(true);
    },
  );

  it.each(['/.//evil.example', '/..//evil.example', '/%2F/evil.example', '/@evil.example', '/:1'])(
    'but stays on the client’s with %s',
    async (return_to) => {
      const { headers } = await app.send(pathOf({ client: 'shop', return_to }));
      expect(new URL(headers.get('location') ?? '').origin).toBe(shop);
    },
  );
});

it.each([
  ['client=shop&client=shop', 400, 'invalid_request'],
  ['client=shop&return_to=/a&return_to=/a', 400, 'invalid_request'],
  ['return_to=/a', 400, 'invalid_request'],
  ['client=', 404, 'unknown_client'],
  ['client=nobody&return_to=/a', 404, 'unknown_client'],
  ['client=constructor', 404, 'unknown_client'],
])('a logout with ?%s is refused, and ends nothing', async (query, status, code) => {
  const cookie = await app.login(email);
  for (const [method, login] of [['GET'], ['GET', cookie], ['POST', cookie]]) {
    const answer = await app.send(`/logout?${query}`, { method, cookie: login });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  }
  expect(await isLoggedIn(app.send, cookie)).toBe(true);
});

it('a logout for a client without a callback is refused', async () => {
  const env = { ...production, SSO_CRM_CALLBACK_URL: '', SSO_CRM_SECRET: '' } as Record<string, string>;
  const without = await openApp({ env });
  const answer = await without.send(pathOf({ client: 'crm_app', return_to: '/a' }));
  expect([answer.status, codeOf(answer)]).toEqual([404, 'unknown_client']);
  await without.close();
});
