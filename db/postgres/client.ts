// All access to Postgres goes through a pool. Kysely sends statements on connections of the pool. Small reads of many requests
// share one connection (reader.ts), and each transaction has its own (transactions.ts). Postgres ends a statement after
// `statementTimeoutMs`. If Postgres does not answer even then, the connection is closed (connection.ts).
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { DB } from '../schema.ts';
import { buildAway } from './away.ts';
import { Client, type Connection, createConnections } from './connection.ts';
import { createReader, type Reader } from './reader.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { Turns } from './turns.ts';

/** The pool, or an open transaction. */
export type Database = Kysely<DB>;

export type DatabaseOptions = {
  url: string;
  poolSize: number;
  preparedStatements: boolean;
  /** 5 s by default; 0 means no limit. */
  statementTimeoutMs?: number;
  connectTimeoutMs?: number;
  /**
   * Returns the key under which a person or an IP address takes turns at the pool. Without this function, each person and each
   * IP address has a key of its own.
   */
  keyOf?: (asker: string) => string | undefined;
  /** Called when a connection breaks. Without a listener, the error would end the process. */
  onError: (error: Error) => void;
};

export type DatabaseClient = {
  db: Database;
  read: Reader;
  /** Uses its own connection, so neither locks nor a full pool delay it. Throws if the server is silent or read-only. */
  readClock: () => Promise<Date>;
  /** `refused` counts the requests since the start that got no connection. */
  countConnections: () => { all: number; idle: number; waiting: number; refused: number };
  countReads: () => number;
  countRefusals: () => Refusals;
  close: () => Promise<void>;
};

// At most this many requests may wait for each connection. Any further request is refused, because it would wait for too long.
const maxWaiting = 30;
const idleInTransactionTimeoutMs = 10_000;

// Sends dates to Postgres in UTC. As local time, an old date would lose seconds, because the offsets of time zones formerly had
// seconds.
pg.defaults.parseInputDatesAsUTC = true;

/** Connects on first use. `close` waits for queries under way. */
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
      // Each person or IP address gets at most half of the pool, so that a locked row delays one person and not everybody.
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

  // We wait a little longer than the server's own timeout, because the server's error message says more than ours.
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
      // New connections are checked here and not by the pool's own `verify`. If a request stopped waiting during the check,
      // `verify` would lose the connection.
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
  /** Each person takes turns at the pool. If the person is not known, the IP address takes turns instead. */
  turns: Turns;
  /** Connects for statements outside a transaction. */
  connectForStatement?: () => Promise<Connection>;
};

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
 * Serves a request that reads a lot. All its statements share one connection of the pool, but each transaction still has its own.
 */
export function onOneConnection(db: Database): Database {
  const { connect, turns } = requirePool(db);
  return new PooledDatabase(connect, { turns, connectForStatement: shareConnection(connect) });
}

export function requirePool(db: Database): PooledDatabase {
  if (!(db instanceof PooledDatabase)) throw new Error('Transactions are opened on the pool.');
  return db;
}

/** The connection goes back to the pool when its last user releases it. */
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

export function buildDialect(connect: () => Promise<Connection>, end = async () => {}): PostgresDialect {
  const connectForKysely = async () => (await connect()) as object as PostgresPoolClient;
  return new PostgresDialect({ pool: { connect: connectForKysely, end } });
}

/** Throws on a standby. A standby may lag behind, and show sessions that have ended. */
async function requirePrimary(connection: Connection): Promise<void> {
  try {
    await askPrimary(connection);
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

async function askPrimary(connection: Connection): Promise<Date> {
  const { rows } = await connection.query(
    `select clock_timestamp() as at, current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
    [],
  );
  if (rows[0]?.isReadOnly) throw buildAway('25006', 'The database is read-only.');
  return rows[0]?.at;
}
