// What a payload says about the login behind it: its id (`sid`), and when and how a credential was given.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { type Browser, cookieOf, logIn, submitProfile } from '../support/app/visitor.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const email = 'customer@example.test';
let now = new Date();
const app = shared(() => openApp({ now: () => now }));
beforeEach(() => {
  now = new Date();
});

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};
const seconds = () => Math.floor(now.getTime() / 1_000);
const payloadOf = (answer: Answer) => {
  const payload = locationOf(answer).searchParams.get('payload');
  return payload === null ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString());
};
const launch = async (browser: Pick<Browser, 'send'>, client = 'marketplace', query = '') =>
  payloadOf(await browser.send(`/sso/launch/${client}${query}`));
describe('the sid (contract 3.14 and 4.25)', () => {
  it('is one for all launches of a session to a client, and recorded once', async () => {
    const browser = await logIn(app.send, email);
    const sids = new Set(
      (await Promise.all(Array.from({ length: 16 }, () => launch(browser)))).map(({ sid }) => sid),
    );
    expect([...sids]).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{22}$/)]);
    const { rows } = await sql`select client from launches where sid = ${[...sids][0]}`.execute(app.db);
    expect(rows).toEqual([{ client: 'marketplace' }]);
    expect(sids).not.toContain((await launch(browser, 'crm_app')).sid);
    expect(sids).not.toContain((await launch(await logIn(app.send, email))).sid);
  });

  it('outlives another login as the same user in that browser, and a new password, but no logout (contract 9.21)', async () => {
    const browser = await logIn(app.send, email);
    const { sid } = await launch(browser);
    await browser.login(email);
    expect((await launch(browser)).sid).toBe(sid);
    const passwords = { currentPassword: 'local demo password', newPassword: 'another quite long one' };
    await browser.send('/profile/security', { form: { intent: 'password', ...passwords } });
    expect((await launch(browser)).sid).toBe(sid);
    await browser.send('/logout', { form: {} });
    await sql`update users set password_hash = (select password_hash from users where email = 'admin@example.test')
      where email = ${email}`.execute(app.db);
    await browser.login(email);
    expect((await launch(browser)).sid).not.toBe(sid);
  });

  it('shows its user when each product was opened', async () => {
    const browser = await logIn(app.send, email);
    await launch(browser, 'network_site');
    const products = await openClient(app.send, browser.cookie()).products.list.query();
    const opened = products.filter(({ openedAt }) => openedAt !== undefined).map(({ name }) => name);
    expect(opened).toContain('network_site');
    const cookie = await app.login('manager@example.test');
    for (const { openedAt } of await openClient(app.send, cookie).products.list.query())
      expect(openedAt).toBeUndefined();
  });
});

describe('auth_time and amr (contract 3.15 to 3.17)', () => {
  it('say when and how the person last gave a credential here', async () => {
    const browser = await logIn(app.send, email);
    const loggedInAt = seconds();
    later(100);
    expect(await launch(browser)).toMatchObject({ auth_time: loggedInAt, amr: ['pwd'], iat: seconds() });
    await browser.login(email);
    expect(await launch(browser)).toMatchObject({ auth_time: seconds() });
  });

  it('say of a session that a hand-off started only that it was one', async () => {
    const cookie = cookieOf(await handOver(app, { id: 'amr' }));
    const payload = payloadOf(await app.send('/sso/launch/marketplace', { cookie }));
    expect([payload.amr, 'auth_time' in payload]).toEqual([['ext'], false]);
  });
});

describe('max_age (contract 4.8 and 4.14)', () => {
  it('asks for a credential again if the last one is older, and for none if it is not', async () => {
    const browser = await logIn(app.send, email);
    later(60);
    expect(await launch(browser, 'marketplace', '?max_age=60')).toBeDefined();
    later(1);
    const asked = await browser.send('/sso/launch/marketplace?max_age=60&state=s');
    expect(locationOf(asked).pathname).toBe('/login');
    const next = locationOf(asked).searchParams.get('next') ?? '';
    expect(next).toBe(`/sso/launch/marketplace?state=s&auth_after=${seconds() - 60}`);
    const silent = await browser.send('/sso/launch/marketplace?max_age=60&prompt=none&state=s');
    expect(Object.fromEntries(locationOf(silent).searchParams)).toEqual({
      error: 'login_required',
      state: 's',
    });
    await browser.login(email);
    expect(payloadOf(await browser.send(next))).toMatchObject({ auth_time: seconds(), state: 's' });
  });

  it('is never met by a session that a hand-off started', async () => {
    const cookie = cookieOf(await handOver(app, { id: 'max-age' }));
    const answer = await app.send('/sso/launch/marketplace?max_age=2592000', { cookie });
    const { pathname, search } = locationOf(answer);
    expect(pathname).toBe('/login');
    expect((await app.send(pathname + search, { cookie })).text).toContain('href="/forgot-password?next=');
  });

  it.each(['-1', '1.5', '2592001', '', 'x', '1e3', '９'])('is refused when it is "%s"', async (value) => {
    const query = new URLSearchParams({ max_age: value });
    const answer = await app.send(`/sso/launch/marketplace?${query}`);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it('is refused when it is given twice', async () => {
    expect((await app.send('/sso/launch/marketplace?max_age=1&max_age=2')).status).toBe(400);
  });
});

describe('ending all other sessions', () => {
  it('takes the password where the last one was given over ten minutes ago', async () => {
    const browser = await logIn(app.send, email);
    const form = { intent: 'end-others' };
    expect((await browser.send('/profile/security', { form })).status).toBe(303);
    later(600);
    expect((await browser.send('/profile/security', { form })).status).toBe(422);
    expect(
      (await browser.send('/profile/security', { form: { ...form, currentPassword: 'wrong' } })).status,
    ).toBe(422);
    const right = { ...form, currentPassword: 'local demo password' };
    expect((await submitProfile(app.send, browser.cookie(), right)).status).toBe(200);
  });
});
