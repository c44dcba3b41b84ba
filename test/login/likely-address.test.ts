// "Did you mean …?" at an email address that is one letter off a big mail host (contract 9.220 to 9.222).
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { fieldOf, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { digestRows } from '../support/database/database.ts';
import { password, shareAddressChanges } from '../support/people/address-changes.ts';
import { readMails } from '../support/people/kept-mail.ts';

const changes = shareAddressChanges();

const signUp = (email: string, more: Record<string, string> = {}) =>
  changes.app.send('/signup', { form: { name: 'Nia New', email, ...more }, from: changes.from() });

/** The tables in which a sign-up leaves something. */
const written = ['mails', 'mail_tokens', 'audit_events', 'rate_limits', 'users'];

const questionOf = (answer: Answer) =>
  fieldOf(answer, 'email').descriptions.find((text) => text.startsWith('Did you mean'));

describe('the sign-up', () => {
  it.each([
    ['a letter is missing', 'gmai.com', 'gmail.com'],
    ['the first is missing', 'otmail.com', 'hotmail.com'],
    ['the last is missing', 'gmail.co', 'gmail.com'],
    ['the dot is missing', 'gmailcom', undefined],
    ['one is added', 'outllook.com', 'outlook.com'],
    ['one is added at the end', 'icloud.comm', 'icloud.com'],
    ['one is wrong', 'yahoo.con', 'yahoo.com'],
    ['two are swapped', 'gmial.com', 'gmail.com'],
    ['the first two are swapped', 'ewb.de', 'web.de'],
    ['two are swapped, in capitals', 'GOOGLEMIAL.COM', 'googlemail.com'],
    ['two are wrong', 'gmeel.com', undefined],
    ['it is another host in the list', 'gmx.net', undefined],
    ['there is such a host', 'ymail.com', undefined],
    ['the host is below another', 'gmial.com.example.org', undefined],
    ['only the name is like a host', 'gmial.example.org', undefined],
  ])('asks where %s: %s', async (_, host, likely) => {
    const answer = await signUp(`Nia.gmial.com@${host}`);
    if (likely) {
      expect(answer.status).toBe(422);
      expect(questionOf(answer)).toContain(`Did you mean nia.gmial.com@${likely}?`);
    } else expect([host, answer.text.includes('Did you mean')]).toEqual([host, false]);
  });

  it('asks once: what was typed is there, and the same form goes on (contract 11.11)', async () => {
    const email = 'nia@gmial.com';
    const asked = await signUp(email);
    expect(fieldOf(asked, 'email')).toMatchObject({ value: email, isInvalid: true });
    expect(fieldOf(asked, 'name').value).toBe('Nia New');
    expect(fieldOf(asked, 'meant').value).toBe('yes');
    await readMails(changes.other, email, 0);
    const done = await signUp(email, { meant: 'yes' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/signup?sent']);
    await readMails(changes.other, email, 1);
    // After the user has said that they mean the email address, any address may be typed.
    expect((await signUp('nia@gmal.com', { meant: 'yes' })).status).toBe(303);
  });

  it('asks with all else that is wrong, and not again once that is mended', async () => {
    const asked = await signUp('nia@hotmial.com', { name: ' ' });
    expect(fieldOf(asked, 'name').isInvalid).toBe(true);
    expect(questionOf(asked)).toBeDefined();
    const again = await signUp('nia@hotmial.com', { name: ' ', meant: 'yes' });
    expect(again.status).toBe(422);
    expect(questionOf(again)).toBeUndefined();
    expect(fieldOf(again, 'meant').value).toBe('yes');
  });

  it('takes no other word for an answer, and asks nothing of a text that is no address', async () => {
    for (const meant of ['', 'no', 'YES', 'yes '])
      expect(questionOf(await signUp('nia@gmial.com', { meant }))).toBeDefined();
    const malformed = await signUp('nia@x@gmial.com');
    expect(questionOf(malformed)).toBeUndefined();
    expect(malformed.text).not.toContain('name="meant"');
  });

  it('asks the same for addresses with and without an account, and leaves nothing', async () => {
    const occurred_at = changes.clock.now.toISOString();
    for (const email of ['holder@gmial.com', 'holder@gmail.com']) {
      const user = { email, name: 'Hana' };
      const signup = buildSignup(email.replace(/\W/g, ''), { user, occurred_at }, changes.clock.now);
      await pushSignup(changes.app, signup, { at: changes.clock.now });
    }
    // An instance may be sending these mails.
    await vi.waitFor(async () => {
      const { rows } = await sql`select from mails where sent_at is null`.execute(changes.app.db);
      expect(rows).toHaveLength(0);
    }, 10_000);
    const before = await digestRows(changes.app.db, written);
    const answers = [];
    for (let at = 0; at < 30; at++)
      for (const email of ['holder@gmial.com', 'nobody@gmial.com'])
        answers.push(await changes.app.send('/signup', { form: { name: 'Nia', email }, from: '192.0.2.77' }));
    const said = answers.map(({ status, text, headers }) => [
      status,
      text.replaceAll(/holder|nobody/g, ''),
      headers.getSetCookie(),
    ]);
    expect(new Set(said.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(said[0]?.[0]).toBe(422);
    expect(await digestRows(changes.app.db, written)).toEqual(before);
  });
});

describe('a change of address', () => {
  const ask = (send: ReturnType<typeof openBrowser>['send'], form: Record<string, string>) =>
    send('/profile/email', { form, from: changes.from() });

  it('asks before it asks for a password, and goes on with both (contract 11.11)', async () => {
    const { browser, id } = await changes.signUp();
    changes.passTime(11 * 60_000);
    const email = 'cora@yaho.com';
    const asked = await ask(browser.send, { email });
    expect(asked.status).toBe(422);
    expect(questionOf(asked)).toContain('Did you mean cora@yahoo.com?');
    expect(fieldOf(asked, 'email').value).toBe(email);
    const form = { email, meant: fieldOf(asked, 'meant').value ?? '' };
    const confirm = await ask(browser.send, form);
    expect(confirm.status).toBe(401);
    const kept = {
      email: fieldOf(confirm, 'email').value ?? '',
      meant: fieldOf(confirm, 'meant').value ?? '',
    };
    expect(kept).toEqual(form);
    await readMails(changes.other, email, 0);
    expect((await ask(browser.send, { ...kept, confirmPassword: password })).status).toBe(303);
    await readMails(changes.other, email, 1);
    const { rows } = await sql`select email from pending_email_changes where user_id = ${id}`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([{ email }]);
  });

  it('asks nobody who is not logged in, and no program', async () => {
    const answer = await ask(openBrowser(changes.app.send).send, { email: 'cora@gmial.com' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toContain('/login?next=');
    const { browser } = await changes.signUp();
    const client = openClient(changes.app.send, browser.cookie());
    await client.email.requestChange.mutate({ email: 'cora@gmial.com' });
  });
});

it('a forgotten password is asked nothing', async () => {
  const form = { email: 'nia@gmial.com' };
  const answer = await changes.app.send('/forgot-password', { form, from: changes.from() });
  expect(answer.status).toBe(303);
  expect(textOf(answer)).not.toContain('Did you mean');
});
