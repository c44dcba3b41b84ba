// A whole database as plain SQL, as pg_dump would write it: its structure, then its rows as `COPY … FROM stdin`.
import { type Kysely, sql } from 'kysely';
import { connect } from './postgres.ts';
import { buildSchemaSql } from './schema-sql.ts';

/** The columns and rows of each table; values are as Postgres writes them, in UTC. */
export type Rows = Record<string, { columns: string[]; rows: (string | null)[][] }>;

// Triggers and foreign keys are off while the rows arrive, because these rows have passed them before.
const beforeRows = `
CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL);
CREATE TABLE kysely_migration_lock (id varchar(255) PRIMARY KEY, is_locked integer NOT NULL DEFAULT 0);
SET session_replication_role = replica;
SET timezone = 'UTC';
`;

/** `heading` is a comment that says where the dump comes from. */
export async function dumpDatabase(url: string, heading: string): Promise<string> {
  const schema = (await buildSchemaSql(url)).replace(/^(--.*\n)+/, '');
  const { db, close } = connect(url);
  try {
    const tables = Object.entries(await readRows(db)).filter(([, { rows }]) => rows.length > 0);
    const copies = tables.map(([name, { columns, rows }]) => {
      const lines = rows.map((row) => row.map(writeValue).join('\t'));
      return `COPY ${name} (${columns.map((column) => `"${column}"`).join(', ')}) FROM stdin;\n${lines.join('\n')}\n\\.\n`;
    });
    const taken = `-- Taken at ${new Date().toISOString()}`;
    return [heading, taken, schema, beforeRows, ...copies, ...(await readSequences(db))].join('\n');
  } finally {
    await close();
  }
}

export async function readRows<T>(db: Kysely<T>): Promise<Rows> {
  await sql`set timezone = 'UTC'`.execute(db);
  const { rows: tables } = await sql<{ name: string; columns: string[] }>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' group by 1 order by 1`.execute(
    db,
  );
  const found: Rows = {};
  for (const { name, columns } of tables) {
    const values = sql.join(columns.map((column) => sql`${sql.ref(column)}::text`));
    const { rows } = await sql<{ row: (string | null)[] }>`
      select array[${values}] as row from ${sql.table(name)} order by 1`.execute(db);
    found[name] = { columns, rows: rows.map(({ row }) => row) };
  }
  return found;
}

async function readSequences<T>(db: Kysely<T>): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select format('SELECT setval(%L, %s);', sequencename, last_value) as text from pg_sequences
    where schemaname = current_schema() and last_value is not null order by 1`.execute(db);
  return rows.map(({ text }) => text);
}

const writeValue = (value: string | null) =>
  value === null
    ? '\\N'
    : value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

const readValue = (text: string) =>
  text === '\\N'
    ? null
    : text.replace(/\\(.)/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? letter);

/**
 * Loads a dump into an empty database as if it had just been taken. All times in the dump are moved forward by the age of the
 * dump.
 */
export async function loadDump(url: string, text: string): Promise<void> {
  const { db, close } = connect(url);
  try {
    const [schema = '', ...rest] = text.split(/^(?=COPY )/m);
    await sql.raw(schema).execute(db);
    for (const part of rest) {
      const [copy = '', after = ''] = part.split('\n\\.\n');
      const [first = '', ...lines] = copy.split('\n');
      const [, name = '', columns = ''] = /^COPY (\w+) \((.*)\) FROM stdin;$/.exec(first) ?? [];
      for (const line of lines) {
        const values = sql.join(line.split('\t').map(readValue));
        await sql`insert into ${sql.table(name)} (${sql.raw(columns)}) overriding system value values (${values})`.execute(
          db,
        );
      }
      if (after.trim()) await sql.raw(after).execute(db);
    }
    const takenAt = /^-- Taken at (\S+)$/m.exec(text)?.[1] ?? '';
    await moveTimes(db, Date.now() - new Date(takenAt).getTime());
  } finally {
    await close();
  }
}

async function moveTimes<T>(db: Kysely<T>, ms: number): Promise<void> {
  const { rows } = await sql<{ name: string; column: string; type: string }>`
    select table_name as name, column_name as column, data_type as type from information_schema.columns
    where table_schema = current_schema() and (data_type = 'timestamp with time zone'
      or (table_name, column_name) in (('rate_limits', 'expire'), ('authenticators', 'last_step')))`.execute(
    db,
  );
  for (const { name, column } of rows) {
    const by =
      { expire: sql`${ms}::bigint`, last_step: sql`${Math.round(ms / 30_000)}::integer` }[column] ??
      sql`make_interval(secs => ${ms / 1_000})`;
    await sql`update ${sql.table(name)} set ${sql.ref(column)} = ${sql.ref(column)} + ${by}`.execute(db);
  }
}
