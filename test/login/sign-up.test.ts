import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { cookieOf, fieldOf, isLoggedIn, logIn, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { countRows, digestRows, findEmptyAccounts } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';
import { linkIn } from '../support/people/mail-server.ts';
import { shared } from '../support/run/shared.ts';

const newPassword = 'seven quiet lanterns';
const start = new Date();
let now = start;
const app = shared(() => openApp({ now: () => now }));
const instance = shared(() => app.startInstance());
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now: () => now }));
beforeEach(() => {
  now = start;
});

let serial = 0;
const newEmail = () => `new-${serial++}@example.test`;
/** An IP address in a network of its own. */
const from = () => `10.${serial++ % 250}.${serial % 250}.1`;

const ask = (email: string, { name = 'Nia New', query = '' } = {}) =>
  app.send(`/signup${query}`, { form: { name, email }, from: from() });

async function askForLink(email: string, options?: Parameters<typeof ask>[1]): Promise<string> {
  expect((await ask(email, options)).status).toBe(303);
  const [mail] = await readMails(other, email);
  const { pathname, search } = linkIn(mail ?? {}, '/signup/confirm');
  return pathname + search;
}

const create = (link: string, send = app.send, name = 'Nia New') =>
  send(link, { form: { name, newPassword } });

const findUsers = async (email: string) =>
  (
    await sql<{ id: string; name: string; account: string; holds_email: boolean; verified: Date | null }>`
      select u.id, u.name, a.name as account, holds_email, email_verified_at as verified
      from users u join accounts a on a.id = u.account_id where email = ${email}`.execute(app.db)
  ).rows;

describe('a sign-up (contract 2.13 and 2.14)', () => {
  it('makes the user when the link is used, with the name typed there, and logs them in (contract 11.11)', async () => {
    const email = newEmail();
    const before = await digestRows(app.db, ['users', 'accounts']);
    const link = await askForLink(email);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await app.send(link, { method })).status).toBe(200);
    expect(await digestRows(app.db, ['users', 'accounts'])).toBe(before);

    const page = await app.send(link);
    expect(textOf(page)).toContain(`Create your account For ${email}`);
    expect(fieldOf(page, 'name').value).toBe('Nia New');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const scripts = page.text.match(/<script\b[^>]*>/g) ?? [];
    expect(scripts.filter((tag) => !/ src="\/assets\//.test(tag))).toEqual([]);

    const done = await create(link, app.send, '  Nia Renamed ');
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=signed-up']);
    const cookie = cookieOf(done);
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
    const activity = textOf(await app.send('/profile/activity', { cookie }));
    expect(activity).toMatch(/Signed up .* UTC · By you/);
    expect(activity).not.toContain('Role');
    expect(await findUsers(email)).toEqual([
      expect.objectContaining({
        name: 'Nia Renamed',
        account: 'Nia Renamed',
        holds_email: true,
        verified: now,
      }),
    ]);
    const launched = locationOf(await app.send('/sso/launch/marketplace', { cookie }));
    expect(launched.searchParams.has('payload')).toBe(true);
    await app.login(email, newPassword);
    const [user] = await findUsers(email);
    const { rows } = await sql<{ reason: string; address: string }>`
      select reason, host(address::inet) as address from audit_events
      where type = 'user.created' and user_id = ${user?.id}`.execute(app.db);
    expect(rows).toEqual([{ reason: 'sign_up', address: '192.0.2.1' }]);
    expect((await create(link)).status).toBe(404);
    expect(textOf(await app.send(link))).toContain('You have already used this link');
  });

  it('makes one user of 16 clicks at once, on two instances', async () => {
    const email = newEmail();
    const link = await askForLink(email);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => create(link, (at % 2 ? app : instance).send)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    for (const status of statuses) expect([303, 404, 409]).toContain(status);
    expect(await findUsers(email)).toHaveLength(1);
    expect(await findEmptyAccounts(app.db)).toEqual([]);
  });

  it('makes one user of several links to one address, the first that is used', async () => {
    const email = newEmail();
    for (let n = 0; n < 3; n++) await ask(email);
    const mails = await readMails(other, email, 3);
    const links = mails
      .map((mail) => linkIn(mail, '/signup/confirm'))
      .map((url) => url.pathname + url.search);
    const answers = await Promise.all(links.map((link) => create(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409]);
    const late = answers.find(({ status }) => status === 409) as Answer;
    expect(textOf(late)).toContain('You already have an account');
    expect(late.headers.get('set-cookie')).toBeNull();
    expect(await findUsers(email)).toHaveLength(1);
  });

  it('works for an hour and not after', async () => {
    const link = await askForLink(newEmail());
    now = new Date(start.getTime() + 3_599_000);
    expect((await app.send(link)).status).toBe(200);
    now = new Date(start.getTime() + 3_601_000);
    expect((await app.send(link)).status).toBe(404);
    expect((await create(link)).status).toBe(404);
  });

  it('reserves nothing: the first person to prove the address gets it, and the link then changes nothing', async () => {
    for (const take of [
      async (email: string) =>
        expect(
          (await sendSignup(app, buildSignup('first', { user: { email, name: 'First' } }, now), { at: now }))
            .status,
        ).toBe(201),
      async (email: string) =>
        expect((await app.send(await buildHandOff(app, { id: `first-${email}`, email }, now))).status).toBe(
          303,
        ),
    ]) {
      const email = newEmail();
      const link = await askForLink(email);
      await take(email);
      const [holder] = await findUsers(email);
      expect(holder).toMatchObject({ holds_email: true });
      const unsent = sql`select from mails where sent_at is null`;
      await expect.poll(async () => (await unsent.execute(app.db)).rows).toEqual([]);
      const before = await digestRows(app.db, ['users', 'accounts', 'sessions', 'mail_tokens']);
      const page = await app.send(link);
      expect(textOf(page)).toContain(`There is already an account with the address ${email}`);
      expect((await create(link)).status).toBe(409);
      expect(await digestRows(app.db, ['users', 'accounts', 'sessions', 'mail_tokens'])).toBe(before);
    }
  });

  it('makes a holder beside users who have only typed the address, and they get nothing of it', async () => {
    const email = newEmail();
    await app.send(await buildHandOff(app, { id: 'typed', email, emailVerified: false }, now));
    const link = await askForLink(email);
    expect((await create(link)).status).toBe(303);
    const users = await findUsers(email);
    expect(users.map(({ holds_email }) => holds_email).sort()).toEqual([false, true]);
  });

  it('explains what it refuses, keeps what was typed, and the link still works', async () => {
    const email = newEmail();
    const link = await askForLink(email);
    const refused = await app.send(link, { form: { name: ' ', newPassword } });
    expect([refused.status, fieldOf(refused, 'name').isInvalid]).toEqual([422, true]);
    for (const weak of ['', 'short', 'password1234', email]) {
      const answer = await app.send(link, { form: { name: 'Kept Name', newPassword: weak } });
      expect(answer.status).toBe(422);
      expect(fieldOf(answer, 'newPassword').isInvalid).toBe(true);
      expect(fieldOf(answer, 'name').value).toBe('Kept Name');
      expect(fieldOf(answer, 'newPassword').value).toBeUndefined();
    }
    expect(await findUsers(email)).toEqual([]);
    const headers = { origin: 'https://evil.example' };
    expect((await app.send(link, { form: { name: 'X', newPassword }, headers })).status).toBe(403);
    expect((await create(link)).status).toBe(303);
  });

  it.each(['', '?token=', '?token=x', `?token=${'A'.repeat(43)}`, '?token=%00'])(
    'shows a dead link for the query %j',
    async (query) => {
      expect((await app.send(`/signup/confirm${query}`)).status).toBe(404);
      expect((await create(`/signup/confirm${query}`)).status).toBe(404);
    },
  );

  it('takes no link of another purpose, nor does its link set a password', async () => {
    const email = newEmail();
    const link = await askForLink(email);
    const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
    expect((await app.send(`/set-password?token=${token}`)).status).toBe(404);
    expect((await app.send(`/take-back?token=${token}`)).status).toBe(404);
    await app.send('/forgot-password', { form: { email: 'admin@example.test' } });
    const foreign = await readToken(other, 'admin@example.test', 'set_password');
    expect((await create(`/signup/confirm?token=${foreign}`)).status).toBe(404);
  });
});

describe('the form', () => {
  it('refuses what is no name or address, at its field, and keeps both', async () => {
    const refused = await app.send('/signup?next=/sso/launch/marketplace', {
      form: { name: '', email: 'nobody' },
    });
    expect(refused.status).toBe(422);
    expect(fieldOf(refused, 'name').isInvalid).toBe(true);
    expect(fieldOf(refused, 'email')).toMatchObject({ isInvalid: true, value: 'nobody' });
    expect(textOf(refused)).toContain('Enter an email address in the correct format');
    expect(textOf(refused)).toContain('To continue to Marketplace');
  });

  it('is linked from the login and back, and both keep where the person was going', async () => {
    const next = encodeURIComponent('/sso/launch/marketplace?state=s1');
    expect((await app.send(`/login?next=${next}`)).text).toContain(`href="/signup?next=${next}"`);
    expect((await app.send(`/signup?next=${next}`)).text).toContain(`href="/login?next=${next}"`);
    expect((await app.send('/signup?next=https://evil.example')).text).toContain('href="/login"');
    const dead = await app.send(`/signup/confirm?token=used&next=${next}`);
    expect(dead.text).toContain(`href="/signup?next=${next}"`);
    const evil = await app.send('/signup/confirm?token=used&next=https://evil.example');
    expect(evil.text).toContain('href="/signup"');
    const cookie = await app.login('customer@example.test');
    expect((await app.send('/signup', { cookie })).headers.get('location')).toBe('/profile');
  });

  it('mails a link that goes on to the client, without what a stranger could have chosen (contract 9.119)', async () => {
    const email = newEmail();
    const lure = 'Unlock at https://evil.example';
    const query = `?next=${encodeURIComponent(`/sso/launch/marketplace?return_to=/${'pay'.repeat(3)}`)}`;
    const link = await askForLink(email, { name: lure, query });
    expect(link).toMatch(/&next=%2Fsso%2Flaunch%2Fmarketplace$/);
    const [mail] = await readMails(other, email);
    expect(mail?.text).not.toContain('evil');
    expect(mail?.text).not.toContain('pay');
    expect(mail?.subject).toBe('Create your account – Identity');
    // The row of the sent mail does not keep the parameter.
    const { rows } = await sql<{
      details: object;
    }>`select details from mails where recipient = ${email}`.execute(app.db);
    expect(JSON.stringify(rows)).not.toContain('evil');
    expect(fieldOf(await app.send(link), 'name').value).toBe(lure);
    expect((await create(link)).headers.get('location')).toBe('/go?next=%2Fsso%2Flaunch%2Fmarketplace');
    expect(
      (await create(await askForLink(newEmail(), { query: '?next=https://evil.example' }))).headers.get(
        'location',
      ),
    ).toBe('/profile?saved=signed-up');
  });
});

/** Returns the cookie that carries the typed email address to the next page. A sign-up has another cookie for the name. */
function typedIn({ headers }: { headers: Headers }): string {
  const [cookie, ...more] = headers.getSetCookie();
  for (const each of more) expect(each).toMatch(/^identity_typed_name=[^;]+; HttpOnly; Max-Age=600/);
  expect(cookie).toMatch(/^identity_typed_email=[^;]+; .*HttpOnly; .*Max-Age=600/);
  return cookie?.split(';')[0] ?? '';
}

describe('the page that says that a mail is on its way', () => {
  it.each([
    ['/signup?sent', 'We have sent an email to'],
    ['/forgot-password?sent', 'If there is an account for'],
  ])('at %s shows the address that this browser has typed, and nothing else', async (path, words) => {
    const form = { name: 'Sally', email: ' Sally+<b>@Example.test' };
    const refused = await app.send(path, { form });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([422, []]);
    const asked = await app.send(path, { form: { ...form, email: 'Sally+1@Example.test' } });
    expect(asked.status).toBe(303);
    expect(textOf(await app.send(path, { cookie: typedIn(asked) }))).toContain(
      `${words} sally+1@example.test`,
    );
    for (const forged of ['', 'nobody', '%3Cb%3Ebuy%3C%2Fb%3E%40example.test', 'call%20us%20a%40b.test', '%'])
      expect(textOf(await app.send(path, { cookie: `identity_typed_email=${forged}` }))).toContain(
        `${words} th${path.startsWith('/signup') ? 'e address that you entered' : 'at address'}`,
      );
  });
});

describe('who has an account', () => {
  it('is not told by the answer (contract 2.17)', async () => {
    await sql`update users set password_hash = null where email = 'new-merchant@example.test'`.execute(
      app.db,
    );
    await app.send(
      await buildHandOff(
        app,
        { id: 'typed-only', email: 'typed-only@example.test', emailVerified: false },
        now,
      ),
    );
    const looks = [];
    for (const name of ['merchant', 'new-merchant', 'suspended', 'typed-only', 'nobody']) {
      const startedAt = performance.now();
      const typed = `${name}@example.test`;
      const asked = await ask(typed);
      expect(performance.now() - startedAt).toBeGreaterThan(290);
      const page = await app.send(asked.headers.get('location') ?? '', { cookie: typedIn(asked) });
      // The page shows the typed email address. Everything else is the same.
      expect(textOf(page)).toContain(`We have sent an email to ${typed} .`);
      const shown = textOf(page).replace(typed, 'TYPED');
      const headers = [...asked.headers].filter(([header]) => header !== 'x-request-id');
      looks.push([asked.status, headers.map(([header]) => header), asked.text, shown]);
    }
    for (const look of looks) expect(look).toEqual(looks[0]);
  });

  it('is told to the holder, by a mail with their way in (contract 2.16)', async () => {
    await ask('manager@example.test', { query: '?next=/sso/launch/crm_app' });
    const [mail] = await readMails(other, 'manager@example.test');
    expect(mail?.subject).toBe('You already have an account – Identity');
    expect(linkIn(mail ?? {}, '/login').search).toBe('?next=%2Fsso%2Flaunch%2Fcrm_app');
    // People without a password get a link to set one.
    const signup = buildSignup('not-arrived', {}, now);
    await pushSignup(app, signup, { at: now });
    await ask(signup.user.email);
    const mails = await readMails(other, signup.user.email, 2);
    expect(mails.map(({ subject }) => subject).sort()).toEqual([
      'Set a new password – Identity',
      'Set a password for your new account – Identity',
    ]);
    await ask('suspended@example.test');
    await readMails(other, 'suspended@example.test', 0);
  });

  it('cannot be found out by asking often: the limits of mails count, together with those of passwords', async () => {
    for (const email of ['customer@example.test', 'no-customer@example.test']) {
      const paths = ['/signup', '/forgot-password'];
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, at) =>
          app.send(paths[at % 2] ?? '', { form: { name: 'Nia', email } }),
        ),
      );
      // One more mail is allowed because it sets a password.
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(6).fill(303),
        ...Array(10).fill(429),
      ]);
      const limited = await app.send('/signup', { form: { name: 'Nia', email } });
      expect([limited.status, fieldOf(limited, 'email').value]).toEqual([429, email]);
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('grows neither users nor audit events', async () => {
    const before = [await countRows(app.db, 'users'), await countRows(app.db, 'audit_events')];
    await ask(newEmail());
    expect([await countRows(app.db, 'users'), await countRows(app.db, 'audit_events')]).toEqual(before);
  });
});

describe('IDENTITY_SIGN_UP=closed', () => {
  it('turns sign-up off, and the login says how one gets an account (contract 2.20)', async () => {
    const link = await askForLink(newEmail());
    const env = { IDENTITY_SIGN_UP: 'closed', IDENTITY_SUPPORT_URL: 'mailto:help@example.test' };
    const closed = await app.startInstance({ env });
    const html = { accept: 'text/html' };
    for (const path of ['/signup', link]) {
      const page = await closed.send(path, { headers: html });
      expect(page.status).toBe(404);
      expect(textOf(page)).toContain('You cannot create an account here yourself');
      expect(page.text).toContain('href="mailto:help@example.test"');
      // Nobody is logged in, so the page has no link to a profile.
      expect(page.text).toMatch(/<a class="button" href="\/login">Log in<\/a>/);
      expect(codeOf(await closed.send(path))).toBe('not_configured');
    }
    const email = newEmail();
    const asked = await closed.send('/signup', { form: { name: 'Nia', email } });
    expect([asked.status, codeOf(asked)]).toEqual([404, 'not_configured']);
    expect((await create(link, closed.send)).status).toBe(404);
    await readMails(other, email, 0);
    const login = await closed.send('/login');
    expect(login.text).not.toContain('/signup');
    const words = 'You cannot create an account here yourself.';
    expect(textOf(login)).toContain(`${words} Contact support to get one.`);
    const alone = await app.startInstance({ env: { IDENTITY_SIGN_UP: 'closed' } });
    for (const path of ['/login', '/signup']) {
      const page = textOf(await alone.send(path, { headers: html }));
      expect(page).toContain(words);
      expect(page).not.toContain('upport');
    }
    expect((await create(link)).status).toBe(303);
  });
});

it('a browser that was logged in as somebody else is logged in as the new user', async () => {
  const email = newEmail();
  const link = await askForLink(email);
  const browser = await logIn(app.send, 'admin@example.test');
  const before = browser.cookie();
  await browser.send(link, { form: { name: 'Nia', newPassword } });
  expect(await browser.whoAmI()).toBe(email);
  expect(await isLoggedIn(app.send, before)).toBe(false);
});
