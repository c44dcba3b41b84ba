import { beforeAll, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  cookie = await app.login('customer@example.test');
});

const form = { email: 'merchant@example.test', password: 'local demo password' };

/** Returns the target of a login, and the target of the login page for somebody who is logged in already. */
async function locationsAfter(query: string): Promise<string[]> {
  const answers = await Promise.all([
    app.send(`/login?${query}`, { form }),
    app.send(`/login?${query}`, { cookie }),
  ]);
  return answers.map(({ status, headers }) => {
    expect(status).toBe(303);
    return headers.get('location') ?? '';
  });
}

const queryOf = (next: string) => String(new URLSearchParams({ next }));

it.each([
  '//evil.example',
  '///evil.example',
  '////evil.example/..',
  '/\\evil.example',
  '\\/evil.example',
  '\\\\evil.example',
  '/\\/evil.example',
  '//\\evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/a/../..//evil.example',
  '/./\\evil.example',
  '/%2e//evil.example',
  '/%2E%2e//evil.example',
  '/.%2e//evil.example',
  '/\t/evil.example',
  '\t//evil.example',
  '/\n/evil.example',
  '/\r\n/evil.example',
  '/profile\r\nSet-Cookie: a=b',
  '/\u0000/evil.example',
  '/profile\u0000',
  '/\u0085/evil.example',
  ' //evil.example',
  '\u00a0//evil.example',
  '\ufeff//evil.example',
  'https://evil.example',
  'HTTPS:evil.example',
  'http:/evil.example',
  'https:/\\evil.example',
  'ftp://evil.example',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'blob:https://evil.example/x',
  'evil.example',
  '@evil.example',
  'user@evil.example',
  '//localhost:3000@evil.example',
  'http://localhost:3000@evil.example/',
  'http://localhost:3000.evil.example/',
  '//localhost:3000/profile',
  '%2F%2Fevil.example',
  '%5Cevil.example',
  '%68ttps://evil.example',
  '／／evil.example',
  '∕∕evil.example',
  '⁄⁄evil.example',
  '?x=//evil.example',
  '#//evil.example',
  './/evil.example',
  '../evil.example',
  '',
])('the login does not follow next=%j', async (next) => {
  expect(await locationsAfter(queryOf(next))).toEqual(['/profile', '/profile']);
});

// These paths look dangerous but are local: what counts is how a browser resolves the Location.
it.each([
  '/@evil.example',
  '/:@evil.example',
  '/evil.example//x',
  '/%2f/evil.example',
  '/%2F%2Fevil.example',
  '/%5Cevil.example',
  '/%09/evil.example',
  '/%00/evil.example',
  '/%0d%0aSet-Cookie:a=b',
  '/／evil.example',
  '/\u2028/evil.example',
  '/∕evil.example',
  '/。/evil.example',
  '/.evil.example',
  '/https://evil.example',
  '/javascript:alert(1)',
  '/?next=//evil.example',
  '/#//evil.example',
  '/;//evil.example',
  '/\ud800/evil.example',
])('the login treats next=%j as the local path it is', async (next) => {
  for (const location of await locationsAfter(queryOf(next))) {
    expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
    expect(new URL(location, 'http://localhost:3000').origin).toBe('http://localhost:3000');
  }
});

it.each([
  'next',
  'next=%',
  'next=%zz//evil.example',
  'next=%C0%AF%C0%AFevil.example',
  'next[]=//evil.example',
  'NEXT=//evil.example',
  'next=//evil.example&next=/demo',
])('the login ignores the malformed query %s', async (query) => {
  expect(await locationsAfter(query)).toEqual(['/profile', '/profile']);
});

it.each([
  ['/', '/'],
  ['/profile?a=1&a=2&b=%20x#top', '/profile?a=1&a=2&b=%20x#top'],
  [
    '/sso/launch/marketplace?state=s&return_to=%2Fa%3Fb%3Dc%26d',
    '/go?next=%2Fsso%2Flaunch%2Fmarketplace%3Fstate%3Ds%26return_to%3D%252Fa%253Fb%253Dc%2526d',
  ],
  ['/a%2Fb+c', undefined],
  ['/x?next=https%3A%2F%2Fother.example%2F#%2F%2Fh', undefined],
  ['/ä?ö=ü#ß', '/%C3%A4?%C3%B6=%C3%BC#%C3%9F'],
  ['/a/../b', '/b'],
])('the login goes on to %s, with query and fragment', async (next, expected = next) => {
  expect(await locationsAfter(queryOf(next))).toEqual([expected, expected]);
});

it('the login goes on to a long path, but not to an endless one', async () => {
  const long = `/${'a'.repeat(4_000)}`;
  expect(await locationsAfter(queryOf(long))).toEqual([long, long]);
  expect(await locationsAfter(queryOf(`/${'a'.repeat(60_000)}`))).toEqual(['/profile', '/profile']);
});

it('the login keeps next after a wrong password', async () => {
  const refused = await app.send('/login?next=%2Fdemo%3Fa%3Db', { form: { ...form, password: 'wrong' } });
  const action = /<form method="post" action="([^"]+)"/.exec(refused.text)?.[1] ?? '';
  const answer = await app.send(action.replaceAll('&amp;', '&'), { form });
  expect(answer.headers.get('location')).toBe('/demo?a=b');
});
