// Which part of the source may lean on which. Read from the import statements themselves.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Source = { file: string; text: string };
/** `target` is a file of ours from the root (`db/client.ts`), or as written (`pg`, `node:fs`). */
type Import = { name: string; target: string; isType: boolean };
type Rule = { name: string; breaches: (source: Source) => string[] };

export function readSources(): Source[] {
  return ['app', 'server', 'db'].flatMap((folder) =>
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

/** Lines that are nothing but a comment: enough, as our formatter keeps code off them. */
const withoutComments = (text: string) => text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');

/** Whether `path` is one of `places`, or below one that ends in a slash. */
export const isIn = (path: string, ...places: string[]) =>
  places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));

const isPackage = (target: string, ...names: string[]) =>
  names.some((name) => target === name || target.startsWith(`${name}/`));

/** In files of `inside` (all, where left out) but `except`, no import that `isForbidden`. */
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
  'server/runtime/',
  'server/sso/hmac.ts',
  'db/client.ts',
  'db/embedded.ts',
  'db/embedded-files.ts',
];
const runtimeGlobal =
  /(?<![\w$.'"/-])(?:process|Deno|Bun|Buffer)(?=\s*(?:\?\.|\.\w|\[|;|\)|,\s*\w))|\bglobalThis\b/g;

export const rules: Rule[] = [
  imports('app/ takes only types from server/ and db/', {
    inside: 'app/',
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
  imports('only db/client.ts imports pg', {
    except: ['db/client.ts'],
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
    isForbidden: ({ target }) => target !== 'kysely',
  }),
  imports('server/sso/ imports only itself, oslo, zod and node:crypto, so that a client can copy it', {
    inside: 'server/sso/',
    isForbidden: ({ target }) =>
      !isIn(target, 'server/sso/') && !isPackage(target, 'oslo', 'zod', 'node:crypto'),
  }),
  {
    name: 'process and Deno are used only near the runtime',
    breaches: ({ file, text }) =>
      isIn(file, ...nearTheRuntime)
        ? []
        : [...withoutComments(text).matchAll(runtimeGlobal)].map(([found]) => `${file} uses ${found}`),
  },
  {
    name: 'transactions are opened in one place',
    breaches: ({ file, text }) =>
      isIn(file, 'db/transactions.ts')
        ? []
        : [...withoutComments(text).matchAll(/\.(?:startT|t)ransaction\(\)/g)].map(
            ([found]) => `${file} uses ${found}`,
          ),
  },
];
