// The one way to Postgres: a pool, and the three ways to use it. Kysely runs a statement on it, `read` runs small ones of many
// requests on one connection (reader.ts), and transactions.ts opens transactions. `readClock` has a connection beside the pool.
// A statement that hangs is ended by Postgres after `statementTimeoutMs` (the service gives 2.3 s); if nothing comes back then
// either, its connection is closed (connection.ts).
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { DB } from '../schema.ts';
import { buildAway } from './away.ts';
import { Client, type Connection, createConnections } from './connection.ts';
import { createReader, type Reader } from './reader.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { Turns } from './turns.ts';

/** What statements run on: the pool, or a transaction under way. */
export type Database = Kysely<DB>;

export type DatabaseOptions = {
  url: string;
  poolSize: number;
  preparedStatements: boolean;
  /** How long a statement may take; 5 s unless told, 0 is without end. */
  statementTimeoutMs?: number;
  /** How long to wait for a connection, whether for one of the pool or for a new one. */
  connectTimeoutMs?: number;
  /** The key of a person or address under which transactions take turns, if it is another. */
  keyOf?: (asker: string) => string | undefined;
  /** Called when a connection breaks. Without a listener on every client, a killed Postgres kills the process. */
  onError: (error: Error) => void;
};

export type DatabaseClient = {
  db: Database;
  read: Reader;
  /**
   * The time by the server's clock. Reads no table, and has a connection of its own, opened on first use: neither what is locked
   * nor what waits for the pool holds it up. Throws if the server does not answer, or takes no writes.
   */
  readClock: () => Promise<Date>;
  /** The pool's connections, those that are idle, requests that wait for one, and requests that got none since the start. */
  countConnections: () => { all: number; idle: number; waiting: number; refused: number };
  /** How many statements of `read` are under way. */
  countReads: () => number;
  /** What the server refused. */
  countRefusals: () => Refusals;
  close: () => Promise<void>;
};

// If so many wait for each connection, one more would wait for too long.
const maxWaiting = 30;
const idleInTransactionTimeoutMs = 10_000;

// Instants go out in UTC: in a local zone of long ago they would lose the odd seconds of its offset.
pg.defaults.parseInputDatesAsUTC = true;

/** Opens the pool; connects on first use. `close` waits for queries under way. */
export function openDatabase(options: DatabaseOptions): DatabaseClient {
  const refusals = createRefusals();
  const { pool, connect, countRefused } = openPool(options, refusals.count);
  const clock = openPool({ ...options, poolSize: 1 }, refusals.count);
  const close = async () => {
    await Promise.all([pool.end(), clock.pool.end()]);
  };
  return {
    db: new PooledDatabase(connect, {
      end: close,
      // Half of the pool, so that a row that is locked holds up one person, and not everybody.
      turns: new Turns({ each: Math.ceil(options.poolSize / 2), keyOf: options.keyOf }),
    }),
    ...createReader(connect),
    async readClock() {
      const connection = await clock.connect();
      try {
        return await askPrimary(connection);
      } finally {
        connection.release();
      }
    },
    countConnections: () => {
      const { totalCount: all, idleCount: idle, waitingCount: waiting } = pool;
      return { all, idle, waiting, refused: countRefused() };
    },
    countRefusals: refusals.read,
    close,
  };
}

function openPool(
  { statementTimeoutMs = 5_000, connectTimeoutMs = 2_500, ...options }: DatabaseOptions,
  onRefused: (error: unknown) => void,
) {
  const pool = new pg.Pool({
    Client: Client as never,
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

  // A little later than the server's own timeout, which says more.
  const silenceMs = statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs + 100;
  const buildConnection = createConnections(pool, options.preparedStatements, silenceMs, onRefused);
  const known = new WeakSet<pg.PoolClient>();
  let refused = 0;
  const connect = async () => {
    try {
      if (pool.waitingCount >= maxWaiting * options.poolSize)
        throw buildAway('53000', 'Too many wait for a connection already.');
      const client = await pool.connect().catch((error) => {
        onRefused(error);
        throw error;
      });
      const connection = buildConnection(client);
      // Not by the pool's `verify`: if a request gives up waiting while `verify` runs, the pool never gets the connection back.
      if (!known.has(client)) await requirePrimary(connection);
      known.add(client);
      return connection;
    } catch (error) {
      refused++;
      throw error;
    }
  };
  return { pool, connect, countRefused: () => refused };
}

type PoolUse = {
  end?: () => Promise<void>;
  /** Whose transactions may be open: those of one person, or of one address if nobody knows the person. */
  turns: Turns;
  /** The connection for a statement outside a transaction; one of its own, unless told. */
  connectForStatement?: () => Promise<Connection>;
};

/** The `db` of a client, which can also open transactions. */
export class PooledDatabase extends Kysely<DB> {
  readonly connect: () => Promise<Connection>;
  readonly turns: Turns;
  constructor(connect: () => Promise<Connection>, { end, turns, connectForStatement = connect }: PoolUse) {
    super({ dialect: buildDialect(connectForStatement, end) });
    this.connect = connect;
    this.turns = turns;
  }
}

/**
 * The same database for one request that reads much: what it asks at once goes over one connection of the pool, and is answered in
 * turn. A transaction still has its own.
 */
export function onOneConnection(db: Database): Database {
  const { connect, turns } = requirePool(db);
  return new PooledDatabase(connect, { turns, connectForStatement: shareConnection(connect) });
}

export function requirePool(db: Database): PooledDatabase {
  if (!(db instanceof PooledDatabase)) throw new Error('Transactions are opened on the pool.');
  return db;
}

/** The result gives the same connection to all who have it at once. It goes back to the pool with the last of them. */
function shareConnection(connect: () => Promise<Connection>): () => Promise<Connection> {
  let shared: { connection: Promise<Connection>; users: number } | undefined;
  return async () => {
    shared ??= { connection: connect(), users: 0 };
    const own = shared;
    own.users++;
    const isLast = () => {
      own.users--;
      if (own.users === 0 && shared === own) shared = undefined;
      return own.users === 0;
    };
    try {
      const connection = await own.connection;
      return { ...connection, release: () => isLast() && connection.release() };
    } catch (error) {
      isLast();
      throw error;
    }
  };
}

/** Kysely's own for Postgres, on connections of ours, which open no cursors. */
export function buildDialect(connect: () => Promise<Connection>, end = async () => {}): PostgresDialect {
  const connectForKysely = async () => (await connect()) as object as PostgresPoolClient;
  return new PostgresDialect({ pool: { connect: connectForKysely, end } });
}

/** A standby may lag behind, and show sessions that are over. Gives the connection up if the server is no primary. */
async function requirePrimary(connection: Connection): Promise<void> {
  try {
    await askPrimary(connection);
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

/** The time by the clock of the server. Throws if it is read-only. */
async function askPrimary(connection: Connection): Promise<Date> {
  const { rows } = await connection.query(
    `select clock_timestamp() as at, current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
    [],
  );
  if (rows[0]?.isReadOnly) throw buildAway('25006', 'The database is read-only.');
  return rows[0]?.at;
}
