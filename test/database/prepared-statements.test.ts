import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { createRateLimits } from '../../server/identity/rate-limits.ts';
import { countRows } from '../support/database.ts';
import { cloneDatabase, connect } from '../support/postgres.ts';

let database: { url: string; drop: () => Promise<void> };
beforeAll(async () => {
  database = await cloneDatabase(inject('templateUrl'));
});
afterAll(() => database.drop());

it.each([
  // One finds the user, one counts the tries.
  ['statements with values are prepared by name where the setting allows it', true, 2],
  ['no statement is prepared by name where the setting forbids it', false, 0],
] as const)('%s', async (_, preparedStatements, expected) => {
  // One connection, because each has prepared statements of its own.
  const { db, close } = connect(database.url, { preparedStatements });
  const { guessLimits } = createRateLimits(db);
  for (const email of ['a@example.test', 'b@example.test', 'c@example.test']) {
    await db.selectFrom('users').select('id').where('email', '=', email).execute();
    await guessLimits.countTry({ account: email, address: '192.0.2.1', device: undefined });
  }
  const { rows } = await sql<{ name: string; statement: string }>`
    select name, statement from pg_prepared_statements`.execute(db);
  await close();
  expect(rows).toHaveLength(expected);
  for (const { name } of rows) expect(name).toMatch(/^s_[0-9a-f]{40}$/);
});

it('a connection keeps at most 500 prepared statements, however many texts it has sent', async () => {
  const { db, close } = connect(database.url);
  for (let at = 0; at < 520; at++) await sql`select ${at}::int as ${sql.ref(`column_${at}`)}`.execute(db);
  const count = await countRows(db, 'pg_prepared_statements');
  await close();
  expect(count).toBe(500);
});

it('a connection is asked once what the columns of a statement are, and not for one that failed', async () => {
  const { db, close } = connect(database.url, { poolSize: 1 });
  const describeColumns = vi.spyOn(
    pg.Connection.prototype as unknown as { describe: () => void },
    'describe',
  );
  const divide = async (by: number | null) =>
    (await sql`select 6 / ${by}::int as quotient, array['a', null] as list, null as nothing`.execute(db))
      .rows;
  try {
    await expect(divide(0)).rejects.toThrow('division by zero');
    // 16 at once are sent before the first is answered.
    const row = (quotient: number | null) => [{ quotient, list: ['a', null], nothing: null }];
    expect(await Promise.all(Array.from({ length: 16 }, () => divide(2)))).toEqual(Array(16).fill(row(3)));
    describeColumns.mockClear();
    await expect(divide(0)).rejects.toThrow('division by zero');
    expect([await divide(3), await divide(null), await divide(1)]).toEqual([row(2), row(null), row(6)]);
    const none = await sql`select 1 as one where ${1}::int = 2`.execute(db);
    expect([none.rows, (await sql`select 1 as one where ${1}::int = 2`.execute(db)).rows]).toEqual([[], []]);
    expect(describeColumns).toHaveBeenCalledTimes(1);
  } finally {
    describeColumns.mockRestore();
    await close();
  }
});

it('a column that became another under a connection is refused, never misread', async () => {
  const { db, close } = connect(database.url, { poolSize: 1 });
  const other = connect(database.url);
  await sql`create table changing (a text, b text)`.execute(db);
  await sql`insert into changing values (${'1'}, '2')`.execute(db);
  const read = async () => (await sql`select a, b from changing where a::text <> ${''}`.execute(db)).rows;
  expect([await read(), await read()]).toEqual([[{ a: '1', b: '2' }], [{ a: '1', b: '2' }]]);
  await sql`alter table changing alter column a type int using a::int`.execute(other.db);
  await expect(read()).rejects.toThrow('cached plan must not change result type');
  await other.close();
  await close();
});
