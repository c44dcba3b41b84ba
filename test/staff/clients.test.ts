// What administrators see of clients (contract 12.130 and 12.131).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { recordPull } from '../../db/tables/event-deliveries.ts';
import { addToSums } from '../../db/tables/sums-of-hours.ts';
import { openApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { addStaff, call, readData } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let cookie: string;
const secrets = ['a-first-secret-for-the-test-0123456789', 'a-second-secret-for-the-test-987654321'];
const app = shared(() =>
  openApp({
    env: {
      SSO_MARKETPLACE_SECRET: secrets.join(','),
      SSO_WEBSITE_ROLES: 'merchant,admin',
      SSO_WEBSITE_FACTOR: 'required',
    },
  }),
);
beforeAll(async () => {
  ({ cookie } = await addStaff(app));
});

it('says when a client was last opened, which secret it used last and what was refused, and never a secret', async () => {
  const now = Date.now();
  const hour = new Date(now - (now % 3_600_000));
  const at = (minutes: number) => new Date(now - minutes * 60_000);
  const count = (key: string, lastAt: Date) => ({ hour, key, count: 2, lastAt });
  await addToSums(app.db, [
    count('identity_launches_total{client="marketplace",outcome="payload"}', at(3)),
    count('identity_client_calls_total{client="marketplace",kind="token",secret="first"}', at(9)),
    count('identity_client_calls_total{client="marketplace",kind="token",secret="second"}', at(1)),
    count('identity_refusals_total{code="payload_expired",client="marketplace"}', at(2)),
    // One count is from over a day ago, and one from an instance whose clock was ahead.
    ...[-26, 26].map((hours) => ({
      ...count('identity_refusals_total{code="payload_expired",client="marketplace"}', at(2)),
      hour: new Date(hour.getTime() + hours * 3_600_000),
    })),
  ]);
  await appendEvents(app.db, 'marketplace', 5);
  await recordPull(app.db, { client: 'marketplace', after: 3 });
  await sql`update event_deliveries set failed_at = now(), failure = 'It answered 500.' where client = 'marketplace'`.execute(
    app.db,
  );
  const answer = await call(app, 'clients.list', cookie, undefined, true);
  const [marketplace, site] = readData(answer);
  expect(marketplace).toMatchObject({
    launchedAt: at(3).toISOString(),
    ...{ behind: 2, failure: 'It answered 500.', pulledAt: expect.any(String), failedAt: expect.any(String) },
    refusals: [{ code: 'payload_expired', count: 2 }],
    doctor: 'npm run cli -- doctor marketplace',
  });
  // The answer has nothing else: no part of a secret, and no digest.
  expect(Object.keys(marketplace).sort()).toEqual(
    [
      ...[
        'behind',
        'callbackUrl',
        'calls',
        'doctor',
        'eventsUrl',
        'failedAt',
        'failure',
        'isDemo',
        'isFailing',
      ],
      ...[
        'launchedAt',
        'loginUrl',
        'name',
        'needsFactor',
        'oldestAt',
        'pulledAt',
        'refusals',
        'roles',
        'row',
      ],
      ...['takenAt', 'title'],
    ].sort(),
  );
  expect(marketplace.calls[0]).toEqual({
    ...{ kind: 'token', secrets: 2, last: { secret: 'second', at: at(1).toISOString() } },
  });
  expect(site).toMatchObject({ name: 'network_site', launchedAt: null, refusals: [] });
  const page = await app.send('/admin/clients/marketplace', { cookie });
  expect(textOf(page)).toContain('2 secrets. Last used: the second');
  for (const text of [answer.text, page.text])
    for (const secret of secrets) expect(text).not.toContain(secret.slice(0, 8));
});

it('says who may enter a client, and whether it needs a second factor (contract 13.63)', async () => {
  const listed = readData(await call(app, 'clients.list', cookie, undefined, true));
  expect(listed.map(({ roles, needsFactor }: Record<string, unknown>) => [roles, needsFactor])).toEqual([
    [['admin', 'merchant', 'customer'], false],
    [['merchant', 'admin'], true],
    [['admin', 'merchant', 'customer'], false],
  ]);
  const pages = await Promise.all(
    ['marketplace', 'network_site'].map((name) => app.send(`/admin/clients/${name}`, { cookie })),
  );
  expect(pages.map(textOf)).toEqual([
    expect.stringContaining('Who may enter administrators, merchants, customers Second factor Optional'),
    expect.stringContaining('Who may enter merchants, administrators Second factor Required'),
  ]);
});
