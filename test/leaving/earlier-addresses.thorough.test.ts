// After somebody is erased, none of their email addresses is left: not in older mails, nor in what other people typed.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { newPassword, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { countLetters, readToken } from '../support/people/kept-mail.ts';
import { findText } from '../support/people/leaving.ts';
import { offer } from '../support/people/new-addresses.ts';

const changes = shareAddressChanges();

const askToSignUp = (email: string) =>
  openBrowser(changes.app.send).send('/signup', {
    form: { name: `Typed for ${email}`, email },
    from: changes.from(),
  });

/** Strangers, another user, and our support for a third user type an email address that nobody has yet. */
async function typeEverywhere(email: string, signUps: number): Promise<void> {
  const other = await changes.signUp();
  await changes.askForLink(other.browser, email);
  await offer(changes, (await changes.signUp()).id, email);
  for (let time = 0; time < signUps; time++) expect((await askToSignUp(email)).status).toBe(303);
  await readToken(changes.other, email, 'sign_up', 1 + signUps);
}

/** Signs up by the newest mail to the address. The links in earlier mails stay unused. */
async function signUpAt(email: string) {
  const browser = openBrowser(changes.app.send);
  const count = await countLetters(changes.app.db, email);
  const token = await readToken(changes.other, email, 'sign_up', count);
  const form = { name: 'Cora Change', newPassword };
  expect((await browser.send(`/signup/confirm?token=${token}`, { form })).status).toBe(303);
  return browser;
}

/** Changes the user's email address to one that other people have typed, too. */
async function move(browser: ReturnType<typeof openBrowser>, email: string): Promise<void> {
  expect((await changes.ask(browser, email)).status).toBe(303);
  const count = await countLetters(changes.app.db, email);
  const link = `/profile/email/confirm?token=${await readToken(changes.other, email, 'change_email', count)}`;
  expect((await changes.click(browser, link)).headers.get('location')).toBe('/profile?saved=email-changed');
}

const forget = (email: string) =>
  openBrowser(changes.app.send).send('/forgot-password', { form: { email }, from: changes.from() });

it('nothing remains anywhere of three addresses that were theirs, no matter who typed them (contract 2.82)', async () => {
  const { app, newEmail } = changes;
  const emails = [newEmail(), newEmail(), newEmail()] as const;
  for (const [index, email] of emails.entries()) await typeEverywhere(email, index === 0 ? 2 : 1);
  const browser = await signUpAt(emails[0]);
  await addPasskey(browser);
  for (const [index, email] of emails.entries()) {
    if (index > 0) await move(browser, email);
    expect((await askToSignUp(email)).status).toBe(303);
    expect((await changes.ask((await changes.signUp()).browser, email)).status).toBe(303);
    expect((await forget(email)).status).toBe(303);
  }
  for (const email of emails) {
    const kept = ['mails.recipient', 'mail_tokens.email', 'pending_email_changes.email', 'changes.members'];
    kept.push('new_addresses.email');
    expect(await findText(app.db, email)).toEqual(expect.arrayContaining(kept));
  }
  expect(await findText(app.db, emails[0])).toEqual(
    expect.arrayContaining(['reserved_addresses.email', 'take_back_changes.email']),
  );
  expect((await runCli(app.databaseUrl, ['user:delete', emails[2], '--now', '--yes'])).code).toBe(0);
  // Without a mail server, the mail about the deletion stays in the database, so the test deletes it.
  await sql`delete from mails where kind = 'account_deleted'`.execute(app.db);
  for (const email of emails) expect(await findText(app.db, email), email).toEqual([]);
  expect(await findText(app.db, `Typed for ${emails[0]}`)).toEqual([]);
});

it('leaves what is about an address that somebody else has by now, and what others wait for (contract 2.82)', async () => {
  const { app, newEmail } = changes;
  const first = await changes.signUp();
  const second = newEmail();
  await changes.change(first.browser, first.email, second);
  // Nobody holds the first address now, and a second user changes to it. The second user then asks for another address.
  await sql`delete from reserved_addresses where email = ${first.email}`.execute(app.db);
  const next = await changes.signUp(newEmail());
  await move(next.browser, first.email);
  const elsewhere = newEmail();
  await changes.askForLink(next.browser, elsewhere);
  const before = await findText(app.db, first.email);
  expect((await runCli(app.databaseUrl, ['user:delete', second, '--now', '--yes'])).code).toBe(0);
  expect(await changes.holdersOf(first.email)).toEqual([next.id]);
  expect(await findText(app.db, first.email)).toEqual(
    // The second user's own link to this address stays for a while.
    before.filter((column) => column !== 'take_back_changes.email'),
  );
  expect(await findText(app.db, elsewhere)).toEqual(
    expect.arrayContaining(['mail_tokens.email', 'mails.recipient', 'pending_email_changes.email']),
  );
});

it('an old sign-up link says that there is an account, and is deleted with it', async () => {
  const { app, newEmail } = changes;
  const email = newEmail();
  for (let time = 0; time < 2; time++) expect((await askToSignUp(email)).status).toBe(303);
  const lying = await readToken(changes.other, email, 'sign_up', 2);
  expect((await askToSignUp(email)).status).toBe(303);
  const browser = await signUpAt(email);
  const id = await browser.whoseId();
  const { rows } = await sql<{ rows: string[] }>`
    select array(select kind from mails where user_id = ${id} and kind = 'sign_up') as rows
    union all select array(select purpose from mail_tokens where user_id = ${id} and ended is null)`.execute(
    app.db,
  );
  expect(rows.map((each) => each.rows)).toEqual([
    ['sign_up', 'sign_up', 'sign_up'],
    ['sign_up', 'sign_up'],
  ]);
  const page = `/signup/confirm?token=${lying}`;
  const other = openBrowser(app.send);
  expect((await other.send(page)).status).toBe(200);
  expect((await other.send(page, { form: { name: 'Cora Change', newPassword } })).status).toBe(409);
  expect((await runCli(app.databaseUrl, ['user:delete', id, '--now', '--yes'])).code).toBe(0);
  expect((await other.send(page)).status).toBe(404);
});
