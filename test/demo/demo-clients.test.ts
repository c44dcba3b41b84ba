// The demo clients of local mode: the whole flow of contract section 1, and every way to cheat it.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp, type TestApp } from '../support/app.ts';
import { cookieOf } from '../support/visitor.ts';

let app: TestApp;
let merchant: string;
beforeAll(async () => {
  app = await openApp({ env: { SSO_CLIENTS: 'later_app' } });
  merchant = await app.login('merchant@example.test');
});
afterAll(() => app.close());

/** A fresh hand-off on its way to the client, with the cookie of the browser that asked for it. */
async function handOff(client = 'marketplace', { send } = app, session = merchant) {
  const start = await send(`/demo/${client}/login`);
  const launched = await send(start.headers.get('location') ?? '', { cookie: session });
  const { pathname, searchParams } = locationOf(launched);
  const state = cookieOf(start);
  const receive = (changes: Record<string, string> = {}, options: Parameters<typeof send>[1] = {}) =>
    send(`${pathname}?${new URLSearchParams({ ...Object.fromEntries(searchParams), ...changes })}`, {
      cookie: state,
      ...options,
    });
  return { start, state, pathname, searchParams, receive };
}

/** The cookie of a session at the client. */
async function enter(client = 'marketplace', session = merchant): Promise<string> {
  return cookieOf(await (await handOff(client, app, session)).receive());
}

function expectRefused(answer: Answer, code: string): void {
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(`<code>${code}</code>`);
  expect(answer.headers.get('set-cookie')).toBeNull();
}

describe.each(['marketplace', 'network_site', 'crm_app', 'later_app'])('the demo client %s', (client) => {
  it('is open to everybody, and shows a login link', async () => {
    const answer = await app.send(`/demo/${client}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`href="/demo/${client}/login"`);
  });

  it('turns its login link into a session of its own', async () => {
    const { start, pathname, receive } = await handOff(client);
    expect(start.status).toBe(303);
    expect(locationOf(start).pathname).toBe(`/sso/launch/${client}`);
    expect(start.headers.get('set-cookie')).toMatch(
      new RegExp(`^demo_state=[\\w-]{22}; HttpOnly; Path=/demo/${client}; SameSite=Lax$`),
    );
    expect(pathname).toBe(`/demo/${client}/callback`);
    const received = await receive();
    expect(received.status).toBe(303);
    // The signed URL does not stay in the address bar, and the cookie is for this client only.
    expect(received.headers.get('location')).toBe(`/demo/${client}`);
    expect(received.headers.get('set-cookie')).toMatch(
      new RegExp(`^demo_session=[\\w-]{22}; HttpOnly; Path=/demo/${client}; SameSite=Lax$`),
    );
    const page = await app.send(`/demo/${client}`, { cookie: cookieOf(received) });
    expect(page.text).toContain('merchant@example.test');
    expect(page.text).toContain('manage_storefront, sell_products, sell_services');
  });
});

it("a demo client does not accept another client's session", async () => {
  const cookie = await enter('crm_app');
  expect((await app.send('/demo/crm_app', { cookie })).text).toContain('merchant@example.test');
  expect((await app.send('/demo/marketplace', { cookie })).text).not.toContain('merchant@example.test');
});

it('a demo client says whether its cached profile is new, still current or refreshed', async () => {
  const session = await app.login('customer@example.test');
  const page = async () =>
    (await app.send('/demo/crm_app', { cookie: await enter('crm_app', session) })).text;
  expect(await page()).toContain('First visit');
  expect(await page()).toContain('nothing to refresh');
  const json = { json: { name: 'Renamed Customer' } };
  expect((await app.send('/trpc/profile.update', { cookie: session, json })).status).toBe(200);
  const refreshed = await page();
  expect(refreshed).toContain('refreshed its cache');
  expect(refreshed).toContain('Hello, Renamed Customer');
  expect(await page()).toContain('nothing to refresh');
});

describe('a hand-off to a demo client', () => {
  it('is refused the second time, and the session it started goes on', async () => {
    const { receive } = await handOff();
    const cookie = cookieOf(await receive());
    expectRefused(await receive(), 'nonce_replayed');
    expect((await app.send('/demo/marketplace', { cookie })).text).toContain('merchant@example.test');
  });

  it('works for exactly one of 16 requests at once, on two instances', async () => {
    const other = await app.startInstance();
    const { state, pathname, searchParams } = await handOff();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        (index % 2 ? app : other).send(`${pathname}?${searchParams}`, { cookie: state }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 303))
      expectRefused(answer, 'nonce_replayed');
  });

  it('is refused with any character changed, and still works unchanged', async () => {
    const { searchParams, receive } = await handOff();
    for (const name of ['payload', 'signature']) {
      const text = searchParams.get(name) ?? '';
      for (const at of [0, 1, Math.floor(text.length / 2), text.length - 2]) {
        const changed = text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
        expectRefused(await receive({ [name]: changed }), 'invalid_signature');
      }
      for (const bad of ['', `${text}A`, `${text}=`, text.slice(1), ` ${text}`])
        expect((await receive({ [name]: bad })).status, bad.slice(0, 9)).toBe(400);
    }
    expect((await receive()).status).toBe(303);
  });

  it.each(['331', '3600', '1e20', 'Infinity'])(
    'is refused when %s seconds have passed',
    async (wait_seconds) => {
      const { receive } = await handOff();
      expectRefused(await receive({ wait_seconds }), 'payload_expired');
      expect((await receive({ wait_seconds: '300' })).status).toBe(303);
    },
  );

  it('stays expired when the clock of the demo is turned back', async () => {
    let ahead = 0;
    const later = await app.startInstance({ now: () => new Date(Date.now() + ahead) });
    const { receive } = await handOff('marketplace', { ...app, ...later });
    ahead = 3_600_000;
    for (const wait_seconds of ['0', '-3600', '-1e20', 'NaN'])
      expectRefused(await receive({ wait_seconds }), 'payload_expired');
  });

  it('is refused in a browser that did not start the login', async () => {
    for (const cookie of [
      undefined,
      'demo_state=',
      'demo_state=AAAAAAAAAAAAAAAAAAAAAA',
      (await handOff()).state,
    ])
      expectRefused(await (await handOff()).receive({}, { cookie }), 'state_mismatch');
  });

  it('is refused if it is for another client or signed by somebody else', async () => {
    const { state, searchParams } = await handOff('crm_app');
    expectRefused(
      await app.send(`/demo/marketplace/callback?${searchParams}`, { cookie: state }),
      'invalid_signature',
    );
    const stranger = await app.startInstance({
      env: { IDENTITY_SSO_SECRET: 'another-secret-another-secret' },
    });
    const forged = await handOff('crm_app', { ...app, ...stranger });
    expectRefused(
      await app.send(`${forged.pathname}?${forged.searchParams}`, { cookie: forged.state }),
      'invalid_signature',
    );
  });

  it('is not used up by a HEAD request or a prefetch', async () => {
    const { receive } = await handOff();
    const state = { cookie: (await handOff()).state };
    for (const options of [{ method: 'HEAD' }, { headers: { 'sec-purpose': 'prefetch;prerender' } }]) {
      const answer = await receive({}, { ...state, ...options });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect((await receive()).status).toBe(303);
  });

  it('that brings an error is shown as text', async () => {
    const asked = await app.send('/sso/launch/marketplace?prompt=none&state=s');
    const { pathname, search } = locationOf(asked);
    expectRefused(await app.send(pathname + search), 'login_required');
    const script = await app.send(`${pathname}?error=${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(script.text).not.toContain('<script>alert');
    expectRefused(await app.send(pathname), 'invalid_request');
  });
});

it('logging out of a demo client ends that session and no other', async () => {
  const [one, another, crm] = [await enter(), await enter(), await enter('crm_app')];
  const ended = await app.send('/demo/marketplace', { method: 'POST', cookie: one });
  expect(ended.status).toBe(303);
  expect(ended.headers.get('set-cookie')).toMatch(/^demo_session=; .*Max-Age=0; Path=\/demo\/marketplace;/);
  const showsSession = async (client: string, cookie: string) =>
    (await app.send(`/demo/${client}`, { cookie })).text.includes('merchant@example.test');
  expect(await showsSession('marketplace', one)).toBe(false);
  expect(await showsSession('marketplace', another)).toBe(true);
  expect(await showsSession('crm_app', crm)).toBe(true);
  expect((await app.send('/sso/profile', { cookie: merchant })).status).toBe(200);
});

it('there is no demo client where a callback is configured, nor for an unknown client', async () => {
  const env = { SSO_MARKETPLACE_CALLBACK_URL: 'https://market.example.test/in' };
  const { send } = await app.startInstance({ env });
  for (const client of ['marketplace', 'nobody', 'constructor']) {
    for (const end of ['', '/login', '/callback', '/callback?error=x'])
      expect((await send(`/demo/${client}${end}`)).status).toBe(404);
    expect((await send(`/demo/${client}`, { method: 'POST' })).status).toBe(404);
  }
  expect((await send('/demo/crm_app')).status).toBe(200);
});

it('a demo client keeps its used nonces longer than any verifier accepts a hand-off', async () => {
  await enter('network_site');
  const { rows } = await sql<{
    seconds: number;
  }>`select extract(epoch from expires_at - now())::float as seconds
    from nonces where audience = 'demo:network_site'`.execute(app.db);
  for (const { seconds } of rows) expect(seconds).toBeGreaterThan(300 + 30);
  expect(rows).not.toHaveLength(0);
});
