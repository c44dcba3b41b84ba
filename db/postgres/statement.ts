// A prepared statement whose columns are described once on each connection. pg asks for them with every run, and goes over
// each of them again, which took a tenth of a launch. They cannot change while the statement lasts: Postgres refuses to run it
// then ("cached plan must not change result type").
import pg from 'pg';

type Columns = { fields: unknown[]; _parsers: unknown; _prebuiltEmptyResultObject: unknown };

// What pg leaves out of its types. `_accumulateRows`: set by a description where rows are to be kept.
interface PgQuery {
  name: string;
  _result: Columns;
  _accumulateRows: boolean;
  prepare(connection: pg.Connection): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
}
type Answer = (error: Error | null, result: pg.QueryResult) => void;
const Query = pg.Query as unknown as new (
  config: pg.QueryConfig,
  values: unknown[],
  answer: Answer,
) => PgQuery;

type Known = { columns: Map<string, Columns>; undescribing: pg.Connection };
const known = new WeakMap<pg.Connection, Known>();

class Statement extends Query {
  override prepare(connection: pg.Connection): void {
    const { columns, undescribing } = knowledgeOf(connection);
    const described = columns.get(this.name);
    if (described) {
      Object.assign(this._result, described);
      this._accumulateRows = true;
    }
    super.prepare(described ? undescribing : connection);
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    super.handleCommandComplete(message, connection);
    const { columns } = knowledgeOf(connection);
    if (columns.has(this.name)) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    columns.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

function knowledgeOf(connection: pg.Connection): Known {
  let its = known.get(connection);
  if (!its) {
    const undescribing = Object.assign(Object.create(connection), { describe: () => undefined });
    its = { columns: new Map(), undescribing };
    known.set(connection, its);
  }
  return its;
}

export async function runPrepared(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  values: unknown[],
): Promise<pg.QueryResult> {
  try {
    return await new Promise((done, failed) => {
      const answer: Answer = (error, result) => (error ? failed(error) : done(result));
      client.query(new Statement(statement, values, answer) as never);
    });
  } catch (error) {
    // As pg does: who asked, rather than that an answer came.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}
