// The archive of the kit for TypeScript, as npm packs and installs it (contract 13.131 and 13.134).
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { beforeAll, expect, it } from 'vitest';
import { buildArchive } from '../../app/developers/publish/archive.ts';
import { sqlTables } from '../../clients/typescript/src/index.ts';
import { readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const run = promisify(execFile);
const folder = await sharedFolder();
const kit = 'clients/typescript';

beforeAll(async () => {
  for (const [path, bytes] of Object.entries(unzipSync(buildArchive([['kit', kit]])))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  const npm = (cwd: string, ...given: string[]) =>
    run('npm', [...given, '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')], { cwd });
  const { stdout } = await npm(join(folder, 'kit'), 'pack', '--pack-destination', folder);
  for (const type of ['module', 'commonjs']) {
    const project = join(folder, type);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'site', private: true, type }));
    await npm(project, 'install', join(folder, stdout.trim()));
  }
}, 60_000);

const use = `
  import { createIdentityClient, createMemoryStores, type IdentityEvent } from 'identity-client';
  import { identityMiddleware } from 'identity-client/express';
  import { fakeIdentity } from 'identity-client/testing';
  import { identityRoutes } from 'identity-client/web';
  const site = { identityUrl: 'https://shop:${'x'.repeat(32)}@id.example.com', origin: 'https://shop.example.com' };
  const identity = createIdentityClient({ ...site, ...createMemoryStores() });
  const sidOf = (event: IdentityEvent): string => (event.type === 'session.ended' ? event.sid : '');
  const answerRoute = identityRoutes(identity);
  async function main(): Promise<void> {
    const start = await answerRoute(new Request('https://shop.example.com/login'));
    const callback = await fakeIdentity(site).handOff(start?.headers.get('location') ?? '');
    const cookie = start?.headers.get('set-cookie')?.split(';')[0] ?? '';
    const answer = await answerRoute(new Request(callback, { headers: { cookie } }));
    console.log(answer?.status, typeof identityMiddleware(identity), typeof sidOf);
  }
  void main();`;

it.each([
  ['module', { module: 'nodenext' }],
  ['commonjs', { module: 'nodenext' }],
  ['commonjs', { module: 'commonjs', moduleResolution: 'node10' }],
])('works in a project of type %s with %j, with types (contract 13.134)', async (type, options) => {
  const project = join(folder, type);
  await writeFile(join(project, 'site.ts'), use);
  const compilerOptions = {
    ...options,
    strict: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: type === 'module',
    target: 'es2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: [],
    outDir: 'out',
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['site.ts'] }));
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project]).catch((error) =>
    expect.unreachable(error.stdout),
  );
  const { stdout } = await run(process.execPath, [join(project, 'out/site.js')]);
  expect(stdout).toBe('303 function function\n');
});

it('has one version (contract 13.134)', () => {
  const { version } = JSON.parse(readOurFile(`${kit}/package.json`));
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(readOurFile(`${kit}/VERSION`)).toBe(`${version}\n`);
  expect(/^## (\S+)$/m.exec(readOurFile(`${kit}/CHANGELOG.md`))?.[1]).toBe(version);
});

it('has the statements of its tables in one file (contract 13.131)', () => {
  const text = readOurFile(`${kit}/schema.sql`).replace(/^--.*\n/gm, '');
  expect(text.trim()).toBe(
    sqlTables()
      .map((table) => `${table};`)
      .join('\n\n'),
  );
});
