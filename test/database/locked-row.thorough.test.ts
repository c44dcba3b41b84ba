// One locked row holds up only the requests that need it, even if they are many (contract 9.255).

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { demoPassword as password } from '../../server/doors/demo/demo-users.ts';
import { answerWithinMs } from '../../server/web/deadline.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const poolSize = 4;

const app = shared(() => openApp({ env: { DATABASE_POOL_SIZE: String(poolSize) }, answerWithinMs }));

const locked = 'merchant@example.test';

/**
 * Runs `work` while the row of one person is locked, and while so many requests wait for this row that no connection is free.
 */
async function whileManyWait(many: number, ask: (n: number) => Promise<Answer>, work: () => Promise<void>) {
  return app.db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`select from users where email = ${locked} for update`.execute(trx);
    const waiting = Array.from({ length: many }, (_, n) => ask(n));
    await sleep(100);
    await work();
    return Promise.all(waiting);
  });
}

async function comeIn() {
  const logIn = () =>
    app.send('/login', { form: { email: 'customer@example.test', password }, from: '198.51.100.7' });
  const first = await logIn();
  // On a busy machine, hashing may take longer than the deadline allows, so a login gets a second try.
  const { status, headers } = first.status === 503 ? await logIn() : first;
  expect(status).toBe(303);
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await app.send('/sso/launch/crm_app', { cookie })).headers.get('location')).toContain('payload=');
  const names = { intent: 'names', name: `Carla ${Math.random()}`, accountName: 'Carla' };
  const changed = await app.send('/profile', { cookie, form: names });
  expect([changed.status, changed.headers.get('location')]).toEqual([303, '/profile?saved=names']);
}

const look = async () =>
  (
    await sql`select name, (select count(*)::int from sessions) as sessions,
    (select count(*)::int from launches) as launches from users where email = ${locked}`.execute(app.db)
  ).rows;

it.each<[what: string, many: number, ask: (cookie: string, n: number) => Promise<Answer>]>([
  [
    'changes of one person',
    4 * poolSize,
    (cookie, n) =>
      app.send('/profile', { cookie, form: { intent: 'names', name: `M ${n}`, accountName: 'M' } }),
  ],
  ['first launches of one person', 4 * poolSize, (cookie) => app.send('/sso/launch/crm_app', { cookie })],
  [
    'logins from many addresses',
    2 * poolSize,
    (_, n) => app.send('/login', { form: { email: locked, password }, from: `203.0.${n}.9` }),
  ],
])('%s wait for it, and others are served meanwhile', async (_, many, ask) => {
  const cookie = await app.login(locked);
  const before = await look();
  const waited = await whileManyWait(
    many,
    (n) => ask(cookie, n),
    async () => {
      for (let n = 0; n < 3; n++) await comeIn();
    },
  );
  for (const { status, headers } of waited) {
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(headers.get('set-cookie')).toBeNull();
  }
  const [after] = await look();
  expect(after).toMatchObject({ name: (before[0] as { name: string }).name });
  expect((await ask(cookie, 250)).status).toBe(303);
});

// The limit of all statements would end the wait only after 2.3 s (contract 9.255). On a busy machine a change may be late, so
// the test makes up to five changes.
it('a change waits for it half a second, twice, and is refused', async () => {
  const cookie = await app.login(locked);
  const form = { intent: 'names', name: 'M', accountName: 'M' };
  const took: number[] = [];
  const change = async () => {
    for (let tries = 0; tries < 5 && !took.some((ms) => ms < 2_000); tries++) {
      const startedAt = performance.now();
      expect((await app.send('/profile', { cookie, form })).status).toBe(503);
      took.push(performance.now() - startedAt);
    }
  };
  await whileManyWait(0, () => app.send('/profile'), change);
  expect(Math.min(...took)).toBeLessThan(2_000);
});
