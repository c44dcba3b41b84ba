import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createRateLimits } from '../../server/ground/rate-limits.ts';
import { countRows } from '../support/database/database.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';

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
  const { guessLimits } = createRateLimits(db, () => undefined);
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
