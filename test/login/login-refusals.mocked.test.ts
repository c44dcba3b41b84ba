import { verify } from '@node-rs/argon2';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { fieldOf, isLoggedIn, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

// The real function, with its calls recorded.
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<typeof import('@node-rs/argon2')>();
  return { ...real, verify: vi.fn(real.verify) };
});

const password = 'local demo password';

// These are no email addresses of demo users, because the login page shows those to everybody.
const cases = [
  ['unknown_user', 'unknown@refused.test'],
  ['no_password', 'nobody@refused.test'],
  ['wrong_password', 'someone@refused.test'],
  ['wrong_password', 'suspended@refused.test'],
] as const;

const app = shared(openApp);
beforeAll(async () => {
  const users = ['someone', 'nobody', 'suspended'];
  const demoUsers = ['customer', 'manager', 'suspended'];
  for (const [index, name] of users.entries())
    await sql`update users set email = ${`${name}@refused.test`}
      where email = ${`${demoUsers[index]}@example.test`}`.execute(app.db);
  await sql`update users set password_hash = null where email = 'nobody@refused.test'`.execute(app.db);
});

const logIn = (email: string, typed: string, options: SendOptions = {}) =>
  app.send('/login', { ...options, form: { email, password: typed } });

describe('wrong credentials', () => {
  it('get the same page for every user: unknown, suspended, with or without a password (contract 11.3)', async () => {
    const pages = new Set<string>();
    for (const [, email] of cases) {
      const { status, headers, text } = await logIn(email, `not the ${password}`);
      headers.delete('x-request-id');
      const whole = JSON.stringify([status, [...headers], text]);
      pages.add(whole.replaceAll(email, 'EMAIL').replaceAll(encodeURIComponent(email), 'EMAIL'));
    }
    expect([...pages]).toHaveLength(1);
    expect([...pages][0]).toMatch(/^\[401,.*The email address or password is incorrect\./s);
    expect([...pages][0]).not.toContain('identity_session');
  });

  it.each(cases)('are recorded as %s for %s, without the password', async (reason, email) => {
    const guess = 'a very private wrong guess';
    const { headers } = await logIn(email, guess);
    const requestId = headers.get('x-request-id');
    const { rows } = await vi.waitFor(async () => {
      const found = await sql<object>`select type, reason, row_to_json(e)::text as whole
        from audit_events e where request_id = ${requestId}`.execute(app.db);
      // A refusal for an unknown email address is only in the log. If it were in the table, strangers could grow the table
      // without end.
      expect(found.rows).toHaveLength(reason === 'unknown_user' ? 0 : 1);
      return found;
    }, 15_000);
    for (const row of rows)
      expect(row).toEqual({ type: 'login.refused', reason, whole: expect.not.stringContaining(guess) });
    if (reason === 'unknown_user')
      expect(app.logged.map(({ fields }) => fields)).toContainEqual({
        requestId,
        address: '192.0.2.1',
        reason,
      });
    expect(JSON.stringify(app.logged)).not.toContain(guess);
  });

  it('are refused in a browser that is logged in too, and its session goes on', async () => {
    const cookie = await app.login('admin@example.test');
    for (const path of ['/login', '/login?next=%2Fdemo']) {
      const answer = await app.send(path, {
        cookie,
        form: { email: 'admin@example.test', password: 'wrong' },
      });
      expect(answer.status).toBe(401);
      expect(textOf(answer)).toContain('The email address or password is incorrect.');
    }
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });

  it.each(cases)('cost one full verification for %s of %s, as for everybody', async (_reason, email) => {
    vi.mocked(verify).mockClear();
    await logIn(email, 'x');
    expect(verify).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/),
      'x',
    );
  });

  it('leave the address in the form, escaped, and never the password', async () => {
    const email = `o'"><script>alert(1)</script>@x.test`;
    const answer = await logIn(email, 'a-wrong-password');
    expect(fieldOf(answer, 'email').value).toBe(email);
    expect(fieldOf(answer, 'password').value).toBeUndefined();
    expect(answer.text).not.toContain('<script>alert(1)');
    expect(answer.text).not.toContain('a-wrong-password');
  });
});

it('a suspended user with the right password gets 403, as problem JSON or as a page (contract 4.20)', async () => {
  const email = 'suspended@refused.test';
  const problem = await logIn(email, password);
  expect(problem.status).toBe(403);
  expect(problem.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(problem.text)).toMatchObject({
    type: 'http://localhost:3000/problems/account_suspended',
    status: 403,
    code: 'account_suspended',
  });
  const page = await logIn(email, password, { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect(page.status).toBe(403);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(textOf(page)).toContain('Your account is suspended');
  for (const { headers } of [problem, page]) expect(headers.getSetCookie()).toEqual([]);
});

it.each([
  ['JSON', { json: { email: 'admin@example.test', password } }],
  ['plain text', { body: `email=admin%40example.test&password=${password}` }],
  ['no body', { method: 'POST' }],
])('a login with %s instead of a form gets 415', async (_what, options) => {
  const answer = await app.send('/login', options);
  expect(answer.status).toBe(415);
  expect(JSON.parse(answer.text).code).toBe('unsupported_media_type');
  expect(answer.headers.getSetCookie()).toEqual([]);
});
