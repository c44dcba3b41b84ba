// The stores in a database: Postgres, or SQLite since 3.35. Each change is one guarded statement, so that any number of processes
// can share them.
import type { Profile } from './hand-off.ts';
import { createSqlPosition, type RunSql } from './sql-position.ts';
import type { Stores } from './stores.ts';

/** Runs a statement. Every driver has a function like this. `rows` are objects by the names of their columns. */
export type SqlQuery = (
  text: string,
  params: (string | number | null)[],
) => Promise<{ rows: Record<string, unknown>[] }>;

export type SqlOptions = {
  /** How parameters are written: `$1` or `?`. */
  dialect?: 'postgres' | 'sqlite';
  /** The names of the tables begin with this. Two clients in one database need different prefixes. */
  prefix?: string;
};

/** The statements that create the tables, for your migrations. You can run them again: that changes nothing. */
export const sqlTables = (prefix = 'identity_'): string[] => [
  `create table if not exists ${prefix}nonces (nonce text primary key, keep_until bigint not null)`,
  `create table if not exists ${prefix}ended_logins (sid text primary key, keep_until bigint not null)`,
  // A row without a profile stands for a deleted person.
  `create table if not exists ${prefix}profiles (id text primary key, updated_at bigint not null, profile text)`,
  // `holder` is empty if nobody pulls.
  `create table if not exists ${prefix}position
    (name text primary key, seq bigint not null, holder text not null, signs bigint not null)`,
];

/** Stands for a time later than every `profile_updated_at`. */
const never = Number.MAX_SAFE_INTEGER;

export function createSqlStores(
  query: SqlQuery,
  { dialect = 'postgres', prefix = 'identity_' }: SqlOptions = {},
): Stores & { sweep: (now?: Date) => Promise<void> } {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix))
    throw new TypeError('prefix must be a plain name in lower case');

  const run: RunSql = async (text, ...params) => {
    let count = 0;
    const spelled = dialect === 'postgres' ? text.replaceAll('?', () => `$${++count}`) : text;
    return (await query(spelled.replaceAll('@', prefix), params)).rows;
  };

  return {
    nonces: {
      async consume(nonce, keepUntil) {
        const insert =
          'insert into @nonces (nonce, keep_until) values (?, ?) on conflict (nonce) do nothing returning nonce';
        return (await run(insert, nonce, keepUntil)).length === 1;
      },
    },
    profiles: {
      async isNewer({ id, profile_updated_at: updatedAt }) {
        const select = 'select id from @profiles where id = ? and updated_at >= ?';
        return (await run(select, id, Date.parse(updatedAt))).length === 0;
      },
      async apply(profile) {
        const upsert = `insert into @profiles (id, updated_at, profile) values (?, ?, ?) on conflict (id) do update
          set updated_at = excluded.updated_at, profile = excluded.profile
          where @profiles.updated_at < excluded.updated_at returning id`;
        const updatedAt = Date.parse(profile.profile_updated_at);
        return (await run(upsert, profile.id, updatedAt, JSON.stringify(profile))).length === 1;
      },
      async find(id) {
        const [row] = await run('select profile from @profiles where id = ? and profile is not null', id);
        return row && (JSON.parse(String(row.profile)) as Profile);
      },
      async forget(id) {
        const upsert = `insert into @profiles (id, updated_at, profile) values (?, ?, null) on conflict (id) do update
          set updated_at = excluded.updated_at, profile = null`;
        await run(upsert, id, never);
      },
      async forgetAll() {
        await run('delete from @profiles');
      },
    },
    endedLogins: {
      async add(sid, keepUntil) {
        const insert =
          'insert into @ended_logins (sid, keep_until) values (?, ?) on conflict (sid) do nothing';
        await run(insert, sid, keepUntil);
      },
      has: async (sid) => (await run('select sid from @ended_logins where sid = ?', sid)).length > 0,
    },
    position: createSqlPosition(run),
    /** Deletes rows that no hand-off can need any more. Call it about once a day. */
    async sweep(now = new Date()) {
      const nowSeconds = Math.floor(now.getTime() / 1_000);
      for (const table of ['nonces', 'ended_logins'])
        await run(`delete from @${table} where keep_until < ?`, nowSeconds);
    },
  };
}
