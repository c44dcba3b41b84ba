import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectRetryAfter, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { listNotices, readToken } from '../support/people/kept-mail.ts';
import {
  enterCode,
  expectCodeAsked,
  page,
  payloadOf,
  setUp,
  showCode,
  wrongCode,
} from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
// The clock starts at the present, because the database sweeps by its own clock.
const start = Math.floor(Date.now() / 30_000) * 30_000;

let clock = start;
let owner: Browser;
let secret: string;
let codes: string[];
const app = shared(() => openApp({ now: () => new Date(clock) }));
const other = shared(() => app.startInstance());
const backend = shared(() => openBackend({ databaseUrl: app.databaseUrl, now: () => new Date(clock) }));
beforeEach(async () => {
  clock += 86_400_000;
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from authenticators`.execute(app.db);
  await sql`delete from recovery_codes`.execute(app.db);
  await sql`delete from mails`.execute(app.db);
  owner = await logIn(app.send, email);
  ({ secret, codes } = await setUp(owner, clock));
  clock += 60_000;
});

const show = () => showCode(secret, clock);

/** Returns the code in the digits of another script, which begin at `zero`. */
const writeIn = (zero: number, code: string) =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** A browser that has given the password and no second factor. */
async function openPending(path = '/login'): Promise<Browser> {
  const browser = openBrowser(app.send);
  const next = new URL(path, 'http://localhost').searchParams.get('next') ?? undefined;
  expectCodeAsked(await browser.login(email, undefined, path), next);
  return browser;
}

/** Opens that many pending logins one after the other, because their speed is not the subject here. */
const openPendings = (count: number) =>
  withoutLimits(async () => {
    const browsers: Browser[] = [];
    while (browsers.length < count) browsers.push(await openPending());
    return browsers;
  });

/** Lifts the limit of ten an hour, which would refuse some of 16 logins before their code is looked at. */
async function withoutLimits<T>(work: () => Promise<T>): Promise<T> {
  await sql`create function never_count() returns trigger language plpgsql
    as 'begin new.points := 0; return new; end'`.execute(app.db);
  await sql`create trigger never_count before insert or update on rate_limits
    for each row execute function never_count()`.execute(app.db);
  try {
    return await work();
  } finally {
    await sql`drop function never_count cascade`.execute(app.db);
  }
}

async function listEvents(since: string): Promise<[type: string, reason: string | null][]> {
  const { rows } = await sql<{ type: string; reason: string | null }>`select e.type, e.reason
    from audit_events e join users u on u.id = e.user_id
    where u.email = ${email} and e.type like ${since} order by e.id`.execute(app.db);
  return rows.map(({ type, reason }) => [type, reason]);
}

describe('a right password of somebody with an authenticator app', () => {
  it('starts no session, but leads to the page that asks for the code (contract 9.73 and 11.3)', async () => {
    const browser = openBrowser(app.send);
    expectCodeAsked(await browser.login(email));
    expect(await browser.whoAmI()).toBeUndefined();
    expect((await browser.send('/profile')).status).toBe(303);
    const asked = await browser.send('/login/code');
    expect(asked.status).toBe(200);
    expect(asked.text).toMatch(/autocomplete="one-time-code"/i);
    expect(textOf(asked)).toContain('Use a recovery code');
    expect(textOf(asked)).not.toContain(email);
  });

  it('and a right code start a session that says so, and goes on where it was meant to (contract 3.16 and 11.3)', async () => {
    const launch = '/sso/launch/marketplace?state=s1&auth_after=1';
    const browser = await openPending(`/login?next=${encodeURIComponent(launch)}`);
    const path = `/login/code?next=${encodeURIComponent(launch)}`;
    expect(textOf(await browser.send(path))).toContain('To continue to Marketplace');
    const done = await enterCode(browser, show(), path);
    const onTheWay = `/go?next=${encodeURIComponent(launch)}`;
    expect([done.status, done.headers.get('location')]).toEqual([303, onTheWay]);
    const handed = payloadOf(await browser.send(launch));
    expect(handed).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], auth_time: clock / 1_000, state: 's1' });
    expect(browser.jar.has('identity_pending_login')).toBe(false);
    expect((await listEvents('login.%')).slice(-2)).toEqual([
      ['login.code_asked', null],
      ['login.succeeded', null],
    ]);
  });

  it('goes on to no other site after the code', async () => {
    const browser = await openPending();
    const done = await enterCode(browser, show(), '/login/code?next=https://evil.example/');
    expect(done.headers.get('location')).toBe('/profile');
  });

  // Contract 9.247.
  it.each([
    ['in two groups', (code: string) => code.replace(/(...)/, ' $1 ')],
    ['with a hyphen', (code: string) => code.replace(/(...)/, '$1-')],
    ['with dots and dashes', (code: string) => code.replace(/(...)/, '.$1–')],
    ['in full-width digits', (code: string) => writeIn(0xff10, code)],
    ['in Arabic digits, with a mark of direction', (code: string) => `\u200f${writeIn(0x660, code)}\u200e`],
    ['in Persian digits', (code: string) => writeIn(0x6f0, code)],
    ['in Devanagari digits, grouped', (code: string) => writeIn(0x966, code).replace(/(...)/, '$1\u00a0')],
    ['in digits for mathematics', (code: string) => writeIn(0x1d7d8, code)],
  ])('may be typed %s', async (_, write) => {
    const browser = await openPending();
    expect((await enterCode(browser, write(show()))).status).toBe(303);
    expect(await browser.whoAmI()).toBe(email);
  });

  it('keeps somebody else logged in until the code was given', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    expectCodeAsked(await browser.login(email));
    expect(await browser.whoAmI()).toBe('customer@example.test');
    await enterCode(browser, show());
    expect(await browser.whoAmI()).toBe(email);
  });

  it('is asked for the code again where a client asks for a login again', async () => {
    const browser = await openPending();
    await enterCode(browser, show());
    clock += 60_000;
    const again = locationOf(await browser.send('/sso/launch/marketplace?prompt=login'));
    const asked = await browser.login(email, undefined, again.pathname + again.search);
    expect(locationOf(asked).pathname).toBe('/login/code');
    await enterCode(browser, show(), locationOf(asked).pathname + locationOf(asked).search);
    const launch = again.searchParams.get('next') ?? '';
    expect(payloadOf(await browser.send(launch))).toMatchObject({ auth_time: clock / 1_000 });
  });
});

describe('a code', () => {
  it('that is wrong gets the page again, with 401 and no session', async () => {
    const browser = await openPending();
    for (const wrong of [wrongCode(secret, clock), '', '12345', 'abcdef']) {
      const refused = await enterCode(browser, wrong);
      expect(refused.status, wrong).toBe(401);
      expect(textOf(refused)).toContain('This code is wrong or has already been used');
      expect(refused.headers.getSetCookie()).toEqual([]);
    }
    expect((await listEvents('login.refused')).at(-1)).toEqual(['login.refused', 'wrong_code']);
    expect((await enterCode(browser, show())).status).toBe(303);
  });

  // Contract 9.248.
  it.each([-300_000, -150_000, -60_000, 60_000, 150_000, 300_000])(
    'of a phone whose clock is off by %i ms says so, counts as a wrong one, and logs nobody in',
    async (offMs) => {
      const browser = await openPending();
      // The code of the set-up was used, so it and the codes before it no longer count.
      clock += 300_000;
      const refused = await enterCode(browser, showCode(secret, clock + offMs));
      expect(refused.status).toBe(401);
      expect(textOf(refused)).toContain('the clock on your phone may be off');
      expect(textOf(refused)).not.toContain('wrong or has already been used');
      expect(await browser.whoAmI()).toBeUndefined();
      expect((await listEvents('login.refused')).at(-1)).toEqual(['login.refused', 'wrong_code']);
      const { rows } = await sql<{ points: number }>`select points from rate_limits
        where key like 'code-account:%'`.execute(app.db);
      expect(rows).toEqual([{ points: 1 }]);
      // A browser gets the same answer, after a redirect.
      const sent = { form: { code: showCode(secret, clock + offMs) }, headers: { accept: 'text/html' } };
      const { pathname, search } = locationOf(await browser.send('/login/code', sent));
      const page = await browser.send(pathname + search);
      expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('the clock on your phone')]);
      expect((await enterCode(browser, show())).status).toBe(303);
    },
  );

  it('of a clock that is further off, or that was used before, is just a wrong one', async () => {
    clock += 600_000;
    const used = show();
    expect((await enterCode(await openPending(), used)).status).toBe(303);
    clock += 120_000;
    const browser = await openPending();
    for (const wrong of [used, showCode(secret, clock - 360_000), showCode(secret, clock + 360_000)]) {
      const refused = await enterCode(browser, wrong);
      expect(refused.status).toBe(401);
      expect(textOf(refused)).toContain('wrong or has already been used');
    }
  });

  // Contract 9.248.
  it('given too early is refused even later, when its time comes, but the code after it works', async () => {
    const browser = await openPending();
    const early = showCode(secret, clock + 120_000);
    const told = await Promise.all(Array.from({ length: 4 }, () => enterCode(browser, early)));
    for (const refused of told) expect(textOf(refused)).toContain('the clock on your phone may be off');
    for (let step = 0; step < 4; step++) {
      clock += 30_000;
      expect((await enterCode(browser, early)).status, `step ${step}`).toBe(401);
    }
    expect(await browser.whoAmI()).toBeUndefined();
    expect((await enterCode(browser, showCode(secret, clock + 30_000))).status).toBe(303);
  });

  // Contract 9.72.
  it('works once, even when 16 logins give it at once, on two instances', async () => {
    const browsers = await openPendings(16);
    const code = show();
    const answers = await withoutLimits(() =>
      sendPatiently(
        browsers.map(
          (browser, at) => () =>
            (at % 2 ? app : other).send('/login/code', { cookie: browser.cookie(), form: { code } }),
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(15);
    expect(
      answers.filter(({ headers }) => /identity_session=/.test(headers.getSetCookie().join())),
    ).toHaveLength(1);
  });

  it('starts one session, even when one login gives it 16 times at once', async () => {
    const browser = await openPending();
    const cookie = browser.cookie();
    const code = show();
    const answers = await withoutLimits(() =>
      sendPatiently(
        Array.from(
          { length: 16 },
          (_, at) => () => (at % 2 ? app : other).send('/login/code', { cookie, form: { code } }),
        ),
      ),
    );
    expect(
      answers.filter(({ headers }) => /identity_session=/.test(headers.getSetCookie().join())),
    ).toHaveLength(1);
    // The pending login has been used up.
    const late = await app.send('/login/code?next=/logout', {
      cookie,
      form: { code: showCode(secret, clock + 30_000) },
    });
    expect([late.status, late.headers.get('location')]).toEqual([303, '/login?next=%2Flogout']);
  });

  it('from before the last one does not work, nor does the code of the set-up (contract 9.72)', async () => {
    const setUpCode = showCode(secret, clock - 60_000);
    clock -= 30_000;
    expect((await enterCode(await openPending(), setUpCode)).status).toBe(401);
    const [earlier, later] = [show(), showCode(secret, clock + 30_000)];
    expect((await enterCode(await openPending(), later)).status).toBe(303);
    expect((await enterCode(await openPending(), earlier)).status).toBe(401);
  });

  it('counts in the browser that gave the password only, for ten minutes (contract 9.73)', async () => {
    const browser = await openPending();
    const stranger = openBrowser(app.send);
    for (const cookie of ['', `identity_pending_login=${'A'.repeat(43)}`]) {
      const answer = await app.send('/login/code', { cookie, form: { code: show() } });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login']);
    }
    expect((await stranger.send('/login/code?next=/logout')).headers.get('location')).toBe(
      '/login?next=%2Flogout',
    );
    clock += 599_000;
    expect((await browser.send('/login/code')).status).toBe(200);
    clock += 2_000;
    expect((await browser.send('/login/code')).status).toBe(303);
    await enterCode(browser, show());
    expect(await browser.whoAmI()).toBeUndefined();
  });

  it('comes too late once the password has changed, the app was removed, or the user is suspended (contract 9.74)', async () => {
    const changes = [
      sql`update users set password_hash = password_hash || ' ' where email = ${email}`,
      sql`update users set suspended_at = now() where email = ${email}`,
      sql`delete from authenticators`,
    ];
    const undo = sql`update users set suspended_at = null, password_hash = trim(password_hash) where email = ${email}`;
    for (const change of changes) {
      const browser = await openPending();
      await change.execute(app.db);
      expect((await enterCode(browser, show())).headers.get('location')).toBe('/login');
      expect(await browser.whoAmI()).toBeUndefined();
      await undo.execute(app.db);
    }
  });

  it('from another site is refused', async () => {
    const browser = await openPending();
    const sent = { form: { code: show() }, headers: { origin: 'https://evil.example' } };
    expect((await browser.send('/login/code', sent)).status).toBe(403);
    expect((await enterCode(browser, show())).status).toBe(303);
  });
});

describe('a recovery code (contract 9.71)', () => {
  it('logs in once in place of a code, and its owner gets a mail', async () => {
    const [code = ''] = codes;
    const browser = await openPending();
    const asked = await browser.send('/login/code?use=recovery');
    expect(textOf(asked)).toContain('Lost your recovery codes as well?');
    const typed = writeIn(0xff10, code.toUpperCase()).replaceAll('-', ' ');
    expect((await enterCode(browser, ` ${typed}\u200f`)).status).toBe(303);
    expect(payloadOf(await browser.send('/sso/launch/marketplace'))).toMatchObject({
      amr: ['pwd', 'otp', 'mfa'],
    });
    expect((await enterCode(await openPending(), code)).status).toBe(401);
    expect(await listNotices(app.db, email)).toContain('recovery_code_used');
    expect(textOf(await browser.send(page))).toContain('9 of 10');
  });

  it('leads to where the app is set up on another phone, or straight on to the client', async () => {
    const give = (browser: Browser, code = '', query = '') =>
      browser.send(`/login/code?use=recovery${query}`, { form: { code } });
    const browser = await openPending();
    const home = await give(browser, codes[0]);
    expect(home.headers.get('location')).toBe('/profile/authenticator?recovered');
    expect(textOf(await browser.send('/profile/authenticator?recovered'))).toContain(
      'If you have lost your phone',
    );
    expect(textOf(await browser.send(page))).not.toContain('If you have lost your phone');
    const launch = '/sso/launch/marketplace';
    const onTheWay = await give(await openPending(`/login?next=${launch}`), codes[1], `&next=${launch}`);
    expect(onTheWay.headers.get('location')).toBe(`/go?next=${encodeURIComponent(launch)}`);
  });

  it('works once, even when 16 logins give it at once', async () => {
    const browsers = await openPendings(16);
    const answers = await withoutLimits(() =>
      sendPatiently(browsers.map((browser) => () => enterCode(browser, codes[0] ?? ''))),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(15);
  });

  it('of somebody else does not work', async () => {
    const stranger = await logIn(app.send, 'customer@example.test');
    const theirs = await setUp(stranger, clock);
    expect((await enterCode(await openPending(), theirs.codes[0] ?? '')).status).toBe(401);
    expect((await enterCode(await openPending(), showCode(theirs.secret, clock + 30_000))).status).toBe(401);
  });
});

describe('guesses of codes (contract 9.50)', () => {
  it('are ten an hour, however many come at once', async () => {
    const browser = await openPending();
    const cookie = browser.cookie();
    const wrong = wrongCode(secret, clock);
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, at) =>
        (at % 2 ? app : other).send('/login/code', { cookie, form: { code: wrong } }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(22);
    expect(answers.filter(({ status }) => status === 401 || status === 503)).toHaveLength(10);
    for (const answer of refused) expectRetryAfter(answer, 3_600);
    // Correct codes are not looked at either, from any IP address.
    const elsewhere = await openPending();
    const late = { cookie: elsewhere.cookie(), form: { code: show() }, from: '203.0.113.9' };
    expect((await app.send('/login/code', late)).status).toBe(429);
    expect((await enterCode(elsewhere, codes[0] ?? '')).status).toBe(429);
  });

  it('by somebody who knows the password do not keep the owner out of the browsers they use, and the owner gets one mail', async () => {
    const attacker = await openPending();
    for (let tries = 0; tries < 12; tries++) await enterCode(attacker, wrongCode(secret, clock));
    expect((await listNotices(app.db, email)).filter((kind) => kind === 'codes_guessed')).toHaveLength(1);
    expectCodeAsked(await owner.login(email));
    expect((await enterCode(owner, show())).status).toBe(303);
    expect(await owner.whoAmI()).toBe(email);
  });

  it('are 300 in 15 minutes from one address, in however many browsers that the owner uses', async () => {
    const browsers: Browser[] = [];
    for (let n = 0; n <= 31; n++) {
      // The clock moves on: each code works once, and each browser is first known at another time.
      clock += 30_000;
      const browser = await openPending();
      expect((await enterCode(browser, show())).status).toBe(303);
      browsers.push(browser);
    }
    const last = browsers.pop() as Browser;
    const statuses: number[] = [];
    for (const browser of browsers) {
      expectCodeAsked(await browser.login(email));
      for (let tries = 0; tries < 10; tries++)
        statuses.push((await enterCode(browser, wrongCode(secret, clock))).status);
    }
    expect(statuses).toEqual([...Array(300).fill(401), ...Array(10).fill(429)]);
    // From that IP address, even a correct code is not looked at in a browser that has not tried yet.
    clock += 30_000;
    expectCodeAsked(await last.login(email));
    expectRetryAfter(await enterCode(last, show()), 900);
    const elsewhere = await last.send('/login/code', { form: { code: show() }, from: '203.0.113.77' });
    expect(elsewhere.status).toBe(303);
  }, 120_000);

  it('that are right do not count', async () => {
    for (let tries = 0; tries < 12; tries++) {
      clock += 30_000;
      expect((await enterCode(await openPending(), show())).status).toBe(303);
    }
  });
});

describe('a password set by mail', () => {
  const newPassword = 'quite another long password';
  const setByMail = async (browser: Browser) => {
    await backend.call(({ passwordMail }) => passwordMail.request({ email }));
    const token = await readToken(backend, email, 'set_password');
    return browser.send(`/set-password?token=${token}`, { form: { newPassword } });
  };

  it('asks for the code before a session starts, logs out everywhere, and lets the owner guess anew', async () => {
    const { rows } = await sql<{
      hash: string;
    }>`select password_hash as hash from users where email = ${email}`.execute(app.db);
    const attacker = await openPending();
    for (let tries = 0; tries < 11; tries++) await enterCode(attacker, wrongCode(secret, clock));
    const browser = openBrowser(app.send);
    const set = await setByMail(browser);
    expectCodeAsked(set, '/profile?saved=password-set');
    const asked = await browser.send(set.headers.get('location') ?? '');
    expect(textOf(asked)).toContain('Your new password has been saved.');
    expect(await browser.whoAmI()).toBeUndefined();
    expect(await owner.whoAmI()).toBeUndefined();
    // Pending logins with the old password have ended.
    expect((await enterCode(attacker, show())).headers.get('location')).toBe('/login');
    expect((await enterCode(browser, show())).status).toBe(303);
    expect(await browser.whoAmI()).toBe(email);
    await sql`update users set password_hash = ${rows[0]?.hash} where email = ${email}`.execute(app.db);
  });
});

it('a change of the password keeps what the session says of the second factor (contract 9.78)', async () => {
  const form = {
    intent: 'password',
    currentPassword: 'local demo password',
    newPassword: 'quite another long password',
  };
  expect((await owner.send('/profile/security', { form })).status).toBe(303);
  expect(payloadOf(await owner.send('/sso/launch/marketplace'))).toMatchObject({
    amr: ['pwd', 'otp', 'mfa'],
  });
  const back = {
    intent: 'password',
    currentPassword: form.newPassword,
    newPassword: 'another local password!',
  };
  expect((await owner.send('/profile/security', { form: back })).status).toBe(303);
  await sql`update users set password_hash = (select password_hash from users where email = 'customer@example.test')
    where email = ${email}`.execute(app.db);
});

it('the database holds neither the secret nor a recovery code, nor what a login waits with', async () => {
  const browser = await openPending();
  const token = browser.jar.get('identity_pending_login') ?? '';
  expect(token).toHaveLength(43);
  const bare = secret.replaceAll(' ', '');
  const { rows } = await sql<{ text: string }>`select database_to_xml(true, false, '')::text as text`.execute(
    app.db,
  );
  const log = JSON.stringify(app.logged);
  for (const hidden of [token, bare, ...codes, ...codes.map((code) => code.replaceAll('-', ''))]) {
    expect(rows[0]?.text).not.toContain(hidden);
    expect(log).not.toContain(hidden);
  }
});

describe('a rotation of the key', () => {
  const key = (byte: number) =>
    btoa(String.fromCharCode(...Array.from({ length: 32 }, (_, at) => byte + at)));
  const local = btoa('local-encryption-key-do-not-use!');
  const logInUnder = async (keys: string) => {
    clock += 60_000;
    const { send } = await app.startInstance({ env: { IDENTITY_ENCRYPTION_KEY: keys } });
    const browser = await logIn(send, email);
    return (await enterCode(browser, show())).status;
  };

  it('writes the secret anew with the first key when a code is used', async () => {
    expect(await logInUnder(`${key(1)},${local}`)).toBe(303);
    expect(await logInUnder(key(1))).toBe(303);
    expect(await logInUnder(local)).toBe(500);
    app.logged.length = 0;
  });
});
