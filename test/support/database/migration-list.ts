// Writes db/migrations/list.ts from the migrations beside it. Keeps the digests that show whether a migration has changed.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from './format.ts';

const folder = fileURLToPath(new URL('../../../db/migrations/', import.meta.url));

export const migrationListFile = `${folder}list.ts`;

const listNames = async () =>
  (await readdir(folder))
    .filter((file) => file.endsWith('.ts') && file !== 'list.ts')
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();

export async function buildMigrationList(): Promise<string> {
  const names = await listNames();
  const text = `// Every migration, in the order of their names. Written by "npm run schema" from the files beside it.
${names.map((name) => `import * as ${identify(name)} from './${name}.ts';`).join('\n')}

export const migrations = {
${names.map((name) => `  '${name}': ${identify(name)},`).join('\n')}
};
`;
  return format(text, migrationListFile);
}

/** `m101-take-back` is imported as `takeBack`. */
const identify = (name: string) =>
  name.replace(/^m\d+-/, '').replace(/-(.)/g, (_, first: string) => first.toUpperCase());

/** The digests of all migrations by name, in their order. */
export type Digests = Record<string, string>;

/** The digests of the recorded migrations, which databases have already run. Only `npm run schema` adds to this file. */
export const landedFile = fileURLToPath(new URL('../../database/landed-migrations.json', import.meta.url));

export const readLanded = async (): Promise<Digests> => JSON.parse(await readFile(landedFile, 'utf8'));

export const digestOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

export async function digestMigrations(): Promise<Digests> {
  const names = await listNames();
  const digests = names.map(async (name) => [name, digestOf(await readFile(`${folder}${name}.ts`))] as const);
  return Object.fromEntries(await Promise.all(digests));
}

/** Returns a sentence for each recorded migration that has changed, and for each new one that does not come last. */
export function findChanged(landed: Digests, now: Digests): string[] {
  const why =
    'Databases have run it as it was: put it back, and do what is new in a migration of its own. If main has never had it, take its ' +
    'line out of test/database/landed-migrations.json.';
  const changed = Object.entries(landed)
    .filter(([name, digest]) => now[name] !== digest)
    .map(([name]) => `The migration ${name} ${name in now ? 'has changed' : 'is gone'}. ${why}`);
  const last = Object.keys(landed).sort().at(-1) ?? '';
  const early = Object.keys(now)
    .filter((name) => !(name in landed) && name < last)
    .map(
      (name) =>
        `The migration ${name} is new, and comes before ${last}, which has landed. Give it a later number.`,
    );
  return [...changed, ...early];
}

/** Returns the text of the file with the digests of new migrations. Throws if a recorded digest has changed. */
export async function buildLanded(): Promise<string> {
  const [landed, now] = [await readLanded(), await digestMigrations()];
  const changed = findChanged(landed, now);
  if (changed.length > 0) throw new Error(changed.join('\n'));
  return `${JSON.stringify({ ...landed, ...now }, null, 2)}\n`;
}
