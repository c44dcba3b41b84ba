// Statements of busy paths, built once: building one with Kysely costs more than running it. How to run a statement (`db` is
// the pool or an open transaction):
//
// | Way                              | When                                                                          |
// | -------------------------------- | ----------------------------------------------------------------------------- |
// | Kysely: `db.selectFrom(…)…`      | Everything that is not on a busy path.                                        |
// | `prepare(…)`, run on `db`        | Busy paths. A transaction can send several together (`Promise.all`).          |
// | `prepareRead(…)`, run on `read`  | What every request reads, on one shared connection. Also runs on `db`.        |
// | `prepareDeferred(…)`             | Writes on busy paths whose answer nobody needs. The name begins with `defer`. |
import { type Compilable, type CompiledQuery, Kysely, SelectQueryNode, type Transaction } from 'kysely';
import type { DB } from '../schema.ts';
import { buildDialect, type Database } from './client.ts';
import type { Reader, SharedRead } from './reader.ts';
import { connectionOf, findOpen } from './transactions.ts';

/** Each value is a stand-in that can only be passed on as a parameter, so the statement's text cannot depend on the values. */
type Build<Values, Row> = (builder: Database, values: Values) => Compilable<Row>;

export function prepare<Values extends object, Row>(
  build: Build<Values, Row>,
): (db: Database, values: Values) => Promise<Row[]> {
  const fill = compile(build);
  return (db, values) => run(db, fill(values));
}

/** Throws unless the statement is a select without locks. The statement must find few rows, by an index. */
export function prepareRead<Values extends object, Row>(
  build: Build<Values, Row>,
): (on: Database | Reader, values: Values) => Promise<Row[]> {
  const fill = compile(build, (query) => {
    if (!SelectQueryNode.is(query) || query.endModifiers)
      throw new Error('On the connection that all share, statements only read, and lock nothing.');
  });
  return (on, values) => {
    const statement = fill(values) as SharedRead<Row>;
    return typeof on === 'function' ? on(statement) : run(on, statement);
  };
}

/**
 * The statement is sent immediately. Its answer is awaited before the transaction ends. If the statement fails, the transaction
 * fails with its error.
 */
export function prepareDeferred<Values extends object>(
  build: Build<Values, unknown>,
): (trx: Transaction<DB>, values: Values) => void {
  const fill = compile(build);
  return (trx, values) => {
    const { sql: text, parameters } = fill(values);
    void connectionOf(trx).query(text, parameters);
  };
}

/** Kysely's executor takes more time than all other work here, so statements of a transaction bypass it. */
async function run<Row>(db: Database, statement: CompiledQuery<Row>): Promise<Row[]> {
  const open = findOpen(db);
  if (!open) return (await db.executeQuery(statement)).rows;
  return (await open.connection.query(statement.sql, statement.parameters)).rows;
}

/** Throws if the statement's text could depend on the values. */
function compile<Values extends object, Row>(
  build: Build<Values, Row>,
  check: (query: CompiledQuery['query']) => void = () => {},
): (values: Values) => CompiledQuery<Row> {
  const names = new Map<unknown, keyof Values>();
  const standIns = refuseAllBut<Values>('The values of a prepared statement', {
    // Each read of a value returns a new stand-in. If the code tests a value (`a === null ? … : a`), the stand-in that was
    // tested is never passed on as a parameter. The check below notices that, and throws.
    get(_, name) {
      const standIn = createStandIn(String(name));
      names.set(standIn, name as keyof Values);
      return standIn;
    },
  });
  const compiled = build(builder, standIns).compile();
  check(compiled.query);
  for (const [standIn, name] of names) {
    if (!compiled.parameters.includes(standIn))
      throw new Error(`A prepared statement reads the value "${String(name)}" and does not pass it on.`);
  }
  const parameters = compiled.parameters.map((value) => ({ value, name: names.get(value) }));
  return (values) => ({
    ...compiled,
    parameters: parameters.map(({ value, name }) => (name === undefined ? value : values[name])),
  });
}

function createStandIn(name: string): object {
  const what = `The value "${name}" of a prepared statement`;
  // Kysely reads these properties to find out whether a value is an expression.
  const asked = new Set<string | symbol>(['expression', 'expressionType', 'toOperationNode']);
  return refuseAllBut(what, {
    has: (_, property) => !asked.has(property) && refuse(what),
    get: (_, property) => (asked.has(property) ? undefined : refuse(what)),
  });
}

function refuseAllBut<T extends object>(what: string, allowed: ProxyHandler<T>): T {
  const traps = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'set'] as const;
  const refusing = Object.fromEntries(traps.map((trap) => [trap, () => refuse(what)]));
  return new Proxy({} as T, { ...refusing, ...allowed });
}

function refuse(what: string): never {
  throw new Error(`${what} can only be passed on: the text must be the same for every call.`);
}

const connect = () => Promise.reject(new Error('It only compiles.'));
const builder = new Kysely<DB>({ dialect: buildDialect(connect) });
