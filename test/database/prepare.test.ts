// A prepared statement has one text for every call, so its values can only be passed on as parameters.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { prepare, prepareDeferred, prepareRead } from '../../db/postgres/prepare.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { createRateLimits } from '../../server/ground/rate-limits.ts';
import { countRows, openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

type Values = { a: string | null; b: string };
type Build = Parameters<typeof prepare<Values, unknown>>[0];

const echo = prepareRead((db, { a, b }: Values) =>
  db.selectNoFrom([sql<string>`${a}::text`.as('a'), sql<string>`${b}::text`.as('b')]),
);

it('a prepared statement gives each call its own values, on the pool, in a transaction and on the reading connection', async () => {
  const expectEcho = async (on: Parameters<typeof echo>[0], values: Values) =>
    expect(await echo(on, values)).toEqual([values]);
  await expectEcho(client.db, { a: '1', b: '2' });
  await expectEcho(client.read, { a: null, b: '3' });
  await inTransaction(client.db, { by: 'service' }, (trx) =>
    Promise.all([expectEcho(trx, { a: '4', b: '5' }), expectEcho(trx, { a: '6', b: '7' })]),
  );
});

it('a prepared statement sees what its own transaction wrote, which the reading connection does not', async () => {
  const find = prepareRead((db, { a }: { a: string }) =>
    db.selectFrom('audit_events').select('type').where('type', '=', a),
  );
  await inTransaction(client.db, { by: 'service' }, async (trx) => {
    await sql`insert into audit_events (id, type) values (gen_random_uuid(), 'seen')`.execute(trx);
    expect(await find(trx, { a: 'seen' })).toEqual([{ type: 'seen' }]);
    expect(await find(client.read, { a: 'seen' })).toEqual([]);
  });
});

const selectText = (db: Parameters<Build>[0], text: unknown) =>
  db.selectNoFrom(sql<string>`${text}::text`.as('text'));

describe.each([
  ['prepare', prepare],
  ['prepareRead', prepareRead],
  ['prepareDeferred', prepareDeferred],
])('%s refuses a statement that uses a value', (_, prepareIt: (build: Build) => unknown) => {
  it.each<[how: string, build: Build]>([
    ['in a template string', (db, { a }) => selectText(db, `${a}`)],
    ['in a concatenation', (db, { b }) => selectText(db, 'b is '.concat(b))],
    ['as JSON', (db, { a }) => selectText(db, JSON.stringify({ a }))],
    ['as JSON with all the others', (db, values) => selectText(db, JSON.stringify(values))],
    ['as a number', (db, { a }) => selectText(db, Number(a))],
    ['compared by size', (db, { a, b }) => selectText(db, (a ?? '') < b ? b : a)],
    ['through a property of it', (db, { b }) => selectText(db, b.length)],
    ['through a method of it', (db, { b }) => selectText(db, b.toLowerCase())],
    ['through its class', (db, { a }) => selectText(db, (a as unknown) instanceof Date ? 'date' : a)],
    ['through what it contains', (db, { a }) => selectText(db, 'x' in Object(a) ? 'x' : a)],
    ['spread into a list', (db, { b }) => selectText(db, [...b])],
    ['through its members', (db, { a }) => selectText(db, Object.keys(a ?? ''))],
    ['after changing it', (db, { a }) => selectText(db, Object.assign(Object(a), { x: 1 }))],
    ['as part of the SQL', (db, { b }) => db.selectNoFrom(sql.raw<string>(b).as('text'))],
    ['as a name in the SQL', (db, { b }) => db.selectNoFrom(sql.ref<string>(b).as('text'))],
    ['as a literal in the SQL', (db, { b }) => db.selectNoFrom(sql.lit(b).as('text'))],
    ['together with all the others', (db, values) => selectText(db, { ...values }.a)],
    ['through whether it is there', (db, values) => selectText(db, 'a' in values ? 'a' : 'b')],
  ])('%s', (_, build) => {
    expect(() => prepareIt(build)).toThrow(/can only be passed on/);
  });

  it.each<[how: string, build: Build]>([
    ['as a condition', (db, { a }) => selectText(db, a ? 'some' : 'none')],
    ['as a condition for itself', (db, values) => selectText(db, values.a === null ? null : values.a)],
    ['as a condition for another value', (db, { a, b }) => selectText(db, a === null ? b : 'a')],
    ['for nothing', (db, { a, b }) => selectText(db, [a, b][0])],
  ])('%s', (_, build) => {
    expect(() => prepareIt(build)).toThrow(/reads the value "[ab]" and does not pass it on/);
  });
});

it.each<[what: string, build: Build]>([
  ['locks', (db, { b }) => db.selectFrom('users').select('id').where('email', '=', b).forUpdate()],
  [
    'waits for others to write',
    (db, { b }) => db.selectFrom('users').select('id').where('email', '=', b).forShare(),
  ],
  ['writes', (db, { b }) => db.deleteFrom('users').where('email', '=', b)],
])('the connection that all share takes no statement that %s', (_, build) => {
  expect(() => prepareRead((db, { b }: Values) => build(db, { a: null, b }))).toThrow('only read');
});

it.each([
  // One statement finds the user, and one counts the tries.
  ['statements with values are prepared by name where the setting allows it', true, 2],
  ['no statement is prepared by name where the setting forbids it', false, 0],
] as const)('%s', async (_, preparedStatements, expected) => {
  // This client has only one connection, because prepared statements belong to a connection.
  const { db, close } = connect(client.url, { preparedStatements });
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
  const { db, close } = connect(client.url);
  for (let at = 0; at < 520; at++) await sql`select ${at}::int as ${sql.ref(`column_${at}`)}`.execute(db);
  const count = await countRows(db, 'pg_prepared_statements');
  await close();
  expect(count).toBe(500);
});

it('a column that became another under a connection is refused, never misread', async () => {
  const { db, close } = connect(client.url, { poolSize: 1 });
  const other = connect(client.url);
  await sql`create table changing (a text, b text)`.execute(db);
  await sql`insert into changing values (${'1'}, '2')`.execute(db);
  const read = async () => (await sql`select a, b from changing where a::text <> ${''}`.execute(db)).rows;
  expect([await read(), await read()]).toEqual([[{ a: '1', b: '2' }], [{ a: '1', b: '2' }]]);
  await sql`alter table changing alter column a type int using a::int`.execute(other.db);
  await expect(read()).rejects.toThrow('cached plan must not change result type');
  await other.close();
  await close();
});
