// A service whose database can go away, and the answer that every request must then get.

import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import type { Database } from '../../../db/postgres/client.ts';
import { demoPassword as password } from '../../../server/doors/demo/demo-users.ts';
import { answerWithinMs } from '../../../server/web/deadline.ts';
import { type Answer, locationOf, openApp, type SendOptions, type TestApp } from '../app/app.ts';
import { openWire, type Wire } from '../database/wire.ts';
import type { TestRequest } from '../run/names.ts';

/** The longest that a test waits, which is far longer than any timeout of the service. */
export const patienceMs = 15_000;

const html = { accept: 'text/html' };
const names = { name: 'Half Done', accountName: 'Half Done' };
const login = { email: 'customer@example.test', password };
const change = { currentPassword: password, newPassword: 'half done, half done' };

/** Requests for everything that needs data. They are sent with a session. */
export const requests: TestRequest[] = [
  ['/sso/launch/marketplace?state=s'],
  ['/sso/launch/marketplace?state=s&prompt=none'],
  ['/sso/launch/marketplace', { headers: html }],
  ['/sso/profile'],
  ['/sso/profile', { headers: html }],
  ['/login', { form: login }],
  ['/login', { form: { ...login, password: 'wrong' }, headers: html }],
  ['/login', { headers: html }],
  ['/logout', { method: 'POST' }],
  ['/profile', { headers: html }],
  ['/profile', { form: { intent: 'names', ...names } }],
  ['/profile/security', { headers: html }],
  ['/profile/security', { form: { intent: 'password', ...change } }],
  ['/profile/products', { headers: html }],
  ['/profile/billing', { headers: html }],
  ['/verify-email', { headers: html }],
  ['/readyz'],
];
export const trpcRequests: TestRequest[] = [
  ['/trpc/profile.get'],
  ['/trpc/profile.update', { json: { json: names } }],
];

export type Away = {
  app: TestApp;
  /** The wire between the database and the instance that `ask` uses. `app` itself is not behind the wire. */
  wire: Wire;
  /** The session of the merchant. */
  cookie: string;
  /** Sends a request with the merchant's session. */
  ask: TestApp['send'];
  /** Expects that the session, the names and the password are as before. */
  expectNothingLost: () => Promise<void>;
  close: () => Promise<void>;
};

export async function openAway(templateUrl?: string): Promise<Away> {
  const app = await openApp({ templateUrl, answerWithinMs });
  const wire = await openWire(app.databaseUrl);
  const instance = await app.startInstance({ databaseUrl: wire.url });
  const cookie = await instance.login('merchant@example.test');
  const ask: TestApp['send'] = (path, options = {}) => instance.send(path, { cookie, ...options });
  return {
    app,
    wire,
    cookie,
    ask,
    async expectNothingLost() {
      await vi.waitFor(async () => expect((await ask('/readyz')).status).toBe(200), patienceMs);
      const profile = await ask('/sso/profile');
      expect(JSON.parse(profile.text)).toMatchObject({
        email: 'merchant@example.test',
        name: 'Maya Merchant',
      });
      const launched = await ask('/sso/launch/marketplace');
      expect(locationOf(launched).searchParams.has('payload')).toBe(true);
      await instance.login('merchant@example.test');
    },
    async close() {
      wire.restore();
      await app.close();
      wire.close();
    },
  };
}

/** Expects 503 `unavailable` in time, as problem JSON or as a page, and nothing else. */
export async function expectUnavailable(sent: Promise<Answer>, options: SendOptions = {}): Promise<void> {
  const startedAt = performance.now();
  const answer = await sent;
  expect(performance.now() - startedAt).toBeLessThan(patienceMs);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.text).not.toMatch(/ECONN|terminated|timeout|127\.0\.0\.1|select |\n\s+at /i);
  if (options.headers === html) expect(answer.text).toContain('<h1>Sorry, the service is unavailable</h1>');
  else expect(JSON.parse(answer.text).code).toBe('unavailable');
}

/** Sends a request while `table` is locked, and triggers `event` when the request waits for the lock. */
export function whileLocked(
  db: Database,
  table: string,
  request: () => Promise<Answer>,
  event: (answer: Promise<Answer>) => unknown,
): Promise<Answer> {
  return db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
    const answer = request();
    await vi.waitFor(async () => {
      const waiting = await sql`select 1 from pg_locks where not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(trx);
      expect(waiting.rows).not.toHaveLength(0);
    }, patienceMs);
    await event(answer);
    return answer;
  });
}
