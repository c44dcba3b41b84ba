// `npm run build` builds the pages and the service into build/, with Vite. With --if-needed, it builds only if the source has
// changed since the last build. That check must work even without the build tools, so this is plain JavaScript.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sources = [
  'app',
  'clients',
  'db',
  'docs',
  'server',
  'package.json',
  'package-lock.json',
  'remix.config.js',
  'test/sso-vectors.json',
  'tsconfig.json',
  'vite.config.ts',
];
/** The digest of the source that was last built. The file is missing during a build, and after a failed one. */
const digestFile = join(root, 'build', 'source-digest');
const lockFile = join(root, 'build', 'lock');

// The digest is made before the build, so that a file edited meanwhile counts as changed.
const digest = digestSources();
const isForced = !process.argv.includes('--if-needed');
if (isForced || isNeeded()) build();

function isNeeded() {
  return !existsSync(digestFile) || readFileSync(digestFile, 'utf8') !== digest;
}

/** Waits for a running build, because two builds at once would delete each other's files. */
function lock() {
  mkdirSync(dirname(lockFile), { recursive: true });
  while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  process.on('exit', () => rmSync(lockFile, { force: true }));
}

function takeLock() {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!isBuilding()) rmSync(lockFile, { force: true });
    return false;
  }
}

/** Returns whether the process that made the lock still runs. A killed process leaves its lock behind. */
function isBuilding() {
  try {
    return process.kill(Number(readFileSync(lockFile, 'utf8')), 0);
  } catch (error) {
    return !['ESRCH', 'ENOENT'].includes(codeOf(error));
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return String(/** @type {NodeJS.ErrnoException} */ (error).code);
}

function build() {
  const vite = findVite();
  if (!vite)
    exitWith(
      'The build is missing or out of date, and the tools to make it are not installed. Run "npm ci && npm run build" first.',
    );
  lock();
  // Another process may have built meanwhile.
  if (!isForced && !isNeeded()) return;
  process.stderr.write('Building…\n');
  rmSync(digestFile, { force: true });
  for (const what of [[], ['--ssr'], ['--mode', 'service']]) {
    const args = [vite, 'build', ...what, '--logLevel', 'error'];
    // Standard output belongs to the command that runs after this.
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) exitWith('The build failed.');
  }
  writeFileSync(digestFile, digest);
}

function digestSources() {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(listFiles)) {
    const content = file === 'package-lock.json' ? readLock() : readFileSync(join(root, file));
    hash.update(`${file} ${content.length} `).update(content);
  }
  return hash.digest('hex');
}

/** Reads only the locked packages. Each version of npm writes the other parts in its own way, even when it prunes. */
function readLock() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const locked = Object.entries(packages).map(([path, { integrity }]) => `${path} ${integrity}`);
  return locked.sort().join('\n');
}

/** Leaves out the tests of the kits, and what their builds and tests leave behind. @param {string} part of a path */
function isLeftOut(part) {
  return part.startsWith('.') || ['__pycache__', 'dist', 'tests'].includes(part);
}

/** @param {string} source */
function listFiles(source) {
  const path = join(root, source);
  if (!statSync(path).isDirectory()) return [source];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.split(/[/\\]/).some(isLeftOut))
    .sort()
    .map((name) => join(source, name))
    .filter((file) => statSync(join(root, file)).isFile());
}

function findVite() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  } catch {
    return undefined;
  }
}

/** @param {string} message */
function exitWith(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
