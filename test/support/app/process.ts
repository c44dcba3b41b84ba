// The service as a process of its own, on either runtime.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Runtime = 'node' | 'deno';

export const commandOf: Record<Runtime, string[]> = {
  node: [process.execPath],
  deno: [
    `${root}/node_modules/.bin/deno`,
    'run',
    '--no-lock',
    '--node-modules-dir=manual',
    '--unstable-no-legacy-abort',
    '--allow-all',
  ],
};

export const entryOf: Record<Runtime, string> = {
  node: 'server/runtime/start-node.cjs',
  deno: 'build/service/main.js',
};

/** The heap's limits, as `npm start` and `npm run start:deno` set them. */
export const heap = { NODE_OPTIONS: '--max-old-space-size=256', DENO_V8_FLAGS: '--max-old-space-size=256' };

export type RunningProcess = {
  child: ChildProcess;
  /** Everything that the service has written so far. */
  output: () => string;
  /** The exit code of the service, or null if a signal ended it. */
  exited: Promise<number | null>;
};

export function run(
  runtime: Runtime,
  args: string[],
  env: Record<string, string> = {},
  cwd = root,
): RunningProcess {
  const [command = '', ...flags] = commandOf[runtime];
  const child = spawn(command, [...flags, ...args], {
    cwd,
    env: { ...process.env, NODE_ENV: 'development', NO_COLOR: '1', ...heap, ...env },
  });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  return { child, output: () => output, exited };
}

/** Resolves when the service answers. Throws its output if it does not start. `folder` has the build of another version. */
export async function startService(
  runtime: Runtime,
  port: number,
  env: Record<string, string>,
  folder?: string,
): Promise<RunningProcess> {
  const running = run(runtime, [entryOf[runtime]], { PORT: String(port), ...env }, folder);
  let hasExited = false;
  void running.exited.then(() => {
    hasExited = true;
  });
  for (let attempt = 0; attempt < 600 && !hasExited; attempt++) {
    const answer = await fetch(`http://localhost:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) return running;
    await new Promise((done) => setTimeout(done, 100));
  }
  running.child.kill('SIGKILL');
  throw new Error(`The service did not come up on ${runtime}:\n${running.output()}`);
}

// Ports from 11,000 to 32,000, a thousand for each worker. Outgoing connections use the ports above. Other runs on this machine
// may use the same ports, so each worker begins at a random port.
const portsPerWorker = 1_000;
const firstPort = 11_000 + ((process.ppid + Number(process.env.VITEST_POOL_ID ?? 0)) % 21) * portsPerWorker;
let nextPort = Math.floor(Math.random() * portsPerWorker);

export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < portsPerWorker; tries++) {
    const port = firstPort + (nextPort++ % portsPerWorker);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${firstPort} on is free.`);
}

const isFree = (port: number) =>
  new Promise<boolean>((done) => {
    const server = createServer()
      .once('error', () => done(false))
      .listen(port, () => server.close(() => done(true)));
  });
