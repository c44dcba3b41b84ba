import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf, openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { cookieOf, isLoggedIn, logIn, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const password = 'local demo password';
const day = 24 * 60 * 60 * 1_000;
const minute = 60 * 1_000;

let now = new Date();
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

const app = shared(() => openApp({ now: () => now }));
const second = shared(() => app.startInstance());
beforeEach(async () => {
  now = new Date();
  await sql`delete from sessions`.execute(app.db);
});

async function expectEnded(...cookies: string[]): Promise<void> {
  for (const { send } of [app, second])
    for (const cookie of cookies) {
      expect(await isLoggedIn(send, cookie)).toBe(false);
      expect(locationOf(await send('/profile', { cookie })).pathname).toBe('/login');
      expect(await refusalOf(openClient(send, cookie).profile.get.query())).toMatchObject({
        problem: 'login_required',
      });
    }
}

async function expectLive(...cookies: string[]): Promise<void> {
  for (const { send } of [app, second])
    for (const cookie of cookies) expect(await isLoggedIn(send, cookie)).toBe(true);
}

describe('a login', () => {
  // Contract 9.21.
  it('renews the session that this browser has, under a new token', async () => {
    const rows = () => app.db.selectFrom('sessions').select(['id', 'ended_at', 'auth_time']).execute();
    const cookie = await app.login(email);
    const [before] = await rows();
    later(minute);
    const renewed = cookieOf(await app.send('/login', { form: { email, password }, cookie }));
    expect(await rows()).toEqual([{ id: before?.id, ended_at: null, auth_time: now }]);
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
    expect(await isLoggedIn(app.send, renewed)).toBe(true);
    // The old token belongs to no session, so it brings no session back.
    expect((await app.send('/login', { form: { email, password }, cookie })).status).toBe(303);
    expect(await rows()).toHaveLength(2);
  });

  // Contract 9.21.
  it('as somebody else ends the session that this browser had', async () => {
    const browser = await logIn(app.send, email);
    const cookie = browser.cookie();
    await browser.login('manager@example.test');
    expect(await browser.whoAmI()).toBe('manager@example.test');
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
  });

  it('leaves at most 50 live sessions, even when many start at once (contract 9.22)', async () => {
    const first = await app.login(email);
    later(minute);
    for (let round = 0; round < 7; round++)
      await Promise.all(Array.from({ length: 8 }, () => app.login(email)));
    const live = await app.db.selectFrom('sessions').select('id').where('ended_at', 'is', null).execute();
    expect(live).toHaveLength(50);
    expect(await isLoggedIn(app.send, first)).toBe(false);
  });
});

describe('a session', () => {
  it('works on every instance (contract 9.168)', async () => {
    await expectLive(await app.login(email), await second.login(email));
  });

  // Contract 9.18.
  it('ends 14 days after it was last used', async () => {
    const cookie = await app.login(email);
    later(14 * day - minute);
    await expectLive(cookie);
    later(14 * day - minute);
    await expectLive(cookie);

    const unused = await app.login(email);
    later(14 * day);
    await expectEnded(unused);
  });

  // Contract 9.18.
  it('ends 30 days after it started, used or not', async () => {
    const cookie = await app.login(email);
    for (let times = 0; times < 5; times++) {
      later(6 * day - 1);
      await expectLive(cookie);
    }
    later(5);
    await expectEnded(cookie);
  });

  it('is listed with its start and last use, until it ends', async () => {
    const made = now;
    const idle = await app.login(email);
    const used = await app.login(email);
    later(10 * day);
    await expectLive(used);
    const [current, other] = await openClient(app.send, used).sessions.list.query();
    expect(current).toMatchObject({ createdAt: made, lastSeenAt: now, current: true });
    expect(other).toMatchObject({ createdAt: made, lastSeenAt: made, current: false });

    later(4 * day);
    await expectEnded(idle);
    expect(await openClient(app.send, used).sessions.list.query()).toHaveLength(1);
  });

  it('never moves its last use back, even if the clock of an instance is behind', async () => {
    const cookie = await app.login(email);
    later(2 * day);
    await expectLive(cookie);
    const seen = now;
    later(-day);
    await expectLive(cookie);
    const { rows } = await sql`select last_seen_at from sessions`.execute(app.db);
    expect(rows).toEqual([{ last_seen_at: seen }]);
  });
});

describe('logout', () => {
  it('ends only this session, at once on every instance', async () => {
    const [cookie, other] = [await app.login(email), await app.login(email)];
    await expectLive(cookie);
    const answer = await app.send('/logout', { method: 'POST', cookie });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/login?logged_out');
    expect(answer.headers.getSetCookie()).toEqual([
      'identity_session=; HttpOnly; Max-Age=0; Path=/; SameSite=Lax',
      'identity_login_email=merchant%40example.test; HttpOnly; Max-Age=600; Path=/; SameSite=Lax',
    ]);
    await expectEnded(cookie);
    await expectLive(other);
    expect(textOf(await app.send('/login?logged_out'))).toContain('You have logged out');
  });

  it('clears the cookie with the name and attributes it has on https', async () => {
    const secure = await app.startInstance({ env: { IDENTITY_ISSUER: 'https://id.localhost' } });
    const cookie = await secure.login(email);
    const answer = await secure.send('/logout', { method: 'POST', cookie });
    expect(answer.headers.getSetCookie()).toEqual([
      '__Host-identity_session=; HttpOnly; Max-Age=0; Path=/; SameSite=Lax; Secure',
      '__Host-identity_login_email=merchant%40example.test; HttpOnly; Max-Age=600; Path=/; SameSite=Lax; Secure',
    ]);
  });

  it('succeeds without a login too', async () => {
    for (const cookie of [undefined, 'identity_session=x', `identity_session=${'A'.repeat(43)}`])
      expect((await app.send('/logout', { method: 'POST', cookie })).status).toBe(303);
  });

  it('by a link asks first, and ends nothing', async () => {
    const cookie = await app.login(email);
    for (const method of ['GET', 'HEAD']) {
      const answer = await app.send('/logout', { method, cookie });
      expect(answer.status).toBe(200);
      expect(answer.headers.getSetCookie()).toEqual([]);
      if (method === 'GET') expect(answer.text).toMatch(/<form method="post"[^>]*>.*Log out<\/button>/s);
    }
    await expectLive(cookie);
  });
});

describe('a suspension', () => {
  it('ends all sessions of the user for good, at once on every instance', async () => {
    const cookies = [await app.login(email), await second.login(email), await app.login(email)];
    const other = await app.login('customer@example.test');
    await expectLive(...cookies);
    await sql`update users set suspended_at = now() where email = ${email}`.execute(app.db);
    await expectEnded(...cookies);

    await sql`update users set suspended_at = null where email = ${email}`.execute(app.db);
    await expectEnded(...cookies);
    await expectLive(other, await app.login(email));
  });

  it('leaves no session usable, not even one that it missed', async () => {
    const cookie = await app.login(email);
    await sql`update users set suspended_at = now() where email = ${email}`.execute(app.db);
    await sql`update sessions set ended_at = null`.execute(app.db);
    await expectEnded(cookie);
    await sql`update users set suspended_at = null where email = ${email}`.execute(app.db);
  });
});

describe('a password change', () => {
  const newPassword = 'quite another long password';

  it('that is refused ends no session', async () => {
    const cookies = [await app.login(email), await app.login(email)];
    for (const [currentPassword, next] of [
      ['wrong', 'yet another long password'],
      [password, 'short'],
      [password, 'password1234'],
    ]) {
      const form = { intent: 'password', currentPassword: currentPassword ?? '', newPassword: next ?? '' };
      expect((await app.send('/profile/security', { cookie: cookies[0], form })).status).toBe(422);
    }
    await expectLive(...cookies);
  });

  it('ends all other sessions on every instance, and gives this browser a new token', async () => {
    const cookie = await app.login(email);
    const others = [await app.login(email), await second.login(email)];
    const somebody = await app.login('customer@example.test');
    const form = { intent: 'password', currentPassword: password, newPassword };
    const answer = await app.send('/profile/security', { cookie, form });
    expect(answer.status).toBe(303);
    const fresh = cookieOf(answer);
    expect(fresh).toMatch(/^identity_session=[A-Za-z0-9_-]{43}$/);
    await expectEnded(cookie, ...others);
    await expectLive(fresh, somebody);

    expect((await app.send('/login', { form: { email, password } })).status).toBe(401);
    await expectLive(await app.login(email, newPassword));
  });
});
