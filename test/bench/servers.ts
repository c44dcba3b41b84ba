// The processes that are measured, and the CPU time that they and Postgres take.
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commandOf, entryOf, findFreePort, heap, type Runtime } from '../support/app/process.ts';

/** The folder of this version. The folder of another version is a checkout that has been built. */
export const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

export type Server = {
  port: number;
  url: string;
  /** The time from the start of the process to its first good answer. */
  startMs: number;
  /** User and system time of the process so far. */
  cpuMs: () => Promise<number>;
  residentMb: () => Promise<number>;
  /** The most memory that the process ever had. */
  peakMb: () => Promise<number>;
  stop: () => Promise<void>;
};

type Env = Record<string, string>;

export const startService = (runtime: Runtime, env: Env, root = ownRoot) =>
  start(
    [...commandOf[runtime], entryOf[runtime]],
    '/readyz',
    // Limits the heap as the scripts of this version do. Scripts of older versions did not limit it.
    { ...(root === ownRoot && heap), ...env },
    root,
  );

export const startReference = (runtime: Runtime, env: Env) =>
  start(
    [...commandOf[runtime], ...(runtime === 'node' ? ['--import', 'tsx'] : []), 'test/bench/reference.ts'],
    '/healthz',
    env,
    ownRoot,
  );

async function start(
  [command = '', ...args]: string[],
  health: string,
  env: Env,
  root: string,
): Promise<Server> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'] as const,
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const url = `http://127.0.0.1:${port}`;
  let isUp = false;
  while (!isUp) {
    if (child.exitCode !== null) throw new Error(`${args.at(-1)} ended with ${child.exitCode}`);
    isUp = await fetch(url + health).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isUp) await new Promise((done) => setTimeout(done, 5));
  }
  const startMs = performance.now() - startedAt;
  const readStatus = async (name: string) => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
  };
  return {
    port,
    url,
    startMs,
    cpuMs: async () => (await readStat(child.pid)).ownMs,
    residentMb: () => readStatus('VmRSS'),
    peakMb: () => readStatus('VmHWM'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Returns the CPU time of all processes of a Postgres: of the running ones, and of the ones whose end its main process has
 * seen.
 */
export async function readPostgresCpuMs(pid: number): Promise<number> {
  const main = await readStat(pid);
  let ms = main.ownMs + main.endedChildrenMs;
  for (const child of await readdir('/proc')) {
    if (!/^\d+$/.test(child)) continue;
    try {
      if ((await readStat(child)).parent !== pid) continue;
      // `schedstat` counts nanoseconds. `stat` counts hundredths of a second: rounded for each of many processes, they would be
      // too coarse.
      ms += Number((await readFile(`/proc/${child}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
    } catch {
      // The child process has ended since it was listed.
    }
  }
  return ms;
}

// The fields of proc_pid_stat(5) from field 3 on. Times are in hundredths of a second.
async function readStat(pid: number | string | undefined) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (field: number) => fields[field - 3] ?? Number.NaN;
  return { parent: at(4), ownMs: (at(14) + at(15)) * 10, endedChildrenMs: (at(16) + at(17)) * 10 };
}
