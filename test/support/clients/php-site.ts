// A site in PHP, served by PHP's own web server.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Site } from './shop.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Runs the site with one process for each request at the same time. The variable `DATA` names a folder that only this site
 * uses.
 */
export async function openPhpSite(script: string, port: number, env: Record<string, string>): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'identity-php-'));
  const origin = `http://127.0.0.1:${port}`;
  // PHP has a process group of its own, so that a signal to the group ends its workers, too.
  const child = spawn('php', ['-d', `session.save_path=${folder}`, '-S', `127.0.0.1:${port}`, script], {
    cwd: root,
    env: { ...process.env, ...env, DATA: folder, PHP_CLI_SERVER_WORKERS: '16' },
    stdio: 'ignore',
    detached: true,
  });
  const exited = new Promise((done) => child.once('close', done));
  async function close() {
    try {
      if (child.pid) process.kill(-child.pid);
    } catch {
      // The process has ended already.
    }
    await exited;
    await rm(folder, { recursive: true, force: true });
  }
  const deadline = AbortSignal.timeout(30_000);
  const hasAnswered = () =>
    fetch(origin, { signal: deadline })
      .then((answer) => answer.arrayBuffer())
      .then(
        () => true,
        () => false,
      );
  while (!(await hasAnswered())) {
    if (child.exitCode !== null || deadline.aborted) {
      await close();
      throw new Error('the web server of PHP did not start');
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return { origin, close };
}
