// Contract 9.97 to 9.99, 503 `unavailable`: whatever happens to the database, every route answers in time. After the database
// is back, every route answers rightly.
import { describe, expect, it } from 'vitest';
import { listEveryRoute, pendingCookie, type RouteRequest } from '../support/app/every-route.ts';
import { openOwnPostgres } from '../support/database/own-postgres.ts';
import { connect } from '../support/database/postgres.ts';
import { openAway } from '../support/faults/away.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { shared } from '../support/run/shared.ts';

// This is more than twice the contract's limit, for a busy machine. `npm run test:faults` prints how long answers took.
const patienceMs = 6_000;
const atOnce = 150;

const postgres = shared(() => openOwnPostgres({ max_connections: '40' }));
const away = shared(() => openAway(postgres.templateUrl));

const readOnly = (isOn: boolean) =>
  postgres.administer(`alter system set default_transaction_read_only = ${isOn}`, 'select pg_reload_conf()');

/** Uses every connection that Postgres allows. */
async function crowd(): Promise<() => Promise<void>> {
  away.wire.cut();
  const { db, close } = connect(postgres.templateUrl, { poolSize: 100 });
  let leave = () => {};
  const left = new Promise<void>((done) => {
    leave = done;
  });
  const outcomes = Array.from({ length: 100 }, () => db.connection().execute(() => left));
  await expect(Promise.race(outcomes)).rejects.toMatchObject({ code: '53300' });
  away.wire.restore();
  return async () => {
    leave();
    await Promise.allSettled(outcomes);
    await close();
  };
}
let disperse: () => Promise<void>;

type Condition = { name: string; begin: () => unknown; end: () => unknown; inShort?: boolean };
const conditions: Condition[] = [
  { name: 'stopped', begin: () => postgres.stop(), end: () => postgres.start() },
  { name: 'frozen', begin: () => postgres.freeze(), end: () => postgres.thaw(), inShort: true },
  {
    name: 'killed, and starting up again',
    begin: () => postgres.kill(),
    end: () => postgres.start(),
  },
  { name: 'refusing connections', begin: () => away.wire.cut(), end: () => away.wire.restore() },
  { name: 'silent', begin: () => away.wire.swallow(), end: () => away.wire.restore() },
  { name: 'answering into the void', begin: () => away.wire.deafen(), end: () => away.wire.restore() },
  {
    name: 'full',
    begin: async () => {
      disperse = await crowd();
    },
    end: () => disperse(),
  },
  {
    name: 'a standby',
    begin: async () => {
      await postgres.stop();
      await postgres.start('standby');
    },
    end: async () => {
      await postgres.stop();
      await postgres.start();
    },
  },
  {
    name: 'read-only',
    begin: async () => {
      await readOnly(true);
      // It takes a moment until all processes of Postgres have the new setting.
      await expect.poll(async () => (await away.ask('/readyz')).status, { timeout: 10_000 }).toBe(503);
    },
    end: () => readOnly(false),
    inShort: true,
  },
];
const chosen = byForm({ short: conditions.filter(({ inShort }) => inShort), long: conditions });

describe.each(chosen)('while the database is $name,', ({ name, begin, end }) => {
  it('every route answers 503 in time, and soon after it is back rightly', async () => {
    await begin();
    const every = await listEveryRoute(away.app);
    const outcomes: Awaited<ReturnType<typeof ask>>[] = [];
    // Sends the requests that need no data first, one at a time. The service makes the pages for one IP address in turn, so
    // these requests would wait behind pages that wait for the database.
    for (const isAsked of [false, true]) {
      const requests = every.filter(({ needsData }) => needsData === isAsked);
      for (let at = 0; at < requests.length; at += isAsked ? atOnce : 1)
        outcomes.push(...(await Promise.all(requests.slice(at, at + (isAsked ? atOnce : 1)).map(ask))));
    }
    for (const { name, needsData, status, retryAfter, cookie, location, text } of outcomes) {
      if (!needsData) {
        expect.soft(status, name).toBeLessThan(500);
        continue;
      }
      expect
        .soft({ name, status, retryAfter, cookie, location })
        .toMatchObject({ status: 503, retryAfter: '5', cookie: null, location: null });
      expect.soft(text, name).not.toMatch(/ECONN|terminated|timeout|127\.0\.0\.1|select |\n\s+at /i);
    }
    await end();
    const endedAt = performance.now();
    await away.expectNothingLost();
    const slowestMs = Math.max(...outcomes.map(({ ms }) => ms));
    const backMs = performance.now() - endedAt;
    noteFigures(`database ${name}`, { slowestMs, backMs });
    expect(slowestMs).toBeLessThan(patienceMs);
    expect(backMs).toBeLessThan(patienceMs);
  });
});

async function ask({ name, request: [path, options], needsData }: RouteRequest) {
  const startedAt = performance.now();
  const { status, headers, text } = await away.ask(path, {
    cookie: `${away.cookie}; ${pendingCookie}`,
    ...options,
  });
  const ms = performance.now() - startedAt;
  const [retryAfter, cookie, location] = ['retry-after', 'set-cookie', 'location'].map((each) =>
    headers.get(each),
  );
  return { name, needsData, status, ms, retryAfter, cookie, location, text };
}
