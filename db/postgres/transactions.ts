// Transactions: all or nothing, and run again if another transaction was first.
import { Kysely, type Transaction } from 'kysely';
import { isLostRace } from '../races.ts';
import type { DB } from '../schema.ts';
import { buildAway, isLockedTooLong } from './away.ts';
import { buildDialect, type Database, requirePool } from './client.ts';
import type { Connection } from './connection.ts';

const maxAttempts = 8;
/** The longest pause before the second attempt. */
const maxPauseMs = 10;
/**
 * How long a statement of a request waits for a lock, far less than the deadline, for it has a connection meanwhile. One second
 * attempt may: it waits for a connection anew, behind others.
 */
const lockTimeoutMs = 500;

/** A transaction under way. It has a Kysely of its own, which sends each statement without waiting for the one before. */
class Open {
  isOver = false;
  /** The error of the first statement that failed: all after it failed with 25P02. */
  failure: unknown;
  #last: Promise<unknown> = Promise.resolve();
  readonly #connection: Connection;
  constructor({ query, leave }: Connection) {
    this.#connection = {
      // Kysely may have taken the connection before the end, and use it afterwards.
      query: (text, values) => {
        if (this.isOver) return Promise.reject(over());
        const answer = query(text, values);
        // Keeps the error from being unhandled if nobody awaits the answer before the end.
        this.#last = answer.catch((error) => {
          this.failure ??= error;
        });
        return answer;
      },
      // The connection goes back to the pool at the end of the transaction, not after each statement.
      release: () => {},
      leave,
    };
  }
  get connection(): Connection {
    if (this.isOver) throw over();
    return this.#connection;
  }
  /** Waits until all statements are answered, in turn. Throws the first failure. */
  async settle(): Promise<void> {
    await this.#last;
    if (this.failure) throw this.failure;
  }
}

const over = () => new Error('The transaction is over.');

const openTransactions = new WeakMap<Database, Open>();

/** The transaction under way that `db` is; undefined if `db` is the pool. */
export const findOpen = (db: Database) => openTransactions.get(db);

/** The connection of a transaction. Throws if `inTransaction` has not opened it. */
export const connectionOf = (trx: Transaction<DB>): Connection => {
  const open = findOpen(trx);
  if (!open) throw new Error('Not a transaction of `inTransaction`.');
  return open.connection;
};

/** For whom a transaction works, and why. The history keeps it with each change (`record_change` in the database). */
export type Origin = {
  by: 'person' | 'staff' | 'marketplace' | 'crm' | 'payments' | 'operator' | 'service';
  /** The id of the user who is logged in. */
  user?: string;
  /** The id of who of the staff acts, and why they, or an operator, do. */
  actor?: string;
  why?: string;
  /** The id of the request. */
  request?: string;
  /** The nonce of a hand-off, a `webhook-id`, the line of an import, a command or a job. */
  cause?: string;
};

const originText = "select set_config('identity.origin', $1, true)";
// Not by an option of the connection: jobs have the same connections, and a pooler may refuse options that it does not know.
const beginRequest = `${originText}, set_config('lock_timeout', '${lockTimeoutMs}', true)`;

/** Sets the origin of the changes that follow, in a transaction of `inTransaction` that works for several people. */
export function setOrigin(trx: Transaction<DB>, origin: Origin): void {
  void connectionOf(trx).query(originText, [origin]);
}

type Options = {
  /**
   * `after_writes`: the transaction commits only once all its writes were answered, so a refusal with 503 has done nothing.
   * `with_writes` sends the commit right behind them and spares a round trip (8 to 12 % of a hand-off or a signup); for work
   * that may be done although its answer was lost, because asking again finds it done.
   */
  commit?: 'after_writes' | 'with_writes';
  /**
   * Of a request: a transaction that is not ready to commit by its deadline is rolled back, and none waits long for a lock. So others
   * get its connection.
   */
  deadline?: { readonly isNear: boolean };
  begin?: 'begin' | 'begin isolation level repeatable read';
  end?: 'commit' | 'rollback';
};

/**
 * Runs a transaction. Runs all of it again if it failed only because another one was at the same rows (SQLSTATE 40001 and
 * 40P01), was first with a unique key, or erased a user: the next attempt finds what the other one left. Runs it once more, too,
 * if it is a request's and another one held a lock for too long.
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
      if (!isWorthAnother || attempt === maxAttempts) throw error;
      // Those who lost together do not come back together.
      await new Promise((done) => setTimeout(done, Math.random() * attempt * maxPauseMs));
    }
  }
}

type Asker = Required<Pick<Options, 'deadline'>> & { requestId: string; userId?: string; address?: string };

/**
 * Runs a transaction for a person's request, as `inTransaction` does. Nothing commits after the request's deadline, so a 503
 * means that nothing was done. One person has at most half of the pool at once, and so has one address of people who are not known
 * yet. With `rollback` it only finds out what `work` comes to, and locks the rows meanwhile.
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

/** Runs a transaction that changes nothing: once, on one view of the database from start to end, and rolled back. */
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
  // Kysely's own transaction would send each statement only when the one before is answered.
  const trx = new Kysely<DB>({ dialect: buildDialect(async () => open.connection) });
  openTransactions.set(trx, open);
  // Each statement goes out right behind the one before, and fails if that one fails.
  void open.connection.query(begin, []);
  void open.connection.query(deadline ? beginRequest : originText, [origin]);
  try {
    const result = await work(trx as Transaction<DB>);
    if (commit === 'after_writes') await open.settle();
    requireTime(deadline);
    open.isOver = true;
    // If a statement failed, Postgres turns the commit into a rollback, and does not call that an error.
    await Promise.all([open.settle(), connection.query(end, [])]);
    connection.release();
    return result;
  } catch (error) {
    open.isOver = true;
    await connection.query('rollback', []).then(
      () => connection.release(),
      () => connection.release(true),
    );
    // The first statement that failed made all after it fail, so its error is the reason.
    throw (error as { code?: string }).code === '25P02' ? (open.failure ?? error) : error;
  }
}

function requireTime(deadline: Options['deadline']): void {
  if (deadline?.isNear) throw buildAway('57014', 'There is no time left to commit.');
}
