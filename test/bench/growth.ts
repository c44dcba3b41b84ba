// The same service on ever more people; ratios are to the fewest.
import { rounds, seconds, takeTurns, warmUpSeconds } from './compare.ts';
import { measure, medians } from './load.ts';
import { buildAsking, populate, settings } from './population.ts';
import { rows } from './rows.ts';
import type { RunSql } from './same-writes.ts';
import { type Server, startService } from './servers.ts';
import { addComparison } from './table.ts';

const sizes = [10_000, 100_000, 1_000_000];

export async function measureGrowth(
  databaseUrl: string,
  passwordHash: string,
  runSql: RunSql,
): Promise<void> {
  const services: { size: number; service: Server }[] = [];
  try {
    for (const size of sizes) {
      const url = new URL(databaseUrl);
      await runSql(`create database growth_${size}`);
      url.pathname = `/growth_${size}`;
      await populate(url.href, size, passwordHash);
      const env = { ...settings, DATABASE_URL: url.href };
      services.push({ size, service: await startService('node', env) });
    }
    for (const row of ['launch', 'profile', 'hand-off'] as const) {
      const measureFor =
        (duration: number) =>
        ({ size, service }: (typeof services)[number]) =>
          measure(service, buildAsking(size)[row], { seconds: duration, expected: rows[row].status });
      await takeTurns(services, 1, measureFor(warmUpSeconds));
      const results = await takeTurns(services, rounds, measureFor(seconds));
      for (const [n, ours] of results.entries()) {
        const name = `${row}, ${sizes[n]?.toLocaleString('en')} users`;
        addComparison(name, medians(ours), { ours, theirs: results[0] ?? [] });
      }
    }
  } finally {
    await Promise.all(services.map(({ service }) => service.stop()));
  }
}
