// Brings the database to the current schema, however many instances start at once: one migrates, the others wait for it
// and find nothing left to do (docs/decisions/migration-lock.md).
import { Kysely, Migrator, PostgresAdapter, sql, type Transaction } from 'kysely';
import { hasAll, isMigrated, listDone } from '../migration-status.ts';
import { migrations } from '../migrations/list.ts';
import { folded } from '../migrations/m100-baseline.ts';
import type { DB } from '../schema.ts';
import { findOrderFault, requireSchema, SchemaError } from '../schema-check.ts';
import { liftTimeouts } from '../timeouts.ts';
import { buildDialect, type Database, openDatabase } from './client.ts';
import { connectionOf, inTransaction } from './transactions.ts';

/** Told what the migration waits for, in words for operators. */
type OnWait = (what: string) => void;

/**
 * Migrates on a connection of its own, which no timeout ends: a large index takes as long as it takes. `onWait` is called when
 * it has to wait. Throws what a failed migration threw, and a SchemaError if the database lacks what this version needs; then
 * nothing has changed. Migrations of a newer version are left alone: they only add (CONTRIBUTING.md). `check` throws the
 * SchemaError.
 */
export async function migrate(
  url: string,
  onWait: OnWait = () => undefined,
  check: (db: Kysely<DB>) => Promise<void> = requireSchema,
): Promise<void> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    // A handful of statements, which every pooler takes like this.
    preparedStatements: false,
    statementTimeoutMs: 0,
    onError: () => undefined,
  });
  try {
    // True also if a newer version has migrated the database since: Kysely's migrator refuses migrations that it does not know.
    if (await isMigrated(db)) return await check(db);
    while (!(await tryMigrate(db, onWait, check))) await new Promise((done) => setTimeout(done, pauseMs));
  } finally {
    await close();
  }
}

// While a migration waits for a table that a long transaction reads, such as a backup's, everything else waits behind it.
// So it waits for less than requests do, and lets them pass before it tries again.
const lockTimeoutMs = 1_000;
const pauseMs = 2_000;

/** False if another transaction held a table for too long; then nothing has changed. */
async function tryMigrate(
  db: Database,
  onWait: OnWait,
  check: (db: Kysely<DB>) => Promise<void>,
): Promise<boolean> {
  try {
    await inTransaction(db, { by: 'service', cause: 'migrate' }, async (trx) => {
      await liftTimeouts(trx);
      await lockMigrations(trx, onWait);
      const done = await listDone(trx);
      // A newer version may have held the lock before.
      if (!hasAll(done)) {
        const fault = findOrderFault(done);
        if (fault) throw new SchemaError(fault);
        await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(trx);
        await runMigrations(trx, done);
      }
      await check(trx);
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    onWait('a table that another transaction holds');
    return false;
  }
}

/** The lock belongs to the transaction, because one of a session may be left behind in a pooler. */
async function lockMigrations(trx: Transaction<DB>, onWait: OnWait): Promise<void> {
  const key = sql`hashtextextended('identity migrations', 0)`;
  const tried = await sql<{ is_ours: boolean }>`select pg_try_advisory_xact_lock(${key}) as is_ours`.execute(
    trx,
  );
  if (tried.rows[0]?.is_ours) return;
  onWait("another instance's migrations");
  await sql`select pg_advisory_xact_lock(${key})`.execute(trx);
}

async function runMigrations(trx: Transaction<DB>, done: string[]): Promise<void> {
  // Of these only the names are written. An empty database gets what they come to from the baseline, and any other one has it.
  const inPlace = done.length === 0 ? folded : [...folded, 'm100-baseline'];
  const nothing = { up: async () => undefined };
  const given = { ...migrations, ...Object.fromEntries(inPlace.map((name) => [name, nothing])) };
  const provider = { getMigrations: async () => given };
  const dialect = buildDialect(async () => connectionOf(trx));
  dialect.createAdapter = () => new WithoutLock();
  const db = new Kysely<DB>({ dialect });
  const { error } = await new Migrator({ db, provider, disableTransactions: true }).migrateToLatest();
  if (error) throw error;
}

/** Kysely's own lock belongs to a session. */
class WithoutLock extends PostgresAdapter {
  override async acquireMigrationLock() {}
  override async releaseMigrationLock() {}
}
