// `npm start` and `npm run cli` build only if the source has changed. A stand-in replaces the builder.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'identity-rebuild-'));
  for (const file of ['package.json', 'remix.config.js', 'tsconfig.json', 'vite.config.ts'])
    write(file, '{}');
  writeLock({ integrity: 'sha512-a', libc: ['glibc'] });
  for (const file of [
    'app/root.tsx',
    'app/routes/login.tsx',
    'clients/refusals.json',
    'db/tables/users.ts',
    'app/developers/publish/plugin.ts',
    'docs/contract/README.md',
    'server/main.ts',
    'test/sso-vectors.json',
  ])
    write(file, file);
  cpSync(
    new URL('../../server/runtime/rebuild.js', import.meta.url),
    join(root, 'server/runtime/rebuild.js'),
    { recursive: true },
  );
  write('server/runtime/package.json', '{ "type": "module" }');
  write('node_modules/vite/package.json', '{}');
  setBuilder('');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, content: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
}

function writeLock(locked: object) {
  write('package-lock.json', JSON.stringify({ packages: { 'node_modules/a': locked } }));
}

function setBuilder(code: string) {
  write(
    'node_modules/vite/bin/vite.js',
    `const line = process.argv.slice(2).join(' ') + '\\n';
    require('node:fs').appendFileSync(${JSON.stringify(join(root, 'built'))}, line);
    console.log('a builder talks');
    ${code}`,
  );
}

/** Runs the script. Returns its exit code and output, and how it called the builder. */
function rebuild(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'server/runtime/rebuild.js'), ...args],
    { encoding: 'utf8' },
  );
  const built = join(root, 'built');
  const calls = existsSync(built) ? readFileSync(built, 'utf8').trim().split('\n') : [];
  rmSync(built, { force: true });
  return { status, stdout, stderr, calls };
}

const unchanged = { status: 0, stdout: '', stderr: '', calls: [] };
const threeCalls = ['', ' --ssr', ' --mode service'].map((what) => `build${what} --logLevel error`);
const builds = { status: 0, stdout: '', calls: threeCalls };

it('builds the first time, and not again', () => {
  expect(rebuild('--if-needed')).toMatchObject(builds);
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('builds once, though sixteen ask at once, and does not wait for one that was killed', async () => {
  write('build/lock', String(spawnSync('true').pid));
  setBuilder('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);');
  const statuses = await Promise.all(
    Array.from({ length: 16 }, () => {
      const child = spawn(process.execPath, [join(root, 'server/runtime/rebuild.js'), '--if-needed'], {
        stdio: 'ignore',
      });
      return new Promise((done) => child.once('exit', done));
    }),
  );
  expect(statuses).toEqual(statuses.map(() => 0));
  expect(readFileSync(join(root, 'built'), 'utf8').trim().split('\n')).toEqual(threeCalls);
});

it('always builds when asked to', () => {
  expect(rebuild()).toMatchObject(builds);
  expect(rebuild()).toMatchObject(builds);
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('builds after any change of the source, however old the file', () => {
  rebuild();
  const changes: [what: string, change: () => void][] = [
    ['edited', () => write('app/routes/login.tsx', 'other')],
    ['added', () => write('db/deep/er.ts', '')],
    ['removed', () => rmSync(join(root, 'server/main.ts'))],
    ['moved', () => cpSync(join(root, 'db/tables/users.ts'), join(root, 'app/users.ts'))],
    ['configured', () => write('vite.config.ts', '')],
    ['documented', () => write('docs/contract/README.md', 'other')],
    ['given to clients', () => write('clients/php/kit.php', '')],
    ['published', () => write('test/sso-vectors.json', '{}')],
    ['locked', () => writeLock({ integrity: 'sha512-b' })],
  ];
  for (const [what, change] of changes) {
    change();
    utimesSync(join(root, 'app/routes/login.tsx'), 0, 0);
    expect(rebuild('--if-needed'), what).toMatchObject(builds);
    expect(rebuild('--if-needed'), what).toEqual(unchanged);
  }
});

it('does not build for tests of a kit, and what they or a build have left behind', () => {
  rebuild();
  for (const file of [
    'typescript/dist/index.js',
    'python/__pycache__/kit.pyc',
    'php/.cache/a',
    'php/tests/a.test.php',
  ])
    write(`clients/${file}`, '');
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('does not build where a file is only newer', () => {
  rebuild();
  utimesSync(join(root, 'app/root.tsx'), new Date(), new Date(Date.now() + 60_000));
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('does not build where npm only writes the lock in another way, as an older one does when it prunes', () => {
  rebuild();
  writeLock({ integrity: 'sha512-a' });
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('counts what is edited during a build as changed', () => {
  setBuilder(`require('node:fs').writeFileSync(${JSON.stringify(join(root, 'app/root.tsx'))}, 'edited');`);
  rebuild();
  expect(rebuild('--if-needed')).toMatchObject(builds);
  expect(rebuild('--if-needed')).toEqual(unchanged);
});

it('tries again after a build that failed, also with the source of the one before', () => {
  rebuild();
  write('app/root.tsx', 'wrong');
  setBuilder('process.exit(3);');
  expect(rebuild('--if-needed')).toMatchObject({ status: 1, stdout: '', calls: [threeCalls[0]] });
  write('app/root.tsx', 'app/root.tsx');
  expect(rebuild('--if-needed')).toMatchObject({ status: 1 });
  setBuilder('');
  expect(rebuild('--if-needed')).toMatchObject(builds);
});

it('needs no build tools where nothing has changed, and says what to do where something has', () => {
  rebuild();
  rmSync(join(root, 'node_modules'), { recursive: true });
  expect(rebuild('--if-needed')).toEqual(unchanged);
  write('app/root.tsx', 'changed');
  for (const args of [['--if-needed'], []]) {
    const { status, stdout, stderr } = rebuild(...args);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The build is missing or out of date.* Run "npm ci && npm run build" first\.\n$/);
  }
});
