// Pages of dead links from mails (contract 9.202 to 9.206): what became of the link, and one next step that works.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { readMails } from '../support/people/kept-mail.ts';
import { linkIn } from '../support/people/mail-server.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';
const newPassword = 'seven quiet lanterns';
const hour = 60 * 60 * 1_000;

let now = new Date();
const app = shared(() => openApp({ now: () => now }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now: () => now }));
beforeEach(async () => {
  now = new Date();
  await sql`truncate rate_limits`.execute(app.db);
});

let serial = 0;
const newEmail = () => `dead-${serial++}@example.test`;
const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

/** The path of the newest link that was mailed to an email address. */
async function linkTo(email: string, page: string, count = 1): Promise<string> {
  const { pathname, search } = linkIn((await readMails(other, email, count)).at(-1) ?? {}, page);
  return pathname + search;
}

async function askToSignUp(email: string): Promise<string> {
  await app.send('/signup', { form: { name: 'Dee Dead', email } });
  return linkTo(email, '/signup/confirm');
}

/** Somebody new, with a password, in a browser of theirs. */
async function signUp(): Promise<{ email: string; browser: Browser; link: string }> {
  const email = newEmail();
  const link = await askToSignUp(email);
  const browser = openBrowser(app.send);
  expect((await browser.send(link, { form: { name: 'Dee Dead', newPassword } })).status).toBe(303);
  await sql`delete from mails where recipient = ${email}`.execute(app.db);
  return { email, browser, link };
}

async function forget(email: string, count = 1): Promise<string> {
  await app.send('/forgot-password', { form: { email } });
  return linkTo(email, '/set-password', count);
}

async function askToChange(browser: Browser, email: string): Promise<string> {
  expect((await browser.send('/profile/email', { form: { email } })).status).toBe(303);
  return linkTo(email, '/profile/email/confirm');
}

/**
 * Returns the words of the card, and where its one button leads. If the button is of a form, returns what the form sends, too.
 */
async function read(link: string, send: TestApp['send'] = app.send) {
  const answer = await send(link);
  const [card = ''] = /<div class="card">[\s\S]*?<\/main>/.exec(answer.text) ?? [];
  const buttons = card.match(/<button|class="button"/g) ?? [];
  expect([answer.status, buttons.length]).toEqual([404, 1]);
  const attribute = (name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(card)?.[1]?.replaceAll('&amp;', '&');
  const fields = Object.fromEntries(
    [...card.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  return {
    title: textOf({ ...answer, text: /<h1>.*?<\/h1>/s.exec(answer.text)?.[0] ?? '' }).trim(),
    words: textOf({ ...answer, text: card }).trim(),
    leadsTo: attribute('action') ?? attribute('href'),
    fields,
    text: answer.text,
  };
}

describe('a link that sets a password', () => {
  it('says that it was used, and leads to the login', async () => {
    const { email } = await signUp();
    const link = await forget(email);
    expect((await app.send(link, { form: { newPassword } })).status).toBe(303);
    expect(await read(link)).toMatchObject({ title: 'You have already used this link', leadsTo: '/login' });
    expect((await app.send(link, { form: { newPassword } })).status).toBe(404);
  });

  it('says that it has expired, and its button asks for a new one to the same address', async () => {
    const { email } = await signUp();
    const link = await forget(email);
    now = new Date(now.getTime() + hour);
    const { title, leadsTo, fields } = await read(link);
    expect([title, leadsTo, fields]).toEqual(['This link has expired', '/forgot-password', { email }]);
    const asked = await app.send(leadsTo ?? '', { form: fields as Record<string, string> });
    expect(asked.headers.get('location')).toBe('/forgot-password?sent');
    expect((await app.send(await linkTo(email, '/set-password', 2))).status).toBe(200);
  });

  it('says that the password was set or changed since, by another link or by its owner', async () => {
    const { email } = await signUp();
    const links = [await forget(email), await forget(email, 2)];
    await app.send(links[1] ?? '', { form: { newPassword } });
    expect((await read(links[0] ?? '')).words).toMatch(/Your password has been set or changed since/);
    const link = await forget(email, 3);
    const owner = await logIn(app.send, email, newPassword);
    const change = { intent: 'password', currentPassword: newPassword, newPassword: 'nine quiet lanterns' };
    expect((await owner.send('/profile/security', { form: change })).status).toBe(303);
    expect(await read(link)).toMatchObject({ leadsTo: '/login' });
    expect((await read(link)).words).toMatch(/Your password has been set or changed since/);
  });

  it('says that the address was changed since, also by SQL', async () => {
    const { email } = await signUp();
    const link = await forget(email);
    await sql`update users set email = ${newEmail()} where email = ${email}`.execute(app.db);
    expect((await read(link)).words).toMatch(/The email address of the account has been changed/);
  });

  it('says that it was withdrawn by a restore, and counts no link twice', async () => {
    const { email } = await signUp();
    const link = await forget(email);
    const restore = () => runCli(app.databaseUrl, ['database:restored']);
    await restore();
    expect((await read(link)).words).toMatch(/We had to cancel all links/);
    expect((await restore()).out).toMatch(/ 0 emails with links withdrawn/);
  });
});

describe('a link of a sign-up', () => {
  it('says that it was used, also to a browser that is not logged in', async () => {
    const { link, browser } = await signUp();
    expect(await read(link)).toMatchObject({ title: 'You have already used this link', leadsTo: '/login' });
    expect((await read(link)).words).toMatch(/ Log in$/);
    expect((await read(link, browser.send)).words).toMatch(/ Continue$/);
  });

  it('says that it has expired, and its button asks again with name and address', async () => {
    const email = newEmail();
    const link = await askToSignUp(email);
    now = new Date(now.getTime() + hour);
    expect(await read(link)).toMatchObject({
      title: 'This link has expired',
      leadsTo: '/signup',
      fields: { name: 'Dee Dead', email },
    });
  });
});

describe('a link of a change of address', () => {
  it.each([
    [
      'a newer request',
      'There is a newer link',
      '/profile',
      (browser: Browser) => askToChange(browser, newEmail()),
    ],
    [
      'the change canceled',
      'This change has been canceled',
      '/profile/email',
      (browser: Browser) => browser.send('/profile', { form: { intent: 'cancel-email' } }),
    ],
  ] as const)('says that it was ended by %s', async (_, title, leadsTo, end) => {
    const { browser } = await signUp();
    const link = await askToChange(browser, newEmail());
    await end(browser);
    expect(await read(link, browser.send)).toMatchObject({ title, leadsTo });
  });

  it('says that it was used, that it has expired, and that it is for another account', async () => {
    const [{ browser }, stranger] = [await signUp(), await signUp()];
    const email = newEmail();
    const link = await askToChange(browser, email);
    const elsewhere = await read(link, stranger.browser.send);
    expect(elsewhere.title).toBe('This link is for another account');
    expect(elsewhere.leadsTo).toBe(`/login?prompt=login&next=${encodeURIComponent(link)}`);
    expect((await browser.send(link, { method: 'POST' })).status).toBe(303);
    expect(await read(link, browser.send)).toMatchObject({
      title: 'You have already used this link',
      leadsTo: '/profile',
    });

    const later = newEmail();
    const expired = await askToChange(browser, later);
    now = new Date(now.getTime() + hour);
    expect(await read(expired, browser.send)).toMatchObject({
      title: 'This link has expired',
      leadsTo: '/profile/email',
      fields: { email: later },
    });
  });
});

it('a link that verifies an address says that it has expired, and its button asks for another', async () => {
  const email = 'unverified@example.test';
  const browser = await logIn(app.send, email, password);
  const asked = await browser.send('/verify-email', { form: {} });
  expect(asked.headers.get('location')).toBe('/verify-email?sent');
  const link = await linkTo(email, '/verify-email/confirm');
  now = new Date(now.getTime() + hour);
  const { title, leadsTo } = await read(link, browser.send);
  expect([title, leadsTo]).toEqual(['This link has expired', '/verify-email']);
});

describe('a token that is not ours', () => {
  const pages = ['/set-password', '/signup/confirm', '/take-back'];

  it.each(pages)('gets one page at %s, whatever it is', async (path) => {
    const { link } = await signUp();
    const ofAnotherPurpose = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
    const tokens = [random(), random(), 'x', '', ...(path === '/signup/confirm' ? [] : [ofAnotherPurpose])];
    const texts = new Set<string>();
    for (const token of tokens) texts.add((await read(`${path}?token=${token}`)).text);
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain('We do not recognise this link');
  });
});

describe('what is kept of a link', () => {
  const rowOf = async (email: string) =>
    (
      await sql<{ ended: string | null; dead: boolean; change: string | null }>`
        select ended, expires_at <= now() as dead, change_id as change
          from mail_tokens where email = ${email} and purpose = 'set_password'`.execute(app.db)
    ).rows;

  it('says how it ended, and never works again, whatever time it has left (contract 9.203)', async () => {
    const { email } = await signUp();
    const link = await forget(email);
    await app.send(link, { form: { newPassword } });
    expect(await rowOf(email)).toEqual([{ ended: 'used', dead: true, change: null }]);
    await sql`update mail_tokens set expires_at = now() + interval '1 day' where email = ${email}`.execute(
      app.db,
    );
    expect((await app.send(link)).status).toBe(404);
    expect((await app.send(link, { form: { newPassword } })).status).toBe(404);
  });

  it('goes 30 days after its end', async () => {
    const { email } = await signUp();
    await app.send(await forget(email), { form: { newPassword } });
    const age = (days: number) =>
      sql`update mail_tokens set expires_at = now() - make_interval(days => ${days}) where email = ${email}`.execute(
        app.db,
      );
    await age(29);
    await sweep({ db: app.db });
    expect(await rowOf(email)).toHaveLength(1);
    await age(31);
    await sweep({ db: app.db });
    expect(await rowOf(email)).toEqual([]);
  });

  it('goes with its user when they are erased, also of the sign-up', async () => {
    const { email, link } = await signUp();
    await app.send(await forget(email), { form: { newPassword } });
    const { rows } = await sql<{ id: string }>`select id from users where email = ${email}`.execute(app.db);
    const done = await runCli(app.databaseUrl, ['user:delete', rows[0]?.id ?? '', '--now', '--yes']);
    expect(done.code).toBe(0);
    expect((await sql`select from mail_tokens where email = ${email}`.execute(app.db)).rows).toEqual([]);
    expect((await read(link)).words).toContain('We do not recognise this link');
  });
});
