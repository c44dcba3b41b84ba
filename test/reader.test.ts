// Many requests read on one connection.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openClient, type TestClient } from './support/database.ts';

let client: TestClient;
beforeEach(async () => {
  client = await openClient();
});
afterEach(() => client.close());

const ask = (n: number) =>
  sql<{ n: number; pid: number }>`select ${n}::int as n, pg_backend_pid() as pid`.compile(client.db);
const sleep = (seconds: number) => sql`select pg_sleep(${seconds})`.compile(client.db);
const numbers = Array.from({ length: 100 }, (_, n) => n);

it('gives each of many at once its own answer, on one connection', async () => {
  const answers = await Promise.all(numbers.map((n) => client.read(ask(n))));
  expect(answers.map(([row]) => row?.n)).toEqual(numbers);
  expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(1);
  expect(client.pool.totalCount).toBe(1);
});

it('fails for the one whose statement is at fault, and for no other', async () => {
  const wrong = sql`select 1 / ${0}::int`.compile(client.db);
  const answers = await Promise.allSettled(numbers.map((n) => client.read(n % 10 === 3 ? wrong : ask(n))));
  expect(answers.map(({ status }) => status)).toEqual(
    numbers.map((n) => (n % 10 === 3 ? 'rejected' : 'fulfilled')),
  );
});

it('gives the connection back when nobody reads', async () => {
  await Promise.all(numbers.map((n) => client.read(ask(n))));
  expect(client.pool.idleCount).toBe(client.pool.totalCount);
});

it('fails for all who read where the connection is cut, and reads on another one after that', async () => {
  const asleep = [client.read(sleep(60)), ...numbers.map((n) => client.read(ask(n)))];
  const outcomes = Promise.allSettled(asleep);
  await expect
    .poll(async () => {
      const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`.execute(client.db);
      return rows.length;
    })
    .toBe(1);
  expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']));
  const answers = await Promise.all(numbers.map((n) => client.read(ask(n))));
  expect(answers.map(([row]) => row?.n)).toEqual(numbers);
});
