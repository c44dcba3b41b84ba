// What Prometheus reads at METRICS_PORT: the metrics count what happens, and nobody outside can write into them.

import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { problems } from '../../server/basics/problems.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { expired } from '../../server/doors/jobs/sweep.ts';
import { loadPages } from '../../server/instance/build.ts';
import { answerMetrics } from '../../server/metrics/answer.ts';
import { answerWithinMs } from '../../server/web/deadline.ts';
import { openApp, openProductionApp, type TestInstance } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Scrape, scrape } from '../support/app/metrics.ts';
import { buildSignup, pushSignup, sendSignup, signMessage } from '../support/crm/crm.ts';
import { openWire } from '../support/database/wire.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

/** Returns how much each sample has grown while `work` was done. */
async function growthBy(work: () => Promise<unknown>, of: TestInstance = app): Promise<Scrape['valueFor']> {
  const before = await scrape(of);
  await work();
  const after = await scrape(of);
  return (name, labels) => (after.valueFor(name, labels) ?? 0) - (before.valueFor(name, labels) ?? 0);
}

/** How far the clock is moved on. Values from the database are kept for five seconds. */
let skipped = 0;
function skipReadings(): void {
  skipped += 6_000;
}
const now = performance.now.bind(performance);
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now() + skipped);
});

describe('/metrics', () => {
  const ask = (path: string, init?: RequestInit, of: TestInstance = app) =>
    of.fetchMetrics(new Request(`http://localhost:9464${path}`, init), { address: '127.0.0.1' });

  it('is text for Prometheus, each metric with its help and type (contract 9.156)', async () => {
    const answer = await ask('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const { text, samples } = await scrape(app);
    const families = new Set(samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    expect(families.size).toBeGreaterThan(25);
    for (const family of families) {
      expect(text).toMatch(new RegExp(`^# HELP ${family} [A-Z].*\\.$`, 'm'));
      expect(text).toMatch(new RegExp(`^# TYPE ${family} (counter|gauge|histogram)$`, 'm'));
      expect(family).toMatch(/^(identity|process)_[a-z_]+$/);
    }
    for (const [, name] of text.matchAll(/^# TYPE (\S+) counter$/gm)) expect(name).toMatch(/_total$/);
  });

  it.each(['/', '/healthz', '/metrics/', '/login', '/sso/profile', '/metrics%2f'])(
    'is the only path: %s is 404',
    async (path) => {
      expect((await ask(path)).status).toBe(404);
    },
  );

  it('is only read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await ask('/metrics', { method })).status).toBe(404);
  });

  it('is not at the address of the service', async () => {
    expect((await app.send('/metrics')).status).toBe(404);
  });

  it('answers in local mode only to a Host of this machine, in production to any', async () => {
    const headers = { host: 'evil.example' };
    expect((await ask('/metrics', { headers })).status).toBe(400);
    const production = await openProductionApp();
    expect((await ask('/metrics', { headers }, production)).status).toBe(200);
    await production.close();
  });

  it('belongs to one instance', async () => {
    const other = await app.startInstance();
    const grown = await growthBy(() => app.send('/healthz'), other);
    expect(grown('identity_http_request_duration_seconds_count', { route: '/healthz' })).toBe(0);
  });
});

describe('the metrics', () => {
  const count = 'identity_http_request_duration_seconds_count';

  it('count requests by route, method and status, and how long they took', async () => {
    const grown = await growthBy(async () => {
      for (const path of ['/problems/not_found', '/problems/unavailable']) await app.send(path);
      await app.send('/nowhere');
      await app.send('/login', { method: 'PUT' });
    });
    const problem = { route: '/problems/:code', method: 'GET', status: '200' };
    expect(grown(count, problem)).toBe(2);
    expect(grown('identity_http_request_duration_seconds_bucket', { ...problem, le: '+Inf' })).toBe(2);
    expect(grown('identity_http_request_duration_seconds_sum', problem)).toBeGreaterThan(0);
    expect(grown(count, { route: 'unknown', method: 'GET', status: '404' })).toBe(1);
    expect(grown(count, { route: '/login', method: 'PUT', status: '405' })).toBe(1);
    expect(grown('identity_refusals_total', { code: 'not_found', client: 'no-client' })).toBe(1);
    expect(grown('identity_refusals_total', { code: 'method_not_allowed', client: 'no-client' })).toBe(1);
    expect((await scrape(app)).valueFor('identity_http_requests_under_way')).toBe(0);
  });

  it('name the route of what is refused before it is looked for', async () => {
    const origin = { origin: 'https://evil.example' };
    const grown = await growthBy(() => app.send('/login', { form: { email: 'a' }, headers: origin }));
    expect(grown(count, { route: '/login', method: 'POST', status: '403' })).toBe(1);
    expect(grown('identity_refusals_total', { code: 'cross_site_request', client: 'no-client' })).toBe(1);
  });

  it('count logins by result', async () => {
    const email = 'customer@example.test';
    const logIn = (form: Record<string, string>, from?: string) => app.send('/login', { form, from });
    const grown = await growthBy(async () => {
      await logIn({ email, password: demoPassword });
      await logIn({ email, password: 'wrong' });
      await logIn({ email: 'nobody@example.test', password: 'wrong' });
      await logIn({ email: 'suspended@example.test', password: demoPassword });
      for (let n = 0; n < 12; n++)
        await logIn({ email: 'guessed@example.test', password: 'wrong' }, '198.51.100.7');
    });
    const logins = (result: string) => grown('identity_logins_total', { result });
    expect({
      ok: logins('ok'),
      wrong: logins('wrong_password'),
      suspended: logins('suspended'),
      limited: logins('rate_limited'),
    }).toEqual({ ok: 1, wrong: 12, suspended: 1, limited: 2 });
    expect(grown('identity_refusals_total', { code: 'rate_limited', client: 'no-client' })).toBe(2);
    expect(grown('identity_refusals_total', { code: 'account_suspended', client: 'no-client' })).toBe(1);
  });

  it('count launches by client and outcome', async () => {
    const cookie = await app.login('merchant@example.test');
    const unproved = await app.login('unverified@example.test');
    const grown = await growthBy(async () => {
      await app.send('/sso/launch/marketplace', { cookie });
      await app.send('/sso/launch/marketplace');
      await app.send('/sso/launch/crm_app?prompt=none');
      await app.send('/sso/launch/crm_app?prompt=none', { cookie: unproved });
      await app.send('/sso/launch/crm_app', { cookie: unproved });
      await app.send('/sso/launch/nobody', { cookie });
    });
    const launches = (client: string, outcome: string) =>
      grown('identity_launches_total', { client, outcome });
    expect(launches('marketplace', 'payload')).toBe(1);
    expect(launches('marketplace', 'login')).toBe(1);
    expect(launches('crm_app', 'login_required')).toBe(1);
    expect(launches('crm_app', 'interaction_required')).toBe(1);
    expect(launches('crm_app', 'verify_email')).toBe(1);
    expect(grown('identity_refusals_total', { code: 'unknown_client', client: 'no-client' })).toBe(1);
  });

  it('count hand-offs and signups by result, also those refused before a signature was checked', async () => {
    const url = await buildHandOff(app, { id: 'metrics-1' });
    const signup = buildSignup('metrics-1');
    const grown = await growthBy(async () => {
      await app.send(url);
      await app.send(url.replace(/signature=./, 'signature=g'));
      await app.send(url.replace('signature=', 'signature=0'));
      await app.send(url);
      await pushSignup(app, signup);
      await pushSignup(app, signup);
      await app.send('/integrations/crm/signups', { json: signup });
    });
    const handOffs = (result: string) => grown('identity_inbound_hand_offs_total', { result });
    const signups = (result: string) => grown('identity_signups_total', { result });
    expect([handOffs('continue'), handOffs('malformed_payload'), handOffs('nonce_replayed')]).toEqual([
      1, 2, 1,
    ]);
    expect([signups('created'), signups('unchanged'), signups('invalid_webhook_signature')]).toEqual([
      1, 1, 1,
    ]);
    expect(grown('identity_refusals_total', { code: 'malformed_payload', client: 'marketplace' })).toBe(2);
    expect(grown('identity_refusals_total', { code: 'invalid_webhook_signature', client: 'crm_app' })).toBe(
      1,
    );
  });

  it('count a webhook with a wrong time as out of date, not as a wrong signature (contract 9.334)', async () => {
    const instance = await app.startInstance({ now: () => new Date(Date.now() + 600_000) });
    const grown = await growthBy(async () => {
      const { status } = await sendSignup(instance, buildSignup('metrics-late'));
      expect(status).toBe(401);
      const [body, secret] = ['{}', app.config.paymentsSecrets?.[0] ?? ''];
      await instance.send('/integrations/payments', {
        ...{ method: 'POST', body, headers: signMessage(secret, body) },
      });
    }, instance);
    for (const name of ['identity_signups_total', 'identity_payments_total']) {
      expect(grown(name, { result: 'out_of_date' })).toBe(1);
      expect(grown(name, { result: 'invalid_webhook_signature' })).toBe(0);
    }
  });

  // If the time were checked first, a stranger could trigger the alert about wrong times by sending an old time without a
  // signature.
  it('count a webhook with a wrong time and a wrong signature as a wrong signature (contract 9.334)', async () => {
    const wrong = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const longAgo = new Date(Date.now() - 600_000);
    const grown = await growthBy(async () => {
      for (const path of ['/integrations/crm/signups', '/integrations/payments']) {
        const headers = signMessage(wrong, '{}', { at: longAgo });
        const { status } = await app.send(path, { method: 'POST', body: '{}', headers });
        expect(status).toBe(401);
      }
    });
    for (const name of ['identity_signups_total', 'identity_payments_total']) {
      expect(grown(name, { result: 'out_of_date' })).toBe(0);
      expect(grown(name, { result: 'invalid_webhook_signature' })).toBe(1);
    }
  });

  it('count refusals of tRPC, and of pages that show them themselves', async () => {
    const cookie = await app.login('merchant@example.test');
    const grown = await growthBy(async () => {
      await app.send('/trpc/profile.get');
      const change = { intent: 'password', currentPassword: 'wrong', newPassword: 'seven quiet lanterns' };
      await app.send('/profile/security', { cookie, form: change });
    });
    expect(grown('identity_refusals_total', { code: 'login_required', client: 'no-client' })).toBe(1);
    expect(grown('identity_refusals_total', { code: 'validation_failed', client: 'no-client' })).toBe(1);
  });

  it('say when a job last ended well, and count mails', async () => {
    // This instance is alone on its database, because any instance may send the mails of all instances.
    const alone = await openApp();
    const countSent = async () => (await scrape(alone)).valueFor('identity_mails_total', { result: 'sent' });
    const grown = await growthBy(async () => {
      const before = (await countSent()) ?? 0;
      await alone.send('/forgot-password', { form: { email: 'nobody@example.test' } });
      await alone.send('/forgot-password', { form: { email: 'customer@example.test' } });
      await expect.poll(countSent, { timeout: 15_000 }).toBeGreaterThan(before);
    }, alone);
    expect(grown('identity_password_mails_total', { result: 'sent' })).toBe(1);
    expect(grown('identity_password_mails_total', { result: 'unknown_user' })).toBe(1);
    // The job that sent the mails may not have ended yet.
    const findAge = async () => {
      const lastAt = (await scrape(alone)).valueFor('identity_job_last_success_timestamp_seconds', {
        name: 'mail',
      });
      return Math.abs(Date.now() / 1_000 - (lastAt ?? 0));
    };
    await expect.poll(findAge, { timeout: 15_000 }).toBeLessThan(30);
    const { valueFor } = await scrape(alone);
    expect(valueFor('identity_job_failures_total', { name: 'sweep' })).toBe(0);
    // The job has not begun yet, so its last success is the start of the instance (contract 9.335).
    const erasure = valueFor('identity_job_last_success_timestamp_seconds', { name: 'erasure' });
    expect(Math.abs(Date.now() / 1_000 - (erasure ?? 0))).toBeLessThan(60);
    await alone.close();
  });

  it('say what runs, and what it takes', async () => {
    const { samples, valueFor } = await scrape(app);
    const info = samples.find(({ name }) => name === 'identity_build_info');
    expect(info?.value).toBe(1);
    expect(info?.labels).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      runtime: 'node',
      runtime_version: process.versions.node,
    });
    expect(valueFor('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(valueFor('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(valueFor('identity_database_pool_size')).toBe(10);
    expect(valueFor('identity_database_connections')).toBeGreaterThan(0);
  });
});

it('no label holds what somebody outside has chosen, nor anything about a person (contract 9.157)', async () => {
  const cookie = await app.login('merchant@example.test');
  const canary = 'canary0123456789';
  for (const path of [
    `/${canary}`,
    `/sso/launch/${canary}?state=${canary}`,
    `/problems/${canary}`,
    `/trpc/${canary}`,
    `/assets/${canary}.css`,
    `/integrations/${canary}`,
    `/invoices/${canary}`,
    `/demo/${canary}`,
    `/${canary}.data`,
    `/login?next=/${canary}`,
  ])
    for (const method of ['GET', 'HEAD', 'POST', canary.toUpperCase(), 'OPTIONS'])
      await app.send(path, { method, cookie, headers: { 'x-request-id': canary, 'user-agent': canary } });
  await app.send('/login', { form: { email: `${canary}@example.test`, password: canary } });

  const { text, samples } = await scrape(app);
  expect(text.toLowerCase()).not.toContain(canary);
  expect(text).not.toMatch(/@|example\.test|192\.0\.2|[0-9a-f]{8}-[0-9a-f]{4}/);
  const { routes } = await loadPages();
  const known: Record<string, (value: string) => boolean> = {
    route: (value) =>
      ['unknown', '/healthz', '/readyz', '/assets/*', ...routes.map(({ path }) => path)].includes(value),
    method: (value) => ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'other'].includes(value),
    status: (value) => /^[2-5]\d\d$/.test(value),
    code: (value) => value in problems,
    client: (value) => app.config.clients.has(value) || ['no-client', 'payment-provider'].includes(value),
    kind: (value) => ['token', 'hand_off', 'signup', 'payment'].includes(value),
    secret: (value) => ['first', 'second'].includes(value),
    name: (value) =>
      [
        'awaited-mail',
        'sign-up-mail',
        'mail',
        'events',
        'people',
        'billing',
        'documents',
        'vat-ids',
        'erasure',
        'sweep',
        'sums',
        'clients',
        'nudges',
        'log-outs',
      ].includes(value),
    queue: (value) => ['outbox', 'unsent', 'billing', 'sweep'].includes(value),
    table: (value) => /^[a-z_]+$/.test(value),
    class: (value) => /^([0-9A-Z]{2}|other)$/.test(value),
    outcome: (value) => /^[a-z_]+$/.test(value),
    result: (value) => /^[a-z_]+$/.test(value),
    le: (value) => value === '+Inf' || Number(value) > 0,
  };
  for (const { name, labels } of samples.filter(({ name }) => name !== 'identity_build_info'))
    for (const [label, value] of Object.entries(labels))
      expect(known[label]?.(value), `${name} ${label}="${value}"`).toBe(true);
  // Prometheus has to store each of these samples, so there must not be too many.
  expect(samples.length).toBeLessThan(2_500);
});

describe('rows that wait', () => {
  it('are counted for each queue, with how long the oldest has waited', async () => {
    const { backend, db, close } = await openBackend();
    await sql`insert into nonces (audience, nonce, expires_at) values
      ('a', 'nonce-of-16-chars-1', now() - interval '70 minutes'),
      ('a', 'nonce-of-16-chars-2', now() - interval '11 minutes'),
      ('a', 'nonce-of-16-chars-3', now() - interval '9 minutes')`.execute(db);
    await sql`insert into rate_limits (key, points, expire) values
      ('k', 1, (extract(epoch from now()) - 120) * 1000)`.execute(db);
    await sql`insert into mails (id, kind, user_id, recipient, created_at, next_attempt_at, given_up_at)
      select gen_random_uuid(), 'welcome', u.id, 'x@example.test', now() - interval '700 seconds', now() - w.late, w.given_up
      from (select id from users limit 1) u, (values
        (interval '600 seconds', null::timestamptz), (interval '-60 seconds', null), (interval '900 seconds', now())
      ) w (late, given_up)`.execute(db);
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, status, price_currency,
        price_unit_amount, price_interval, occurred_at, next_period_starts_at, billing_anchor_day)
      select gen_random_uuid(), id, account_id, 's', 'p', 'active', 'EUR', 1, 'month', now(),
        now() - interval '300 seconds', 1 from users limit 1`.execute(db);
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select 1, id, 'p', now() - interval '40 days', now() - interval '10 days', 'EUR', 1, 'open', now(),
        now() - interval '400 seconds' from service_contracts`.execute(db);

    const fetchMetrics = (request: Request) => answerMetrics(backend.deps.metrics, request, backend.config);
    const { valueFor, samples } = await scrape({ fetchMetrics });
    const waiting = (table: string) => {
      const late = valueFor('identity_waiting_oldest_seconds', { table });
      return [valueFor('identity_waiting_rows', { table }), Math.round((late ?? 0) / 60) * 60];
    };
    expect(valueFor('identity_database_up')).toBe(1);
    expect(waiting('nonces')).toEqual([2, 3_600]);
    expect(waiting('rate_limits')).toEqual([1, 120]);
    expect(
      [
        ['outbox', 'mails', 1],
        ['unsent', 'mails', 2],
        ['billing', 'service_contracts', 1],
        ['billing', 'invoices', 1],
        ['sweep', 'mails', 0],
        ['sweep', 'audit_events', 0],
      ].map(([queue, table]) => valueFor('identity_waiting_rows', { queue: `${queue}`, table: `${table}` })),
    ).toEqual([1, 2, 1, 1, 0, 0]);
    const late = (queue: string, table: string) =>
      Math.round((valueFor('identity_waiting_oldest_seconds', { queue, table }) ?? 0) / 100) * 100;
    expect(late('outbox', 'mails')).toBe(600);
    expect(late('unsent', 'mails')).toBe(700);
    expect(late('billing', 'service_contracts')).toBe(300);
    expect(late('billing', 'invoices')).toBe(400);
    // The queues are due mails, unsent mails, contracts, invoices, documents, billing that waits after a restore, and what is
    // swept.
    const queues = samples.filter(({ name }) => name === 'identity_waiting_rows');
    expect(queues).toHaveLength(6 + expired.length);

    // The service reads the database at most every five seconds, even if scrapes come more often.
    await sql`delete from nonces`.execute(db);
    expect((await scrape({ fetchMetrics })).valueFor('identity_waiting_rows', { table: 'nonces' })).toBe(2);
    skipReadings();
    expect((await scrape({ fetchMetrics })).valueFor('identity_waiting_rows', { table: 'nonces' })).toBe(0);
    await close();
  });
});

it('a locked table makes counts unread, and not the database away (contract 9.330 and 9.331)', async () => {
  const instance = await app.startInstance({ env: { DATABASE_POOL_SIZE: '2' }, answerWithinMs });
  const cookie = await instance.login('merchant@example.test');
  const look = async () => {
    skipReadings();
    const { valueFor } = await scrape(instance);
    return [valueFor('identity_database_up'), valueFor('identity_counts_read')];
  };
  expect(await look()).toEqual([1, 1]);
  const stuck = await app.db.transaction().execute(async (trx) => {
    await sql`lock table mails, users in access exclusive mode`.execute(trx);
    // These requests take all connections of the pool.
    const asked = Array.from({ length: 8 }, () => instance.send('/profile', { cookie }));
    expect(await look()).toEqual([1, 0]);
    return Promise.all(asked.map(async (each) => (await each).status));
  });
  expect(stuck).toContain(503);
  await expect.poll(look, { timeout: 30_000 }).toEqual([1, 1]);
});

it('counts what Postgres refuses by the class of the SQLSTATE, once (contract 9.332)', async () => {
  const refusals = 'identity_database_refusals_total';
  const form = { email: 'customer@example.test', password: demoPassword };
  // The error is that of a full disk.
  await sql`create function fail() returns trigger language plpgsql
    as $$ begin raise sqlstate '53100' using message = 'could not extend file'; end $$`.execute(app.db);
  await sql`create trigger fail before insert on sessions execute function fail()`.execute(app.db);
  const grown = await growthBy(async () => {
    expect((await app.send('/login', { form })).status).toBe(503);
    expect((await app.send('/readyz')).status).toBe(200);
  });
  await sql`drop function fail cascade`.execute(app.db);
  expect(grown(refusals, { class: '53' })).toBe(1);
  for (const its of ['25', 'XX', 'other']) expect(grown(refusals, { class: its }), its).toBe(0);
  expect((await app.send('/login', { form })).status).toBe(303);
  const classes = (await scrape(app)).samples.filter(({ name }) => name === refusals);
  expect(classes.length).toBeGreaterThan(10);
});

it.each([600, -600])(
  'says that the clock is %i seconds ahead of the database (contract 9.333)',
  async (ahead) => {
    const instance = await app.startInstance({ now: () => new Date(Date.now() + ahead * 1_000) });
    const { valueFor } = await scrape(instance);
    expect(Math.abs((valueFor('identity_clock_ahead_seconds') ?? 0) - ahead)).toBeLessThan(2);
  },
);

describe('without the database', () => {
  it.each(['cut', 'swallow'] as const)('/metrics answers soon with the rest (%s)', async (fault) => {
    const wire = await openWire(app.databaseUrl);
    const instance = await app.startInstance({ databaseUrl: wire.url });
    expect((await scrape(instance)).valueFor('identity_database_up')).toBe(1);
    wire[fault]();
    skipReadings();
    const startedAt = Date.now();
    const first = await scrape(instance);
    expect(Date.now() - startedAt).toBeLessThan(4_000);
    expect(first.valueFor('identity_database_up')).toBe(0);
    expect(first.valueFor('identity_counts_read')).toBe(0);
    const gone = /^identity_(waiting|clock|backup)/;
    expect(first.samples.filter(({ name }) => gone.test(name))).toEqual([]);
    // Postgres itself reported no error of class 53: the service could not reach it (contract 9.332).
    expect(first.valueFor('identity_database_refusals_total', { class: '53' })).toBe(0);
    expect(first.valueFor('process_resident_memory_bytes')).toBeGreaterThan(0);
    await instance.send('/healthz');
    const again = await scrape(instance);
    expect(again.valueFor('identity_http_request_duration_seconds_count', { route: '/healthz' })).toBe(1);

    wire.restore();
    const isUp = async () => {
      skipReadings();
      return (await scrape(instance)).valueFor('identity_database_up');
    };
    await expect.poll(isUp, { timeout: 30_000, interval: 500 }).toBe(1);
    wire.close();
  });

  it('requests that got no connection are counted', async () => {
    const wire = await openWire(app.databaseUrl);
    const instance = await app.startInstance({ databaseUrl: wire.url });
    wire.cut();
    const grown = await growthBy(
      () => instance.send('/sso/profile', { cookie: `identity_session=${'x'.repeat(43)}` }),
      instance,
    );
    expect(grown('identity_database_connections_refused_total')).toBeGreaterThan(0);
    expect(grown('identity_refusals_total', { code: 'unavailable', client: 'no-client' })).toBe(1);
    wire.restore();
    wire.close();
  });
});

describe('the age of the last backup', () => {
  const age = async () => {
    skipReadings();
    return (await scrape(app)).valueFor('identity_backup_age_seconds') ?? Number.NaN;
  };

  it('is since it began, and without any since the first migration (contract 9.317)', async () => {
    const { rows } = await sql<{
      seconds: number;
    }>`select extract(epoch from now() - min(timestamp)::timestamptz)::float8
      as seconds from kysely_migration`.execute(app.db);
    expect(Math.abs((await age()) - (rows[0]?.seconds ?? 0))).toBeLessThan(60);
    await sql`insert into audit_events (id, type, at, details) select gen_random_uuid(), 'database.backed_up',
      now() - hours * interval '1 hour', jsonb_build_object('beganAt', now() - (hours + 1) * interval '1 hour')
      from unnest(array[9, 4, 7]) hours`.execute(app.db);
    expect(Math.abs((await age()) - 5 * 3_600)).toBeLessThan(60);
  });
});
