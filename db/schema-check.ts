// Checks whether the database has what this version needs (contract 9.352 to 9.354). Even if all migrations are recorded,
// somebody may have changed the database by hand, restored a part of it, or migrated it with an unreleased version.
import { type Kysely, sql } from 'kysely';
import { migrations } from './migrations/list.ts';
import { folded } from './migrations/m100-baseline.ts';
import { needed as listed } from './needed.ts';

/** The message is one sentence for operators. */
export class SchemaError extends Error {}

/**
 * The names of what the schema contains, by table. Disabled triggers and invalid keys are left out. `keys` are unique indexes,
 * which `on conflict` needs. `functions` maps each function's signature to the digest of its body, or to '' if the body does not
 * matter.
 */
export type Schema = {
  columns: Record<string, string[]>;
  triggers: Record<string, string[]>;
  keys: Record<string, string[]>;
  foreignKeys: Record<string, string[]>;
  functions: Record<string, string>;
};

const needed: Schema = listed;

/**
 * Reads the schema and the migrations that have run. It reads the schema as statements find it on the search path. Throws if no
 * migration ever ran.
 */
export async function readSchema<T>(db: Kysely<T>): Promise<{ schema: Schema; done: string[] }> {
  const { rows } = await sql<{ kind: keyof Schema | 'done'; part: string; name: string }>`
    with ours as (
      select oid, relname::text as part from pg_class
      where pg_table_is_visible(oid) and relnamespace <> 'pg_catalog'::regnamespace and relkind in ('r', 'p')
        and relname not like 'kysely\\_%')
    select kind, part, name from (
    select 'columns' as kind, part, attname::text as name from ours join pg_attribute on attrelid = oid
      where attnum > 0 and not attisdropped
    union all
    select 'triggers', part, tgname from ours join pg_trigger on tgrelid = ours.oid
      where not tgisinternal and tgenabled in ('O', 'A')
    union all
    select 'keys', part, c.relname from ours join pg_index on indrelid = ours.oid join pg_class c on c.oid = indexrelid
      where indisunique and indisvalid
    union all
    select 'foreignKeys', part, conname from ours join pg_constraint on conrelid = ours.oid where contype = 'f'
    union all
    select 'functions', proname || '(' || oidvectortypes(proargtypes) || ')',
      left(encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), 16)
      from pg_proc where pg_function_is_visible(oid) and pronamespace <> 'pg_catalog'::regnamespace
    union all
    select 'done', '', name from kysely_migration
    ) found order by kind, part collate "C", name collate "C"`.execute(db);
  const namesOf = (kind: keyof Schema | 'done', part: string) =>
    rows.filter((row) => row.kind === kind && row.part === part).map(({ name }) => name);
  const byTable = (kind: keyof Schema) => {
    const tables = new Set(rows.filter((row) => row.kind === kind).map(({ part }) => part));
    return Object.fromEntries([...tables].map((table) => [table, namesOf(kind, table)]));
  };
  const functions = rows.filter(({ kind }) => kind === 'functions');
  return {
    schema: {
      columns: byTable('columns'),
      triggers: byTable('triggers'),
      keys: byTable('keys'),
      foreignKeys: byTable('foreignKeys'),
      functions: Object.fromEntries(functions.map(({ part, name }) => [part, name])),
    },
    done: namesOf('done', ''),
  };
}

/**
 * Returns what this version needs and the database does not have. Ignores what a newer version may have added. Functions of a
 * newer version may have other bodies, which still work here.
 */
export async function findMissing<T>(db: Kysely<T>): Promise<string[]> {
  const { schema, done } = await readSchema(db);
  const isNewer = listAhead(done).length > 0;
  const missing: string[] = [];
  for (const [table, columns] of Object.entries(needed.columns)) {
    const found = schema.columns[table];
    if (!found) {
      missing.push(`the table ${table}`);
      continue;
    }
    const note = (what: string, names: string[] = [], there: string[] = []) =>
      missing.push(
        ...names.filter((name) => !there.includes(name)).map((name) => `the ${what} ${name} of ${table}`),
      );
    note('column', columns, found);
    note('trigger', needed.triggers[table], schema.triggers[table]);
    note('unique index', needed.keys[table], schema.keys[table]);
    note('foreign key', needed.foreignKeys[table], schema.foreignKeys[table]);
  }
  for (const [name, digest] of Object.entries(needed.functions)) {
    const found = schema.functions[name];
    if (found === undefined) missing.push(`the function ${name}`);
    else if (digest !== '' && found !== digest && !isNewer)
      missing.push(`the function ${name} as it was made`);
  }
  return missing;
}

const mostNamed = 5;

export function describeMissing(missing: string[]): string {
  const named = missing.slice(0, mostNamed);
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : '';
  return (
    `This version does not start on this database, which lacks ${named.join(', ')}${more}, ` +
    'although all its migrations have run (docs/operate/troubleshoot.md, "The start refuses the database").'
  );
}

/** Throws a SchemaError. */
export async function requireSchema<T>(db: Kysely<T>): Promise<void> {
  const missing = await findMissing(db);
  if (missing.length > 0) throw new SchemaError(describeMissing(missing));
}

export const listAhead = (done: string[]): string[] =>
  done.filter((name) => !(name in migrations) && !folded.includes(name));

/**
 * Says why the missing migrations cannot run, or returns undefined if they can. The missing migrations must come after all
 * migrations that have run, and this version must know all migrations that have run. The database must be empty or have all
 * migrations of 0.6.0.
 */
export function findOrderFault(done: string[]): string | undefined {
  const names = Object.keys(migrations).sort();
  const toDo = names.filter((name) => !done.includes(name));
  if (toDo.length === 0) return undefined;
  const refused = 'This version does not start on this database, which';
  const early = done.length === 0 ? [] : folded.filter((name) => !done.includes(name));
  const ahead = listAhead(done);
  if (early.length > 0 && ahead.length === 0)
    return `${refused} is older than 0.6.0: run \`migrate\` of version 0.6.0 on it first (docs/operate/upgrade.md, "From before 0.6.0").`;
  const isLater = names.slice(-toDo.length).every((name, at) => name === toDo[at]);
  if (ahead.length === 0 && isLater) return undefined;
  const unknown =
    ahead.length > 0 ? `it has ${ahead.join(', ')}, which this version does not know, and` : 'it';
  return (
    `${refused} a version has migrated that was never released: ${unknown} ` +
    `lacks ${[...early, ...toDo].join(', ')} (docs/operate/troubleshoot.md, "The start refuses the database").`
  );
}
