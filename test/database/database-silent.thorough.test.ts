// Contract 9.97 and 9.98, 503 `unavailable`: the database accepts requests and never answers. No request hangs.
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { type Away, expectUnavailable, openAway, requests, whileLocked } from '../support/faults/away.ts';

// All of these tests wait for timeouts, so they run at the same time. Each has its own database.
const opened: Away[] = [];
async function open(): Promise<Away> {
  const away = await openAway();
  opened.push(away);
  return away;
}
afterAll(() => Promise.all(opened.map(({ close }) => close())));

const names = { intent: 'names', name: 'Half Done', accountName: 'Half Done' };

it.concurrent('the service, facing a silent database, answers 503 in time everywhere, and loses nothing', async () => {
  const away = await open();
  const silence = async () => {
    away.wire.swallow();
    await Promise.all([
      // This page reads nothing from the database. The request for it comes first, because the service makes the pages for one
      // IP address one after the other.
      away.ask('/login', { cookie: '' }).then(({ status }) => expect(status).toBe(200)),
      away.ask('/healthz').then(({ status }) => expect(status).toBe(200)),
      ...requests.map(([path, options]) => expectUnavailable(away.ask(path, options), options)),
      ...Array.from({ length: 100 }, () => expectUnavailable(away.ask('/sso/profile'))),
    ]);
  };
  const change = () => away.ask('/profile', { form: names });
  await expectUnavailable(whileLocked(away.app.db, 'audit_events', change, silence));
  away.wire.restore();
  await away.expectNothingLost();
});

it.concurrent('the service answers 503 when somebody else holds a lock for long', async () => {
  const away = await open();
  const waitFor = (answer: Promise<unknown>) => answer;
  const ask = () => away.ask('/sso/profile');
  await expectUnavailable(whileLocked(away.app.db, 'sessions', ask, waitFor));
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(away.app.db);
  expect(rows).toEqual([]);
  await away.expectNothingLost();
});

it.concurrent('a request that writes on a silent connection finds out for all the others', async () => {
  const { ask, wire } = await open();
  await Promise.all(Array.from({ length: 5 }, () => ask('/readyz')));
  wire.strand();
  await expectUnavailable(ask('/readyz'));
  // At most one of these five requests fails, because a job may be using one of the connections just then.
  const statuses: number[] = [];
  for (let times = 0; times < 5; times++) statuses.push((await ask('/readyz')).status);
  expect(statuses.filter((status) => status === 503).length).toBeLessThan(2);
  expect(statuses.at(-1)).toBe(200);
});

it.concurrent('the service recovers as soon as new connections answer, and drops the silent ones', async () => {
  const { ask, wire, app } = await open();
  const change = () => ask('/profile', { form: { ...names, name: 'Maya Back' } });
  const askTwenty = () => Promise.all(Array.from({ length: 20 }, () => ask('/sso/profile')));
  for (const { status } of await askTwenty()) expect(status).toBe(200);
  // Opens several connections, which then stay idle.
  await Promise.all(Array.from({ length: 5 }, () => ask('/readyz')));
  wire.strand();
  // As soon as the first read hangs, all of these reads are sent again on other connections.
  for (const { status } of await askTwenty()) expect(status).toBe(200);
  expect((await change()).status).toBe(303);
  const { rows } = await sql`select 1 from users where name = 'Maya Back'`.execute(app.db);
  expect(rows).toHaveLength(1);
});
