// The one way to Postgres. Nothing else but statement.ts imports pg.
//
// Connections are pipelined: a statement is sent without waiting for the answers to those before it.
//
// Every statement with parameters is sent as a named prepared statement: measured at 2.8 times the speed of
// the same statement unnamed. The name is a digest of the text, so a pooler that shares prepared statements
// between clients (PgBouncer from 1.21) shares right; an older one cannot, and a setting turns names off.
import { nextTick } from 'node:process';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DB } from '../schema.ts';
import { breaksConnection, buildAway, isReadOnly, isSilence } from './away.ts';
import { type Connection, createReader, type Reader } from './reader.ts';
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
      return wrapClient(pool, client, run);
    } catch (error) {
      refused++;
      throw error;
    }
  };
  return {
    db: new Kysely<DB>({ dialect: new PostgresDialect({ pool: { connect, end: () => pool.end() } }) }),
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
async function requirePrimary(run: Runner, client: pg.PoolClient): Promise<void> {
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

/** Says for whom a transaction works: setOrigin in transactions.ts. */
export const setOriginText = "select set_config('identity.origin', $1, true)";

/** Without triggers. Most hand-offs write to no others, and are 5 % faster without an origin. */
export const tablesWithoutHistory = ['audit_events', 'nonces', 'pending_hand_offs'];
const leavesNoHistory = new RegExp(
  `^(select |commit|rollback|insert into "(${tablesWithoutHistory.join('|')})" )`,
);

function wrapClient(pool: pg.Pool, client: pg.PoolClient, run: Runner): Connection {
  // A client that broke under a query must leave the pool, or the next request gets it.
  let broken = false;
  let answers = 0;
  const note = (error: unknown, answersBefore: number) => {
    broken ||= breaksConnection(error);
    // What befell this connection has then befallen those that do nothing, too.
    if (isReadOnly(error) || (isSilence(error) && answers === answersBefore)) dropIdle(pool);
    if (!isSilence(error)) answers++;
  };
  let isInTransaction = false;
  // Held back until a statement needs it.
  let origin: unknown[] | undefined;
  let failedAhead: unknown;
  const query = async (text: string, values: unknown[]) => {
    isInTransaction ||= text === 'begin';
    if (text === setOriginText) {
      origin = values;
      return { command: 'SELECT', rowCount: null, rows: [] };
    }
    collectWrites(client, isInTransaction ? nextTick : setImmediate);
    const answersBefore = answers;
    // What comes next is right behind it on the wire, and fails where it fails.
    const sendAhead = (ahead: string, its: unknown[]) => {
      run(client, ahead, its).catch((error) => {
        failedAhead ??= error;
        note(error, answersBefore);
      });
    };
    if (origin && !leavesNoHistory.test(text)) {
      sendAhead(setOriginText, origin);
      origin = undefined;
    }
    if (text === 'begin') {
      sendAhead(text, values);
      return { command: 'BEGIN', rowCount: null, rows: [] };
    }
    try {
      const result = await run(client, text, values);
      answers++;
      return result;
    } catch (error) {
      note(error, answersBefore);
      // In a transaction that has failed already: the first failure is the reason.
      throw (error as { code?: string }).code === '25P02' && failedAhead ? failedAhead : error;
    }
  };
  return {
    // Kysely's other overload takes a cursor, which only its `stream` uses.
    query: query as never,
    release() {
      client.release(broken);
      // Not politely: a server that is silent does not say good-bye either.
      if (broken) streamOf(client).destroy();
    },
    leave() {
      client.release(true);
      // They may be as silent, and whoever goes on must not get one of them.
      dropIdle(pool);
    },
  };
}

function dropIdle(pool: pg.Pool): void {
  for (let left = pool.idleCount; left > 0; left--) {
    pool.connect().then(
      (client) => {
        client.release(true);
        streamOf(client).destroy();
      },
      () => undefined,
    );
  }
}

// Every client of a pool is a pg.Client, though the types say less.
const streamOf = (client: pg.PoolClient) => (client as unknown as pg.Client).connection.stream;

/**
 * What is sent until `end` leaves in one write and wakes Postgres once. In a transaction that is before the event loop goes
 * on, such as `begin` and what follows: 8 % of a signup, and a later end would keep Postgres waiting. Elsewhere it is what
 * all requests of one turn read: a tenth of a profile.
 */
function collectWrites(client: pg.PoolClient, end: (uncork: () => void) => void): void {
  const stream = streamOf(client);
  if (stream.writableCorked > 0) return;
  stream.cork();
  end(() => stream.uncork());
}

type Runner = (client: pg.PoolClient, text: string, values: unknown[]) => Promise<pg.QueryResult>;

function buildRunner(preparedStatements: boolean): Runner {
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
function watchSilence(run: Runner, statementTimeoutMs: number): Runner {
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
