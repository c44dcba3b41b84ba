// Which instance makes which try of a nudge, and when. The database decides both, by its own clock.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import {
  claimNudges,
  listDeliveries,
  type Nudge,
  recordNudge,
  recordPull,
} from '../../db/tables/event-deliveries.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';
import { appendEvents } from '../support/events/client-events.ts';

let database: DatabaseClient;
let other: DatabaseClient;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await cloneDatabase(inject('templateUrl'));
  drop = fresh.drop;
  database = connect(fresh.url, { poolSize: 16 });
  other = connect(fresh.url, { poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await other.close();
  await drop();
});
beforeEach(async () => {
  await sql`truncate events, event_sequences, event_deliveries`.execute(database.db);
});

const claim = (clients = ['shop']) => claimNudges(database.db, clients);
const append = (count = 1, client = 'shop') => appendEvents(database.db, client, count);
const fail = (nudge: Nudge) => recordNudge(database.db, nudge, 'HTTP 500');

/** Acts as if `time` had passed since the last claim. */
async function letPass(time: string): Promise<void> {
  await sql`update event_deliveries set nudged_at = nudged_at - ${time}::interval,
    first_nudged_at = first_nudged_at - ${time}::interval,
    next_nudge_at = next_nudge_at - ${time}::interval`.execute(database.db);
}

/** Acts as if the database's clock had been set back by `time` since everything was stored. */
async function setBack(time = '1 day'): Promise<void> {
  await sql`update event_deliveries set nudged_at = nudged_at + ${time}::interval,
    first_nudged_at = first_nudged_at + ${time}::interval, next_nudge_at = next_nudge_at + ${time}::interval,
    failed_at = failed_at + ${time}::interval, succeeded_at = succeeded_at + ${time}::interval,
    pulled_at = pulled_at + ${time}::interval`.execute(database.db);
}

/** Returns the seconds between a failure and the next try. */
async function readPause(): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select round(extract(epoch from next_nudge_at - failed_at))::float8 as seconds from event_deliveries`.execute(
    database.db,
  );
  return rows[0]?.seconds ?? null;
}

async function readNextTry(): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select next_nudge_at as at from event_deliveries`.execute(database.db);
  return rows[0]?.at ?? null;
}

async function requireClaim(): Promise<Nudge> {
  const [nudge] = await claim();
  if (!nudge) throw new Error('no nudge is due');
  return nudge;
}

/** Makes 16 claims. All of them wait for the row at the same time. */
async function claimManyAtOnce(): Promise<Nudge[]> {
  let claims: Promise<Nudge[]>[] = [];
  const over = new Error('over');
  const holding = other.db.transaction().execute(async (trx) => {
    await sql`insert into event_deliveries (client) values ('shop')
      on conflict (client) do update set client = excluded.client`.execute(trx);
    claims = Array.from({ length: 16 }, () => claim());
    await expect.poll(countWaiting, { timeout: 10_000, interval: 20 }).toBe(16);
    throw over;
  });
  await expect(holding).rejects.toBe(over);
  return (await Promise.all(claims)).flat();
}

async function countWaiting(): Promise<number | undefined> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(other.db);
  return rows[0]?.n;
}

describe('of 16 instances that look at once, one makes', () => {
  it('the first try of all', async () => {
    await append(5);
    expect(await claimManyAtOnce()).toEqual([{ client: 'shop', latest: 5, attempts: 1 }]);
  });

  it('the first try of a newer number', async () => {
    await append();
    await claim();
    await append();
    await letPass('1 second');
    expect(await claimManyAtOnce()).toEqual([{ client: 'shop', latest: 2, attempts: 1 }]);
  });

  it('each further try', async () => {
    await append();
    for (let attempts = 1; attempts <= 3; attempts++) {
      const claimed = await claimManyAtOnce();
      expect(claimed).toEqual([{ client: 'shop', latest: 1, attempts }]);
      for (const nudge of claimed) await fail(nudge);
      await letPass('1 hour');
    }
  });
});

it('a try whose instance was killed is made again by another one, once it cannot be under way any more', async () => {
  await append();
  await claim();
  await letPass('11 seconds');
  expect(await claim()).toEqual([]);
  await letPass('2 seconds');
  expect(await claim()).toEqual([{ client: 'shop', latest: 1, attempts: 2 }]);
});

it('tries of one number are a second apart, then twice as long each time, up to an hour', async () => {
  await append();
  const pauses: (number | null)[] = [];
  for (let attempt = 1; attempt <= 14; attempt++) {
    await fail(await requireClaim());
    pauses.push(await readPause());
    expect(await claim()).toEqual([]);
    await letPass('1 hour');
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
});

it('no number is tried for longer than a day, and a newer one begins anew', async () => {
  await append();
  await fail(await requireClaim());
  await letPass('23 hours 59 minutes');
  await fail(await requireClaim());
  await letPass('2 minutes');
  expect(await claim()).toEqual([]);
  await append();
  expect(await claim()).toEqual([{ client: 'shop', latest: 2, attempts: 1 }]);
  await fail({ client: 'shop', latest: 2, attempts: 1 });
  expect(await readPause()).toBe(1);
});

it('a newer number waits until a second after the last try, whether that failed or not', async () => {
  await append();
  await claim();
  await append();
  expect(await claim()).toEqual([]);
  await letPass('1 second');
  expect(await claim()).toHaveLength(1);
});

it('a pull ends the tries of what it has read, and only of that', async () => {
  await append(3);
  await fail(await requireClaim());
  await letPass('1 minute');
  await recordPull(database.db, { client: 'shop', after: 2 });
  const nudge = await requireClaim();
  await recordPull(database.db, { client: 'shop', after: 3 });
  await fail(nudge);
  await letPass('1 hour');
  expect(await claim()).toEqual([]);
  await append();
  expect(await claim()).toEqual([{ client: 'shop', latest: 4, attempts: 1 }]);
});

it('a try that was overtaken changes nothing about the newer one', async () => {
  await append();
  const first = await requireClaim();
  await append();
  await letPass('1 second');
  const second = await requireClaim();
  const lease = await readNextTry();
  // The result of the first nudge changes nothing, whether it is a failure or a success: the client may have read before the
  // second number was there.
  await fail(first);
  expect(await readNextTry()).toEqual(lease);
  await recordNudge(database.db, first, undefined);
  expect(await readNextTry()).toEqual(lease);
  await recordNudge(database.db, second, undefined);
  expect(await readNextTry()).toBeNull();
});

it('says when nudges begin to fail, and when they are taken again', async () => {
  await append();
  const nudge = await requireClaim();
  const told: boolean[] = [];
  for (const failure of [undefined, 'HTTP 500', 'timed out', undefined, undefined, 'HTTP 500'])
    told.push((await recordNudge(database.db, nudge, failure)).wasFailing);
  expect(told).toEqual([false, false, true, true, false, false]);
});

it('each client is claimed by itself, and only if it is asked for', async () => {
  for (const client of ['shop', 'garden', 'kitchen']) await append(1, client);
  expect((await claim(['garden', 'shop'])).map(({ client }) => client).toSorted()).toEqual([
    'garden',
    'shop',
  ]);
  expect((await claim(['garden', 'shop', 'kitchen'])).map(({ client }) => client)).toEqual(['kitchen']);
  expect(await claim([])).toEqual([]);
});

describe('where the clock of the database was set back', () => {
  it('a newer number is told at once, by one of 16 instances, and then as ever', async () => {
    await append();
    await recordNudge(database.db, await requireClaim(), undefined);
    await append();
    await setBack();
    expect(await claimManyAtOnce()).toEqual([{ client: 'shop', latest: 2, attempts: 1 }]);
    await append();
    expect(await claim()).toEqual([]);
    await letPass('1 second');
    expect(await claim()).toEqual([{ client: 'shop', latest: 3, attempts: 1 }]);
  });

  it('a number that was not taken is tried again at once, by one of 16, then after its pause', async () => {
    await append();
    for (let attempts = 1; attempts <= 3; attempts++) {
      await fail(await requireClaim());
      await letPass('1 hour');
    }
    await setBack('3 days');
    const [nudge, ...more] = await claimManyAtOnce();
    expect([nudge, more]).toEqual([{ client: 'shop', latest: 1, attempts: 4 }, []]);
    await fail(nudge as Nudge);
    expect([await readPause(), await claim()]).toEqual([8, []]);
    await letPass('8 seconds');
    // The clock is set back while the next try is under way. The result of this try is recorded by the clock that was set back.
    const next = await requireClaim();
    await setBack();
    await fail(next);
    expect(await claim()).toEqual([{ client: 'shop', latest: 1, attempts: 6 }]);
  });

  it('a number is tried for a day from then on, and no longer', async () => {
    await append();
    await fail(await requireClaim());
    await setBack('30 days');
    await fail(await requireClaim());
    await letPass('23 hours 59 minutes');
    await fail(await requireClaim());
    await letPass('2 minutes');
    expect(await claim()).toEqual([]);
  });

  it('what was taken, or pulled, is not told again', async () => {
    await append(2);
    await recordNudge(database.db, await requireClaim(), undefined);
    await setBack();
    expect(await claim()).toEqual([]);
    await append();
    await fail(await requireClaim());
    await recordPull(database.db, { client: 'shop', after: 3 });
    await setBack();
    expect(await claim()).toEqual([]);
  });

  it('the last try to end says whether nudges fail, and the last pull when there was one', async () => {
    const read = async () => (await listDeliveries(database.db, ['shop']))[0];
    await append();
    const nudge = await requireClaim();
    await recordPull(database.db, { client: 'shop', after: 0 });
    for (const failure of ['HTTP 500', undefined, 'timed out', undefined]) {
      await recordNudge(database.db, nudge, failure);
      await setBack();
      const last = failure === undefined ? 'HTTP 500' : undefined;
      await recordNudge(database.db, nudge, last);
      expect((await read())?.isFailing, `after ${failure}`).toBe(last !== undefined);
    }
    await recordPull(database.db, { client: 'shop', after: 0 });
    const { pulledSeconds = -1 } = (await read()) ?? {};
    expect(pulledSeconds).toBeGreaterThanOrEqual(0);
    expect(pulledSeconds).toBeLessThan(60);
  });
});
