import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { onOneConnection } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { Turns } from '../../db/postgres/turns.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { openWire } from '../support/database/wire.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

const maxWaiting = 30;

it('lets a fixed number wait for a connection, refuses the next at once, and counts what it refused', async () => {
  const { db, countConnections, close } = connect(client.url);
  let leave = () => {};
  const left = new Promise<void>((done) => {
    leave = done;
  });
  let held = Promise.resolve();
  await new Promise<void>((done) => {
    held = db.connection().execute(() => {
      done();
      return left;
    });
  });
  const ask = () => sql`select 1`.execute(db);
  const patient = Array.from({ length: maxWaiting }, () => ask());
  await expect.poll(() => countConnections().waiting).toBe(maxWaiting);
  await expect(ask()).rejects.toSatisfy(isDatabaseAway);
  expect(countConnections()).toEqual({ all: 1, idle: 0, waiting: maxWaiting, refused: 1 });
  leave();
  await held;
  await Promise.all(patient);
  expect(countConnections()).toMatchObject({ waiting: 0, refused: 1 });
  await close();
});

it('what one page asks at once goes over one connection, which goes back to the pool, and which no error breaks', async () => {
  const { db, countConnections, close } = connect(client.url, { poolSize: 5 });
  const own = onOneConnection(db);
  const askPid = (on = own) =>
    sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on).then(({ rows }) => rows[0]?.pid);
  const failing = sql`select 1 / 0`.execute(own).catch(({ code }) => code);
  const pids = await Promise.all([
    askPid(),
    askPid(),
    failing,
    ...Array.from({ length: 10 }, () => askPid()),
  ]);
  expect(pids.splice(2, 1)).toEqual(['22012']);
  expect(new Set(pids).size).toBe(1);
  const inside = inTransaction(own, { by: 'service' }, (trx) => askPid(trx));
  const [beside, alone] = await Promise.all([inside, askPid()]);
  expect(beside).not.toBe(alone);
  const { all, idle } = countConnections();
  expect(idle).toBe(all);
  const others = await Promise.all([askPid(), askPid(onOneConnection(db)), askPid(onOneConnection(db))]);
  expect(new Set(others).size).toBe(3);
  await sql`select pg_terminate_backend(pg_backend_pid())`.execute(own).catch(() => undefined);
  expect(await askPid()).toBeGreaterThan(0);
  await close();
});

describe('turns', () => {
  /**
   * Asks for the turn of each key, in this order. The result lists the keys whose turn has begun, and can end the turn of one
   * key.
   */
  async function begin(turns: Turns, keys: string[]) {
    const begun: string[] = [];
    const ends: ((() => void) | undefined)[] = [];
    for (const key of keys)
      void turns.take(key).then((end) => {
        begun.push(end ? key : `${key} refused`);
        ends.push(end);
      });
    const settle = () => new Promise((done) => setTimeout(done));
    await settle();
    return {
      begun,
      async endOldest() {
        ends.shift()?.();
        await settle();
      },
    };
  }

  it('go round the keys, however many wait under one', async () => {
    const turns = new Turns({ all: 3, each: 2 });
    const { begun, endOldest } = await begin(turns, [...'aaaaaa', ...'bb', 'c']);
    expect(begun).toEqual(['a', 'a', 'b']);
    expect(turns.waiting).toBe(6);
    for (let n = 0; n < 9; n++) await endOldest();
    expect(begun.join('')).toBe('aababcaaa');
    expect(turns.waiting).toBe(0);
  });

  it('are refused if too many wait, of one key or in all', async () => {
    const turns = new Turns({ all: 1, each: 1, maxWaiting: { all: 3, each: 2 } });
    const { begun } = await begin(turns, [...'aaaa', 'b', 'b', 'c']);
    expect(begun).toEqual(['a', 'a refused', 'b refused', 'a refused']);
    expect(turns.waiting).toBe(3);
  });

  it('are shared by all requests with one key', async () => {
    const turns = new Turns({ each: 1, keyOf: (asker) => asker.split(' ')[0] });
    const { begun } = await begin(turns, ['a 1', 'a 2', 'b 1']);
    expect(begun).toEqual(['a 1', 'b 1']);
  });

  it('are taken from the key that has most waiting, the newest first, if a new key comes when all places are taken', async () => {
    const turns = new Turns({ all: 1, each: 1, maxWaiting: { all: 4, each: 4 } });
    const { begun, endOldest } = await begin(turns, [...'aaaaa', 'b', 'c', 'd', 'e']);
    expect(begun.sort()).toEqual(['a', 'a refused', 'a refused', 'a refused', 'e refused']);
    expect(turns.waiting).toBe(4);
    await endOldest();
    expect(begun.at(-1)).toBe('a');
    expect(turns.waiting).toBe(3);
  });
});

const inSeconds = { connectTimeoutMs: 2_500 };

it('waits for a connection for some seconds only', async () => {
  const { db, countConnections, close } = connect(client.url, inSeconds);
  await db.connection().execute(async () => {
    await expect(sql`select 1`.execute(db)).rejects.toSatisfy(isDatabaseAway);
  });
  expect(countConnections().refused).toBe(1);
  await close();
});

// The pool's only connection breaks. The connection in its place becomes ready around the moment when the waiting request gives
// up. Some of these delays hit that moment, on a busy machine and on an idle one.
it.each([400, 450, 500, 550, 600, 650, 700, 750].map((delayMs) => [delayMs]))(
  'gets a connection back whose every answer took %d ms, though the request that waited has given up',
  { concurrent: true },
  async (delayMs) => {
    const wire = await openWire(client.url);
    const { db, close } = connect(wire.url, inSeconds);
    const ask = () => sql`select 1`.execute(db);
    let waiting: Promise<unknown> = Promise.resolve();
    const broken = db.connection().execute(async (held) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(held);
      waiting = ask().catch((error) => error);
      wire.delay(delayMs);
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(client.db);
      await sql`select 1`.execute(held);
    });
    await expect(broken).rejects.toSatisfy(isDatabaseAway);
    await waiting;
    wire.restore();
    await vi.waitFor(ask, 15_000);
    await close();
    wire.close();
  },
);
