// The offer of a passkey after a login by password alone (contract 9.210).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp, targetOf } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import {
  addPasskey,
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { enterCode, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const page = '/profile/passkeys/offer';
const email = 'customer@example.test';
const password = 'local demo password';

let clock = Date.parse('2026-03-01T12:00:00Z');
const app = shared(() => openApp({ now: () => new Date(clock) }));
beforeEach(async () => {
  clock += 3_600_000;
  await emptyTables(app.db, 'rate_limits', 'passkeys', 'authenticators', 'recovery_codes');
  await sql`update users set passkeys_declined_at = null, has_passkey = false, has_authenticator = false`.execute(
    app.db,
  );
});

const locationOf = ({ headers }: Answer) => headers.get('location');
const offerOf = (next: string) => `${page}?next=${encodeURIComponent(next)}`;

/** Logs in on a page whose script found that the browser can add a passkey. */
function logInOn(
  browser: Browser,
  { as = email, path = '/login', can = 'yes' }: { as?: string; path?: string; can?: string } = {},
): Promise<Answer> {
  return browser.send(path, { form: { email: as, password, can_add_passkey: can } });
}

const open = () => openBrowser(app.send);
const withNext = (next: string) => `/login?next=${encodeURIComponent(next)}`;

const countPasskeys = async () => (await sql`select 1 from passkeys`.execute(app.db)).rows.length;

describe('after a login by password alone', () => {
  it.each(['/profile', '/profile/billing', '/sso/launch/marketplace', '/sso/launch/marketplace?state=none'])(
    'somebody who can is led to the offer, on the way to %s',
    async (next) => {
      const browser = open();
      const answer = await logInOn(browser, { path: withNext(next) });
      expect([answer.status, locationOf(answer)]).toEqual([303, offerOf(next)]);
      expect(await browser.whoAmI()).toBe(email);
    },
  );

  it('goes on from there, without an offer in the way, to nothing but a path of ours', async () => {
    for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example']) {
      expect(locationOf(await logInOn(open(), { path: withNext(next) }))).toBe(offerOf('/profile'));
      const browser = await logIn(app.send, email);
      const later = await browser.send(offerOf(next), { form: { intent: 'later' } });
      expect(locationOf(later)).toBe('/profile');
    }
  });

  it.each(['', 'no', 'YES', 'yes '])(
    'nobody is led there where the script of the page says %j',
    async (can) => {
      expect(locationOf(await logInOn(open(), { can }))).toBe('/profile');
    },
  );

  it('nobody is led there without script', async () => {
    expect(locationOf(await open().login(email))).toBe('/profile');
  });

  it('a wrong password is refused in the same way', async () => {
    const form = { email, password: 'wrong', can_add_passkey: 'yes' };
    const answer = await open().send('/login', { form });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain(page);
  });

  it('once a session: a login that goes on with it leads to none', async () => {
    const browser = open();
    expect(locationOf(await logInOn(browser))).toBe(offerOf('/profile'));
    const again = await logInOn(browser, { path: '/login?prompt=login' });
    expect(locationOf(again)).toBe('/profile');
    await browser.send('/logout', { form: {} });
    expect(locationOf(await logInOn(browser))).toBe(offerOf('/profile'));
  });

  it.each([
    '/continue?id=0190f5a0-0000-7000-8000-000000000000',
    '/sso/launch/marketplace?prompt=none',
    '/sso/launch/marketplace?state=x&prompt=none',
    '/profile/passkeys',
    '/profile/passkeys/add',
  ])('nobody is led there on the way to %s', async (next) => {
    const answer = await logInOn(open(), { path: withNext(next) });
    const target = targetOf(answer);
    expect(target.pathname + target.search).toBe(next);
  });
});

describe('nobody is led to the offer', () => {
  it('who has a passkey', async () => {
    await addPasskey(await logIn(app.send, email));
    expect(locationOf(await logInOn(open()))).toBe('/profile');
  });

  it('who has not proved their address', async () => {
    const answer = await logInOn(open(), { as: 'unverified@example.test' });
    expect(locationOf(answer)).toBe('/profile');
  });

  it('who logs in with a code, a passkey or a hand-off', async () => {
    const owner = await logIn(app.send, email);
    const { secret } = await setUp(owner, clock);
    const browser = open();
    expect(locationOf(await logInOn(browser))).toBe('/login/code?next=%2Fprofile');
    clock += 60_000;
    expect(locationOf(await enterCode(browser, showCode(secret, clock)))).toBe('/profile');
    const other = await logIn(app.send, 'merchant@example.test');
    const phone = await addPasskey(other);
    await sql`update users set has_passkey = false`.execute(app.db);
    expect(locationOf(await logInByPasskey(open(), phone))).toBe('/profile');
    const came = await open().send(
      await buildHandOff(app, { id: 'offer', email: 'offer@example.test' }, new Date(clock)),
    );
    expect(locationOf(came)).not.toContain(page);
  });

  it('who must set up a second factor first', async () => {
    const strict = await openApp({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' } });
    try {
      const browser = openBrowser(strict.send);
      expect(locationOf(await logInOn(browser, { as: 'admin@example.test' }))).toBe('/profile');
      const led = await browser.send(page, { headers: { accept: 'text/html' } });
      expect(locationOf(led)).toMatch(/^\/profile\/authenticator/);
      expect(locationOf(await logInOn(openBrowser(strict.send)))).toBe(offerOf('/profile'));
    } finally {
      await strict.close();
    }
  });

  it('who has said never, in any browser, until they are erased', async () => {
    const browser = open();
    await logInOn(browser);
    const said = await browser.send(offerOf('/profile/billing'), { form: { intent: 'never' } });
    expect([said.status, locationOf(said)]).toEqual([303, '/profile/billing']);
    expect(locationOf(await logInOn(open()))).toBe('/profile');
    expect(locationOf(await browser.send(offerOf('/profile/billing')))).toBe('/profile/billing');
    const at = new Date(clock).toISOString();
    clock += 1_000;
    await browser.send(page, { form: { intent: 'never' } });
    const { profile } = JSON.parse((await browser.send('/profile/data.json')).text);
    expect(new Date(profile[0].passkeys_declined_at).toISOString()).toBe(at);
    // Other users are still offered a passkey, and this user can still add one.
    expect(locationOf(await logInOn(open(), { as: 'merchant@example.test' }))).toBe(offerOf('/profile'));
    await addPasskey(browser);
  });
});

describe('the offer', () => {
  it('adds a passkey under the name of the browser, and leads on', async () => {
    const browser = open();
    await logInOn(browser, { path: withNext('/profile/billing') });
    expect(textOf(await browser.send(offerOf('/profile/billing')))).toContain(
      'Log in without your password next time?',
    );
    const phone = createAuthenticator();
    const passkey = phone.register(await fetchOptions(browser, 'add'), origin);
    const added = await browser.send(offerOf('/profile/billing'), {
      form: { intent: 'add', passkey },
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' },
    });
    expect([added.status, locationOf(added)]).toEqual([303, '/profile/billing']);
    const { rows } = await sql<{ name: string }>`select name from passkeys`.execute(app.db);
    expect(rows).toEqual([{ name: 'Firefox on Linux' }]);
    expect((await logInByPasskey(open(), phone)).status).toBe(303);
    // The user has a passkey now, so the page redirects.
    expect(locationOf(await browser.send(offerOf('/profile/billing')))).toBe('/profile/billing');
  });

  it('says that the passkey was added, where nobody was going anywhere', async () => {
    const browser = await logIn(app.send, email);
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    const added = await browser.send(offerOf('/profile'), { form: { intent: 'add', passkey } });
    expect(locationOf(added)).toBe('/profile/passkeys?saved=added');
  });

  it('keeps nothing of "later"', async () => {
    const browser = open();
    await logInOn(browser);
    const later = await browser.send(offerOf('/profile/billing'), { form: { intent: 'later' } });
    expect([later.status, locationOf(later)]).toEqual([303, '/profile/billing']);
    expect(locationOf(await logInOn(open()))).toBe(offerOf('/profile'));
  });

  it('takes a credential of the last ten minutes, and asks for it', async () => {
    const browser = await logIn(app.send, email);
    clock += 601_000;
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    const asked = await browser.send(page, { form: { intent: 'add', passkey } });
    expect([asked.status, textOf(asked).includes('Confirm it’s you')]).toEqual([401, true]);
    expect(await countPasskeys()).toBe(0);
    const form = { intent: 'add', passkey, confirmPassword: password };
    expect((await browser.send(page, { form })).status).toBe(303);
    expect(await countPasskeys()).toBe(1);
  });

  it('says that a passkey was not added, and stays', async () => {
    const browser = await logIn(app.send, email);
    for (const passkey of ['', '{}', 'x']) {
      const answer = await browser.send(offerOf('/profile/billing'), { form: { intent: 'add', passkey } });
      expect([answer.status, textOf(answer).includes('The passkey could not be added.')]).toEqual([
        422,
        true,
      ]);
    }
    expect((await browser.send(page, { form: { intent: 'x' } })).status).toBe(400);
    expect(await countPasskeys()).toBe(0);
  });

  it('is only for people who are logged in, from our own pages', async () => {
    expect(locationOf(await open().send(offerOf('/profile/billing')))).toBe(
      withNext(offerOf('/profile/billing')),
    );
    for (const intent of ['add', 'never'])
      expect(locationOf(await open().send(page, { form: { intent } }))).toBe(withNext(page));
    const browser = await logIn(app.send, email);
    const headers = { origin: 'https://evil.example' };
    expect((await browser.send(page, { form: { intent: 'never' }, headers })).status).toBe(403);
    const { rows } = await sql`select 1 from users where passkeys_declined_at is not null`.execute(app.db);
    expect(rows).toEqual([]);
  });
});

describe('the page Security', () => {
  it('says of each way to log in how it is', async () => {
    const browser = await logIn(app.send, email);
    const show = async () => textOf(await browser.send('/profile/security'));
    expect(await show()).toMatch(
      /Password Change it below\. Set .*Passkeys .* None .*Authenticator app .* Off /,
    );
    expect(await show()).not.toContain('Recovery codes');
    await addPasskey(browser);
    await addPasskey(browser);
    await setUp(browser, clock);
    expect(await show()).toMatch(
      /Passkeys .* 2 added .*Authenticator app .* On .*Recovery codes .* 10 of 10 left/,
    );
    await sql`delete from recovery_codes where code_hash <> (select min(code_hash::text)::bytea from recovery_codes)`.execute(
      app.db,
    );
    expect(await show()).toContain('1 of 10 left');
    await sql`update users set password_hash = null where email = ${email}`.execute(app.db);
    expect(await show()).toContain('Password Set one by email below. Not set');
  });

  it('names in each button what it acts on (contract 11.38)', async () => {
    await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')`.execute(
      app.db,
    );
    const browser = await logIn(app.send, email);
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    };
    await open().send('/login', { form: { email, password }, headers });
    await sql`insert into external_links (provider, external_id, user_id)
      select 'marketplace', 'm-17', id from users where email = ${email}`.execute(app.db);
    await addPasskey(browser, undefined, 'Phone');
    const security = textOf(await browser.send('/profile/security'));
    expect(security).toMatch(/Log out of Firefox on Linux/);
    expect(security).toMatch(/Remove marketplace account m-17/);
    const passkeys = textOf(await browser.send('/profile/passkeys'));
    for (const name of ['Rename passkey Phone', 'Remove passkey Phone', 'Save the name of passkey Phone'])
      expect(passkeys).toContain(name);
  });
});
