// The sessions that the kit for TypeScript keeps (contract 13.120 to 13.127, 13.130, 13.132 and 13.135).
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Configuration,
  ConfigurationError,
  createIdentityClient,
  createMemoryStores,
  type LogEntry,
  type Profile,
  Refusal,
} from '../../clients/typescript/src/index.ts';
import { fakeIdentity } from '../../clients/typescript/src/testing.ts';
import { openShop, profileOf } from '../support/clients/kit-shop.ts';

let shop: ReturnType<typeof openShop>;
beforeEach(() => {
  shop = openShop();
});

const nameOf = async (person: Promise<Profile | undefined>) => (await person)?.name;
const sha256 = async (text: string) =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex');
/** Returns the id under which the store keeps the session of a cookie. */
const idOf = (cookie = '') => sha256(`shop ${cookie}`);

describe('a login', () => {
  it('starts a session, without a line of the client’s own (contract 13.120)', async () => {
    const browser = shop.openBrowser();
    expect(await nameOf(browser.person())).toBeUndefined();
    await browser.logIn({ profile: { name: 'Zoë' } });
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(await nameOf(shop.openBrowser().person())).toBeUndefined();
  });

  it('sets a cookie with 256 random bits, and the store has only their SHA-256 (contract 13.121 and 13.122)', async () => {
    const browser = shop.openBrowser();
    const answer = await browser.logIn();
    const [, value = ''] =
      /^__Host-shop_session=([\w-]{43}); Path=\/; HttpOnly; Secure; SameSite=Lax$/.exec(
        answer.headers.getSetCookie().join(),
      ) ?? [];
    expect(Buffer.from(value, 'base64url')).toHaveLength(32);
    expect(await shop.stores.sessions.find(value)).toBeUndefined();
    expect(await shop.stores.sessions.find(await idOf(value))).toMatchObject({
      expiresAt: shop.now() + 43_200,
    });
  });

  it('on plain http sets a cookie without Secure (contract 13.122)', async () => {
    shop = openShop({ origin: 'http://localhost:4000' });
    const answer = await shop.openBrowser().logIn();
    expect(answer.headers.getSetCookie().join()).toMatch(
      /^shop_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  it('makes a new session, and ends the one that the browser had (contract 13.121)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const copied = shop.openBrowser(new Map(browser.cookies));
    await browser.logIn();
    expect(browser.cookies).not.toEqual(copied.cookies);
    expect(await nameOf(copied.person())).toBeUndefined();
    expect(await nameOf(browser.person())).toBeDefined();
  });

  it('does not take a session cookie that somebody else has chosen (contract 13.121)', async () => {
    const fixed = 'A'.repeat(43);
    const browser = shop.openBrowser(new Map([['__Host-shop_session', fixed]]));
    await browser.logIn();
    expect(browser.cookies.get('__Host-shop_session')).not.toBe(fixed);
    const thief = shop.openBrowser(new Map([['__Host-shop_session', fixed]]));
    expect(await nameOf(thief.person())).toBeUndefined();
  });

  it.each(['sessions.add', 'endedLogins.has', 'nonces.consume', 'profiles.apply', 'profiles.find'])(
    'leaves the earlier session while %s is away (contract 13.132)',
    async (path) => {
      const browser = shop.openBrowser();
      await browser.logIn({ profile: { name: 'Zoë' } });
      shop.pass(1);
      // Sends a newer profile, so that the callback uses every store.
      const callback = await shop.fake.handOff(await browser.start(), { profile: { name: 'Newer' } });
      const [store = '', name = ''] = path.split('.');
      const owner = shop.stores[store as keyof typeof shop.stores] as unknown as Record<string, unknown>;
      const working = owner[name];
      owner[name] = () => Promise.reject(new Error('away'));
      const answer = await browser.open(callback);
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([503, []]);
      owner[name] = working;
      expect(await browser.person()).toBeDefined();
      expect(await shop.countSessions()).toBe(1);
    },
  );

  it('leaves the earlier session, also of the same login, while the second look at its end fails (contract 13.132)', async () => {
    const browser = shop.openBrowser();
    const sid = 'c2lkLW9mLW9uZS1sb2dpbg';
    await browser.logIn({ sid });
    const { has } = shop.stores.endedLogins;
    let looks = 0;
    shop.stores.endedLogins.has = async (of) => {
      looks += 1;
      if (looks === 2) throw new Error('away');
      return has(of);
    };
    const answer = await browser.logIn({ sid });
    expect([answer.status, answer.headers.get('identity-refusal'), looks]).toEqual([
      503,
      'store_unavailable',
      2,
    ]);
    expect(await browser.person()).toBeDefined();
    expect(await shop.countSessions()).toBe(1);
  });

  it('ends the new session, and not the earlier one, if the earlier one cannot end (contract 13.132)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const { end } = shop.stores.sessions;
    shop.stores.sessions.end = () => {
      shop.stores.sessions.end = end;
      return Promise.reject(new Error('away'));
    };
    expect((await browser.logIn()).status).toBe(503);
    expect(await browser.person()).toBeDefined();
    expect(await shop.countSessions()).toBe(1);
  });

  it('can be refused by onLogin, also if the profile was kept before (contract 13.120)', async () => {
    const seen: string[] = [];
    shop = openShop({
      hooks: {
        savePerson: () => seen.push('saved'),
        onLogin({ profile }) {
          seen.push(profile.name);
          if (profile.name === 'Zoë') throw new Refusal('person_refused', 'not her');
        },
      },
    });
    const browser = shop.openBrowser();
    const profile = { ...profileOf(), name: 'Zoë' };
    for (let n = 0; n < 2; n++) {
      const answer = await browser.logIn({ profile });
      expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([403, 'person_refused']);
      expect(await shop.countSessions()).toBe(0);
      await shop.identity.applyProfile(profile);
    }
    await browser.logIn({ profile: { ...profile, id: profile.id.replace(/1$/, '2'), name: 'Otto' } });
    expect(await nameOf(browser.person())).toBe('Otto');
    expect(seen).toEqual(['Zoë', 'Zoë', 'Otto', 'saved']);
    expect(shop.logged.at(-1)).toEqual({
      outcome: 'accepted',
      launchId: expect.stringMatching(/^[\da-f]{4}-[\da-f]{4}$/),
    });
  });

  it('with a clock that is ten minutes wrong is refused, and works once the clock is right', async () => {
    for (const [seconds, code] of [
      [600, 'expired'],
      [-600, 'issued_in_future'],
    ] as const) {
      const browser = shop.openBrowser();
      const callback = await shop.fake.handOff(await browser.start());
      shop.pass(seconds);
      const refused = await browser.open(callback);
      expect([refused.headers.get('identity-refusal'), refused.headers.getSetCookie()]).toEqual([code, []]);
      expect(shop.logged.at(-1)?.remedy).toContain('clock');
      shop.pass(-seconds);
      expect((await browser.open(callback)).status).toBe(303);
      expect(await browser.person()).toBeDefined();
    }
  });

  it('starts one session of 16 callbacks at once', async () => {
    const browser = shop.openBrowser();
    const callback = await shop.fake.handOff(await browser.start());
    const answers = await Promise.all(Array.from({ length: 16 }, () => browser.open(callback)));
    expect(answers.filter((answer) => answer.headers.get('location') === `${shop.origin}/`)).toHaveLength(1);
    expect(answers.flatMap((answer) => answer.headers.getSetCookie())).toHaveLength(1);
  });

  it('whose end comes while its session starts leaves none (contract 13.124)', async () => {
    const browser = shop.openBrowser();
    const sid = 'c2lkLW9mLW9uZS1sb2dpbg';
    const { add } = shop.stores.sessions;
    shop.stores.sessions.add = async (...given) => {
      await add(...given);
      await shop.stores.endedLogins.add(sid, shop.now() + 360);
    };
    const callback = await shop.fake.handOff(await browser.start(), { sid });
    expect((await browser.open(callback)).headers.get('identity-refusal')).toBe('session_ended');
    await expect(shop.countSessions()).resolves.toBe(0);
  });

  it('of a person who was deleted meanwhile starts none', async () => {
    const browser = shop.openBrowser();
    const callback = await shop.fake.handOff(await browser.start());
    await shop.stores.profiles.forget(profileOf().id);
    expect((await browser.open(callback)).headers.get('identity-refusal')).toBe('session_ended');
  });

  it('needs a store for sessions, or hooks that go together', async () => {
    const { sessions, ...others } = createMemoryStores();
    expect(sessions).toBeDefined();
    const identity = createIdentityClient({ ...shop.configuration, ...others } as Configuration);
    const request = new Request(`${shop.origin}/sso/callback`);
    await expect(identity.handleCallback(request)).rejects.toThrow(/^sessions is missing/);
    await expect(identity.handleCallback(request, { startSession: () => ({}) })).rejects.toThrow(
      /^startSession needs endSession/,
    );
  });
});

describe('a session', () => {
  it.each([
    [undefined, 43_200],
    [60, 60],
    [2_592_000, 2_592_000],
  ])('with maxSeconds of %s lasts for %i seconds (contract 13.123)', async (maxSeconds, lasts) => {
    shop = openShop({ ...(maxSeconds && { maxSeconds }) });
    const browser = shop.openBrowser();
    await browser.logIn();
    shop.pass(lasts - 1);
    expect(await nameOf(browser.person())).toBeDefined();
    shop.pass(1);
    expect(await nameOf(browser.person())).toBeUndefined();
  });

  it.each([59, 2_592_001, 1.5, Number.NaN])('cannot last for %s seconds (contract 13.123)', (maxSeconds) => {
    expect(() => openShop({ maxSeconds })).toThrow(ConfigurationError);
  });

  const id = profileOf().id;
  const about = { occurred_at: '2026-01-01T00:00:00.000Z', user_id: id };
  it.each([
    ['session.ended', { type: 'session.ended', sid: 'c2lkLW9mLW9uZS1sb2dpbg', ...about }],
    ['user.suspended', { type: 'user.suspended', ...about }],
    ['user.deleted', { type: 'user.deleted', ...about }],
  ])('is ended by %s, and others are not (contract 13.124)', async (_, event) => {
    const [hers, others] = [shop.openBrowser(), shop.openBrowser()];
    await hers.logIn({ sid: 'c2lkLW9mLW9uZS1sb2dpbg' });
    await others.logIn({ profile: { id: id.replace(/1$/, '2'), name: 'Otto' } });
    shop.events.push(event);
    await shop.identity.readEvents();
    expect(await nameOf(hers.person())).toBeUndefined();
    expect(await nameOf(others.person())).toBe('Otto');
  });

  it('ends within two seconds of the nudge, at a service that answers slowly', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ sid: 'c2lkLW9mLW9uZS1sb2dpbg' });
    await browser.person();
    shop.events.push({ type: 'session.ended', sid: 'c2lkLW9mLW9uZS1sb2dpbg', ...about });
    const slowly = () => new Promise((done) => setTimeout(done, 500));
    const events = Response.json({ events: [{ seq: 1, ...shop.events[0] }], latest: 1 });
    shop.answers.push(() => slowly().then(() => events));
    const nudge = await shop.fake.webhook();
    const init = { method: 'POST', headers: Object.fromEntries(nudge.headers), body: await nudge.text() };
    const startedAt = performance.now();
    expect((await browser.open('/sso/events', init)).status).toBe(204);
    expect(await browser.person()).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('comes to its end later, if the store is away when the event comes', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ sid: 'c2lkLW9mLW9uZS1sb2dpbg' });
    const { endLogin } = shop.stores.sessions;
    shop.stores.sessions.endLogin = () => Promise.reject(new Error('away'));
    shop.events.push({ type: 'session.ended', sid: 'c2lkLW9mLW9uZS1sb2dpbg', ...about });
    await shop.identity.readEvents();
    expect(await browser.person()).toBeDefined();
    shop.stores.sessions.endLogin = endLogin;
    await shop.identity.readEvents();
    expect(await browser.person()).toBeUndefined();
  });

  it('is nothing to another client on the same tables (contract 13.121)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const cookie = `__Host-crm_session=${browser.cookies.get('__Host-shop_session')}`;
    const crm = createIdentityClient({ ...shop.configuration, ...shop.stores, client: 'crm' });
    expect(await crm.currentPerson(new Request(`${shop.origin}/`, { headers: { cookie } }))).toBeUndefined();
    expect(await browser.person()).toBeDefined();
  });

  it('ends for a thief of its cookie, too, by the log-out of its owner', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const thief = shop.openBrowser(new Map(browser.cookies));
    expect(await thief.person()).toBeDefined();
    const token = await shop.identity.logoutToken(browser.request('/'));
    await browser.open('/logout', { method: 'POST', body: new URLSearchParams({ token }) });
    expect(await thief.person()).toBeUndefined();
  });

  it('is nothing to a thief of the store (contract 13.121)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const id = await idOf(browser.cookies.get('__Host-shop_session'));
    expect(await shop.stores.sessions.find(id)).toBeDefined();
    for (const value of [id, Buffer.from(id, 'hex').toString('base64url'), id.slice(0, 43)]) {
      const thief = shop.openBrowser(new Map([['__Host-shop_session', value]]));
      expect(await thief.person()).toBeUndefined();
    }
  });

  it('is ended by a 410, with all others (contract 13.124)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    shop.answers.push(() => Response.json({ code: 'events_gone', oldest: 9 }, { status: 410 }));
    await shop.identity.readEvents();
    expect(await nameOf(browser.person())).toBeUndefined();
    await expect(shop.countSessions()).resolves.toBe(0);
  });

  it('ends in every process that shares the store (contract 13.124)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ sid: 'c2lkLW9mLW9uZS1sb2dpbg' });
    const other = createIdentityClient({ ...shop.configuration, ...shop.stores });
    shop.events.push({ type: 'session.ended', sid: 'c2lkLW9mLW9uZS1sb2dpbg', ...about });
    await other.readEvents();
    expect(await nameOf(browser.person())).toBeUndefined();
  });
});

describe('cookies', () => {
  const ask = (cookie: string) =>
    nameOf(shop.identity.currentPerson(new Request(`${shop.origin}/`, { headers: { cookie } })));

  it('of another host that look like this one’s are nothing (contract 13.122)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    const session = `__Host-shop_session=${browser.cookies.get('__Host-shop_session')}`;
    for (const right of [session, ` \ta=b \t;\t ${session}\t `, `${session}; __Host-shop_session=x`])
      expect(await ask(right), right).toBe('Zoë');
    const blanks = ['\u00a0', '\u0085', '\u000b', '\u000c', '\u00ef\u00bb\u00bf'];
    for (const wrong of [...blanks.map((blank) => blank + session), `__Host-shop_session=x; ${session}`])
      expect(await ask(wrong), JSON.stringify(wrong)).toBeUndefined();
  });

  it('without a name are none', async () => {
    for (const nameless of ['__Host-shop_silentX', '=__Host-shop_silent', '__Host-shop_silent']) {
      const request = new Request(`${shop.origin}/`, { headers: { cookie: nameless } });
      expect(await shop.identity.loginSilently(request), nameless).toBeDefined();
    }
  });

  it('of sessions are never dropped as attempts, whatever the name of the client', async () => {
    const browser = shop.openBrowser();
    const session = `__Host-identity_attempt_${'a'.repeat(14)}_session`;
    browser.cookies.set(session, 'A'.repeat(43));
    for (let n = 0; n < 7; n++) await browser.start();
    expect(browser.cookies.has(session)).toBe(true);
    expect(browser.cookies.size).toBe(6);
  });
});

describe('currentPerson', () => {
  const renamed = (name: string) => ({
    type: 'profile.updated',
    occurred_at: '2026-01-01T00:00:00.000Z',
    user_id: profileOf().id,
    profile: { ...profileOf(), name, profile_updated_at: '2030-01-01T00:00:00.000Z' },
  });

  it('reads events first if the last read is over a minute old (contract 13.125)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    await browser.person();
    shop.events.push(renamed('Zoë Two'));
    const asked = shop.countAsked();
    shop.pass(60);
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(shop.countAsked()).toBe(asked);
    shop.pass(1);
    expect(await nameOf(browser.person())).toBe('Zoë Two');
  });

  it('reads nothing for browsers without a session', async () => {
    const forged = shop.openBrowser(new Map([['__Host-shop_session', 'A'.repeat(43)]]));
    await forged.person();
    await shop.openBrowser().person();
    expect(shop.countAsked()).toBe(0);
  });

  it('reads once for 16 pages at once', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    await Promise.all(Array.from({ length: 16 }, () => browser.person()));
    expect(shop.countAsked()).toBe(1);
  });

  it('answers by what it has if the read fails, and waits for no other for ten seconds (contract 13.135)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    shop.answers.push(
      () => Promise.reject(new Error('away')),
      () => Promise.reject(new Error('away')),
    );
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(shop.logged.at(-1)).toMatchObject({ outcome: 'events_unread', reason: 'Error: away' });
    shop.pass(9);
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(shop.countAsked()).toBe(1);
    shop.pass(1);
    await browser.person();
    expect(shop.countAsked()).toBe(2);
  });

  it('waits for two seconds at most (contract 13.125 and 13.135)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    let answer: (response: Response) => void = () => {};
    shop.answers.push(
      () =>
        new Promise<Response>((done) => {
          answer = done;
        }),
    );
    const startedAt = performance.now();
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    const later = performance.now();
    expect(await nameOf(browser.person())).toBe('Zoë');
    expect(performance.now() - later).toBeLessThan(1_000);
    answer(Response.json({ events: [] }));
  });

  it('says so if a store is away, and nobody is logged out (contract 13.132)', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    const { find } = shop.stores.sessions;
    shop.stores.sessions.find = () => Promise.reject(new Error('the password of the database'));
    const refusal = await browser.person().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    const answer = await shop.identity.refuse(browser.request('/'), refusal as Refusal);
    const required = (await shop.identity.requireLogin(browser.request('/'))) as Response;
    for (const each of [answer, required]) {
      expect([each.status, each.headers.get('identity-refusal'), each.headers.getSetCookie()]).toEqual([
        503,
        'store_unavailable',
        [],
      ]);
      expect(await each.text()).not.toContain('password');
    }
    shop.stores.sessions.find = find;
    expect(await nameOf(browser.person())).toBe('Zoë');
  });

  it('works with a clock that is ten minutes wrong', async () => {
    const browser = shop.openBrowser();
    await browser.logIn({ profile: { name: 'Zoë' } });
    for (const seconds of [600, -1_200]) {
      shop.pass(seconds);
      expect(await nameOf(browser.person())).toBe('Zoë');
    }
  });
});

describe('requireLogin', () => {
  const locationOf = async (request: Request) =>
    ((await shop.identity.requireLogin(request)) as Response).headers.get('location');

  it('leads to the login start and back to this page, by GET only (contract 13.126)', async () => {
    const page = `${shop.origin}/orders?page=2&q=ü`;
    const way = await locationOf(new Request(page));
    expect(way).toBe(`${shop.origin}/login?return_to=%2Forders%3Fpage%3D2%26q%3D%25C3%25BC`);
    expect(await locationOf(new Request(page, { method: 'POST' }))).toBe(`${shop.origin}/login`);
    const browser = shop.openBrowser();
    const callback = await shop.fake.handOff(await browser.start(way ?? ''));
    expect((await browser.open(callback)).headers.get('location')).toBe(
      `${shop.origin}/orders?page=2&q=%C3%BC`,
    );
    expect(await shop.identity.requireLogin(browser.request('/orders'))).toMatchObject({
      id: profileOf().id,
    });
  });

  it.each(['//evil.example/', '/\\evil.example', `/${'a'.repeat(2_100)}`])(
    'leads back to no page like %s',
    async (path) => {
      const request = { url: `${shop.origin}${path}`, method: 'GET', headers: new Headers() } as Request;
      const target = new URL((await locationOf(request)) ?? '');
      expect(target.searchParams.get('return_to') ?? '/').toMatch(/^\/(?!\/)[^\\]{0,100}$/);
    },
  );
});

describe('endSession', () => {
  it('takes a POST with the token of this session, and leads to the log-out here (contract 13.127)', async () => {
    const [browser, other] = [shop.openBrowser(), shop.openBrowser()];
    for (const each of [browser, other]) await each.logIn();
    const token = await shop.identity.logoutToken(browser.request('/'));
    const end = (given: string, init: RequestInit = {}) =>
      browser.open('/logout', { method: 'POST', body: new URLSearchParams({ token: given }), ...init });
    const refused = [
      await end('', { method: 'GET', body: null }),
      await end(''),
      await end(token.toUpperCase()),
      await end(await shop.identity.logoutToken(other.request('/'))),
      await end(token, { body: 'x'.repeat(70_000) }),
      await end(token, { body: `token=${token}&pad=${'x'.repeat(70_000)}` }),
      await end(token, { body: `token=${token}&token=${token}` }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([405, ...Array(6).fill(403)]);
    expect(refused[0]?.headers.get('allow')).toBe('POST');
    expect(refused[1]?.headers.get('identity-refusal')).toBe('logout_token_wrong');
    expect(await browser.person()).toBeDefined();

    const answer = await end(token);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      'https://id.example.test/logout?client=shop&return_to=%2F',
    ]);
    expect(browser.cookies.has('__Host-shop_session')).toBe(false);
    expect(await shop.countSessions()).toBe(1);
    expect(await other.person()).toBeDefined();
  });

  it('reads nothing of a body that another method sends', async () => {
    const browser = shop.openBrowser();
    await browser.logIn();
    const body = new ReadableStream({ pull: () => expect.unreachable() }, { highWaterMark: 0 });
    const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
    for (const path of ['/logout', '/sso/events', '/sso/callback', '/login'])
      expect((await browser.open(path, init).catch((error) => error)).status, path).toBe(405);
  });

  it('ends nothing without a session, or if the store is away (contract 13.132)', async () => {
    expect((await shop.openBrowser().open('/logout', { method: 'POST' })).status).toBe(403);
    const browser = shop.openBrowser();
    await browser.logIn();
    shop.stores.sessions.end = () => Promise.reject(new Error('away'));
    const token = await shop.identity.logoutToken(browser.request('/'));
    const answer = await browser.open('/logout', { method: 'POST', body: new URLSearchParams({ token }) });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([503, []]);
    expect(await browser.person()).toBeDefined();
  });
});

it('findPerson finds the newest profile, and applyProfile keeps only a later one (contract 13.130)', async () => {
  const { id } = profileOf();
  expect(await shop.identity.findPerson(id)).toBeUndefined();
  expect(await shop.identity.applyProfile(profileOf())).toBe(true);
  expect(await shop.identity.applyProfile({ ...profileOf(), name: 'Again' })).toBe(false);
  expect(await shop.identity.findPerson(id)).toEqual(profileOf());
});

it('a line of the log has no control characters', async () => {
  const headers = { host: 'e\u009b31m\u007f\u0085vil' };
  await shop.identity.startLogin(new Request(`${shop.origin}/login`, { headers }));
  shop.answers.push(() => Promise.reject(new Error('a\u0000\u001b[2J\nb')));
  await shop.identity.readEvents();
  expect(shop.logged.map(({ reason }) => reason)).toEqual([
    'opened at https://e?31m??vil/, but loginUrl is https://shop.example.test/login',
    'Error: a??[2J?b',
  ]);
});

it('a page to come back to that is there twice is none', async () => {
  const launch = await shop.openBrowser().start('/login?return_to=/a&return_to=/b');
  expect(new URL(launch).searchParams.has('return_to')).toBe(false);
});

it('a refusal logs what to do, and where to read more (contract 13.133)', async () => {
  const browser = shop.openBrowser();
  await browser.open(await shop.fake.refusal('signature_wrong', await browser.start()));
  expect(shop.logged.at(-1)).toMatchObject({
    outcome: 'signature_wrong',
    remedy: expect.stringMatching(/^Compare the secret with the operator’s/),
    page: 'https://id.example.test/developers/refusals#signature_wrong',
  } satisfies Partial<LogEntry>);
});

it('a hand-off of another issuer with our secret logs both issuers (contract 13.133)', async () => {
  const browser = shop.openBrowser();
  const launch = await browser.start();
  const answer = await browser.open(await fakeIdentity(shop.configuration).refusal('issuer_wrong', launch));
  expect(await answer.text()).not.toContain('elsewhere');
  expect(shop.logged.at(-1)?.reason).toBe(
    'iss is "https://elsewhere.example", but our issuer is "https://id.example.test"',
  );
});
