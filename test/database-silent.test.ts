// Contract section 9, 503 `unavailable`: the database takes what it is told and does not answer; never a hang.
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { type Away, expectUnavailable, openAway, requests, whileLocked } from './support/away.ts';

// Each waits for timeouts, so all wait together, each on a database of its own.
const opened: Away[] = [];
async function open(): Promise<Away> {
  const away = await openAway();
  opened.push(away);
  return away;
}
afterAll(() => Promise.all(opened.map(({ close }) => close())));

const names = { intent: 'names', name: 'Half Done', accountName: 'Half Done' };

it.concurrent('is a 503 everywhere, in time, and for what was under way; then all is as it was', async () => {
  const away = await open();
  const silence = async () => {
    away.wire.swallow();
    await Promise.all([
      ...requests.map(([path, options]) => expectUnavailable(away.ask(path, options), options)),
      // More than there are connections.
      ...Array.from({ length: 100 }, () => expectUnavailable(away.ask('/sso/profile'))),
      (async () => {
        expect((await away.ask('/healthz')).status).toBe(200);
        expect((await away.ask('/login', { cookie: '' })).status).toBe(200);
      })(),
    ]);
  };
  const change = () => away.ask('/profile', { form: names });
  await expectUnavailable(whileLocked(away.app.db, 'audit_events', change, silence));
  away.wire.restore();
  await away.expectNothingLost();
});

it.concurrent('is a 503 where somebody holds a lock for long', async () => {
  const away = await open();
  const waitFor = (answer: Promise<unknown>) => answer;
  const ask = () => away.ask('/sso/profile');
  await expectUnavailable(whileLocked(away.app.db, 'sessions', ask, waitFor));
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(away.app.db);
  expect(rows).toEqual([]);
  await away.expectNothingLost();
});

it.concurrent('is over as soon as new connections answer: a silent one is not asked again', async () => {
  const { ask, wire, expectNothingLost } = await open();
  const askTwenty = () => Promise.all(Array.from({ length: 20 }, () => ask('/sso/profile')));
  for (const { status } of await askTwenty()) expect(status).toBe(200);
  wire.strand();
  expect((await askTwenty()).map(({ status }) => status)).toContain(503);
  for (const { status } of await askTwenty()) expect(status).toBe(200);
  await expectNothingLost();
});
