// What a backup is told of the database, and how old the last one is. Only reads; the audit event of a backup is what is kept of it.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/** The time by the clock of Postgres, and its major version. */
export async function readServer(db: Database): Promise<{ beganAt: Date; major: number }> {
  const { rows } = await sql<{ beganAt: Date; major: number }>`select clock_timestamp() as "beganAt",
    current_setting('server_version_num')::int / 10000 as major`.execute(db);
  return rows[0] as (typeof rows)[number];
}

/**
 * For how many seconds nothing has been backed up: since the last good backup began, or without any since the first migration.
 * A database that was restored from a dump does not know that one, so it counts from the one before.
 */
export async function readBackupAge(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`select extract(epoch from now() - coalesce(
      (select (details ->> 'beganAt')::timestamptz from audit_events
        where type = 'database.backed_up' order by at desc limit 1),
      (select min(timestamp) filter (where timestamp > '2') from kysely_migration)::timestamptz
    ))::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? 0;
}
