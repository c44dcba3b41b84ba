// A MariaDB of Debian's package, in a folder of a test. It listens at a socket only.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { giveAway, identity, type RunningProgram, startProgram } from '../machines/programs.ts';

const run = promisify(execFile);

export const socketOf = (folder: string) => join(folder, 'database', 'socket');
/** Options for the programs of Debian's package `mariadb-client`. */
export const clientFlags = (folder: string) => `--no-defaults --socket=${socketOf(folder)} -uroot`;

const serverSettings = [
  '--no-defaults',
  '--skip-networking',
  '--innodb-buffer-pool-size=32M',
  '--innodb-log-file-size=16M',
  // A power cut would lose only a test run.
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
];

/** Starts the server, with one empty database of that name. Its user is root, without a password. */
export async function startMariadb(folder: string, name: string): Promise<RunningProgram> {
  const data = join(folder, 'database');
  await mkdir(data);
  await giveAway(data);
  const isolation = [
    '--no-defaults',
    `--datadir=${data}`,
    '--skip-test-db',
    '--auth-root-authentication-method=normal',
  ];
  await run('/usr/bin/mariadb-install-db', isolation, { ...identity, cwd: data });
  const places = [`--datadir=${data}`, `--socket=${socketOf(folder)}`, `--pid-file=${data}/pid`];
  const server = startProgram('/usr/sbin/mariadbd', [...serverSettings, ...places], { folder: data });
  for (let tries = 0; tries < 300 && !server.hasExited(); tries++) {
    const made = run('sh', ['-c', `mariadb ${clientFlags(folder)} -e 'create database ${name}'`]);
    const isThere = await made.then(
      () => true,
      () => false,
    );
    if (isThere) return server;
    await new Promise((done) => setTimeout(done, 100));
  }
  await server.stop();
  throw new Error(`MariaDB did not start: ${server.output()}`);
}
