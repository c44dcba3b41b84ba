// Brings the database to the present schema. Safe when several instances start at once: who comes second waits, and
// finds nothing left to do. The lock is the transaction's, because a session's may be left behind in a pooler.
import {
  type DatabaseConnection,
  type Dialect,
  DummyDriver,
  Kysely,
  Migrator,
  PostgresAdapter,
  sql,
} from 'kysely';
import { dialect } from './dialect.ts';
import * as foundation from './migrations/2026-11-20-foundation.ts';
import * as inboundHandOff from './migrations/2026-11-20-inbound-hand-off.ts';
import * as billingAndMail from './migrations/2026-11-21-billing-and-mail.ts';
import * as unloggedRateLimits from './migrations/2026-11-21-unlogged-rate-limits.ts';
import type { DB } from './schema.ts';
import { inTransaction } from './transactions.ts';

const migrations = {
  '2026-11-20-foundation': foundation,
  '2026-11-20-inbound-hand-off': inboundHandOff,
  '2026-11-21-billing-and-mail': billingAndMail,
  '2026-11-21-unlogged-rate-limits': unloggedRateLimits,
};

/** Throws what a failed migration threw; then nothing has changed. */
export async function migrate(db: Kysely<DB>): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('identity migrations', 0))`.execute(trx);
    await trx.getExecutor().provideConnection(async (connection) => {
      const provider = { getMigrations: async () => migrations };
      const within = new Kysely<DB>({ dialect: buildDialect(connection) });
      const migrator = new Migrator({ db: within, provider, disableTransactions: true });
      const { error } = await migrator.migrateToLatest();
      if (error) throw error;
    });
  });
}

/** The migrator takes no transaction for a database, but one connection, whatever is under way there. */
function buildDialect(connection: DatabaseConnection): Dialect {
  class OneConnection extends DummyDriver {
    override acquireConnection = async () => connection;
  }
  return { ...dialect, createAdapter: () => new Adapter(), createDriver: () => new OneConnection() };
}

/** Without the lock of a session. */
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
