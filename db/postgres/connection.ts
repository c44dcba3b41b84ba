// A connection of the pool sends each statement without waiting for earlier answers
// (https://node-postgres.com/features/pipelining). It prepares each statement under a name. A broken connection leaves the
// pool.
import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import { breaksConnection, isReadOnly, isSilence } from './away.ts';
import { createSilenceWatch } from './silence.ts';

export type Connection = {
  query: (text: string, values: readonly unknown[]) => Promise<pg.QueryResult>;
  /** Gives the connection back to the pool, or closes it if it is broken. */
  release: (isBroken?: boolean) => void;
  /** Takes this connection and all idle connections out of the pool. Statements under way are still answered. */
  leave: () => void;
};

/** We close the socket ourselves. pg would wait for answers before it closes, but a silent server sends none. */
export class Client extends pg.Client {
  readonly socket: Socket;
  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }
}

/** `silenceMs` is how long an answer may take. `onRefused` gets the error of each failed statement. */
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
          // Even an error shows that the server answers.
          if (!breaksConnection(error)) answers++;
          // If no statement was answered while this statement waited, the whole server is silent, so the idle connections are
          // dead, too.
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

// All clients of the pool are of this class.
const asOurs = (client: pg.PoolClient) => client as unknown as Client;

// If there are more different statements than this, there is probably a fault, such as values written into the SQL. The text of
// each statement costs memory here and on every connection.
const maxNames = 500;

/**
 * Each name is a digest of the statement's text, so a pooler that shares prepared statements (PgBouncer since 1.21) never
 * confuses two statements. A named statement is nearly three times as fast as one without a name
 * (docs/inside/decisions/prepared-statements.md).
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
