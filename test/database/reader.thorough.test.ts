import { type RawBuilder, sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SharedRead } from '../../db/postgres/reader.ts';
import { openFreshDatabase, poolSize, type TestClient } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';

let client: TestClient;
beforeEach(async () => {
  client = await openFreshDatabase();
});
afterEach(() => client.close());

// Reads as `prepareRead` makes them, except that some hang.
const shared = <Row>(statement: RawBuilder<Row>) => statement.compile(client.db) as SharedRead<Row>;
const ask = (n: number) =>
  shared(sql<{ n: number; pid: number }>`select ${n}::int as n, pg_backend_pid() as pid`);
const sleep = (seconds: number) =>
  shared(sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(${seconds})`);
const countConnections = async () => {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'`.execute(client.db);
  return rows.length;
};
const numbers = Array.from({ length: 100 }, (_, n) => n);

it('the reading connection gives each of many readers at once its own answer', async () => {
  const answers = await Promise.all(numbers.map((n) => client.read(ask(n))));
  expect(answers.map(([row]) => row?.n)).toEqual(numbers);
  expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(1);
  expect(await countConnections()).toBe(1);
});

it('the reading connection fails only the reader whose statement is wrong', async () => {
  const wrong = shared(sql`select 1 / ${0}::int`);
  const answers = await Promise.allSettled(numbers.map((n) => client.read(n % 10 === 3 ? wrong : ask(n))));
  expect(answers.map(({ status }) => status)).toEqual(
    numbers.map((n) => (n % 10 === 3 ? 'rejected' : 'fulfilled')),
  );
});

it('the reading connection goes back to the pool when nobody reads', async () => {
  await Promise.all(numbers.map((n) => client.read(ask(n))));
  const atOnce = numbers.slice(0, poolSize).map((n) => client.db.executeQuery<{ pid: number }>(ask(n)));
  const pids = (await Promise.all(atOnce)).map(({ rows }) => rows[0]?.pid);
  expect(new Set(pids).size).toBe(poolSize);
});

it('a reading connection that is cut fails its readers, and later readers get another one', async () => {
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

const findSleepers = async () => {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`.execute(client.db);
  return rows.map(({ pid }) => pid);
};

it('a statement that hangs on the reading connection holds up others for a moment only, and is answered', async () => {
  const startedAt = performance.now();
  const hanging = client.read(sleep(3));
  const answers = await Promise.all(numbers.map((n) => client.read(ask(n))));
  const heldUpMs = performance.now() - startedAt;
  expect(answers.map(([row]) => row?.n)).toEqual(numbers);
  expect(heldUpMs).toBeLessThan(2_900);
  expect(await hanging).toHaveLength(1);
});

it('a statement that hung goes to a connection of its own, until it is answered fast again', async () => {
  const hanging = client.read(sleep(3));
  await client.read(ask(1));
  const again = client.read(sleep(2));
  const [row] = await client.read(ask(2));
  // One of these statements is on the connection that was given up, and one is the second read.
  await expect.poll(findSleepers, { interval: 50, timeout: 3_000 }).toHaveLength(2);
  expect(await findSleepers()).not.toContain(row?.pid);
  await Promise.all([hanging, again]);
  await client.read(sleep(0));
  const [[together], [alone]] = await Promise.all([client.read(sleep(0)), client.read(ask(3))]);
  expect(together?.pid).toBe(alone?.pid);
});

it('readers take two connections of the pool at most, however many hang', async () => {
  const impatient = connect(client.url, { poolSize, statementTimeoutMs: 1_500 });
  let most = 0;
  const reading = Array.from({ length: 40 }, async (_, n) => {
    await new Promise((done) => setTimeout(done, n * 50));
    const both = Promise.allSettled([impatient.read(sleep(60)), impatient.read(ask(n))]);
    most = Math.max(most, impatient.countConnections().all);
    const [hanging, asked] = await both;
    expect([hanging.status, asked.status]).toEqual(['rejected', 'fulfilled']);
  });
  await Promise.all(reading);
  await impatient.close();
  expect(most).toBe(2);
});

it('a statement that waits behind one that Postgres ended costs no other connection', async () => {
  const impatient = connect(client.url, { poolSize, statementTimeoutMs: 1_000 });
  const findPids = async () => {
    const both = await Promise.all([1, 2].map((n) => impatient.db.executeQuery<{ pid: number }>(ask(n))));
    return both.map(({ rows }) => rows[0]?.pid);
  };
  // The service knows from this read that the statement hangs. From now on, reads of it wait for one connection.
  await expect(impatient.read(sleep(60))).rejects.toMatchObject({ code: '57014' });
  const before = await findPids();
  const hanging = await Promise.allSettled([impatient.read(sleep(60)), impatient.read(sleep(60))]);
  expect(hanging).toMatchObject([
    { status: 'rejected', reason: { code: '57014' } },
    { status: 'rejected', reason: { message: 'query read timeout' } },
  ]);
  expect((await findPids()).filter((pid) => before.includes(pid))).toHaveLength(1);
  await impatient.close();
});
