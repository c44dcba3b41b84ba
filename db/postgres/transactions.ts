import { Kysely, type Transaction } from 'kysely';
import { isLostRace } from '../races.ts';
import type { DB } from '../schema.ts';
import { buildAway, isLockedTooLong } from './away.ts';
import { buildDialect, type Database, requirePool } from './client.ts';
import type { Connection } from './connection.ts';

const maxAttempts = 8;
/** The longest pause before the second attempt. The pauses before later attempts may be longer. */
const maxPauseMs = 10;
/** How long requests wait for a lock. It is far less than their deadline, because a waiting transaction occupies a connection. */
const lockTimeoutMs = 500;

class Open {
  isOver = false;
  /** The error of the first statement that failed. All statements after it fail with 25P02. */
  failure: unknown;
  #last: Promise<unknown> = Promise.resolve();
  readonly #connection: Connection;
  constructor({ query, leave }: Connection) {
    this.#connection = {
      // Kysely may take the connection before the transaction ends, and send a statement on it when the transaction has ended.
      query: (text, values) => {
        if (this.isOver) return Promise.reject(over());
        const answer = query(text, values);
        // Without this `catch`, an error would be unhandled if nobody awaits the answer before the transaction ends.
        this.#last = answer.catch((error) => {
          this.failure ??= error;
        });
        return answer;
      },
      // The connection goes back to the pool when the transaction ends.
      release: () => {},
      leave,
    };
  }
  get connection(): Connection {
    if (this.isOver) throw over();
    return this.#connection;
  }
  /** Throws the error of the first statement that failed. */
  async settle(): Promise<void> {
    await this.#last;
    if (this.failure) throw this.failure;
  }
}

const over = () => new Error('The transaction is over.');

const openTransactions = new WeakMap<Database, Open>();

/** Returns undefined if `db` is the pool. */
export const findOpen = (db: Database) => openTransactions.get(db);

export const connectionOf = (trx: Transaction<DB>): Connection => {
  const open = findOpen(trx);
  if (!open) throw new Error('Not a transaction of `inTransaction`.');
  return open.connection;
};

/** Who a transaction works for, and why. The history keeps this with each change (`record_change` in the database). */
export type Origin = {
  by: 'person' | 'staff' | 'marketplace' | 'crm' | 'payments' | 'operator' | 'service';
  user?: string;
  /** The id of the staff member who acts. `why` is the reason that staff or an operator gave. */
  actor?: string;
  why?: string;
  request?: string;
  /** What caused the change: the nonce of a hand-off, a `webhook-id`, the line of an import, a command or a job. */
  cause?: string;
};

const originText = "select set_config('identity.origin', $1, true)";
// An option of the connection would set the timeout for jobs, too, and a pooler might refuse that option.
const beginRequest = `${originText}, set_config('lock_timeout', '${lockTimeoutMs}', true)`;

/** Sets the origin anew, for a transaction that works for several people. */
export function setOrigin(trx: Transaction<DB>, origin: Origin): void {
  void connectionOf(trx).query(originText, [origin]);
}

type Options = {
  /**
   * `after_writes` sends the commit only after all writes were answered, so a 503 means that nothing was done. `with_writes`
   * sends the commit right behind the writes, and saves a round trip (8 to 12 % of a hand-off or a signup). Use `with_writes`
   * only for work that a client may safely repeat.
   */
  commit?: 'after_writes' | 'with_writes';
  /**
   * Only requests set a deadline. A transaction that is not ready at its deadline is rolled back, and its statements wait only
   * a short time for a lock.
   */
  deadline?: { readonly isNear: boolean };
  begin?: 'begin' | 'begin isolation level repeatable read';
  end?: 'commit' | 'rollback';
  /** The highest number of attempts. The default is 8. */
  attempts?: number;
};

/**
 * Runs `work` again if another transaction was first (`isLostRace`). With a deadline, also runs `work` once more if the first
 * attempt waited too long for a lock.
 */
export async function inTransaction<T>(
  db: Database,
  origin: Origin,
  work: (trx: Transaction<DB>) => Promise<T>,
  options: Options = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(db, origin, work, options);
    } catch (error) {
      const isWorthAnother =
        isLostRace(error) || (attempt === 1 && options.deadline && isLockedTooLong(error));
      if (!isWorthAnother || attempt === (options.attempts ?? maxAttempts)) throw error;
      // The pause is random, so that transactions that failed at the same moment do not retry at the same moment.
      await new Promise((done) => setTimeout(done, Math.random() * attempt * maxPauseMs));
    }
  }
}

type Asker = Required<Pick<Options, 'deadline'>> & { requestId: string; userId?: string; address?: string };

/**
 * Runs a transaction for a person's request. Nothing commits after the request's deadline, so a 503 means that nothing was
 * done. One person can use at most half of the pool at the same time. If the person is not known, the limit is for the IP
 * address. With `rollback`, the transaction locks rows and returns the result of `work`, but changes nothing.
 */
export async function inTransactionOf<T>(
  { deadline, requestId, userId, address }: Asker,
  db: Database,
  work: (trx: Transaction<DB>) => Promise<T>,
  end: Options['end'] = 'commit',
): Promise<T> {
  const leave = await requirePool(db).turns.take(userId ?? address ?? '');
  try {
    const origin: Origin = { by: 'person', user: userId, request: requestId };
    return await inTransaction(db, origin, work, { deadline, end });
  } finally {
    leave?.();
  }
}

/** Runs `work` in a transaction that changes nothing and sees the database as of one moment. */
export const inRolledBackTransaction = <T>(
  db: Database,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> =>
  runOnce(db, { by: 'service' }, work, { begin: 'begin isolation level repeatable read', end: 'rollback' });

async function runOnce<T>(
  db: Database,
  origin: Origin,
  work: (trx: Transaction<DB>) => Promise<T>,
  { commit = 'after_writes', deadline, begin = 'begin', end = 'commit' }: Options,
): Promise<T> {
  requireTime(deadline);
  const connection = await requirePool(db).connect();
  const open = new Open(connection);
  // Kysely's own transaction would wait for each answer before it sends the next statement.
  const trx = new Kysely<DB>({ dialect: buildDialect(async () => open.connection) });
  openTransactions.set(trx, open);
  // Each statement is sent right behind the previous statement, and fails if the previous statement fails.
  void open.connection.query(begin, []);
  void open.connection.query(deadline ? beginRequest : originText, [origin]);
  try {
    const result = await work(trx as Transaction<DB>);
    if (commit === 'after_writes') await open.settle();
    requireTime(deadline);
    open.isOver = true;
    // If a statement failed, Postgres rolls back on commit without an error, so `settle` throws the error of that statement.
    await Promise.all([open.settle(), connection.query(end, [])]);
    connection.release();
    return result;
  } catch (error) {
    open.isOver = true;
    await connection.query('rollback', []).then(
      () => connection.release(),
      () => connection.release(true),
    );
    throw (error as { code?: string }).code === '25P02' ? (open.failure ?? error) : error;
  }
}

function requireTime(deadline: Options['deadline']): void {
  if (deadline?.isNear) throw buildAway('57014', 'There is no time left to commit.');
}
