// What operators can read about a request: where it went and how long it took, never what was in it.
import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { locationOf, openApp, type TestApp } from '../support/app.ts';
import { cookieOf } from '../support/visitor.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

const email = 'merchant@example.test';
const canary = (name: string) => `canary-of-${name}-0123456789`;

it('the log has one line per request, with the path but not the query', async () => {
  const before = app.logged.length;
  const answer = await app.send('/sso/launch/marketplace?state=secret&return_to=%2Fsecret');
  expect(app.logged.slice(before)).toEqual([
    {
      level: 'info',
      message: 'request',
      fields: {
        requestId: answer.headers.get('x-request-id'),
        method: 'GET',
        path: '/sso/launch/marketplace',
        status: 303,
        ms: expect.any(Number),
      },
    },
  ]);
});

it.each([
  ['/login', 200],
  ['/', 303],
  ['/nowhere', 404],
  ['/login.data', 200],
  ['/sso/profile', 401],
  ['/healthz', 200],
  ['/assets/nothing.css', 404],
])('the log has a line for %s with the status %i', async (path, status) => {
  const before = app.logged.length;
  await app.send(`${path}?query`);
  const [line, ...more] = app.logged.slice(before);
  expect(more).toEqual([]);
  expect(line?.fields).toMatchObject({ path, status });
});

it('the log never holds a password, cookie, body, query, payload or signature', async () => {
  const secrets: string[] = [];
  const keep = (text: string | null | undefined) => {
    if (!text) throw new Error('nothing to look for');
    secrets.push(text);
    return text;
  };

  const wrong = { email: keep('canary@example.test'), password: keep(canary('password')) };
  const cookie = `identity_session=${keep(canary('session').padEnd(43, 'x').slice(0, 43))}`;
  await app.send(`/login?next=${keep('/canary-of-next')}`, { form: wrong, cookie });
  await app.send('/login.data', { form: wrong });
  await app.send('/login', { body: `password=${canary('password')}&%`, headers: { 'content-type': 'x/y' } });

  const session = await app.login(email);
  keep(session.split('=')[1]);
  const start = await app.send('/demo/marketplace/login');
  keep(locationOf(start).searchParams.get('state'));
  const launched = await app.send(start.headers.get('location') ?? '', { cookie: session });
  const callback = locationOf(launched);
  keep(callback.searchParams.get('payload'));
  keep(callback.searchParams.get('signature'));
  const state = cookieOf(start);
  const received = await app.send(callback.pathname + callback.search, { cookie: state });
  keep(cookieOf(received).split('=')[1]);
  await app.send(`/demo/marketplace/callback.data${callback.search}`, { cookie: state });

  const change = { currentPassword: keep(canary('current')), newPassword: keep(canary('new')) };
  await app.send('/trpc/profile.changePassword', { cookie: session, json: { json: change } });
  await app.send('/profile', { cookie: session, form: { intent: 'password', ...change } });
  await app.send('/profile', { cookie: session, form: { intent: 'names', name: keep(canary('name')) } });
  await app.send('/sso/profile', { headers: { authorization: `Bearer ${keep(canary('bearer'))}` } });

  // The same during an internal error, whose cause is logged.
  for (const table of ['audit_events', 'rate_limits'])
    await sql`alter table ${sql.table(table)} rename to ${sql.ref(`${table}_elsewhere`)}`.execute(app.db);
  const faulty = await app.send('/login?next=/canary-of-next', { form: wrong, cookie: session });
  await app.send('/profile', { cookie: session, form: { intent: 'names', name: canary('name') } });
  for (const table of ['audit_events', 'rate_limits'])
    await sql`alter table ${sql.table(`${table}_elsewhere`)} rename to ${sql.ref(table)}`.execute(app.db);
  expect(faulty.status).toBe(500);
  expect(app.logged.some(({ level }) => level === 'error')).toBe(true);

  const lines = inspect(app.logged, { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity });
  for (const secret of secrets) expect(lines).not.toContain(secret);
  expect(lines).not.toMatch(/canary|\$argon2id\$/);
});
