// What the vectors cannot show of the kit for TypeScript: simultaneous requests, several tabs, hooks, and pages.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type CallbackOptions,
  ConfigurationError,
  createIdentityClient,
  type LogEntry,
  Refusal,
} from '../../clients/typescript/src/index.ts';
import { sealEnvelope } from '../../server/sso/envelope.ts';
import { buildPayload, example } from '../support/clients/hand-off.ts';
import { buildKit } from '../support/clients/kit-vectors.ts';

const site = 'https://marketplace.example.test';
const { now: nowSeconds } = example.verifier;

let kit: ReturnType<typeof buildKit>;
let logged: LogEntry[];
let sessions: string[];
beforeEach(() => {
  logged = [];
  sessions = [];
  kit = buildKit(nowSeconds, { log: (entry: LogEntry) => logged.push(entry) });
});

const startSession: CallbackOptions['startSession'] = ({ profile }) => {
  sessions.push(profile.id);
  return new Headers([
    ['Set-Cookie', `shop=${sessions.length}; Secure`],
    ['Set-Cookie', 'theme=dark'],
    ['Location', 'https://evil.example/'],
    ['Cache-Control', 'public'],
  ]);
};

/** A browser, which keeps the cookies of its attempts. */
function openTabs(cookies = new Map<string, string>()) {
  const cookie = () => [...cookies].map((pair) => pair.join('=')).join('; ');
  return {
    cookies,
    async start(options = {}): Promise<URL> {
      const request = new Request(`${site}/sso/identity/login`, { headers: { cookie: cookie() } });
      const answer = await kit.identity.startLogin(request, options);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store']);
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = '', more = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
        if (more.includes('Max-Age=0')) cookies.delete(name);
        else cookies.set(name, value);
        expect(more).toMatch(/^; Path=\/; Max-Age=(?:600|0); HttpOnly; Secure; SameSite=Lax$/);
      }
      return new URL(answer.headers.get('location') ?? '');
    },
    receive: (query: string, options: Partial<CallbackOptions> = {}) =>
      kit.identity.handleCallback(
        new Request(`http://whoever.example/sso/identity/callback?${query}`, {
          headers: { cookie: cookie(), host: 'evil.example', 'x-forwarded-host': 'evil.example' },
        }),
        { startSession, endSession: () => expect.unreachable(), ...options },
      ),
  };
}

/** Returns the query of the hand-off that answers an attempt. */
async function answerTo(launch: URL | undefined, changes: object = {}): Promise<string> {
  const payload = {
    ...buildPayload(),
    nonce: btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .slice(0, 22),
    ...Object.fromEntries(launch?.searchParams ?? []),
    ...changes,
  };
  return new URLSearchParams({ ...(await sealEnvelope(payload, [example.secret])) }).toString();
}

const codeOf = (answer: Response) => answer.headers.get('identity-refusal');

describe('a login', () => {
  it('leads to the launch with all that was asked, and comes back to the page', async () => {
    const tabs = openTabs();
    const launch = await tabs.start({ returnTo: '/orders?x=ü', prompt: 'none', maxAge: 60 });
    expect(launch.origin + launch.pathname).toBe('https://id.example.test/sso/launch/marketplace');
    expect(Object.fromEntries(launch.searchParams)).toEqual({
      state: expect.stringMatching(/^[\w-]{22}$/),
      return_to: '/orders?x=ü',
      prompt: 'none',
      max_age: '60',
    });
    const proved = { auth_time: nowSeconds, prompt: undefined, max_age: undefined };
    const answer = await tabs.receive(await answerTo(launch, proved));
    expect(answer.status).toBe(303);
    // Neither the request nor the application can change the address of the redirect.
    expect(answer.headers.get('location')).toBe(`${site}/orders?x=%C3%BC`);
    expect(answer.headers.getSetCookie()).toEqual(['shop=1; Secure', 'theme=dark']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(logged).toEqual([
      { outcome: 'accepted', launchId: expect.stringMatching(/^[\da-f]{4}-[\da-f]{4}$/) },
    ]);
  });

  it.each([
    null,
    undefined,
    '',
    'orders',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a\nb',
  ])('does not ask to come back to %j', async (returnTo) => {
    expect((await openTabs().start({ returnTo })).searchParams.has('return_to')).toBe(false);
  });

  it('stays on the own site whatever the path looks like', async () => {
    for (const path of [
      '/.//evil.example',
      '/%2f/evil.example',
      '/a/..//evil.example',
      '/?//evil.example',
      '/@evil.example',
    ]) {
      const tabs = openTabs();
      const answer = await tabs.receive(await answerTo(await tabs.start(), { return_to: path }));
      expect(new URL(answer.headers.get('location') ?? '').origin, path).toBe(site);
    }
  });

  it('works in five tabs at once, in any order; the sixth drops the oldest (contract 3.25)', async () => {
    const tabs = openTabs();
    const launches: URL[] = [];
    for (let tab = 0; tab < 5; tab++) launches.push(await tabs.start());
    expect(tabs.cookies.size).toBe(5);
    for (const launch of launches.toReversed())
      expect((await tabs.receive(await answerTo(launch))).status).toBe(303);
    await tabs.start();
    expect(tabs.cookies.size).toBe(5);
  });

  it('drops cookies of its own only', async () => {
    const foreign = Array.from({ length: 9 }, (_, n): [string, string] => [
      `__Host-identity_attempt_x${n}`,
      '1.-.a',
    ]);
    const tabs = openTabs(new Map([...foreign, ['session', 'mine']]));
    await tabs.start();
    expect(tabs.cookies.size).toBe(11);
  });

  it('that starts at another host than the configured one says so in the log, and nowhere else', async () => {
    const starts: [at: string, host?: string][] = [
      [`${site}/login`],
      [`${site}/login`, 'MARKETPLACE.example.test:443'],
      ['http://marketplace.example.test/login'],
      ['http://127.0.0.1:4000/login'],
      [`${site}/login`, '127.0.0.1:4000'],
      [`${site}/login`, 'no host'],
    ];
    for (const [at, host] of starts) {
      const answer = await kit.identity.startLogin(new Request(at, { headers: { ...(host && { host }) } }));
      expect([...answer.headers].join()).not.toMatch(/127\.0\.0|no host/);
    }
    const opened = ['127.0.0.1:4000', '127.0.0.1:4000', 'no host'];
    expect(logged).toEqual(
      opened.map((host) => ({
        outcome: 'opened_elsewhere',
        launchId: undefined,
        reason: `opened at https://${host}/, but loginUrl is ${site}/sso/identity/login`,
      })),
    );
  });

  it('that comes back at another path than the configured one says so in the log, and nowhere else', async () => {
    for (const path of ['/sso/identity/callback', '/callback']) {
      const answer = await kit.identity.handleCallback(new Request(`${site}${path}?payload=canary`), {
        startSession,
        endSession: () => expect.unreachable(),
      });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'parameter_missing']);
    }
    expect(logged.map(({ outcome }) => outcome)).toEqual([
      'parameter_missing',
      'opened_elsewhere',
      'parameter_missing',
    ]);
    expect(logged[1]?.reason).toBe(
      `opened at ${site}/callback, but callbackUrl is ${site}/sso/identity/callback`,
    );
  });

  it.each([-1, 0.5, 2_592_001, Number.NaN])('cannot demand a credential of %s seconds', async (maxAge) => {
    await expect(openTabs().start({ maxAge })).rejects.toThrow(RangeError);
  });

  it('is started by GET only, and with a demand that there is', async () => {
    const answer = await kit.identity.startLogin(new Request(`${site}/login`, { method: 'POST' }));
    expect([
      answer.status,
      codeOf(answer),
      answer.headers.get('allow'),
      answer.headers.getSetCookie(),
    ]).toEqual([405, 'method_not_allowed', 'GET, HEAD', []]);
    expect(logged.splice(0)).toMatchObject([{ outcome: 'method_not_allowed', reason: 'POST' }]);
    await expect(openTabs().start({ prompt: 'consent' })).rejects.toThrow(RangeError);
  });

  it('is not started by a prefetch', async () => {
    const headers = { 'sec-purpose': 'prefetch' };
    const answer = await kit.identity.startLogin(new Request(`${site}/login`, { headers }));
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([204, []]);
  });

  it('says whether a demanded credential was given', async () => {
    const seen: unknown[] = [];
    const note = {
      startSession(_: unknown, login: unknown) {
        seen.push(login);
        return {};
      },
    };
    const tabs = openTabs();
    const [plain, again] = [await tabs.start(), await tabs.start({ prompt: 'login' })];
    await tabs.receive(await answerTo(plain), note);
    await tabs.receive(await answerTo(again, { auth_time: nowSeconds, prompt: undefined }), note);
    expect(seen).toEqual([{ isProved: false }, { isProved: true }]);
  });
});

describe('a hand-off', () => {
  it('starts one session of 16 requests at once', async () => {
    const tabs = openTabs();
    const query = await answerTo(await tabs.start());
    const answers = await Promise.all(Array.from({ length: 16 }, () => tabs.receive(query)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter((answer) => codeOf(answer) === 'nonce_replayed')).toHaveLength(15);
    expect(sessions).toHaveLength(1);
  });

  it('whose login ends while its session starts gives nobody a session', async () => {
    const tabs = openTabs();
    const sid = 'c2lkLW9mLW9uZS1sb2dpbg';
    const ended: string[] = [];
    const answer = await tabs.receive(await answerTo(await tabs.start(), { sid }), {
      async startSession(...given) {
        await kit.stores.endedLogins.add(sid, nowSeconds + 360);
        return startSession(...given);
      },
      endSession: (of) => ended.push(of),
    });
    expect(ended).toEqual([sid]);
    expect([answer.status, codeOf(answer), answer.headers.get('set-cookie')]).toEqual([
      403,
      'session_ended',
      null,
    ]);
  });

  it('takes no session where any store throws', async () => {
    const away = async () => Promise.reject(new Error('the password of the database'));
    for (const [store, name] of [
      ['nonces', 'consume'],
      ['profiles', 'isNewer'],
      ['endedLogins', 'has'],
    ] as const) {
      kit = buildKit(nowSeconds, { log: (entry: LogEntry) => logged.push(entry) });
      Object.assign(kit.stores[store], { [name]: away });
      const tabs = openTabs();
      const answer = await tabs.receive(
        await answerTo(await tabs.start(), { sid: 'c2lkLW9mLW9uZS1sb2dpbg' }),
      );
      expect([answer.status, codeOf(answer)], store).toEqual([503, 'store_unavailable']);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await answer.text()).not.toContain('password');
      expect(logged.at(-1)).toMatchObject({ outcome: 'store_unavailable', cause: expect.any(Error) });
    }
    expect(sessions).toEqual([]);
  });

  it('starts no session where its profile cannot be kept, and ends none', async () => {
    kit.stores.profiles.apply = async () => Promise.reject(new Error('away'));
    const tabs = openTabs();
    const sid = 'c2lkLW9mLW9uZS1sb2dpbg';
    const answer = await tabs.receive(await answerTo(await tabs.start(), { sid }));
    expect([answer.status, codeOf(answer), answer.headers.getSetCookie()]).toEqual([
      503,
      'store_unavailable',
      [],
    ]);
    expect(sessions).toEqual([]);
  });

  it('has the site save the person, keeps the profile, and then starts the session', async () => {
    const tabs = openTabs();
    const { profile } = buildPayload();
    const steps: [step: string, kept: unknown][] = [];
    const note = async (step: string) => steps.push([step, await kit.stores.profiles.find(profile.id)]);
    const hooks: Partial<CallbackOptions> = {
      savePerson: ({ name }) => note(`save ${name}`),
      async startSession(...given) {
        await note('start');
        return startSession(...given);
      },
    };
    for (let login = 0; login < 2; login++) await tabs.receive(await answerTo(await tabs.start()), hooks);
    expect(steps).toEqual([
      [`save ${profile.name}`, undefined],
      ['start', profile],
      ['start', profile],
    ]);
  });

  it('is of no more use after the application has failed to start a session', async () => {
    const tabs = openTabs();
    const query = await answerTo(await tabs.start());
    const fails = { startSession: () => Promise.reject(new Error('away')) };
    await expect(tabs.receive(query, fails)).rejects.toThrow('away');
    expect(codeOf(await tabs.receive(query))).toBe('nonce_replayed');
  });

  it('without a state leads on, and is not used up (contract 3.26)', async () => {
    const tabs = openTabs();
    const query = await answerTo(undefined);
    expect((await tabs.receive(query)).headers.get('location')).toBe(`${site}/sso/identity/login`);
    const isLoggedIn = async (request: Request) => request.url.includes('callback');
    expect((await tabs.receive(query, { isLoggedIn })).headers.get('location')).toBe(`${site}/`);
    expect(sessions).toEqual([]);
  });
});

describe('a refusal', () => {
  it('for its time says that the clock may be wrong, in the log only', async () => {
    for (const [after, code, reason] of [
      [3_600, 'expired', 'made 3600 s ago for 300 s: it took too long, or our clock is wrong'],
      [-3_600, 'issued_in_future', 'iat is 3600 s ahead of our clock'],
    ] as const) {
      const iat = nowSeconds - after;
      const answer = await openTabs().receive(await answerTo(undefined, { iat, exp: iat + 300 }));
      expect(codeOf(answer)).toBe(code);
      expect(await answer.text()).not.toContain('3600');
      expect(logged.at(-1)).toMatchObject({ outcome: code, reason });
    }
  });

  it('is a page without anything of the payload, with the way to the login and what support needs (contract 3.31 and 3.35)', async () => {
    const tabs = openTabs();
    const query = await answerTo(await tabs.start(), { return_to: '/canary' });
    await tabs.receive(query);
    const answer = await tabs.receive(query);
    const { headers } = answer;
    const launch = headers.get('identity-launch') ?? '';
    expect(launch).toMatch(/^[\da-f]{4}-[\da-f]{4}$/);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    const text = await answer.text();
    expect(text).toContain(`Code: <code>nonce_replayed</code> · <code>${launch}</code>`);
    expect(text).toContain(`<a href="${site}/sso/identity/login">`);
    expect(text).toContain(`<a href="${site}/">Go on</a>`);
    expect(text).not.toMatch(/canary|zoe|<script/i);
    expect(logged.at(-1)).toEqual({
      outcome: 'nonce_replayed',
      launchId: launch,
      reason: expect.any(String),
      remedy: expect.any(String),
      page: 'https://id.example.test/developers/refusals#nonce_replayed',
    });
  });

  it('has the id of the launch wherever one payload can be read', async () => {
    const query = await answerTo(undefined);
    const [payload = ''] = query.split('&');
    const idOf = async (asked: string) => (await openTabs().receive(asked)).headers.get('identity-launch');
    expect(await idOf(`${query}&state=a&state=b`)).toMatch(/^[\da-f]{4}-[\da-f]{4}$/);
    for (const none of [
      `${query}&${payload}`,
      `${payload}=`,
      `${payload}!`,
      `${payload}${'A'.repeat(8_192)}`,
    ])
      expect(await idOf(none), none).toBeNull();
  });

  it('escapes what the configuration says', async () => {
    kit = buildKit(nowSeconds, { loginUrl: `${site}/login?a=1&b='%22<script>` });
    const text = await (await openTabs().receive('')).text();
    expect(text).toContain('/login?a=1&amp;b=&#39;%22&lt;script&gt;"');
    expect(text).not.toContain('<script');
  });

  it('may have an answer of the application, with the same headers', async () => {
    const tabs = openTabs();
    const launch = await tabs.start({ prompt: 'none' });
    const query = `error=login_required&state=${launch.searchParams.get('state')}`;
    const seen: Refusal[] = [];
    const answer = await tabs.receive(query, {
      onRefusal(refusal) {
        seen.push(refusal);
        return new Response('not logged in', { headers: { 'Cache-Control': 'public', 'X-Own': 'yes' } });
      },
    });
    expect([answer.status, await answer.text(), answer.headers.get('x-own')]).toEqual([
      200,
      'not logged in',
      'yes',
    ]);
    expect([codeOf(answer), answer.headers.get('cache-control')]).toEqual(['login_required', 'no-store']);
    expect(seen[0]).toBeInstanceOf(Refusal);
  });
});

describe('a configuration', () => {
  const faultsOf = (changes: object): readonly string[] => {
    try {
      createIdentityClient({ ...kit.given, ...changes });
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const fault of error.faults) expect(error.message).toContain(fault);
      expect(error.message).not.toMatch(/kanarienvogel/i);
      return error.faults.map((fault) => fault.split(' ')[0] ?? '');
    }
  };

  it.each([
    [{}, []],
    [{ issuer: 'https://id.example.test/path' }, ['issuer']],
    [{ issuer: 'https://id.example.test?x' }, ['issuer']],
    [{ issuer: 'id.example.test' }, ['issuer']],
    [{ issuer: 'http://id.example.test' }, ['issuer']],
    [{ issuer: 'https://id.example.test/sso' }, ['issuer']],
    [{ client: 'Kanarienvogel' }, ['client']],
    [{ secrets: [] }, ['secrets']],
    [{ secrets: [''] }, ['secrets', 'secrets']],
    [{ secrets: ['kanarienvogel'] }, ['secrets']],
    [{ secrets: ['kanarienvogel-kanarienvogel-kanarienvogel\n'] }, ['secrets']],
    [{ secrets: ['kanarienvogel-kanarienvogel-kanarienvogel,x'] }, ['secrets']],
    [{ secrets: Array(2).fill('kanarienvogel-kanarienvogel-kanarienvogel') }, ['secrets']],
    [{ secrets: 'kanarienvogel-kanarienvogel-kanarienvogel' }, ['secrets']],
    [{ secrets: ['a', 'b', 'c'].map((end) => 'x'.repeat(32) + end) }, ['secrets']],
    [{ callbackUrl: '/callback' }, ['callbackUrl']],
    [{ callbackUrl: 'http://marketplace.example.test/cb' }, ['callbackUrl']],
    [{ callbackUrl: `${site}/cb?state=1` }, ['callbackUrl']],
    [{ callbackUrl: `${site}/cb#x` }, ['callbackUrl']],
    [
      { callbackUrl: 'https://kanarienvogel:x@marketplace.example.test/cb' },
      ['callbackUrl', 'callbackUrl'].slice(1),
    ],
    [{ loginUrl: 'https://www.marketplace.example.test/login' }, ['loginUrl']],
    [{ loginUrl: `${site}:8443/login` }, ['loginUrl']],
    [{ homeUrl: 'javascript:alert(1)' }, ['homeUrl']],
    [{ homeUrl: 'https://www.marketplace.example.test/' }, ['homeUrl']],
    [{ ttlSeconds: 29 }, ['ttlSeconds']],
    [{ ttlSeconds: 3_601 }, ['ttlSeconds']],
    [{ ttlSeconds: Number.NaN }, ['ttlSeconds']],
    [{ nonces: undefined }, ['nonces']],
    [{ issuer: undefined, client: undefined, secrets: undefined }, ['issuer', 'client', 'secrets']],
  ])('%j has its faults named', (changes, faults) => {
    expect(faultsOf(changes)).toEqual(faults);
  });

  it('on this machine, over https, needs a long secret all the same', () => {
    const local = {
      callbackUrl: 'https://localhost/cb',
      loginUrl: 'https://localhost/login',
      secrets: ['short'],
    };
    expect(faultsOf({ ...local, homeUrl: undefined })).toEqual(['secrets']);
  });

  it('on this machine needs neither https nor a long secret, and its cookies no Secure', async () => {
    const local = {
      callbackUrl: 'http://localhost:4000/cb',
      loginUrl: 'http://localhost:4000/login',
      secrets: ['short'],
    };
    const identity = createIdentityClient({ ...kit.given, ...local, homeUrl: undefined });
    const answer = await identity.startLogin(new Request('http://localhost:4000/login'));
    expect(answer.headers.get('set-cookie')).toMatch(
      /^identity_attempt_[\w-]{22}=\d+\.-\.[\da-f]{64}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  });

  it('says where to log out', () => {
    expect(kit.identity.logoutUrl()).toBe('https://id.example.test/logout?client=marketplace');
    expect(kit.identity.logoutUrl('/bye')).toBe(
      'https://id.example.test/logout?client=marketplace&return_to=%2Fbye',
    );
    expect(kit.identity.logoutUrl('//evil.example')).toBe(kit.identity.logoutUrl());
  });
});
