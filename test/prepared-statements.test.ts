import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openDatabase } from '../db/client.ts';
import { createRateLimits } from '../server/identity/rate-limits.ts';
import { cloneDatabase } from './support/postgres.ts';

let database: { url: string; drop: () => Promise<void> };
beforeAll(async () => {
  database = await cloneDatabase(inject('templateUrl'));
});
afterAll(() => database.drop());

it.each([
  // One finds the user, one counts the tries.
  [true, 2],
  [false, 0],
])('statements with values are prepared by name: %s', async (preparedStatements, expected) => {
  // One connection, because each has prepared statements of its own.
  const client = openDatabase({
    url: database.url,
    poolSize: 1,
    preparedStatements,
    onError: () => undefined,
  });
  const { db, close } = client;
  const { guessLimits } = createRateLimits(client);
  for (const email of ['a@example.test', 'b@example.test', 'c@example.test']) {
    await db.selectFrom('users').select('id').where('email', '=', email).execute();
    await guessLimits.countTry(email, '192.0.2.1');
  }
  const { rows } = await sql<{ name: string; statement: string }>`
    select name, statement from pg_prepared_statements`.execute(db);
  await close();
  expect(rows).toHaveLength(expected);
  for (const { name } of rows) expect(name).toMatch(/^s_[0-9a-f]{40}$/);
});

it('names no more than 500, however many texts there are', async () => {
  const options = { url: database.url, poolSize: 1, preparedStatements: true, onError: () => undefined };
  const { db, close } = openDatabase(options);
  for (let at = 0; at < 520; at++) await sql`select ${at}::int as ${sql.ref(`column_${at}`)}`.execute(db);
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`.execute(
    db,
  );
  await close();
  expect(rows[0]?.n).toBe(500);
});
