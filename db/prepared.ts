// Statements of the busiest paths, compiled once: building one with Kysely costs more than running it with pg.
import { type Compilable, type CompiledQuery, Kysely, type QueryResult } from 'kysely';
import type { Database } from './client.ts';
import { dialect } from './dialect.ts';
import type { Reader } from './reader.ts';
import type { DB } from './schema.ts';
import { findOpen } from './transactions.ts';

/** Builds one statement, whose text never depends on its values: it gets a stand-in for each, to be passed on only. */
type Build<Values, Row> = (builder: Database, values: Values) => Compilable<Row>;

/** In a transaction several that do not need each other's answers may be sent at once (`Promise.all`). */
export function prepare<Values extends object, Row>(
  build: Build<Values, Row>,
): (db: Database, values: Values) => Promise<QueryResult<Row>> {
  const compile = compileOnce(build);
  return (db, values) => (findOpen(db)?.connection ?? db).executeQuery(compile(values));
}

/**
 * For writes that nothing is to be learned from. In a transaction they are sent and waited for at its end only; one
 * that fails fails the transaction.
 */
export function prepareWrite<Values extends object>(
  build: Build<Values, unknown>,
): (db: Database, values: Values) => Promise<void> {
  const compile = compileOnce(build);
  return async (db, values) => {
    const open = findOpen(db);
    if (!open) return void (await db.executeQuery(compile(values)));
    const write = open.connection.executeQuery(compile(values));
    write.catch(() => undefined);
    open.writes.push(write);
  };
}

/** For a Reader, past Kysely, whose executor costs more than the rest of the way. */
export function prepareRead<Values extends object, Row>(
  build: Build<Values, Row>,
): (read: Reader, values: Values) => Promise<Row[]> {
  const compile = compileOnce(build);
  return (read, values) => read(compile(values));
}

/** Stands for a value until the statement runs. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

function compileOnce<Values extends object, Row>(build: Build<Values, Row>) {
  let compiled: CompiledQuery<Row> | undefined;
  return (values: Values): CompiledQuery<Row> => {
    compiled ??= build(
      builder,
      new Proxy({} as Values, { get: (_, name) => new Slot(String(name)) }),
    ).compile();
    const parameters = compiled.parameters.map((value) =>
      value instanceof Slot ? values[value.name as keyof Values] : value,
    );
    return { ...compiled, parameters };
  };
}

// Compiles, and runs nothing.
const builder = new Kysely<DB>({ dialect });
