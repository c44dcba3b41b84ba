import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { isLoggedIn } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';

let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  cookie = await app.login(email);
});

const call = (procedure: string, options: SendOptions = {}) =>
  app.send(`/trpc/${procedure}`, { cookie, ...options });

describe('/trpc refuses', () => {
  it.each(['profile.update', 'profile.changePassword', 'sessions.end', 'sessions.endOthers'])(
    'a GET of the mutation %s with 405',
    async (procedure) => {
      const other = await app.login(email);
      const input = encodeURIComponent('{"json":{"name":"By a link"}}');
      const answer = await call(`${procedure}?input=${input}`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
      expect(JSON.parse(answer.text).error.json.data.problem).toBe('method_not_allowed');
      expect(await isLoggedIn(app.send, other)).toBe(true);
    },
  );

  it.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:3001' },
    { origin: 'https://localhost:3000' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ])('a mutation from another origin with 403: %j', async (headers) => {
    const other = await app.login(email);
    const answer = await call('sessions.endOthers', { method: 'POST', headers });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text).code).toBe('cross_site_request');
    expect(await isLoggedIn(app.send, other)).toBe(true);
  });

  it('a batch, and runs nothing in it', async () => {
    const other = await app.login(email);
    for (const options of [{}, { json: { 0: {}, 1: {} } }] as SendOptions[]) {
      const procedures = options.json ? 'sessions.endOthers,sessions.endOthers' : 'profile.get,sessions.list';
      const answer = await call(`${procedures}?batch=1`, options);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(email);
    }
    expect(await isLoggedIn(app.send, other)).toBe(true);
  });

  it.each(['nope', 'profile', 'profile.', 'profile.constructor', '__proto__', 'profile/get', ''])(
    'the unknown procedure %j with 404',
    async (procedure) => {
      const answer = await call(procedure);
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text).error.json.data.problem).toBe('not_found');
    },
  );

  it.each<[string, number, SendOptions]>([
    ['broken JSON', 400, { body: '{', headers: { 'content-type': 'application/json' } }],
    ['a form', 415, { form: { name: 'X' } }],
    ['plain text', 415, { body: '{"json":{"name":"X"}}', headers: { 'content-type': 'text/plain' } }],
    ['null', 400, { json: null }],
    ['a number', 422, { json: 3 }],
    ['an object without input', 422, { json: {} }],
    [
      'an unknown superjson type',
      400,
      { json: { json: { name: 'X' }, meta: { values: { name: [['custom', 'x']] } } } },
    ],
    [
      'undefined members of members',
      400,
      { json: { json: { name: 'X', more: {} }, meta: { values: { more: { name: ['undefined'] } } } } },
    ],
    [
      'undefined members of no object',
      400,
      { json: { json: ['X'], meta: { values: { '0': ['undefined'] } } } },
    ],
    [
      'a reference into a prototype',
      400,
      {
        json: { json: { name: 'X' }, meta: { referentialEqualities: { '__proto__.polluted': ['name'] } } },
      },
    ],
  ])(
    '%s with %i, as JSON that names the problem and shows no stack (contract 11.18)',
    async (_what, status, options) => {
      const answer = await call('profile.update', options);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/json');
      const { error } = JSON.parse(answer.text);
      expect(error.json.data.problem).toMatch(/^(invalid_request|unsupported_media_type|validation_failed)$/);
      expect(answer.text).not.toMatch(/stack|node_modules|\.ts\b/);
      expect({}).not.toHaveProperty('polluted');
    },
  );
});

it('an internal error in /trpc reveals nothing, leaves nothing half done, and is logged', async () => {
  const { profile } = openClient(app.send, cookie);
  const before = await profile.get.query();
  await sql`alter table audit_events rename to audit_events_away`.execute(app.db);
  const answer = await call('profile.update', { json: { json: { name: 'Half', accountName: 'Done' } } });
  await sql`alter table audit_events_away rename to audit_events`.execute(app.db);
  expect(answer.status).toBe(500);
  expect(JSON.parse(answer.text).error.json.data).toMatchObject({ problem: 'internal_error', errors: [] });
  expect(answer.text).not.toMatch(/stack|relation|audit_events|insert|\.ts\b/);
  expect(await profile.get.query()).toEqual(before);
  // The page tells users that the problem was recorded, so it must be in the log.
  expect(app.logged.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { requestId: answer.headers.get('x-request-id'), code: 'internal_error' } },
  ]);
});
