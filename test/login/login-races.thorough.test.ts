import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { cookieOf, isLoggedIn } from '../support/app/visitor.ts';
import { overtake } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const password = 'local demo password';
const newPassword = 'quite another long password';

let original: string | null;
const app = shared(openApp);
beforeAll(async () => {
  // The guess limit would get in the way of these races, so it never counts here.
  await sql`create function never_count() returns trigger language plpgsql
    as 'begin new.points := 0; return new; end'`.execute(app.db);
  await sql`create trigger never_count before insert or update on rate_limits
    for each row execute function never_count()`.execute(app.db);
  const { rows } = await sql<{ hash: string }>`
    select password_hash as hash from users where email = ${email}`.execute(app.db);
  original = rows[0]?.hash ?? null;
});
beforeEach(async () => {
  await sql`delete from sessions`.execute(app.db);
  await sql`update users set suspended_at = null, password_hash = ${original} where email = ${email}`.execute(
    app.db,
  );
});

const logIn = () => app.send('/login', { form: { email, password } });
const changePassword = (cookie: string) =>
  app.send('/profile/security', {
    cookie,
    form: { intent: 'password', currentPassword: password, newPassword },
  });

const suspension = sql`update users set suspended_at = now() where email = ${email}`;

async function countLiveSessions(): Promise<number> {
  const { rows } = await sql`select 1 from sessions where ended_at is null`.execute(app.db);
  return rows.length;
}

describe('a login whose password was checked', () => {
  it('starts no session if the user has been suspended meanwhile', async () => {
    const answer = await overtake(app.db, suspension, logIn);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await countLiveSessions()).toBe(0);
  });

  it('starts no session if the password has been changed meanwhile', async () => {
    const hash = await hashPassword(newPassword);
    const change = sql`update users set password_hash = ${hash} where email = ${email}`;
    const answer = await overtake(app.db, change, logIn);
    expect(answer.status).toBe(401);
    expect(await countLiveSessions()).toBe(0);
  });
});

describe('a password change whose current password was checked', () => {
  it('leaves no session if the user has been suspended meanwhile', async () => {
    const cookie = await app.login(email);
    await overtake(app.db, suspension, () => changePassword(cookie));
    expect(await countLiveSessions()).toBe(0);
  });

  it('leaves no session if this browser has been logged out meanwhile', async () => {
    const cookie = await app.login(email);
    const logout = sql`update sessions set ended_at = now()`;
    await overtake(app.db, logout, () => changePassword(cookie));
    expect(await countLiveSessions()).toBe(0);
  });

  it('succeeds once when 16 run at once', async () => {
    const cookies = await Promise.all(Array.from({ length: 16 }, () => app.login(email)));
    const answers = await Promise.all(cookies.map(changePassword));
    const winners = answers.filter(({ headers }) => headers.has('set-cookie'));
    expect(winners).toHaveLength(1);
    expect(await countLiveSessions()).toBe(1);
    expect(await isLoggedIn(app.send, cookieOf(winners[0] as Answer))).toBe(true);
    for (const cookie of cookies) expect(await isLoggedIn(app.send, cookie)).toBe(false);
  });
});

it('a password change among 16 logins at once leaves only its own session', async () => {
  const changer = await app.login(email);
  const logins = Array.from({ length: 8 }, logIn);
  const change = changePassword(changer);
  logins.push(...Array.from({ length: 8 }, logIn));

  const answers = await Promise.all(logins);
  const changed = await change;
  expect(changed.headers.get('location')).toBe('/profile/security?saved=password');
  for (const answer of answers.filter(({ status }) => status === 303))
    expect(await isLoggedIn(app.send, cookieOf(answer))).toBe(false);
  expect(await countLiveSessions()).toBe(1);
  expect(await isLoggedIn(app.send, cookieOf(changed))).toBe(true);
});
