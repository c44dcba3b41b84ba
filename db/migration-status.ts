// Which migrations have run. Only reads; db/postgres/migrate.ts runs them.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { migrations } from './migrations/list.ts';
import { openDatabase } from './postgres/client.ts';
import type { DB } from './schema.ts';

export type MigrationStatus = {
  /** The migrations of this build that have not run, in their order. */
  toDo: string[];
  /** Those that a newer version has done, and this build does not know. */
  ahead: string[];
};

/** What `migrate` would do, and what it would leave alone. */
export async function readMigrationStatus(url: string): Promise<MigrationStatus> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    preparedStatements: false,
    onError: () => undefined,
  });
  try {
    const done = await listDone(db, sql<{ name: string }>`select name from kysely_migration order by name`);
    const known = Object.keys(migrations).sort();
    return {
      toDo: known.filter((name) => !done.includes(name)),
      ahead: done.filter((name) => !known.includes(name)),
    };
  } finally {
    await close();
  }
}

/** Whether every migration known to this build has run. Throws if the database is away, or read-only. */
export async function isMigrated(db: Kysely<DB>): Promise<boolean> {
  // Deletes no rows, but fails on a database that cannot be written to.
  const done = await listDone(
    db,
    sql<{
      name: string;
    }>`with nothing as (delete from kysely_migration where false) select name from kysely_migration`,
  );
  return Object.keys(migrations).every((name) => done.includes(name));
}

async function listDone(db: Kysely<DB>, query: RawBuilder<{ name: string }>): Promise<string[]> {
  const { rows } = await query.execute(db).catch((error) => {
    const isMissingTable = error.code === '42P01';
    if (isMissingTable) return { rows: [] };
    throw error;
  });
  return rows.map(({ name }) => name);
}
