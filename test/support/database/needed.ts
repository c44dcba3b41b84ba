// Writes db/needed.ts from the database that the migrations make. At its start, the service compares its database with that
// file.
import { fileURLToPath } from 'node:url';
import { readSchema, type Schema } from '../../../db/schema-check.ts';
import { format } from './format.ts';
import { connect } from './postgres.ts';

export const neededFile = fileURLToPath(new URL('../../../db/needed.ts', import.meta.url));

// What this version no longer uses and the next one drops: names of tables, `table.name` of columns, triggers, unique indexes and
// foreign keys, and signatures of functions (docs/inside/recipes/migration.md).
const going: string[] = [];

/** Of this function only the name counts: tests put another clock in its place. */
const clock = 'billing_now()';

export async function buildNeeded(url: string): Promise<string> {
  const { db, close } = connect(url);
  try {
    const { schema } = await readSchema(db);
    const text = `// What this version needs of the database: columns, triggers, unique indexes and foreign keys by table, and functions with
// digests of their bodies. Written by "npm run schema".
export const needed = ${JSON.stringify(withoutGoing(schema))};
`;
    return await format(text, neededFile);
  } finally {
    await close();
  }
}

function withoutGoing({ functions, ...byTable }: Schema): Schema {
  const isKept = (name: string) => !going.includes(name);
  const parts = Object.entries(byTable).map(([kind, tables]) => [
    kind,
    Object.fromEntries(
      Object.entries(tables)
        .filter(([table]) => isKept(table))
        .map(([table, names]) => [table, names.filter((name) => isKept(`${table}.${name}`))]),
    ),
  ]);
  const kept = Object.entries(functions)
    .filter(([signature]) => isKept(signature))
    .map(([signature, digest]) => [signature, signature === clock ? '' : digest]);
  return { ...Object.fromEntries(parts), functions: Object.fromEntries(kept) };
}
