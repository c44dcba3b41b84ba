import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { shared } from '../support/run/shared.ts';

let merchant: string;
const app = shared(openApp);
beforeAll(async () => {
  merchant = await app.login('merchant@example.test');
});

const get = (cookie?: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.send('/sso/profile', { cookie, headers, method });

async function etagOf(cookie: string): Promise<string> {
  return (await get(cookie)).headers.get('etag') ?? '';
}

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-') || name === 'timing-allow-origin');

describe('GET /sso/profile with a session (contract 5.1 and 5.2)', () => {
  it('answers with the bare profile, to the byte', async () => {
    const answer = await get(merchant);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const updatedAt = JSON.parse(answer.text).profile_updated_at;
    expect(updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.text).toBe(
      '{"id":"01900000-0000-7000-8000-000000000001","email":"merchant@example.test","name":"Maya Merchant",' +
        '"role":"merchant","account":{"capabilities":["manage_storefront","sell_products","sell_services"]},' +
        `"profile_updated_at":"${updatedAt}"}`,
    );
  });

  it.each([
    ['new-merchant@example.test', 'merchant', []],
    ['customer@example.test', 'customer', []],
    ['manager@example.test', 'admin', []],
    ['admin@example.test', 'admin', []],
    ['unverified@example.test', 'customer', []],
  ])('gives %s the role %s and the capabilities %j', async (email, role, capabilities) => {
    const profile = JSON.parse((await get(await app.login(email))).text);
    expect(profile).toMatchObject({ email, role, account: { capabilities } });
  });

  it('may be cached by the browser, which must ask again each time, and by nobody else', async () => {
    const { headers } = await get(merchant);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toMatch(/(^|, )Cookie(,|$)/);
    expect(headers.get('etag')).toMatch(/^"[\x21\x23-\x7e]+"$/);
  });

  it('answers with the same profile that a launch carries', async () => {
    const launched = await app.send('/sso/launch/crm_app', { cookie: merchant });
    const payload = new URL(launched.headers.get('location') ?? '').searchParams.get('payload') ?? '';
    const { profile } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(profile).toEqual(JSON.parse((await get(merchant)).text));
  });

  it('answers HEAD with the same headers and no body', async () => {
    const [head, full] = [await get(merchant, {}, 'HEAD'), await get(merchant)];
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    for (const name of ['content-type', 'cache-control', 'etag', 'vary'])
      expect(head.headers.get(name), name).toBe(full.headers.get(name));
  });
});

describe('If-None-Match on /sso/profile (contract 5.2)', () => {
  it.each(['"TAG"', 'W/"TAG"', '"other", "TAG"', 'W/"other" ,W/"TAG", "more"', ' "TAG" ', '*'])(
    'gets 304 without a body when it holds the current tag as %s',
    async (pattern) => {
      const etag = await etagOf(merchant);
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(merchant, { 'if-none-match': pattern.replace('"TAG"', etag) }, method);
        expect(answer.status).toBe(304);
        expect(answer.text).toBe('');
        expect(answer.headers.get('etag')).toBe(etag);
        expect(answer.headers.get('cache-control')).toBe('private, no-cache');
        expect(answer.headers.get('vary')).toMatch(/Cookie/);
      }
    },
  );

  it.each(['', '"other"', '"*"', 'TAG', '"TAG', '"TAG0"', 'w/"TAG"'])(
    'does not match when it is %j',
    async (pattern) => {
      const tag = (await etagOf(merchant)).slice(1, -1);
      const answer = await get(merchant, { 'if-none-match': pattern.replace('TAG', tag) });
      expect(answer.status).toBe(200);
    },
  );

  it('gets the edited profile and a new tag when its tag is from before an edit', async () => {
    const before = await etagOf(merchant);
    await openClient(app.send, merchant).profile.update.mutate({ name: 'Maya M.' });
    const answer = await get(merchant, { 'if-none-match': before });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).name).toBe('Maya M.');
    expect(answer.headers.get('etag')).not.toBe(before);
  });

  it('never matches the profile of another user, even one changed at the same instant', async () => {
    const customer = await app.login('customer@example.test');
    await sql`alter table users disable trigger users_keep_profile_updated_at`.execute(app.db);
    await sql`update users set profile_updated_at = '2026-01-01T00:00:00Z'`.execute(app.db);
    await sql`alter table users enable trigger users_keep_profile_updated_at`.execute(app.db);
    const answer = await get(customer, { 'if-none-match': await etagOf(merchant) });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).email).toBe('customer@example.test');
  });

  it('gets no 304 without a session', async () => {
    const values = [await etagOf(merchant), '*'];
    for (const value of values) expect((await get(undefined, { 'if-none-match': value })).status).toBe(401);
  });
});

describe('GET /sso/profile without a session (contract 5.3)', () => {
  const cookies = [
    undefined,
    'identity_session=x',
    `identity_session=${'A'.repeat(43)}`,
    '%%%; identity_session',
  ];

  it.each(cookies)('answers 401 login_required to the cookie %s', async (cookie) => {
    const answer = await get(cookie);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(JSON.parse(answer.text)).toMatchObject({
      type: 'http://localhost:3000/problems/login_required',
      code: 'login_required',
      status: 401,
    });
    expect(answer.headers.get('vary')).toMatch(/Cookie/);
    expect(answer.headers.get('etag')).toBeNull();
  });

  it('never redirects, not even a browser', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const answer = await get(undefined, { accept, 'sec-fetch-mode': 'navigate' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('answers 401 from the moment of a suspension', async () => {
    const cookie = await app.login('manager@example.test');
    await sql`update users set suspended_at = now() where email = 'manager@example.test'`.execute(app.db);
    expect((await get(cookie)).status).toBe(401);
  });
});

it('/sso/profile never has CORS headers (contract 5.4)', async () => {
  const headers = {
    origin: 'https://market.example.test',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'x-custom',
  };
  const answers = await Promise.all([
    get(merchant, headers),
    get(undefined, headers),
    get(merchant, { ...headers, 'if-none-match': '*' }),
    get(merchant, headers, 'OPTIONS'),
    get(merchant, { origin: 'http://localhost:3000' }),
    get(merchant, { origin: 'null' }),
  ]);
  for (const answer of answers) expect(corsHeaders(answer.headers)).toEqual([]);
});
