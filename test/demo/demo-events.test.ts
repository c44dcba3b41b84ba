// The demo clients follow events (contract 10.8 to 10.35): they accept nudges, pull, and do what each event says.
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyEvent } from '../../clients/typescript/src/events.ts';
import { createMemoryStores, type HandOff, type IdentityEvent } from '../../clients/typescript/src/index.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { restartEvents } from '../../db/tables/events.ts';
import { createDemoSessions } from '../../server/doors/demo/demo-sessions.ts';
import { listen } from '../../server/runtime/listen.ts';
import { locationOf, openApp, openProductionApp, type TestApp } from '../support/app/app.ts';
import { findFreePort } from '../support/app/process.ts';
import { openClient } from '../support/app/trpc.ts';
import { cookieOf, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

describe('an event', () => {
  const userId = '01900000-0000-7000-8000-000000000001';
  const other = '01900000-0000-7000-8000-000000000002';
  const profileOf = (id: string, name: string, second: number) => ({
    id,
    email: 'zoe@example.test',
    name,
    role: 'customer' as const,
    account: { capabilities: [] },
    profile_updated_at: `2026-01-01T00:00:0${second}.000Z`,
  });
  const payloadOf = (sid: string, id = userId, client = 'shop'): HandOff => ({
    iss: 'http://localhost:3000',
    aud: client,
    client,
    iat: 1,
    exp: 2,
    nonce: 'n'.repeat(22),
    sid,
    profile: profileOf(id, 'First', 1),
  });

  let sessions: ReturnType<typeof createDemoSessions>;
  let settings: Parameters<typeof applyEvent>[0];
  let seq = 0;
  let mine: string;
  /** Starts a session as the callback does. */
  async function start(payload: HandOff): Promise<string> {
    const isNewer = await settings.profiles.apply(payload.profile);
    const profile = (await settings.profiles.find(payload.profile.id)) ?? payload.profile;
    return sessions.start(payload, { isNewer, profile, query: '', isProved: false });
  }
  beforeEach(async () => {
    sessions = createDemoSessions();
    settings = { ...createMemoryStores(), ttlSeconds: 300, now: () => new Date() };
    mine = await start(payloadOf('mine'));
  });
  const apply = (event: object) =>
    applyEvent(settings, sessions.hooksOf('shop'), {
      seq: ++seq,
      type: 'profile.updated',
      occurred_at: '2026-01-01T00:00:09.000Z',
      user_id: userId,
      ...event,
    } as IdentityEvent);
  const isLive = (id: string = mine, client = 'shop') => sessions.find(client, id)?.live !== undefined;
  const nameOf = (id = mine) => sessions.find('shop', id)?.live?.profile.name;

  it('refreshes the cached profile, where it is newer', async () => {
    await apply({ profile: profileOf(userId, 'Third', 3) });
    await apply({ profile: profileOf(userId, 'Second', 2) });
    expect(nameOf()).toBe('Third');
    expect(sessions.find('shop', mine)?.events.map(({ effect }) => effect)).toEqual([
      'nothing to do',
      'refreshed the cached profile',
    ]);
    expect(isLive()).toBe(true);
  });

  it('about somebody who was never here changes no session', async () => {
    await apply({ user_id: other, profile: profileOf(other, 'Other', 3) });
    expect(sessions.find('shop', mine)?.events).toEqual([]);
    expect(nameOf()).toBe('First');
    const theirs = await start(payloadOf('theirs', other));
    expect(sessions.find('shop', theirs)?.live?.cache).toBe('first');
  });

  it('that a login has ended ends the session of that login only', async () => {
    const later = await start(payloadOf('later'));
    await apply({ type: 'session.ended', sid: 'mine' });
    expect([isLive(), isLive(later)]).toEqual([false, true]);
    expect(nameOf(later)).toBe('First');
  });

  it.each(['user.suspended', 'user.deleted'])(
    '%s ends all sessions of that person here, and nobody else’s',
    async (type) => {
      const [later, theirs, elsewhere] = [
        await start(payloadOf('later')),
        await start(payloadOf('theirs', other)),
        await start(payloadOf('elsewhere', userId, 'garden')),
      ];
      await apply({ type });
      expect([mine, later, theirs].map((id) => isLive(id))).toEqual([false, false, true]);
      expect(isLive(elsewhere, 'garden')).toBe(true);
    },
  );

  it('user.deleted has the client forget the person', async () => {
    await apply({ type: 'user.deleted' });
    expect(await settings.profiles.find(userId)).toBeUndefined();
    expect(JSON.stringify(sessions.find('shop', mine))).not.toContain('zoe@example.test');
    expect(sessions.find('shop', mine)?.events[0]).toMatchObject({ type: 'user.deleted' });
  });

  it('that does not concern a session leaves it alone', async () => {
    for (const type of ['user.restored', 'contract.updated', 'something.new']) await apply({ type });
    await apply({ type: 'erased', user_id: undefined });
    await apply({ type: 'session.ended', sid: undefined });
    expect(isLive()).toBe(true);
  });

  it('does not undo a newer profile by a hand-off made before it', async () => {
    await apply({ profile: profileOf(userId, 'Third', 3) });
    expect(nameOf(await start(payloadOf('again')))).toBe('Third');
  });
});

describe('a nudge to a demo client', () => {
  const app = shared(openApp);

  const key = (client: string, secret = app.config.clients.get(client)?.secrets[0] ?? '') =>
    `whsec_${createHmac('sha256', secret).update(`identity webhooks v1 ${client}`).digest('base64')}`;

  function nudge(client: string, { signedFor = client, body = '{"client":"marketplace","latest":1}' } = {}) {
    const at = new Date();
    const id = `${client}_1`;
    return app.send(`/demo/${client}/events`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        // The request comes as from another system, with neither an origin of ours nor a cookie.
        origin: 'https://elsewhere.example',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(key(signedFor)).sign(id, at, '{"client":"marketplace","latest":1}'),
      },
    });
  }

  it('is taken with its signature, and only with that', async () => {
    expect((await nudge('marketplace')).status).toBe(204);
    for (const [answer, status, code] of [
      [await nudge('marketplace', { signedFor: 'crm_app' }), 401, 'nudge_signature_wrong'],
      [
        await nudge('marketplace', { body: '{"client":"marketplace","latest":2}' }),
        401,
        'nudge_signature_wrong',
      ],
      [await app.send('/demo/marketplace/events', { method: 'POST', body: '{}' }), 400, 'nudge_malformed'],
    ] as const)
      expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([status, code]);
  });

  it('does not exist in production, nor if a real client is configured', async () => {
    const production = await openProductionApp();
    for (const method of ['GET', 'POST'])
      expect((await production.send('/demo/marketplace/events', { method })).status).toBe(404);
    await production.close();
    const real = await app.startInstance({ env: { SSO_CRM_CALLBACK_URL: 'http://localhost:9/cb' } });
    expect((await real.send('/demo/crm_app/events', { method: 'POST', body: '{}' })).status).toBe(404);
  });

  it('without a session there is nothing to listen to', async () => {
    for (const cookie of ['', 'demo_session=nobody'])
      expect(await app.send('/demo/marketplace/events', { cookie })).toMatchObject({ status: 204, text: '' });
  });
});

describe('a demo client whose visitor is logged in', () => {
  let app: TestApp;
  const closings: (() => unknown)[] = [];
  beforeAll(async () => {
    const port = await findFreePort();
    app = await openApp({ env: { PORT: String(port) } });
    const listener = await listen(app.fetch, { host: '127.0.0.1', port });
    closings.push(() => listener.close(500), app.close);
  });
  afterAll(async () => {
    for (const close of closings) await close();
  });

  async function enter(client: string, session: string): Promise<string> {
    const start = await app.send(`/demo/${client}/login`);
    const { pathname, search } = locationOf(
      await app.send(start.headers.get('location') ?? '', { cookie: session }),
    );
    return cookieOf(await app.send(pathname + search, { cookie: cookieOf(start) }));
  }
  const show = async (client: string, cookie: string) =>
    textOf(await app.send(`/demo/${client}`, { cookie }));
  const soon = { timeout: 15_000, interval: 50 };

  it('shows a change of the profile, and the event that brought it', async () => {
    const session = await app.login('customer@example.test');
    const cookie = await enter('marketplace', session);
    expect(await show('marketplace', cookie)).not.toContain('refreshed the cached profile');
    await openClient(app.send, session).profile.update.mutate({ name: 'Carla Changed' });
    const page = () => show('marketplace', cookie);
    await expect.poll(page, soon).toContain('Hello, Carla Changed');
    expect(await page()).toContain('profile.updated');
    expect(await page()).toContain('refreshed the cached profile');
  });

  it('ends its session when the login here ends, and says so; others go on', async () => {
    const [session, other] = [
      await app.login('merchant@example.test'),
      await app.login('merchant@example.test'),
    ];
    const cookies = [
      await enter('marketplace', session),
      await enter('crm_app', session),
      await enter('crm_app', other),
    ];
    await app.send('/logout', { method: 'POST', cookie: session });
    await expect
      .poll(() => show('marketplace', cookies[0] ?? ''), soon)
      .toContain('You have been logged out');
    await expect.poll(() => show('crm_app', cookies[1] ?? ''), soon).toContain('session.ended');
    const page = await show('marketplace', cookies[0] ?? '');
    expect(page).toContain('ended your session when the event session.ended arrived');
    expect(page).not.toContain('merchant@example.test');
    expect(await show('crm_app', cookies[2] ?? '')).toContain('merchant@example.test');
  });

  async function listenTo(client: string, cookie: string) {
    const abort = new AbortController();
    const response = await fetch(`${app.config.baseUrl}/demo/${client}/events`, {
      headers: { cookie },
      signal: abort.signal,
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async () => (await reader?.read())?.value;
    return {
      read,
      readNews: async () =>
        [...((await read()) ?? '').matchAll(/^data: (\d+)$/gm)].map(([, said]) => Number(said)).at(-1),
      close: () => abort.abort(),
    };
  }

  it('tells its open page how many events have arrived, at once and then with each', async () => {
    const session = await app.login('new-merchant@example.test');
    const cookie = await enter('network_site', session);
    const page = await listenTo('network_site', cookie);
    const before = (await page.readNews()) ?? Number.NaN;
    await openClient(app.send, session).profile.update.mutate({ name: 'Nora Newer' });
    // The first login at this client is an event, too. This event may arrive before that of the change.
    await expect.poll(() => show('network_site', cookie), soon).toContain('Hello, Nora Newer');
    const news = (await page.readNews()) ?? Number.NaN;
    expect(news).toBeGreaterThan(before);
    page.close();
    const again = await listenTo('network_site', cookie);
    expect(await again.readNews()).toBeGreaterThanOrEqual(news);
    again.close();
  });

  it('ends everybody’s session and forgets them if events are gone that it has not read', async () => {
    const session = await app.login('manager@example.test');
    const cookie = await enter('crm_app', session);
    expect(await show('crm_app', cookie)).toContain('manager@example.test');
    await inTransaction(app.db, { by: 'operator' }, restartEvents);
    await openClient(app.send, session).profile.update.mutate({ name: 'Mira Moved' });
    await expect.poll(() => show('crm_app', cookie), soon).toContain('when the event events_gone arrived');
  });

  it('lets go of its open pages when the process is to stop', async () => {
    const page = await listenTo('crm_app', await enter('crm_app', await app.login('admin@example.test')));
    expect(await page.read()).toMatch(/^data: /);
    app.drain();
    expect(await page.read()).toBeUndefined();
  });
});
