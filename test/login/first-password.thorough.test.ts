// A first password for people from another product, who never gave a credential here: only by mail.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { cookieOf, submitProfile, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';

import { shared } from '../support/run/shared.ts';

const newPassword = 'quite another long password';

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));

const ask = (cookie: string) => submitProfile(app.send, cookie, { intent: 'mail-password' });
const comeIn = async (id: string, email: string, emailVerified: boolean) =>
  cookieOf(await handOver(app, { id, email, emailVerified }));
const kindsTo = async (recipient: string) => {
  const { rows } = await sql<{ kind: string }>`
    select kind from mails where recipient = ${recipient} order by created_at`.execute(app.db);
  return rows.map(({ kind }) => kind);
};
const canLogIn = async (email: string) =>
  (await app.send('/login', { form: { email, password: newPassword } })).status === 303;

it.each([
  ['an address that the marketplace has verified', true],
  ['an address that was only typed', false],
])('is set by a mail to %s, and no current password is asked for', async (_, emailVerified) => {
  const email = `first-${emailVerified}@example.test`;
  const cookie = await comeIn(`first-${emailVerified}`, email, emailVerified);
  const page = await app.send('/profile/security', { cookie });
  expect(page.text).not.toMatch(/type="password"/);
  expect(textOf(page)).toContain('Email me a link to set a password');
  expect(textOf(await ask(cookie))).toContain(`We have sent a link to ${email}`);
  const token = await readToken(other, email, 'set_password');
  expect((await app.send(`/set-password?token=${token}`, { form: { newPassword } })).status).toBe(303);
  expect(await canLogIn(email)).toBe(true);
});

it('cannot be set in a session that only a hand-off started (contract 9.32)', async () => {
  const email = 'only-handed-over@example.test';
  const cookie = await comeIn('only-handed-over', email, true);
  for (const currentPassword of ['', newPassword]) {
    const form = { intent: 'password', currentPassword, newPassword };
    expect((await app.send('/profile/security', { cookie, form })).status).toBe(422);
  }
  expect(await canLogIn(email)).toBe(false);
});

it('never leads a person who typed an address to a link for its holder (contract 2.11)', async () => {
  const email = 'customer@example.test';
  const cookie = await comeIn('typist', email, false);
  expect(textOf(await ask(cookie))).toContain('We have sent a link to');
  expect(await kindsTo(email)).toEqual(['prove_address']);
  const token = await readToken(other, email, 'set_password');
  const answer = await app.send(`/set-password?token=${token}`, { form: { newPassword } });
  expect(answer.status).toBe(409);
  expect(textOf(answer)).toContain(`There is already an account with the address ${email}`);
  expect(await canLogIn(email)).toBe(false);
});

it('is set for a customer of the CRM who has not arrived, by a link to the typed address (contract 2.12)', async () => {
  const setBy = async (id: string, suspend?: true) => {
    const email = `${id}@example.test`;
    await ask(await comeIn(id, email, false));
    const token = await readToken(other, email, 'set_password');
    await pushSignup(app, buildSignup(id, { user: { email, name: 'Owner' } }));
    if (suspend)
      await sql`update users set suspended_at = now() where email = ${email} and holds_email`.execute(app.db);
    const answer = await app.send(`/set-password?token=${token}`, { form: { newPassword } });
    const loggedIn = await app.send('/login', { form: { email, password: newPassword } });
    const { rows } = await sql`select from sessions join users on users.id = user_id
      where email = ${email} and holds_email`.execute(app.db);
    return [answer.status, loggedIn.status, rows.length > 0];
  };
  expect(await setBy('not-arrived')).toEqual([303, 303, true]);
  expect(await setBy('not-arrived-suspended', true)).toEqual([403, 401, false]);
});

it('is mailed six times if sixteen ask at once, and the form says when there were too many', async () => {
  const email = 'impatient@example.test';
  const cookie = await comeIn('impatient', email, true);
  const form = { intent: 'mail-password' };
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => app.send('/profile/security', { cookie, form })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  expect(textOf(refused[0] as Answer)).toMatch(/Password You do not have a password yet.*too many/);
  expect(await readMails(other, email, 6)).toHaveLength(6);
});

it('needs a session', async () => {
  const answer = await app.send('/profile/security', { form: { intent: 'mail-password' } });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login?next=%2Fprofile%2Fsecurity']);
});
