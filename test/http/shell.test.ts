// What the shell adds to every answer: request id, security headers, compression. It also serves static files.
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { named, quoted, type TestRequest } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const env = {
  TRUSTED_PROXIES: '192.0.2.9',
  SSO_MARKETPLACE_CALLBACK_URL: 'https://market.localhost/sso/in?x=1',
  SSO_WEBSITE_CALLBACK_URL: 'https://www.localhost:8443/cb',
  SSO_CRM_CALLBACK_URL: 'https://market.localhost/another',
};

let customer: string;
let asset: string;
const app = shared(() => openApp({ env }));
beforeAll(async () => {
  customer = await app.login('customer@example.test');
  asset = /\/assets\/[\w.-]+\.css/.exec((await app.send('/login')).text)?.[0] ?? '';
});

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('X-Request-Id (contract 8.20)', () => {
  const proxy = '192.0.2.9';
  const named = shared(() => app.startInstance({ env: { ...env, IDENTITY_REQUEST_ID_HEADER: 'X-Ray' } }));
  const idOf = async (path: string, id?: string, from = proxy, header = 'x-ray') => {
    const answer = await named.send(path, { from, headers: id === undefined ? {} : { [header]: id } });
    expect(answer.headers.has('x-ray')).toBe(false);
    return answer.headers.get('x-request-id');
  };

  it.each(['/login', '/', '/nowhere', '/sso/profile', '/healthz', '/trpc/profile.get'])(
    'is new for each request to %s',
    async (path) => {
      const [one, two] = [await idOf(path), await idOf(path)];
      expect(one).toMatch(uuid);
      expect(two).not.toBe(one);
    },
  );

  it.each(quoted(['abc', 'A-b_c=9', 'x'.repeat(255)]))(
    'is what a proxy of ours says in the header of the setting, if it is valid: %s',
    async (_, id) => {
      expect(await idOf('/nowhere', id)).toBe(id);
      expect(app.logged.at(-1)?.fields.requestId).toBe(id);
    },
  );

  it('is replaced if anybody else sends it', async () => {
    expect(await idOf('/nowhere', 'abc', '192.0.2.1')).toMatch(uuid);
  });

  it('is made here if another header says it, or no setting names one', async () => {
    expect(await idOf('/nowhere', 'abc', proxy, 'x-request-id')).toMatch(uuid);
    const { headers } = await app.send('/nowhere', { from: proxy, headers: { 'x-request-id': 'abc' } });
    expect(headers.get('x-request-id')).toMatch(uuid);
  });

  it.each(quoted(['', 'x'.repeat(256), 'a b', '"}{"', '<script>', '\xff', 'a,b', 'a;b', '../x']))(
    'is replaced if it is not valid: %s',
    async (_, id) => expect(await idOf('/nowhere', id)).toMatch(uuid),
  );
});

const answers: TestRequest[] = [
  ['/login', {}],
  ['/profile', {}],
  ['/nowhere', {}],
  ['/nowhere', { headers: { accept: 'text/html' } }],
  ['/', {}],
  ['/logout', { method: 'POST', cookie: '' }],
  ['/logout', { method: 'POST', headers: { origin: 'https://evil.example' } }],
  ['/login', { form: { email: 'x'.repeat(70_000) } }],
  ['/sso/profile', {}],
  ['/sso/launch/nobody', { headers: { accept: 'text/html' } }],
  ['/trpc/profile.get', {}],
  ['/healthz', {}],
];

describe('a slash at the end of a path (contract 9.265)', () => {
  it.each([
    ['/login/?next=%2Fprofile&x=/y/', '/login?next=%2Fprofile&x=/y/'],
    ['/set-password/?token=abc', '/set-password?token=abc'],
    ['/developers/', '/developers'],
    ['/developers/integrate/', '/developers/integrate'],
    ['/sso/launch/marketplace/?state=1', '/sso/launch/marketplace?state=1'],
    ['/problems/not_found/', '/problems/not_found'],
  ])('is 308 at %s', async (path, target) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await app.send(path, { method, headers: { accept: 'text/html' } });
      expect([status, headers.get('location'), text]).toEqual([308, target, '']);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect((await app.send(path, { method: 'POST' })).status).toBe(404);
  });

  it('keeps the query from other sites where the path without it does', async () => {
    const { headers } = await app.send('/sso/launch/marketplace/');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each([
    '//evil.test/',
    '//evil.test//',
    '/\\evil.test/',
    '/%2f%2fevil.test/',
    '//evil.test/login/',
    '///login/',
    '/login//',
    '/nowhere/',
    '/logout/x/',
    '/login/%0d%0aSet-Cookie:x/',
    '/integrations/crm/signups/',
    '/assets/nothing.js/',
  ])('leads nowhere at %s', async (path) => {
    const request = new Request(`${app.config.baseUrl}/`);
    Object.defineProperty(request, 'url', { value: app.config.baseUrl + path });
    const { status, headers } = await app.fetch(request, { address: '192.0.2.1' });
    expect([status, headers.get('location')]).toEqual([404, null]);
  });

  it('tells nobody which pages of staff there are', async () => {
    const ofStaff = ['/admin/', '/admin/people/', '/admin/nothing/'];
    for (const path of ofStaff) {
      expect((await app.send(path, { cookie: customer })).status).toBe(404);
      const { status, headers } = await app.send(path);
      expect([status, headers.get('location')]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
    const admin = await app.login('admin@example.test');
    const { status, headers } = await app.send('/admin/people/?q=a', { cookie: admin });
    expect([status, headers.get('location')]).toEqual([308, '/admin/people?q=a']);
  });
});

describe('the headers of an answer (contract 9.303)', () => {
  const bytesOf = ({ headers }: Answer) =>
    [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  const max = 18 * 1_024;

  it('have it for a launch with the longest return_to and state, and keep both through the login', async () => {
    const query = new URLSearchParams({ return_to: `/${'a/'.repeat(1_023)}`, state: 's'.repeat(512) });
    const answer = await app.send(`/sso/launch/marketplace?${query}`);
    expect([answer.status, bytesOf(answer) < max]).toEqual([303, true]);
    const next = locationOf(answer).searchParams.get('next') ?? '';
    expect([...new URLSearchParams(next.split('?')[1])].sort()).toEqual([...query].sort());
    const launched = await app.send(next, { cookie: customer });
    expect([launched.status, bytesOf(launched) < max]).toEqual([303, true]);
    const payload = Buffer.from(
      locationOf(launched).searchParams.get('payload') ?? '',
      'base64url',
    ).toString();
    expect(payload).toContain('a/'.repeat(1_023));
  });

  it('have it for forms, and the answer leads to the page itself where its query is too long', async () => {
    const form = { email: 'customer@example.test', password: 'local demo password' };
    const next = encodeURIComponent(`/profile?${'/'.repeat(8_000)}`);
    const answer = await app.send(`/login/code?next=${next}`, { form });
    expect(bytesOf(answer)).toBeLessThan(max);
    const long = await app.send(`/profile?${'/'.repeat(8_000)}`);
    expect([long.status, long.headers.get('location')]).toEqual([303, '/login']);
  });
});

describe('what browsers and search engines ask for by themselves (contract 8.90 and 9.266)', () => {
  it('is an icon and a robots.txt', async () => {
    const icon = await app.send('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(icon.text).toMatch(/^<svg\b/);
    const robots = await app.send('/robots.txt');
    expect([robots.status, robots.text]).toEqual([200, 'User-agent: *\nDisallow: /\n']);
    for (const { headers } of [icon, robots])
      expect(headers.get('cache-control')).toBe('public, max-age=86400');
  });
});

describe('security headers', () => {
  it.each(named(answers))('are on the answer to %s', async (_, path, options) => {
    const { headers } = await app.send(path, { cookie: customer, ...options });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': path.startsWith('/sso/launch') ? 'no-referrer' : 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    for (const name of ['server', 'x-powered-by', 'strict-transport-security', 'access-control-allow-origin'])
      expect(headers.get(name), name).toBeNull();
  });

  it('include HSTS if the issuer is https, and only then', async () => {
    const { send } = await app.startInstance({ env: { IDENTITY_ISSUER: 'https://id.localhost' } });
    for (const path of ['/login', '/nowhere', '/', '/healthz'])
      expect((await send(path)).headers.get('strict-transport-security')).toMatch(/^max-age=31536000\b/);
  });
});

describe('the content security policy', () => {
  const policyOf = ({ headers }: Answer) =>
    new Map(
      headers
        .get('content-security-policy')
        ?.split(';')
        .map((directive) => directive.trim().split(' '))
        .map(([name = '', ...values]) => [name, values]),
    );

  // Contract 9.360.
  it('allows our own scripts only, and none in a page itself', async () => {
    for (const path of [
      '/login',
      '/profile',
      '/logout',
      '/demo/marketplace',
      '/problems/not_found',
      '/nowhere',
    ]) {
      const cookie = path === '/login' ? undefined : customer;
      const answer = await app.send(path, { cookie, headers: { accept: 'text/html' } });
      expect(policyOf(answer).get('script-src')).toEqual(["'self'"]);
      const scripts = [...answer.text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
      expect(scripts).not.toHaveLength(0);
      for (const tag of scripts) expect(tag).toContain(' src="/assets/');
      expect(answer.text).not.toMatch(/<[^>]+ (on[a-z]+|style)=/);
    }
  });

  it('lets forms lead nowhere but here, and lets nobody frame us', async () => {
    const policy = policyOf(await app.send('/login'));
    expect(policy.get('form-action')).toEqual(["'self'"]);
    expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
    expect(policy.get('base-uri')).toEqual(["'none'"]);
    expect(policy.get('style-src')).toEqual(["'self'"]);
  });
});

describe('compression', () => {
  const fetchRaw = async (path: string, accepted: string) => {
    const headers = { 'accept-encoding': accepted, cookie: customer };
    const response = await app.fetch(new Request(new URL(path, app.config.baseUrl), { headers }), {
      address: '192.0.2.1',
    });
    return { headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
  };

  it('shrinks pages, scripts and styles', async () => {
    for (const path of ['/profile', asset]) {
      const { headers, body } = await fetchRaw(path, 'br, gzip');
      expect(headers.get('content-encoding')).toBe('gzip');
      expect(headers.get('vary')).toMatch(/accept-encoding/i);
      expect(gunzipSync(body).length).toBeGreaterThan(2 * body.length);
      expect(gunzipSync(body).toString()).toContain(path === asset ? '{' : '</html>');
    }
  });

  it('skips small answers, and clients that do not accept it', async () => {
    for (const [path, accepted] of [
      ['/sso/profile', 'gzip'],
      ['/healthz', 'gzip'],
      ['/nowhere', 'gzip'],
      ['/login', 'identity'],
      ['/login', 'gzip;q=0'],
    ] as const)
      expect((await fetchRaw(path, accepted)).headers.get('content-encoding'), path).toBeNull();
  });
});

describe('a static file', () => {
  it('never changes, so it may be cached for ever', async () => {
    const answer = await app.send(asset);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toMatch(/^text\/css\b/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await app.send(asset, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it.each(
    [
      ['does not exist', '/assets/app-00000000.css'],
      ...['/assets/', '/assets', '/.vite/manifest.json', '/server/index.js', '/package.json'],
      ...['/assets/..%2f..%2fserver%2findex.js', '/assets/..%2F..%2F..%2Fpackage.json', '/assets/%2e%2e/x'],
      ...['/assets/..%5c..%5cserver%5cindex.js', '/assets/%2e%2e%2f%2e%2e%2fserver/index.js'],
      ...['/assets/%252e%252e%252fserver', '/assets//etc/passwd', '/assets/app.css%00.js'],
    ].map((row) => (typeof row === 'string' ? ['is out of reach', row] : row)),
  )('that %s gets 404: %s', async (_, path) => {
    const answer = await app.send(path as string);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('a page is never cached', () => {
  const pages = ['/login', '/profile', '/logout', '/problems/not_found', '/nowhere'];
  it.each(pages)('at %s', async (path) => {
    const cookie = path.startsWith('/login') ? undefined : customer;
    const answer = await app.send(path, { cookie, headers: { accept: 'text/html' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});
