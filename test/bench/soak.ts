// Half an hour at six tenths of what the service can do, minute by minute: does anything fail, grow or get slower?

import { findFreePort } from '../support/app/process.ts';
import { buildMixedTraffic, findPeak, isDone } from '../support/load/mixed-traffic.ts';
import { percentile, runOpenLoop } from '../support/load/open-loop.ts';
import type { BenchDatabase } from './database.ts';
import { startService } from './servers.ts';
import { addRow, number } from './table.ts';

const minutes = Number(process.env.SOAK_MINUTES ?? 30);

export async function measureSoak({ env, people }: BenchDatabase): Promise<void> {
  const metricsPort = await findFreePort();
  const service = await startService('node', { ...env, METRICS_PORT: String(metricsPort) });
  const ask = buildMixedTraffic(people);
  const load = (perSecond: number, seconds: number) =>
    runOpenLoop({ port: service.port, perSecond, seconds, ask });
  try {
    await load(200, 20);
    const perSecond = Math.floor(0.6 * (await findPeak(load)));
    addRow(`soak: ${perSecond} requests/s for ${minutes} minutes`);
    const all: { p50Ms: number; p99Ms: number; megabytes: number }[] = [];
    let [done, failed] = [0, 0];
    const failures = new Map<string, number>();
    for (let minute = 1; minute <= minutes; minute++) {
      const sent = await load(perSecond, 60);
      const times = sent.map(({ ms }) => ms);
      const good = sent.filter(isDone).length;
      for (const { kind, status } of sent.filter((one) => !isDone(one)))
        failures.set(`${kind} ${status}`, (failures.get(`${kind} ${status}`) ?? 0) + 1);
      done += good;
      failed += sent.length - good;
      all.push({
        p50Ms: percentile(times, 0.5),
        p99Ms: percentile(times, 0.99),
        megabytes: await service.residentMb(),
      });
      process.stdout.write(`minute ${minute}: ${sent.length - good} failed, ${JSON.stringify(all.at(-1))}\n`);
    }
    const kinds = [...failures].map(([kind, count]) => `${kind}: ${count}`).join(', ');
    addRow(`soak: ${done} requests done, ${failed} failed${kinds && ` (${kinds})`}`);
    const sixth = Math.ceil(minutes / 6);
    const ofAll = (name: keyof (typeof all)[number]) =>
      [all.slice(0, sixth), all.slice(-sixth)]
        .map((part) => number(part.reduce((sum, each) => sum + each[name], 0) / part.length))
        .join(' and ');
    addRow(
      `soak: in the first and the last ${sixth} minutes p50 ${ofAll('p50Ms')} ms, p99 ${ofAll('p99Ms')} ms, ${ofAll('megabytes')} MB`,
    );
  } finally {
    await service.stop();
  }
}
