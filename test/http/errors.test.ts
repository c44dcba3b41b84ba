// Contract 9.84 to 9.97: one code, one status, words for programs and for people, and nothing internal.
import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problems } from '../../server/basics/problems.ts';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { named, nameRequest, type TestRequest } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const statuses = {
  invalid_request: 400,
  malformed_payload: 400,
  malformed_json: 400,
  login_required: 401,
  invalid_signature: 401,
  payload_expired: 401,
  invalid_webhook_signature: 401,
  invalid_token: 401,
  account_frozen: 403,
  account_suspended: 403,
  admin_not_allowed: 403,
  client_not_allowed: 403,
  cross_site_request: 403,
  email_unverified: 403,
  second_factor_required: 403,
  not_allowed: 403,
  unknown_client: 404,
  not_configured: 404,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  nonce_replayed: 409,
  request_in_progress: 409,
  email_in_use: 409,
  edited_meanwhile: 409,
  last_admin: 409,
  already_settled: 409,
  billing_paused: 409,
  events_gone: 410,
  validation_failed: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  unavailable: 503,
  // This code is not in the contract's table, because it is for internal errors.
  internal_error: 500,
};

let customer: string;
// Without this setting, pages leave out the sentence that names support.
const app = shared(() => openApp({ env: { IDENTITY_SUPPORT_URL: 'https://help.example.test' } }));
beforeAll(async () => {
  customer = await app.login('customer@example.test');
});

describe('the table of error codes', () => {
  it('is the one in the contract, with the same statuses', () => {
    const ours = Object.entries(problems).map(([code, [status]]) => [code, status]);
    expect(Object.fromEntries(ours)).toEqual(statuses);
  });

  it.each(Object.entries(statuses))('has a page that explains %s', async (code, status) => {
    const page = await app.send(`/problems/${code}`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html\b/);
    const [, title, explanation] = problems[code as keyof typeof problems];
    expect(page.text).toContain(`<h1>${title}</h1>`);
    expect(textOf(page)).toContain(explanation);
    expect(page.text).toContain(`<code>${status}</code>`);
    expect(page.text).toContain(`<code>${code}</code>`);
  });

  it.each(['nonsense', 'constructor', '__proto__', 'NOT_FOUND', ''])('has no page for %j', async (code) => {
    const answer = await app.send(`/problems/${code}`);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).code).toBe('not_found');
  });
});

const suspended = { email: 'suspended@example.test', password: 'local demo password' };
const plain = { 'content-type': 'text/plain' };

type Refusal = [code: keyof typeof statuses, path: string, options: SendOptions, pointers?: string[]];
const refusals: Refusal[] = [
  ['invalid_request', '/sso/launch/marketplace?state=', {}, ['/state']],
  ['invalid_request', '/login', { body: '--', headers: { 'content-type': 'multipart/form-data' } }],
  ['invalid_request', '/profile', { form: { intent: 'nonsense' } }, ['/intent']],
  ['login_required', '/sso/profile', { cookie: 'none=1' }],
  ['invalid_token', '/integrations/crm/contracts', {}],
  ['account_suspended', '/login', { form: suspended }],
  ['cross_site_request', '/logout', { method: 'POST', headers: { origin: 'https://evil.example' } }],
  ['cross_site_request', '/trpc/profile.update', { json: {}, headers: { origin: 'https://evil.example' } }],
  ['unknown_client', '/sso/launch/nobody', {}],
  ['not_found', '/nowhere', {}],
  ['not_found', '/nowhere', { method: 'POST' }],
  ['not_found', '/demo/nobody', {}],
  ['not_found', '/assets/nothing.js', {}],
  ['method_not_allowed', '/sso/profile', { method: 'PUT' }],
  ['method_not_allowed', '/dev/mail', { method: 'POST' }],
  ['body_too_large', '/login', { form: { email: 'x'.repeat(70_000) } }],
  ['unsupported_media_type', '/login', { body: 'x', headers: plain }],
  ['unsupported_media_type', '/profile', { body: 'x', headers: plain }],
];

describe('a refusal', () => {
  const namedRefusals = refusals.map((row) => [row[0], nameRequest(row[1], row[2]), row] as const);

  it.each(namedRefusals)('%s of %s is problem JSON for programs', async (_code, _name, refusal) => {
    const [code, path, options, pointers] = refusal;
    const answer = await app.send(path, { cookie: customer, ...options });
    expect(answer.status).toBe(statuses[code]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const problem = JSON.parse(answer.text);
    expect(problem).toEqual({
      type: `${app.config.baseUrl}/problems/${code}`,
      title: problems[code][1],
      status: statuses[code],
      detail: expect.stringMatching(/\S/),
      code,
      ...(pointers && {
        errors: pointers.map((pointer) => ({ pointer, detail: expect.stringMatching(/\S/) })),
      }),
    });
    expect((await app.send(problem.type)).status).toBe(200);
  });

  it.each(namedRefusals)('%s of %s is a page for people, with a way on', async (_code, _name, refusal) => {
    const [code, path, options] = refusal;
    const [problem, page] = await Promise.all(
      ['application/json', 'text/html,application/xhtml+xml,*/*;q=0.8'].map((accept) =>
        app.send(path, { cookie: customer, ...options, headers: { ...options.headers, accept } }),
      ),
    );
    expect(page?.status).toBe(statuses[code]);
    expect(page?.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page?.headers.get('allow')).toBe(problem?.headers.get('allow'));
    const [, title] = problems[code];
    expect(page?.text).toContain(`<title>${title} · Identity</title>`);
    expect(page?.text).toContain(`<h1>${title}</h1>`);
    expect(page && textOf(page)).toContain(JSON.parse(problem?.text ?? '').detail);
    expect(page?.text).toMatch(/<a class="button" href="[^"]/);
  });

  it.each([
    ['text/html', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['application/json;q=0.5, text/html;q=0.6', 'text/html'],
    ['application/json, text/html', 'text/html'],
    ['TEXT/HTML;level=1', 'text/html'],
    ['application/json, text/html;q=0.9', 'application/problem+json'],
    ['application/problem+json, text/html;q=0.5', 'application/problem+json'],
    ['text/html;q=0, */*', 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['', 'application/problem+json'],
  ])('to somebody who accepts "%s" is %s', async (accept, expected) => {
    const answer = await app.send('/nowhere', { headers: { accept } });
    expect(answer.headers.get('content-type')?.split(';')[0]).toBe(expected);
  });

  it('has the same status for HEAD, and no body', async () => {
    for (const accept of ['*/*', 'text/html']) {
      const answer = await app.send('/nowhere', { method: 'HEAD', headers: { accept } });
      expect(answer).toMatchObject({ status: 404, text: '' });
    }
  });

  it('of a wrong password is one even for somebody who is logged in already', async () => {
    const form = { email: 'admin@example.test', password: 'a wrong one' };
    expect((await app.send('/login', { cookie: customer, form })).status).toBe(401);
  });

  it('names the members at fault as JSON pointers, in /trpc too', async () => {
    const json = { json: { name: ' ', accountName: 'x'.repeat(201) } };
    const answer = await app.send('/trpc/profile.update', { cookie: customer, json });
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.text).error.json.data).toMatchObject({
      problem: 'validation_failed',
      errors: [{ pointer: '/name' }, { pointer: '/accountName' }],
    });
  });
});

describe('an internal error', () => {
  const requests: TestRequest[] = [
    ['/sso/profile', {}],
    ['/sso/profile', { headers: { accept: 'text/html' } }],
    ['/sso/launch/marketplace', {}],
    ['/sso/launch/marketplace?prompt=none&state=s', {}],
    ['/profile', {}],
    ['/profile', { headers: { accept: 'text/html' } }],
    ['/login', {}],
    ['/logout', { method: 'POST' }],
    ['/trpc/profile.get', {}],
  ];
  const rename = (from: string, to: string) =>
    sql`alter table accounts rename column ${sql.ref(from)} to ${sql.ref(to)}`.execute(app.db);
  beforeAll(() => rename('capabilities', 'hidden_canary'));
  afterAll(() => rename('hidden_canary', 'capabilities'));

  it.each(named(requests))('of %s is a 500 that reveals nothing', async (_, path, options) => {
    const answer = await app.send(path, { cookie: customer, ...options });
    expect(answer.status).toBe(500);
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.text + inspect([...answer.headers])).not.toMatch(
      /capabilities|canary|select |column|relation|\.[jt]s:|node_modules|\n\s+at /i,
    );
    expect(answer.text).not.toContain(customer.split('=')[1]);
    if (path.startsWith('/sso/') && !options.headers) {
      expect(JSON.parse(answer.text).code).toBe('internal_error');
    }
  });

  it.each(named(requests))('of %s is logged with its cause', async (_, path, options) => {
    const before = app.logged.length;
    const answer = await app.send(path, { cookie: customer, ...options });
    const requestId = answer.headers.get('x-request-id');
    const faults = app.logged
      .slice(before)
      .filter(({ level, fields }) => level === 'error' && fields.requestId === requestId);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.fields.err).toMatchObject({
      message: expect.stringContaining('capabilities'),
      stack: expect.stringContaining('.ts:'),
    });
  });
});
