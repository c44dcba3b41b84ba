// A change costs the same even if very many events of other people wait for a number, and even if Postgres planned the queries
// before these events were there.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { cloneDatabase, connect, type TestDatabase } from '../support/database/postgres.ts';

const few = 500;

let database: TestDatabase;
// The client has one connection, so that it keeps its query plans. No instance runs, because its job would number the waiting
// events.
let client: DatabaseClient;
beforeAll(async () => {
  database = await cloneDatabase(inject('templateUrl'));
  client = connect(database.url, { statementTimeoutMs: 120_000 });
  const { db } = client;
  // The ids are in no order, because Postgres then prefers an index by client to an index by user.
  const id = (kind: string) => sql`md5(${sql.lit(kind)} || n)::uuid`;
  const all = sql`generate_series(1, ${few * 11}::int) n`;
  // Triggers are off, so that only the measured changes make events.
  await sql`set session_replication_role = replica`.execute(db);
  await sql`insert into accounts (id, name) select ${id('account')}, 'Account ' || n from ${all}`.execute(db);
  await sql`insert into users (id, account_id, email, holds_email, name)
    select ${id('user')}, ${id('account')}, n || '@example.test', true, 'User ' || n from ${all}`.execute(db);
  await sql`insert into sessions (id, token_hash, user_id, created_at, last_seen_at, amr, address, user_agent)
    select ${id('session')}, sha256(n::text::bytea), ${id('user')}, now(), now(), '{pwd}', '', '' from ${all}`.execute(
    db,
  );
  // All people but the last were handed over to a client. The client has read everything that it was told.
  await sql`insert into client_users (user_id, client)
    select ${id('user')}, 'marketplace' from ${all} where n <= ${few * 10}`.execute(db);
  await sql`insert into events (client, seq, type, user_id, numbered_at, body)
    select 'marketplace', n, 'profile.updated', ${id('user')}, now(), '{}' from ${all}`.execute(db);
  await sql`set session_replication_role = origin`.execute(db);
  await sql`vacuum analyze`.execute(db);
});
afterAll(async () => {
  await client?.close();
  await database?.drop();
});

/** Returns how many pages of `events` and its indexes `work` looks at. */
async function countPages(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(client.db);
    await sql`select pg_stat_clear_snapshot()`.execute(client.db);
    const { rows } = await sql<{ pages: number }>`
      select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as pages
        from pg_statio_user_tables where relid = 'events'::regclass`.execute(client.db);
    return rows[0]?.pages ?? Number.NaN;
  };
  const before = await read();
  await work();
  return (await read()) - before;
}

const countWaiting = async () =>
  (await sql<{ n: number }>`select count(*)::int as n from events where seq is null`.execute(client.db))
    .rows[0]?.n;

/** Changes `people` people in one statement, beginning with the person who has the number `from` in their name. */
const change = (from: number, people: number) =>
  sql`update users set name = name || ' changed' where split_part(name, ' ', 2)::int between ${from} and ${from + people - 1}`.execute(
    client.db,
  );

it('four times as many changes of people whom a client knows cost four times as much', async () => {
  const pages = await countPages(() => change(1, few));
  const pagesOfMany = await countPages(() => change(few + 1, few * 4));
  expect(await countWaiting()).toBe(few * 5);
  expect(pages).toBeGreaterThan(few);
  expect(pagesOfMany).toBeLessThan(pages * 6);
});

it('a second change in the same transaction costs no more, and is the same event', async () => {
  const waiting = (await countWaiting()) ?? 0;
  const changeTwice = (from: number, people: number) =>
    client.db.transaction().execute(async (trx) => {
      for (const word of ['once', 'twice'])
        await sql`update users set name = ${word} || ' ' || split_part(name, ' ', 2)
          where split_part(name, ' ', 2)::int between ${from} and ${from + people - 1}`.execute(trx);
    });
  const pages = await countPages(() => changeTwice(few * 5 + 1, few));
  const pagesOfMany = await countPages(() => changeTwice(few * 6 + 1, few * 4));
  expect(await countWaiting()).toBe(waiting + few * 5);
  expect(pagesOfMany).toBeLessThan(pages * 6);
});

it('a first launch costs the same, however many events wait', async () => {
  const launch = (n: number) =>
    sql`insert into launches (session_id, client, user_id, sid)
      select s.id, 'network_site', s.user_id, 'sid of ' || s.id from sessions s join users u on u.id = s.user_id
      where u.email = ${`${n}@example.test`}`.execute(client.db);
  const countLaunches = (from: number) =>
    countPages(async () => {
      for (let n = from; n < from + 20; n++) await launch(n);
    });
  const pages = await countLaunches(few * 10 + 1);
  await sql`insert into events (client, type, user_id, body)
    select 'network_site', 'profile.updated', gen_random_uuid(), '{}' from generate_series(1, ${few * 20}::int)`.execute(
    client.db,
  );
  expect(await countLaunches(few * 10 + 101)).toBeLessThan(pages * 2);
});
