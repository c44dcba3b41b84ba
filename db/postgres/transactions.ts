// Transactions: all or nothing, and run again where another one was first.
import { CompiledQuery, type DatabaseConnection, sql, type Transaction } from 'kysely';
import type { DB } from '../schema.ts';
import { buildAway } from './away.ts';
import type { Database } from './client.ts';
import { setOriginText } from './connection.ts';

/** A job does not wait for long: a row that somebody holds fails with 55P03, which is not the database being away. */
export async function limitLockWait(trx: Transaction<DB>): Promise<void> {
  await sql`set local lock_timeout = '1s'`.execute(trx);
}

const timeouts = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  // From Postgres 17.
  'transaction_timeout',
];

/**
 * For what may take as long as it takes. Those of the role and the database, too: behind a pooler they count, whatever a
 * connection asks for.
 */
export async function liftTimeouts(trx: Transaction<DB>): Promise<void> {
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${timeouts})`.execute(trx);
}

// Unique keys that two transactions may reach for at once, each in good faith.
const racedFor = new Set([
  'users_held_email_key',
  'users_email_not_reserved',
  'external_links_pkey',
  'external_links_user_id_provider_key',
  'service_contracts_signup_id_key',
  'webhook_requests_pkey',
]);
// References to a user who is erased, or an account that goes or gets somebody, at the same moment: the next attempt finds
// what is so, and goes on from there.
const removed = new Set([
  'users_account_id_fkey',
  'service_contracts_user_id_fkey',
  'service_contracts_account_id_fkey',
  'mails_user_id_fkey',
]);
const maxAttempts = 8;

/** Thrown in a transaction that found, too late to go on, that another one was first. */
export class LostRace extends Error {}

type Open = {
  connection: DatabaseConnection;
  /** Sent, and not waited for before the end. */
  writes: Promise<unknown>[];
};

const openTransactions = new WeakMap<Database, Open>();

/**
 * Where the statements of a transaction under way go: Kysely holds each back until the one before is answered, which
 * a pipelined connection need not.
 */
export const findOpen = (db: Database) => openTransactions.get(db);

/** For whom a transaction works, and why. The history keeps it with each change (`record_change` in the database). */
export type Origin = {
  by: 'person' | 'marketplace' | 'crm' | 'operator' | 'service';
  /** The id of the user who is logged in. */
  user?: string;
  /** The id of the request. */
  request?: string;
  /** The nonce of a hand-off, a `webhook-id`, the line of an import, a command or a job. */
  cause?: string;
};

/** From here on, in a transaction of `inTransaction` that works for several. */
export function setOrigin(trx: Transaction<DB>, origin: Origin): void {
  const open = openTransactions.get(trx);
  if (!open) throw new Error('Only a transaction under way has an origin.');
  // It goes out ahead of the first statement that it is the origin of; if it fails, so does that.
  void open.connection.executeQuery(CompiledQuery.raw(setOriginText, [origin]));
}

type Options = {
  /**
   * `after_writes`: one whose writes were not all answered is not committed, so a refusal with 503 has done nothing.
   * `with_writes` sends the commit right behind them and spares a round trip (8 to 12 % of a hand-off or a signup); for
   * what may be done although its answer was lost, because asking again finds it done.
   */
  commit?: 'after_writes' | 'with_writes';
  /** A transaction that is not ready to commit by then is rolled back. */
  deadline?: { readonly isNear: boolean };
};

/**
 * Runs a transaction, and runs it again, whole, where it failed only because another one was at the same rows
 * (SQLSTATE 40001 and 40P01), was first with a unique key, or erased a user: then it finds what that one left.
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
      const { code, constraint } = error as { code?: string; constraint?: string };
      const isConflict =
        error instanceof LostRace ||
        code === '40001' ||
        code === '40P01' ||
        (code === '23505' && racedFor.has(constraint ?? '')) ||
        (code === '23503' && removed.has(constraint ?? ''));
      if (!isConflict || attempt === maxAttempts) throw error;
    }
  }
}

type PersonalVisit = Required<Pick<Options, 'deadline'>> & { requestId: string; userId?: string };

/**
 * The same for a person's request: nothing commits after its deadline, so a 503 means that nothing was done.
 */
export const inTransactionOf = <T>(
  { deadline, requestId, userId }: PersonalVisit,
  db: Database,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> => inTransaction(db, { by: 'person', user: userId, request: requestId }, work, { deadline });

/**
 * What `work` comes to, without doing it: the same transaction, rolled back at its end. For one person's rows, which it locks
 * meanwhile.
 */
export async function tryOutTransactionOf<T>(
  visit: PersonalVisit,
  db: Database,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return inTransactionOf(visit, db, async (trx): Promise<T> => {
    throw new RollBack(await work(trx));
  }).catch(readRolledBack<T>);
}

/**
 * For what changes nothing: one view of the database from its start to its end, run once, and rolled back whatever comes
 * of it.
 */
export async function inRolledBackTransaction<T>(
  db: Database,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  const transaction = db.transaction().setIsolationLevel('repeatable read');
  return transaction
    .execute(async (trx): Promise<T> => {
      throw new RollBack(await work(trx));
    })
    .catch(readRolledBack<T>);
}

function readRolledBack<T>(error: unknown): T {
  if (error instanceof RollBack) return error.result as T;
  throw error;
}

/** Thrown where all went well: nothing else makes Kysely roll back. */
class RollBack extends Error {
  result: unknown;
  constructor(result: unknown) {
    super('rolled back');
    this.result = result;
  }
}

async function runOnce<T>(
  db: Database,
  origin: Origin,
  work: (trx: Transaction<DB>) => Promise<T>,
  { commit = 'after_writes', deadline }: Options,
): Promise<T> {
  requireTime(deadline);
  const writes: Promise<unknown>[] = [];
  const result = await db.transaction().execute(async (trx) => {
    await trx.getExecutor().provideConnection(async (connection) => {
      openTransactions.set(trx, { connection, writes });
    });
    setOrigin(trx, origin);
    let isDone = false;
    let done: T;
    try {
      done = await work(trx);
      isDone = true;
    } finally {
      // What somebody forgot to wait for must not go out after the end: Kysely refuses it.
      openTransactions.delete(trx);
      // One that failed made all after it fail, so it is the reason.
      if (!isDone || commit === 'after_writes') await Promise.all(writes);
    }
    requireTime(deadline);
    return done;
  });
  // Where one of them failed, Postgres has made a rollback of the commit, and does not call that an error.
  await Promise.all(writes);
  return result;
}

function requireTime(deadline: Options['deadline']): void {
  if (deadline?.isNear) throw buildAway('57014', 'There is no time left to commit.');
}
