// Brings the database to the present schema. Safe when several instances start at once: Kysely's migrator
// holds an advisory lock, and who comes second finds nothing left to do.
import { type Kysely, Migrator, sql } from 'kysely';
import * as foundation from './migrations/2026-11-20-foundation.ts';
import * as inboundHandOff from './migrations/2026-11-20-inbound-hand-off.ts';
import * as billingAndMail from './migrations/2026-11-21-billing-and-mail.ts';
import * as unloggedRateLimits from './migrations/2026-11-21-unlogged-rate-limits.ts';
import type { DB } from './schema.ts';

const migrations = {
  '2026-11-20-foundation': foundation,
  '2026-11-20-inbound-hand-off': inboundHandOff,
  '2026-11-21-billing-and-mail': billingAndMail,
  '2026-11-21-unlogged-rate-limits': unloggedRateLimits,
};

function buildMigrator(db: Kysely<DB>): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => migrations } });
}

/** Throws what a failed migration threw; a migration that failed left nothing behind. */
export async function migrate(db: Kysely<DB>): Promise<void> {
  const { error } = await buildMigrator(db).migrateToLatest();
  if (error) throw error;
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
