// Statements of busy paths, compiled once: building one with Kysely costs more than running it with pg.
//
// How to run a statement (`db` is the pool or an open transaction, as its type says):
//
// | Way                              | When                                                                          |
// | -------------------------------- | ----------------------------------------------------------------------------- |
// | Kysely: `db.selectFrom(…)…`      | Everything that is not on a busy path.                                        |
// | `prepare(…)`, run on `db`        | Busy paths. In a transaction, statements that do not need each other's        |
// |                                  | answers can go out together (`Promise.all`). `returning` says what a write    |
// |                                  | did.                                                                          |
// | `prepare(…)`, run on `read`      | What every request reads, on one connection that all share: only statements   |
// |                                  | that find a few rows by an index and wait for no lock.                        |
// | `prepareDeferredWrite(…)`        | Writes on busy paths whose answer nobody needs. In a transaction they go out  |
// |                                  | at once and are awaited before the commit; if one fails, so does all of it.   |
import { type Compilable, type CompiledQuery, DummyDriver, Kysely } from 'kysely';
import type { DB } from '../schema.ts';
import type { Database } from './client.ts';
import { buildDialect } from './dialect.ts';
import type { Reader } from './reader.ts';
import { findOpen } from './transactions.ts';

/**
 * Builds one statement. Its text must not depend on its values, so each value is a stand-in that can only be passed on,
 * as a parameter; anything else throws.
 */
type Build<Values, Row> = (builder: Database, values: Values) => Compilable<Row>;

export function prepare<Values extends object, Row>(
  build: Build<Values, Row>,
): (on: Database | Reader, values: Values) => Promise<Row[]> {
  const fill = compile(build);
  return async (on, values) => {
    const statement = fill(values);
    // A reader goes past Kysely, whose executor costs more than the rest of the way.
    if (typeof on === 'function') return on(statement);
    return (await (findOpen(on)?.connection ?? on).executeQuery(statement)).rows;
  };
}

export function prepareDeferredWrite<Values extends object>(
  build: Build<Values, unknown>,
): (db: Database, values: Values) => Promise<void> {
  const fill = compile(build);
  return async (db, values) => {
    const open = findOpen(db);
    if (!open) return void (await db.executeQuery(fill(values)));
    const write = open.connection.executeQuery(fill(values));
    // Not unhandled: the transaction awaits it.
    write.catch(() => undefined);
    open.writes.push(write);
  };
}

/** The statement for the values of each call. Throws where its text could depend on them. */
function compile<Values extends object, Row>(
  build: Build<Values, Row>,
): (values: Values) => CompiledQuery<Row> {
  const names = new Map<unknown, keyof Values>();
  const standIns = refuseAllBut<Values>('The values of a prepared statement', {
    // A new one each time: where a value is also looked at (`a === null ? … : a`), one of them goes nowhere.
    get(_, name) {
      const standIn = createStandIn(String(name));
      names.set(standIn, name as keyof Values);
      return standIn;
    },
  });
  const compiled = build(builder, standIns).compile();
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
  // Kysely asks so whether it is an expression.
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

// Compiles, and runs nothing.
const builder = new Kysely<DB>({ dialect: buildDialect(new DummyDriver()) });
