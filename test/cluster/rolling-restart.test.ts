// Two instances behind HAProxy, nginx or Caddy are restarted in turn under load: no request fails.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { password, populate, settings } from '../bench/population.ts';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { startTestPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { buildMixedTraffic, isDone } from '../support/load/mixed-traffic.ts';
import { type OpenLoop, runOpenLoop } from '../support/load/open-loop.ts';
import {
  type PlainBalancer,
  startCaddy,
  startNginx,
  startPlainBalancer,
} from '../support/machines/balancer.ts';

const users = 1_000;

let postgres: TestPostgres;
const balancers: PlainBalancer[] = [];
const instances = new Map<number, RunningProcess>();
beforeAll(async () => {
  postgres = await startTestPostgres();
  await populate(postgres.templateUrl, users, await hashPassword(password));
});
afterEach(async () => {
  for (const balancer of balancers.splice(0)) await balancer.close();
  for (const { child, exited } of instances.values()) {
    child.kill('SIGKILL');
    await exited;
  }
  instances.clear();
});
afterAll(async () => {
  await postgres?.stop();
});

type Proxy = 'HAProxy' | 'nginx' | 'Caddy';
/**
 * nginx does not check whether instances are ready. `takeOut` changes its configuration, as docs/operate/nginx-caddy.md says,
 * so that it sends nothing to an instance.
 */
type Started = PlainBalancer & {
  load: Partial<OpenLoop>;
  takeOut?: (...ports: number[]) => Promise<void>;
};
const startProxy: Record<Proxy, (ports: [number, number]) => Promise<Started>> = {
  HAProxy: async (ports) => ({ ...(await startPlainBalancer(ports)), load: {} }),
  nginx: async (ports) => ({
    ...(await startNginx(ports)),
    // nginx closes the connections of browsers when it reloads its configuration, so the load sends a failed request again.
    load: { tls: true, sendsAgain: true },
  }),
  Caddy: async (ports) => ({ ...(await startCaddy(ports)), load: { tls: true } }),
};
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

it.each<[runtime: Runtime, proxy: Proxy, rounds: number, perSecond: number]>([
  ['node', 'HAProxy', 10, 200],
  ['deno', 'HAProxy', 1, 200],
  // The load uses TLS for these two.
  ['node', 'nginx', 2, 100],
  ['node', 'Caddy', 2, 100],
])(
  'no request fails while two instances on %s behind %s are restarted in turn, %i times, at %i requests a second',
  async (runtime, proxy, rounds, perSecond) => {
    const ports: [number, number] = [await findFreePort(), await findFreePort()];
    const env = {
      ...settings,
      DATABASE_URL: postgres.templateUrl,
      HOST: '127.0.0.1',
      ...(proxy === 'nginx' && { SHUTDOWN_DELAY_SECONDS: '0' }),
    };
    const start = (port: number) => startService(runtime, port, env);
    for (const port of ports) instances.set(port, await start(port));
    const balancer = await startProxy[proxy](ports);
    balancers.push(balancer);
    const ask = buildMixedTraffic(users);
    let requests = 0;
    for (let round = 0; round < rounds; round++) {
      const enough = new AbortController();
      const load = runOpenLoop({
        ...balancer.load,
        port: balancer.port,
        perSecond,
        seconds: 120,
        ask,
        signal: enough.signal,
      });
      for (const port of ports) {
        const instance = instances.get(port);
        await pause(1_000);
        await balancer.takeOut?.(port);
        const stoppedAt = performance.now();
        instance?.child.kill('SIGTERM');
        expect(await instance?.exited, instance?.output().slice(-1_000)).toBe(0);
        expect(performance.now() - stoppedAt).toBeLessThan(15_000);
        instances.set(port, await start(port));
        await balancer.takeOut?.();
        // Waits until the balancer has noticed that the instance is back.
        await pause(2_000);
      }
      enough.abort();
      const sent = await load;
      const failed = sent.filter((one) => !isDone(one));
      expect(failed.map(({ kind, status, ms }) => `${kind} ${status} ${Math.round(ms)} ms`)).toEqual([]);
      requests += sent.length;
    }
    expect(requests).toBeGreaterThan(rounds * perSecond * 5);
  },
);
