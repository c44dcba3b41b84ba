// One connection of the pool, as Kysely and the readers use it: pipelined, with writes that leave together, and out of the
// pool once it is broken.
import { nextTick } from 'node:process';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import type pg from 'pg';
import { breaksConnection, isReadOnly, isSilence } from './away.ts';

export type Connection = DatabaseConnection & {
  /** Gives it back to the pool. */
  release: () => void;
  /** Takes it out of the pool at once. What was asked is still answered. */
  leave: () => void;
};

/** Runs a statement on a connection of the pool. */
export type Run = (client: pg.PoolClient, text: string, values: unknown[]) => Promise<pg.QueryResult>;

/** Says for whom a transaction works: setOrigin in transactions.ts. */
export const setOriginText = "select set_config('identity.origin', $1, true)";

/** What most hand-offs and logins write to: without an origin, and a statement less, they are faster. */
export const tablesWithoutHistory = [
  'audit_events',
  'devices',
  'mails',
  'nonces',
  'pending_hand_offs',
  'rate_limits',
  'sessions',
];
const leavesNoHistory = new RegExp(
  // These two functions of the database write to accounts and links.
  `^(select (?!(know_sources|settle_rights)\\()|commit|rollback|(insert into|update) "(${tablesWithoutHistory.join('|')})" )`,
);

const nothing = { rows: [] };

export function buildConnection(pool: pg.Pool, client: pg.PoolClient, run: Run): Connection {
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
  // What comes next is right behind it on the wire, and fails where it fails.
  const sendAhead = (text: string, values: unknown[]) => {
    const answersBefore = answers;
    run(client, text, values).catch((error) => {
      failedAhead ??= error;
      note(error, answersBefore);
    });
  };
  return {
    async executeQuery({ sql: text, parameters }: CompiledQuery) {
      // Nobody writes to it.
      const values = parameters as unknown[];
      isInTransaction ||= text === 'begin';
      if (text === setOriginText) {
        origin = values;
        return nothing;
      }
      collectWrites(client, isInTransaction ? nextTick : setImmediate);
      if (origin && !leavesNoHistory.test(text)) {
        sendAhead(setOriginText, origin);
        origin = undefined;
      }
      if (text === 'begin') {
        sendAhead(text, values);
        return nothing;
      }
      const answersBefore = answers;
      try {
        const { command, rowCount, rows } = await run(client, text, values);
        answers++;
        return changing.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows };
      } catch (error) {
        note(error, answersBefore);
        // In a transaction that has failed already: the first failure is the reason.
        throw (error as { code?: string }).code === '25P02' && failedAhead ? failedAhead : error;
      }
    },
    streamQuery() {
      throw new Error('Rows are not streamed here: read them in pages.');
    },
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

// Of what Kysely wants the number of rows.
const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

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
export const streamOf = (client: pg.PoolClient) => (client as unknown as pg.Client).connection.stream;

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
