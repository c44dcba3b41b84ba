// Which parts of the source may import which other parts. It reads the import statements themselves.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Source = { file: string; text: string };
/** `target` is a file of ours from the root (`db/postgres/client.ts`), or the name as the import has it (`pg`, `node:fs`). */
type Import = { name: string; target: string; isType: boolean };
type Rule = { name: string; breaches: (source: Source) => string[] };

export function readSources(): Source[] {
  return ['app', 'server', 'db', 'clients/doctor'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
      .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') })),
  );
}

const statement =
  /^[ \t]*(?:import|export)\b((?:\s+type)?\s*[\w$*{][\w$\s{},*]*?\bfrom)?\s*(['"])([^'"\n]+)\2/gm;
const call = /\b(?:import|require)\s*\(\s*(?:(['"`])([^'"`\n$]+)\1)?/g;

export function readImports({ file, text }: Source): Import[] {
  const stated = [...text.matchAll(statement)].map(([, what = '', , name]) => ({
    name,
    isType: isTypeOnly(what),
  }));
  const called = [...withoutComments(text).matchAll(call)].map(([, , name]) => ({ name, isType: false }));
  return [...stated, ...called].map(({ name = 'unreadable', isType }) => ({
    name,
    target: (name.startsWith('.') ? join(dirname(file), name) : name).replaceAll('\\', '/'),
    isType,
  }));
}

function isTypeOnly(what: string): boolean {
  if (/^\s+type\s+(?!,|from\b)/.test(what)) return true;
  const named = /^\s*\{([^}]*)\}/
    .exec(what)?.[1]
    ?.split(',')
    .map((name) => name.trim());
  return named?.filter(Boolean).every((name) => name.startsWith('type ')) ?? false;
}

/**
 * Returns a text without the lines that are only a comment. That is enough, because our formatter moves code off such lines.
 */
const withoutComments = (text: string) => text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');

/** Returns whether `path` is one of `places`, or is inside a place that ends in a slash. */
export const isIn = (path: string, ...places: string[]) =>
  places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));

const isPackage = (target: string, ...names: string[]) =>
  names.some((name) => target === name || target.startsWith(`${name}/`));

/** A rule: no file of `inside` (all if left out) has an import that `isForbidden`, except the files of `except`. */
function imports(
  name: string,
  options: { inside?: string; except?: string[]; isForbidden: (found: Import) => boolean },
): Rule {
  return {
    name,
    breaches: (source) => {
      if (options.inside && !isIn(source.file, options.inside)) return [];
      if (isIn(source.file, ...(options.except ?? []))) return [];
      return readImports(source)
        .filter(options.isForbidden)
        .map(({ target }) => `${source.file} imports ${target}`);
    },
  };
}

const nearTheRuntime = [
  'app/developers/publish/',
  'server/runtime/',
  'server/instance/build.ts',
  'server/instance/bundler.ts',
  'db/postgres/connection.ts',
  'db/embedded/server.ts',
  'db/embedded/files.ts',
];
const runtimeGlobal =
  /(?<![\w$.'"/-])(?:process|Deno|Bun|Buffer)(?=\s*(?:\?\.|\.\w|\[|;|\)|,\s*\w))|\bglobalThis\b/g;

const withHistory = ['users', 'accounts', 'external-links', 'service-contracts'].map(
  (name) => `db/tables/${name}.ts`,
);
const writes = /\.(?:insertInto|updateTable|deleteFrom)\(|\binsert\(|\b(?:insert into|update|delete from) /;

/** By file of db/, the tables that it writes to besides the table of its name. */
const furtherTables: Record<string, string[]> = {
  'db/tables/clients.ts': ['client_secrets'],
  'db/tables/deletions.ts': ['users'],
  'db/tables/events.ts': ['event_sequences'],
  'db/tables/invoices.ts': ['invoice_numbers'],
  'db/tables/person-words.ts': ['people_to_index'],
  'db/migration-status.ts': ['kysely_migration'],
};
const writtenByKysely = /\.(?:insertInto|updateTable|deleteFrom)\('(\w+)/g;
const writtenBySql =
  /(?:\binsert into|\bdelete from|(?<!\b(?:for|do) )\bupdate(?! set\b)) (?:pg_temp\.)?(\w+)/g;

/** Returns the tables that a file writes to, as far as its text names them. */
function listWritten({ file, text }: Source): string[] {
  const forms = isIn(file, 'db/') ? [writtenByKysely, writtenBySql] : [writtenByKysely];
  return forms.flatMap((form) => [...withoutComments(text).matchAll(form)].map(([, table = '']) => table));
}

const isOwnTable = (file: string, table: string) =>
  file === `db/tables/${table.replaceAll('_', '-')}.ts` || (furtherTables[file]?.includes(table) ?? false);

/** The rooms of server/, in order. Each room imports only from the rooms before it. */
export const rooms = [
  'basics',
  'sso',
  'runtime',
  'settings',
  'web',
  'metrics',
  'ground',
  'clients',
  'identity/ground',
  'identity/session',
  'identity/password',
  'identity/passkey',
  'identity/factor',
  'identity/login',
  'identity/person',
  'identity/address',
  'identity/history',
  'identity/recovery',
  'openid',
  'marketplace',
  'acts',
  'billing/values',
  'billing/contracts',
  'billing/settings',
  'billing/invoices',
  'billing/payments',
  'billing/documents',
  'billing/customers',
  'billing/upkeep',
  'events',
  'mail',
  'staff',
  'doors/jobs',
  'doors/endpoints',
  'doors/openapi',
  'doors/demo',
  'doors/trpc',
  'doors/cli',
  'instance',
];

/** Returns the place of a file's room, or -1 if it is in none. `server/main.ts` and `server/cli.ts` come after all rooms. */
const roomOf = (file: string): number =>
  isIn(file, 'server/main.ts', 'server/cli.ts')
    ? rooms.length
    : rooms.findIndex((room) => isIn(file, `server/${room}/`));

/** The files of the service that the doctor may use: formats on the wire, URLs, and the version. */
const forClients = [
  'server/sso/',
  'server/events/nudge-secret.ts',
  'server/web/webhook-signature.ts',
  'server/basics/url.ts',
  'server/settings/this-machine.ts',
  'server/runtime/version.ts',
  'server/web/launch-id.ts',
];

export const rules: Rule[] = [
  imports('app/ takes only types from server/ and db/', {
    inside: 'app/',
    // These two files run at the build, when there is no backend.
    except: ['app/developers/publish/highlight.ts', 'app/developers/publish/render.ts'],
    isForbidden: ({ target, isType }) => isIn(target, 'server/', 'db/') && !isType,
  }),
  imports('server/ takes nothing from app/, React or Remix', {
    inside: 'server/',
    isForbidden: ({ target }) =>
      isIn(target, 'app/') || isPackage(target, 'react', 'react-dom', '@remix-run', 'virtual:remix'),
  }),
  imports('db/ takes nothing from app/ or server/', {
    inside: 'db/',
    isForbidden: ({ target }) => isIn(target, 'app/', 'server/'),
  }),
  imports('nothing that ships takes anything from test/', {
    isForbidden: ({ target }) => isIn(target, 'test/') || isPackage(target, 'vitest', 'fast-check'),
  }),
  {
    name: 'each room of server/ takes only from those before it, and no file lies outside a room',
    breaches: (source) => {
      if (!isIn(source.file, 'server/')) return [];
      const own = roomOf(source.file);
      if (own < 0) return [`${source.file} is in no room`];
      return readImports(source)
        .filter(({ target }) => roomOf(target) > own)
        .map(({ target }) => `${source.file} imports ${target}`);
    },
  },
  {
    name: 'pages use procedures: endpoints are for routes without a page',
    breaches: ({ file, text }) =>
      /^app\/.*\.tsx$/.test(file)
        ? [
            ...withoutComments(text).matchAll(
              /context\.endpoints\b|\bendpoints\b[^=;]*\} = (?:args\.)?context\b/g,
            ),
          ].map(() => `${file} uses endpoints`)
        : [],
  },
  imports('the doctor takes only what is on the wire from the service', {
    inside: 'clients/doctor/',
    isForbidden: ({ target }) =>
      isIn(target, 'app/', 'db/') || (isIn(target, 'server/') && !isIn(target, ...forClients)),
  }),
  imports('only db/postgres/client.ts and connection.ts import pg', {
    except: ['db/postgres/client.ts', 'db/postgres/connection.ts'],
    isForbidden: ({ target }) => isPackage(target, 'pg'),
  }),
  imports('node: is imported only near the runtime', {
    except: nearTheRuntime,
    isForbidden: ({ target }) => target.startsWith('node:'),
  }),
  imports('an import whose target is computed is near the runtime', {
    except: nearTheRuntime,
    isForbidden: ({ target }) => target === 'unreadable',
  }),
  imports('a migration imports kysely only, so that no later change of ours changes the past', {
    inside: 'db/migrations/',
    except: ['db/migrations/list.ts'],
    isForbidden: ({ target }) => target !== 'kysely',
  }),
  imports('server/sso/ imports only itself, oslo and zod, so that a client can copy it', {
    inside: 'server/sso/',
    isForbidden: ({ target }) => !isIn(target, 'server/sso/') && !isPackage(target, 'oslo', 'zod'),
  }),
  {
    name: 'process and Deno are used only near the runtime',
    breaches: ({ file, text }) =>
      isIn(file, ...nearTheRuntime)
        ? []
        : [...withoutComments(text).matchAll(runtimeGlobal)].map(([found]) => `${file} uses ${found}`),
  },
  {
    name: 'URLs are read by parseUrl, which says why',
    breaches: ({ file, text }) =>
      withoutComments(text).includes('URL.canParse') ? [`${file} uses URL.canParse`] : [],
  },
  {
    name: 'transactions are opened in one place: inTransaction',
    breaches: ({ file, text }) =>
      [...withoutComments(text).matchAll(/\.(?:startT|t)ransaction\(\)/g)].map(
        ([found]) => `${file} uses ${found}`,
      ),
  },
  {
    name: 'db/ names the columns that it reads: Postgres refuses a prepared statement with `*` once a newer version adds one',
    breaches: ({ file, text }) =>
      isIn(file, 'db/')
        ? [...withoutComments(text).matchAll(/\.(?:select|returning)All\(/g)].map(
            ([found]) => `${file} uses ${found}`,
          )
        : [],
  },
  {
    name: 'what writes to a table with a history takes a transaction, which has an origin',
    breaches: ({ file, text }) =>
      withHistory.includes(file)
        ? text
            .split(/^(?=(?:export |const |async |function ))/m)
            .filter((part) => /\bdb: Database\b/.test(part) && writes.test(part))
            .map((part) => `${file} writes without a transaction: ${part.split('\n')[0]}`)
        : [],
  },
  {
    name: 'each table is written to in the file of db/ that is named after it',
    breaches: (source) =>
      isIn(source.file, 'db/migrations/', 'db/shadow-tables.ts')
        ? []
        : listWritten(source)
            .filter((table) => !isOwnTable(source.file, table))
            .map((table) => `${source.file} writes to ${table}`),
  },
  {
    name: 'server/ starts sessions and makes customers in one place each',
    breaches: ({ file, text }) =>
      isIn(file, 'db/', 'server/identity/session/sessions.ts', 'server/identity/ground/customers.ts')
        ? []
        : [...withoutComments(text).matchAll(/\bdefer(?:Session|User|Account)\(/g)].map(
            ([found]) => `${file} uses ${found}`,
          ),
  },
];

/**
 * Returns the circles of imports in app/, server/ and db/, including imports of types. A circle is a list of files, by the
 * shortest way round.
 */
export function findCircles(sources: Source[]): string[] {
  const imported = new Map(
    sources
      .filter(({ file }) => isIn(file, 'app/', 'server/', 'db/'))
      .map((source) => [source.file, readImports(source).map(({ target }) => target)]),
  );
  const circles = new Map<string, string>();
  for (const file of imported.keys()) {
    const circle = findWayBack(imported, file);
    if (!circle) continue;
    // Each file of a circle leads to the same circle, which is kept only one time.
    const members = circle.toSorted().join();
    if (!circles.has(members)) circles.set(members, [...circle, file].join(' → '));
  }
  return [...circles.values()];
}

/** Returns the files on the shortest way from `start` back to it, `start` first; undefined if there is no way back. */
function findWayBack(imported: Map<string, string[]>, start: string): string[] | undefined {
  const seen = new Set<string>();
  const ways = [[start]];
  for (const way of ways) {
    for (const target of imported.get(way.at(-1) ?? '') ?? []) {
      if (target === start) return way;
      if (seen.has(target)) continue;
      seen.add(target);
      ways.push([...way, target]);
    }
  }
  return undefined;
}
