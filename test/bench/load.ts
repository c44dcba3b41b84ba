// One measurement: a load for some seconds, and what it cost. An open loop makes the load if a rate is given. If not, wrk makes
// it.
import { execFile, spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { percentile, runOpenLoop } from '../support/load/open-loop.ts';
import type { Asked } from './population.ts';
import type { Server } from './servers.ts';

type Loaded = { requests: number; perSecond: number; p50Ms: number; p99Ms: number };

export type Measured = Loaded & {
  /** The CPU time of the server's process and Postgres together, for each request. */
  cpuMs: number;
  postgresMs: number;
};

const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

const timeoutSeconds = 5;

/** Throws if an answer does not have the expected status. */
export async function measure(
  server: Server,
  ask: () => Asked,
  options: {
    seconds: number;
    connections?: number;
    perSecond?: number;
    expected: number;
    postgresCpuMs?: () => Promise<number>;
  },
): Promise<Measured> {
  const { seconds, connections = 16, perSecond, expected, postgresCpuMs = async () => Number.NaN } = options;
  const { method, path, headers, body } = ask();
  const first = await fetch(server.url + path, { method, headers, body, redirect: 'manual' });
  if (first.status !== expected) throw new Error(`${path} answers ${first.status}, not ${expected}`);

  if (!hasWrk) throw new Error('The bench needs wrk, which Debian has as a package.');
  const load =
    perSecond === undefined
      ? await prepareWrk(server, ask, { seconds, connections })
      : () => loadAtRate(server, ask, { seconds, perSecond, expected });
  const readCpu = () => Promise.all([server.cpuMs(), postgresCpuMs()]);
  const [cpuBefore, postgresBefore] = await readCpu();
  const { faults, ...loaded } = await load();
  if (faults > 0) throw new Error(`${faults} requests to ${path} got no ${expected} in ${timeoutSeconds} s`);
  const [cpuAfter, postgresAfter] = await readCpu();
  const postgresMs = (postgresAfter - postgresBefore) / loaded.requests;
  return { ...loaded, cpuMs: (cpuAfter - cpuBefore) / loaded.requests + postgresMs, postgresMs };
}

async function loadAtRate(
  { port }: Server,
  ask: () => Asked,
  { expected, seconds, perSecond }: { expected: number; seconds: number; perSecond: number },
): Promise<Loaded & { faults: number }> {
  const askOne = () => ({ ...ask(), kind: '' });
  const patienceMs = timeoutSeconds * 1_000;
  const sent = await runOpenLoop({ port, seconds, perSecond, patienceMs, ask: askOne });
  const times = sent.map(({ ms }) => ms);
  return {
    requests: sent.length,
    faults: sent.filter(({ status }) => status !== expected).length,
    perSecond: sent.length / seconds,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}

// No server here answers so many requests a second. They are made in advance, because no request can be sent twice: a nonce and
// the id of a signup are accepted one time.
const requestsPerSecond = 6_000;

/** Writes the requests down beforehand, so that making them costs the machine nothing during the measurement. */
async function prepareWrk(
  server: Server,
  ask: () => Asked,
  { seconds, connections }: { seconds: number; connections: number },
): Promise<() => Promise<Loaded & { faults: number }>> {
  const file = join(tmpdir(), `bench-${process.pid}`);
  const requests = Array.from({ length: seconds * requestsPerSecond }, () => writeRequest(server, ask()));
  await writeFile(`${file}.http`, requests.join('\0'));
  await writeFile(
    `${file}.lua`,
    `local requests, at = {}, 0
for text in io.open("${file}.http", "rb"):read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = text end
request = function() at = at % #requests + 1; return requests[at] end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("\\n{\\"requests\\":%d,\\"us\\":%d,\\"p50\\":%d,\\"p99\\":%d,\\"faults\\":%d}\\n",
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end`,
  );
  return async () => {
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, `--timeout=${timeoutSeconds}s`];
    const { stdout } = await promisify(execFile)('wrk', [...args, '-s', `${file}.lua`, server.url]);
    await Promise.all([rm(`${file}.http`), rm(`${file}.lua`)]);
    const { us, p50, p99, ...counts } = JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? '');
    return { ...counts, perSecond: counts.requests / (us / 1e6), p50Ms: p50 / 1_000, p99Ms: p99 / 1_000 };
  };
}

function writeRequest({ port }: Server, { method, path, headers = {}, body = '' }: Asked): string {
  const all = {
    ...headers,
    host: `127.0.0.1:${port}`,
    ...(body && { 'content-length': String(body.length) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

export function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function medians(rounds: Measured[]): Measured {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Measured)[];
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round[name]))]),
  ) as Measured;
}
