import { inspect } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { locationOf, openApp, type SendOptions, type TestApp } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const email = 'merchant@example.test';
/** Returns only the lines of requests. On a busy machine, a job may log that it got no connection in time. */
const linesSince = (before: number) => app.logged.slice(before).filter(({ fields }) => fields.requestId);
const canary = (name: string) => `canary-of-${name}-0123456789`;

// Contract 9.163.
it('the log has one line per request, with the path but not the query', async () => {
  const before = app.logged.length;
  const answer = await app.send('/sso/launch/marketplace?state=secret&return_to=%2Fsecret');
  expect(linesSince(before)).toEqual([
    {
      level: 'info',
      message: 'request',
      fields: {
        requestId: answer.headers.get('x-request-id'),
        method: 'GET',
        route: '/sso/launch/:client',
        path: '/sso/launch/marketplace',
        status: 303,
        ms: expect.any(Number),
        client: 'marketplace',
      },
    },
  ]);
});

it.each([
  ['/login', 200],
  ['/', 303],
  ['/nowhere', 404],
  ['/sso/profile', 401],
  ['/assets/nothing.css', 404],
])('the log has a line for %s with the status %i', async (path, status) => {
  const before = app.logged.length;
  await app.send(`${path}?query`);
  const [line, ...more] = linesSince(before);
  expect(more).toEqual([]);
  expect(line?.fields).toMatchObject({ path, status });
});

describe('health checks', () => {
  /** Returns the lines that requests log during `work`. */
  const told = async (work: () => Promise<unknown>, { logged } = app) => {
    const before = logged.length;
    await work();
    return logged
      .slice(before)
      .filter(({ fields }) => fields.requestId)
      .map(({ level, message, fields: { path, status, code, err } }) => [
        level,
        message,
        path,
        status,
        code,
        err,
      ]);
  };

  it('have no line where all is well, and are counted all the same', async () => {
    const count = async () =>
      (await scrape(app)).valueFor('identity_http_request_duration_seconds_count', {
        route: '/healthz',
        method: 'GET',
        status: '200',
      });
    const before = (await count()) ?? 0;
    expect(
      await told(async () => {
        for (const path of ['/healthz', '/readyz', '/readyz?from=balancer']) await app.send(path);
        for (const path of ['/healthz', '/readyz']) await app.send(path, { method: 'HEAD' });
      }),
    ).toEqual([]);
    expect(await count()).toBe(before + 1);
  });

  it('have one where they are refused, and an error where something is wrong', async () => {
    expect(await told(() => app.send('/healthz', { method: 'POST', form: {} }))).toEqual([
      ['info', 'request', '/healthz', 405, 'method_not_allowed', undefined],
    ]);
    await sql`alter table kysely_migration rename to elsewhere`.execute(app.db);
    const lines = await told(() => app.send('/readyz'));
    await sql`alter table elsewhere rename to kysely_migration`.execute(app.db);
    expect(lines.map(([level, message, , status]) => [level, message, status])).toEqual([
      ['error', 'request failed', undefined],
      ['info', 'request', 503],
    ]);
    expect(await told(() => app.send('/healthzz'))).toHaveLength(1);
  });

  it('have no error while the process stops, which is as it should be', async () => {
    const stopping = await openApp();
    stopping.drain();
    const lines = await told(() => stopping.send('/readyz'), stopping);
    await stopping.close();
    expect(lines).toEqual([['info', 'request', '/readyz', 503, 'unavailable', undefined]]);
  });
});

describe('a refused login (contract 9.237)', () => {
  const refused = async (form: Record<string, string>, from = '192.0.2.77') => {
    const before = app.logged.length;
    const answer = await app.send('/login', { form, from });
    const lines = app.logged
      .slice(before)
      .filter(({ message }) => /^(login refused|password not)/.test(message));
    expect(lines).toHaveLength(1);
    return { line: lines[0], status: answer.status, text: answer.text };
  };

  it('is logged with the id of the person who has the address, and never with the address', async () => {
    const userId = await idOf(app.db, email);
    const { line } = await refused({ email, password: canary('password') });
    expect(line?.fields).toEqual({
      requestId: expect.any(String),
      address: '192.0.2.77',
      userId,
      reason: 'wrong_password',
    });
    for (const nobody of ['nobody@example.test', 'no address', ''])
      expect((await refused({ email: nobody, password: 'x' })).line?.fields.userId).toBeUndefined();
    expect(JSON.stringify(app.logged)).not.toContain(email);
  });

  it('is answered alike, whether the line has an id or not', async () => {
    const form = { password: canary('password') };
    const somebody = await refused({ ...form, email: 'customer@example.test' });
    const nobody = await refused({ ...form, email: 'nobodyyy@example.test' });
    expect([somebody.line?.fields.userId, nobody.line?.fields.userId]).toEqual([
      expect.any(String),
      undefined,
    ]);
    expect(somebody.status).toBe(nobody.status);
    expect(somebody.text).toBe(nobody.text.replaceAll('nobodyyy', 'customer'));
  });

  it('is logged with the id where the password is not even checked', async () => {
    const userId = await idOf(app.db, 'manager@example.test');
    let last: Awaited<ReturnType<typeof refused>> | undefined;
    for (let tries = 0; tries < 30 && last?.line?.message !== 'password not checked'; tries++)
      last = await refused({ email: 'manager@example.test', password: 'x' }, '192.0.2.78');
    expect(last?.line?.fields).toMatchObject({ userId, reason: 'rate_limited', address: '192.0.2.78' });
  });
});

describe('the line of a request (contract 9.163)', () => {
  /** Sends a request. Returns the fields of the last line about it. */
  const lineOf = async (...sent: Parameters<TestApp['send']>) => {
    await app.send(...sent);
    return app.logged.filter(({ message }) => message === 'request').at(-1)?.fields;
  };

  it('names the user of the session, on every kind of route', async () => {
    const userId = await idOf(app.db, email);
    expect(await lineOf('/login', { form: { email, password: demoPassword } })).toMatchObject({ userId });
    const cookie = await app.login(email);
    expect(await lineOf('/sso/profile', { cookie })).toMatchObject({ route: '/sso/profile', userId });
    expect(await lineOf('/profile', { cookie })).toMatchObject({ route: '/profile', userId });
    expect(await lineOf('/trpc/profile.get', { cookie })).toMatchObject({ route: '/trpc/*', userId });
    expect(await lineOf('/nowhere', { cookie, headers: { accept: 'text/html' } })).toMatchObject({ userId });
    expect(await lineOf('/logout', { cookie, method: 'POST' })).toMatchObject({ userId });
    expect((await lineOf('/sso/profile', { cookie }))?.userId).toBeUndefined();
  });

  it('names no user for a password that is refused', async () => {
    expect((await lineOf('/login', { form: { email, password: 'wrong' } }))?.userId).toBeUndefined();
  });

  it('names the client: of a launch, a hand-off and the CRM, once it has shown who it is', async () => {
    expect(await lineOf('/sso/launch/crm_app')).toMatchObject({ client: 'crm_app' });
    expect((await lineOf('/sso/launch/nobody'))?.client).toBeUndefined();
    const handOff = await buildHandOff(app, { id: 'log-1' });
    expect(await lineOf(handOff)).toMatchObject({ client: 'marketplace' });
    expect(await lineOf(handOff.replace(/signature=.{6}/, 'signature=000000'))).toMatchObject({
      client: undefined,
      code: 'invalid_signature',
    });
    await pushSignup(app, buildSignup('log-1'));
    expect(app.logged.at(-1)?.fields).toMatchObject({ client: 'crm_app', status: 201 });
    expect(await lineOf('/integrations/crm/signups', { json: buildSignup('log-2') })).toMatchObject({
      client: undefined,
      code: 'invalid_webhook_signature',
    });
  });

  it.each<[string, SendOptions, string, string | undefined]>([
    ['/nowhere', {}, 'not_found', undefined],
    ['/sso/profile', {}, 'login_required', '/sso/profile'],
    ['/trpc/profile.get', {}, 'login_required', '/trpc/*'],
    [
      '/login',
      { form: { email }, headers: { origin: 'https://evil.example' } },
      'cross_site_request',
      '/login',
    ],
    ['/login', { method: 'PUT' }, 'method_not_allowed', '/login'],
    ['/problems/no-such-code', {}, 'not_found', '/problems/:code'],
    ['/forgot-password', { form: { email: 'nobody' } }, 'validation_failed', '/forgot-password'],
    ['/sso/launch/crm_app', { headers: { host: 'evil.example' } }, 'invalid_request', '/sso/launch/:client'],
  ])('names the code of a refusal and the route: %s %j', async (path, options, code, route) => {
    expect(await lineOf(path, options)).toMatchObject({ code, route });
  });

  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const parentSpanId = 'b7ad6b7169203331';
  const zeros = '0'.repeat(32);
  it.each([
    `00-${traceId}-${parentSpanId}-01`,
    `00-${traceId}-${parentSpanId}-00`,
    `00-${traceId}-${parentSpanId}-ff`,
    `01-${traceId}-${parentSpanId}-01`,
    `fe-${traceId}-${parentSpanId}-01-more`,
  ])('takes the trace from a valid traceparent: %s (contract 9.165)', async (traceparent) => {
    expect(await lineOf('/login', { headers: { traceparent } })).toMatchObject({ traceId, parentSpanId });
  });

  it.each([
    '',
    'x',
    `ff-${traceId}-${parentSpanId}-01`,
    `00-${traceId}-${parentSpanId}-01-more`,
    `00-${traceId}-${parentSpanId}-01-`,
    `01-${traceId}-${parentSpanId}-01more`,
    `00-${zeros}-${parentSpanId}-01`,
    `00-${traceId}-${zeros.slice(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentSpanId}-01`,
    `00-${traceId}-${parentSpanId}`,
    `00-${traceId}-${parentSpanId}-1`,
    `0-${traceId}-${parentSpanId}-01`,
    `00-${traceId.slice(1)}-${parentSpanId}-01`,
    `00-${traceId}-${parentSpanId}-0g`,
    `00-${traceId}-${parentSpanId}-01, 00-${traceId}-${parentSpanId}-01`,
  ])('ignores a traceparent that is not valid: %s', async (traceparent) => {
    const line = await lineOf('/login', { headers: { traceparent } });
    expect(line).toMatchObject({ status: 200 });
    expect(line).not.toHaveProperty('traceId');
  });

  it('is followed by its trace: mails that it causes keep it, for the log, and do not tell it (contract 9.165)', async () => {
    const headers = { traceparent: `00-${traceId}-${parentSpanId}-01` };
    await app.send('/forgot-password', { form: { email: 'customer@example.test' }, headers });
    const findMail = () =>
      app.db
        .selectFrom('mails')
        .select(['details', 'kept_text'])
        .where('recipient', '=', 'customer@example.test')
        .where('kind', '=', 'set_password')
        .executeTakeFirst();
    await expect.poll(async () => (await findMail())?.kept_text, { timeout: 15_000 }).toContain('token=');
    const mail = await findMail();
    expect(mail?.details).toMatchObject({ traceId });
    expect(mail?.kept_text).not.toContain(traceId);
  });
});

// Contract 9.164.
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

  const change = { currentPassword: keep(canary('current')), newPassword: keep(canary('new')) };
  await app.send('/trpc/profile.changePassword', { cookie: session, json: { json: change } });
  await app.send('/profile/security', { cookie: session, form: { intent: 'password', ...change } });
  await app.send('/profile', { cookie: session, form: { intent: 'names', name: keep(canary('name')) } });
  await app.send('/sso/profile', { headers: { authorization: `Bearer ${keep(canary('bearer'))}` } });

  // For an internal error, the log has the cause, and no secret.
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
