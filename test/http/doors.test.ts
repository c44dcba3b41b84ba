// The framework's other ways to a route's code (`.data`, `?_data=`, other spellings of a path) reach no public endpoint.
import { beforeAll, describe, expect, it } from 'vitest';
import { loadPages } from '../../server/instance/build.ts';
import { openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

let customer: string;
const app = shared(openApp);
beforeAll(async () => {
  customer = await app.login('customer@example.test');
});

const told = ['content-type', 'cache-control', 'etag', 'vary', 'allow'];

async function answerOf(path: string, method = 'GET') {
  const { status, headers, text } = await app.send(path, { method, cookie: customer });
  return { status, text, headers: told.map((name) => headers.get(name)) };
}

describe('/sso/profile', () => {
  it.each([
    '_data=routes%2Fsso.profile',
    '_data=',
    '_data=root',
    '_routes=routes%2Fsso.profile',
    'index',
    'x=1',
  ])('answers ?%s as it does without a query', async (query) => {
    for (const method of ['GET', 'HEAD', 'POST'])
      expect(await answerOf(`/sso/profile?${query}`, method)).toEqual(await answerOf('/sso/profile', method));
  });

  it.each([
    '/sso/profile.data',
    '/sso/profile.data?_routes=routes%2Fsso.profile',
    '/sso/profile.data?_routes=root',
    '/_root.data?_routes=routes%2Fsso.profile',
    '/profile.data?_routes=routes%2Fsso.profile',
    '/sso/profile%2Edata',
    '/sso.profile',
    '/__manifest?p=%2Fsso%2Fprofile',
  ])('is not reachable at %s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const { status, text } = await answerOf(path, method);
      expect(text).not.toContain('profile_updated_at');
      if (path.startsWith('/sso')) expect(status).toBe(404);
    }
  });

  it.each(['/sso/profile/', '/SSO/profile', '/sso/Profile', '/sso/%70rofile', '/sso//profile'])(
    'is the same at %s, leads to it, or is not there',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        const answer = await answerOf(path, method);
        if (![308, 404].includes(answer.status))
          expect(answer).toEqual(await answerOf('/sso/profile', method));
      }
    },
  );
});

describe('the other resource routes', () => {
  it.each([
    '/demo/marketplace/login.data',
    '/demo/marketplace/login.data?_routes=routes%2Fdemo.%24client_.login',
    '/trpc/profile.get.data',
    '/trpc/profile.data?_routes=routes%2Ftrpc.%24',
    '/sso/launch/marketplace.data',
  ])('are not reachable at %s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await app.send(path, { method, cookie: customer });
      expect([404, 405, 415]).toContain(answer.status);
      expect(answer.headers.get('location')).toBeNull();
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(answer.text).not.toContain('customer@example.test');
    }
  });

  it.each(['/sso/launch/marketplace/', '/SSO/launch/marketplace', '/sso/launch/%6darketplace'])(
    'launch safely, if at all, at %s',
    async (path) => {
      for (const [method, status] of [
        ['GET', 303],
        ['HEAD', 204],
        ['POST', 405],
      ] as const) {
        const answer = await app.send(`${path}?state=a+b`, { method, cookie: customer });
        if (![308, 404].includes(answer.status)) expect(answer.status).toBe(method === 'GET' ? 400 : status);
        const good = await app.send(`${path}?state=s`, { method, cookie: customer });
        if ([308, 404].includes(good.status)) continue;
        expect(good.status).toBe(status);
        expect(good.headers.get('cache-control')).toBe('no-store');
        expect(good.headers.get('referrer-policy')).toBe('no-referrer');
      }
    },
  );
});

it('no page gives its data alone', async () => {
  const admin = await app.login('admin@example.test');
  const pages = (await loadPages()).routes.filter(({ isPage }) => isPage);
  expect(pages.length).toBeGreaterThan(40);
  const values: Record<string, string> = {
    ':client': 'marketplace',
    ':page': 'integrate',
    ':code': 'not_found',
  };
  const id = '01900000-0000-7000-8000-000000000001';
  for (const { path } of pages)
    for (const cookie of ['', customer, admin]) {
      const asked = `${path.replaceAll(/:\w+/g, (name) => values[name] ?? id)}.data`;
      const got = await app.send(`${asked}?_routes=root`, { cookie });
      // Without a session, each path below /admin redirects to the login.
      expect(got.status, asked).toBe(cookie === '' && path.startsWith('/admin') ? 303 : 404);
      const posted = await app.send(asked, { method: 'POST', cookie });
      for (const { headers } of [got, posted]) expect(headers.get('x-remix-response'), asked).toBeNull();
    }
});
