// The demo clients of local mode: the whole flow of contract 1.9, and every way to cheat it.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type RefusalCode, refusalStatuses } from '../../clients/typescript/src/index.ts';
import { sealEnvelope } from '../../server/sso/envelope.ts';
import { type Answer, locationOf, nextStopOf, openApp } from '../support/app/app.ts';
import { cookieOf, logIn, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

let merchant: string;
const app = shared(() => openApp({ env: { SSO_CLIENTS: 'later_app' } }));
beforeAll(async () => {
  merchant = await app.login('merchant@example.test');
});

/** Makes a hand-off that the client has not received yet. Returns it with the cookie of the browser that asked for it. */
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

/** Logs in at the client. Returns the cookie of the client's session. */
async function enter(client = 'marketplace', session = merchant): Promise<string> {
  return cookieOf(await (await handOff(client, app, session)).receive());
}

async function countNonces(): Promise<number> {
  return (await app.db.selectFrom('nonces').select('nonce').execute()).length;
}

function expectRefused(answer: Answer, code: RefusalCode): void {
  expect(answer.status).toBe(refusalStatuses[code]);
  expect(answer.headers.get('identity-refusal')).toBe(code);
  expect(answer.text).toContain(`<code>${code}</code>`);
  const launch = answer.headers.get('identity-launch');
  if (launch) expect(answer.text).toContain(`<code>${launch}</code>`);
  expect(answer.headers.get('set-cookie')).toBeNull();
}

describe.each(['marketplace', 'network_site', 'crm_app', 'later_app'])('the demo client %s', (client) => {
  it('is open to everybody, and shows a login link', async () => {
    const answer = await app.send(`/demo/${client}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`href="/demo/${client}/login"`);
  });

  it('turns its login link into a session of its own (contract 1.2)', async () => {
    const { start, pathname, receive } = await handOff(client);
    expect(start.status).toBe(303);
    expect(locationOf(start).pathname).toBe(`/sso/launch/${client}`);
    expect(start.headers.get('set-cookie')).toMatch(
      /^identity_attempt_[\w-]{22}=\d+\.-\.[0-9a-f]{64}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(pathname).toBe(`/demo/${client}/callback`);
    const received = await receive();
    expect(received.status).toBe(303);
    // The signed URL does not stay in the address bar, and the cookie is for this client only.
    expect(locationOf(received).pathname).toBe(`/demo/${client}`);
    expect(received.headers.get('set-cookie')).toMatch(
      new RegExp(`^demo_session=[\\w-]{22}; HttpOnly; Path=/demo/${client}; SameSite=Lax$`),
    );
    const page = await app.send(`/demo/${client}`, { cookie: cookieOf(received) });
    expect(page.text).toContain('merchant@example.test');
    expect(page.text).toContain('manage_storefront, sell_products, sell_services');
  });
});

it("a demo client does not accept another client's session (contract 1.5)", async () => {
  const cookie = await enter('crm_app');
  expect((await app.send('/demo/crm_app', { cookie })).text).toContain('merchant@example.test');
  expect((await app.send('/demo/marketplace', { cookie })).text).not.toContain('merchant@example.test');
});

it('a demo client says whether its cached profile is new, still current or refreshed (contract 1.3)', async () => {
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
        expectRefused(await receive({ [name]: changed }), 'signature_wrong');
      }
      for (const bad of ['', `${text}A`, `${text}=`, text.slice(1), ` ${text}`])
        expect([400, 401], bad.slice(0, 9)).toContain((await receive({ [name]: bad })).status);
    }
    expect((await receive()).status).toBe(303);
  });

  it.each(['331', '3600', '1e20', 'Infinity'])(
    'is refused when %s seconds have passed',
    async (wait_seconds) => {
      const { receive } = await handOff();
      expectRefused(await receive({ wait_seconds }), 'expired');
      expect((await receive({ wait_seconds: '300' })).status).toBe(303);
    },
  );

  it('stays expired when the clock of the demo is turned back', async () => {
    let ahead = 0;
    const later = await app.startInstance({ now: () => new Date(Date.now() + ahead) });
    const { receive } = await handOff('marketplace', { ...app, ...later });
    ahead = 3_600_000;
    for (const wait_seconds of ['0', '-3600', '-1e20', 'NaN'])
      expectRefused(await receive({ wait_seconds }), 'expired');
  });

  it('is refused in a browser that did not start the login, and stays unused', async () => {
    const { state, receive } = await handOff();
    const [name, value = ''] = state.split('=');
    const [startedAt, , signature] = value.split('.');
    for (const cookie of [
      undefined,
      `${name}=`,
      `${name}=${startedAt}`,
      `${name}=${startedAt}.-.${'a'.repeat(64)}`,
      `${name}=${startedAt}.0.${signature}`,
      `${name}=${Number(startedAt) + 1}.-.${signature}`,
      `${name}=${(await handOff()).state.split('=')[1]}`,
      (await handOff()).state,
    ]) {
      const answer = await receive({}, { cookie });
      expectRefused(answer, 'state_unknown');
      // The page has a link, not a redirect, so that a browser cannot loop.
      expect(answer.headers.get('location')).toBeNull();
      expect(answer.text).toContain('href="/demo/marketplace/login"');
    }
    expect((await receive()).status).toBe(303);
  });

  it('says what is not set where the login started at another site with its name', async () => {
    for (const [client, setting] of [
      ['network_site', 'SSO_WEBSITE_CALLBACK_URL'],
      ['later_app', 'SSO_LATER_APP_CALLBACK_URL'],
    ]) {
      const { receive } = await handOff(client);
      const answer = await receive({}, { cookie: undefined });
      expect(answer.text).toContain(`<code>${setting}</code> is not`);
      expect((await receive({ signature: '0'.repeat(64) })).text).not.toContain(`<code>${setting}`);
    }
  });

  it('is refused when it is late before anybody looks at its state', async () => {
    const { receive } = await handOff();
    expectRefused(await receive({ wait_seconds: '3600' }, { cookie: undefined }), 'expired');
  });

  it('is refused ten minutes after the browser asked for it', async () => {
    let ahead = 0;
    const later = await app.startInstance({ now: () => new Date(Date.now() + ahead) });
    const start = await later.send('/demo/crm_app/login');
    const receive = async () => {
      const session = await later.login('merchant@example.test');
      const launched = await later.send(start.headers.get('location') ?? '', { cookie: session });
      const { pathname, search } = locationOf(launched);
      return later.send(pathname + search, { cookie: cookieOf(start) });
    };
    ahead = 595_000;
    expect((await receive()).status).toBe(303);
    ahead = 600_000;
    expectRefused(await receive(), 'state_unknown');
  });

  it('without a state stays unused, and leads to the login of this client', async () => {
    const cookie = (await handOff()).state;
    for (const client of ['marketplace', 'later_app']) {
      // This launch is what "Open" on /profile does.
      const opened = locationOf(await app.send(`/sso/launch/${client}`, { cookie: merchant }));
      const nonces = await countNonces();
      const answer = await app.send(opened.pathname + opened.search, { cookie });
      expect([answer.status, locationOf(answer).pathname]).toEqual([303, `/demo/${client}/login`]);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await countNonces()).toBe(nonces);
      // This login goes straight through the launch to a session. No page comes in between.
      expect(locationOf(await (await handOff(client)).receive()).pathname).toBe(`/demo/${client}`);
    }
  });

  it('without a state leads to the page of this client where somebody is logged in there', async () => {
    const cookie = await enter();
    const customer = await app.login('customer@example.test');
    const { pathname, search } = locationOf(await app.send('/sso/launch/marketplace', { cookie: customer }));
    const answer = await app.send(pathname + search, { cookie });
    expect([answer.status, locationOf(answer).pathname]).toEqual([303, '/demo/marketplace']);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await app.send('/demo/marketplace', { cookie })).text).toContain('merchant@example.test');
  });

  it('without a state is refused like any other when it is forged or late', async () => {
    const { pathname, searchParams } = locationOf(
      await app.send('/sso/launch/marketplace', { cookie: merchant }),
    );
    const late = new URLSearchParams({ ...Object.fromEntries(searchParams), wait_seconds: '3600' });
    expectRefused(await app.send(`${pathname}?${late}`), 'expired');
    searchParams.set('signature', 'a'.repeat(64));
    expectRefused(await app.send(`${pathname}?${searchParams}`), 'signature_wrong');
  });

  it('is refused if it is for another client or signed by somebody else', async () => {
    const { state, searchParams } = await handOff('crm_app');
    expectRefused(
      await app.send(`/demo/marketplace/callback?${searchParams}`, { cookie: state }),
      'audience_wrong',
    );
    const stranger = await app.startInstance({
      env: { IDENTITY_SSO_SECRET: 'another-secret-another-secret' },
    });
    const forged = await handOff('crm_app', { ...app, ...stranger });
    expectRefused(
      await app.send(`${forged.pathname}?${forged.searchParams}`, { cookie: forged.state }),
      'signature_wrong',
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
});

describe('an error instead of a hand-off', () => {
  it('is shown, as text, in the browser that asked', async () => {
    const start = await app.send('/demo/marketplace/login?prompt=none');
    const cookie = cookieOf(start);
    const { pathname, searchParams } = locationOf(await app.send(start.headers.get('location') ?? ''));
    expectRefused(await app.send(`${pathname}?${searchParams}`, { cookie }), 'login_required');
    searchParams.set('error', '<script>alert(1)</script>');
    const script = await app.send(`${pathname}?${searchParams}`, { cookie });
    expectRefused(script, 'error_unknown');
    expect(script.text).not.toContain('alert(1)');
  });

  it('says nothing in any other browser', async () => {
    const { state } = await handOff();
    for (const query of [
      'error=access_denied',
      'error=access_denied&state=s',
      'error=access_denied&state=',
    ]) {
      const answer = await app.send(`/demo/marketplace/callback?${query}`, { cookie: state });
      expectRefused(answer, 'state_unknown');
      expect(answer.text).not.toContain('access_denied');
    }
    expectRefused(await app.send('/demo/marketplace/callback'), 'parameter_missing');
  });
});

describe('a browser with several attempts at once', () => {
  it('finishes any of five, in any order', async () => {
    const attempts = [await handOff(), await handOff(), await handOff(), await handOff(), await handOff()];
    const cookie = attempts.map(({ state }) => state).join('; ');
    for (const { receive } of attempts.reverse()) expect((await receive({}, { cookie })).status).toBe(303);
  });

  it('drops the oldest with the sixth', async () => {
    let ahead = 0;
    const { send } = await app.startInstance({ now: () => new Date(Date.now() + ahead) });
    const cookies: string[] = [];
    for (; cookies.length < 5; ahead += 2_000) {
      const start = await send('/demo/marketplace/login', { cookie: cookies.join('; ') });
      cookies.unshift(cookieOf(start));
    }
    const sixth = await send('/demo/marketplace/login', { cookie: cookies.join('; ') });
    const [kept, dropped, ...more] = sixth.headers.getSetCookie();
    expect(kept).toMatch(/^identity_attempt_[\w-]{22}=\d/);
    const [oldest = ''] = cookies.at(-1)?.split('=') ?? [];
    expect(dropped).toBe(`${oldest}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`);
    expect(more).toEqual([]);
  });
});

describe('a demo client that asks for the password again (contract 3.29 and 4.13)', () => {
  /** Returns the result of a hand-off whose `auth_time` is `secondsAfterStart` seconds after the start of the attempt. */
  async function prove(secondsAfterStart: number | undefined) {
    const { send, config } = app;
    const start = await send('/demo/crm_app/login?prompt=login');
    const asked = locationOf(start);
    expect(asked.searchParams.get('prompt')).toBe('login');
    const startedAt = Number(/=(\d+)\.0\./.exec(cookieOf(start))?.[1]);
    asked.searchParams.delete('prompt');
    const launched = locationOf(await send(asked.pathname + asked.search, { cookie: merchant }));
    const genuine = Buffer.from(launched.searchParams.get('payload') ?? '', 'base64url').toString();
    const { auth_time: _, ...payload } = JSON.parse(genuine);
    if (secondsAfterStart !== undefined) payload.auth_time = startedAt + secondsAfterStart;
    const sealed = await sealEnvelope(payload, config.clients.get('crm_app')?.secrets ?? []);
    const receive = (cookie = cookieOf(start)) =>
      send(`/demo/crm_app/callback?${new URLSearchParams(sealed)}`, { cookie });
    return { receive, cookie: cookieOf(start) };
  }

  it('offers that on its page', async () => {
    const page = await app.send('/demo/crm_app', { cookie: await enter('crm_app') });
    expect(page.text).toContain('href="/demo/crm_app/login?prompt=login"');
    expect(page.text).not.toContain('with your password again');
  });

  it.each([0, 5, -30])('takes an auth_time of %s s after it asked', async (seconds) => {
    const cookie = cookieOf(await (await prove(seconds)).receive());
    expect((await app.send('/demo/crm_app', { cookie })).text).toContain('with your password again');
  });

  it.each([-31, -3600, undefined])('refuses one of %s s, and does not ask by itself', async (seconds) => {
    const { receive } = await prove(seconds);
    expectRefused(await receive(), 'auth_time_too_old');
  });

  it('is not talked out of it by a changed cookie', async () => {
    const { receive, cookie } = await prove(-3600);
    expectRefused(await receive(cookie.replace('.0.', '.-.')), 'state_unknown');
    const earlier = cookie.replace(/(?<==)\d+/, (startedAt) => String(Number(startedAt) - 300));
    expectRefused(await receive(earlier), 'state_unknown');
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

it('no demo client exists if a callback is configured, nor for an unknown client', async () => {
  const env = { SSO_MARKETPLACE_CALLBACK_URL: 'https://market.localhost/in' };
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
    from nonces where audience = 'demo:network_site' order by expires_at desc limit 1`.execute(app.db);
  expect(rows[0]?.seconds).toBeGreaterThan(300 + 30);
});

it('a demo client that asks for the password again gets it, all the way', async () => {
  const browser = await logIn(app.send, 'customer@example.test');
  const follow = async (path: string): Promise<string> => {
    const stop = nextStopOf(await browser.send(path));
    if (stop === undefined) return path;
    const { pathname, search } = new URL(stop, app.config.baseUrl);
    return follow(pathname + search);
  };
  const loginPage = await follow('/demo/crm_app/login?prompt=login');
  expect(loginPage).toMatch(/^\/login\?prompt=login&next=/);
  const loggedIn = await browser.login('customer@example.test', undefined, loginPage);
  expect(await follow(loggedIn.headers.get('location') ?? '')).toBe('/demo/crm_app');
  expect(textOf(await browser.send('/demo/crm_app'))).toContain(
    'You have just logged in with your password again',
  );
});
