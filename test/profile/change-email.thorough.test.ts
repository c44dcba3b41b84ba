import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { locationOf } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, fieldOf, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { digestRows } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';

const changes = shareAddressChanges();

const ends: [after: string, end: (browser: Browser) => Promise<void>][] = [
  [
    'a new password',
    async (browser) => {
      const form = { intent: 'password', currentPassword: password, newPassword };
      expect((await browser.send('/profile/security', { form })).status).toBe(303);
    },
  ],
  ['an hour', async () => changes.passTime(60 * 60_000 + 1_000)],
];

describe('a change of address (contract 2.28, 2.29 and 2.33)', () => {
  it('happens when the link is used, moves profile_updated_at, and tells the old address', async () => {
    const { browser, email, id } = await changes.signUp();
    const fresh = changes.newEmail();
    const profile = async () => JSON.parse((await browser.send('/sso/profile')).text);
    const before = await profile();
    const link = await changes.askForLink(browser, fresh);
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await browser.send(link, { method })).status).toBe(200);
    expect(textOf(await browser.send(link))).toContain(`Change it to ${fresh}`);
    expect((await browser.send(link)).headers.get('referrer-policy')).toBe('no-referrer');
    expect(await profile()).toEqual(before);

    expect((await changes.click(browser, link)).status).toBe(303);
    const after = await profile();
    expect(after).toMatchObject({ id, email: fresh });
    expect(after.profile_updated_at > before.profile_updated_at).toBe(true);
    expect(textOf(await browser.send('/profile?saved=email-changed'))).toContain(
      'Your email address has been changed',
    );
    expect(await changes.eventsOf(id)).toEqual(
      expect.arrayContaining(['email.change_requested', 'email.changed']),
    );
    expect(
      (await changes.app.send('/login', { form: { email, password }, from: changes.from() })).status,
    ).toBe(401);
    await changes.app.login(fresh, password);
    const mail = (await readMails(changes.other, email, 2)).at(-1);
    expect(mail?.subject).toBe('Your email address has changed – Identity');
    const until = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    expect(mail?.text).toContain(`until ${until.format(new Date(changes.clock.now.getTime() + 7 * dayMs))}`);
    expect(mail?.text).not.toContain(fresh);
    expect((await changes.click(browser, link)).status).toBe(404);
  });

  it('needs a credential of the last ten minutes, and keeps what was typed', async () => {
    const { browser } = await changes.signUp();
    const fresh = changes.newEmail();
    changes.passTime(11 * 60_000);
    const asked = await changes.ask(browser, fresh);
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Confirm it’s you');
    expect(fieldOf(asked, 'email').value).toBe(fresh);
    const wrong = await browser.send('/profile/email', { form: { email: fresh, confirmPassword: 'wrong' } });
    expect(wrong.status).toBe(401);
    await readMails(changes.other, fresh, 0);
    const right = await browser.send('/profile/email', { form: { email: fresh, confirmPassword: password } });
    expect(right.status).toBe(303);
    await readToken(changes.other, fresh, 'change_email');
  });

  it('needs one from programs, too', async () => {
    const { browser } = await changes.signUp();
    changes.passTime(11 * 60_000);
    const client = openClient(changes.app.send, browser.cookie());
    const refusal = await refusalOf(client.email.requestChange.mutate({ email: changes.newEmail() }));
    expect(refusal.problem).toBe('login_required');
  });

  it('takes an address that is held, and a credential of one’s own', async () => {
    const typed = openBrowser(changes.app.send);
    const handOff = { id: 'typed', email: changes.newEmail(), emailVerified: false };
    await typed.send(
      (await typed.send(await buildHandOff(changes.app, handOff, changes.clock.now))).headers.get(
        'location',
      ) ?? '',
      { form: {} },
    );
    expect(textOf(await typed.send('/profile/email'))).toContain('Verify your email address first');
    const bare = openBrowser(changes.app.send);
    const verified = { id: 'bare', email: changes.newEmail() };
    await bare.send(
      (await bare.send(await buildHandOff(changes.app, verified, changes.clock.now))).headers.get(
        'location',
      ) ?? '',
      {
        form: {},
      },
    );
    expect(textOf(await bare.send('/profile/email'))).toContain('Set a password first');
    for (const browser of [typed, bare]) {
      const fresh = changes.newEmail();
      expect((await changes.ask(browser, fresh)).status).toBe(401);
      const client = openClient(changes.app.send, browser.cookie());
      const refusal = await refusalOf(client.email.requestChange.mutate({ email: fresh }));
      expect(refusal.problem).toBe('email_unverified');
      await readMails(changes.other, fresh, 0);
    }
    expect((await openBrowser(changes.app.send).send('/profile/email')).headers.get('location')).toBe(
      '/login?next=%2Fprofile%2Femail',
    );
  });

  it('refuses what is no address, and one’s own', async () => {
    const { browser, email } = await changes.signUp();
    for (const typed of ['nobody', email, ` ${email}`, email.toUpperCase()]) {
      const refused = await changes.ask(browser, typed);
      expect(refused.status).toBe(422);
      expect(fieldOf(refused, 'email')).toMatchObject({ isInvalid: true, value: typed });
    }
  });

  it('works once of 16 clicks at once, on two instances', async () => {
    const { browser, id } = await changes.signUp();
    const fresh = changes.newEmail();
    const link = await changes.askForLink(browser, fresh);
    const cookie = browser.cookie();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        (at % 2 ? changes.app : changes.instance).send(link, { form: {}, cookie }),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 303)).toHaveLength(1);
    for (const { status } of answers) expect([303, 404, 409]).toContain(status);
    expect(await changes.emailOf(id)).toBe(fresh);
    expect((await changes.eventsOf(id)).filter((type) => type === 'email.changed')).toHaveLength(1);
  });

  it('goes to one of 16 users who ask for the same address', async () => {
    const fresh = changes.newEmail();
    const people = [];
    // One email address gets up to five mails an hour.
    for (let n = 0; n < 5; n++) people.push(await changes.signUp());
    const links: URL[] = [];
    for (const { browser } of people) expect((await changes.ask(browser, fresh)).status).toBe(303);
    const mails = await readMails(changes.other, fresh, 5);
    for (const { text } of mails) links.push(new URL(/^http\S+$/m.exec(text)?.[0] ?? ''));
    const clicks = people.flatMap(({ browser }) =>
      links.map((link) =>
        changes.app.send(link.pathname + link.search, { form: {}, cookie: browser.cookie() }),
      ),
    );
    const statuses = (await Promise.all(clicks)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(await changes.holdersOf(fresh)).toHaveLength(1);
  });

  it('needs a session of that user, so a stranger who got the mail by mistake cannot take the account', async () => {
    const { browser, email, id } = await changes.signUp();
    const link = await changes.askForLink(browser, changes.newEmail());
    const stranger = openBrowser(changes.app.send);
    expect(locationOf(await stranger.send(link)).pathname).toBe('/login');
    expect(locationOf(await changes.click(stranger, link)).pathname).toBe('/login');
    await stranger.login('merchant@example.test');
    expect((await stranger.send(link)).status).toBe(404);
    expect((await changes.click(stranger, link)).status).toBe(404);
    expect(await changes.emailOf(id)).toBe(email);
    const elsewhere = openBrowser(changes.app.send);
    const { pathname, search } = locationOf(await elsewhere.send(link));
    const back = await elsewhere.login(email, password, pathname + search);
    expect(back.headers.get('location')).toBe(link);
    expect((await changes.click(elsewhere, link)).status).toBe(303);
  });

  it.each([
    ['a newer request', async (browser: Browser) => void (await changes.ask(browser, changes.newEmail()))],
    ...ends,
  ])('is off after %s', async (_, end) => {
    const { browser, email, id } = await changes.signUp();
    const link = await changes.askForLink(browser, changes.newEmail());
    await end(browser);
    expect((await changes.click(browser, link)).status).toBe(404);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('fails if somebody holds the address by then: the first wins, and nothing changes', async () => {
    const { browser, email, id } = await changes.signUp();
    const fresh = changes.newEmail();
    const link = await changes.askForLink(browser, fresh);
    const user = { email: fresh, name: 'First' };
    await pushSignup(changes.app, buildSignup(`first-${id}`, { user }, changes.clock.now), {
      at: changes.clock.now,
    });
    await readMails(changes.other, fresh, 2);
    const before = await digestRows(changes.app.db, [
      'users',
      'mail_tokens',
      'reserved_addresses',
      'audit_events',
    ]);
    expect(textOf(await browser.send(link))).toContain('Another account already uses');
    expect((await changes.click(browser, link)).status).toBe(409);
    expect(
      await digestRows(changes.app.db, ['users', 'mail_tokens', 'reserved_addresses', 'audit_events']),
    ).toBe(before);
    expect(await changes.emailOf(id)).toBe(email);
  });

  it('ends the links in mails to the old address', async () => {
    const { browser, email, id } = await changes.signUp();
    await changes.app.send('/forgot-password', { form: { email }, from: changes.from() });
    const token = await readToken(changes.other, email, 'set_password', 2);
    await changes.change(browser, email, changes.newEmail());
    expect((await changes.app.send(`/set-password?token=${token}`)).status).toBe(404);
    expect((await changes.app.send(`/set-password?token=${token}`, { form: { newPassword } })).status).toBe(
      404,
    );
    const { rows } = await sql`select from mail_tokens where user_id = ${id}
      and purpose <> 'undo_email_change' and ended is null`.execute(changes.app.db);
    expect(rows).toEqual([]);
  });
});

describe('the holder of the new address (contract 2.31)', () => {
  it('is not told by the answer', async () => {
    await sql`update users set password_hash = null where email = 'new-merchant@example.test'`.execute(
      changes.app.db,
    );
    await changes.app.send(
      await buildHandOff(
        changes.app,
        { id: 'typed-only', email: 'typed-only@example.test', emailVerified: false },
        changes.clock.now,
      ),
    );
    const { browser } = await changes.signUp();
    const looks = [];
    for (const name of ['merchant', 'new-merchant', 'suspended', 'typed-only', 'nobody']) {
      const startedAt = performance.now();
      const typed = `${name}@example.test`;
      const asked = await changes.ask(browser, typed);
      expect(performance.now() - startedAt).toBeGreaterThan(290);
      const pages = [asked.headers.get('location') ?? '', '/profile'];
      const texts = [];
      for (const page of pages) texts.push(textOf(await browser.send(page)));
      // The pages show the typed address, and are alike in everything else.
      for (const text of texts) expect(text).toContain(typed);
      const shown = texts.map((text) => text.replaceAll(typed, 'TYPED'));
      const given = await changes.cancel(browser);
      looks.push([asked.status, [...asked.headers.keys()], asked.text, shown, given]);
    }
    for (const look of looks) expect(look).toEqual(looks[0]);
    const [mail] = await readMails(changes.other, 'merchant@example.test');
    expect(mail?.subject).toBe('You already have an account – Identity');
    await readMails(changes.other, 'suspended@example.test', 0);
  });
});

describe('a change that waits for its link (contract 2.32)', () => {
  const waitingText = 'Open the link we sent to this address.';
  const profileOf = async (browser: Browser) => textOf(await browser.send('/profile'));

  it('is shown to its own user only, until the link is used', async () => {
    const { browser } = await changes.signUp();
    const { browser: stranger } = await changes.signUp();
    const fresh = changes.newEmail();
    expect(await profileOf(browser)).not.toContain(waitingText);
    const link = await changes.askForLink(browser, fresh);
    expect(await profileOf(browser)).toContain(`${fresh} ${waitingText} It works until`);
    expect(textOf(await browser.send('/profile/email?sent'))).toContain(`We have sent an email to ${fresh}`);
    expect(await openClient(changes.app.send, browser.cookie()).email.pendingChange.query()).toMatchObject({
      email: fresh,
    });
    for (const page of ['/profile', '/profile/email?sent'])
      expect(textOf(await stranger.send(page))).not.toContain(fresh);
    expect((await changes.click(browser, link)).status).toBe(303);
    expect(await profileOf(browser)).not.toContain(waitingText);
  });

  it('shows the newest address, and its link can be sent again', async () => {
    const { browser, id } = await changes.signUp();
    const fresh = changes.newEmail();
    await changes.askForLink(browser, changes.newEmail());
    const first = await changes.askForLink(browser, fresh);
    const shown = await browser.send('/profile');
    expect(textOf(shown).split(waitingText)).toHaveLength(2);
    expect(textOf(shown)).toContain(fresh);
    expect((await browser.send('/profile/email', { form: { intent: 'again' } })).status).toBe(303);
    const token = await readToken(changes.other, fresh, 'change_email', 2);
    expect((await changes.click(browser, first)).status).toBe(404);
    expect((await changes.click(browser, `/profile/email/confirm?token=${token}`)).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(fresh);
  });

  it.each(ends)('is shown no more after %s', async (_, end) => {
    const { browser } = await changes.signUp();
    await changes.askForLink(browser, changes.newEmail());
    await end(browser);
    expect(await profileOf(browser)).not.toContain(waitingText);
  });

  it('can be given up: its link is dead, and that is said once, also 16 times at once', async () => {
    const { browser, email, id } = await changes.signUp();
    const link = await changes.askForLink(browser, changes.newEmail());
    const cookie = browser.cookie();
    const form = { intent: 'cancel-email' };
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        (at % 2 ? changes.app : changes.instance).send('/profile', { form, cookie }),
      ),
    );
    for (const answer of answers)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile?saved=cancel-email']);
    const page = textOf(await browser.send('/profile?saved=cancel-email'));
    expect(page).toContain('Your email address has not changed. The link we sent no longer works.');
    expect(page).not.toContain(waitingText);
    expect((await changes.click(browser, link)).status).toBe(404);
    expect(await changes.emailOf(id)).toBe(email);
    expect((await changes.eventsOf(id)).filter((type) => type === 'email.change_canceled')).toHaveLength(1);
    expect(textOf(await browser.send('/profile/activity'))).toContain('Canceled the change');
  });

  it('is not mailed where it was given up before that', async () => {
    const { browser } = await changes.signUp();
    const fresh = changes.newEmail();
    await changes.askForLink(browser, fresh);
    // Makes the row as it is while the mail server has not accepted the mail.
    await sql`update mails set sent_at = null, next_attempt_at = 'infinity' where recipient = ${fresh}`.execute(
      changes.app.db,
    );
    expect(await changes.cancel(browser)).toEqual([303, '/profile?saved=cancel-email']);
    expect(await changes.countMails(fresh)).toBe(0);
  });
});
