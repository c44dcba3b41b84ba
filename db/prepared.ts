// Statements of the busiest paths, compiled once: building one with Kysely costs more than running it with pg.
import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { Database } from './client.ts';

/** Stands for a value until the statement runs. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A statement whose text never depends on its values: `build` sees a stand-in for each, so it must only pass
 * them on.
 */
export function prepare<Values extends object, Row>(
  build: (db: Database, values: Values) => Compilable<Row>,
): (db: Database, values: Values) => Promise<QueryResult<Row>> {
  const slots = new Proxy({} as Values, { get: (_, name) => new Slot(String(name)) });
  let compiled: CompiledQuery<Row> | undefined;
  return (db, values) => {
    compiled ??= build(db, slots).compile();
    const parameters = compiled.parameters.map((value) =>
      value instanceof Slot ? values[value.name as keyof Values] : value,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
}
