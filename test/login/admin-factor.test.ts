// IDENTITY_ADMIN_SECOND_FACTOR=required: staff without a second factor set one up before anything else (contract
// 4.5, 4.18, 9.80 and 9.81).

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { addPasskey, fetchOptions, origin } from '../support/people/authenticator.ts';
import { enterCode, expectCodeAsked, page, payloadOf, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const roles = ['admin@example.test', 'manager@example.test'];
const password = 'local demo password';

let clock = Date.parse('2026-03-01T12:00:00Z');
const app = shared(() =>
  openApp({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' }, now: () => new Date(clock) }),
);
beforeEach(async () => {
  clock += 3_600_000;
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from authenticators`.execute(app.db);
});

const html = { accept: 'text/html' };

describe.each(roles)('the session of %s', (email) => {
  it('leads from every page to the set-up, which says why, and opens nothing else', async () => {
    const browser = await logIn(app.send, email);
    for (const path of [
      '/profile',
      '/verify-email',
      '/invoices/INV-2026-0001',
      '/verify-email/confirm?token=x',
    ]) {
      const answer = await browser.send(path, { headers: html });
      const next = encodeURIComponent(path);
      expect([answer.status, answer.headers.get('location')], path).toEqual([303, `${page}?next=${next}`]);
    }
    expect(textOf(await browser.send(page, { headers: html }))).toContain(
      'Administrators and managers need a second factor',
    );
    expect(codeOf(await browser.send('/sso/profile'))).toBe('second_factor_required');
    const { profile, sessions } = openClient(app.send, browser.cookie());
    expect(await refusalOf(profile.get.query())).toMatchObject({ problem: 'second_factor_required' });
    expect(await refusalOf(sessions.list.query())).toMatchObject({ problem: 'second_factor_required' });
    expect(await refusalOf(profile.update.mutate({ name: 'X' }))).toMatchObject({ httpStatus: 403 });
    const form = { intent: 'password', currentPassword: password, newPassword: 'quite another password' };
    const changed = await browser.send('/profile/security', { form, headers: html });
    expect([changed.status, changed.headers.get('location')]).toEqual([303, page]);
  });

  it('gets no payload, and goes on to the client after the set-up', async () => {
    const browser = await logIn(app.send, email);
    const launch = '/sso/launch/marketplace?state=s1';
    const held = locationOf(await browser.send(launch));
    expect([held.pathname, held.searchParams.get('next')]).toEqual([page, launch]);
    expect(textOf(await browser.send(held.pathname + held.search))).toContain(
      'To continue to Marketplace, set up the app',
    );
    const silent = locationOf(await browser.send(`${launch}&prompt=none`));
    expect(silent.searchParams.get('error')).toBe('interaction_required');
    expect(silent.searchParams.has('payload')).toBe(false);
    await setUp(browser, clock);
    expect(payloadOf(await browser.send(launch))).toMatchObject({ state: 's1', amr: ['pwd', 'otp', 'mfa'] });
    expect((await browser.send('/profile')).status).toBe(200);
  });

  it('can log out', async () => {
    const browser = await logIn(app.send, email);
    expect((await browser.send('/logout', { headers: html })).status).toBe(200);
    expect((await browser.send('/logout', { form: {} })).headers.get('location')).toBe('/login?logged_out');
    expect(browser.jar.has('identity_session')).toBe(false);
  });

  it('is held back again once the app is turned off', async () => {
    const browser = await logIn(app.send, email);
    await setUp(browser, clock);
    const off = await browser.send(page, { form: { intent: 'turn-off', sure: 'yes' } });
    expect(off.status).toBe(303);
    expect(codeOf(await browser.send('/sso/profile'))).toBe('second_factor_required');
  });
});

it('a code is asked for at the next login, and nothing is held back then', async () => {
  const browser = await logIn(app.send, 'admin@example.test');
  const { secret } = await setUp(browser, clock);
  clock += 60_000;
  const next = openBrowser(app.send);
  expectCodeAsked(await next.login('admin@example.test'));
  await enterCode(next, showCode(secret, clock));
  expect(await next.whoAmI()).toBe('admin@example.test');
});

it('others are not held back, nor anybody where it is optional', async () => {
  expect(await (await logIn(app.send, 'merchant@example.test')).whoAmI()).toBe('merchant@example.test');
  const browser = await logIn(app.send, 'admin@example.test');
  const optional = await app.startInstance({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'optional' } });
  expect((await optional.send('/sso/profile', { cookie: browser.cookie() })).status).toBe(200);
});

it('a customer who becomes a manager is held back at once', async () => {
  const browser = await logIn(app.send, 'customer@example.test');
  expect(await browser.whoAmI()).toBe('customer@example.test');
  await sql`update users set role = 'manager' where email = 'customer@example.test'`.execute(app.db);
  expect((await browser.send('/sso/profile')).status).toBe(403);
});

it('a hand-off of somebody else asks as ever, and carries nothing of itself to the set-up', async () => {
  const browser = await logIn(app.send, 'admin@example.test');
  const asked = await browser.send(await buildHandOff(app, { id: 'walk-in' }, new Date(clock)), {
    headers: html,
  });
  expect([asked.status, locationOf(asked).pathname]).toEqual([303, '/continue']);
  expect(asked.headers.get('location')).not.toContain('payload');
});

it('pages that need no session stay open: a new password by mail, and the login as somebody else', async () => {
  const browser = await logIn(app.send, 'manager@example.test');
  for (const path of ['/forgot-password', '/login?prompt=login', '/problems/not_found'])
    expect((await browser.send(path, { headers: html })).status, path).toBe(200);
  expect((await browser.send('/set-password?token=x', { headers: html })).status).toBe(404);
  await browser.login('merchant@example.test');
  expect(await browser.whoAmI()).toBe('merchant@example.test');
});

it('an administrator with a passkey who logs in by the password alone gives the passkey first', async () => {
  const browser = await logIn(app.send, 'admin@example.test');
  const phone = await addPasskey(browser);
  const elsewhere = await logIn(app.send, 'admin@example.test');
  const launched = await elsewhere.send('/sso/launch/marketplace');
  expect(payloadOf(launched)).toBeUndefined();
  const asking = await elsewhere.send(page);
  expect(textOf(asking)).toContain('Use your passkey to continue.');
  // No password takes the place of the passkey, not even a password set by mail.
  expect(textOf(asking)).toContain('Log in on a device that has your passkey.');
  expect(asking.text).not.toMatch(/data-otherwise|forgot-password/);
  expect(asking.text).not.toContain('name="confirmPassword"');
  const byPassword = { intent: 'set-up', confirmPassword: password };
  expect((await elsewhere.send(page, { form: byPassword })).status).toBe(401);
  const confirmPasskey = phone.answer(await fetchOptions(elsewhere, 'confirm'), origin);
  const form = { intent: 'go-on', confirmPasskey };
  expect((await elsewhere.send(page, { form })).status).toBe(303);
  expect(payloadOf(await elsewhere.send('/sso/launch/marketplace'))?.amr).toEqual(['pop', 'mfa']);
});

it('the page that asks for a passkey says when a take-back link was sent, for seven days', async () => {
  const email = 'manager@example.test';
  const browser = await logIn(app.send, email);
  await addPasskey(browser);
  const addedAt = clock;
  const ask = async () => {
    const elsewhere = await logIn(app.send, email);
    const text = textOf(await elsewhere.send(page));
    expect(text).toContain('Use your passkey to continue.');
    return text;
  };
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  const time = new Intl.DateTimeFormat('en-GB', style).format(addedAt);
  expect(await ask()).toContain(`On ${time} UTC we emailed you about a change to your account.`);
  clock = addedAt + 7 * 24 * 3_600_000 + 1_000;
  expect(await ask()).not.toContain('we sent an email about a change');
});
