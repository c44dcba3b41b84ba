// Waiting for a connection: bounded and counted.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { openFreshDatabase, type TestClient } from '../support/database.ts';
import { connect } from '../support/postgres.ts';

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
