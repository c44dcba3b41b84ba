// Dumps a database into a new folder, with Postgres's own programs (contract 9.310 to 9.319).
import { spawn } from 'node:child_process';
import { access, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { locate, makeFolder, refuseFolder } from './files.ts';
import { environment } from './process.ts';

/** The message is printed without a stack. */
export class DumpError extends Error {}

type DumpOptions = { url: string; major: number; snapshot: string; folder: string; name: string };

const dumpName = 'identity.dump';
const partPrefix = '.part-';
const dayMs = 86_400_000;

/**
 * Writes `FOLDER/NAME/identity.dump`, which only the user of this process may read, and then the files that `findBeside`
 * returns by name. The folder NAME appears with all files, or not at all. Throws a DumpError or a FileError.
 */
export async function dumpDatabase(
  { url, major, snapshot, folder, name }: DumpOptions,
  findBeside: () => Promise<Record<string, string>>,
): Promise<{ file: string; bytes: number }> {
  process.umask(0o077);
  const programs = await findPrograms(major);
  const base = await makeFolder(folder);
  await removeLeftovers(base);
  const part = await mkdtemp(join(base, partPrefix)).catch(refuseFolder(folder));
  try {
    const file = join(part, dumpName);
    const bytes = await runToEnd(programs, splitUrl(url), { snapshot, file });
    for (const [other, text] of Object.entries(await findBeside()))
      await writeFile(join(part, other), text, { flag: 'wx', flush: true });
    await syncFolder(part);
    await rename(part, join(base, name)).catch(refuseFolder(join(base, name)));
    await syncFolder(base);
    return { file: join(base, name, dumpName), bytes };
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

export async function findNewestDump(
  folder: string,
  isName: (name: string) => boolean,
): Promise<{ name: string; bytes: number } | undefined> {
  const names = await readdir(locate(folder)).catch(() => []);
  const name = names.filter(isName).sort().at(-1);
  if (name === undefined) return undefined;
  const found = await stat(join(locate(folder), name, dumpName)).catch(() => undefined);
  return found && { name, bytes: found.size };
}

type Connection = { address: string; env: Record<string, string> };

/**
 * Makes the dump, and checks that it has the table of users. Returns the size of the dump. If a signal asks the command to stop,
 * the programs end.
 */
async function runToEnd(
  programs: string,
  { address, env }: Connection,
  { snapshot, file }: { snapshot: string; file: string },
): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  const call = (program: string, args: string[], out?: number) => {
    const options = { env: buildEnvironment(env), signal: stopping.signal, out };
    return run(`${programs}${program}`, args, options).catch((error) => {
      if (stopping.signal.aborted) throw new DumpError('No backup was made: it was stopped.');
      const hint = /snapshot/.test(error.message)
        ? ' Does DATABASE_URL lead it to another database than the service?'
        : '';
      throw new DumpError(`No backup was made. ${error.message}${hint}`);
    });
  };
  // We create the file ourselves. Otherwise, if others may write to the folder, somebody could put a file there first and then
  // read the dump.
  const handle = await open(file, 'wx', 0o600).catch(refuseFolder(file));
  let size: number;
  try {
    await call(
      'pg_dump',
      [
        '--format=custom',
        '--no-password',
        // pg_dump reads the URL of a database in its own way. If it reaches another database, it fails, because that database
        // does not have the snapshot.
        `--snapshot=${snapshot}`,
        `--lock-wait-timeout=${lockWaitMs}`,
        `--dbname=${address}`,
      ],
      handle.fd,
    );
    await handle.sync();
    ({ size } = await handle.stat());
  } finally {
    await handle.close();
  }
  const list = await call('pg_restore', ['--list', file]);
  if (!/^\d+; .* TABLE DATA \S+ users /m.test(list))
    throw new DumpError('No backup was made. The dump has no table "users": is it of another database?');
  return size;
}

type Run = { env: NodeJS.ProcessEnv; signal?: AbortSignal; out?: number };

/** Returns what the program prints, unless that goes to `out`. If the program fails, throws what it wrote to stderr. */
function run(program: string, args: string[], { out, ...options }: Run): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', out ?? 'pipe', 'pipe'] });
    let written = '';
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (written += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (said += text));
    child.on('error', failed);
    child.on('close', (code, signal) =>
      code === 0
        ? done(written)
        : failed(new Error(said.trim() || `${program} ended with ${code ?? signal}.`)),
    );
  });
}

const lockWaitMs = 600_000;

/**
 * Returns the folder with the programs of version `major`, with a slash at its end. Returns an empty text if the programs on
 * the PATH have that version.
 */
async function findPrograms(major: number): Promise<string> {
  // Debian and Red Hat have a folder for each version. The programs on the PATH may be of a different version.
  for (const folder of [`/usr/lib/postgresql/${major}/bin/`, `/usr/pgsql-${major}/bin/`])
    if (await isThere(`${folder}pg_dump`)) return folder;
  const said = await run('pg_dump', ['--version'], { env: buildEnvironment() }).catch(() => '');
  const [, found] = /(\d+)/.exec(said) ?? [];
  if (found === String(major)) return '';
  const here = found === undefined ? 'there is no pg_dump here' : `the pg_dump here is of version ${found}`;
  throw new DumpError(
    `No backup was made. The database is Postgres ${major}, and ${here}. Install the client programs of version ${major}, such as Debian's postgresql-client-${major}.`,
  );
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Leaves out this service's settings, because many are secret. */
function buildEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const ours = Object.entries(environment).filter(([name]) => /^(PATH|HOME|LANG|LC_\w+|PG\w+)$/.test(name));
  return { ...Object.fromEntries(ours), ...more } as NodeJS.ProcessEnv;
}

/** Debian's file of public certificate authorities. Before version 16, the programs of Postgres know no authorities. */
const publicAuthorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Takes the password out of the URL and puts it into the environment, because everybody on the machine can see a program's
 * arguments.
 */
export function splitUrl(text: string): Connection {
  const url = new URL(text);
  const query = new URLSearchParams(url.search);
  const given = Object.fromEntries(query);
  const password = given.password ?? decodeURIComponent(url.password);
  const env: Record<string, string> = password ? { PGPASSWORD: password } : {};
  url.password = '';
  query.delete('password');
  if (given.sslmode === 'no-verify') query.set('sslmode', 'require');
  else if (given.sslmode && given.sslmode !== 'disable') {
    // The service treats all other modes like `verify-full`.
    query.set('sslmode', 'verify-full');
    if (given.sslrootcert === undefined) env.PGSSLROOTCERT = publicAuthorities;
  }
  // The programs of Postgres do not read a plus sign as a space.
  url.search = query.toString().replaceAll('+', '%20');
  return { address: url.href, env };
}

/** Deletes what killed runs have left. No run takes a whole day, so a folder that is older than a day is not in use. */
async function removeLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base).catch(refuseFolder(base))) {
    if (!name.startsWith(partPrefix)) continue;
    const found = await stat(join(base, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > dayMs)
      await rm(join(base, name), { recursive: true, force: true });
  }
}

/** Waits until the names in a folder are on the disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
