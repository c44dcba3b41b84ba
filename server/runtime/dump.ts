// A dump of a database in a folder of its own, by Postgres's own programs (contract 9.310 to 9.319).
import { spawn } from 'node:child_process';
import { access, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { locate, makeFolder, refuseFolder } from './files.ts';
import { environment } from './process.ts';

/** Why no backup was made: printed as it is, without a stack. */
export class DumpError extends Error {}

export type DumpOptions = { url: string; major: number; snapshot: string; folder: string; name: string };

export type Dump = { file: string; bytes: number };

const dumpName = 'identity.dump';
const partPrefix = '.part-';
const dayMs = 86_400_000;

/**
 * Dumps the database of that URL, on a Postgres of that major version and as that snapshot has it, to `FOLDER/NAME/identity.dump`, for the user of this process
 * alone. `findBeside` gives the texts of further files there by name, once the dump is made. The folder NAME is there with all of
 * them, or not at all. Throws a DumpError, or a FileError.
 */
export async function dumpDatabase(
  { url, major, snapshot, folder, name }: DumpOptions,
  findBeside: () => Promise<Record<string, string>>,
): Promise<Dump> {
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
    // Gone if all went well.
    await rm(part, { recursive: true, force: true });
  }
}

/** The newest dump in that folder, by its name; undefined if there is none. */
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

/** Makes the file, and looks into it. The result is its size. Ends with the first signal to stop. */
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
  // Ours from the beginning: in a folder that others may write to, they could have put another one in its place, to read it there.
  const handle = await open(file, 'wx', 0o600).catch(refuseFolder(file));
  let size: number;
  try {
    await call(
      'pg_dump',
      [
        '--format=custom',
        '--no-password',
        // It reads an address by rules of its own, so it may have come to another database, which has no such snapshot.
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

/** What a program writes, if not to the file `out`. Throws what it says of its failure. */
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

/** The folder of pg_dump and pg_restore of that version, with a slash at its end; empty if they are on the PATH. */
async function findPrograms(major: number): Promise<string> {
  // Debian and Red Hat have a folder for each version. What is on the PATH may be of any.
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

/** What Postgres's programs need of ours: no setting of the service, as many are secret. */
function buildEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const ours = Object.entries(environment).filter(([name]) => /^(PATH|HOME|LANG|LC_\w+|PG\w+)$/.test(name));
  return { ...Object.fromEntries(ours), ...more } as NodeJS.ProcessEnv;
}

/** Debian's file of public authorities. Before version 16 Postgres's programs know none by themselves. */
const publicAuthorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * How Postgres's programs reach the database that the service reaches by `text`. The address is an argument, which everybody on the
 * machine can see; so the password is in the environment.
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
    // The service takes all others for this one.
    query.set('sslmode', 'verify-full');
    if (given.sslrootcert === undefined) env.PGSSLROOTCERT = publicAuthorities;
  }
  // To Postgres's programs a plus is no space.
  url.search = query.toString().replaceAll('+', '%20');
  return { address: url.href, env };
}

/** What a run that was killed has left. None takes a day. */
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
