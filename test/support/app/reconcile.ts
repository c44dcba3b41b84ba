// Runs the command `reconcile` as an operator does, but with little memory. Returns its output as it was printed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './cli.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Run = Outcome & { seconds: number; peakMegabytes: number };

/**
 * `heapMegabytes` limits the memory of JavaScript. A process that needs more ends. The peak is 0 if the system does not report
 * it.
 */
export function runReconcile(
  databaseUrl: string,
  args: string[],
  { heapMegabytes, readsOutput = true }: { heapMegabytes: number; readsOutput?: boolean },
): Promise<Run> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMegabytes}`, 'build/service/cli.js', 'reconcile', ...args],
    { cwd: root, env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, NODE_ENV: 'test' } },
  );
  const startedAt = performance.now();
  const run: Run = { code: null, out: '', err: '', seconds: 0, peakMegabytes: 0 };
  const watch = setInterval(() => {
    run.peakMegabytes = Math.max(run.peakMegabytes, readPeak(child.pid));
  }, 20);
  child.stdin.end();
  if (readsOutput)
    child.stdout.on('data', (data) => {
      run.out += data;
    });
  else child.stdout.destroy();
  child.stderr.on('data', (data) => {
    run.err += data;
  });
  return new Promise((done) =>
    child.on('close', (code) => {
      clearInterval(watch);
      done({ ...run, code, seconds: (performance.now() - startedAt) / 1_000 });
    }),
  );
}

/** The most memory that a process has held so far. Linux reports it until the process ends. */
function readPeak(pid: number | undefined): number {
  try {
    const [, kilobytes = '0'] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return 0;
  }
}
