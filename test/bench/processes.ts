// Measures several processes on one machine, behind HAProxy as docs/operate/install.md sets it up.
import { startPlainBalancer } from '../support/machines/balancer.ts';
import type { BenchDatabase } from './database.ts';
import { measure } from './load.ts';
import { buildAsking } from './population.ts';
import { rows } from './rows.ts';
import { type Server, startService } from './servers.ts';
import { addRow } from './table.ts';

const counts = [1, 2, 4];
const seconds = 10;

export async function measureProcesses({ env, people }: BenchDatabase): Promise<void> {
  const ask = buildAsking(people);
  for (const count of counts) {
    const services: Server[] = [];
    for (let n = 0; n < count; n++)
      services.push(
        await startService('node', { ...env, ...(count > 1 && { PASSWORD_HASHING_THREADS: '1' }) }),
      );
    const balancer = await startPlainBalancer(services.map(({ port }) => port));
    const all: Server = {
      ...(services[0] as Server),
      port: balancer.port,
      url: `http://127.0.0.1:${balancer.port}`,
      cpuMs: async () => (await Promise.all(services.map(({ cpuMs }) => cpuMs()))).reduce((a, b) => a + b),
    };
    try {
      for (const row of ['launch', 'login'] as const) {
        const expected = rows[row].status;
        await measure(all, ask[row], { seconds, expected, connections: 32 });
        addRow(
          `${row}, ${count} ${count === 1 ? 'process' : 'processes'}`,
          await measure(all, ask[row], { seconds, expected, connections: 32 }),
        );
      }
    } finally {
      await balancer.close();
      await Promise.all(services.map(({ stop }) => stop()));
    }
  }
}
