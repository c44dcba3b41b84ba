import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { codeOf, locationOf } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import {
  addPasskey,
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { countLetters, listNotices, readToken } from '../support/people/kept-mail.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { answerWith, linkOf } from '../support/people/take-backs.ts';
import { enterCode, setUp, showCode, wrongCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const json = { accept: 'application/json' };

const rob = async () => ({ ...(await changes.rob()), owner: openBrowser(changes.app.send) });

const now = () => changes.clock.now.getTime();

describe('a thief who knows the password', () => {
  it('keeps neither passkey nor app, nor the session, and the owner gets in with the new password alone', async () => {
    const { email, thief, owner } = await rob();
    const passkey = await addPasskey(thief);
    await setUp(thief, now());
    const link = await linkOf(changes, email, 'passkey_added');
    const page = textOf(await owner.send(link));
    expect(page).toMatch(/A passkey was added[\s\S]*An authenticator app was added/);
    expect(page).not.toContain('Freeze the account');
    const done = await owner.send(link, { form: { newPassword } });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=taken-back']);
    expect(await owner.whoAmI()).toBe(email);
    expect(await thief.whoAmI()).toBeUndefined();
    expect((await logInByPasskey(thief, passkey)).status).toBe(401);
    const again = await logIn(changes.app.send, email, newPassword);
    expect(await again.whoAmI()).toBe(email);
    expect(await listNotices(changes.app.db, email)).toContain('password_set');
  });

  it('does not keep the invoices that a signup of theirs has sent elsewhere (contract 7.404)', async () => {
    const { email, id, thief, owner } = await rob();
    const { db } = changes.app;
    await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at)
      select account_id, 'books@example.com', now() from users where id = ${id}`.execute(db);
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    expect((await owner.send(link, { form: { newPassword } })).status).toBe(303);
    const { rows } = await sql`select invoice_email, edited_here from billing_details
      where account_id = (select account_id from users where id = ${id})`.execute(db);
    expect(rows).toEqual([{ invoice_email: null, edited_here: ['invoiceEmail'] }]);
    expect(await listNotices(db, email)).toContain('invoice_email_changed');
  });

  it('is shut out by each of the links, also after a new password was set by mail and the code was asked for', async () => {
    const { email, thief, owner } = await rob();
    await setUp(thief, now());
    await owner.send('/forgot-password', { form: { email }, from: changes.from() });
    const mail = await changes.other.backend.deps.db
      .selectFrom('mails')
      .select('id')
      .where('recipient', '=', email)
      .where('kind', '=', 'set_password')
      .executeTakeFirst();
    expect(mail).toBeDefined();
    const link = await linkOf(changes, email, 'authenticator_added');
    await owner.login(email, password);
    expect(textOf(await owner.send('/login/code'))).toContain(
      'we emailed you about a change to your account',
    );
    expect((await owner.send(link, { form: { newPassword } })).status).toBe(303);
    expect(await owner.whoAmI()).toBe(email);
  });

  it('cannot use up the guesses of the owner’s link, nor end it by a new password (contract 2.40)', async () => {
    const { email, thief, owner } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const form = { intent: 'password', currentPassword: password, newPassword: 'thief has a password' };
    expect((await thief.send('/profile/security', { form })).status).toBe(303);
    expect((await owner.send(link, { form: { newPassword } })).status).toBe(303);
  });

  it('who makes new recovery codes, or asks for a deletion, tells the owner how to take the account back (contract 2.38)', async () => {
    const { email, id, browser, owner } = await rob();
    // Another user logs in in the owner's browser.
    await browser.login(email, password);
    const { secret } = await setUp(browser, now());
    changes.passTime(8 * dayMs);
    await browser.login(email, password);
    await enterCode(browser, showCode(secret, now()));
    expect(
      (await browser.send('/profile/authenticator', { form: { intent: 'renew-codes', sure: 'yes' } })).status,
    ).toBe(200);
    expect((await browser.send('/profile/delete', { form: { intent: 'delete' } })).status).toBe(303);
    for (const kind of ['recovery_codes_made', 'deletion_requested'] as const)
      expect((await owner.send(await linkOf(changes, email, kind))).status).toBe(200);
    const link = await linkOf(changes, email, 'recovery_codes_made');
    const code = showCode(secret, now() + 30_000);
    expect((await owner.send(link, { form: { newPassword, code } })).status).toBe(303);
    const { rows } = await sql`select deletion_due_at from users where id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([{ deletion_due_at: null }]);
    expect((await owner.send(await linkOf(changes, email, 'deletion_requested'))).status).toBe(404);
  });
});

describe('an owner who takes the account back in the browser that they have used for a month', () => {
  it('finds it as old as it was, and the thief’s forgotten', async () => {
    const { email, id, browser, thief } = await rob();
    const link = await changes.change(thief, email, changes.newEmail());
    expect((await browser.send(link, { form: { newPassword } })).status).toBe(303);
    await addPasskey(browser);
    const { rows } = await sql`select from_established_browser as established from passkeys
      where user_id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([{ established: true }]);
    const { rows: known } =
      await sql`select from devices where user_id = ${id} and forgotten_at is null`.execute(changes.app.db);
    expect(known).toHaveLength(1);
  });

  it('keeps what they add there from the reader of a mailbox that they have left', async () => {
    const { email: left, id, browser } = await rob();
    await browser.login(left, password);
    const present = changes.newEmail();
    const readersLink = await changes.change(browser, left, present);
    changes.passTime(dayMs);
    const thief = await logIn(changes.app.send, present, password);
    const ownersLink = await changes.change(thief, present, changes.newEmail());
    expect((await browser.send(ownersLink, { form: { newPassword } })).status).toBe(303);
    await addPasskey(browser);
    changes.passTime(dayMs);
    expect((await changes.undo(readersLink)).status).toBe(422);
    expect(await changes.emailOf(id)).toBe(present);
  });
});

describe('a reader of a mailbox that its owner has left', () => {
  it('does not get past the factors of the owner: only a passkey or code of theirs does (contract 11.13)', async () => {
    const { email, browser } = await rob();
    await browser.login(email, password);
    const passkey = await addPasskey(browser);
    const link = await changes.change(browser, email, changes.newEmail());
    const reader = openBrowser(changes.app.send);
    const stranger = createAuthenticator();
    expect((await reader.send(link, { form: { newPassword } })).status).toBe(422);
    for (const other of [stranger]) {
      const given = await answerWith(reader, link, other);
      expect((await reader.send(link, { form: { newPassword, passkey: given } })).status).toBe(422);
    }
    const given = await answerWith(reader, link, passkey);
    // This is not the browser in which the owner asked for the link.
    const elsewhere = openBrowser(changes.app.send);
    expect((await elsewhere.send(link, { form: { newPassword, passkey: given } })).status).toBe(422);
    const done = await reader.send(link, { form: { newPassword, passkey: given } });
    expect(done.status).toBe(303);
    expect(await reader.whoAmI()).toBe(email);
    // The owner gave this passkey, so the take-back keeps it.
    const again = openBrowser(changes.app.send);
    expect((await logInByPasskey(again, passkey)).status).toBe(303);
  });

  it('cannot use a passkey that a thief has added, though it is one of the account', async () => {
    const { email, browser, thief } = await rob();
    await browser.login(email, password);
    await addPasskey(browser);
    const theirs = await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const given = await answerWith(thief, link, theirs);
    expect((await thief.send(link, { form: { newPassword, passkey: given } })).status).toBe(422);
  });

  it('can freeze it: nobody gets in, each mailbox is told, and time stands still (contract 2.55, 2.57, 2.58 and 11.13)', async () => {
    const { email, id, browser } = await rob();
    await browser.login(email, password);
    const { secret } = await setUp(browser, now());
    const passkey = await addPasskey(browser);
    const present = changes.newEmail();
    const link = await changes.change(browser, email, present);
    const reader = openBrowser(changes.app.send);
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => reader.send(link, { form: { intent: 'freeze' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(403)]);
    const frozenBy = answers.find(({ status }) => status === 303);
    expect(frozenBy?.headers.get('location')).toBe('/take-back?saved=frozen');
    const own = await reader.send('/take-back?saved=frozen');
    expect([own.status, textOf(own).includes('You have frozen the account')]).toEqual([200, true]);
    expect((await changes.eventsOf(id)).filter((type) => type === 'account.frozen')).toHaveLength(1);
    for (const mailbox of [email, present])
      expect(
        (await listNotices(changes.app.db, mailbox)).filter((kind) => kind === 'account_frozen'),
      ).toEqual(['account_frozen']);
    expect(await browser.whoAmI()).toBeUndefined();
    const page = await reader.send(link);
    expect([page.status, textOf(page).includes('Your account is frozen')]).toEqual([403, true]);
    const login = await reader.send('/login', { form: { email: present, password }, headers: json });
    expect([login.status, codeOf(login)]).toEqual([403, 'account_frozen']);
    expect(
      (await reader.send('/login', { form: { email: present, password: 'wrong password' } })).status,
    ).toBe(401);
    const byPasskey = await logInByPasskey(openBrowser(changes.app.send), passkey);
    expect([byPasskey.status, byPasskey.text.includes('account_frozen')]).toEqual([403, true]);
    const handOff = { id: `frozen-${id}`, email: present };
    const handed = await changes.app.send(await buildHandOff(changes.app, handOff, changes.clock.now));
    expect([handed.status, codeOf(handed)]).toEqual([403, 'account_suspended']);
    changes.passTime(60 * dayMs);
    expect((await reader.send(link)).status).toBe(403);
    // After the suspension, the link has as much time left as before.
    await sql`update users set suspended_at = null, frozen_at = null where id = ${id}`.execute(
      changes.app.db,
    );
    changes.passTime(-60 * dayMs);
    // The first code is from a phone whose clock is wrong, the second from a keyboard of another script (contract 9.247 and
    // 9.248).
    const early = { newPassword, code: showCode(secret, now() + 120_000) };
    const refused = await reader.send(link, { form: early });
    expect([refused.status, textOf(refused)]).toEqual([
      422,
      expect.stringContaining('the clock on your phone'),
    ]);
    const code = showCode(secret, now() + 30_000).replace(/\d/g, (digit) =>
      String.fromCodePoint(0xff10 + Number(digit)),
    );
    expect((await reader.send(link, { form: { newPassword, code } })).status).toBe(303);
  });

  it('cannot freeze an account that the link takes back alone (contract 2.55)', async () => {
    const { email, thief, owner } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const refused = await owner.send(link, { form: { intent: 'freeze' }, headers: json });
    expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request']);
    expect((await owner.send(link, { form: { intent: 'melt' } })).status).toBe(400);
    expect((await owner.send(link)).status).toBe(200);
  });

  it('allows ten guesses at codes an hour and thirty in all, which the login does not count', async () => {
    const { email, browser } = await rob();
    await browser.login(email, password);
    const { secret } = await setUp(browser, now());
    const link = await changes.change(browser, email, changes.newEmail());
    const reader = openBrowser(changes.app.send);
    const guess = () => reader.send(link, { form: { newPassword, code: wrongCode(secret, now()) } });
    const hour = async () =>
      (await Promise.all(Array.from({ length: 16 }, guess))).map(({ status }) => status);
    const letAnHourPass = () =>
      sql`update rate_limits set expire = 1 where key similar to '(take-back|new-password)%'`.execute(
        changes.app.db,
      );
    expect((await hour()).sort()).toEqual([...Array(10).fill(422), ...Array(6).fill(429)]);
    for (const _ of [2, 3]) {
      await letAnHourPass();
      expect((await hour()).filter((status) => status === 422)).toHaveLength(10);
    }
    await letAnHourPass();
    expect(await hour()).toEqual(Array(16).fill(429));
    const right = { newPassword, code: showCode(secret, now() + 30_000) };
    expect((await reader.send(link, { form: right })).status).toBe(429);
    // The page says that waiting does not help, even if it is opened a second time.
    await letAnHourPass();
    await reader.send(link, { headers: { accept: 'text/html' } });
    const answer = await reader.send(link, { form: right, headers: { accept: 'text/html' } });
    const { pathname, search } = locationOf(answer);
    changes.passTime(2 * 60_000);
    const later = textOf(await reader.send(pathname + search));
    expect(later).toContain('Too many wrong codes have been entered with this link. You can still:');
    expect(later).not.toContain('Try again in');
    expect((await browser.send('/profile')).status).toBe(200);
  });

  /** Arranges somebody who has had an app for eight days, and has just logged in with it. */
  async function addOwnerOfApp() {
    const owner = await changes.signUp();
    const { secret } = await setUp(owner.browser, now());
    changes.passTime(8 * dayMs);
    await owner.browser.login(owner.email, password);
    await owner.browser.send('/login/code', { form: { code: showCode(secret, now()) } });
    return { ...owner, secret };
  }

  it('counts thirty guesses at most, also where the mail server of the mailbox makes us send again', async () => {
    const { email, browser, secret } = await addOwnerOfApp();
    await changes.click(browser, await changes.askForLink(browser, changes.newEmail()));
    // This mail server keeps each mail, but answers that it did not accept it.
    const links = new Set<string>();
    const send = async ({ to, text }: { to: string; text: string }) => {
      if (to !== email) return;
      links.add(`/take-back?token=${tokenIn({ text }, '/take-back')}`);
      throw Object.assign(new Error('451 try again later'), { responseCode: 451 });
    };
    // An instance may have sent the mail before this loop could. Then the next round sends the mail again.
    for (let round = 0; round < 50 && links.size < 5; round++) {
      await sql`update mails set sent_at = null, kept_text = null, attempts = 1,
        next_attempt_at = ${changes.clock.now}
        where recipient = ${email} and kind = 'email_changed'`.execute(changes.app.db);
      await sendDueMails(changes.other.backend.deps, { send } as never, new AbortController().signal);
    }
    await sql`update mails set sent_at = now() where recipient = ${email}`.execute(changes.app.db);
    const statuses: number[] = [];
    for (const link of links)
      for (let guess = 0; guess < 10; guess++)
        statuses.push(
          (await changes.app.send(link, { form: { newPassword, code: wrongCode(secret, now()) } })).status,
        );
    expect(links.size).toBeGreaterThan(3);
    expect(statuses.filter((status) => status === 422).length).toBeLessThanOrEqual(30);
  });

  it('does not announce a freeze to a mailbox whose link does not work (contract 2.58)', async () => {
    const { email, id, browser } = await addOwnerOfApp();
    const second = changes.newEmail();
    await changes.change(browser, email, second);
    const dead = await changes.change(browser, second, changes.newEmail());
    // The address is taken back as an older version does it, which adds no rows to take_back_changes.
    await sql`delete from reserved_addresses where user_id = ${id}`.execute(changes.app.db);
    await sql`update users set email = ${email} where id = ${id}`.execute(changes.app.db);
    expect((await changes.app.send(dead)).status).toBe(404);
    changes.passTime(60_000);
    await addPasskey(browser);
    const link = await linkOf(changes, email, 'passkey_added');
    expect((await changes.app.send(link, { form: { intent: 'freeze' } })).status).toBe(303);
    expect(await listNotices(changes.app.db, email)).toContain('account_frozen');
    expect(await listNotices(changes.app.db, second)).not.toContain('account_frozen');
    const listed = await runCli(changes.app.databaseUrl, ['user:thaw', email]);
    expect([listed.code, listed.out.includes(second)]).toEqual([0, false]);
  });

  it('tells the owner, once a day, that codes are guessed with a link to a mailbox that they have left (contract 2.49 and 2.175)', async () => {
    const { email, id, browser, secret } = await addOwnerOfApp();
    const present = changes.newEmail();
    const link = await changes.change(browser, email, present);
    const told = async () =>
      (await listNotices(changes.app.db, present)).filter((kind) => kind === 'codes_guessed').length;
    // Guesses at codes of the app, and at last one at a recovery code.
    const guesses = [...Array(9).fill(wrongCode(secret, now())), '0000-0000-0000'];
    for (const code of guesses) {
      expect(await told()).toBe(0);
      expect((await changes.app.send(link, { form: { newPassword, code } })).status).toBe(422);
    }
    const events = (await changes.eventsOf(id)).filter((type) => type === 'account.take_back_refused');
    expect(events).toHaveLength(10);
    expect(await told()).toBe(1);
    for (const [hours, mails] of [
      [2, 1],
      [24, 2],
    ] as const) {
      changes.passTime(hours * 60 * 60_000);
      await sql`truncate rate_limits`.execute(changes.app.db);
      const code = wrongCode(secret, now());
      for (let n = 0; n < 10; n++)
        expect((await changes.app.send(link, { form: { newPassword, code } })).status).toBe(422);
      expect(await told()).toBe(mails);
    }
    const over = await changes.app.send(link, { form: { newPassword, code: wrongCode(secret, now()) } });
    expect(over.status).toBe(429);
  });

  it('tells the owner that a recovery code was used', async () => {
    const { email, browser } = await changes.signUp();
    const { secret, codes } = await setUp(browser, now());
    changes.passTime(8 * dayMs);
    await browser.login(email, password);
    await browser.send('/login/code', { form: { code: showCode(secret, now()) } });
    const link = await changes.change(browser, email, changes.newEmail());
    const owner = openBrowser(changes.app.send);
    expect((await owner.send(link, { form: { newPassword, code: codes[0] ?? '' } })).status).toBe(303);
    expect(await listNotices(changes.app.db, email)).toContain('recovery_code_used');
  });
});

describe('user:thaw', () => {
  async function freeze() {
    const { email, id, browser } = await rob();
    await browser.login(email, password);
    const { codes } = await setUp(browser, now());
    // Makes everything 40 days older, because the command uses the machine's clock. The app is then from before the window
    // (contract 2.44).
    const ago = sql`interval '40 days'`;
    await sql`update take_back_changes set at = at - ${ago}, expires_at = expires_at - ${ago} where user_id = ${id}`.execute(
      changes.app.db,
    );
    await sql`update authenticators set added_at = added_at - ${ago} where user_id = ${id}`.execute(
      changes.app.db,
    );
    const present = changes.newEmail();
    const link = await changes.change(browser, email, present);
    expect((await openBrowser(changes.app.send).send(link, { form: { intent: 'freeze' } })).status).toBe(303);
    return { email, id, browser, present, link, codes };
  }
  const thaw = (...args: string[]) => runCli(changes.app.databaseUrl, ['user:thaw', ...args]);
  const stateOf = async (id: string) =>
    (
      await sql`select email, suspended_at is not null as suspended, has_authenticator as app, (select count(*)::int from reserved_addresses where user_id = u.id) as reserved from users u where id = ${id}`.execute(
        changes.app.db,
      )
    ).rows[0];

  it('lists what may be kept, and user:resume and user:suspend leave a freeze alone (contract 2.59)', async () => {
    const { email, id, present } = await freeze();
    const listed = await thaw(present);
    expect([listed.code, listed.out]).toEqual([
      0,
      expect.stringContaining(`${present}  the present address`),
    ]);
    expect(listed.out).toMatch(new RegExp(`${email}  email_changed 20`));
    for (const command of ['user:resume', 'user:suspend'])
      expect((await runCli(changes.app.databaseUrl, [command, present])).code).toBe(1);
    await expect(
      sql`update users set suspended_at = null where id = ${id}`.execute(changes.app.db),
    ).rejects.toThrow(/frozen/);
    expect((await thaw(present, '--keep', present)).code).toBe(2);
    expect((await thaw(present, '--keep', 'admin@example.test', '--why', 'A call')).code).toBe(1);
    expect(await stateOf(id)).toEqual({ email: present, suspended: true, app: true, reserved: 1 });
  });

  it('with the present address all stays, and links to others end (contract 2.58 and 2.60)', async () => {
    const { email, id, present, link } = await freeze();
    expect((await thaw(email, '--keep', present, '--why', 'A call')).code).toBe(0);
    expect(await stateOf(id)).toEqual({ email: present, suspended: false, app: true, reserved: 0 });
    expect((await changes.app.send(link)).status).toBe(404);
    for (const mailbox of [email, present])
      expect(await listNotices(changes.app.db, mailbox)).toContain('account_thawed');
    const login = await changes.app.send('/login', {
      form: { email: present, password },
      from: changes.from(),
    });
    expect(locationOf(login).pathname).toBe('/login/code');
  });

  it('with the present address and --remove-factors a mail sets a new password there (contract 2.62)', async () => {
    const { email, id, present, link } = await freeze();
    const done = await thaw(present, '--keep', present, '--why', 'A call', '--remove-factors');
    expect([done.code, done.err]).toEqual([0, '']);
    expect(await stateOf(id)).toEqual({ email: present, suspended: false, app: false, reserved: 0 });
    expect((await changes.app.send(link)).status).toBe(404);
    const login = (typed: string) =>
      changes.app.send('/login', { form: { email: present, password: typed }, from: changes.from() });
    expect((await login(password)).status).toBe(401);
    await expectOnlyPassword(present);
    expect((await login(newPassword)).headers.get('location')).toBe('/profile');
    expect(
      (await changes.app.send('/login', { form: { email, password }, from: changes.from() })).status,
    ).toBe(401);
  });

  it('with the other mailbox what is left stays, and the mail cannot add a passkey past it (contract 2.61)', async () => {
    const { email, id, codes } = await freeze();
    expect((await thaw(email, '--keep', email, '--why', 'A passport')).code).toBe(0);
    expect(await stateOf(id)).toEqual({ email, suspended: false, app: true, reserved: 0 });
    // Whenever a password is set by mail, the service forgets all browsers.
    const { rows } = await sql`select from devices where user_id = ${id} and forgotten_at is null`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([]);
    const waiting = await expectOnlyPassword(email);
    expect(waiting.headers.get('location')).toMatch(/^\/login\/code/);
    expect((await openBrowser(changes.app.send).login(email, newPassword)).headers.get('location')).toMatch(
      /^\/login\/code/,
    );
    // The old recovery codes do not work.
    const owner = await logIn(changes.app.send, email, newPassword);
    expect((await enterCode(owner, codes[0] ?? '')).status).toBe(401);
  });

  /** Expects a mail that only sets a password. Returns the answer to the new password. */
  async function expectOnlyPassword(email: string) {
    await sendDueMails(changes.other.backend.deps, undefined, new AbortController().signal);
    const text = await vi.waitFor(async () => {
      const { rows } = await sql<{ text: string }>`select kept_text as text from mails
        where recipient = ${email} and kind = 'set_password' and kept_text is not null`.execute(
        changes.app.db,
      );
      expect(rows).toHaveLength(1);
      return rows[0]?.text ?? '';
    }, 10_000);
    const token = tokenIn({ text }, '/set-password');
    const browser = openBrowser(changes.app.send);
    expect((await browser.send(`/set-password?token=${token}`)).text).not.toContain('data-passkey');
    const options = await browser.send('/passkeys/options', { form: { purpose: 'arrive', token } });
    expect(options.status).toBe(404);
    const done = await browser.send(`/set-password?token=${token}`, { form: { newPassword } });
    expect(done.status).toBe(303);
    return done;
  }

  it('is told to each mailbox, and the page of the freeze leads to support', async () => {
    const { link, present } = await freeze();
    const supportUrl = 'https://help.example.test/?from=identity';
    const { send } = await changes.app.startInstance({
      env: { IDENTITY_SUPPORT_URL: supportUrl },
      now: () => changes.clock.now,
    });
    for (const page of [
      await send(link, { headers: { accept: 'text/html' } }),
      await send('/login', {
        form: { email: present, password },
        headers: { accept: 'text/html' },
        from: changes.from(),
      }),
    ]) {
      expect(page.status).toBe(403);
      expect(page.text).toContain(` href="${supportUrl}">Contact support</a>`);
    }
  });

  it('with the other mailbox its take-back is done, and the password counts no more (contract 2.61 and 2.62)', async () => {
    const { email, id, present, link } = await freeze();
    const done = await thaw(present, '--keep', email, '--why', 'A passport', '--remove-factors');
    expect([done.code, done.err]).toEqual([0, '']);
    expect(await stateOf(id)).toEqual({ email, suspended: false, app: false, reserved: 0 });
    expect((await changes.app.send(link)).status).toBe(404);
    const login = await changes.app.send('/login', { form: { email, password }, from: changes.from() });
    expect(login.status).toBe(401);
    const { rows } = await sql<{ details: object; why: string }>`
      select details, why from audit_events where user_id = ${id} and type = 'account.thawed'`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([{ details: { by: 'cli', kept: 'earlier' }, why: 'A passport' }]);
    const mails = await sql`select from mails where recipient = ${email} and kind = 'set_password'`.execute(
      changes.app.db,
    );
    expect(mails.rows).toHaveLength(1);
  });

  it('tells the address that is left only about things that somebody did', async () => {
    const { email, present } = await freeze();
    expect((await thaw(present, '--keep', email, '--why', 'A passport')).code).toBe(0);
    const { other, app } = changes;
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    const text = await vi.waitFor(async () => {
      const { rows } = await sql<{ text: string | null }>`select kept_text as text from mails
        where recipient = ${present} and kind = 'email_change_undone'`.execute(app.db);
      expect(rows).toEqual([{ text: expect.any(String) }]);
      return rows[0]?.text?.replace(/\s+/g, ' ');
    }, 10_000);
    expect(text).toContain('or our support team checked who the owner is');
    expect(text).not.toContain('Somebody has used the link');
  });
});

describe('a password that counts no more', () => {
  /** Gives the account back to its first mailbox. The factor was there before the theft, and stays. */
  async function thawTo(email: string, { id, browser }: { id: string; browser: Browser }) {
    // Commands use the machine's clock, so the test makes these rows older.
    for (const [table, column] of [
      ['passkeys', 'created_at'],
      ['authenticators', 'added_at'],
    ] as const)
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - interval '8 days'
        where user_id = ${id}`.execute(changes.app.db);
    await sql`delete from take_back_changes where user_id = ${id}`.execute(changes.app.db);
    const present = changes.newEmail();
    const link = await changes.change(browser, email, present);
    expect((await changes.app.send(link, { form: { intent: 'freeze' } })).status).toBe(303);
    const done = await runCli(changes.app.databaseUrl, [
      ...['user:thaw', present, '--keep', email, '--why', 'A passport'],
    ]);
    expect([done.code, done.err]).toEqual([0, '']);
    changes.passTime(60 * 60_000);
  }

  it('is no way to log in: nobody is asked for it, and the last passkey stays', async () => {
    const { email, id, browser } = await changes.signUp();
    const passkey = await addPasskey(browser);
    await thawTo(email, { id, browser });
    const owner = openBrowser(changes.app.send);
    expect((await logInByPasskey(owner, passkey)).status).toBe(303);
    expect(textOf(await owner.send('/profile/passkeys'))).toContain('You do not have a password.');
    const [passkeyId] = await passkeysOf(id);
    const removed = await owner.send('/profile/passkeys', {
      form: { intent: 'remove', id: passkeyId ?? '' },
    });
    expect([removed.status, textOf(removed).includes('your only way to log in')]).toEqual([422, true]);
    expect(await passkeysOf(id)).toEqual([passkeyId]);
    // The passkey was used just now, so no other credential is needed.
    await sql`insert into external_links (provider, external_id, user_id) values ('marketplace', ${`dead-${id}`}, ${id})`.execute(
      changes.app.db,
    );
    const form = { intent: 'remove-link', provider: 'marketplace', externalId: `dead-${id}` };
    expect((await owner.send('/profile/security', { form })).status).toBe(303);
    // A day later, the page asks the owner for the passkey, not for a password.
    changes.passTime(dayMs);
    const asked = await owner.send('/profile/security', { form: { intent: 'end-others' } });
    expect([asked.status, asked.text.includes('name="confirmPassword"')]).toEqual([401, false]);
  });

  it('lets no mail add a passkey past the app, and no hand-off come in without Connect', async () => {
    const { email, id, browser } = await changes.signUp();
    await setUp(browser, now());
    await thawTo(email, { id, browser });
    const count = await countLetters(changes.app.db, email);
    const token = await readToken(changes.other, email, 'set_password', count);
    const page = await changes.app.send(`/set-password?token=${token}`);
    expect([page.status, page.text.includes('data-passkey="arrive"')]).toEqual([200, false]);
    const form = { purpose: 'arrive', token };
    expect((await changes.app.send('/passkeys/options', { form })).status).toBe(404);
    const visitor = openBrowser(changes.app.send);
    const handOff = await buildHandOff(changes.app, { id: `dead-hand-off-${id}`, email }, changes.clock.now);
    const asked = await visitor.send(handOff);
    expect(textOf(await visitor.send(asked.headers.get('location') ?? ''))).toContain('Connect');
    const { rows } = await sql`select from external_links where user_id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([]);
    // The visitor can log in with the password that was set by mail, and is asked for a code.
    const set = await visitor.send(`/set-password?token=${token}`, { form: { newPassword } });
    expect(locationOf(set).pathname).toBe('/login/code');
  });

  const passkeysOf = async (id: string) =>
    (
      await sql<{ id: string }>`select id from passkeys where user_id = ${id}`.execute(changes.app.db)
    ).rows.map((row) => row.id);
});

describe('/profile/email', () => {
  const page = async (browser: Browser) => {
    const said = textOf(await browser.send('/profile/email'));
    const [yes, no] = ['You have one, so they cannot', 'You do not have one yet'].map((words) =>
      said.includes(words),
    );
    expect(yes).not.toBe(no);
    return yes;
  };

  /** Arranges somebody at a phone that is new to them, who adds a passkey there on each of these days. */
  async function addOnPhone(...days: number[]) {
    const { email, id } = await changes.signUp();
    changes.passTime(30 * dayMs);
    const phone = openBrowser(changes.app.send);
    let day = 0;
    for (const next of days) {
      changes.passTime((next - day) * dayMs);
      day = next;
      await phone.login(email, password);
      await addPasskey(phone);
    }
    const wait = async (until: number) => {
      changes.passTime((until - day) * dayMs);
      day = until;
      await phone.login(email, password);
    };
    return { email, id, phone, wait };
  }

  it.each([
    ['none', [], 0, false],
    ['one of today', [0], 0.1, false],
    ['one that is a week old', [0], 7.1, true],
    ['one that is a week old, but for another in between', [0, 5], 8.5, false],
    ['the same once the link about the other is over', [0, 5], 12.1, true],
  ])('says whether a take-back asks for a passkey: %s', async (_, days, day, asks) => {
    const { email, id, phone, wait } = await addOnPhone(...days);
    await wait(day);
    expect(await page(phone)).toBe(asks);
    const link = await changes.change(phone, email, changes.newEmail());
    changes.passTime(dayMs);
    expect((await changes.undo(link)).status).toBe(asks ? 422 : 303);
    expect((await changes.emailOf(id)) === email).toBe(!asks);
  });

  it('says so also of one that was added just now, in a browser that they have used for a week', async () => {
    const { email, browser } = await rob();
    await browser.login(email, password);
    expect(await page(browser)).toBe(false);
    await addPasskey(browser);
    expect(await page(browser)).toBe(true);
  });
});

describe('a link of a mail', () => {
  it('about the first credential of an account does not take it back, whether it is a password or a passkey (contract 2.38)', async () => {
    const { email } = await changes.signUp();
    const [browser, byPasskey] = [openBrowser(changes.app.send), changes.newEmail()];
    await browser.send('/signup', { form: { name: 'Cora', email: byPasskey }, from: changes.from() });
    const token = await readToken(changes.other, byPasskey, 'sign_up');
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'arrive', token), origin);
    const path = `/signup/confirm?token=${token}`;
    expect((await browser.send(path, { form: { name: 'Cora', passkey } })).status).toBe(303);
    for (const each of [email, byPasskey])
      expect(
        (await sql`select from take_back_changes where email = ${each}`.execute(changes.app.db)).rows,
      ).toEqual([]);
    // The owner gets a mail about the second passkey.
    await addPasskey(browser);
    expect(await linkOf(changes, byPasskey, 'passkey_added')).toMatch(/^\/take-back\?token=/);
  });

  it('that is none of ours, or that no longer works, is 404, also for the options of a passkey', async () => {
    const { email, thief, owner } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const other = `/take-back?token=${'A'.repeat(43)}`;
    expect((await owner.send(link, { form: { newPassword } })).status).toBe(303);
    for (const dead of [link, other, '/take-back', `${link}A`]) {
      const answers = [
        await owner.send(dead),
        await owner.send(dead, { form: { newPassword } }),
        await owner.send(dead, { form: { intent: 'freeze' } }),
        await owner.send('/passkeys/options', {
          form: { purpose: 'take-back', token: dead.split('=')[1] ?? '' },
        }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    }
  });

  it('stands still while its user is suspended (contract 2.42)', async () => {
    const { email, id, thief, owner } = await rob();
    await addPasskey(thief);
    const link = await linkOf(changes, email, 'passkey_added');
    const expiry = async () =>
      (
        await sql<{
          at: Date;
        }>`select expires_at as at from mail_tokens where user_id = ${id} and ended is null`.execute(
          changes.app.db,
        )
      ).rows.map(({ at }) => at.getTime());
    const before = await expiry();
    for (const at of ['now()', 'null']) {
      await sql`update users set suspended_at = ${sql.raw(at)} where id = ${id}`.execute(changes.app.db);
      const refused = await owner.send(link, { form: { newPassword }, headers: json });
      if (at !== 'null') expect([refused.status, codeOf(refused)]).toEqual([403, 'account_suspended']);
      else expect(refused.status).toBe(303);
      if (at !== 'null')
        for (const time of await expiry()) expect(time).toBeGreaterThan(Date.parse('3000-01-01'));
    }
    expect(before).toHaveLength(1);
  });

  it('stands still also for what its user is told of while they are suspended', async () => {
    const { email, id } = await changes.signUp();
    const left = async () => {
      const { rows } = await sql<{ hours: number; device: string | null }>`
        select round(extract(epoch from expires_at - now()) / 3600)::int as hours from take_back_changes
          where user_id = ${id}`.execute(changes.app.db);
      return rows.map(({ hours }) => hours);
    };
    for (const command of ['user:suspend', 'user:delete'])
      expect((await runCli(changes.app.databaseUrl, [command, email])).code).toBe(0);
    // While a user is suspended, the remaining time is stored as a time after the year 3000. Commands use the machine's clock.
    changes.passTime(60 * 60_000);
    expect((await left())[0]).toBeGreaterThan(24 * 365 * 900);
    const link = await linkOf(changes, email, 'deletion_requested');
    expect((await changes.app.send(link)).status).toBe(403);
    expect((await runCli(changes.app.databaseUrl, ['user:resume', email])).code).toBe(0);
    expect(await left()).toEqual([7 * 24]);
    expect((await changes.app.send(link)).status).toBe(200);
  });

  it('of the version before works for 168 hours, whatever the time zone of the connection', async () => {
    const { email, id, browser } = await changes.signUp();
    await changes.change(browser, email, changes.newEmail());
    const hours = await changes.app.db.transaction().execute(async (trx) => {
      // The period spans the end of summer time.
      await sql`set local time zone 'Europe/Berlin'`.execute(trx);
      await sql`insert into reserved_addresses (email, user_id, expires_at)
        values (${changes.newEmail()}, ${id}, '2026-10-28T12:00:00Z')`.execute(trx);
      const { rows } = await sql<{ hours: number }>`
        select (extract(epoch from expires_at - at) / 3600)::int as hours from take_back_changes
          where user_id = ${id} and expires_at = '2026-10-28T12:00:00Z'`.execute(trx);
      return rows.map((row) => row.hours);
    });
    expect(hours).toEqual([168]);
  });
});
