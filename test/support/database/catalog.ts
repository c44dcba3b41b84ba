// Finds in the catalogs of Postgres what a migration takes away from the previous version (docs/inside/recipes/migration.md).
import { type Kysely, sql } from 'kysely';

type Column = { type: string; isRequired: boolean; hasDefault: boolean };
/** `columns` are the columns of the rule. An expression has `null` in place of a column. */
type Rule = { kind: string; columns: (string | null)[]; definition: string };
type Table = { columns: Record<string, Column>; rules: Record<string, Rule> };

export type Catalog = Record<string, Table>;

/** Returns the tables of the service with their columns, constraints and unique indexes. */
export async function readCatalog<T>(db: Kysely<T>): Promise<Catalog> {
  const { rows } = await sql<{
    name: string;
    columns: Table['columns'] | null;
    rules: Table['rules'] | null;
  }>`
    select c.relname as name,
      (select json_object_agg(a.attname, json_build_object(
          'type', format_type(a.atttypid, a.atttypmod) || case when a.attgenerated <> '' then ' generated' else '' end,
          'isRequired', a.attnotnull,
          'hasDefault', a.atthasdef or a.attidentity <> ''))
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select json_object_agg(rule.name, json_build_object(
          'kind', rule.kind, 'columns', rule.columns, 'definition', rule.definition))
        from (
          select k.conname as name,
            case k.contype when 'c' then 'check' when 'f' then 'foreign key' else 'exclusion' end as kind,
            (select json_agg(a.attname) from pg_attribute a
              where a.attrelid = k.conrelid and a.attnum = any (k.conkey)) as columns,
            pg_get_constraintdef(k.oid) as definition
          from pg_constraint k where k.conrelid = c.oid and k.contype in ('c', 'f', 'x')
          union all
          select i.relname, 'unique',
            (select json_agg(a.attname) from unnest(x.indkey) key
              left join pg_attribute a on a.attrelid = c.oid and a.attnum = key and key > 0),
            pg_get_indexdef(i.oid)
          from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid and x.indisunique
        ) rule) as rules
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and c.relname not like 'kysely_%'`.execute(db);
  return Object.fromEntries(
    rows.map(({ name, columns, rules }) => [name, { columns: columns ?? {}, rules: rules ?? {} }]),
  );
}

/** Lists everything that the previous version may trip over, a line for each. */
export function findBreaks(before: Catalog, after: Catalog): string[] {
  return Object.entries(before).flatMap(([name, table]) => {
    const next = after[name];
    if (!next) return [`${name} is gone`];
    return [...findColumnBreaks(table, next), ...findRuleBreaks(table, next)].map(
      (text) => `${name}.${text}`,
    );
  });
}

function findColumnBreaks(before: Table, after: Table): string[] {
  const changed = Object.entries(before.columns).flatMap(([name, column]) => {
    const next = after.columns[name];
    if (!next) return [`${name} is gone`];
    return [
      ...(next.type === column.type ? [] : [`${name} was ${column.type} and is ${next.type}`]),
      ...(next.isRequired && !column.isRequired ? [`${name} must not be null any more`] : []),
      ...(column.hasDefault && !next.hasDefault ? [`${name} has no default any more`] : []),
    ];
  });
  const added = Object.entries(after.columns).flatMap(([name, { isRequired, hasDefault }]) =>
    !(name in before.columns) && isRequired && !hasDefault ? [`${name} is new, and must be given`] : [],
  );
  return [...changed, ...added];
}

function findRuleBreaks(before: Table, after: Table): string[] {
  // The previous version may need these indexes for `on conflict`.
  const gone = Object.entries(before.rules).flatMap(([name, { kind }]) =>
    kind === 'unique' && !after.rules[name] ? [`${name} is gone`] : [],
  );
  const added = Object.entries(after.rules).flatMap(([name, rule]) => {
    const old = before.rules[name];
    if (old?.definition === rule.definition || (old && isWider(old, rule))) return [];
    return mayRefuse(rule, before, after) ? [`${name} may refuse a row (${rule.definition})`] : [];
  });
  return [...gone, ...added];
}

/** Returns whether the new list allows everything that the old check allows. False for any check that is not a list. */
function isWider(old: Rule, next: Rule): boolean {
  const [before, after] = [readList(old.definition), readList(next.definition)];
  if (!before || !after || before.subject !== after.subject) return false;
  return before.values.every((value) => after.values.includes(value));
}

/** Reads `column in ('a', 'b')`, or `column <@ array['a', 'b']`, as Postgres writes them. */
function readList(definition: string): { subject?: string; values: string[] } | undefined {
  const value = "'(?:[^']|'')*'::text";
  const list = new RegExp(
    `^CHECK \\(\\((\\w+ (?:= ANY|<@) \\(?ARRAY)\\[(${value}(?:, ${value})*)\\]\\)?\\)\\)$`,
  );
  const [, subject, values] = list.exec(definition) ?? [];
  return values === undefined ? undefined : { subject, values: values.match(new RegExp(value, 'g')) ?? [] };
}

/** Returns whether the rule may refuse a row of the previous version. That version writes nothing to new columns. */
function mayRefuse({ kind, columns, definition }: Rule, before: Table, after: Table): boolean {
  const isNew = (name: string | null) => name !== null && !(name in before.columns);
  if (kind !== 'unique') return !columns.every(isNew);
  // A unique index allows any number of nulls.
  const staysNull = (name: string | null) =>
    isNew(name) && name !== null && after.columns[name]?.hasDefault === false;
  return !columns.some(staysNull) || definition.includes('NULLS NOT DISTINCT');
}
