// What operators get for Prometheus, shown by Debian's: the scrape configuration, every query of the dashboard, and the
// alerts, on two instances of the built service.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { demoPassword } from '../../server/demo/demo-users.ts';
import { readConfig } from '../../server/settings/config.ts';
import type { Answer, SendOptions } from '../support/app/app.ts';
import { readQueries } from '../support/app/metrics.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { cloneDatabase, makeFolder, startTestPostgres } from '../support/database/postgres.ts';

const operate = 'docs/operate/files';
const stops: (() => Promise<unknown>)[] = [];
let folder: string;
let prometheus: string;
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

beforeAll(async () => {
  folder = await makeFolder();
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startTestPostgres();
  stops.push(() => postgres.stop());
  const { url } = await cloneDatabase(postgres.templateUrl);
  const instances = [await startInstance(url), await startInstance(url)];
  prometheus = await startPrometheus(instances.map(({ metricsPort }) => `127.0.0.1:${metricsPort}`));
  // Between scrapes, so that counters are seen to grow.
  for (let round = 0; round < 4; round++) {
    for (const { port } of instances) await makeTraffic(port, round);
    await new Promise((done) => setTimeout(done, 1_500));
  }
});

async function startInstance(databaseUrl: string) {
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const service = await startService('node', port, {
    DATABASE_URL: databaseUrl,
    METRICS_PORT: String(metricsPort),
  });
  stops.push(() => end(service));
  return { port, metricsPort };
}

function end({ child, exited }: RunningProcess) {
  child.kill('SIGTERM');
  return exited;
}

/** The address of Debian's Prometheus, with our configuration: only the targets and the pace are other ones. */
async function startPrometheus(targets: string[]): Promise<string> {
  const config = readFileSync(`${operate}/prometheus.yml`, 'utf8')
    .replace(/targets: .*/, `targets: ${JSON.stringify(targets)}`)
    .replaceAll(/(scrape|evaluation)_interval: 15s/g, '$1_interval: 1s');
  await writeFile(join(folder, 'prometheus.yml'), config);
  await copyFile(`${operate}/alerts.yml`, join(folder, 'alerts.yml'));
  const port = await findFreePort();
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise((done) => child.once('close', done));
  stops.push(() => {
    child.kill('SIGTERM');
    return exited;
  });
  const address = `http://127.0.0.1:${port}`;
  await vi.waitFor(
    async () => {
      const answer = await fetch(`${address}/-/ready`).catch(() => undefined);
      if (!answer?.ok) throw new Error(`Prometheus did not come up:\n${output}`);
    },
    { timeout: 60_000, interval: 200 },
  );
  return address;
}

async function makeTraffic(port: number, round: number): Promise<void> {
  const config = readConfig({ PORT: String(port) });
  const send = async (
    path: string,
    { method, headers, form, body, cookie }: SendOptions = {},
  ): Promise<Answer> => {
    const answer = await fetch(config.baseUrl + path, {
      method: method ?? (form || body ? 'POST' : 'GET'),
      headers: { origin: config.baseUrl, ...headers, ...(cookie && { cookie }) },
      body: form ? new URLSearchParams(form) : body,
      redirect: 'manual',
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
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
  await pushSignup({ send, config }, buildSignup(`metrics-${port}-${round}`));
}

async function ask<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(query)}`);
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
  expect(status, `${JSON.stringify(query)} ${error}`).toBe('success');
  return data;
}

const evaluate = async (query: string) =>
  (await ask<{ result: { value: [number, string] }[] }>('query', { query })).result;

it('both instances are scraped', async () => {
  const isUp = async () => (await evaluate('sum(up{job="identity"})'))[0]?.value[1];
  await expect.poll(isUp, { timeout: 30_000 }).toBe('2');
});

it('every query of the dashboard is right, and has data', async () => {
  const dashboard = readFileSync(`${operate}/grafana-dashboard.json`, 'utf8');
  const queries = readQueries(dashboard).map((query) => query.replaceAll('$__rate_interval', '10s'));
  expect(queries.length).toBeGreaterThan(35);
  for (const query of queries) {
    const result = await evaluate(query);
    expect(result, query).not.toEqual([]);
    expect(
      result.some(({ value: [, number] }) => number !== 'NaN'),
      query,
    ).toBe(true);
  }
});

it('what was done is in the numbers', async () => {
  const of = async (query: string) => Number((await evaluate(query))[0]?.value[1]);
  expect(await of('sum(identity_logins_total{result="ok"})')).toBe(8);
  expect(await of('sum(identity_logins_total{result="wrong_password"})')).toBe(8);
  expect(await of('sum(identity_signups_total{result="created"})')).toBe(8);
  expect(await of('sum(identity_launches_total{outcome="payload"})')).toBe(24);
  expect(await of('count(identity_database_up == 1)')).toBe(2);
});

it('every alert is evaluated, on metrics that there are, and none fires in peace', async () => {
  type Rule = { name: string; query: string; health: string; lastError?: string; state: string };
  const readRules = async () =>
    (await ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules);
  const rules = await readRules();
  expect(rules.length).toBeGreaterThan(15);
  await expect
    .poll(async () => (await readRules()).filter(({ health }) => health !== 'ok'), { timeout: 30_000 })
    .toEqual([]);
  expect((await readRules()).filter(({ state }) => state === 'firing')).toEqual([]);
  const names = await ask<string[]>('label/__name__/values');
  for (const { name, query } of rules)
    for (const [metric] of query.matchAll(/\b(?:identity|process)_[a-z_]+/g))
      expect(names, name).toContain(metric);
});

it('promtool finds nothing wrong with the files', () => {
  const check = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: operate, encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  };
  check('check', 'rules', 'alerts.yml');
  check('check', 'config', 'prometheus.yml');
});

/** Every 15 seconds from 0 on: `from` for ten minutes, then `to` more each time. */
const then = (from: number, to: number) => `0+${from}x40 ${from * 40}+${to}x40`;
const always = (value: number) => `${value}x80`;

it.each<[string, [series: string, values: string][], by?: string]>([
  ['IdentityDown', [['up{job="identity",instance="a"}', '1x40 0x40']]],
  [
    'IdentityInstanceDown',
    [
      ['up{job="identity",instance="a"}', '1x40 0x40'],
      ['up{job="identity",instance="b"}', always(1)],
    ],
  ],
  ['IdentityDatabaseDown', [['identity_database_up', '1x40 0x40']]],
  [
    'IdentityUnavailable',
    [
      ['identity_http_request_duration_seconds_count{status="303",route="/login"}', then(100, 80)],
      ['identity_http_request_duration_seconds_count{status="503",route="/login"}', then(0, 20)],
      ['identity_http_requests_turned_away_total', always(0)],
    ],
  ],
  [
    'IdentityUnavailable',
    [
      ['identity_http_request_duration_seconds_count{status="303",route="/login"}', then(100, 80)],
      ['identity_http_requests_turned_away_total', then(0, 20)],
    ],
  ],
  ['IdentityInternalErrors', [['identity_refusals_total{code="internal_error"}', then(0, 1)]]],
  [
    'IdentityConnectionsShort',
    [
      ['identity_database_connections_refused_total', then(0, 5)],
      ['identity_database_up', always(1)],
    ],
  ],
  [
    'IdentityGuessing',
    [
      ['identity_logins_total{result="wrong_password"}', then(1, 100)],
      ['identity_logins_total{result="ok"}', then(5, 5)],
    ],
  ],
  ['IdentityMailsLate', [['identity_waiting_oldest_seconds{queue="outbox"}', '0x40 0+15x40']], '15m'],
  // The mail server goes away after ten minutes: mails were sent until then.
  [
    'IdentityMailsLate',
    [
      ['identity_waiting_oldest_seconds{queue="unsent"}', '0x40 0+15x40'],
      ['identity_mails_total{result="failed"}', '0x42 0+1x38'],
      ['identity_mails_total{result="sent"}', '0+2x40 80x40'],
    ],
    '15m',
  ],
  ['IdentityManyMailsAsked', [['identity_asked_mails_total{result="taken"}', '0x20 0+10x60']]],
  ['IdentityBillingLate', [['identity_waiting_oldest_seconds{queue="billing"}', '0x20 7200x60']]],
  ['IdentityClientBehind', [['identity_client_events_oldest_seconds{client="crm_app"}', '0x20 1200x60']]],
  ['IdentityNudgesFailing', [['identity_nudges_failing{client="crm_app"}', '0x20 1x60']]],
  ['IdentityJobFailing', [['identity_job_failures_total{name="mail"}', then(0, 3)]]],
])('%s fires when it should, and not before (%#)', async (alert, series, by = '20m') => {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  const test = {
    rule_files: [join(folder, 'alerts.yml')],
    evaluation_interval: '15s',
    tests: [
      {
        interval: '15s',
        input_series: series.map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          { expr, eval_time: '5m', exp_samples: [{ labels: '{}', value: 0 }] },
          { expr, eval_time: by, exp_samples: [{ labels: '{}', value: 1 }] },
        ],
      },
    ],
  };
  await expectOfRules(test);
});

it('one address that takes no mail is no alert, and an alert says where to read on', () =>
  expectOfRules({
    rule_files: [join(folder, 'alerts.yml')],
    evaluation_interval: '15s',
    tests: [
      {
        interval: '15s',
        external_labels: { docs_url: 'https://docs.example.test' },
        input_series: [
          ['identity_waiting_oldest_seconds{queue="unsent"}', '0+15x80'],
          ['identity_mails_total{result="failed"}', always(0)],
          ['identity_mails_total{result="refused"}', '0 1x20 2x20 3x40'],
          ['identity_mails_total{result="sent"}', always(0)],
          ['up{job="identity",instance="a"}', always(0)],
        ].map(([series, values]) => ({ series, values })),
        promql_expr_test: ['5m', '10m', '20m'].map((eval_time) => ({
          expr: 'count(ALERTS{alertname="IdentityMailsLate",alertstate="firing"}) or vector(0)',
          eval_time,
          exp_samples: [{ labels: '{}', value: 0 }],
        })),
        alert_rule_test: [
          {
            eval_time: '10m',
            alertname: 'IdentityDown',
            exp_alerts: [
              {
                exp_labels: { severity: 'critical' },
                exp_annotations: {
                  summary: 'No instance answers. Nobody can log in anywhere.',
                  runbook_url: 'https://docs.example.test/operate/troubleshoot.md#identitydown',
                },
              },
            ],
          },
        ],
      },
    ],
  }));

let files = 0;
async function expectOfRules(test: object): Promise<void> {
  // JSON is YAML.
  const file = join(folder, `${files++}.json`);
  await writeFile(file, JSON.stringify(test));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}
