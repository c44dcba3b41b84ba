// A Postgres of Debian's packages, with passwords. It has the programs for dumps, which the embedded Postgres lacks.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { vi } from 'vitest';
import { findFreePort } from '../app/process.ts';
import { connect } from '../database/postgres.ts';
import { identity, makeOwnFolder, startProgram, writeOwnFile } from './programs.ts';

const bin = '/usr/lib/postgresql/15/bin';
export const hasDebianPostgres = existsSync(`${bin}/postgres`) && existsSync(`${bin}/pg_dump`);

export type DebianPostgres = {
  /** The URL of an empty database that belongs to the role `identity`. */
  url: string;
  /** The environment in which Postgres's programs connect as the superuser. */
  env: Record<string, string>;
  close: () => Promise<void>;
};

export async function startDebianPostgres(): Promise<DebianPostgres> {
  const folder = await makeOwnFolder();
  const port = await findFreePort();
  const [data, password] = [join(folder, 'data'), 'superuser-of-a-test'];
  await writeOwnFile(join(folder, 'password'), password);
  await promisify(execFile)(
    `${bin}/initdb`,
    [
      ...['--username=postgres', `--pwfile=${join(folder, 'password')}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', `--pgdata=${data}`],
    ],
    { ...identity, cwd: folder },
  );
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
  const postgres = startProgram(
    `${bin}/postgres`,
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { folder },
  );
  const superuserUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const { db, close } = connect(superuserUrl, { preparedStatements: false });
  await vi.waitFor(() => sql`create role identity login password 'identity-of-a-test'`.execute(db), {
    timeout: 60_000,
    interval: 100,
  });
  await sql`create database identity owner identity template template0`.execute(db);
  await close();
  return {
    url: `postgres://identity:identity-of-a-test@127.0.0.1:${port}/identity`,
    env: { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres', PGPASSWORD: password },
    async close() {
      await postgres.stop('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
