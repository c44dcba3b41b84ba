// Two instances behind HAProxy, with docs/operate/files/haproxy.cfg, are restarted in turn under load: no request fails.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { password, populate, settings } from '../bench/population.ts';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { startTestPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { buildMixedTraffic, isDone } from '../support/load/mixed-traffic.ts';
import { runOpenLoop } from '../support/load/open-loop.ts';
import { type PlainBalancer, startPlainBalancer } from '../support/machines/balancer.ts';

const users = 1_000;
const perSecond = 200;

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

it.each<[runtime: Runtime, rounds: number]>([
  ['node', 10],
  ['deno', 1],
])('no request fails while two instances on %s are restarted in turn, %i times', async (runtime, rounds) => {
  const ports: [number, number] = [await findFreePort(), await findFreePort()];
  const env = { ...settings, DATABASE_URL: postgres.templateUrl, HOST: '127.0.0.1' };
  const start = (port: number) => startService(runtime, port, env);
  for (const port of ports) instances.set(port, await start(port));
  const balancer = await startPlainBalancer(ports);
  balancers.push(balancer);
  const ask = buildMixedTraffic(users);
  let requests = 0;
  for (let round = 0; round < rounds; round++) {
    const enough = new AbortController();
    const load = runOpenLoop({ port: balancer.port, perSecond, seconds: 120, ask, signal: enough.signal });
    for (const port of ports) {
      const instance = instances.get(port);
      await new Promise((done) => setTimeout(done, 1_000));
      const stoppedAt = performance.now();
      instance?.child.kill('SIGTERM');
      expect(await instance?.exited, instance?.output().slice(-1_000)).toBe(0);
      expect(performance.now() - stoppedAt).toBeLessThan(15_000);
      instances.set(port, await start(port));
      // Until the balancer has noticed.
      await new Promise((done) => setTimeout(done, 2_000));
    }
    enough.abort();
    const sent = await load;
    expect(sent.filter((one) => !isDone(one))).toEqual([]);
    requests += sent.length;
  }
  expect(requests).toBeGreaterThan(rounds * perSecond * 10);
});
