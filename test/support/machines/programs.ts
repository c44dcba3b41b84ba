// Programs of Debian's packages. Each runs in a folder of its own, and as an unprivileged user if root runs the tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findIdentity } from '../../../db/embedded/files.ts';
import { makeFolder } from '../database/postgres.ts';

/** The path of each program, or of what it loads, and the package that brings it. */
const packages = {
  '/usr/bin/caddy': 'caddy',
  '/usr/bin/chromium': 'chromium',
  '/usr/bin/etcd': 'etcd-server',
  '/usr/bin/go': 'golang-go',
  '/usr/bin/mypy': 'mypy',
  '/usr/bin/patroni': 'patroni',
  '/usr/bin/ruby': 'ruby-omniauth-openid-connect',
  '/usr/bin/uvicorn': 'uvicorn',
  '/usr/lib/apache2/modules/mod_auth_openidc.so': 'libapache2-mod-auth-openidc',
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
  '/usr/lib/python3/dist-packages/authlib': 'python3-authlib',
  '/usr/lib/python3/dist-packages/django': 'python3-django',
  '/usr/lib/python3/dist-packages/fastapi': 'python3-fastapi',
  '/usr/lib/python3/dist-packages/flask': 'python3-flask',
  '/usr/lib/python3/dist-packages/psycopg': 'python3-psycopg',
  '/usr/lib/python3/dist-packages/pymysql': 'python3-pymysql',
  '/usr/lib/python3/dist-packages/MySQLdb': 'python3-mysqldb',
  '/usr/lib/python3/dist-packages/requests': 'python3-requests',
  '/usr/sbin/haproxy': 'haproxy',
  '/usr/sbin/mariadbd': 'mariadb-server',
  '/usr/sbin/nginx': 'nginx',
  '/usr/sbin/pgbouncer': 'pgbouncer',
  '/usr/share/gocode/src/golang.org/x/oauth2': 'golang-golang-x-oauth2-dev',
};
export type Program = keyof typeof packages;

/** Throws one sentence that says what to install. */
export function requirePrograms(...programs: Program[]): void {
  const missing = programs.filter((program) => !existsSync(program)).map((program) => packages[program]);
  if (missing.length > 0)
    throw new Error(`These tests need packages of Debian's: apt-get install ${missing.join(' ')}`);
}

/** The unprivileged user, if root runs the tests. */
export const identity = await findIdentity();

/** A temporary folder of the unprivileged user. */
export async function makeOwnFolder(): Promise<string> {
  const folder = await makeFolder();
  await giveAway(folder);
  return folder;
}

/** Writes a file that only the unprivileged user can read, and makes its folder if it is missing. */
export async function writeOwnFile(file: string, text: string): Promise<void> {
  if (!existsSync(dirname(file))) {
    await mkdir(dirname(file), { mode: 0o700 });
    await giveAway(dirname(file));
  }
  await writeFile(file, text, { mode: 0o600 });
  await giveAway(file);
}

export async function giveAway(path: string): Promise<void> {
  if (identity.uid !== undefined && identity.gid !== undefined) await chown(path, identity.uid, identity.gid);
}

export type RunningProgram = {
  pid: number;
  output: () => string;
  hasExited: () => boolean;
  /** Ends the program, by default immediately, and waits until it is gone. */
  stop: (signal?: NodeJS.Signals) => Promise<void>;
  signal: (signal: NodeJS.Signals) => void;
};

export function startProgram(
  program: string,
  args: string[],
  options: { folder: string; env?: Record<string, string> },
): RunningProgram {
  const child: ChildProcess = spawn(program, args, {
    ...identity,
    cwd: options.folder,
    // The developer's variables are left out, because each of these programs reads settings from its environment.
    env: {
      NODE_ENV: 'test',
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: options.folder,
      LC_ALL: 'C.UTF-8',
      ...options.env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  // This does not wait for `close`, because the program may have started others that keep its output open.
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    signal: (signal) => child.kill(signal),
    async stop(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}
