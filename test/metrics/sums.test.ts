// The sums of hours (contract 12.100 to 12.105): each count of an instance is added to the sums exactly one time, whatever
// happens.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { addToSums, findLastCounted, listSumsSince, type Sum } from '../../db/tables/sums-of-hours.ts';
import { addSums } from '../../server/doors/jobs/add-sums.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { readKey } from '../../server/metrics/sums.ts';
import { openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { scrape } from '../support/app/metrics.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { openWire } from '../support/database/wire.ts';
import { tokenOf } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const hour = new Date('2026-11-26T10:00:00Z');
const login = (result: string) => `identity_logins_total{result="${result}"}`;

let at = new Date('2026-11-26T10:59:59.500Z');
const on = shared(() => openBackend({ now: () => at }));
beforeEach(async () => {
  await sql`truncate sums_of_hours`.execute(on.db);
});

const readAll = async () =>
  (await sql<Sum>`select * from sums_of_hours order by hour, key`.execute(on.db)).rows;
const countLogins = async () => {
  const sums = await listSumsSince(on.db, {
    since: hour,
    now: new Date(hour.getTime() + 3_600_000),
    names: ['identity_logins_total'],
  });
  return Object.fromEntries(sums.map(({ key, count }) => [readKey(key).labels.result, count]));
};

it('are kept by the hour of the event in UTC, under the keys of the metrics', async () => {
  const { metrics } = on.backend.deps;
  metrics.countLogin('ok');
  metrics.countLaunch('crm_app', 'payload');
  at = new Date('2026-11-26T11:00:00.250Z');
  metrics.countLogin('ok');
  metrics.countLogin('ok');
  await addSums(on.backend.deps);
  expect(await readAll()).toEqual([
    {
      hour,
      key: 'identity_launches_total{client="crm_app",outcome="payload"}',
      count: '1',
      last_at: new Date('2026-11-26T10:59:59.500Z'),
    },
    { hour, key: login('ok'), count: '1', last_at: new Date('2026-11-26T10:59:59.500Z') },
    { hour: new Date('2026-11-26T11:00:00Z'), key: login('ok'), count: '2', last_at: at },
  ]);
  expect(await countLogins()).toEqual({ ok: 3 });
  const findLast = () => findLastCounted(on.db, { keys: [login('ok'), login('busy')], now: at });
  expect(await findLast()).toEqual(new Map([[login('ok'), at]]));
  for (const time of ['11:00:20Z', '11:00:10Z']) {
    at = new Date(`2026-11-26T${time}`);
    metrics.countLogin('ok');
    await addSums(on.backend.deps);
    expect(await findLast()).toEqual(new Map([[login('ok'), new Date('2026-11-26T11:00:20Z')]]));
  }
});

it('are written only if something was counted', async () => {
  on.backend.deps.metrics.countLogin('ok');
  await addSums(on.backend.deps);
  const versions = () => sql`select key, xmin::text, ctid::text from sums_of_hours`.execute(on.db);
  const before = (await versions()).rows;
  await addSums(on.backend.deps);
  on.backend.deps.metrics.countLogin('failed');
  await addSums(on.backend.deps);
  expect(before).toHaveLength(1);
  expect((await versions()).rows).toEqual(expect.arrayContaining(before));
});

it('lose nothing and never wait in a circle when 16 instances add at once', async () => {
  const instances = await Promise.all(
    Array.from({ length: 16 }, () => openBackend({ now: () => at, databaseUrl: on.databaseUrl })),
  );
  const results = ['ok', 'failed', 'busy', 'wrong_password', 'suspended'] as const;
  for (let round = 0; round < 6; round++) {
    for (const [n, { backend }] of instances.entries()) {
      for (let k = 0; k < results.length; k++)
        backend.deps.metrics.countLogin(results[(n * 3 + k * (1 + (n % 4))) % results.length] ?? 'ok');
      for (const result of results) backend.deps.metrics.countLogin(result);
    }
    await Promise.all(instances.map(({ backend }) => addSums(backend.deps)));
  }
  const counted: number[] = Object.values(await countLogins());
  expect(counted).toHaveLength(results.length);
  expect(counted.reduce((all, count) => all + count, 0)).toBe(16 * 6 * 2 * results.length);
  for (const { logged } of instances) expect(logged).toEqual([]);
  await Promise.all(instances.map(({ close }) => close()));
});

it('are added the next time if they could not be, and only once', async () => {
  const { deps } = on.backend;
  deps.metrics.countLogin('ok');
  await sql`alter table sums_of_hours add constraint no_more check (count < 2) not valid`.execute(on.db);
  await addSums(deps);
  deps.metrics.countLogin('ok');
  deps.metrics.countLogin('busy');
  await expect(addSums(deps)).rejects.toThrow(/no_more/);
  await expect(addSums(deps)).rejects.toThrow(/no_more/);
  expect(await countLogins()).toEqual({ ok: 1 });
  await sql`alter table sums_of_hours drop constraint no_more`.execute(on.db);
  deps.metrics.countLogin('ok');
  await addSums(deps);
  await addSums(deps);
  expect(await countLogins()).toEqual({ ok: 3, busy: 1 });
});

it('wait for a database that is away; what nobody can tell counts as added', async () => {
  const wire = await openWire(on.databaseUrl);
  const other = await openBackend({ now: () => at, databaseUrl: wire.url });
  const { deps } = other.backend;
  wire.cut();
  deps.metrics.countLogin('ok');
  for (let n = 0; n < 3; n++) await expect(addSums(deps)).rejects.toThrow();
  wire.restore();
  await addSums(deps);
  expect(await countLogins()).toEqual({ ok: 1 });

  // The statement reaches the database, but the answer does not reach the service.
  deps.metrics.countLogin('ok');
  wire.deafen();
  const adding = addSums(deps);
  await expect.poll(countLogins).toEqual({ ok: 2 });
  wire.restore();
  await expect(adding).rejects.toThrow();
  await addSums(deps);
  deps.metrics.countLogin('busy');
  await addSums(deps);
  expect(await countLogins()).toEqual({ ok: 2, busy: 1 });
  await other.close();
  wire.close();
});

it('are kept for 400 days', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  await addToSums(
    on.db,
    [399, 401].map((days) => ({ hour: daysAgo(days), key: login('ok'), count: 1, lastAt: daysAgo(days) })),
  );
  await sweep(on.backend.deps);
  expect(await readAll()).toHaveLength(1);
});

it('get the rest when an instance stops, and keep it over a restart', async () => {
  const app = await openApp({ databaseUrl: on.databaseUrl });
  await app.send('/login', { form: { email: 'nobody@example.test', password: 'wrong' } });
  await app.close();
  expect(await sumBy('identity_logins_total')).toEqual({ wrong_password: 1 });
});

/** The sum of a metric over all hours, by its labels. */
async function sumBy(name: string): Promise<Record<string, number>> {
  const sums = await listSumsSince(on.db, { since: new Date(0), now: new Date(), names: [name] });
  return Object.fromEntries(
    sums.map(({ key, count }) => [Object.values(readKey(key).labels).join(' '), count]),
  );
}

describe('the metrics', () => {
  const signupSecrets = ['a', 'b'].map((of) => `whsec_${Buffer.from(of.repeat(32)).toString('base64')}`);
  const app = shared(() =>
    openApp({
      env: {
        CRM_SIGNUPS_SECRET: signupSecrets.join(),
        SSO_CRM_SECRET: 'the first one of two,the second one of two',
      },
    }),
  );

  it('count calls of a client by the place of the secret that they were made with', async () => {
    const [, crmSecret] = app.config.clients.get('crm_app')?.secrets ?? [];
    const withSecond = { ...app, config: { ...app.config, crmSignupsSecrets: [signupSecrets[1] ?? ''] } };
    await pushSignup(app, buildSignup('first'));
    await pushSignup(withSecond, buildSignup('second'));
    await pushSignup(withSecond, buildSignup('second'));
    const authorization = `Bearer ${tokenOf(crmSecret ?? '', 'crm_app')}`;
    for (const path of ['/integrations/crm/contracts', '/sso/events'])
      expect((await app.send(path, { headers: { authorization } })).status).toBe(200);
    const { samples } = await scrape(app);
    expect(
      samples
        .filter(({ name, value }) => name === 'identity_client_calls_total' && value > 0)
        .map(({ labels, value }) => ({ ...labels, value })),
    ).toEqual([
      { client: 'crm_app', kind: 'token', secret: 'second', value: 2 },
      { client: 'crm_app', kind: 'signup', secret: 'first', value: 1 },
      { client: 'crm_app', kind: 'signup', secret: 'second', value: 2 },
    ]);
  });

  it('count refusals by the client, where it is known', async () => {
    const ask = [
      ['/sso/launch/network_site?state=%00', 'invalid_request', 'network_site'],
      ['/sso/launch/nobody', 'unknown_client', 'no-client'],
      ['/sso/marketplace/callback?payload=x&signature=y', 'malformed_payload', 'marketplace'],
      ['/integrations/crm/contracts', 'invalid_token', 'crm_app'],
      ['/sso/events', 'invalid_token', 'no-client'],
      ['/sso/profile', 'login_required', 'no-client'],
    ] as const;
    for (const [path] of ask) await app.send(path);
    await app.send('/integrations/crm/signups', { json: {} });
    await app.send('/integrations/payments', { json: {} });
    const { samples } = await scrape(app);
    const refusals = samples
      .filter(({ name, value }) => name === 'identity_refusals_total' && value > 0)
      .map(({ labels: { code, client }, value }) => `${client} ${code} ${value}`);
    expect(refusals.sort()).toEqual(
      [
        ...ask.map(([, code, client]) => `${client} ${code} 1`),
        'crm_app invalid_webhook_signature 1',
        'payment-provider invalid_webhook_signature 1',
      ].sort(),
    );
  });
});
