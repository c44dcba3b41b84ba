// The kit for TypeScript reads events of the real service. It also gets answers that the service never sends.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createIdentityClient,
  createMemoryStores,
  type IdentityEvent,
  type Profile,
  type Stores,
} from '../../clients/typescript/src/index.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { restartEvents } from '../../db/tables/events.ts';
import { sealEnvelope } from '../../server/sso/envelope.ts';
import { locationOf, openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { profileOf, readPosition } from '../support/clients/kit-stores.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { shared } from '../support/run/shared.ts';

const site = 'http://shop.localhost:4000';
const secret = 'a-secret-of-the-shop-for-this-test';
const next = 'the-next-secret-of-the-shop-for-it';
const addresses = { callbackUrl: `${site}/callback`, loginUrl: `${site}/login` };

type Answer = { status?: number; json: unknown };

/** Makes a client of the kit. `answer` answers its requests. */
function openKit(answer: typeof fetch, { secrets = [secret], stores = createMemoryStores() as Stores } = {}) {
  const identity = createIdentityClient({
    issuer: 'http://localhost:3000',
    client: 'shop',
    secrets,
    ...addresses,
    ...stores,
    fetch: answer,
  });
  const applied: { event: IdentityEvent; isNewer: boolean }[] = [];
  const ended: string[] = [];
  let startsOver = 0;
  const hooks = {
    endSession: (sid: string) => ended.push(sid),
    apply: (event: IdentityEvent, isNewer: boolean): unknown => applied.push({ event, isNewer }),
    startOver: (): unknown => startsOver++,
  };
  return { identity, stores, hooks, applied, ended, countStarts: () => startsOver };
}

describe('with the service', () => {
  const app = shared(() =>
    openApp({
      env: {
        SSO_CLIENTS: 'shop',
        SSO_SHOP_CALLBACK_URL: addresses.callbackUrl,
        SSO_SHOP_LOGIN_URL: addresses.loginUrl,
        SSO_SHOP_SECRET: secret,
      },
    }),
  );

  const asked: string[] = [];
  const toApp: typeof fetch = async (url, init) => {
    asked.push(String(url));
    const { status, headers, text } = await app.send(String(url), {
      headers: Object.fromEntries(new Headers(init?.headers)),
    });
    return new Response(text, { status, headers });
  };

  /** Logs in: from the login start of the kit through the launch to the kit's callback. */
  async function enter(kit: ReturnType<typeof openKit>, session: string) {
    const attempt = await kit.identity.startLogin(new Request(addresses.loginUrl), { returnTo: '/orders' });
    const [cookie = ''] = attempt.headers.get('set-cookie')?.split(';') ?? [];
    const launched = await app.send(attempt.headers.get('location') ?? '', { cookie: session });
    const request = new Request(locationOf(launched), { headers: { cookie } });
    const seen: { sid?: string; isNewer: boolean } = { isNewer: false };
    const answer = await kit.identity.handleCallback(request, {
      savePerson() {
        seen.isNewer = true;
      },
      startSession({ sid }) {
        seen.sid = sid;
        return { 'Set-Cookie': 'shop=1' };
      },
      endSession: () => expect.unreachable(),
    });
    return { answer, sid: seen.sid ?? '', isNewer: seen.isNewer };
  }

  it('a login goes all the way, and each change after it arrives in order', async () => {
    const kit = openKit(toApp);
    const browser = await logIn(app.send, 'customer@example.test');
    const { answer, sid, isNewer } = await enter(kit, browser.cookie());
    expect([answer.status, answer.headers.get('location'), isNewer]).toEqual([303, `${site}/orders`, true]);

    await openClient(app.send, browser.cookie()).profile.update.mutate({ name: 'Carla Changed' });
    expect((await enter(kit, browser.cookie())).isNewer).toBe(true);
    await browser.send('/logout', { method: 'POST' });
    const newest = await kit.identity.pullEvents(kit.hooks);
    const { applied, ended, stores } = kit;
    expect(applied.map(({ event }) => event.type)).toEqual([
      'profile.updated',
      'profile.updated',
      'session.ended',
    ]);
    // The hand-offs have already brought both profiles, so no event brings a newer one.
    expect(applied.map(({ isNewer }) => isNewer)).toEqual([false, false, false]);
    expect([newest, ended]).toEqual([3, [sid]]);
    expect(await stores.endedLogins.has(sid)).toBe(true);
    const id = applied[0]?.event.user_id ?? '';
    expect((await stores.profiles.find(id))?.name).toBe('Carla Changed');
    // The last pull asks for events after number 3, which says that the client has read all of them.
    expect(asked.at(-1)).toMatch(/\?after=3&limit=1000$/);
    expect(await kit.identity.pullEvents(kit.hooks)).toBe(3);
    expect(applied).toHaveLength(3);

    await openBrowser(app.send).login('customer@example.test');
    const again = await app.login('customer@example.test');
    await openClient(app.send, again).profile.update.mutate({ name: 'Carla Again' });
    await kit.identity.pullEvents(kit.hooks);
    expect(applied.at(-1)).toMatchObject({ isNewer: true, event: { profile: { name: 'Carla Again' } } });
  });

  it('a hand-off that arrives after the end of its login starts no session', async () => {
    const kit = openKit(toApp);
    const session = await app.login('merchant@example.test');
    const attempt = await kit.identity.startLogin(new Request(addresses.loginUrl));
    const launched = await app.send(attempt.headers.get('location') ?? '', { cookie: session });
    await app.send('/logout', { method: 'POST', cookie: session });
    await kit.identity.pullEvents(kit.hooks);
    const [cookie = ''] = attempt.headers.get('set-cookie')?.split(';') ?? [];
    const answer = await kit.identity.handleCallback(
      new Request(locationOf(launched), { headers: { cookie } }),
      { startSession: () => expect.unreachable(), endSession: () => expect.unreachable() },
    );
    expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([403, 'session_ended']);
  });

  it('the launch id is the same here and in the log of the service (contract 3.30 and 3.31)', async () => {
    const kit = openKit(toApp);
    const session = await app.login('merchant@example.test');
    const launched = await app.send('/sso/launch/shop?state=s', { cookie: session });
    const line = app.logged.findLast(({ fields }) => 'launchId' in fields)?.fields;
    const answer = await kit.identity.handleCallback(new Request(locationOf(launched)), {
      startSession: () => expect.unreachable(),
      endSession: () => expect.unreachable(),
    });
    expect(answer.headers.get('identity-refusal')).toBe('state_unknown');
    expect(line).toMatchObject({ client: 'shop', launchId: answer.headers.get('identity-launch') });
  });

  it('either secret of a rotation will do for a pull', async () => {
    await appendEvents(app.db, 'shop');
    for (const secrets of [
      [next, secret],
      [secret, next],
    ])
      expect(await openKit(toApp, { secrets }).identity.pullEvents(openKit(toApp).hooks)).toBeGreaterThan(0);
    const { identity, hooks } = openKit(toApp, { secrets: [next] });
    await expect(identity.pullEvents(hooks)).rejects.toThrow('/sso/events answered 401 invalid_token');
  });

  it('many pages are read, in order, by 16 pulls at once', async () => {
    await appendEvents(app.db, 'shop', 2_100);
    const kit = openKit(toApp);
    const newest = await Promise.all(Array.from({ length: 16 }, () => kit.identity.pullEvents(kit.hooks)));
    const numbers = kit.applied.map(({ event }) => event.seq);
    expect(numbers.length).toBeGreaterThan(2_100);
    expect(numbers).toEqual(numbers.map((_, n) => n + 1));
    // A pull that has waited for three seconds gives up and returns undefined, because another pull reads the events.
    expect(newest).toContain(numbers.length);
    for (const each of newest) expect([numbers.length, undefined]).toContain(each);
  });

  it('if events are gone, the site drops everything, and goes on from the oldest kept event', async () => {
    const kit = openKit(toApp);
    const session = await app.login('merchant@example.test');
    await enter(kit, session);
    await kit.identity.pullEvents(kit.hooks);
    const { user_id: id = '' } = kit.applied.findLast(({ event }) => event.profile)?.event ?? {};
    expect(await kit.stores.profiles.find(id)).toBeDefined();
    await inTransaction(app.db, { by: 'operator' }, restartEvents);
    const position = await kit.identity.pullEvents(kit.hooks);
    expect(kit.countStarts()).toBe(1);
    expect(position).toBeGreaterThan(1_000_000_000);
    expect(await kit.stores.profiles.find(id)).toBeUndefined();
    await openClient(app.send, session).profile.update.mutate({ name: 'Mira Moved' });
    await kit.identity.pullEvents(kit.hooks);
    expect((await kit.stores.profiles.find(id))?.name).toBe('Mira Moved');
    expect(kit.countStarts()).toBe(1);
  });
});

describe('with answers made up', () => {
  let stores: Stores;
  beforeEach(() => {
    stores = createMemoryStores();
  });
  const page = (...events: object[]): Answer => ({ json: { events, latest: 9 } });
  const answers = (...list: Answer[]): typeof fetch => {
    const left = [...list];
    return async () => {
      const { status = 200, json } = left.shift() ?? page();
      return Response.json(json, { status });
    };
  };
  const pull = (...list: Answer[]) => {
    const kit = openKit(answers(...list), { stores });
    return kit.identity.pullEvents(kit.hooks);
  };

  it.each<[string, Answer]>([
    ['500', { status: 500, json: { code: 'internal_error' } }],
    ['without events', { json: {} }],
    ['without events', { json: null }],
    ['out of order', page({ seq: 2, type: 'x' }, { seq: 2, type: 'x' })],
    ['out of order', page({ seq: 2, type: 'x' })],
    ['out of order', page({ seq: '1', type: 'x' })],
    ['out of order', page({ seq: 2 })],
    ['out of order', page(null as unknown as object)],
    ['profile of event 1 is wrong at id', page({ seq: 1, type: 'profile.updated', profile: {} })],
    ['without the number', { status: 410, json: {} }],
    ['go on from where this was', { status: 410, json: { oldest: 1 } }],
  ])('it says: %s', async (words, answer) => {
    await expect(pull(answer, answer)).rejects.toThrow(words);
    expect(await readPosition(stores)).toBe(0);
  });

  it('a pull that failed is done again from where the last page ended', async () => {
    const one = page({ seq: 1, type: 'x' });
    const two = page({ seq: 2, type: 'y' });
    const kit = openKit(answers(one, two, two), { stores });
    const seen: number[] = [];
    const hooks = {
      ...kit.hooks,
      apply({ seq }: IdentityEvent) {
        seen.push(seq);
        if (seq === 2 && seen.length === 2) throw new Error('away');
      },
    };
    await expect(kit.identity.pullEvents(hooks)).rejects.toThrow('away');
    expect(await readPosition(stores)).toBe(1);
    expect(await kit.identity.pullEvents(hooks)).toBe(2);
    expect(seen).toEqual([1, 2, 2]);
  });

  it('a site whose hook threw once ends equal to the master', async () => {
    const [first, second, third] = [1, 2, 3].map((ms) => profileOf(`Zoë ${ms}`, ms));
    const people = new Map<string, string>();
    const calls: [name: string | undefined, isNewer: boolean][] = [];
    let throws = true;
    const hooks = {
      ...openKit(answers()).hooks,
      apply({ profile }: IdentityEvent, isNewer: boolean) {
        calls.push([profile?.name, isNewer]);
        if (throws) throw new Error('the table is away');
        if (isNewer && profile) people.set(profile.id, profile.name);
      },
    };
    const about = (seq: number, profile?: Profile) => page({ seq, type: 'profile.updated', profile });
    // Each pull is made by a new kit that has only its stores, as in a process that has just started.
    const pullOnce = (answer: Answer) => openKit(answers(answer), { stores }).identity.pullEvents(hooks);
    await expect(pullOnce(about(1, first))).rejects.toThrow('the table is away');
    throws = false;
    await pullOnce(about(1, first));
    await pullOnce(about(2, first));
    throws = true;
    await expect(pullOnce(about(3, second))).rejects.toThrow('the table is away');
    // Before the pull is repeated, a callback stores a later profile, and its site writes that profile.
    await openKit(answers(), { stores }).identity.applyProfile(third as Profile);
    people.set(profileOf('', 0).id, 'Zoë 3');
    throws = false;
    await pullOnce(about(3, second));
    expect(calls).toEqual([
      ['Zoë 1', true],
      ['Zoë 1', true],
      ['Zoë 1', false],
      ['Zoë 2', true],
      ['Zoë 2', false],
    ]);
    expect([...people.values()]).toEqual(['Zoë 3']);
  });

  it('a person whom the site could not save at a login is left to the event, without a session', async () => {
    const kit = openKit(answers(), { stores });
    const attempt = await kit.identity.startLogin(new Request(addresses.loginUrl));
    const [cookie = ''] = attempt.headers.get('set-cookie')?.split(';') ?? [];
    const state = new URL(attempt.headers.get('location') ?? '').searchParams.get('state');
    const [profile, iat] = [profileOf('Zoë', 1), Math.floor(Date.now() / 1_000)];
    const payload = { iss: 'http://localhost:3000', aud: 'shop', client: 'shop', iat, exp: iat + 300 };
    const nonce = 'AAECAwQFBgcICQoLDA0ODw';
    const query = new URLSearchParams({
      ...(await sealEnvelope({ ...payload, nonce, state, profile } as never, [secret])),
    });
    const request = new Request(`${addresses.callbackUrl}?${query}`, { headers: { cookie } });
    const savePerson = () => Promise.reject(new Error('the table is away'));
    const [startSession, endSession] = [() => expect.unreachable(), () => expect.unreachable()];
    await expect(
      kit.identity.handleCallback(request, { savePerson, startSession, endSession }),
    ).rejects.toThrow('the table is away');
    const events = openKit(answers(page({ seq: 1, type: 'profile.updated', profile })), { stores });
    await events.identity.pullEvents(events.hooks);
    expect(events.applied.map(({ isNewer }) => isNewer)).toEqual([true]);
  });

  it('a pull whose place another one took stops there', async () => {
    const events = page(...[1, 2, 3].map((seq) => ({ seq, type: 'x' })));
    const claim = { position: 0, advance: async (to: number) => to < 2, release: async () => {} };
    const kit = openKit(answers(events), { stores: { ...stores, position: { claim: async () => claim } } });
    await expect(kit.identity.pullEvents(kit.hooks)).rejects.toThrow('Another pull has taken over.');
    expect(kit.applied.map(({ event }) => event.seq)).toEqual([1, 2]);
  });

  it('a pull asks for nothing where another one is at work', async () => {
    const position = { claim: async () => undefined };
    const kit = openKit(() => expect.unreachable(), { stores: { ...stores, position } });
    expect(await kit.identity.pullEvents(kit.hooks)).toBeUndefined();
  });

  it('an older event or hand-off does not bring a deleted person back', async () => {
    const profile = profileOf('Zoë', 1);
    await pull(
      page(
        { seq: 1, type: 'profile.updated', user_id: profile.id, profile },
        { seq: 2, type: 'user.deleted', user_id: profile.id },
      ),
    );
    expect(await stores.profiles.find(profile.id)).toBeUndefined();
    expect(await openKit(answers(), { stores }).identity.applyProfile(profileOf('Later', 2))).toBe(false);
  });

  it('a login that has ended is remembered before its session is ended', async () => {
    const kit = openKit(answers(page({ seq: 1, type: 'session.ended', sid: 'c2lk' })), { stores });
    const known: boolean[] = [];
    await kit.identity.pullEvents({
      ...kit.hooks,
      endSession: async (sid) => known.push(await stores.endedLogins.has(sid)),
    });
    expect(known).toEqual([true]);
  });

  it('an end of a login without its sid is skipped', async () => {
    const kit = openKit(answers(page({ seq: 1, type: 'session.ended' }, { seq: 2, type: 'x' })), { stores });
    expect(await kit.identity.pullEvents(kit.hooks)).toBe(2);
    expect([kit.ended, kit.applied.map(({ event }) => event.seq)]).toEqual([[], [2]]);
  });

  it('a page of more than 8 MiB is a failed read, and no more of it is read (contract 13.140)', async () => {
    const start = new TextEncoder().encode('{"events":[],"more":"');
    let [sent, isCancelled] = [0, false];
    const body = (mebibytes: number) =>
      new ReadableStream({
        start: (controller) => controller.enqueue(start),
        pull(controller) {
          sent += 1;
          if (sent < mebibytes) controller.enqueue(new Uint8Array(1_048_576).fill(0x78));
          else controller.enqueue(new TextEncoder().encode('"}'));
          if (sent === mebibytes) controller.close();
        },
        cancel() {
          isCancelled = true;
        },
      });
    expect(await openKit(async () => new Response(body(8)), { stores }).identity.pullEvents()).toBe(0);
    expect([sent, isCancelled]).toEqual([8, false]);
    sent = 0;
    const { identity } = openKit(async () => new Response(body(Number.POSITIVE_INFINITY)), { stores });
    await expect(identity.pullEvents()).rejects.toThrow('/sso/events answered with more than 8388608 bytes');
    expect(sent).toBeLessThan(12);
    expect(isCancelled).toBe(true);
  });

  it('events of unknown types, and about people who are erased, do nothing', async () => {
    expect(await pull(page({ seq: 1, type: 'erased' }, { seq: 2, type: 'something.new', more: 1 }))).toBe(2);
  });

  it('a nudge is read only up to the size that one can have, and not at all without its headers', async () => {
    const { identity } = openKit(answers());
    let sent = 0;
    const nudge = (headers: Record<string, string>) =>
      identity.receiveNudge(
        new Request('https://shop.example.com/events', {
          method: 'POST',
          headers,
          body: new ReadableStream({
            pull(controller) {
              sent += 1;
              controller.enqueue(new Uint8Array(1_024));
            },
          }),
          duplex: 'half',
        } as RequestInit),
      );
    const headers = { 'webhook-id': 'shop_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,eA==' };
    for (const [given, most] of [
      [{}, 1],
      [headers, 70],
    ] as const) {
      sent = 0;
      const answer = await nudge(given);
      expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([400, 'nudge_malformed']);
      expect(sent).toBeLessThanOrEqual(most);
    }
  });

  it('the token goes to no other site', async () => {
    let init: RequestInit | undefined;
    const kit = openKit(async (_, given) => {
      init = given;
      return Response.json({ events: [] });
    });
    await kit.identity.pullEvents(kit.hooks);
    expect(init).toMatchObject({ redirect: 'manual', signal: expect.any(AbortSignal) });
  });
});
