// Brings the database to the current schema. If several instances start at the same time, one migrates and the others wait for
// it (docs/inside/decisions/migration-lock.md).
import { Kysely, Migrator, PostgresAdapter, sql, type Transaction } from 'kysely';
import { hasAll, isMigrated, listDone } from '../migration-status.ts';
import { migrations } from '../migrations/list.ts';
import { folded } from '../migrations/m100-baseline.ts';
import { isLostRace } from '../races.ts';
import type { DB } from '../schema.ts';
import { findOrderFault, requireSchema, SchemaError } from '../schema-check.ts';
import { liftTimeouts } from '../timeouts.ts';
import { isLockedTooLong } from './away.ts';
import { buildDialect, type Database, openDatabase } from './client.ts';
import { connectionOf, inTransaction } from './transactions.ts';

/** Called with what the migration waits for, as a text for operators. */
type OnWait = (what: string) => void;

/**
 * Migrations have no timeout, because a large index may take long. If a migration fails, this throws the error of that migration,
 * and what the migrations before it did stays. If `check` finds a fault, this throws its SchemaError. Migrations that a newer
 * version has run may stay, too, because they only add (docs/inside/recipes/migration.md).
 */
export async function migrate(
  url: string,
  onWait: OnWait = () => undefined,
  check: (db: Kysely<DB>) => Promise<void> = requireSchema,
): Promise<void> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    // Without prepared statements, this works with every pooler.
    preparedStatements: false,
    statementTimeoutMs: 0,
    onError: () => undefined,
  });
  try {
    // `isMigrated` is also true if a newer version has migrated since. Kysely's migrator would refuse the newer migrations.
    if (await isMigrated(db)) return await check(db);
    for (;;) {
      const step = await tryStep(db, onWait, check);
      if (step === 'last') return;
      if (step === 'busy') await new Promise((done) => setTimeout(done, pauseMs));
    }
  } finally {
    await close();
  }
}

// A migration may wait for a table that a long transaction reads, such as a backup. All requests that use the table then wait
// behind the migration. So the migration gives up sooner than requests do, and pauses before the next try, so that the requests
// can run.
const lockTimeoutMs = 1_000;
const pauseMs = 2_000;

/**
 * Runs the next migration in a transaction of its own, so that it holds no lock of the migrations before it. Returns `busy` if
 * another transaction was in the way, for example held a table too long. In this case nothing has changed.
 */
async function tryStep(
  db: Database,
  onWait: OnWait,
  check: (db: Kysely<DB>) => Promise<void>,
): Promise<'last' | 'more' | 'busy'> {
  const step = async (trx: Transaction<DB>) => {
    await liftTimeouts(trx);
    await lockMigrations(trx, onWait);
    const done = await listDone(trx);
    // An instance of a newer version may have held the lock before us, and may have run these migrations already.
    if (!hasAll(done)) {
      const fault = findOrderFault(done);
      if (fault) throw new SchemaError(fault);
      await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(trx);
      await runNext(trx, done);
      if (!hasAll(await listDone(trx))) return 'more';
    }
    await check(trx);
    return 'last';
  };
  try {
    return await inTransaction(db, { by: 'service', cause: 'migrate' }, step, { attempts: 1 });
  } catch (error) {
    if (!isLostRace(error) && !isLockedTooLong(error)) throw error;
    onWait('a table that another transaction holds');
    return 'busy';
  }
}

/** The lock belongs to the transaction, because a pooler may leave a session's lock behind. */
async function lockMigrations(trx: Transaction<DB>, onWait: OnWait): Promise<void> {
  const key = sql`hashtextextended('identity migrations', 0)`;
  const tried = await sql<{ is_ours: boolean }>`select pg_try_advisory_xact_lock(${key}) as is_ours`.execute(
    trx,
  );
  if (tried.rows[0]?.is_ours) return;
  onWait("another instance's migrations");
  await sql`select pg_advisory_xact_lock(${key})`.execute(trx);
}

/** An empty database gets all migrations at once, because nobody uses it yet. */
async function runNext(trx: Transaction<DB>, done: string[]): Promise<void> {
  // The baseline contains what the migrations in `folded` did, so only their names are recorded.
  const inPlace = done.length === 0 ? folded : [...folded, 'm100-baseline'];
  const nothing = { up: async () => undefined };
  const given = { ...migrations, ...Object.fromEntries(inPlace.map((name) => [name, nothing])) };
  const provider = { getMigrations: async () => given };
  const dialect = buildDialect(async () => connectionOf(trx));
  dialect.createAdapter = () => new WithoutLock();
  const db = new Kysely<DB>({ dialect });
  const migrator = new Migrator({ db, provider, disableTransactions: true });
  const { error } = await (done.length === 0 ? migrator.migrateToLatest() : migrator.migrateUp());
  if (error) throw error;
}

/** Leaves out Kysely's own lock, because that lock belongs to a session. */
class WithoutLock extends PostgresAdapter {
  override async acquireMigrationLock() {}
  override async releaseMigrationLock() {}
}
