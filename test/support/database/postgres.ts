// One Postgres for a whole test run, in a temporary folder. Each worker clones the migrated template.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startEmbeddedPostgres } from '../../../db/embedded/server.ts';
import { type DatabaseClient, type DatabaseOptions, openDatabase } from '../../../db/postgres/client.ts';
import { migrate } from '../../../db/postgres/migrate.ts';

export type TestPostgres = { templateUrl: string; stop: () => Promise<void> };

const template = 'identity';

/** `check` is passed on to `migrate`. */
export async function startTestPostgres(check?: Parameters<typeof migrate>[2]): Promise<TestPostgres> {
  const folder = await makeFolder();
  const server = await startEmbeddedPostgres(join(folder, 'data'), {
    // A power cut would lose only a test run.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      unix_socket_directories: join(folder, 'data'),
    },
  });
  await migrate(server.url, undefined, check);
  return {
    // A statement needs a quarter less processor time on a Unix socket than on TCP.
    templateUrl: `${server.url}?host=${join(folder, 'data')}`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens one connection with prepared statements, unless `options` say otherwise. Close it when done. */
export function connect(
  url: string,
  options: Partial<
    Pick<
      DatabaseOptions,
      'poolSize' | 'preparedStatements' | 'statementTimeoutMs' | 'connectTimeoutMs' | 'keyOf'
    >
  > = {},
): DatabaseClient {
  // These times are long, because a busy machine may be very slow.
  const patience = { statementTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
  const own = { poolSize: 1, preparedStatements: true, onError: () => undefined };
  return openDatabase({ url, ...own, ...patience, ...options });
}

/** The URL with options of the session, such as `-c timezone=UTC`. */
export function withOptions(databaseUrl: string, options: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', options);
  return url.href;
}

/** A temporary folder that Postgres can reach, even if the tests run as root and Postgres does not. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp('/var/tmp/identity-test-');
  await chmod(folder, 0o711);
  return folder;
}

/** A database of its own; `drop` ends connections that are still open. */
export type TestDatabase = { url: string; drop: () => Promise<void> };

/** A fresh database, migrated. */
export const cloneDatabase = (templateUrl: string) => createDatabase(templateUrl, template);

/** A fresh database without a table. */
export const emptyDatabase = (templateUrl: string) => createDatabase(templateUrl, 'template0');

async function createDatabase(templateUrl: string, from: string): Promise<TestDatabase> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  const url = new URL(templateUrl);
  url.pathname = `/${name}`;
  // Copying files takes a third less processor time than writing everything to the log.
  await administer(templateUrl, `create database ${name} template ${from} strategy file_copy`);
  return { url: url.href, drop: () => administer(templateUrl, `drop database ${name} with (force)`) };
}

/** Copies a database as it is now. `restore` puts the copy in its place. Both end all connections to the database. */
export async function backUpDatabase(url: string): Promise<{ restore: () => Promise<void> }> {
  const name = new URL(url).pathname.slice(1);
  const copy = `${name}_backup`;
  const allowConnections = (isAllowed: boolean) =>
    administer(url, `alter database ${name} with allow_connections ${isAllowed}`);
  await allowConnections(false);
  await administer(url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await administer(url, `create database ${copy} template ${name}`);
  await allowConnections(true);
  return {
    async restore() {
      await administer(url, `drop database ${name} with (force)`);
      await administer(url, `alter database ${copy} rename to ${name}`);
    },
  };
}

async function administer(templateUrl: string, statement: string): Promise<void> {
  const url = new URL(templateUrl);
  url.pathname = '/postgres';
  const { db, close } = connect(url.href, { statementTimeoutMs: 60_000 });
  try {
    // Postgres cannot clone a template twice at the same time, so this may have to wait its turn.
    for (let attempt = 1; ; attempt++) {
      try {
        await sql.raw(statement).execute(db);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== '55006' || attempt === 50) throw error;
        await new Promise((done) => setTimeout(done, 50));
      }
    }
  } finally {
    await close();
  }
}
