// What a backup needs to know about the database, and how old the last backup is. This file only reads. The command that makes
// a backup records it as an audit event.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';
import { inRolledBackTransaction } from './postgres/transactions.ts';
import { liftIdleTimeouts } from './timeouts.ts';

/** `beganAt` is from the clock of the database. Only connections to the same database can use the snapshot. */
export type Server = { beganAt: Date; major: number; snapshot: string };

/** The snapshot lasts until `work` ends. */
export async function withSnapshot<T>(db: Database, work: (server: Server) => Promise<T>): Promise<T> {
  let outcome: { result: T } | undefined;
  await inRolledBackTransaction(db, async (trx) => {
    await liftIdleTimeouts(trx);
    const { rows } = await sql<Server>`select clock_timestamp() as "beganAt",
      current_setting('server_version_num')::int / 10000 as major, pg_export_snapshot() as snapshot`.execute(
      trx,
    );
    outcome = { result: await work(rows[0] as Server) };
  }).catch((error) => {
    // After hours without a statement, the connection may break when the transaction ends. `work` has ended before that, so the
    // error does not matter.
    if (!outcome) throw error;
  });
  return (outcome as unknown as { result: T }).result;
}

/** Names the database, for example `identity at 10.0.0.5:5432`. */
export async function nameDatabase(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string; host: string; port: string }>`select current_database() as name,
    coalesce(host(inet_server_addr()), 'this machine') as host, current_setting('port') as port`.execute(db);
  return rows.map(({ name, host, port }) => `${name} at ${host}:${port}`).join();
}

/**
 * Seconds since the last successful backup began, or since the first migration if there was no backup. A restored database does
 * not know of the backup that it was restored from. So the seconds count from an earlier backup.
 */
export async function readBackupAge(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`select extract(epoch from now() - coalesce(
      (select (details ->> 'beganAt')::timestamptz from audit_events
        where type = 'database.backed_up' order by at desc limit 1),
      (select min(timestamp) filter (where timestamp > '2') from kysely_migration)::timestamptz
    ))::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? 0;
}
