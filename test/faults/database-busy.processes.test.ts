// Contract 9.97 to 9.99, 503 `unavailable`: the database runs but is too slow, or somebody else has locked what a request
// needs.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { demoPassword as password } from '../../server/doors/demo/demo-users.ts';
import { listEveryRoute, pendingCookie } from '../support/app/every-route.ts';
import { expectUnavailable, openAway } from '../support/faults/away.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import type { TestRequest } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const away = shared(openAway);

/** Does the work while a transaction holds the locks that `statement` takes. */
const whileHeld = <T>(statement: string, work: () => Promise<T>): Promise<T> =>
  away.app.db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql.raw(statement).execute(trx);
    return work();
  });

async function timed<T>(work: Promise<T>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

/** Reads profiles one after the other until `end` resolves. Returns the time of the slowest answer. */
async function readProfiles(end: Promise<unknown>): Promise<number> {
  let isOver = false;
  void end.finally(() => {
    isOver = true;
  });
  let slowestMs = 0;
  while (!isOver) {
    const asked = away.ask('/sso/profile');
    slowestMs = Math.max(slowestMs, await timed(asked));
    expect((await asked).status).toBe(200);
    await new Promise((done) => setTimeout(done, 20));
  }
  return slowestMs;
}

const names = { intent: 'names', name: 'Half Done', accountName: 'Half Done' };
const merchant = { email: 'merchant@example.test', password };

it('a locked row holds up only requests that need it, and they get 503 in time', async () => {
  const needIt: TestRequest[] = [
    ['/profile', { form: names }],
    ['/login', { form: merchant, cookie: '' }],
    ['/trpc/profile.update', { json: { json: { name: 'Half Done' } } }],
  ];
  await whileHeld(`select from users where email = '${merchant.email}' for update`, async () => {
    const asked = needIt.map(([path, options]) => away.ask(path, options));
    const [slowestMs, ...refusedMs] = await Promise.all([
      readProfiles(Promise.all(asked)),
      ...asked.map(timed),
    ]);
    for (const answer of await Promise.all(asked)) expect(answer.status).toBe(503);
    noteFigures('one row locked', { refusedMs: Math.max(...refusedMs), othersMs: slowestMs });
    expect(slowestMs).toBeLessThan(byForm({ short: 6_000, long: 1_500 }));
    expect(Math.max(...refusedMs)).toBeLessThan(byForm({ short: 15_000, long: 6_000 }));
    expect((await away.ask('/readyz')).status).toBe(200);
  });
  await away.expectNothingLost();
});

it('a locked table that is read on the shared connection holds up nobody else, however many need it', async () => {
  await whileHeld('lock table launches in access exclusive mode', async () => {
    const asked = Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        await new Promise((done) => setTimeout(done, n * 30));
        await expectUnavailable(away.ask('/sso/launch/marketplace?state=s'));
      }),
    );
    const slowestMs = await readProfiles(asked);
    noteFigures('one table locked', { othersMs: slowestMs });
    expect(slowestMs).toBeLessThan(byForm({ short: 6_000, long: 2_000 }));
  });
  await away.expectNothingLost();
});

it('if a table that everybody reads is locked, everybody gets 503 in time', async () => {
  await whileHeld('lock table sessions in access exclusive mode', async () => {
    const tookMs = await timed(
      Promise.all(Array.from({ length: 50 }, () => expectUnavailable(away.ask('/sso/profile')))),
    );
    noteFigures('the table of sessions locked', { tookMs });
    expect(tookMs).toBeLessThan(byForm({ short: 15_000, long: 6_000 }));
    expect((await away.ask('/healthz')).status).toBe(200);
  });
  await away.expectNothingLost();
});

it('a database that is far slower than usual gets everybody the right answer', async () => {
  const requests = (await listEveryRoute(away.app)).filter(({ name }) => !name.includes('/logout'));
  const chosen = requests.filter((_, n) => byForm({ short: n % 4 === 0, long: true }));
  // Opens connections before the delay begins, as in a busy instance. Opening one during the delay would take five round trips.
  await Promise.all(Array.from({ length: 10 }, () => away.ask('/readyz')));
  away.wire.delay(byForm({ short: 100, long: 200 }));
  let slowestMs = 0;
  const queue = chosen.values();
  const work = async () => {
    for (const {
      name,
      request: [path, options],
    } of queue) {
      // A login gets no cookie, because a login as another user would end the session.
      const cookie = name.includes('/login') ? '' : `${away.cookie}; ${pendingCookie}`;
      const asked = away.ask(path, { cookie, ...options });
      slowestMs = Math.max(slowestMs, await timed(asked));
      expect.soft((await asked).status, name).toBeLessThan(500);
    }
  };
  await Promise.all([work(), work()]);
  expect((await away.ask('/trpc/profile.update', { json: { json: { name: 'Maya Slow' } } })).status).toBe(
    200,
  );
  expect(JSON.parse((await away.ask('/sso/profile')).text).name).toBe('Maya Slow');
  expect((await away.ask('/login', { form: merchant, cookie: '' })).status).toBe(303);
  noteFigures('200 ms slower', { slowestMs });
  await sql`update users set name = 'Maya Merchant' where email = ${merchant.email}`.execute(away.app.db);
  await away.expectNothingLost();
});
