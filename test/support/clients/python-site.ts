// A site on the kit for Python, as a process of its own.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Site } from './shop.ts';

/** Debian's own Python, which finds Debian's packages. */
export const python = '/usr/bin/python3';
export const kit = fileURLToPath(new URL('../../../clients/python/', import.meta.url));
/** Python leaves no files beside the sources. */
export const pythonEnv = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: kit };

export type PythonSite = Site & { output: () => string };

/** Runs `python3` with these arguments, and waits until `origin` answers. */
export async function openPythonSite(
  args: string[],
  origin: string,
  env: Record<string, string>,
  cwd?: string,
): Promise<PythonSite> {
  const child = spawn(python, args, { cwd, env: { ...pythonEnv, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const exited = new Promise((done) => child.once('close', done));
  async function close() {
    child.kill('SIGTERM');
    await exited;
  }
  const deadline = Date.now() + 30_000;
  while (!(await fetch(origin, { redirect: 'manual' }).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await close();
      throw new Error(`the site did not start:\n${output}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return { origin, output: () => output, close };
}
