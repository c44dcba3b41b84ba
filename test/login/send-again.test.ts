// "Send it again" and "Use another address" (contract 2.129), and a page after too many mails (contract 9.197).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
beforeEach(async () => {
  await emptyTables(app.db, 'mails', 'rate_limits');
});

const again = { form: { intent: 'again' } };

const typed = (path: string, email: string): Record<string, string> =>
  path === '/signup' ? { name: 'Ann Again', email } : { email };

const mailsTo = async (email: string) =>
  (
    await sql<{ kind: string; name: string | null }>`
      select kind, details ->> 'name' as name from mails where recipient = ${email} order by id`.execute(
      app.db,
    )
  ).rows;

const pages = [
  ['/forgot-password', 'customer@example.test', 1],
  ['/forgot-password', 'nobody@example.test', 0],
  ['/signup', 'customer@example.test', 1],
  ['/signup', 'nobody@example.test', 1],
] as const;

describe('the button (contract 11.35)', () => {
  it.each(pages)('at %s asks again for %s, with the same answer for everybody', async (path, email, each) => {
    const browser = openBrowser(app.send);
    const next = `?next=${encodeURIComponent('/sso/launch/marketplace')}`;
    const form = typed(path, email);
    const first = await browser.send(path + next, { form });
    expect(await mailsTo(email)).toHaveLength(each);
    const page = await browser.send(first.headers.get('location') ?? '');
    expect(page.text).toContain('name="intent" value="again"');
    const second = await browser.send(path + next, again);
    expect([second.status, second.headers.get('location')]).toEqual([303, first.headers.get('location')]);
    const mails = await mailsTo(email);
    expect(mails).toHaveLength(2 * each);
    // Only kinds are compared, because a mail loses the details of its sign-up after it is sent.
    expect(mails.map(({ kind }) => kind)).toEqual(mails.map(() => mails[0]?.kind));
    // "Use another address" opens the form with the email address typed before.
    expect(page.text).toContain(`href="${path}${next}"`);
    expect(fieldOf(await browser.send(path + next), 'email').value).toBe(email);
  });

  it.each(['/forgot-password', '/signup'])(
    'at %s leads to the form in a browser that typed nothing',
    async (path) => {
      const answer = await app.send(path, again);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, path]);
    },
  );

  it.each(['/forgot-password', '/signup'])(
    'at %s takes no address from the form, and no other intent',
    async (path) => {
      const browser = openBrowser(app.send);
      await browser.send(path, { form: { name: 'Ann Again', email: 'nobody@example.test' } });
      await browser.send(path, { form: { intent: 'again', email: 'customer@example.test' } });
      expect(await mailsTo('customer@example.test')).toEqual([]);
      expect((await browser.send(path, { form: { intent: 'other', email: 'a@example.test' } })).status).toBe(
        400,
      );
    },
  );

  it('keeps no name in a cookie that is too long for one', async () => {
    const browser = openBrowser(app.send);
    const form = { name: '名'.repeat(150), email: 'long@example.test' };
    expect((await browser.send('/signup', { form })).status).toBe(303);
    expect([...browser.jar.keys()].some((name) => name.includes('typed_email'))).toBe(true);
    expect((await browser.send('/signup', again)).headers.get('location')).toBe('/signup');
    expect(fieldOf(await browser.send('/signup'), 'email').value).toBe('long@example.test');
  });

  it('for a change of address takes the one that waits, and leads to the form if none does', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    expect((await browser.send('/profile/email', again)).headers.get('location')).toBe('/profile/email');
    await browser.send('/profile/email', { form: { email: 'waits@example.test' } });
    const sent = await browser.send('/profile/email', { form: { intent: 'again', email: 'x@example.test' } });
    expect(sent.headers.get('location')).toBe('/profile/email?sent');
    expect((await mailsTo('waits@example.test')).length).toBeGreaterThan(0);
    expect(await mailsTo('x@example.test')).toEqual([]);
    expect(fieldOf(await browser.send('/profile/email'), 'email').value).toBe('waits@example.test');
    expect((await browser.send('/profile/email', { form: { intent: 'other' } })).status).toBe(400);
  });
});

describe('/forgot-password fills in the address (contract 2.138)', () => {
  const filledIn = async (browser: Browser) => fieldOf(await browser.send('/forgot-password'), 'email').value;
  const email = 'merchant@example.test';

  it('of a login with a wrong password, which another login replaces', async () => {
    const browser = openBrowser(app.send);
    for (const address of ['nobody@example.test', email]) {
      const form = { email: address, password: 'wrong password' };
      expect((await browser.send('/login', { form })).status).toBe(401);
      expect(await filledIn(browser)).toBe(address);
    }
    await browser.send('/forgot-password', { form: { email: 'other@example.test' } });
    expect(textOf(await browser.send('/forgot-password?sent'))).toContain('other@example.test');
  });

  it('last given on a page that mails a link, or else of the person logged in (contract 2.173)', async () => {
    expect(await filledIn(openBrowser(app.send))).toBeUndefined();
    const browser = await logIn(app.send, email);
    expect(await filledIn(browser)).toBe(email);
    for (const path of ['/signup', '/forgot-password']) {
      await browser.send(path, { form: typed(path, `at${path.slice(1)}@example.test`) });
      expect(await filledIn(browser)).toBe(`at${path.slice(1)}@example.test`);
    }
  });

  it('that has logged out', async () => {
    const browser = await logIn(app.send, email);
    expect((await browser.send('/logout', { form: {} })).status).toBe(303);
    expect(await browser.whoAmI()).toBeUndefined();
    expect(await filledIn(browser)).toBe(email);
  });
});

describe('one mail too many', () => {
  it.each(pages)(
    'at %s for %s says for how many minutes and what else works, and keeps the address',
    async (path, email) => {
      const browser = openBrowser(app.send);
      const form = typed(path, email);
      await browser.send(path, { form });
      let answer = await browser.send(path, again);
      for (let n = 0; n < 20 && answer.status === 303; n++) answer = await browser.send(path, again);
      expect(answer.status).toBe(429);
      const minutes = Math.ceil(Number(answer.headers.get('retry-after')) / 60);
      const wait = minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
      expect(textOf(answer)).toContain(`Try again in ${wait}.`);
      expect(textOf(answer)).toContain('an email that we sent you in the last hour');
      expect(fieldOf(answer, 'email').value).toBe(email);
    },
  );

  it('at /verify-email says so, too (contract 11.35)', async () => {
    const browser = await logIn(app.send, 'unverified@example.test');
    let answer = await browser.send('/verify-email', again);
    expect(answer.headers.get('location')).toBe('/verify-email?sent');
    for (let n = 0; n < 20 && answer.status === 303; n++) answer = await browser.send('/verify-email', again);
    expect(answer.status).toBe(429);
    expect(textOf(answer)).toMatch(/Try again in \d+ (minutes|hours)\./);
  });
});
