// The scrape configuration and every query of the dashboard, on Debian's Prometheus. alerts.test.ts is about the alerts.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { readQueries } from '../support/app/metrics.ts';
import {
  expectOfPromtool,
  operateFiles,
  type Prometheus,
  startPrometheus,
  startWatched,
  type WatchedInstance,
} from '../support/app/prometheus.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { cloneDatabase, startTestPostgres } from '../support/database/postgres.ts';

const stops: (() => Promise<unknown>)[] = [];
let prometheus: Prometheus;
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

beforeAll(async () => {
  const postgres = await startTestPostgres();
  stops.push(() => postgres.stop());
  const { url } = await cloneDatabase(postgres.templateUrl);
  const instances = [await startWatched(url), await startWatched(url)];
  for (const { end } of instances) stops.push(() => end('SIGTERM'));
  prometheus = await startPrometheus(instances.map(({ target }) => target));
  stops.push(prometheus.close);
  // Scrapes happen between the rounds, so that counters are seen to grow.
  for (let round = 0; round < 4; round++) {
    for (const each of instances) await makeTraffic(each, round);
    await new Promise((done) => setTimeout(done, 1_500));
  }
});

async function makeTraffic(app: WatchedInstance, round: number): Promise<void> {
  const { send, config } = app;
  const login = await send('/login', { form: { email: 'merchant@example.test', password: demoPassword } });
  expect(login.status).toBe(303);
  const cookie = login.headers.get('set-cookie')?.split(';')[0];
  await send('/login', { form: { email: 'merchant@example.test', password: 'wrong' } });
  for (const client of config.clients.keys()) await send(`/sso/launch/${client}`, { cookie });
  await send('/sso/launch/marketplace');
  await send('/profile', { cookie, headers: { accept: 'text/html' } });
  await send('/sso/marketplace/callback?payload=x&signature=y');
  await send('/nowhere');
  await send('/forgot-password', { form: { email: 'customer@example.test' } });
  await pushSignup(app, buildSignup(`metrics-${config.baseUrl.replace(/\D/g, '')}-${round}`));
}

it('both instances are scraped', async () => {
  const isUp = async () => (await prometheus.evaluate('sum(up{job="identity"})'))[0]?.value[1];
  await expect.poll(isUp, { timeout: 30_000 }).toBe('2');
});

it('every query of the dashboard is right, and has data', async () => {
  const dashboard = readFileSync(`${operateFiles}/grafana-dashboard.json`, 'utf8');
  const queries = readQueries(dashboard).map((query) => query.replaceAll('$__rate_interval', '10s'));
  expect(queries.length).toBeGreaterThan(40);
  for (const query of queries) {
    const result = await prometheus.evaluate(query);
    expect(result, query).not.toEqual([]);
    expect(
      result.some(({ value: [, number] }) => number !== 'NaN'),
      query,
    ).toBe(true);
  }
});

it('what was done is in the numbers', async () => {
  const of = async (query: string) => Number((await prometheus.evaluate(query))[0]?.value[1]);
  expect(await of('sum(identity_logins_total{result="ok"})')).toBe(8);
  expect(await of('sum(identity_logins_total{result="wrong_password"})')).toBe(8);
  expect(await of('sum(identity_signups_total{result="created"})')).toBe(8);
  expect(await of('sum(identity_launches_total{outcome="payload"})')).toBe(24);
  expect(await of('count(identity_database_up == 1)')).toBe(2);
});

it('every alert is evaluated, on metrics that there are, and none fires in peace', async () => {
  const { ask, listRules } = prometheus;
  const rules = await listRules();
  expect(rules.length).toBeGreaterThan(15);
  await expect
    .poll(async () => (await listRules()).filter(({ health }) => health !== 'ok'), { timeout: 30_000 })
    .toEqual([]);
  expect((await listRules()).filter(({ state }) => state === 'firing')).toEqual([]);
  const names = await ask<string[]>('label/__name__/values');
  for (const { name, query } of rules)
    for (const [metric] of query.matchAll(/\b(?:identity|process)_[a-z_]+/g))
      expect(names, name).toContain(metric);
});

it('promtool finds nothing wrong with the files', () => {
  expectOfPromtool('check', 'rules', 'alerts.yml', 'alerts-machine.yml');
  expectOfPromtool('check', 'config', 'prometheus.yml');
});
