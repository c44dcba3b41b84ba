// Brings the database to the current schema, however many instances start at once: one migrates, the others wait for it
// and find nothing left to do (docs/decisions/migration-lock.md).
import {
  type DatabaseConnection,
  type Dialect,
  DummyDriver,
  Kysely,
  Migrator,
  PostgresAdapter,
  sql,
  type Transaction,
} from 'kysely';
import * as foundation from '../migrations/2026-11-20-foundation.ts';
import * as inboundHandOff from '../migrations/2026-11-20-inbound-hand-off.ts';
import * as billingAndMail from '../migrations/2026-11-21-billing-and-mail.ts';
import * as unloggedRateLimits from '../migrations/2026-11-21-unlogged-rate-limits.ts';
import * as contractArrival from '../migrations/2026-11-22-contract-arrival.ts';
import * as oneWordForEachIdea from '../migrations/2026-11-22-one-word-for-each-idea.ts';
import * as whoSomebodyIs from '../migrations/2026-11-22-who-somebody-is.ts';
import type { DB } from '../schema.ts';
import { openDatabase } from './client.ts';
import { dialect } from './dialect.ts';
import { inTransaction } from './transactions.ts';

const migrations = {
  '2026-11-20-foundation': foundation,
  '2026-11-20-inbound-hand-off': inboundHandOff,
  '2026-11-21-billing-and-mail': billingAndMail,
  '2026-11-21-unlogged-rate-limits': unloggedRateLimits,
  '2026-11-22-contract-arrival': contractArrival,
  '2026-11-22-one-word-for-each-idea': oneWordForEachIdea,
  '2026-11-22-who-somebody-is': whoSomebodyIs,
};

/**
 * Migrates on a connection of its own, which no timeout ends: a large index takes as long as it takes. `onWait` is
 * called where another instance is migrating. Throws what a failed migration threw; then nothing has changed.
 */
export async function migrate(url: string, onWait: () => void = () => undefined): Promise<void> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    // A handful of statements, which every pooler takes like this.
    preparedStatements: false,
    statementTimeoutMs: 0,
    onError: () => undefined,
  });
  try {
    await inTransaction(db, async (trx) => {
      await liftTimeouts(trx);
      await lockMigrations(trx, onWait);
      await runMigrations(trx);
    });
  } finally {
    await close();
  }
}

const timeouts = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  // From Postgres 17.
  'transaction_timeout',
];

/** Those of the role and the database, too: behind a pooler they count, whatever a connection asks for. */
async function liftTimeouts(trx: Transaction<DB>): Promise<void> {
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${timeouts})`.execute(trx);
}

/** The lock belongs to the transaction, because one of a session may be left behind in a pooler. */
async function lockMigrations(trx: Transaction<DB>, onWait: () => void): Promise<void> {
  const key = sql`hashtextextended('identity migrations', 0)`;
  const tried = await sql<{ is_ours: boolean }>`select pg_try_advisory_xact_lock(${key}) as is_ours`.execute(
    trx,
  );
  if (tried.rows[0]?.is_ours) return;
  onWait();
  await sql`select pg_advisory_xact_lock(${key})`.execute(trx);
}

async function runMigrations(trx: Transaction<DB>): Promise<void> {
  await trx.getExecutor().provideConnection(async (connection) => {
    const provider = { getMigrations: async () => migrations };
    const within = new Kysely<DB>({ dialect: buildDialect(connection) });
    const migrator = new Migrator({ db: within, provider, disableTransactions: true });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
  });
}

/** The migrator does not run in a transaction of ours, but it does on a connection, where one happens to be open. */
function buildDialect(connection: DatabaseConnection): Dialect {
  class OneConnection extends DummyDriver {
    override acquireConnection = async () => connection;
  }
  return { ...dialect, createAdapter: () => new Adapter(), createDriver: () => new OneConnection() };
}

/** Without Kysely's own lock, which belongs to a session. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock() {}
  override async releaseMigrationLock() {}
}

/** Whether every migration known to this build has run. Throws where the database is away. */
export async function isMigrated(db: Kysely<DB>): Promise<boolean> {
  const result = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch((error) => {
    const isMissingTable = error.code === '42P01';
    if (isMissingTable) return { rows: [] };
    throw error;
  });
  const done = new Set(result.rows.map(({ name }) => name));
  return Object.keys(migrations).every((name) => done.has(name));
}
