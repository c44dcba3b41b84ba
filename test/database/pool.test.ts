// Waiting for a connection: bounded and counted.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { openFreshDatabase, type TestClient } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { openWire } from '../support/database/wire.ts';

let client: TestClient;
beforeAll(async () => {
  client = await openFreshDatabase();
});
afterAll(() => client.close());

const maxWaiting = 30;

it('lets so many wait for a connection, refuses the next at once, and counts those who got none', async () => {
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

it('waits for a connection for some seconds only', async () => {
  const { db, countConnections, close } = connect(client.url);
  await db.connection().execute(async () => {
    await expect(sql`select 1`.execute(db)).rejects.toSatisfy(isDatabaseAway);
  });
  expect(countConnections().refused).toBe(1);
  await close();
});

// The one connection breaks, and a new one has its last answer around the moment when whoever waits gives up. Some of these
// hit it, however busy the machine is.
it.each([400, 450, 500, 550, 600, 650, 700, 750].map((delayMs) => [delayMs]))(
  'gets a connection back whose every answer took %d ms, though whoever waited for it has given up',
  { concurrent: true },
  async (delayMs) => {
    const wire = await openWire(client.url);
    const { db, close } = connect(wire.url);
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
