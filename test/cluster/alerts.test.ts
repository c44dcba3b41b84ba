// The alerts for operators, on Debian's Prometheus. A fault of the built service or of its database triggers each alert. If
// that takes too long, promtool shows that the alert fires. No alert fires in a quiet hour, or after an outage.
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Database } from '../../db/postgres/client.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { readScrape, type Sample } from '../support/app/metrics.ts';
import {
  expectOfPromtool,
  operateFiles,
  startPrometheus,
  startWatched,
  type WatchedInstance,
} from '../support/app/prometheus.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { cloneDatabase, connect, makeFolder, startTestPostgres } from '../support/database/postgres.ts';
import { openWire, type Wire } from '../support/database/wire.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';

const stops: (() => Promise<unknown>)[] = [];
let folder: string;
let templateUrl: string;
beforeAll(async () => {
  folder = await makeFolder();
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startTestPostgres();
  stops.push(() => postgres.stop());
  templateUrl = postgres.templateUrl;
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

// ---- Each alert, triggered

type World = { app: WatchedInstance; other: WatchedInstance; db: Database; wire: Wire };

type Fault = {
  /** The settings of the first instance, or of both instances if `ofBoth` is set. */
  env?: Record<string, string>;
  ofBoth?: boolean;
  /** Code that the process of the first instance runs before the service. */
  first?: string;
  begin?: (world: World) => Promise<unknown>;
  /** What people and programs keep doing during the fault. */
  again?: (world: World) => Promise<unknown>;
  /** Replaces `from` in the alert with `to`, so that the test need not wait for minutes. */
  sooner?: [from: string, to: string];
};

const logIn = ({ send }: WatchedInstance, email = 'merchant@example.test', password = demoPassword) =>
  send('/login', { form: { email, password } });
const forget = ({ send }: WatchedInstance, email = 'merchant@example.test') =>
  send('/forgot-password', { form: { email } });
const many = (count: number, ask: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Makes `event` run `statement` in the database from now on. */
async function addTrigger({ db }: World, event: string, statement: string): Promise<void> {
  await sql`create function fault() returns trigger language plpgsql security definer
    as $$ begin ${sql.raw(statement)}; return null; end $$`.execute(db);
  await sql`create trigger fault before ${sql.raw(event)} execute function fault()`.execute(db);
}

/** Locks the table until the test's database is dropped. Nothing else uses the connection, so nothing ends the transaction. */
const lock = ({ db }: World, table: string) =>
  db.connection().execute(async (connection) => {
    await sql`set idle_in_transaction_session_timeout = 0`.execute(connection);
    await sql`begin`.execute(connection);
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(connection);
  });

// Nothing listens at port 9 of this machine.
const deaf = { SSO_CRM_EVENTS_URL: 'http://127.0.0.1:9/events' };
const mailless = { SMTP_URL: 'smtp://127.0.0.1:9?tls=off', MAIL_FROM: 'id@example.test' };
const ageMails = ({ db }: World, age: string) =>
  sql`update mails set created_at = now() - ${age}::interval, next_attempt_at = now()
    where given_up_at is null`.execute(db);

const faults: Record<string, Fault> = {
  IdentityDown: { begin: ({ app, other }) => Promise.all([app.end('SIGKILL'), other.end('SIGKILL')]) },
  IdentityInstanceDown: { begin: ({ app }) => app.end('SIGKILL') },
  IdentityRestarting: {
    async again({ app }) {
      await app.end('SIGKILL');
      await app.restart();
      // The process lives until Prometheus has scraped it.
      await pause(2_000);
    },
  },
  IdentityDatabaseDown: { begin: async ({ wire }) => wire.cut() },
  IdentityUnavailable: {
    begin: async ({ wire }) => wire.cut(),
    again: ({ app }) => app.send('/sso/profile', { cookie: `identity_session=${'x'.repeat(43)}` }),
  },
  IdentityDatabaseFull: {
    begin: (world) =>
      addTrigger(
        world,
        'insert on sessions',
        `raise sqlstate '53100' using message = 'could not extend file'`,
      ),
    async again({ app }) {
      expect((await logIn(app)).status).toBe(503);
      expect((await app.send('/readyz')).status).toBe(200);
    },
  },
  IdentityClockWrong: {
    first: `const Real = Date; const ahead = 600_000;
      globalThis.Date = class extends Real {
        constructor(...its) { its.length ? super(...its) : super(Real.now() + ahead); }
        static now() { return Real.now() + ahead; }
      };`,
  },
  IdentityInternalErrors: {
    begin: (world) => addTrigger(world, 'insert on sessions', `raise sqlstate 'XX000'`),
    again: ({ app }) => logIn(app),
  },
  IdentitySlow: {
    begin: (world) => addTrigger(world, 'insert on launches', 'perform pg_sleep(0.7)'),
    async again({ app }) {
      const cookie = (await logIn(app)).headers.get('set-cookie')?.split(';')[0];
      await app.send('/sso/launch/marketplace', { cookie });
    },
  },
  IdentityConnectionsShort: {
    env: { DATABASE_POOL_SIZE: '1' },
    ofBoth: true,
    begin: (world) => lock(world, 'mails'),
    again: ({ app }) => many(20, () => forget(app)),
  },
  IdentityTurnedAway: {
    begin: (world) => lock(world, 'sessions'),
    again: ({ app }) =>
      many(260, () => app.send('/sso/profile', { cookie: `identity_session=${'x'.repeat(43)}` })),
  },
  IdentityHashingFull: {
    again: ({ app }) => many(250, (n) => logIn(app, `hasty-${n}@example.test`, 'wrong')),
  },
  IdentityGuessing: { again: ({ app }) => many(100, () => logIn(app, 'guessed@example.test', 'wrong')) },
  IdentitySignaturesRefused: {
    async again({ app }) {
      const link = await buildHandOff(app, { id: 'forged' });
      await many(10, () => app.send(link.replace(/signature=.{4}/, 'signature=0000')));
    },
  },
  IdentityTimesRefused: {
    async again({ app }) {
      const at = new Date(Date.now() - 600_000);
      await many(5, async (n) => app.send(await buildHandOff(app, { id: `late-${n}` }, at)));
      await many(5, (n) => sendSignup(app, buildSignup(`late-${n}`), { at }));
    },
  },
  IdentityMailsLate: {
    ...{ env: mailless, ofBoth: true, begin: ({ app }) => forget(app) },
    again: (world) => ageMails(world, '10 minutes'),
  },
  IdentityMailGivenUp: {
    ...{ env: mailless, ofBoth: true, begin: ({ app }) => forget(app) },
    again: (world) => ageMails(world, '4 days'),
  },
  IdentityManyMailsAsked: { again: ({ app }) => many(100, (n) => forget(app, `flooded-${n}@example.test`)) },
  IdentityBillingLate: {
    begin: ({ db }) => sql`insert into restores (at) values (now() - interval '2 hours')`.execute(db),
  },
  IdentityBackupOld: {
    begin: ({ db }) =>
      sql`insert into audit_events (id, type, at, details) select gen_random_uuid(), 'database.backed_up', now(),
        jsonb_build_object('beganAt', now() - interval '2 days')`.execute(db),
  },
  IdentitySweepLate: {
    async begin(world) {
      await addTrigger(world, 'delete on nonces', `raise 'no'`);
      await sql`insert into nonces values ('late', ${'n'.repeat(22)}, now() - interval '3 days')`.execute(
        world.db,
      );
    },
  },
  IdentityJobFailing: {
    begin: (world) => addTrigger(world, 'insert on sums_of_hours', `raise 'no'`),
    again: ({ app }) => logIn(app),
    sooner: ['> 600', '> 20'],
  },
  IdentityCountsUnread: { begin: (world) => lock(world, 'mails') },
  IdentityClientBehind: {
    env: deaf,
    ofBoth: true,
    async begin({ db }) {
      await appendEvents(db, 'crm_app', 3);
      await sql`update events set occurred_at = now() - interval '1 hour'`.execute(db);
    },
  },
  IdentityNudgesFailing: { env: deaf, ofBoth: true, begin: ({ db }) => appendEvents(db, 'crm_app', 3) },
  IdentityEventLoopBlocked: {
    async again({ app }) {
      app.child().kill('SIGSTOP');
      await pause(1_200);
      app.child().kill('SIGCONT');
    },
  },
  IdentityMemory: {
    first: `if (require('node:worker_threads').isMainThread) globalThis.kept = Buffer.alloc(500e6, 1);`,
  },
};

it('each alert has its fault', () => {
  const names = [...readFileSync(`${operateFiles}/alerts.yml`, 'utf8').matchAll(/- alert: (\w+)/g)];
  expect(Object.keys(faults).sort()).toEqual(names.map(([, name]) => name).sort());
});

it.each(Object.entries(faults))(
  '%s is true after its fault, and not before (contract 9.330 to 9.336)',
  async (alert, fault) => {
    const { env = {}, ofBoth, first, begin, again, sooner = ['', ''] } = fault;
    const ends: (() => unknown)[] = [];
    try {
      const { url, drop } = await cloneDatabase(templateUrl);
      ends.push(drop);
      const { db, close } = connect(url, { poolSize: 3, statementTimeoutMs: 0 });
      ends.push(close);
      const wire = await openWire(url);
      ends.push(wire.close);
      const plain = ofBoth ? env : {};
      const app = await startWatched(wire.url, first ? plain : env);
      const other = await startWatched(wire.url, plain);
      ends.push(() => Promise.all([app.end('SIGKILL'), other.end('SIGKILL')]));
      const prometheus = await startPrometheus([app.target, other.target]);
      ends.push(prometheus.close);
      const query = ((await prometheus.listRules()).find(({ name }) => name === alert)?.query ?? '').replace(
        ...sooner,
      );
      const isTrue = async () => (await prometheus.evaluate(query)).length > 0;
      const count = async (expr: string) => Number((await prometheus.evaluate(expr))[0]?.value[1]);
      // Waits for two scrapes, so that a counter is seen to grow.
      await expect.poll(() => count('min(count_over_time(up{job="identity"}[1m]))'), long).toBeGreaterThan(1);
      await expect.poll(() => count('count(identity_database_up == 1)'), long).toBe(2);
      expect(await isTrue()).toBe(false);

      if (first) {
        const script = join(folder, `${alert}.cjs`);
        await writeFile(script, first);
        await app.end('SIGTERM');
        await app.restart({ NODE_OPTIONS: `--require ${script}` });
      }
      const world = { app, other, db, wire };
      await begin?.(world);
      await vi.waitFor(async () => {
        await again?.(world);
        expect(await isTrue(), query).toBe(true);
      }, long);
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
);

const long = { timeout: 120_000, interval: 500 };

// ---- Alerts whose faults would take long, shown by promtool

/** Values every 15 seconds from 0 on. They grow by `from` for ten minutes, and by `to` after that. */
const then = (from: number, to: number) => `0+${from}x40 ${from * 40}+${to}x40`;
const always = (value: number) => `${value}x80`;
const jobOf = (metric: string, instance: string, name: string) =>
  `identity_job_${metric}{instance="${instance}",job="identity",name="${name}"}`;

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
  // At night one person fails again and again, while most requests are probes.
  [
    'IdentityUnavailable',
    [
      ['identity_http_request_duration_seconds_count{status="200",route="/healthz"}', then(30, 30)],
      ['identity_http_request_duration_seconds_count{status="303",route="/login"}', then(1, 0)],
      ['identity_http_request_duration_seconds_count{status="503",route="/login"}', then(0, 1)],
      ['identity_http_requests_turned_away_total', always(0)],
    ],
  ],
  ['IdentityInternalErrors', [['identity_refusals_total{code="internal_error"}', then(0, 1)]]],
  // Only reports of payments have wrong signatures.
  [
    'IdentitySignaturesRefused',
    [
      ['identity_inbound_hand_offs_total{result="invalid_signature"}', always(0)],
      ['identity_signups_total{result="invalid_webhook_signature"}', always(0)],
      ['identity_payments_total{result="invalid_webhook_signature"}', then(0, 1)],
    ],
  ],
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
  // The mail server goes away after ten minutes, so mails were sent only before that.
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
  ['IdentityBackupOld', [['identity_backup_age_seconds', '0x20 130000x60']]],
  ['IdentityClientBehind', [['identity_client_events_oldest_seconds{client="crm_app"}', '0x20 1200x60']]],
  ['IdentityNudgesFailing', [['identity_nudges_failing{client="crm_app"}', '0x20 1x60']]],
  // On one instance, a job runs every minute and always fails. On the other instance, the same job succeeds.
  [
    'IdentityJobFailing',
    [
      [jobOf('last_success_timestamp_seconds', 'a', 'sweep'), always(0)],
      [
        jobOf('failures_total', 'a', 'sweep'),
        '0x15 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3 10x3 11x3 12x3 13x3 14x3 15x8',
      ],
      [jobOf('last_success_timestamp_seconds', 'b', 'sweep'), '0+15x80'],
      [jobOf('failures_total', 'b', 'sweep'), always(0)],
      ['identity_database_up', always(1)],
    ],
    '18m',
  ],
  [
    'IdentityRestarting',
    [['process_start_time_seconds{job="identity",instance="a"}', '0x40 700x4 800x4 900x4 1000x28']],
    '13m',
  ],
  ['IdentityDatabaseFull', [['identity_database_refusals_total{class="53"}', then(0, 1)]], '12m'],
  ['IdentityClockWrong', [['identity_clock_ahead_seconds{instance="a"}', '0x40 -11x40']], '13m'],
  [
    'IdentityCountsUnread',
    [
      ['identity_counts_read', '1x20 0x60'],
      ['identity_database_up', always(1)],
    ],
  ],
])('%s fires when it should, and not before (%#)', async (alert, series, by = '20m') => {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  const test = {
    input_series: series.map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr, eval_time: '5m', exp_samples: [{ labels: '{}', value: 0 }] },
      { expr, eval_time: by, exp_samples: [{ labels: '{}', value: 1 }] },
    ],
  };
  await expectOfRules(test);
});

it('one address that takes no mail is no alert, and an alert says where to read on', () =>
  expectOfRules({
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
  }));

it('a single 503 in a quiet night is no alert', () =>
  expectOfRules({
    // One request waited for a lock (contract 9.255), and a few others did not.
    input_series: [
      ['identity_http_request_duration_seconds_count{status="303",route="/login"}', '0+0.5x80'],
      ['identity_http_request_duration_seconds_count{status="503",route="/profile"}', '0x30 1x50'],
      ['identity_http_requests_turned_away_total', always(0)],
    ].map(([series, values]) => ({ series, values })),
    promql_expr_test: expectFiring([5, 9, 10, 11, 12, 13, 20], 'IdentityUnavailable', 0),
  }));

let files = 0;
async function expectOfRules(test: object, rules = 'alerts.yml'): Promise<void> {
  const head = { rule_files: [resolve(operateFiles, rules)], evaluation_interval: '15s' };
  // JSON is valid YAML.
  const file = join(folder, `${files++}.json`);
  await writeFile(file, JSON.stringify({ ...head, tests: [{ interval: '15s', ...test }] }));
  expectOfPromtool('test', 'rules', file);
}

// ---- In a quiet hour, and after an outage

/** Builds the series of two quiet instances from their metrics after some use: counters stand still, and times go on. */
async function readQuiet(change: (sample: Sample) => string | undefined): Promise<object[]> {
  const { url, drop } = await cloneDatabase(templateUrl);
  const instances = [await startWatched(url), await startWatched(url)];
  const series: object[] = [];
  for (const [n, app] of instances.entries()) {
    await logIn(app);
    const { samples } = readScrape(await (await fetch(`http://${app.target}/metrics`)).text());
    samples.push({ name: 'up', labels: {}, value: 1 });
    for (const sample of samples) {
      const labels = Object.entries({ ...sample.labels, job: 'identity', instance: `${n}` });
      const spelled = labels.map(([label, value]) => `${label}="${value}"`).join(',');
      const usual = /_timestamp_seconds$/.test(sample.name) ? '0+15x240' : `${sample.value}x240`;
      series.push({ series: `${sample.name}{${spelled}}`, values: change(sample) ?? usual });
    }
  }
  await Promise.all(instances.map(({ end }) => end('SIGTERM')));
  await drop();
  expect(series.length).toBeGreaterThan(1_000);
  return series;
}

const firing = (alert: string) => `count(ALERTS{alertname=~"${alert}",alertstate="firing"}) or vector(0)`;
const expectFiring = (minutes: number[], alert: string, value: number) =>
  minutes.map((minute) => ({
    ...{ expr: firing(alert), eval_time: `${minute}m`, exp_samples: [{ labels: '{}', value }] },
  }));

it('no alert fires in a quiet hour (contract 9.330 to 9.336)', async () =>
  expectOfRules({
    input_series: await readQuiet(() => undefined),
    promql_expr_test: expectFiring([5, 15, 30, 45, 59], '.*', 0),
  }));

it('an outage of the database is told while it lasts, and no alert fires once it is over (contract 9.335)', async () => {
  // The outage lasts from the tenth minute to the twentieth. Frequent jobs fail every ten seconds, and rare ones every minute.
  // A rare job last succeeds a minute before the outage, and succeeds anew up to a minute after it.
  const [before, meanwhile, after] = [40, 40, 158];
  const outage = (name: string, its: string) =>
    ({
      identity_database_up: `1x${before} 0x${meanwhile} 1x${after}`,
      identity_counts_read: `1x${before} 0x${meanwhile} 1x${after}`,
      identity_database_connections_refused_total: `0x${before} 0+20x${meanwhile} 800x${after}`,
      identity_job_failures_total:
        its === 'sweep'
          ? `0x${before} 0+0.25x${meanwhile} 10x${after}`
          : `0x${before} 0+1.5x${meanwhile} 60x${after}`,
      identity_job_last_success_timestamp_seconds:
        its === 'sweep' ? '0+15x36 540x48 1275+15x154' : `0+15x${before} 600x${meanwhile} 1230+15x${after}`,
    })[name];
  const series = await readQuiet(({ name, labels, value }) =>
    /^identity_(waiting|clock)/.test(name)
      ? `${value}x${before} _x${meanwhile} ${value}x${after}`
      : outage(name, labels.name ?? ''),
  );
  const route = 'identity_http_request_duration_seconds_count{route="/login",method="POST"';
  series.push({ series: `${route},status="303",instance="0"}`, values: '0+10x240' });
  series.push({
    series: `${route},status="503",instance="0"}`,
    values: `0x${before} 0+10x${meanwhile} 400x${after}`,
  });
  await expectOfRules({
    input_series: series,
    promql_expr_test: [
      ...expectFiring([9], '.*', 0),
      ...expectFiring([12, 15, 19], 'IdentityDatabaseDown', 1),
      ...expectFiring([12, 15, 19, 21, 22, 23, 24, 25, 26, 27], 'IdentityJobFailing', 0),
      // By minute 26, even alerts that look at the last five minutes have ended.
      ...expectFiring([26, 28, 30, 35, 45, 59], '.*', 0),
    ],
  });
});

// ---- The example alerts for what is around the service

it.each<[string, [series: string, values: string][]]>([
  ['CertificateEnds', [['probe_ssl_earliest_cert_expiry', `${14 * 86_400 + 1_800}x480`]]],
  ['SiteDown', [['probe_success', '1x40 0x440']]],
  [
    'DiskLow',
    [
      ['node_filesystem_avail_bytes{fstype="ext4",mountpoint="/"}', '50e9x40 10e9x440'],
      ['node_filesystem_size_bytes{fstype="ext4",mountpoint="/"}', '100e9x480'],
    ],
  ],
  ['DiskFullSoon', [['node_filesystem_avail_bytes{fstype="ext4",mountpoint="/"}', '50e9x40 50e9-100e6x440']]],
  ['ClockOff', [['node_timex_offset_seconds', '0x40 -1.5x440']]],
  ['ClockOff', [['node_timex_sync_status', '1x40 0x440']]],
  ['StandbyBehind', [['pg_replication_lag_seconds', '0x40 90x440']]],
  ['StandbyFarBehind', [['pg_stat_replication_pg_wal_lsn_diff{application_name="b"}', '0x40 1e9x440']]],
  ['StandbyGone', [['pg_stat_replication_pg_wal_lsn_diff{application_name="b"}', '0x40']]],
])('the example %s fires when it should, and not before (%#)', (alert, series) =>
  expectOfRules(
    {
      input_series: series.map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [...expectFiring([9], alert, 0), ...expectFiring([118], alert, 1)],
    },
    'alerts-machine.yml',
  ),
);
