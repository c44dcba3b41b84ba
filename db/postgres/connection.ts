// One connection of the pool: it sends each statement without waiting for the answers to those before it
// (https://node-postgres.com/features/pipelining), prepares it under a name, and leaves the pool once it is broken.
import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import { breaksConnection, isReadOnly, isSilence } from './away.ts';
import { createSilenceWatch } from './silence.ts';

export type Connection = {
  query: (text: string, values: readonly unknown[]) => Promise<pg.QueryResult>;
  /** Gives the connection back to the pool; closes it if it is broken, or `isBroken`. */
  release: (isBroken?: boolean) => void;
  /** Takes the connection out of the pool at once, with all idle ones. Statements under way are still answered. */
  leave: () => void;
};

/** A client with a socket that we can close: pg's own way of ending waits for the answers, and a silent server sends none. */
export class Client extends pg.Client {
  readonly socket: Socket;
  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }
}

/**
 * The result makes a connection of a client of the pool. `silenceMs`: how long an answer may take. `onRefused` is called with the
 * error of each statement that fails.
 */
export function createConnections(
  pool: pg.Pool,
  preparedStatements: boolean,
  silenceMs: number,
  onRefused: (error: unknown) => void,
) {
  const nameOf = preparedStatements ? createNames() : () => undefined;
  const watch = createSilenceWatch<Client>(silenceMs, 'the oldest', ({ socket }) =>
    socket.destroy(new Error('query read timeout')),
  );

  return (pooled: pg.PoolClient): Connection => {
    const client = asOurs(pooled);
    let isBroken = false;
    let answers = 0;
    return {
      async query(text, values) {
        const name = values.length > 0 ? nameOf(text) : undefined;
        const answersBefore = answers;
        try {
          const result = await watch(client, client.query({ name, text, values: values as unknown[] }));
          answers++;
          return result;
        } catch (error) {
          onRefused(error);
          // An error of a statement is an answer, too.
          if (!breaksConnection(error)) answers++;
          // The idle connections are as dead as this one, unless it answered others meanwhile.
          const isDead = isReadOnly(error) || (isSilence(error) && answers === answersBefore);
          if (isDead && !isBroken) dropIdle(pool);
          isBroken ||= breaksConnection(error);
          throw error;
        }
      },
      release(isOver = isBroken) {
        pooled.release(isOver);
        if (isOver) client.socket.destroy();
      },
      leave() {
        pooled.release(true);
        dropIdle(pool);
      },
    };
  };
}

/** Closes all idle connections, so that the next request gets none of them. */
function dropIdle(pool: pg.Pool): void {
  for (let left = pool.idleCount; left > 0; left--) {
    pool.connect().then(
      (client) => {
        client.release(true);
        asOurs(client).socket.destroy();
      },
      () => undefined,
    );
  }
}

// The pool was told to make clients of this class.
const asOurs = (client: pg.PoolClient) => client as unknown as Client;

// More distinct texts only come from a mistake (values in the text), and would cost memory here and in every connection.
const maxNames = 500;

/**
 * A digest of the text, so a pooler that shares prepared statements between clients (PgBouncer from 1.21) shares rightly.
 * Postgres parses a named statement once on each connection, and can keep its plan: nearly three times as fast
 * (docs/decisions/prepared-statements.md).
 */
function createNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    let name = names.get(text);
    if (!name && names.size < maxNames) {
      name = `s_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
      names.set(text, name);
    }
    return name;
  };
}
