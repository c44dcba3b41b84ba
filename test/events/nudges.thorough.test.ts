// Nudges (contract 10.25 to 10.35), as clients get them from two instances: what arrives, when, and when nudges stop.
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { recordPull } from '../../db/tables/event-deliveries.ts';
import { numberAllEvents } from '../../server/events/number-events.ts';
import { openApp, type TestApp, type TestInstance } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { findFreePort } from '../support/app/process.ts';
import { openClient } from '../support/app/trpc.ts';
import { appendEvents } from '../support/events/client-events.ts';
import {
  type Answering,
  answers,
  drops,
  hangs,
  type NudgeTarget,
  openTarget,
  takes,
} from '../support/events/nudge-target.ts';
import { nudgeBodySample } from '../support/project/samples.ts';

const secret = 'a-secret-of-the-shops-for-this-test';
const next = 'the-next-secret-of-the-shops-for-it';

// The tests mostly wait, so they run at the same time. Each test has a client of its own.
const left: { name: string; target: NudgeTarget }[] = [];
const targets: NudgeTarget[] = [];
let app: TestApp;
let instances: TestInstance[];
beforeAll(async () => {
  const env: Record<string, string> = {
    IDENTITY_SSO_SECRET: secret,
    SSO_ROTATING_SECRET: `${secret},${next}`,
  };
  const names = [...Array.from({ length: 30 }, (_, index) => `shop_${index + 1}`), 'rotating'];
  for (const name of names) {
    const target = await openTarget(takes);
    targets.push(target);
    left.push({ name, target });
    env[`SSO_${name.toUpperCase()}_EVENTS_URL`] = target.url;
    env[`SSO_${name.toUpperCase()}_CALLBACK_URL`] = 'http://localhost:9/cb';
  }
  env.SSO_DOWN_EVENTS_URL = `http://127.0.0.1:${await findFreePort()}/`;
  env.SSO_NOWHERE_EVENTS_URL = 'http://none.localhost:4999/';
  env.SSO_UNTOLD_CALLBACK_URL = 'http://localhost:9/cb';
  env.SSO_CLIENTS = [...names, 'down', 'nowhere', 'untold'].join();
  app = await openApp({ env });
  instances = [app, await app.startInstance()];
});
afterAll(async () => {
  await app.close();
  for (const target of targets) await target.close();
});

/** Takes a client that has no events yet. */
function takeClient(answering: Answering) {
  const client = left.shift();
  if (!client) throw new Error('more clients are needed');
  client.target.answering = answering;
  const { name, target } = client;
  return {
    ...target,
    received: target.received,
    name,
    append: (count = 1) => appendEvents(app.db, name, count),
  };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const within = (timeout: number) => ({ timeout, interval: 20 });
// A long limit for a busy machine, if it does not matter how soon something happens.
const soon = within(15_000);
const gapsBetween = (received: { at: number }[]) =>
  received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0));

async function readFailure(client: string): Promise<string | null | undefined> {
  const { rows } = await sql<{ failure: string }>`
    select failure from event_deliveries where client = ${client}`.execute(app.db);
  return rows[0]?.failure;
}

/** Returns the key that docs/events.md tells clients to make. */
const keyOf = (client: string, of = secret) =>
  `whsec_${createHmac('sha256', of).update(`identity webhooks v1 ${client}`).digest('base64')}`;

describe.concurrent('a nudge', () => {
  it('comes soon after a change, to a client that knows the person, and to no other', async ({ expect }) => {
    const [shop, other] = [takeClient(takes), takeClient(takes)];
    const cookie = await app.login('customer@example.test');
    expect((await app.send(`/sso/launch/${shop.name}`, { cookie })).status).toBe(303);
    await numberAllEvents(app);
    await expect.poll(shop.numbers, soon).toEqual([1]);
    await pause(1_000);
    await openClient(app.send, cookie).profile.update.mutate({ name: 'Somebody Else' });
    await numberAllEvents(app);
    await expect.poll(shop.numbers, soon).toEqual([1, 2]);
    expect(other.received).toEqual([]);
  });

  it('says which client and the newest number, signed after Standard Webhooks', async ({ expect }) => {
    const shop = takeClient(takes);
    await shop.append(3);
    await expect.poll(shop.numbers, soon).toEqual([3]);
    const { name } = shop;
    const { method, path, headers = {}, body = '' } = shop.received[0] ?? {};
    expect([method, path, body]).toEqual([
      'POST',
      '/events?from=identity',
      `{"client":"${name}","latest":3}`,
    ]);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^identity-service\/\d+\.\d+\.\d+$/),
      'webhook-id': `${name}_3`,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(Object.keys(JSON.parse(nudgeBodySample))).toEqual(Object.keys(JSON.parse(body)));
    expect(new Webhook(keyOf(name)).verify(body, headers)).toEqual({ client: name, latest: 3 });
    for (const wrong of [keyOf(name, next), keyOf('another')])
      expect(() => new Webhook(wrong).verify(body, headers)).toThrow('No matching signature');
    expect(JSON.stringify(headers)).not.toContain(secret);
  });

  it('carries both signatures during a rotation', async ({ expect }) => {
    const [rotating] = left.splice(
      left.findIndex(({ name }) => name === 'rotating'),
      1,
    );
    await appendEvents(app.db, 'rotating');
    await expect.poll(() => rotating?.target.numbers(), soon).toEqual([1]);
    const { body = '', headers = {} as Record<string, string> } = rotating?.target.received[0] ?? {};
    for (const held of [secret, next]) new Webhook(keyOf('rotating', held)).verify(body, headers);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it('is signed for the time of its own try', async ({ expect }) => {
    const shop = takeClient((response, nth) => response.writeHead(nth === 1 ? 500 : 204).end());
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1, 1]);
    const [first, second] = shop.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1);
    for (const { body, headers } of shop.received) new Webhook(keyOf(shop.name)).verify(body, headers);
  });

  it('comes once a second at most, and then with the newest number', async ({ expect }) => {
    const shop = takeClient(takes);
    for (let n = 0; n < 30; n++) {
      await shop.append();
      await pause(100);
    }
    await expect.poll(() => shop.numbers().at(-1), soon).toBe(30);
    // The service sends nudges at least a second apart. They may arrive closer together, because the way to the client may take
    // one nudge longer than the next.
    const seconds = ((shop.received.at(-1)?.at ?? 0) - (shop.received[0]?.at ?? 0)) / 1_000;
    expect(shop.received.length - 1).toBeLessThan(seconds + 0.7);
    expect(shop.received.length).toBeGreaterThan(2);
    expect(shop.numbers()).toEqual(shop.numbers().toSorted((a, b) => a - b));
  });

  it('comes once, whichever instance sends it, and no more once it was taken', async ({ expect }) => {
    const shop = takeClient(takes);
    for (let n = 1; n <= 3; n++) {
      await shop.append();
      await expect.poll(shop.numbers, soon).toHaveLength(n);
    }
    await pause(2_000);
    expect(shop.numbers()).toEqual([1, 2, 3]);
  });

  it('is ended by any 2xx, whatever else the answer says and however long it goes on', async ({ expect }) => {
    let isClosed = false;
    const shop = takeClient((response) => {
      response.writeHead(202, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.on('close', () => {
        clearInterval(timer);
        isClosed = true;
      });
    });
    await shop.append();
    await expect.poll(() => isClosed, soon).toBe(true);
    await pause(1_500);
    expect(shop.numbers()).toEqual([1]);
    expect(await readFailure(shop.name)).toBeNull();
  });
});

describe.concurrent('what a client has pulled', () => {
  it('is not nudged', async ({ expect }) => {
    const shop = takeClient(takes);
    await recordPull(app.db, { client: shop.name, after: 2 });
    await shop.append(2);
    await pause(1_500);
    expect(shop.received).toEqual([]);
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([3]);
  });

  it('is not tried again', async ({ expect }) => {
    const shop = takeClient(answers(500));
    await shop.append(2);
    await expect.poll(() => shop.received.length, soon).toBe(2);
    await recordPull(app.db, { client: shop.name, after: 2 });
    await pause(3_000);
    expect(shop.received).toHaveLength(2);
  });

  it('in part does not end the tries', async ({ expect }) => {
    const shop = takeClient(answers(500));
    await shop.append(2);
    await recordPull(app.db, { client: shop.name, after: 1 });
    await expect.poll(() => shop.received.length, soon).toBe(2);
  });
});

describe.concurrent('a nudge that is not taken', () => {
  it('is tried again after one second, two and four, and no more once it is taken', async ({ expect }) => {
    const shop = takeClient((response, nth) => response.writeHead(nth < 4 ? 503 : 200).end());
    await shop.append();
    await expect.poll(() => shop.received.length, within(30_000)).toBe(4);
    const gaps = gapsBetween(shop.received);
    for (const [index, seconds] of [1, 2, 4].entries())
      expect(gaps[index]).toBeGreaterThan(seconds * 1_000 - 200);
    const ids = shop.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([`${shop.name}_1`]));
    const lines = () => app.logged.filter(({ fields }) => fields.client === shop.name);
    const fields = { client: shop.name, latest: 1 };
    await expect.poll(lines, soon).toEqual([
      { level: 'info', message: 'nudge not taken', fields: { ...fields, failure: 'HTTP 503' } },
      { level: 'info', message: 'nudges are taken again', fields },
    ]);
    const scrapes = await Promise.all(instances.map(scrape));
    const count = (result: string) =>
      scrapes
        .map(({ valueFor }) => valueFor('identity_nudges_total', { client: shop.name, result }) ?? Number.NaN)
        .reduce((sum, value) => sum + value);
    expect([count('failed'), count('taken')]).toEqual([3, 1]);
  });

  it('begins anew with a newer number', async ({ expect }) => {
    const shop = takeClient(answers(500));
    await shop.append();
    // Tries come after 0, 1 and 3 seconds. Without the new event, the next try would come after 7 seconds.
    await expect.poll(shop.numbers, soon).toEqual([1, 1, 1]);
    await pause(1_000);
    await shop.append();
    await expect.poll(() => shop.numbers().slice(0, 5), soon).toEqual([1, 1, 1, 2, 2]);
  });

  it('goes to no other address: a redirect is a failure', async ({ expect }) => {
    const other = takeClient(takes);
    for (const status of [301, 302, 303, 307, 308]) {
      const shop = takeClient(answers(status, { location: other.url }));
      await shop.append();
      await expect.poll(() => readFailure(shop.name), soon).toBe('redirected');
    }
    expect(other.received).toEqual([]);
  });

  it.each([
    ['drops the connection', drops, 'connection dropped'],
    ['answers 500', answers(500), 'HTTP 500'],
    ['answers 404', answers(404), 'HTTP 404'],
  ] as const)('by a client that %s says so', async (_, answering, failure) => {
    const shop = takeClient(answering);
    await shop.append();
    await vi.waitFor(async () => expect(await readFailure(shop.name)).toBe(failure), soon);
  });

  it('by a client that is not there says so', async ({ expect }) => {
    for (const client of ['down', 'nowhere']) await appendEvents(app.db, client);
    await expect.poll(() => readFailure('down'), soon).toBe('connection refused');
    // On some systems, any host name leads to this machine.
    const failures = /^(host not found|connection refused)$/;
    await expect.poll(() => readFailure('nowhere'), soon).toMatch(failures);
  });
});

describe.concurrent('where the clock of the database is set back by a day', () => {
  const setBack = (client: string) =>
    sql`update event_deliveries set nudged_at = nudged_at + interval '1 day',
      first_nudged_at = first_nudged_at + interval '1 day', next_nudge_at = next_nudge_at + interval '1 day'
      where client = ${client}`.execute(app.db);

  it('a nudge about a newer number comes all the same, once', async ({ expect }) => {
    const shop = takeClient(takes);
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1]);
    await setBack(shop.name);
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1, 2]);
    await pause(2_500);
    expect(shop.numbers()).toEqual([1, 2]);
  });

  it('a nudge that was not taken is tried again all the same', async ({ expect }) => {
    const shop = takeClient((response, nth) => response.writeHead(nth < 5 ? 503 : 200).end());
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1, 1, 1]);
    await pause(500);
    await setBack(shop.name);
    await expect.poll(shop.numbers, within(30_000)).toEqual([1, 1, 1, 1, 1]);
  });
});

describe.concurrent('a client that hangs', () => {
  it('delays no other, nor its own next number, and is given up after ten seconds', async ({ expect }) => {
    const [shop, other] = [takeClient(hangs), takeClient(takes)];
    const startedAt = performance.now();
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1]);
    await other.append();
    await expect.poll(other.numbers, soon).toEqual([1]);
    await shop.append();
    await expect.poll(shop.numbers, soon).toEqual([1, 2]);
    expect(await readFailure(shop.name)).toBeNull();
    await expect.poll(() => readFailure(shop.name), within(30_000)).toBe('timed out');
    expect(performance.now() - startedAt).toBeGreaterThan(10_000);
    // The client was not nudged twice about the same number.
    expect(shop.numbers()).toEqual([1, 2]);
  });

  it('keeps no instance from stopping', async ({ expect }) => {
    const target = await openTarget(hangs);
    const alone = await openApp({ env: { SSO_MARKETPLACE_EVENTS_URL: target.url } });
    await appendEvents(alone.db, 'marketplace');
    await expect.poll(target.numbers, soon).toEqual([1]);
    const startedAt = performance.now();
    await alone.close();
    // The stop does not wait until the try ends, which would take up to ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    await target.close();
  });
});

it('a client without an address is not nudged', async ({ expect }) => {
  await appendEvents(app.db, 'untold');
  await pause(1_000);
  const { rows } = await sql`select client from event_deliveries where client = 'untold'`.execute(app.db);
  expect(rows).toEqual([]);
});
