// A database without the service, and what tests ask of its rows.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { inject } from 'vitest';
import type { DatabaseClient } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import { cloneDatabase, connect } from './postgres.ts';

export const poolSize = 4;

export type TestClient = DatabaseClient & { url: string };

/** Connections to a fresh database, which `close` drops. */
export async function openFreshDatabase(): Promise<TestClient> {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const client = connect(url, { poolSize });
  return {
    ...client,
    url,
    async close() {
      await client.close();
      await drop();
    },
  };
}

/** Returns the id of the user with that email address; '' if nobody has it. */
export async function idOf(db: Kysely<DB>, email: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from users where email = ${email}`.execute(db);
  return rows[0]?.id ?? '';
}

export async function countRows(db: Kysely<DB>, table: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(db);
  return rows[0]?.n ?? 0;
}

/** One text for all rows of these tables. The text changes if any row changes. */
export async function digestRows(db: Kysely<DB>, tables: string[]): Promise<string> {
  const digests = tables.map(
    (table) => sql`
      select ${sql.lit(table)} as name, md5(string_agg(t::text, '|' order by t::text)) from ${sql.table(table)} t`,
  );
  // The order is fixed, because Postgres may read the tables in any order.
  const { rows } = await sql`${sql.join(digests, sql` union all `)} order by name`.execute(db);
  return JSON.stringify(rows);
}

/** Accounts without a user, which half a registration would leave behind. */
export async function findEmptyAccounts(db: Kysely<DB>): Promise<unknown[]> {
  const { rows } = await sql`
    select id from accounts where id not in (select account_id from users)`.execute(db);
  return rows;
}

/**
 * Sends a request while `lock` is held. When the request has checked everything and waits to write, runs `last` under the lock.
 */
export async function overtake<T>(
  db: Kysely<DB>,
  lock: RawBuilder<unknown>,
  request: () => Promise<T>,
  last?: RawBuilder<unknown>,
): Promise<T> {
  let isAnswered = false;
  const { answer } = await db.transaction().execute(async (trx) => {
    await lock.execute(trx);
    const answer = request().finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      if (rows.length > 0) break;
      await new Promise((done) => setTimeout(done, 10));
    }
    await last?.execute(trx);
    return { answer };
  });
  return answer;
}

/** Makes inserts into `table` fail as `body` (PL/pgSQL) says, until `work` is done. */
export async function whileInsertsFail<T>(
  db: Kysely<DB>,
  table: string,
  { body, atCommit = false }: { body: string; atCommit?: boolean },
  work: () => Promise<T>,
): Promise<T> {
  await sql`create or replace function fail_insert() returns trigger language plpgsql as
    ${sql.lit(`begin ${body}; return new; end`)}`.execute(db);
  const when = atCommit
    ? sql`create constraint trigger fail_insert after insert on ${sql.table(table)}
        deferrable initially deferred for each row execute function fail_insert()`
    : sql`create trigger fail_insert before insert on ${sql.table(table)}
        for each row execute function fail_insert()`;
  await when.execute(db);
  try {
    return await work();
  } finally {
    await sql`drop trigger fail_insert on ${sql.table(table)}`.execute(db);
  }
}
