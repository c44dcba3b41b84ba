import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { verifyEnvelope } from '../../server/sso/envelope.ts';
import { type Payload, payloadSchema } from '../../server/sso/payload.ts';
import {
  type Answer,
  locationOf,
  openApp,
  openProductionApp,
  type SendOptions,
  targetOf,
} from '../support/app/app.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const secret = 'test-launch-secret-test-launch-secret';
const next = 'test-launch-next-test-launch-next-test';
const env = {
  SSO_MARKETPLACE_CALLBACK_URL: 'https://market.localhost/sso/in?lang=de%20AT&lang=fr',
  SSO_MARKETPLACE_SECRET: secret,
  SSO_CRM_CALLBACK_URL: 'https://crm.localhost/cb',
  SSO_CRM_SECRET: `${secret}-crm,${next}`,
};

let merchant: string;
const app = shared(() => openApp({ env }));
beforeAll(async () => {
  merchant = await app.login('merchant@example.test');
});

/** Returns the payload of the answer, verified as a client would. */
async function open(answer: Answer, aud = 'marketplace', secrets = [secret]): Promise<Payload> {
  const { claims } = await verifyEnvelope(locationOf(answer).searchParams, {
    secrets,
    schema: payloadSchema,
    iss: app.config.issuer,
    aud,
    ttlSeconds: 300,
    now: new Date(),
  });
  return claims;
}

const payloadParameters = ['payload', 'signature', 'signature_next'];

function expectNoPayload(answer: Answer): void {
  for (const name of payloadParameters) expect(locationOf(answer).searchParams.has(name)).toBe(false);
}

describe('a launch by a person who is logged in', () => {
  it('leads to the configured callback with a payload that the client can verify (contract 3.1 to 3.3, 3.5 and 4.15)', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const answer = await app.send('/sso/launch/marketplace', { cookie: merchant });
    expect(answer.status).toBe(303);
    const payload = await open(answer);
    const names = 'iss aud iat exp nonce client sid auth_time amr profile';
    expect(Object.keys(payload).join(' ')).toBe(names);
    expect(payload).toMatchObject({
      iss: 'http://localhost:3000',
      aud: 'marketplace',
      client: 'marketplace',
      profile: {
        email: 'merchant@example.test',
        role: 'merchant',
        account: { capabilities: ['manage_storefront', 'sell_products', 'sell_services'] },
      },
    });
    expect(payload.exp - payload.iat).toBe(300);
    expect(payload.iat).toBeGreaterThanOrEqual(before);
    expect(payload.iat).toBeLessThanOrEqual(Math.floor(Date.now() / 1_000));
  });

  it("keeps the callback's own query as it is configured (contract 4.15)", async () => {
    const answer = await app.send('/sso/launch/marketplace', { cookie: merchant });
    expect(answer.headers.get('location')).toMatch(
      /^https:\/\/market\.localhost\/sso\/in\?lang=de%20AT&lang=fr&payload=[\w-]+&signature=[0-9a-f]{64}$/,
    );
  });

  it('returns state and return_to inside the payload, only if they were sent (contract 3.13)', async () => {
    const query = new URLSearchParams({ state: 'A~z.9_-', return_to: '/basket?x=1&y=ä#top' });
    const payload = await open(await app.send(`/sso/launch/marketplace?${query}`, { cookie: merchant }));
    expect(payload.state).toBe('A~z.9_-');
    expect(payload.return_to).toBe('/basket?x=1&y=ä#top');
  });

  it('is signed with both secrets during a rotation, so that a client may hold either (contract 3.21, 8.30 and 8.122)', async () => {
    const answer = await app.send('/sso/launch/crm_app', { cookie: merchant });
    expect([...locationOf(answer).searchParams.keys()]).toEqual(payloadParameters);
    await open(answer, 'crm_app', [`${secret}-crm`]);
    await open(answer, 'crm_app', [next]);
    await expect(open(answer, 'crm_app', [secret])).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('leads to the demo client if no callback is configured', async () => {
    const answer = await app.send('/sso/launch/network_site', { cookie: merchant });
    expect(locationOf(answer).href).toMatch(
      /^http:\/\/localhost:3000\/demo\/network_site\/callback\?payload=/,
    );
  });

  it('has a nonce of its own each of 1,000 times', async () => {
    const nonces = new Set<string>();
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => app.send('/sso/launch/marketplace', { cookie: merchant })),
      );
      for (const payload of await Promise.all(answers.map((answer) => open(answer))))
        nonces.add(payload.nonce);
    }
    expect(nonces.size).toBe(1_000);
    for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});

describe('a payload', () => {
  it.each([
    ['admin@example.test', 'admin', []],
    ['manager@example.test', 'admin', []],
    ['customer@example.test', 'customer', []],
    // The capability was granted, but the account is not verified: a merchant whose capability is not in force.
    ['new-merchant@example.test', 'merchant', []],
  ])('gives %s the role %s (contract 2.65 and 3.9)', async (email, role, capabilities) => {
    const payload = await open(await app.send('/sso/launch/marketplace', { cookie: await app.login(email) }));
    expect(payload.profile.role).toBe(role);
    expect(payload.profile.account.capabilities).toEqual(capabilities);
  });

  it('contains sell_products as soon as the account is verified (contract 2.68)', async () => {
    const cookie = await app.login('new-merchant@example.test');
    await sql`update accounts set verified_at = now() where id =
      (select account_id from users where email = 'new-merchant@example.test')`.execute(app.db);
    const payload = await open(await app.send('/sso/launch/marketplace', { cookie }));
    expect(payload.profile.account.capabilities).toEqual(['sell_products']);
  });

  it('lists capabilities sorted, each once, however they are stored (contract 2.67)', async () => {
    const cookie = await app.login('merchant@example.test');
    const id = sql`(select account_id from users where email = 'merchant@example.test')`;
    const stored = ['sell_services', 'manage_storefront', 'sell_services', 'sell_products'];
    await sql`update accounts set capabilities = ${stored} where id = ${id}`.execute(app.db);
    const payload = await open(await app.send('/sso/launch/marketplace', { cookie }));
    expect(payload.profile.account.capabilities).toEqual([
      'manage_storefront',
      'sell_products',
      'sell_services',
    ]);
  });
});

describe('a launch by a person who is not logged in', () => {
  it('leads to the login, which comes back to the same launch (contract 4.16)', async () => {
    const asked = '/sso/launch/marketplace?state=s1&return_to=%2Fa%3Fb%3Dc%26d';
    const answer = await app.send(asked);
    expect(answer.status).toBe(303);
    expectNoPayload(answer);
    const login = locationOf(answer);
    expect(login.pathname).toBe('/login');

    const loggedIn = await app.send(login.pathname + login.search, {
      form: { email: 'merchant@example.test', password: 'local demo password' },
    });
    const launch = targetOf(loggedIn);
    expect(launch.pathname).toBe('/sso/launch/marketplace');
    const cookie = cookieOf(loggedIn);
    const payload = await open(await app.send(launch.pathname + launch.search, { cookie }));
    expect(payload).toMatchObject({ state: 's1', return_to: '/a?b=c&d' });
  });

  it('leads to the login with any cookie that is not a session', async () => {
    for (const cookie of [
      'identity_session=x',
      `identity_session=${'A'.repeat(43)}`,
      'identity_session=',
      '=; %%%; identity_session',
      `__Host-${merchant}`,
    ]) {
      const answer = await app.send('/sso/launch/marketplace', { cookie });
      expect(locationOf(answer).pathname, cookie).toBe('/login');
    }
  });
});

describe('a launch with a prompt (contract 4.4, 4.5 and 4.8)', () => {
  const launchWith = (prompt: string, cookie?: string) =>
    app.send(`/sso/launch/marketplace?state=s2&prompt=${prompt}`, { cookie });

  it('of none shows no page, and sends a payload only if somebody is logged in', async () => {
    expect((await open(await launchWith('none', merchant))).state).toBe('s2');
    const refusals = [
      [undefined, 'login_required'],
      [await app.login('unverified@example.test'), 'interaction_required'],
    ] as const;
    for (const [cookie, error] of refusals) {
      const answer = await launchWith('none', cookie);
      expect(answer.status).toBe(303);
      const location = locationOf(answer);
      expect(location.origin + location.pathname).toBe('https://market.localhost/sso/in');
      expect(location.search).toBe(`?lang=de%20AT&lang=fr&error=${error}&state=s2`);
    }
  });

  it('of none answers access_denied if the user has been suspended', async () => {
    const cookie = await app.login('customer@example.test');
    await sql`update users set suspended_at = now() where email = 'customer@example.test'`.execute(app.db);
    const answer = await launchWith('none', cookie);
    expect(locationOf(answer).searchParams.get('error')).toBe('access_denied');
    expectNoPayload(answer);
    await sql`update users set suspended_at = null where email = 'customer@example.test'`.execute(app.db);
    expect(locationOf(await launchWith('none', cookie)).searchParams.get('error')).toBe('login_required');
  });

  it('of login asks for the password even if somebody is logged in, and then goes on', async () => {
    const answer = await launchWith('login', merchant);
    expectNoPayload(answer);
    const login = locationOf(answer);
    expect(login.pathname).toBe('/login');
    const page = await app.send(login.pathname + login.search, { cookie: merchant });
    expect(page.status).toBe(200);
    expect(page.text).toContain('name="password"');

    const loggedIn = await app.send(login.pathname + login.search, {
      cookie: merchant,
      form: { email: 'merchant@example.test', password: 'local demo password' },
    });
    const launch = targetOf(loggedIn);
    merchant = cookieOf(loggedIn);
    expect((await open(await app.send(launch.pathname + launch.search, { cookie: merchant }))).state).toBe(
      's2',
    );
  });
});

describe('a payload never leaves', () => {
  it('for an unverified address: the browser goes to the page that verifies it, and then back (contract 4.17)', async () => {
    const cookie = await app.login('unverified@example.test');
    const answer = await app.send('/sso/launch/marketplace?state=s3', { cookie });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(
      `/verify-email?next=${encodeURIComponent('/sso/launch/marketplace?state=s3')}`,
    );
    const page = await app.send(answer.headers.get('location') ?? '', { cookie });
    expect(page.status).toBe(200);
    expect(page.text).toContain('unverified@example.test');
  });

  it('for a suspended user, whose sessions ended with the suspension', async () => {
    const cookie = await app.login('customer@example.test');
    await sql`update users set suspended_at = now() where email = 'customer@example.test'`.execute(app.db);
    const answer = await app.send('/sso/launch/marketplace', { cookie });
    expect(locationOf(answer).pathname).toBe('/login');
    await sql`update users set suspended_at = null where email = 'customer@example.test'`.execute(app.db);
  });

  it.each([
    'nobody',
    'Marketplace',
    'marketplace.data',
    'constructor',
    '__proto__',
    'market%2Fplace',
    '%E0%A4%A',
  ])('for the unknown client %s, which is a 404 (contract 4.21)', async (name) => {
    const answer = await app.send(`/sso/launch/${name}`, { cookie: merchant });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).code).toMatch(/^(unknown_client|not_found)$/);
    expect(answer.headers.get('location')).toBeNull();
  });

  it('for HEAD and prefetch, which get a 204 (contract 4.22)', async () => {
    const speculative: SendOptions[] = [
      { method: 'HEAD' },
      { headers: { 'sec-purpose': 'prefetch' } },
      { headers: { 'Sec-Purpose': 'prefetch;prerender' } },
    ];
    for (const options of speculative) {
      const answer = await app.send('/sso/launch/marketplace', { ...options, cookie: merchant });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('location')).toBeNull();
    }
  });

  it.each([
    ['state', ['', 'a b', 'ä', 'a/b', 'x'.repeat(513)]],
    [
      'return_to',
      [
        '',
        'x',
        '//evil.example',
        'https://evil.example',
        '/\\evil',
        '/a\nb',
        '/a\u0000',
        `/${'x'.repeat(2_048)}`,
      ],
    ],
    ['prompt', ['', 'consent', 'NONE', 'none login']],
  ])('for a bad or repeated %s, which is a 400 (contract 4.1 to 4.4)', async (name, values) => {
    const queries = [
      ...values.map((value) => [[name, value]]),
      [
        [name, 'login'],
        [name, 'login'],
      ],
    ];
    for (const query of queries) {
      const answer = await app.send(`/sso/launch/marketplace?${new URLSearchParams(query)}`, {
        cookie: merchant,
      });
      expect(answer.status, JSON.stringify(query)).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        code: 'invalid_request',
        errors: [{ pointer: `/${name}` }],
      });
    }
  });

  it('if return_to makes it longer than verifiers accept, which is a 400', async () => {
    const query = new URLSearchParams({ return_to: `/${'€'.repeat(2_047)}`, state: 's'.repeat(512) });
    const answer = await app.send(`/sso/launch/marketplace?${query}`, { cookie: merchant });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).errors[0].pointer).toBe('/return_to');
  });

  it("through the framework's own doors to a loader", async () => {
    for (const path of [
      '/sso/launch/marketplace.data',
      '/sso/launch/marketplace.data?_routes=routes%2Fsso.launch.%24client',
      '/_root.data?_routes=routes%2Fsso.launch.%24client',
    ]) {
      const answer = await app.send(path, { cookie: merchant });
      expect(answer.text + answer.headers.get('location'), path).not.toMatch(/payload=/);
    }
  });
});

// Contract 4.23.
it('lets nothing in the request change the target or the issuer', async () => {
  const live = await openProductionApp();
  const answer = await live.send(
    'http://evil.example/sso/launch/marketplace?callback=https://evil.example&iss=x',
    {
      cookie: await live.login('merchant@example.test'),
      headers: {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
        origin: 'https://evil.example',
        referer: 'https://evil.example/',
      },
    },
  );
  await live.close();
  expect(locationOf(answer).host).toBe('market.example.test');
  const [payload = ''] = locationOf(answer).searchParams.getAll('payload');
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).iss).toBe('https://id.example.test');
});

// Contract 4.24.
it('sends no-store and no-referrer with every answer', async () => {
  const unverified = await app.login('unverified@example.test');
  const answers = await Promise.all([
    app.send('/sso/launch/marketplace', { cookie: merchant }),
    app.send('/sso/launch/marketplace'),
    app.send('/sso/launch/marketplace', { cookie: unverified }),
    app.send('/sso/launch/marketplace?prompt=none'),
    app.send('/sso/launch/marketplace?prompt=login', { cookie: merchant }),
    app.send('/sso/launch/marketplace?state='),
    app.send('/sso/launch/nobody'),
    app.send('/sso/launch/nobody', { headers: { accept: 'text/html' } }),
    app.send('/sso/launch/marketplace', { method: 'HEAD' }),
    app.send('/sso/launch/marketplace', { method: 'POST' }),
    app.send('/sso/launch/marketplace', { headers: { 'content-length': '70000' } }),
  ]);
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
});
