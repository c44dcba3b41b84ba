// The one way to Postgres. Nothing else but connection.ts and statement.ts imports pg.
//
// Connections are pipelined: a statement is sent without waiting for the answers to those before it.
//
// Every statement with parameters is sent as a named prepared statement: measured at 2.8 times the speed of
// the same statement unnamed. The name is a digest of the text, so a pooler that shares prepared statements
// between clients (PgBouncer from 1.21) shares right; an older one cannot, and a setting turns names off.
import { type Compilable, CompiledQuery, type DatabaseConnection, type Driver, Kysely } from 'kysely';
import pg from 'pg';
import type { DB } from '../schema.ts';
import { buildAway } from './away.ts';
import { buildConnection, type Connection, type Run, streamOf } from './connection.ts';
import { buildDialect } from './dialect.ts';
import { createReader, type Reader } from './reader.ts';
import { createSilenceWatch } from './silence.ts';
import { runPrepared } from './statement.ts';

export type Database = Kysely<DB>;

export type DatabaseOptions = {
  url: string;
  poolSize: number;
  preparedStatements: boolean;
  /** How long a statement may take; 5 s unless told, 0 is without end. */
  statementTimeoutMs?: number;
  /** Called when a connection breaks. Without a listener on every client, a killed Postgres kills the process. */
  onError: (error: Error) => void;
};

export type DatabaseClient = {
  db: Database;
  read: Reader;
  /**
   * The connections of the pool, how many of them do nothing, how many requests wait for one, and how many have waited
   * in vain since the start.
   */
  countConnections: () => { all: number; idle: number; waiting: number; refused: number };
  /** Statements under way by `read`. */
  countReads: () => number;
  close: () => Promise<void>;
};

// For a connection, whether there is one to wait for or a new one.
const connectTimeoutMs = 2_500;
// Where so many wait for each connection, one more would wait for too long.
const maxWaiting = 30;
const idleInTransactionTimeoutMs = 10_000;

// More distinct texts than this only come from a mistake (values in the text); unnamed, they cost
// speed, named, they would cost memory here and in every connection.
const maxNamedStatements = 500;

// Instants go out in UTC: in a local zone of long ago they would lose the odd seconds of its offset.
pg.defaults.parseInputDatesAsUTC = true;

/** Opens the pool; connects on first use. `close` waits for queries under way. */
export function openDatabase({ statementTimeoutMs = 5_000, ...options }: DatabaseOptions): DatabaseClient {
  const run = watchSilence(buildRunner(options.preparedStatements), statementTimeoutMs);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
    pipeline: true,
    application_name: 'identity-service',
  });
  pool.on('error', options.onError);
  pool.on('connect', (client) => client.on('error', options.onError));

  const known = new WeakSet<pg.PoolClient>();
  let refused = 0;
  const connect = async () => {
    try {
      if (pool.waitingCount >= maxWaiting * options.poolSize)
        throw buildAway('53000', 'Too many wait for a connection already.');
      const client = await pool.connect();
      // Not by the pool's `verify`: where whoever waits gives up while it runs, the pool never gets the connection back.
      if (!known.has(client)) await requirePrimary(run, client);
      known.add(client);
      return buildConnection(pool, client, run);
    } catch (error) {
      refused++;
      throw error;
    }
  };
  const db = new Kysely<DB>({ dialect: buildDialect(buildDriver(connect, () => pool.end())) });
  // One compiled statement goes past Kysely's executor, which costs more than the rest of the way.
  db.executeQuery = async <Row>(query: CompiledQuery<Row> | Compilable<Row>) => {
    const connection = await connect();
    try {
      return await connection.executeQuery<Row>('compile' in query ? query.compile() : query);
    } finally {
      connection.release();
    }
  };
  return {
    db,
    ...createReader(connect),
    countConnections: () => ({
      all: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      refused,
    }),
    close: () => pool.end(),
  };
}

/** A standby may lag behind: what it says of a session may be over. Gives the connection up where it is none. */
async function requirePrimary(run: Run, client: pg.PoolClient): Promise<void> {
  try {
    const { rows } = await run(
      client,
      `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
      [],
    );
    if (rows[0]?.isReadOnly) throw buildAway('25006', 'The database is read-only.');
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Kysely's own makes a copy of the values and of each answer. */
function buildDriver(connect: () => Promise<Connection>, end: () => Promise<void>): Driver {
  const build = (text: string) => {
    const statement = CompiledQuery.raw(text);
    return async (on: DatabaseConnection) => void (await on.executeQuery(statement));
  };
  const begin = build('begin');
  return {
    init: async () => undefined,
    acquireConnection: connect,
    releaseConnection: async (connection) => (connection as Connection).release(),
    beginTransaction: (connection, { isolationLevel }) =>
      (isolationLevel ? build(`start transaction isolation level ${isolationLevel}`) : begin)(connection),
    commitTransaction: build('commit'),
    rollbackTransaction: build('rollback'),
    destroy: end,
  };
}

function buildRunner(preparedStatements: boolean): Run {
  // pg copies what it is given for each run, so it gets no more than it needs.
  const named = new Map<string, pg.QueryConfig>();
  let naming: Promise<string> | undefined;
  return async (client, text, values) => {
    // Statements go out in the order of the calls, also while one is getting its name.
    while (naming) await naming;
    if (values.length === 0) return client.query(text);
    let statement = named.get(text);
    if (!statement && preparedStatements && named.size < maxNamedStatements) {
      naming = nameStatement(text);
      statement = { text, name: await naming };
      naming = undefined;
      named.set(text, statement);
    }
    return statement ? runPrepared(client, statement, values) : client.query(text, values);
  };
}

/** A little later than the server's own timeout, which says more. 0 is without end. */
function watchSilence(run: Run, statementTimeoutMs: number): Run {
  if (statementTimeoutMs === 0) return run;
  const watch = createSilenceWatch<pg.PoolClient>(statementTimeoutMs + 200, (client) =>
    streamOf(client).destroy(new Error('query read timeout')),
  );
  return (client, text, values) => watch(client, run(client, text, values));
}

async function nameStatement(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `s_${Array.from(digest.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
