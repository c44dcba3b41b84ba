// Which migrations have run. This file only reads; db/postgres/migrate.ts runs them.
import { type Kysely, sql } from 'kysely';
import { migrations } from './migrations/list.ts';
import { openDatabase } from './postgres/client.ts';
import type { DB } from './schema.ts';
import { describeMissing, findMissing, findOrderFault, listAhead } from './schema-check.ts';

export type MigrationStatus = {
  toDo: string[];
  /** Migrations that a newer version has run and this version does not know. */
  ahead: string[];
  /** Why this version refuses to start on the database. */
  fault: string | undefined;
};

export async function readMigrationStatus(url: string): Promise<MigrationStatus> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    preparedStatements: false,
    onError: () => undefined,
  });
  try {
    const done = await listDone(db);
    const toDo = Object.keys(migrations)
      .sort()
      .filter((name) => !done.includes(name));
    const missing = toDo.length === 0 ? await findMissing(db) : [];
    const fault = missing.length > 0 ? describeMissing(missing) : findOrderFault(done);
    return { toDo, ahead: listAhead(done), fault };
  } finally {
    await close();
  }
}

/** Throws if the database is away or read-only. */
export async function isMigrated(db: Kysely<DB>): Promise<boolean> {
  // The `delete` removes no rows, but fails on a read-only database.
  const query = sql<{
    name: string;
  }>`with nothing as (delete from kysely_migration where false) select name from kysely_migration`;
  const { rows } = await query.execute(db).catch((error) => {
    const isMissingTable = error.code === '42P01';
    if (isMissingTable) return { rows: [] };
    throw error;
  });
  return hasAll(rows.map(({ name }) => name));
}

export const hasAll = (done: string[]): boolean =>
  Object.keys(migrations).every((name) => done.includes(name));

/** Returns the migrations that have run, of any version. A missing table does not make the transaction fail. */
export async function listDone(db: Kysely<DB>): Promise<string[]> {
  const found = await sql<{ is_there: boolean }>`
    select to_regclass('kysely_migration') is not null as is_there`.execute(db);
  if (!found.rows[0]?.is_there) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}
