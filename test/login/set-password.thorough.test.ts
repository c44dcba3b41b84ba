import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { openClient } from '../support/app/trpc.ts';
import { isLoggedIn } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';
const newPassword = 'quite another long password';
const hour = 60 * 60 * 1_000;

let now = new Date();
const app = shared(() => openApp({ now: () => now }));
const second = shared(() => app.startInstance());
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now: () => now }));
beforeEach(async () => {
  now = new Date();
  await emptyTables(app.db, 'mails', 'mail_tokens', 'rate_limits', 'sessions');
});

async function askFor(email: string, count = 1): Promise<string> {
  await other.call(({ passwordMail }) => passwordMail.request({ email: email }));
  return readToken(other, email, 'set_password', count);
}

/** The `name=value` of the new session's cookie. */
async function setPassword(token: string, chosen = newPassword): Promise<string> {
  const headers = new Headers();
  await other.call(({ passwordMail }) => passwordMail.use({ token, newPassword: chosen }), { headers });
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const noSuchLink = { status: 404, code: 'not_found' };

async function expectNoLink(token: string): Promise<void> {
  expect(await other.call(({ passwordMail }) => passwordMail.find({ token }))).toBeNull();
  await expect(setPassword(token)).rejects.toMatchObject(noSuchLink);
}

const canLogIn = async (email: string, typed: string) =>
  (await app.send('/login', { form: { email, password: typed } })).status === 303;

/** A user handed over by the marketplace, who never had a password. */
async function handOverNew(id: string, emailVerified: boolean): Promise<string> {
  const email = `${id}@example.test`;
  expect(locationOf(await handOver(app, { id, email, emailVerified })).pathname).toBe('/profile');
  return email;
}

describe('a link that sets a password', () => {
  it('gives a new customer a login and a verified address (contract 7.27)', async () => {
    await pushSignup(app, buildSignup('crm_new'));
    const email = 'crm_new@example.test';
    const cookie = await setPassword(await readToken(other, email, 'set_password'));
    for (const { send } of [app, second]) expect(await isLoggedIn(send, cookie)).toBe(true);
    const launched = await app.send('/sso/launch/marketplace', {
      cookie: await app.login(email, newPassword),
    });
    expect(locationOf(launched).searchParams.has('payload')).toBe(true);
  });

  it('replaces a forgotten password, and keeps the time the address was verified', async () => {
    const email = 'customer@example.test';
    const verifiedAt = async () =>
      (await sql`select email_verified_at from users where email = ${email}`.execute(app.db)).rows;
    const before = await verifiedAt();
    await setPassword(await askFor(email));
    expect([await canLogIn(email, password), await canLogIn(email, newPassword)]).toEqual([false, true]);
    expect(await verifiedAt()).toEqual(before);
  });

  it('ends every session of the user on every instance, and nobody else’s', async () => {
    const email = 'merchant@example.test';
    const cookies = [await app.login(email), await app.login(email)];
    const manager = await app.login('manager@example.test');
    const fresh = await setPassword(await askFor(email));
    for (const { send } of [app, second]) {
      for (const cookie of cookies) expect(await isLoggedIn(send, cookie)).toBe(false);
      for (const cookie of [fresh, manager]) expect(await isLoggedIn(send, cookie)).toBe(true);
    }
    expect(await openClient(app.send, fresh).sessions.list.query()).toHaveLength(1);
  });

  it.each([
    ['one link', 1],
    ['two links of one user', 2],
  ])('works once, even when sixteen requests come at once with %s', async (_what, links) => {
    const email = 'new-merchant@example.test';
    const tokens: string[] = [];
    while (tokens.length < links) tokens.push(await askFor(email, tokens.length + 1));
    const chosen = Array.from({ length: 16 }, (_, index) => `${newPassword} ${index}`);
    const outcomes = await Promise.allSettled(
      chosen.map((each, index) => setPassword(tokens[index % links] ?? '', each)),
    );
    const won = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(won).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(noSuchLink);
    expect(await canLogIn(email, chosen[won[0] ?? -1] ?? '')).toBe(true);
    const { rows } = await sql`select 1 from sessions where ended_at is null`.execute(app.db);
    expect(rows).toHaveLength(2);
    for (const token of tokens) await expectNoLink(token);
  });

  it('makes the other links of its user dead, and no others (contract 9.120)', async () => {
    const email = 'unverified@example.test';
    const client = openClient(app.send, await app.login(email));
    const [first, foreign] = [await askFor(email), await askFor('manager@example.test')];
    await client.email.requestVerification.mutate({});
    const toVerify = await readToken(other, email, 'verify_email', 2);
    const fresh = await setPassword(await askFor(email, 3));
    await expectNoLink(first);
    const verified = openClient(app.send, fresh).email.verify.mutate({ token: toVerify });
    await expect(verified).rejects.toMatchObject({ data: { problem: 'not_found' } });
    expect((await other.call(({ passwordMail }) => passwordMail.find({ token: foreign })))?.email).toBe(
      'manager@example.test',
    );
  });

  // Contract 9.117.
  it('works for an hour and not after', async () => {
    const token = await askFor('admin@example.test');
    const sentAt = now.getTime();
    now = new Date(sentAt + hour);
    await expectNoLink(token);
    now = new Date(sentAt + hour - 1_000);
    expect((await other.call(({ passwordMail }) => passwordMail.find({ token })))?.email).toBe(
      'admin@example.test',
    );
    await setPassword(token, password);
  });

  it('works for seven days where it welcomes a new customer (contract 9.117)', async () => {
    await pushSignup(app, buildSignup('crm_week'));
    const token = await readToken(other, 'crm_week@example.test', 'set_password');
    const sentAt = now.getTime();
    now = new Date(sentAt + 7 * 24 * hour);
    await expectNoLink(token);
    now = new Date(sentAt + 7 * 24 * hour - 1_000);
    await setPassword(token);
  });

  it('does not work after the address changed', async () => {
    const token = await askFor('admin@example.test');
    await sql`update users set email = 'ada@example.test' where email = 'admin@example.test'`.execute(app.db);
    await expectNoLink(token);
    await sql`update users set email = 'admin@example.test' where email = 'ada@example.test'`.execute(app.db);
  });

  it('does not work after the password changed by its owner (contract 9.120)', async () => {
    const token = await askFor('manager@example.test');
    const cookie = await app.login('manager@example.test');
    const form = { intent: 'password', currentPassword: password, newPassword };
    expect(
      (await app.send('/profile/security', { cookie, form: { ...form, currentPassword: 'wrong' } })).status,
    ).toBe(422);
    expect((await other.call(({ passwordMail }) => passwordMail.find({ token })))?.email).toBe(
      'manager@example.test',
    );
    expect((await app.send('/profile/security', { cookie, form })).status).toBe(303);
    await expectNoLink(token);
    expect(await canLogIn('manager@example.test', newPassword)).toBe(true);
  });

  it.each(quoted(['', 'x', 'A'.repeat(43), 'A'.repeat(10_000), '\u0000', '\ud800']))(
    'does not work with the token %s',
    (_, token) => expectNoLink(token),
  );
});

describe('a link that sets a password is not used up', () => {
  it.each(quoted(['', 'eleven char', 'password1234', 'x1Y-'.repeat(33)]))(
    'by refusing the password %s',
    async (_, weak) => {
      const token = await askFor('admin@example.test');
      await expect(setPassword(token, weak)).rejects.toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ pointer: '/newPassword' }],
      });
      expect(await canLogIn('admin@example.test', password)).toBe(true);
      await setPassword(token, password);
    },
  );

  it('by refusing a user who was suspended meanwhile', async () => {
    const email = 'admin@example.test';
    const token = await askFor(email);
    const suspend = (at: Date | null) =>
      sql`update users set suspended_at = ${at} where email = ${email}`.execute(app.db);
    await suspend(now);
    await expect(setPassword(token)).rejects.toMatchObject({ status: 403, code: 'account_suspended' });
    await suspend(null);
    expect(await canLogIn(email, password)).toBe(true);
    await setPassword(token, password);
  });
});

describe('a marketplace user who sets a password (contract 2.9)', () => {
  it('has to connect the marketplace again, though the address was verified there', async () => {
    const email = await handOverNew('mp-verified', true);
    const cookie = await setPassword(await askFor(email));
    const again = await handOver(app, { id: 'mp-verified', email });
    expect(locationOf(again).pathname).toBe('/continue');
    expect(again.headers.getSetCookie().join()).not.toContain('identity_session');
    expect((await openClient(app.send, cookie).profile.get.query()).emailVerified).toBe(true);
  });
});
