// The image of the Dockerfile, run as another user in a folder that nobody can write to. The test needs the network, for npm
// ci.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findIdentity } from '../../db/embedded/files.ts';
import { findFreePort } from '../support/app/process.ts';
import { makeOwnFolder, requirePrograms, startProgram, writeOwnFile } from '../support/machines/programs.ts';
import { environmentIn } from '../support/project/compose.ts';
import { buildImage, type Image } from '../support/project/dockerfile.ts';
import { composeSecretsSample } from '../support/project/samples.ts';
import { sharedFolder } from '../support/run/shared.ts';

const run = promisify(execFile);

const folder = await sharedFolder();
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let image: Image;
let env: Record<string, string>;
beforeAll(async () => {
  image = await buildImage(folder);
  await run('chmod', ['-R', 'a-w,a+rX', image.folder]);
  await run('sh', ['-ec', composeSecretsSample], { cwd: folder });
  // The user of the container can open each secret, but cannot list them.
  await run('chmod', ['711', join(folder, 'secrets')]);
  const environment = environmentIn(folder, 'service');
  postgres = await startPostgres(environmentIn(folder, 'postgres'));
  // These settings are other than in a container, which has a network of its own.
  const url = environment.DATABASE_URL_FILE ?? '';
  await writeFile(url, (await readFile(url, 'utf8')).replace('@postgres/', `@127.0.0.1:${postgres.port}/`));
  env = {
    PATH: process.env.PATH ?? '',
    ...image.env,
    ...environment,
    PORT: String(await findFreePort()),
    HOST: '127.0.0.1',
  };
}, 400_000);
afterAll(async () => {
  await postgres?.stop();
  await run('chmod', ['-R', 'u+w', folder]);
});

/** Starts Debian's Postgres as the image starts Postgres: with a superuser, and with what create-role.sh adds. */
async function startPostgres({ POSTGRES_PASSWORD_FILE = '', ...environment }: Record<string, string>) {
  requirePrograms('/usr/lib/postgresql/15/bin/postgres');
  const home = await makeOwnFolder();
  const [data, secret] = [join(home, 'data'), join(home, 'password')];
  const password = (await readFile(POSTGRES_PASSWORD_FILE, 'utf8')).trim();
  await writeOwnFile(secret, password);
  const how = ['--username=postgres', `--pwfile=${secret}`, '--auth=scram-sha-256', '--no-sync'];
  await run('/usr/lib/postgresql/15/bin/initdb', ['--pgdata', data, ...how], { ...identity, cwd: home });
  const port = await findFreePort();
  const flags = ['-D', data, '-p', String(port), '-k', home, '-h', '127.0.0.1'];
  const program = startProgram('/usr/lib/postgresql/15/bin/postgres', flags, { folder: home });
  const psql = { PGHOST: '127.0.0.1', PGPORT: String(port), PGPASSWORD: password };
  const ask = async (file: string, ...args: string[]) =>
    (await run(file, args, { env: { ...process.env, ...environment, ...psql } })).stdout;
  await vi.waitFor(() => ask('pg_isready'), { timeout: 30_000, interval: 200 });
  await ask('docs/operate/files/create-role.sh');
  return {
    port,
    query: (text: string) => ask('psql', '-U', 'postgres', '-d', 'identity', '-Atc', text),
    async stop() {
      await program.stop('SIGQUIT');
      await rm(home, { recursive: true, force: true });
    },
  };
}

const identity = await findIdentity();
const inImage = ([command = '', ...args]: string[]): ChildProcess =>
  spawn(command, args, { ...identity, cwd: image.folder, env: env as unknown as NodeJS.ProcessEnv });
const exitOf = (child: ChildProcess) => new Promise<number | null>((done) => child.once('close', done));

it('the image is small, and runs as somebody who may not write', async () => {
  expect(image.base).toMatch(/^node:24\.\d+\.\d+-slim$/);
  expect(image.user).toBe('node');
  expect(readdirSync(join(image.folder, 'node_modules'))).toEqual(['@node-rs', 'dejavu-fonts-ttf']);
  const { stdout } = await run('du', ['-sm', image.folder]);
  expect(Number.parseInt(stdout, 10)).toBeLessThan(40);
  await expect(run('touch', [join(image.folder, 'file')], identity)).rejects.toThrow();
});

it('the role of the service is no superuser, and owns nothing but its database', async () => {
  const rights = `select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls,
    (select string_agg(datname, ',') from pg_database where datdba = r.oid) from pg_roles r where rolname = 'identity'`;
  expect((await postgres.query(rights)).trim()).toBe('f|identity');
});

it('the service starts, is healthy, takes a command, and stops when it is told to', async () => {
  const service = inImage(image.command);
  let output = '';
  service.stdout?.on('data', (data) => {
    output += data;
  });
  service.stderr?.on('data', (data) => {
    output += data;
  });
  const exited = exitOf(service);
  try {
    await vi.waitFor(async () => expect(await exitOf(inImage(image.healthCheck)), output).toBe(0), {
      timeout: 30_000,
      interval: 500,
    });
    // The database is empty, so the service migrates it first.
    const isReady = async () => (await fetch(`http://127.0.0.1:${env.PORT}/readyz`)).status;
    await expect.poll(isReady, { message: output, timeout: 60_000 }).toBe(200);
    const args = ['--email', 'admin@example.com', '--name', 'Ada Admin', '--role', 'admin'];
    const command = inImage(['node', 'build/service/cli.js', 'user:create', ...args]);
    command.stdin?.end('a password for the container\n');
    expect(await exitOf(command)).toBe(0);
  } finally {
    service.kill('SIGTERM');
  }
  expect(await exited, output).toBe(0);
  expect(await exitOf(inImage(image.healthCheck))).toBe(1);
});
