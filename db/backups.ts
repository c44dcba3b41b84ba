// What a backup is told of the database, and how old the last one is. Only reads; the audit event of a backup is what is kept of it.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';
import { inRolledBackTransaction } from './postgres/transactions.ts';
import { liftIdleTimeouts } from './timeouts.ts';

/** Of a server: the time by its clock, its major version, and a snapshot that nothing but a connection to the same database finds. */
export type Server = { beganAt: Date; major: number; snapshot: string };

/** The snapshot is there for as long as `work` takes. */
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
    // After hours without a word the connection may be gone. Then the snapshot was found long ago.
    if (!outcome) throw error;
  });
  return (outcome as unknown as { result: T }).result;
}

/** Which database this is, as its server says: `identity at 10.0.0.5:5432`. */
export async function nameDatabase(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string; host: string; port: string }>`select current_database() as name,
    coalesce(host(inet_server_addr()), 'this machine') as host, current_setting('port') as port`.execute(db);
  return rows.map(({ name, host, port }) => `${name} at ${host}:${port}`).join();
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
