import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { cookieOf, isLoggedIn } from '../support/app/visitor.ts';
import { quote } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';
const email = 'merchant@example.test';

const app = shared(openApp);

const logIn = (form: Record<string, string>, options: SendOptions = {}) =>
  app.send('/login', { ...options, form });

const renameUser = (from: string, to: string) =>
  sql`update users set email = ${to} where email = ${from}`.execute(app.db);

async function auditTrail(requestId: string | null) {
  const { rows } = await sql<{
    type: string;
    reason: string | null;
    user_id: string | null;
    address: string;
  }>`
    select type, reason, user_id, address from audit_events where request_id = ${requestId} order by type desc`.execute(
    app.db,
  );
  return rows;
}

describe('a right password', () => {
  it('goes on to the profile with a session cookie (contract 11.3)', async () => {
    const answer = await logIn({ email, password });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/profile');
    const [pair = '', ...attributes] = answer.headers.getSetCookie()[0]?.split('; ') ?? [];
    expect(pair).toMatch(/^identity_session=[A-Za-z0-9_-]{43}$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax']);
    expect(await isLoggedIn(app.send, cookieOf(answer))).toBe(true);
  });

  it('sets a cookie bound to host and TLS if the issuer is https (contract 9.16 and 9.23)', async () => {
    const secure = await app.startInstance({ env: { IDENTITY_ISSUER: 'https://id.localhost' } });
    const answer = await secure.send('/login', { form: { email, password } });
    const [pair = '', ...attributes] = answer.headers.getSetCookie()[0]?.split('; ') ?? [];
    expect(pair).toMatch(/^__Host-identity_session=[A-Za-z0-9_-]{43}$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax', 'Secure']);
    const days400 = /^__Host-identity_device=[\w-]{43};.* Max-Age=34560000;/m;
    expect(answer.headers.getSetCookie().join('\n')).toMatch(days400);
    expect(await isLoggedIn(secure.send, pair)).toBe(true);
    // A cookie without the prefix may have been set by a subdomain or on plain http.
    expect(await isLoggedIn(secure.send, pair.replace('__Host-', ''))).toBe(false);
  });

  it('leaves the token only in the cookie, and its SHA-256 in the database', async () => {
    const cookie = await app.login(email);
    const token = cookie.split('=')[1] ?? '';
    const hash = createHash('sha256').update(token).digest('hex');
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(s)::text as row from sessions s where token_hash = decode(${hash}, 'hex')`.execute(
      app.db,
    );
    expect(rows).toHaveLength(1);
    const everything = await sql`
      select database_to_xml(true, false, '')::text like ${`%${token}%`} as has_token`.execute(app.db);
    expect(everything.rows).toEqual([{ has_token: false }]);
    expect(JSON.stringify(app.logged)).not.toContain(token);
  });

  it('starts a new session every time, and ends only the one this browser had (contract 9.16)', async () => {
    const elsewhere = await app.login(email);
    const first = await app.login(email);
    const second = cookieOf(await logIn({ email, password }, { cookie: first }));
    expect(second).not.toBe(first);
    expect(await isLoggedIn(app.send, first)).toBe(false);

    const other = cookieOf(await logIn({ email: 'admin@example.test', password }, { cookie: second }));
    expect(await isLoggedIn(app.send, second)).toBe(false);
    expect(await isLoggedIn(app.send, other)).toBe(true);
    expect(await isLoggedIn(app.send, elsewhere)).toBe(true);
  });

  it('never adopts a token that the browser brings along', async () => {
    const planted = `identity_session=${'A'.repeat(43)}`;
    const cookie = cookieOf(await logIn({ email, password }, { cookie: planted }));
    expect(cookie).not.toBe(planted);
    expect(await isLoggedIn(app.send, planted)).toBe(false);
  });

  // Contract 9.100.
  it('is recorded, without the password', async () => {
    const answer = await logIn({ email, password }, { from: '198.51.100.7' });
    const trail = { user_id: '01900000-0000-7000-8000-000000000001', address: '198.51.100.7' };
    expect(await auditTrail(answer.headers.get('x-request-id'))).toEqual([
      { type: 'session.started', reason: 'password', ...trail },
      { type: 'login.succeeded', reason: null, ...trail },
    ]);
  });

  it('works in every Unicode spelling of the same characters', async () => {
    const from = { email: 'manager@example.test', password };
    const cookie = await app.login(from.email);
    const changed = await app.send('/profile/security', {
      cookie,
      form: { intent: 'password', currentPassword: password, newPassword: 'ﬁve Å ngströms №９' },
    });
    expect(changed.status).toBe(303);
    for (const spelling of ['five Å ngströms No9', 'ﬁve A\u030a ngstro\u0308ms №9'])
      expect((await logIn({ ...from, password: spelling })).status, spelling).toBe(303);
    expect((await logIn({ ...from, password: 'five A ngstroms No9' })).status).toBe(401);
  });
});

describe('the e-mail address at the login', () => {
  beforeAll(() => renameUser('new-merchant@example.test', 'kasse@xn--bcher-kva.test'));

  it.each([
    'MERCHANT@EXAMPLE.TEST',
    'Merchant@Example.Test',
    'kasse@bücher.test',
    'KASSE@BÜCHER.TEST',
    'Kasse@XN--BCHER-KVA.test',
  ])('may be typed as %s', async (spelling) => {
    expect((await logIn({ email: spelling, password })).status).toBe(303);
  });

  // Spaces, invisible characters and characters that NFKC changes are refused, not repaired (contract 9.10).
  it.each(
    [
      'ｍerchant@example.test',
      'kasse@bu\u0308cher.test',
      'mer\u200bchant@example.test',
      'merchant@example.test\u0000',
      ' merchant@example.test',
      'merchant@@example.test',
      'merchant',
      '',
    ].map((email) => [quote(email), email] as const),
  )('is refused as %s, like any unknown one', async (_, spelling) => {
    const answer = await logIn({ email: spelling, password });
    expect(answer.status).toBe(401);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});
