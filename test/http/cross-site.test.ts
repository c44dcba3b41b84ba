// Contract 9.26: forms and tRPC accept a change only from our own origin, and answer anything else with 403 cross_site_request.
// `Origin` names the origin. Without it, `Sec-Fetch-Site` decides.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp, openProductionApp, type SendOptions } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const own = 'http://localhost:3000';
const evil = 'https://evil.example';
const password = 'local demo password';

let customer: string;
const app = shared(openApp);
beforeEach(async () => {
  customer = await app.login('customer@example.test');
});

/** Every change that a form or a program can make. The names are new each time, so that each change shows. */
let attempts = 0;
const changes: Record<string, () => SendOptions> = {
  '/login': () => ({ form: { email: 'admin@example.test', password } }),
  '/logout': () => ({ method: 'POST', cookie: customer }),
  '/profile': () => ({ form: { intent: 'names', ...names() }, cookie: customer }),
  '/trpc/profile.update': () => ({ json: { json: names() }, cookie: customer }),
  '/demo/marketplace': () => ({ method: 'POST', cookie: customer }),
};
const names = () => ({ name: `Name ${++attempts}`, accountName: `Account ${attempts}` });

type Headers = Record<string, string>;

async function change(path: string, headers: Headers, url = path, site = app): Promise<Answer> {
  const options = changes[path]?.() ?? {};
  if (headers.origin || headers['sec-fetch-site']) return site.send(url, { ...options, headers });
  // This request is built by hand, because `send` would add our own origin.
  const { form, json, cookie } = options;
  const request = new Request(new URL(url, own), {
    method: 'POST',
    body: form ? new URLSearchParams(form) : json ? JSON.stringify(json) : undefined,
    headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
  });
  if (cookie) request.headers.set('cookie', cookie);
  const response = await app.fetch(request, { address: '192.0.2.1' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Reads everything that a change could write. */
async function look({ db } = app): Promise<unknown> {
  const { rows } = await sql`select
    (select json_agg(u order by id) from users u) as users,
    (select json_agg(a order by id) from accounts a) as accounts,
    (select json_agg(s order by id) from sessions s) as sessions,
    (select count(*) from audit_events) as events,
    (select json_agg(r order by key) from rate_limits r) as tries`.execute(db);
  return rows[0];
}

const origins: (string | undefined)[] = [
  own,
  evil,
  'null',
  'https://localhost:3000',
  'http://localhost',
  'http://localhost:3001',
  'http://sub.localhost:3000',
  'http://localhost.evil.example:3000',
  'http://LOCALHOST:3000',
  'HTTP://localhost:3000',
  `${own}/`,
  `${own}, ${evil}`,
  `${evil} ${own}`,
  'http://127.0.0.1:3000',
  'file://',
  undefined,
];
const sites: (string | undefined)[] = [
  'same-origin',
  'same-site',
  'cross-site',
  'none',
  'SAME-ORIGIN',
  undefined,
];

// An `Origin` of null says nothing: a page under `Referrer-Policy: no-referrer` sends null even to its own site.
const isOwn = (origin: string | undefined, site: string | undefined) =>
  origin === own || ((origin === undefined || origin === 'null') && site === 'same-origin');

const pairs = origins.flatMap((origin) => sites.map((site) => ({ origin, site })));
const headersOf = ({ origin, site }: (typeof pairs)[number]): Headers => ({
  ...(origin !== undefined && { origin }),
  ...(site !== undefined && { 'sec-fetch-site': site }),
});

describe.each(Object.keys(changes))('POST %s', (path) => {
  it('is refused from any other site, and changes nothing', async () => {
    const before = await look();
    for (const pair of pairs.filter(({ origin, site }) => !isOwn(origin, site))) {
      const answer = await change(path, headersOf(pair));
      expect(answer.status, JSON.stringify(pair)).toBe(403);
      expect(JSON.parse(answer.text).code).toBe('cross_site_request');
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(answer.headers.get('location')).toBeNull();
    }
    expect(await look()).toEqual(before);
    expect((await app.send('/sso/profile', { cookie: customer })).status).toBe(200);
  });

  it.each([own, 'null', undefined])(
    'works from our own pages, when the Origin header is %s',
    async (from) => {
      for (const pair of pairs.filter(({ origin, site }) => origin === from && isOwn(origin, site))) {
        if (path.startsWith('/logout')) customer = await app.login('customer@example.test');
        const before = await look();
        const answer = await change(path, headersOf(pair));
        expect([200, 202, 303], JSON.stringify(pair)).toContain(answer.status);
        if (!path.startsWith('/demo')) expect(await look()).not.toEqual(before);
      }
    },
  );
});

describe('in production, POST', () => {
  const paths = Object.keys(changes).filter((path) => !path.startsWith('/demo'));
  const live = shared(openProductionApp);
  beforeEach(async () => {
    customer = await live.login('customer@example.test');
  });

  it.each(paths)('%s is refused to an attacker who forges Host and its relatives', async (path) => {
    const before = await look(live);
    const forged: Headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-original-host': 'evil.example',
      forwarded: 'host=evil.example;proto=https',
      referer: `${live.config.baseUrl}/profile`,
    };
    for (const url of [path, `${evil}${path}`, `//evil.example${path}`]) {
      for (const headers of [
        { ...forged, origin: evil },
        { ...forged, 'sec-fetch-site': 'cross-site' },
      ]) {
        const answer = await change(path, headers, url, live);
        expect(answer.status).toBe(403);
      }
    }
    expect(await look(live)).toEqual(before);
  });

  it.each(paths)('%s works from our own pages behind a proxy, whatever it makes of Host', async (path) => {
    const base = live.config.baseUrl;
    const proxies: [string, Headers][] = [
      ['http://10.0.0.5:8080', { host: '10.0.0.5:8080' }],
      [base, { 'x-forwarded-host': 'internal.example' }],
      ['http://app', { host: 'app', 'x-forwarded-host': 'id.example.test, cdn.example' }],
    ];
    for (const [at, headers] of proxies) {
      if (path.startsWith('/logout')) customer = await live.login('customer@example.test');
      const answer = await change(path, { ...headers, origin: base }, `${at}${path}`, live);
      expect([200, 202, 303], at).toContain(answer.status);
      expect(answer.headers.get('location') ?? '/').toMatch(/^\//);
    }
  });
});

it('a form must come from the exact origin of the issuer', async () => {
  const { send } = await app.startInstance({ env: { IDENTITY_ISSUER: 'https://id.localhost' } });
  const form = { email: 'admin@example.test', password };
  const statusFrom = async (origin: string) => (await send('/login', { form, headers: { origin } })).status;
  expect(await statusFrom('https://id.localhost')).toBe(303);
  for (const origin of ['http://id.localhost', 'https://id.localhost/', 'https://id.localhost:444'])
    expect(await statusFrom(origin)).toBe(403);
});

it('no answer lets another site read it', async () => {
  for (const path of ['/sso/profile', '/profile', '/trpc/profile.get', '/trpc/profile.update']) {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: evil, 'access-control-request-method': 'POST' };
      const answer = await app.send(path, { method, cookie: customer, headers });
      const names = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect(names, `${method} ${path}`).toEqual([]);
    }
  }
});
