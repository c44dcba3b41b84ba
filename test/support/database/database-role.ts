// A role of the database such as an operator's in psql. Roles belong to the whole Postgres, so `close` drops this one.
import { sql } from 'kysely';
import type { Database, DatabaseClient } from '../../../db/postgres/client.ts';
import { connect } from './postgres.ts';

export type OtherRole = DatabaseClient & { role: string };

/** Opens a role that may do everything except write the history and the events of clients. */
export async function openOtherRole(db: Database, databaseUrl: string, poolSize = 1): Promise<OtherRole> {
  const role = `operator_${crypto.randomUUID().slice(0, 8)}`;
  const name = sql.id(role);
  await sql`create role ${name} login password 'other'`.execute(db);
  await sql`grant select, insert, update, delete on all tables in schema public to ${name}`.execute(db);
  const told = sql`changes, events, event_sequences, client_users`;
  await sql`revoke insert, update, delete on ${told} from ${name}`.execute(db);
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = 'other';
  const client = connect(url.href, { poolSize });
  return {
    ...client,
    role,
    async close() {
      await client.close();
      await sql`drop owned by ${name}`.execute(db);
      await sql`drop role ${name}`.execute(db);
    },
  };
}
