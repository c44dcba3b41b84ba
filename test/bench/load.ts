// One measurement: a load for some seconds, and what the server needed for it.
import autocannon from 'autocannon';
import type { Asked } from './population.ts';
import type { Server } from './servers.ts';

export type Measured = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the server's process, for each request. */
  cpuMs: number;
};

export async function measure(
  server: Server,
  ask: () => Asked,
  options: { seconds: number; connections?: number; perSecond?: number; expected: number },
): Promise<Measured> {
  const cpuBefore = await server.cpuMs();
  const result = await autocannon({
    url: server.url,
    duration: options.seconds,
    connections: options.connections ?? 16,
    ...(options.perSecond && { overallRate: options.perSecond }),
    requests: [{ setupRequest: (request) => ({ ...request, ...ask() }) }],
  });
  const cpuMs = (await server.cpuMs()) - cpuBefore;
  const statuses = Object.keys(result.statusCodeStats ?? {});
  if (result.errors > 0 || statuses.join() !== String(options.expected)) {
    throw new Error(`answers other than ${options.expected}: ${JSON.stringify(result.statusCodeStats)}`);
  }
  return {
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMs: cpuMs / result.requests.total,
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function medians(rounds: Measured[]): Measured {
  const of = (name: keyof Measured) => median(rounds.map((round) => round[name]));
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuMs: of('cpuMs') };
}
