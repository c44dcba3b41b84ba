// The processes that are measured: the service, and the floor below it.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commandOf, entryOf, findFreePort, type Runtime } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Server = {
  port: number;
  url: string;
  /** From the start of the process to its first good answer. */
  startMs: number;
  /** User and system time of the process so far. */
  cpuMs: () => Promise<number>;
  residentMb: () => Promise<number>;
  stop: () => Promise<void>;
};

export const startService = (runtime: Runtime, env: Record<string, string>) =>
  start([...commandOf[runtime], entryOf[runtime]], '/readyz', env);

export const startFloor = (runtime: Runtime, env: Record<string, string>) =>
  start(
    [...commandOf[runtime], ...(runtime === 'node' ? ['--import', 'tsx'] : []), 'test/bench/floor.ts'],
    '/healthz',
    env,
  );

async function start(
  [command = '', ...words]: string[],
  health: string,
  env: Record<string, string>,
): Promise<Server> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn(command, words, {
    cwd: root,
    env: { ...process.env, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'] as const,
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const url = `http://127.0.0.1:${port}`;
  let isUp = false;
  while (!isUp) {
    if (child.exitCode !== null) throw new Error(`${words.at(-1)} ended with ${child.exitCode}`);
    isUp = await fetch(url + health).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isUp) await new Promise((done) => setTimeout(done, 5));
  }
  return {
    port,
    url,
    startMs: performance.now() - startedAt,
    cpuMs: () => readCpuMs(child),
    async residentMb() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

// Linux counts in hundredths of a second (proc_pid_stat(5), fields 14 and 15).
async function readCpuMs({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
