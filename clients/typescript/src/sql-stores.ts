// The stores in a database: Postgres, SQLite since 3.35, MySQL or MariaDB. Each change is one guarded statement, so that any
// number of processes can share the stores.
import type { Profile } from './hand-off.ts';
import { createSqlPosition } from './sql-position.ts';
import type { Stores } from './stores.ts';

/**
 * Runs a statement. Every driver has a function like this. `rows` are objects with the names of the columns as keys. With
 * MySQL, `affectedRows` says how many rows a statement has changed. With other databases, the kit counts the rows that the
 * statement returns.
 */
export type SqlQuery = (
  text: string,
  params: SqlValue[],
) => Promise<{ rows: Record<string, unknown>[]; affectedRows?: number }>;

type SqlValue = string | number | null;

export type SqlOptions = {
  /** Says how the database writes parameters (`$1` or `?`) and how changed rows are counted. */
  dialect?: 'postgres' | 'sqlite' | 'mysql';
  /** The names of the tables begin with this text. Two clients in one database need different prefixes. */
  prefix?: string;
};

/** Runs statements that have `?` for each value, and `@` before the name of each table. */
export type Sql = {
  read: (text: string, ...values: SqlValue[]) => Promise<Record<string, unknown>[]>;
  /** Returns how many rows an update has changed. */
  change: (text: string, ...values: SqlValue[]) => Promise<number>;
  /** Returns whether the row is new. If its key exists already, nothing changes. */
  insert: (row: string, ...values: SqlValue[]) => Promise<boolean>;
};

/**
 * The statements that create the tables, for your migrations. schema.sql has them, too. Running them again changes nothing.
 * All databases accept them, because only MySQL and MariaDB read what is in `/*! *\/`.
 */
export const sqlTables = (prefix = 'identity_'): string[] =>
  [
    'nonces (nonce varchar(64) primary key, keep_until bigint not null)',
    'ended_logins (sid varchar(64) primary key, keep_until bigint not null)',
    // The row of a deleted person has no profile.
    'profiles (id varchar(36) primary key, updated_at bigint not null, profile text /*! character set utf8mb4 */)',
    // `holder` is empty while no pull is at work.
    `position (name varchar(16) primary key, seq bigint not null, holder varchar(36) not null,
  signs bigint not null)`,
    // The last three constraints are there only as indexes. `sid` is empty if the hand-off had none.
    `sessions (id varchar(64) primary key, sid varchar(64) not null, user_id varchar(36) not null,
  expires_at bigint not null, unique (sid, id), unique (user_id, id), unique (expires_at, id))`,
  ].map(
    (table) => `create table if not exists ${prefix}${table}\n  /*! character set ascii collate ascii_bin */`,
  );

/** Escapes the JSON to ASCII, which no character set of a table or a connection can change. */
const toAscii = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Rows are kept for this much longer than they are needed, because the clock of the process that sweeps may be fast. */
const sweepLaterSeconds = 600;

/** Stands for a time later than every `profile_updated_at`. */
const never = Number.MAX_SAFE_INTEGER;

export function createSqlStores(
  query: SqlQuery,
  { dialect = 'postgres', prefix = 'identity_' }: SqlOptions = {},
): Required<Stores> & { sweep: (now?: Date) => Promise<void> } {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix))
    throw new TypeError('prefix must be a plain name in lower case');
  const sql = createSql(query, dialect, prefix);
  const { read, change, insert } = sql;

  /** Keeps only a later profile, even if several come at once. */
  async function keep(id: string, updatedAt: number, profile: string | null): Promise<boolean> {
    if (await insert('@profiles (id, updated_at, profile) values (?, ?, ?)', id, updatedAt, profile))
      return true;
    const update = 'update @profiles set updated_at = ?, profile = ? where id = ? and updated_at < ?';
    return (await change(update, updatedAt, profile, id, updatedAt)) === 1;
  }

  return {
    nonces: {
      consume: (nonce, keepUntil) => insert('@nonces (nonce, keep_until) values (?, ?)', nonce, keepUntil),
    },
    profiles: {
      async isNewer({ id, profile_updated_at: updatedAt }) {
        const select = 'select id from @profiles where id = ? and updated_at >= ?';
        return (await read(select, id, Date.parse(updatedAt))).length === 0;
      },
      apply: (profile) =>
        keep(profile.id, Date.parse(profile.profile_updated_at), toAscii(JSON.stringify(profile))),
      async find(id) {
        const [row] = await read('select profile from @profiles where id = ? and profile is not null', id);
        return row && (JSON.parse(String(row.profile)) as Profile);
      },
      async forget(id) {
        await keep(id, never, null);
      },
      async forgetAll() {
        await read('delete from @profiles');
      },
    },
    endedLogins: {
      async add(sid, keepUntil) {
        await insert('@ended_logins (sid, keep_until) values (?, ?)', sid, keepUntil);
      },
      has: async (sid) => (await read('select sid from @ended_logins where sid = ?', sid)).length > 0,
    },
    sessions: {
      async add({ id, sid = '', userId, expiresAt }, now) {
        // An error here is ignored: the next login sweeps again.
        await read('delete from @sessions where expires_at < ?', now).catch(() => {});
        const row = '@sessions (id, sid, user_id, expires_at) values (?, ?, ?, ?)';
        if (!(await insert(row, id, sid, userId, expiresAt)))
          throw new Error('The session is there already.');
      },
      async find(id) {
        const [row] = await read('select sid, user_id, expires_at from @sessions where id = ?', id);
        if (!row) return undefined;
        const sid = String(row.sid) || undefined;
        return { id, sid, userId: String(row.user_id), expiresAt: Number(row.expires_at) };
      },
      async end(id) {
        await read('delete from @sessions where id = ?', id);
      },
      async endLogin(sid) {
        await read('delete from @sessions where sid = ?', sid);
      },
      async endPerson(userId) {
        await read('delete from @sessions where user_id = ?', userId);
      },
      async endAll() {
        await read('delete from @sessions');
      },
    },
    position: createSqlPosition(sql),
    /** Deletes rows that no hand-off can need any more. Call it about once a day. Each login deletes expired sessions. */
    async sweep(now = new Date()) {
      const nowSeconds = Math.floor(now.getTime() / 1_000);
      for (const table of ['nonces', 'ended_logins'])
        await read(`delete from @${table} where keep_until < ?`, nowSeconds - sweepLaterSeconds);
    },
  };
}

function createSql(query: SqlQuery, dialect: SqlOptions['dialect'], prefix: string): Sql {
  const isMysql = dialect === 'mysql';

  async function run(text: string, values: SqlValue[]) {
    let count = 0;
    const spelled = dialect === 'postgres' ? text.replaceAll('?', () => `$${++count}`) : text;
    return query(spelled.replaceAll('@', prefix), values);
  }

  const change: Sql['change'] = async (text, ...values) => {
    const { rows, affectedRows } = await run(isMysql ? text : `${text} returning 1 as one`, values);
    if (!isMysql) return rows.length;
    if (affectedRows === undefined) throw new TypeError('for MySQL, query must give affectedRows');
    return Number(affectedRows);
  };

  return {
    read: async (text, ...values) => (await run(text, values)).rows,
    change,
    insert: async (row, ...values) => {
      const text = isMysql ? `insert ignore into ${row}` : `insert into ${row} on conflict do nothing`;
      return (await change(text, ...values)) === 1;
    },
  };
}
