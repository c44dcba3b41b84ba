import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Answer, locationOf } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { listNotices, readMails, readToken } from '../support/people/kept-mail.ts';
import { enterCode, readCodes, setUp, showCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();

describe('the link to the old address', () => {
  it('removes the second factors that were set up by the person who changed it', async () => {
    const { email } = await changes.signUp();
    const thief = await logIn(changes.app.send, email, password);
    await setUp(thief, Date.now());
    await addPasskey(thief);
    const link = await changes.change(thief, email, changes.newEmail());
    const owner = openBrowser(changes.app.send);
    const done = await owner.send(link, { form: { newPassword } });
    expect(done.status).toBe(303);
    expect(await readNotice(owner, done)).toBe(back);
    expect(await owner.whoAmI()).toBe(email);
    expect((await owner.send('/profile/passkeys')).text).not.toContain('My phone');
  });

  it('asks for the app that was there before, and takes a recovery code of it, but none made since (contract 11.13)', async () => {
    const { browser, email } = await changes.signUp();
    const { secret, codes } = await setUp(browser, changes.clock.now.getTime());
    changes.passTime(8 * dayMs);
    const thief = await logInWithCode(email, secret);
    const renewed = readCodes(
      await thief.send('/profile/authenticator', { form: { intent: 'renew-codes', sure: 'yes' } }),
    );
    expect(renewed).toHaveLength(10);
    const link = await changes.change(thief, email, changes.newEmail());
    const owner = openBrowser(changes.app.send);
    for (const code of ['', ...renewed.slice(0, 2), codes[0] ?? '']) {
      const refused = await owner.send(link, { form: { newPassword, code } });
      expect([refused.status, fieldOf(refused, 'code').isInvalid]).toEqual([422, true]);
    }
    const code = showCode(secret, changes.clock.now.getTime() + 30_000);
    const done = await owner.send(link, { form: { newPassword, code } });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=taken-back']);
    expect(await owner.whoAmI()).toBe(email);
    // The app is still there, but its recovery codes are gone.
    const again = await logIn(changes.app.send, email, newPassword);
    for (const used of renewed.slice(0, 2)) expect((await enterCode(again, used)).status).toBe(401);
  });

  it('takes a recovery code from before, in place of a code', async () => {
    const { browser, email } = await changes.signUp();
    const { secret, codes } = await setUp(browser, changes.clock.now.getTime());
    changes.passTime(8 * dayMs);
    const thief = await logInWithCode(email, secret);
    const link = await changes.change(thief, email, changes.newEmail());
    const owner = openBrowser(changes.app.send);
    expect((await owner.send(link, { form: { newPassword, code: codes[0] ?? '' } })).status).toBe(303);
    expect(await owner.whoAmI()).toBe(email);
  });

  const back =
    'You have your account back, with a new password. You are logged in here and logged out everywhere else. We have removed all recovery codes, and the passkeys and authenticator apps added since the change that we emailed you about. Check Security.';

  /** Returns the words of the page to which the answer redirects. */
  async function readNotice(browser: Browser, answer: Answer): Promise<string> {
    const { pathname, search } = locationOf(answer);
    const { text } = await browser.send(pathname + search);
    const [notice = ''] = /<div class="notice success".*?<\/div><\/div>/s.exec(text) ?? [];
    return textOf({ ...answer, text: notice })
      .replace(/\s+/g, ' ')
      .replaceAll(' .', '.')
      .trim();
  }

  async function logInWithCode(email: string, secret: string) {
    const browser = await logIn(changes.app.send, email, password);
    const done = await enterCode(browser, showCode(secret, changes.clock.now.getTime()));
    expect(done.status).toBe(303);
    return browser;
  }

  it('cancels a deletion that was planned, and says so to the address that is back', async () => {
    const { email, id } = await changes.signUp();
    const thief = await logIn(changes.app.send, email, password);
    const taken = changes.newEmail();
    const link = await changes.change(thief, email, taken);
    expect((await thief.send('/profile/delete', { form: { intent: 'delete' } })).status).toBe(303);
    const dueAt = async () =>
      (
        await sql<{ due: Date | null }>`select deletion_due_at as due from users where id = ${id}`.execute(
          changes.app.db,
        )
      ).rows[0]?.due;
    expect(await dueAt()).toBeInstanceOf(Date);
    expect((await changes.undo(link)).status).toBe(303);
    expect(await dueAt()).toBeNull();
    expect(await changes.eventsOf(id)).toContain('user.deletion_canceled');
    expect(await listNotices(changes.app.db, taken)).toContain('email_change_undone');
    expect(await listNotices(changes.app.db, email)).toContain('deletion_canceled');
  });

  it('brings it back with a new password, and nobody else is in any more', async () => {
    const { browser, email, id } = await changes.signUp();
    const thief = await logIn(changes.app.send, email, password);
    const taken = changes.newEmail();
    const link = await changes.change(thief, email, taken);
    // These links belong to the thief.
    await changes.app.send('/forgot-password', { form: { email: taken }, from: changes.from() });
    const reset = await readToken(changes.other, taken, 'set_password', 2);
    const later = await changes.askForLink(thief, changes.newEmail());
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await changes.app.send(link, { method })).status).toBe(200);
    expect(await changes.emailOf(id)).toBe(taken);

    const owner = openBrowser(changes.app.send);
    const weak = await owner.send(link, { form: { newPassword: 'short' } });
    expect([weak.status, fieldOf(weak, 'newPassword').isInvalid]).toEqual([422, true]);
    expect(await changes.emailOf(id)).toBe(taken);
    const done = await owner.send(link, { form: { newPassword } });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=taken-back']);
    expect(await readNotice(owner, done)).toBe(back);
    expect(await owner.whoAmI()).toBe(email);
    for (const each of [browser, thief]) expect(await each.whoAmI()).toBeUndefined();
    expect((await changes.click(thief, later)).status).not.toBe(409);
    expect(await changes.emailOf(id)).toBe(email);
    expect((await changes.app.send(`/set-password?token=${reset}`, { form: { newPassword } })).status).toBe(
      404,
    );
    for (const address of [email, taken])
      expect(
        (await changes.app.send('/login', { form: { email: address, password }, from: changes.from() }))
          .status,
      ).toBe(401);
    await changes.app.login(email, newPassword);
    expect(await changes.eventsOf(id)).toContain('account.taken_back');
    expect(await listNotices(changes.app.db, taken)).toEqual(['email_change_undone']);
    expect(await listNotices(changes.app.db, email)).toContain('password_set');
    // Other people can use the thief's address immediately.
    await signUpAgain(taken);
    expect((await changes.undo(link)).status).toBe(404);
    expect(textOf(await changes.app.send(link))).toContain('You have already used this link');
  });

  async function signUpAgain(email: string) {
    await changes.app.send('/signup', { form: { name: 'Next', email }, from: changes.from() });
    const mail = (await readMails(changes.other, email, 3)).at(-1);
    expect(mail?.subject).toBe('Create your account – Identity');
  }

  it('works once of 16 at once, on two instances', async () => {
    const { browser, email, id } = await changes.signUp();
    const link = await changes.change(browser, email, changes.newEmail());
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        changes.undo(link, (at % 2 ? changes.app : changes.instance).send),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(404)]);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('works also after a second change and a new password, and then that of the second does not', async () => {
    const { browser, email, id } = await changes.signUp();
    const [second, third] = [changes.newEmail(), changes.newEmail()];
    const first = await changes.change(browser, email, second);
    const later = await changes.change(browser, second, third);
    const form = { intent: 'password', currentPassword: password, newPassword: 'thief has a password' };
    expect((await browser.send('/profile/security', { form })).status).toBe(303);
    expect((await changes.undo(first)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
    expect((await changes.undo(later)).status).toBe(404);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('works after the second change was undone', async () => {
    const { browser, email, id } = await changes.signUp();
    const second = changes.newEmail();
    const first = await changes.change(browser, email, second);
    const later = await changes.change(browser, second, changes.newEmail());
    expect((await changes.undo(later)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(second);
    expect((await changes.undo(first)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('is not sent for a change that has been undone meanwhile', async () => {
    const { browser, email, id } = await changes.signUp();
    const second = changes.newEmail();
    const first = await changes.change(browser, email, second);
    await changes.change(browser, second, changes.newEmail());
    // Makes the row as if the mail server had been away.
    await sql`update mails set sent_at = null, kept_text = null, next_attempt_at = ${new Date(changes.clock.now.getTime() + dayMs)}
      where recipient = ${second} and kind = 'email_changed'`.execute(changes.app.db);
    expect((await changes.undo(first)).status).toBe(303);
    const { rows } =
      await sql`select from mails where recipient = ${second} and kind = 'email_changed'`.execute(
        changes.app.db,
      );
    expect(rows).toEqual([]);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('works for seven days and not after (contract 2.40 and 9.117)', async () => {
    const { browser, email, id } = await changes.signUp();
    const taken = changes.newEmail();
    const link = await changes.change(browser, email, taken);
    changes.passTime(7 * dayMs + 1_000);
    expect((await changes.app.send(link)).status).toBe(404);
    expect((await changes.undo(link)).status).toBe(404);
    expect(await changes.emailOf(id)).toBe(taken);
    changes.passTime(-2_000);
    expect((await changes.undo(link)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('is refused for a suspended user', async () => {
    const { browser, email, id } = await changes.signUp();
    const taken = changes.newEmail();
    const link = await changes.change(browser, email, taken);
    await sql`update users set suspended_at = now() where id = ${id}`.execute(changes.app.db);
    const refused = await changes.undo(link);
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await changes.emailOf(id)).toBe(taken);
  });

  it('puts links to other systems to sleep, because the person who changed the address may have made them', async () => {
    const { browser, email, id } = await changes.signUp();
    const link = await changes.change(browser, email, changes.newEmail());
    await sql`insert into external_links (provider, external_id, user_id) values ('marketplace', ${`thief-${id}`}, ${id})`.execute(
      changes.app.db,
    );
    expect((await changes.undo(link)).status).toBe(303);
    const { rows } =
      await sql`select from external_links where user_id = ${id} and sleeping_since is null`.execute(
        changes.app.db,
      );
    expect(rows).toEqual([]);
  });
});

it('the link to the old address works after database:restored, which ends all other links (contract 2.40 and 9.111)', async () => {
  const { browser, email, id } = await changes.signUp();
  const link = await changes.change(browser, email, changes.newEmail());
  const asked = changes.newEmail();
  await changes.app.send('/signup', { form: { name: 'Lost', email: asked }, from: changes.from() });
  const token = await readToken(changes.other, asked, 'sign_up');
  expect((await runCli(changes.app.databaseUrl, ['database:restored'])).code).toBe(0);
  expect((await changes.app.send(`/signup/confirm?token=${token}`)).status).toBe(404);
  expect((await changes.undo(link)).status).toBe(303);
  expect(await changes.emailOf(id)).toBe(email);
});
