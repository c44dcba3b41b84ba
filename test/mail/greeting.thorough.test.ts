// Which mails greet a person by name (contract 9.231 to 9.233). Anybody can type a name, and a mail may reach somebody else.
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { type Browser, fieldOf, openBrowser } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, shareAddressChanges } from '../support/people/address-changes.ts';
import { readToken } from '../support/people/kept-mail.ts';

const changes = shareAddressChanges();
const open = () => openBrowser(changes.app.send);

async function readMail(
  email: string,
  kind: string,
): Promise<{ subject: string; text: string; html: string }> {
  await sendDueMails(changes.other.backend.deps, undefined, new AbortController().signal);
  return vi.waitFor(async () => {
    const { rows } = await sql<{ subject: string; text: string; html: string }>`
      select kept_subject as subject, kept_text as text, kept_html as html from mails
      where recipient = ${email} and kind = ${kind} and kept_text is not null
      order by created_at desc, id desc limit 1`.execute(changes.app.db);
    expect(rows).toHaveLength(1);
    return rows[0] ?? { subject: '', text: '', html: '' };
  }, 10_000);
}

const greetingOf = ({ text }: { text: string }) => text.split('\n')[0];

/** Returns how a mail for a new password greets the reader at `email`. */
async function greet(email: string): Promise<string | undefined> {
  await sql`delete from mails where recipient = ${email} and kind = 'set_password'`.execute(changes.app.db);
  const asked = await open().send('/forgot-password', { form: { email }, from: changes.from() });
  expect(asked.status).toBe(303);
  return greetingOf(await readMail(email, 'set_password'));
}

async function rename(browser: Browser, name: string): Promise<void> {
  const { value: madeFrom = '' } = fieldOf(await browser.send('/profile'), 'profile_updated_at');
  const form = { intent: 'names', name, accountName: 'Account', profile_updated_at: madeFrom };
  expect((await browser.send('/profile', { form })).status).toBe(303);
}

const later = (days: number) => {
  changes.clock.now = new Date(changes.clock.now.getTime() + days * dayMs);
};

describe('a mail greets by name', () => {
  it('somebody who has proved the address', async () => {
    const { email } = await changes.signUp();
    expect(await greet(email)).toBe('Hello Cora Change,');
    const { html } = await readMail(email, 'set_password');
    expect(html).toContain('>Hello Cora Change,</p>');
  });

  it('but not by one that somebody has just typed in the account, who may be a thief', async () => {
    const { email, browser } = await changes.signUp();
    await rename(browser, 'Your Account Is In Danger');
    expect(await greet(email)).toBe('Hello,');
    await browser.send('/profile/delete', { form: { intent: 'delete' } });
    const notice = await readMail(email, 'deletion_requested');
    for (const part of Object.values(notice)) expect(part).not.toMatch(/danger/i);
    await browser.send('/profile/delete', { form: { intent: 'keep' } });
    later(6.9);
    expect(await greet(email)).toBe('Hello,');
    later(0.2);
    expect(await greet(email)).toBe('Hello Your Account Is In Danger,');
  });

  it.each(['evil.example', 'Win at https://evil.example', 'Call 0900 123'])(
    'but never by %s',
    async (name) => {
      const { email, browser } = await changes.signUp();
      await rename(browser, name);
      later(8);
      expect(await greet(email)).toBe('Hello,');
    },
  );

  it('but not at an address that was the user’s before', async () => {
    const { email, browser } = await changes.signUp();
    await changes.change(browser, email, changes.newEmail());
    expect(greetingOf(await readMail(email, 'email_changed'))).toBe('Hello,');
  });
});

it('a person who signs up with another’s address puts no text into its mailbox', async () => {
  const email = changes.newEmail();
  const form = { name: 'Look At Evil', email };
  await open().send('/signup?next=%2Fsso%2Flaunch%2Fmarketplace%3Fstate%3Devil', {
    form,
    from: changes.from(),
  });
  const mail = await readMail(email, 'sign_up');
  expect(greetingOf(mail)).toBe('Hello,');
  // The mail has the product's name from the settings.
  expect(mail.text).toContain(' You will then go on to Marketplace.');
  for (const part of Object.values(mail)) expect(part).not.toMatch(/evil/i);
});

it('nor does a person who comes from the marketplace, when its owner proves the address', async () => {
  const email = changes.newEmail();
  const browser = open();
  const user = { id: `typed-${email}`, email, name: 'Look At Evil', emailVerified: false };
  const asked = await browser.send(await buildHandOff(changes.app, user, changes.clock.now));
  await browser.send(asked.headers.get('location') ?? '', { form: {} });
  expect(await browser.whoAmI()).toBe(email);
  await browser.send('/verify-email', { form: {} });
  expect(greetingOf(await readMail(email, 'prove_address'))).toBe('Hello,');
  const token = await readToken(changes.other, email, 'set_password');
  expect((await open().send(`/set-password?token=${token}`, { form: { newPassword } })).status).toBe(303);
  const notice = await readMail(email, 'email_proved');
  expect(greetingOf(notice)).toBe('Hello,');
  for (const part of Object.values(notice)) expect(part).not.toMatch(/evil/i);
});

it('nor does the CRM', async () => {
  const user = { email: 'crm_greeting@example.test', name: 'Look At Evil' };
  // A mail does not name a plan that the settings do not name (contract 9.373).
  const contract = { plan: 'call-0800-1234', status: 'active' };
  for (const [id, kind] of [
    ['crm_greeting', 'welcome'],
    ['crm_greeting_2', 'contract_added'],
  ] as const) {
    await pushSignup(changes.app, buildSignup(id, { user, contract }));
    const mail = await readMail(user.email, kind);
    expect(greetingOf(mail)).toBe('Hello,');
    for (const part of Object.values(mail)) expect(part).not.toMatch(/evil|0800/i);
  }
});
