// A form that works one time is sent two times (contract 9.287), and browsers keep no cookies (contract 9.284).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { onceForms } from '../../app/once.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { loadPages } from '../../server/instance/build.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { formsOf } from '../support/people/staff.ts';
import { readCodes, readSecret, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

let lagMs = 0;
const now = () => new Date(Date.now() + lagMs);
const app = shared(() => openApp({ now }));
const second = shared(() => app.startInstance());
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now }));
beforeEach(() => sql`delete from rate_limits`.execute(app.db));

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const open = (browser: Browser, path: string) => browser.send(path, { headers: html });
const newPassword = 'nine slow lanterns';

type Form = { browser: Browser; path: string; form: Record<string, string> };

async function opened(path: string, browser = openBrowser(app.send)): Promise<Browser> {
  await open(browser, path);
  expect(browser.jar.get('identity_browser')).toMatch(/^[\w-]{43}$/);
  return browser;
}

async function link(
  email: string,
  purpose: Parameters<typeof readToken>[2],
  path: string,
  form: Record<string, string>,
  browser?: Browser,
): Promise<Form> {
  const here = `${path}?token=${await readToken(other, email, purpose)}`;
  return { browser: await opened(here, browser), path: here, form };
}

async function setPassword(email: string): Promise<Form> {
  await app.send('/forgot-password', { form: { email } });
  return link(email, 'set_password', '/set-password', { newPassword });
}

async function staffForm(intent: string, more: Record<string, string>): Promise<Form> {
  const browser = await logIn(app.send, 'admin@example.test');
  const path = `/admin/people/${await idOf(app.db, 'customer@example.test')}`;
  const form = formsOf(await open(browser, path)).get(intent) ?? {};
  return { browser, path, form: { ...form, why: 'They asked for it', ...more } };
}

/**
 * How to open each form, and what its answer shows. `stranger` is the status if another browser sends the same form to the same
 * URL.
 */
const rows: Record<
  string,
  { arrange: () => Promise<Form>; shows: (answer: Answer) => unknown; stranger?: number }
> = {
  '/signup/confirm': {
    async arrange() {
      await app.send('/signup', { form: { name: 'Twice', email: 'twice@example.com' } });
      return link('twice@example.com', 'sign_up', '/signup/confirm', { name: 'Twice', newPassword });
    },
    shows: ({ headers }) => headers.get('location'),
    stranger: 404,
  },
  '/set-password': {
    arrange: () => setPassword('merchant@example.test'),
    shows: ({ headers }) => headers.get('location'),
    stranger: 404,
  },
  '/verify-email/confirm': {
    async arrange() {
      const browser = await logIn(app.send, 'unverified@example.test');
      await browser.send('/verify-email', { form: {} });
      return link('unverified@example.test', 'verify_email', '/verify-email/confirm', {}, browser);
    },
    shows: ({ headers }) => headers.get('location'),
  },
  '/profile/email/confirm': {
    async arrange() {
      const browser = await logIn(app.send, 'unverified@example.test');
      await browser.send('/profile/email', { form: { email: 'moved@example.com' } });
      return link('moved@example.com', 'change_email', '/profile/email/confirm', {}, browser);
    },
    shows: ({ headers }) => headers.get('location'),
  },
  '/login/code': {
    async arrange() {
      const owner = await logIn(app.send, 'new-merchant@example.test');
      const { secret } = await setUp(owner, now().getTime());
      lagMs += 60_000;
      const browser = await opened('/login');
      await browser.login('new-merchant@example.test');
      return { browser, path: '/login/code', form: { code: showCode(secret, now().getTime()) } };
    },
    shows: ({ headers }) => headers.get('location'),
    stranger: 303,
  },
  '/continue': {
    async arrange() {
      const browser = openBrowser(app.send);
      const path = locationOf(await browser.send(await buildHandOff(app, { id: 'twice' }, now()))).href;
      return { browser: await opened(path, browser), path, form: {} };
    },
    shows: ({ headers }) => headers.get('location'),
    stranger: 404,
  },
  '/profile/authenticator/set-up': {
    async arrange() {
      const browser = await logIn(app.send, 'manager@example.test');
      await browser.send('/profile/authenticator', { form: { intent: 'set-up' } });
      const path = '/profile/authenticator/set-up';
      const secret = readSecret(await open(browser, path)) ?? '';
      return { browser, path, form: { code: showCode(secret, now().getTime()) } };
    },
    shows: (answer) => readCodes(answer),
  },
  '/profile/authenticator renew-codes': {
    async arrange() {
      const browser = await logIn(app.send, 'merchant@example.test', newPassword);
      await setUp(browser, now().getTime());
      await opened('/profile/authenticator', browser);
      return { browser, path: '/profile/authenticator', form: { intent: 'renew-codes', sure: 'yes' } };
    },
    shows: (answer) => readCodes(answer),
  },
  '/profile/security password': {
    async arrange() {
      const browser = await logIn(app.send, 'customer@example.test');
      await opened('/profile/security', browser);
      const form = { intent: 'password', currentPassword: demoPassword, newPassword: demoPassword };
      return { browser, path: '/profile/security', form: { ...form, newPassword } };
    },
    shows: ({ headers }) => headers.get('location'),
  },
  '/admin/people/:id suspend': {
    arrange: () => staffForm('suspend', {}),
    shows: ({ headers }) => headers.get('location'),
  },
};

const plain = ({ status, headers, text }: Answer) => ({
  status,
  location: headers.get('location'),
  cookies: headers.getSetCookie(),
  text,
});

describe.each(Object.entries(rows))('%s', (_, { arrange, shows, stranger }) => {
  it('ends like the first for 5 at once from one browser, and once more a moment later', async () => {
    const { browser, path, form } = await arrange();
    const cookie = browser.cookie();
    const send = (at: number) =>
      (at % 2 ? app : second).send(path, { form, cookie, headers: html, from: `192.0.2.${at}` });
    const answers = await Promise.all(Array.from({ length: 5 }, (_, at) => send(at)));
    const [first] = answers;
    expect(first && [200, 303].includes(first.status), textOf(first as Answer)).toBe(true);
    expect(first?.headers.get('location') ?? '').not.toContain('refused=');
    expect(shows(first as Answer)).not.toHaveLength(0);
    for (const answer of [...answers, await send(5)]) expect(plain(answer)).toEqual(plain(first as Answer));
    if (stranger) {
      const thief = await opened('/login');
      const answer = await thief.send(path, { form, headers: { accept: 'text/plain' } });
      expect([answer.status, answer.headers.getSetCookie().join()]).toEqual([
        stranger,
        expect.not.stringContaining('identity_session'),
      ]);
    }
    // After a minute the form is used up for everybody, and its answer is no longer kept.
    lagMs += 61_000;
    expect(plain(await send(6))).not.toEqual(plain(first as Answer));
  });
});

/** Forms whose second POST ends like the first, and why. */
const alike: Record<string, string> = {
  '/login': 'another session of the same user, of which the browser keeps one',
  '/logout': 'nobody is logged in',
  '/signup': 'the same page, whatever happened',
  '/forgot-password': 'the same page, whatever happened',
  '/verify-email': 'a second mail',
  '/profile': 'an edit that finds what it asks for changes nothing',
  '/profile/email': 'a second mail',
  '/profile/data': 'the file again',
  '/profile/delete': 'it is planned, or not, already',
  '/profile/passkeys/offer': 'a passkey is used up in any form; the others keep nothing or the same',
  '/admin/clients': 'no answer with a secret is kept',
  '/admin/files': 'the file again',
  '/admin/billing/import': 'each line of a statement is recorded once',
  '/demo/:client': 'local mode only',
  '/demo/legacy-marketplace': 'local mode only',
};

it('every form of the build works once, or is known to end alike', async () => {
  const { routes } = await loadPages();
  const pages = routes.filter(({ isPage, methods }) => isPage && methods.includes('POST'));
  expect([...Object.keys(onceForms), ...Object.keys(alike)].sort()).toEqual(
    pages.map(({ path }) => path).sort(),
  );
});

describe('what is kept', () => {
  it('opens by the cookie of its browser alone, and goes with the next form', async () => {
    const { browser, path, form } = await staffForm('resume', {});
    const cookie = browser.cookie();
    const send = () => app.send(path, { form, cookie, headers: html });
    expect(locationOf(await send()).search).toBe('?saved=resume');
    const { rows: kept } = await sql<{
      text: string;
    }>`select form_answers::text as text from form_answers`.execute(app.db);
    const token = browser.jar.get('identity_browser') ?? '';
    for (const { text } of kept)
      for (const part of [
        'saved=resume',
        token,
        Buffer.from(token).toString('hex'),
        Buffer.from('saved').toString('hex'),
      ])
        expect(text).not.toContain(part);
    expect(locationOf(await send()).search).toBe('?saved=resume');
    await browser.send('/logout', { form: {}, headers: html });
    const { rows: left } =
      await sql`select from form_answers where sealed is not null and expires_at > ${now()}`.execute(app.db);
    expect(left).toEqual([]);
  });

  it('is nothing of a refused form: each guess counts', async () => {
    const { browser, path, form } = await setPassword('customer@example.test');
    for (const typed of ['short', 'short', 'passwordpassword']) {
      const refused = await browser.send(path, { form: { ...form, newPassword: typed } });
      expect(refused.status).toBe(422);
    }
    expect((await sql`select from form_answers where expires_at > ${now()}`.execute(app.db)).rows).toEqual(
      [],
    );
    expect((await browser.send(path, { form })).status).toBe(303);
  });

  it('waits for a first that takes long, and not for one that has died', async () => {
    const { browser, path, form } = await setPassword('manager@example.test');
    // The next two steps make the state that a killed first request leaves.
    await browser.send(path, { form: { ...form, newPassword: 'short' } });
    const claimed = sql`insert into form_answers select sha256(convert_to(${browser.jar.get('identity_browser')}, 'UTF8')),
      sha256(convert_to(${`${path}\n\n${new URLSearchParams(form)}`}, 'UTF8')), null, ${new Date(now().getTime() + 1_000)}`;
    await claimed.execute(app.db);
    const answer = browser.send(path, { form });
    await new Promise((done) => setTimeout(done, 300));
    lagMs += 1_001;
    expect((await answer).status).toBe(303);
  });
});

describe('what is kept is for nobody else', () => {
  const form = { intent: 'renew-codes', sure: 'yes' };
  const path = '/profile/authenticator';

  /** Renews the recovery codes in a browser. Returns the browser, the cookies that it sent with the form, and the codes. */
  async function renewed(): Promise<{ browser: Browser; cookie: string; codes: unknown }> {
    const browser = await logIn(app.send, 'twice@example.com', newPassword);
    await setUp(browser, now().getTime());
    await opened(path, browser);
    const cookie = browser.cookie();
    const codes = readCodes(await app.send(path, { form, cookie, headers: html }));
    expect(codes).not.toHaveLength(0);
    expect(readCodes(await app.send(path, { form, cookie, headers: html }))).toEqual(codes);
    return { browser, cookie, codes };
  }

  it('opens neither by the cookie of the browser alone, nor with fewer cookies, nor after the session', async () => {
    const { browser, cookie, codes } = await renewed();
    const named = `identity_browser=${browser.jar.get('identity_browser')}`;
    const session = `identity_session=${browser.jar.get('identity_session')}`;
    const alone = await app.send(path, { form, cookie: named, headers: html });
    expect([alone.status, locationOf(alone).pathname]).toEqual([303, '/login']);
    expect(
      readCodes(await app.send(path, { form, cookie: `${named}; ${session}`, headers: html })),
    ).not.toEqual(codes);
    const again = await app.send(path, { form, cookie, headers: html });
    const kept = readCodes(again);
    expect(readCodes(await app.send(path, { form, cookie, headers: html }))).toEqual(kept);
    await sql`update sessions set ended_at = ${now()} where ended_at is null`.execute(app.db);
    const ended = await app.send(path, { form, cookie, headers: html });
    expect([ended.status, locationOf(ended).pathname]).toEqual([303, '/login']);
  });
});

it('is done, not said to be done, after somebody else has undone it', async () => {
  const here = await logIn(app.send, 'admin@example.test');
  const there = await logIn(app.send, 'admin@example.test');
  const id = await idOf(app.db, 'new-merchant@example.test');
  const path = `/admin/people/${id}`;
  const act = async (browser: Browser, intent: string) => {
    const form = { ...formsOf(await open(browser, path)).get(intent), why: 'They asked for it' };
    return locationOf(await browser.send(path, { form, headers: html })).search;
  };
  for (const [browser, intent] of [
    [here, 'suspend'],
    [there, 'resume'],
    [here, 'suspend'],
  ] as const)
    expect(await act(browser, intent)).toBe(`?saved=${intent}`);
  const { rows: found } = await sql`select from users where id = ${id} and suspended_at is not null`.execute(
    app.db,
  );
  expect(found).toHaveLength(1);
});

it('at most four of a browser wait, and the others do nothing', async () => {
  const email = 'four@example.com';
  await app.send('/signup', { form: { name: 'Four', email } });
  const signUp = await link(email, 'sign_up', '/signup/confirm', { name: 'Four', newPassword });
  const { browser, path, form } = signUp;
  const cookie = browser.cookie();
  const send = () => app.send(path, { form, cookie, headers: html });
  const answers = await Promise.all(Array.from({ length: 12 }, send));
  const locations = answers
    .filter(({ status }) => status === 303)
    .map(({ headers }) => headers.get('location'));
  expect(locations.length).toBeGreaterThanOrEqual(5);
  expect(new Set(locations).size).toBe(1);
  expect(answers.filter(({ status }) => status === 503)).toHaveLength(12 - locations.length);
  expect(locations.length).toBeLessThan(12);
});

describe('a browser without cookies', () => {
  const send = (path: string, form?: Record<string, string>) =>
    app.send(path, { headers: html, ...(form && { form }) });

  it('is told that a login needs them, and is not sent round in circles', async () => {
    for (const next of ['', '?next=%2Fsso%2Flaunch%2Fcrm_app']) {
      const right = await send(`/login${next}`, { email: 'admin@example.test', password: demoPassword });
      const { pathname, search, searchParams } = locationOf(right);
      expect([right.status, pathname, searchParams.get('why')]).toEqual([303, '/login', 'no-cookies']);
      const page = await send(pathname + search);
      expect(page.status).toBe(200);
      expect(textOf(page)).toContain('Your browser did not keep our cookies, so you are not logged in.');
      const browser = openBrowser(app.send);
      for (const line of right.headers.getSetCookie())
        browser.jar.set(...(line.split(/[=;]/, 2) as [string, string]));
      const on = await open(browser, pathname + search);
      expect([on.status, locationOf(on).pathname]).toEqual([303, next ? '/go' : '/profile']);
    }
  });

  it('sees at once what was wrong', async () => {
    const wrong = await send('/login', { email: 'manager@example.test', password: 'not the password' });
    expect(wrong.status).toBe(401);
    expect(textOf(wrong)).toContain('The email address or password is incorrect.');
    const typed = await send('/signup', { name: 'Anna', email: 'anna' });
    expect([typed.status, typed.text]).toEqual([422, expect.stringContaining('value="anna"')]);
  });
});
