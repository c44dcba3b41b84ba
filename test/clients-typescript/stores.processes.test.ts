// The stores of the kit for TypeScript behave alike in memory, on Postgres and on SQLite.
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createMemoryStores, createSqlStores, sqlTables } from '../../clients/typescript/src/index.ts';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { run } from '../support/app/process.ts';
import { checkStores, profileOf } from '../support/clients/kit-stores.ts';
import { connect, emptyDatabase, type TestDatabase } from '../support/database/postgres.ts';

let database: TestDatabase;
let client: DatabaseClient;
beforeAll(async () => {
  database = await emptyDatabase(inject('templateUrl'));
  client = connect(database.url, { poolSize: 8 });
});
afterAll(async () => {
  await client.close();
  await database.drop();
});

const query = (text: string, params: unknown[]) =>
  client.db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, params));

function expectAllRight(results: { what: string; was: string; expected: string }[]): void {
  expect(results.filter(({ was, expected }) => was !== expected)).toEqual([]);
  expect(results.length).toBeGreaterThan(19);
}

it('in memory', async () => {
  expectAllRight(await checkStores(createMemoryStores()));
});

it('on Postgres, where two clients may share a database', async () => {
  for (const prefix of ['identity_', 'other_']) {
    for (const statement of [...sqlTables(prefix), ...sqlTables(prefix)]) await query(statement, []);
    const stores = createSqlStores(query, { prefix });
    expectAllRight(await checkStores(stores));
    const count = async () => {
      const { rows } = await sql<{ count: number }>`select
        ((select count(*) from ${sql.table(`${prefix}nonces`)}) +
        (select count(*) from ${sql.table(`${prefix}ended_logins`)}))::int as count`.execute(client.db);
      return rows[0]?.count;
    };
    const claim = await stores.position.claim();
    await query(`update ${prefix}position set holder = 'another', signs = signs + 1`, []);
    expect(await claim?.advance(99)).toBe(false);
    await claim?.release();
    const { rows } = await query(`select seq, holder from ${prefix}position`, []);
    expect(rows).toEqual([{ seq: expect.anything(), holder: 'another' }]);
    expect(Number(rows[0]?.seq)).toBeLessThan(99);
    await stores.sweep();
    expect(await count()).toBe(3);
    // A sweep by a process whose clock is ten minutes ahead deletes nothing too early.
    await stores.sweep(new Date(Date.now() + 1_190_000));
    expect(await count()).toBe(3);
    await stores.sweep(new Date(Date.now() + 1_201_000));
    expect(await count()).toBe(0);
  }
  expect(() => createSqlStores(query, { prefix: 'x; drop table users; --' })).toThrow(TypeError);
});

it('on SQLite', async () => {
  const deno = run('deno', ['test/support/clients/kit-stores.ts']);
  expect(await deno.exited, deno.output()).toBe(0);
  expectAllRight(JSON.parse(deno.output()));
});

it('stores in memory let no pull wait for long', async () => {
  const { position } = createMemoryStores();
  const first = await position.claim();
  expect(await Promise.all([position.claim(), position.claim()])).toEqual([undefined, undefined]);
  await first?.release();
  expect((await position.claim())?.position).toBe(0);
});

it('stores in memory keep no more than they must', async () => {
  let now = new Date(1_000_000);
  const { nonces, endedLogins, profiles } = createMemoryStores({ now: () => now });
  await nonces.consume('n', 1_600);
  await endedLogins.add('s', 1_600);
  now = new Date(1_601_000);
  expect(await nonces.consume('other', 2_000)).toBe(true);
  await endedLogins.add('other', 2_000);
  expect([await nonces.consume('n', 2_000), await endedLogins.has('s')]).toEqual([true, false]);
  const first = profileOf('First', 1);
  await profiles.apply(first);
  for (let n = 0; n < 10_000; n++) await profiles.apply({ ...first, id: String(n) });
  expect(await profiles.find(first.id)).toBeUndefined();
});
