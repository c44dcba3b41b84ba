// Long polling (contract 10.15 to 10.17): a request waits until its client has an event to read.
import { sql } from 'kysely';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { codeOf, expectRetryAfter, openApp, type TestInstance } from '../support/app/app.ts';
import { findFreePort, type Runtime, startService } from '../support/app/process.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';
import { addVisitor, askForEvents, bearerOf, latestOf, pull } from '../support/events/events.ts';
import { openAway } from '../support/faults/away.ts';
import { shared } from '../support/run/shared.ts';

let visitor: Awaited<ReturnType<typeof addVisitor>>;
const app = shared(openApp);
const other = shared(() => app.startInstance());
beforeAll(async () => {
  visitor = await addVisitor(app, 'marketplace', 'network_site');
});

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  return { result: await work, ms: performance.now() - startedAt };
}

const rename = (name: string, { send }: Pick<TestInstance, 'send'> = other) =>
  send('/trpc/profile.update', { json: { json: { name } }, cookie: visitor.cookie });

/** Pulls after the newest event, so that the request waits. */
const waitAtEnd = async (instance: TestInstance = app, seconds = 20, client = 'marketplace') =>
  pull(instance, client, `?after=${await latestOf(app, client)}&wait=${seconds}`);

describe('a request that may wait', () => {
  it('is answered soon after something happens on another instance', async () => {
    const waiting = timed(waitAtEnd());
    await pause(700);
    await rename('Heard at once');
    const { result, ms } = await waiting;
    expect(result.events).toMatchObject([{ profile: { name: 'Heard at once' } }]);
    expect(result.latest).toBe(result.events[0]?.seq);
    // The request takes at least as long as the pause, and far less time than the time for which it may wait.
    expect(ms).toBeGreaterThan(600);
    expect(ms).toBeLessThan(15_000);
  });

  it('is answered at once where there is something already', async () => {
    const { result, ms } = await timed(pull(app, 'marketplace', '?after=0&wait=20'));
    expect(result.events.length).toBeGreaterThan(0);
    expect(ms).toBeLessThan(15_000);
  });

  it('is answered without any when its time is over, past the deadline of other requests', async () => {
    const { result, ms } = await timed(waitAtEnd(app, 4));
    expect(result.events).toEqual([]);
    expect(ms).toBeGreaterThan(3_900);
    expect(ms).toBeLessThan(15_000);
  });

  it('is not woken by what concerns other clients', async () => {
    const waiting = timed(waitAtEnd(app, 2, 'crm_app'));
    await rename('Not for the CRM app');
    expect((await waiting).ms).toBeGreaterThan(1_900);
  });

  it('is forgotten when its client goes', async () => {
    const stop = new AbortController();
    const url = `${app.config.baseUrl}/sso/events?wait=25&after=${await latestOf(app, 'marketplace')}`;
    const request = new Request(url, { headers: bearerOf(app, 'marketplace'), signal: stop.signal });
    const answered = timed(Promise.resolve(app.fetch(request, { address: '192.0.2.1' })));
    await pause(300);
    stop.abort();
    expect((await answered).ms).toBeLessThan(15_000);
  });
});

describe('a hundred of them', () => {
  it('are all a client has on one instance, hold no connection, and take no place at the door', async () => {
    const latest = await latestOf(app, 'marketplace');
    const path = `?after=${latest}&wait=25`;
    const held = Array.from({ length: 100 }, () => pull(app, 'marketplace', path));
    const site = await latestOf(app, 'network_site');
    const heldOfAnother = Array.from({ length: 100 }, () =>
      pull(app, 'network_site', `?after=${site}&wait=25`),
    );
    const more = () => askForEvents(app, 'marketplace', `?after=${latest}&wait=1`);
    await expect.poll(async () => (await more()).status, { timeout: 15_000 }).toBe(429);
    const tooMany = await more();
    expect([tooMany.status, codeOf(tooMany)]).toEqual([429, 'rate_limited']);
    expectRetryAfter(tooMany, 5);
    // Requests that need not wait are answered, and another instance has room.
    expect((await pull(app, 'marketplace', '?after=0')).events.length).toBeGreaterThan(0);
    const elsewhere = pull(other, 'marketplace', path);
    for (let n = 0; n < 10; n++)
      expect((await app.send('/sso/profile', { cookie: visitor.cookie })).status).toBe(200);
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(app.db);
    expect(rows).toEqual([{ n: 0 }]);
    await rename('For all of them');
    for (const page of await Promise.all([...held, elsewhere]))
      expect(page.events).toMatchObject([{ seq: latest + 1, profile: { name: 'For all of them' } }]);
    await Promise.all(heldOfAnother);
    // These requests have been answered, so they take no place, and another request may wait.
    expect((await pull(app, 'marketplace', `?after=${latest + 1}&wait=1`)).events).toEqual([]);
  });
});

it('requests that wait are answered 503 when the database goes away', async () => {
  const away = await openAway();
  try {
    const at = await latestOf(away.app, 'marketplace');
    const headers = bearerOf(away.app, 'marketplace');
    const waiting = timed(away.ask(`/sso/events?after=${at}&wait=25`, { headers, cookie: '' }));
    await pause(500);
    away.wire.cut();
    const { result, ms } = await waiting;
    expect([result.status, codeOf(result)]).toEqual([503, 'unavailable']);
    expectRetryAfter(result, 10);
    expect(ms).toBeLessThan(20_000);
    away.wire.restore();
    await vi.waitFor(async () => {
      const { status } = await away.ask(`/sso/events?after=${at}`, { headers, cookie: '' });
      expect(status).toBe(200);
    }, 15_000);
  } finally {
    await away.close();
  }
});

it('an instance that is told to stop answers them at once, and holds none', async () => {
  const instance = await app.startInstance();
  const waiting = timed(waitAtEnd(instance));
  await pause(700);
  instance.drain();
  const { result, ms } = await waiting;
  expect(result.events).toEqual([]);
  expect(ms).toBeLessThan(15_000);
  expect((await timed(waitAtEnd(instance))).ms).toBeLessThan(15_000);
});

it.each<Runtime>(['node', 'deno'])(
  'on %s, over the network: events arrive, and a stop is not held up',
  async (runtime) => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const { child, exited, output } = await startService(runtime, port, {
      DATABASE_URL: url,
      SHUTDOWN_DELAY_SECONDS: '0',
    });
    const ask = async (query: string) => {
      const headers = bearerOf(app, 'marketplace');
      const answer = await fetch(`http://localhost:${port}/sso/events${query}`, { headers });
      return {
        status: answer.status,
        connection: answer.headers.get('connection'),
        page: await answer.json(),
      };
    };
    // The clients give these requests up while they wait.
    const gone = Array.from({ length: 100 }, () =>
      fetch(`http://localhost:${port}/sso/events?wait=25`, {
        headers: bearerOf(app, 'marketplace'),
        signal: AbortSignal.timeout(1_500),
      }).catch(() => undefined),
    );
    await Promise.all(gone);
    // After the service has noticed that these requests ended, another request may wait.
    await expect.poll(async () => (await ask('?wait=1')).status).toBe(200);
    const waiting = ask('?wait=20');
    await pause(500);
    const client = connect(url);
    await sql`insert into events (client, type, user_id, body)
    select 'marketplace', 'user.restored', id, null from users limit 1`.execute(client.db);
    await client.close();
    expect(await waiting).toMatchObject({
      status: 200,
      page: { latest: 1, events: [{ type: 'user.restored' }] },
    });
    const last = timed(ask('?after=1&wait=25'));
    await pause(1_500);
    const stoppedAt = performance.now();
    child.kill('SIGTERM');
    const { result } = await last;
    expect(result).toMatchObject({ status: 200, page: { events: [], latest: 1 } });
    expect(performance.now() - stoppedAt).toBeLessThan(15_000);
    expect(await exited, output()).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    await drop();
  },
);
