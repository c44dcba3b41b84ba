// db/migrations/list.ts, written from the files beside it.
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from './format.ts';

const folder = fileURLToPath(new URL('../../../db/migrations/', import.meta.url));

export const migrationListFile = `${folder}list.ts`;

/** The text that db/migrations/list.ts should have. */
export async function buildMigrationList(): Promise<string> {
  const names = (await readdir(folder))
    .filter((file) => file.endsWith('.ts') && file !== 'list.ts')
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
  const text = `// Every migration, in the order of their names. Written by "npm run schema" from the files beside it.
${names.map((name) => `import * as ${identify(name)} from './${name}.ts';`).join('\n')}

export const migrations = {
${names.map((name) => `  '${name}': ${identify(name)},`).join('\n')}
};
`;
  return format(text, migrationListFile);
}

/** `m020-take-back` is imported as `takeBack`. */
const identify = (name: string) =>
  name.replace(/^(m\d+|\d+-\d+-\d+)-/, '').replace(/-(.)/g, (_, first: string) => first.toUpperCase());
