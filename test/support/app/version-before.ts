// The previous version, built from the history of the clone.
import { execFile } from 'node:child_process';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '../database/postgres.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const exec = promisify(execFile);

/** Returns the commit that `test/upgrades/version-before` names; undefined if the history of this clone does not hold it. */
export async function findVersionBefore(): Promise<string | undefined> {
  const commit = (await readFile(join(root, 'test/upgrades/version-before'), 'utf8')).trim();
  const isThere = await exec('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  );
  return isThere ? commit : undefined;
}

/**
 * Builds a commit in a folder of its own, with the packages of its lock file. Uses our packages instead if the commit can be
 * built and run with them.
 */
export async function buildCommit(commit: string): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await makeFolder();
  // The NODE_ENV of tests would change the build.
  const { NODE_ENV: _, ...others } = process.env;
  const env = others as NodeJS.ProcessEnv;
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'source.tar');
    await exec('git', ['archive', '--output', archive, commit], { cwd: root });
    await exec('tar', ['-xf', archive, '-C', folder]);
    if (await hasItsPackages(folder)) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    else await exec('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder, env });
    await exec('npm', ['run', 'build'], { cwd: folder, env });
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Returns whether we have all packages with which the version in this folder is built and runs. Packages that only its tests
 * need do not count.
 */
async function hasItsPackages(folder: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([folder, root].map(readPackages));
  const builtWith = Object.keys(theirs?.['']?.devDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.entries(theirs ?? {}).every(
    ([path, its]) =>
      path === '' || (its?.dev && !builtWith.includes(path)) || ours?.[path]?.version === its?.version,
  );
}

type Packages = Record<
  string,
  { version: string; dev?: boolean; devDependencies?: Record<string, string> } | undefined
>;

const readPackages = async (folder: string): Promise<Packages> =>
  JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')).packages;
