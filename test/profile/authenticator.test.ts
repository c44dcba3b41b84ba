import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Procedures } from '../../server/doors/trpc/router.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import {
  enterCode,
  expectCodeAsked,
  giveCode,
  page,
  payloadOf,
  readCodes,
  readSecret,
  setUp,
  setUpPage,
  showCode,
  startSetUp,
  wrongCode,
} from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const password = 'local demo password';

let clock = Date.parse('2026-03-01T12:00:00Z');
let owner: Browser;
const app = shared(() => openApp({ now: () => new Date(clock) }));
beforeEach(async () => {
  clock += 3_600_000;
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from authenticators`.execute(app.db);
  await sql`delete from recovery_codes`.execute(app.db);
  owner = await logIn(app.send, email);
  // The tests are not about the mails and events that the login left.
  await sql`delete from mails`.execute(app.db);
  await sql`delete from audit_events`.execute(app.db);
});

const send = (intent: string, more: Record<string, string> = {}) =>
  owner.send(page, { form: { intent, ...more } });

function expectNoSecret(answer: Answer): void {
  expect(answer.status).toBe(200);
  expect(textOf(answer)).toContain('Start again');
  expect(answer.text).not.toMatch(/otpauth|class="key"|class="qr"/);
}

async function countAuthenticators(): Promise<number> {
  return (await sql`select 1 from authenticators`.execute(app.db)).rows.length;
}

async function listEvents(): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`select type from audit_events
    where type ~ 'authenticator|recovery' order by id`.execute(app.db);
  return rows.map(({ type }) => type);
}

describe('setting it up', () => {
  it('shows a secret as a QR code and to type, and counts once a code proves it (contract 9.71)', async () => {
    expect(textOf(await owner.send('/profile/security'))).toContain('Authenticator app');
    const started = await send('set-up');
    expect([started.status, started.headers.get('location')]).toEqual([303, setUpPage]);
    expect(started.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^identity_set_up=[\w-]{75}; HttpOnly; Max-Age=600; Path=\/; SameSite=Lax$/),
    ]);
    const offered = await owner.send(setUpPage);
    expect(offered.status).toBe(200);
    expect(offered.text).toMatch(/<svg[^>]*role="img"[^>]*><path d="M\d+ \d+h1v1h-1z/);
    expect(offered.text).toContain('otpauth://totp/Identity:merchant%40example.test?secret=');
    expect(offered.headers.get('cache-control')).toBe('no-store');
    expect(await countAuthenticators()).toBe(0);
    const secret = readSecret(offered) ?? '';
    expect(offered.text).toContain(`data-copy="${secret.replaceAll(' ', '')}"`);
    expect([...offered.text.matchAll(/<input [^>]*name="(\w+)"/g)].map(([, name]) => name)).toEqual(['code']);

    const refused = await giveCode(owner, wrongCode(secret, clock));
    expect(refused.status).toBe(422);
    expect(fieldOf(refused, 'code').descriptions.join()).toContain('This code is wrong.');
    expect(readSecret(refused)).toBe(secret);
    expect(await countAuthenticators()).toBe(0);
    // A reload shows the same secret.
    expect(readSecret(await owner.send(setUpPage))).toBe(secret);

    // Contract 9.247 and 9.248.
    for (const offMs of [-240_000, -60_000, 60_000, 300_000]) {
      const told = await giveCode(owner, showCode(secret, clock + offMs));
      expect(told.status).toBe(422);
      expect(fieldOf(told, 'code').descriptions.join()).toContain('the clock on your phone may be off');
    }
    const typed = showCode(secret, clock).replace(/\d/g, (digit) =>
      String.fromCodePoint(0x660 + Number(digit)),
    );
    const added = await giveCode(owner, `${typed.slice(0, 3)}-${typed.slice(3)}\u200f`);
    expect(readCodes(added)).toHaveLength(10);
    expect(added.headers.get('cache-control')).toBe('no-store');
    expect(owner.jar.has('identity_set_up')).toBe(false);
    // The file has the same recovery codes as the page, and needs no script.
    const [, file = ''] = /href="data:text\/plain;charset=utf-8,([^"]+)"/.exec(added.text) ?? [];
    for (const code of readCodes(added)) expect(decodeURIComponent(file)).toContain(code);
    expect(added.text).toContain(`data-copy="${readCodes(added).join('\n')}"`);
    expect(added.text).toContain('<a href="/profile/security">I have saved them. Continue</a>');
    expect(await listEvents()).toEqual(['authenticator.added']);
    expect(await listNotices(app.db, email)).toEqual(['authenticator_added']);
    const shown = textOf(await owner.send(page));
    expect(shown).toContain('10 of 10');
    for (const code of readCodes(added)) expect(shown).not.toContain(code);
    // The set-up page does not show the codes a second time.
    const again = await owner.send(setUpPage);
    expect([again.status, again.headers.get('location')]).toEqual([303, page]);
  });

  it('logs out everywhere else, and counts in this session as given (contract 9.70)', async () => {
    const elsewhere = await logIn(app.send, email);
    await setUp(owner, clock);
    expect(await elsewhere.whoAmI()).toBeUndefined();
    expect(payloadOf(await owner.send('/sso/launch/marketplace'))).toMatchObject({
      amr: ['pwd', 'otp', 'mfa'],
    });
  });

  it('works once, even when 16 confirm it at once', async () => {
    const secret = await startSetUp(owner);
    const answers = await sendPatiently(
      Array.from({ length: 16 }, () => () => giveCode(owner, showCode(secret, clock))),
    );
    expect(answers.filter((answer) => readCodes(answer).length === 10)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(15);
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from recovery_codes`.execute(
      app.db,
    );
    expect(rows).toEqual([{ count: 10 }]);
    clock += 60_000;
    const browser = openBrowser(app.send);
    expectCodeAsked(await browser.login(email));
    expect((await enterCode(browser, showCode(secret, clock))).status).toBe(303);
  });

  it('shows one secret in two tabs, and for ten minutes from the last of them', async () => {
    const secret = await startSetUp(owner);
    clock += 500_000;
    expect(await startSetUp(owner)).toBe(secret);
    clock += 599_000;
    expect(readSecret(await owner.send(setUpPage))).toBe(secret);
    clock += 1_000;
    // The page hides the secret even if the browser still has the cookie of the set-up.
    expectNoSecret(await owner.send(setUpPage));
    await sql`update sessions set auth_time = ${new Date(clock)} where ended_at is null`.execute(app.db);
    const late = await giveCode(owner, showCode(secret, clock));
    expect([late.status, late.headers.get('location')]).toEqual([303, setUpPage]);
    expect(await startSetUp(owner)).not.toBe(secret);
    expect(await countAuthenticators()).toBe(0);
  });

  it('in the second tab, once the app is on, leads to where it says so', async () => {
    const { secret } = await setUp(owner, clock);
    const late = await giveCode(owner, showCode(secret, clock));
    expect([late.status, late.headers.get('location')]).toEqual([303, setUpPage]);
    expect((await owner.send(setUpPage)).headers.get('location')).toBe(page);
    expect((await send('set-up')).headers.get('location')).toBe(setUpPage);
    expect((await owner.send(setUpPage)).headers.get('location')).toBe(page);
    expect(await listEvents()).toEqual(['authenticator.added']);
  });

  it('takes only a secret of this user and session, and whole', async () => {
    const secret = await startSetUp(owner);
    const cookie = owner.jar.get('identity_set_up') ?? '';
    const stranger = await logIn(app.send, 'customer@example.test');
    const elsewhere = await logIn(app.send, email);
    const theirs = await startSetUp(stranger);
    const changed = (cookie.startsWith('A') ? 'B' : 'A') + cookie.slice(1);
    const wrong: [typeof owner, string][] = [
      [owner, stranger.jar.get('identity_set_up') ?? ''],
      ...[changed, '', 'A'.repeat(75), cookie.slice(1), '!'].map((each): [typeof owner, string] => [
        owner,
        each,
      ]),
      // In these cases, the browser has another user, or another session of this user.
      [stranger, cookie],
      [elsewhere, cookie],
    ];
    for (const [browser, value] of wrong) {
      browser.jar.set('identity_set_up', value);
      expectNoSecret(await browser.send(setUpPage));
      for (const code of [showCode(secret, clock), showCode(theirs, clock), '000000']) {
        const answer = await giveCode(browser, code);
        expect([answer.status, answer.headers.get('location')], value).toEqual([303, setUpPage]);
      }
    }
    expect(await countAuthenticators()).toBe(0);
  });

  it('begins again after a logout, also in the same browser', async () => {
    await startSetUp(owner);
    await owner.send('/logout', { form: {} });
    expect((await owner.send(setUpPage)).headers.get('location')).toBe(
      '/login?next=%2Fprofile%2Fauthenticator%2Fset-up',
    );
    await owner.login(email);
    expectNoSecret(await owner.send(setUpPage));
  });

  it('changes nothing by a GET', async () => {
    const answer = await owner.send(`${page}?set-up&intent=set-up`);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
    const shown = await owner.send(setUpPage);
    expectNoSecret(shown);
    expect(shown.headers.getSetCookie()).toEqual([]);
  });

  it('goes on to where somebody was going', async () => {
    const to = '?next=%2Fsso%2Flaunch%2Fmarketplace';
    const started = await owner.send(page + to, { form: { intent: 'set-up' } });
    expect(started.headers.get('location')).toBe(setUpPage + to);
    const secret = readSecret(await owner.send(setUpPage + to)) ?? '';
    const added = await owner.send(setUpPage + to, { form: { code: showCode(secret, clock) } });
    expect(textOf(added)).toContain('I have saved them. Continue to Marketplace');
    const elsewhere = await owner.send(`${setUpPage}?next=//evil.example`);
    expect(elsewhere.headers.get('location')).toBe(page);
  });

  it('does not turn on anything for a session that has ended meanwhile', async () => {
    const secret = await startSetUp(owner);
    await sql`update sessions set ended_at = now()`.execute(app.db);
    const answer = await giveCode(owner, showCode(secret, clock));
    expect([answer.status, locationOf(answer).searchParams.get('next')]).toEqual([
      303,
      '/profile/authenticator/set-up',
    ]);
    expect(await countAuthenticators()).toBe(0);
  });
});

describe('what is asked once more', () => {
  it.each([
    ['turn-off', 'Turn off the authenticator app?', 'Your password alone will be enough to log in.'],
    ['renew-codes', 'Make new recovery codes?', 'The 10 codes you have left will stop working.'],
  ])('%s: on a page of its own, and nothing is done before', async (intent, title, words) => {
    await setUp(owner, clock);
    for (const more of [{}, { sure: '' }, { sure: 'no' }]) {
      const asked = await send(intent, more as Record<string, string>);
      expect([asked.status, asked.headers.get('location')]).toEqual([303, `${page}?sure=${intent}`]);
    }
    const question = await owner.send(`${page}?sure=${intent}`);
    const text = textOf(question);
    for (const said of [title, words, `We will email ${email}`]) expect(text).toContain(said);
    expect([fieldOf(question, 'intent').value, fieldOf(question, 'sure').value]).toEqual([intent, 'yes']);
    expect(await listEvents()).toEqual(['authenticator.added']);
    expect(await countAuthenticators()).toBe(1);
  });

  it('only if there is something to ask about', async () => {
    for (const sure of ['turn-off', 'renew-codes', 'x'])
      expect(textOf(await owner.send(`${page}?sure=${sure}`))).toContain('Set up the app');
  });

  it('is not asked again if a credential is needed, too', async () => {
    await setUp(owner, clock);
    clock += 601_000;
    const asked = await send('turn-off', { sure: 'yes' });
    expect([asked.status, fieldOf(asked, 'sure').value]).toEqual([401, 'yes']);
    expect((await send('turn-off', { sure: 'yes', confirmPassword: password })).headers.get('location')).toBe(
      `${page}?off`,
    );
  });
});

describe('a login of over ten minutes ago (contract 9.70)', () => {
  const intents = ['set-up', 'renew-codes', 'turn-off'];

  it('is not enough: the password is asked for, and then what was asked is done', async () => {
    clock += 601_000;
    for (const intent of intents) {
      const asked = await send(intent);
      expect(asked.status, intent).toBe(401);
      expect(textOf(asked)).toContain('Confirm it’s you');
      expect(fieldOf(asked, 'intent').value).toBe(intent);
    }
    const asked = await giveCode(owner, '123456');
    expect([asked.status, asked.text.includes('123456')]).toEqual([401, false]);
    // The code is not kept while the page asks for a password. After that, the set-up page asks for the code a second time.
    const stale = await owner.send(setUpPage, { form: { confirmPassword: password } });
    expect([stale.status, locationOf(stale).pathname]).toEqual([303, setUpPage]);
    clock += 601_000;
    expect((await send('set-up', { confirmPassword: 'wrong' })).status).toBe(401);
    expect((await send('set-up', { confirmPassword: password })).status).toBe(303);
    expect(readSecret(await owner.send(setUpPage))).toBeDefined();
  });

  it('is not enough for the rules themselves either, if a page forgets to ask', async () => {
    await setUp(owner, clock);
    clock += 601_000;
    const { call, close } = await openBackend({
      databaseUrl: app.databaseUrl,
      now: () => new Date(clock),
    });
    try {
      const request = new Request(`http://localhost:3000${page}`, { headers: { cookie: owner.cookie() } });
      const changes: ((procedures: Procedures) => Promise<unknown>)[] = [
        ({ authenticator }) => authenticator.startSetUp(),
        ({ authenticator }) => authenticator.add({ code: '' }),
        ({ authenticator }) => authenticator.renewCodes(),
        ({ authenticator }) => authenticator.remove(),
      ];
      for (const change of changes)
        await expect(call(change, { request })).rejects.toMatchObject({ code: 'login_required' });
    } finally {
      await close();
    }
  });

  it('changes nothing, with any form', async () => {
    await setUp(owner, clock);
    clock += 601_000;
    for (const intent of intents) await send(intent, { sure: 'yes' });
    await giveCode(owner, '123456');
    expect(await countAuthenticators()).toBe(1);
    expect(await listEvents()).toEqual(['authenticator.added']);
  });
});

describe('a session without the second factor (contract 9.77)', () => {
  it('cannot turn it off with the password alone, on the page or after a login', async () => {
    const { secret } = await setUp(owner, clock);
    // A session that the marketplace started has no credential.
    await sql`update sessions set amr = '{ext}', auth_time = null where ended_at is null`.execute(app.db);
    const asked = await send('turn-off', { confirmPassword: password });
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Enter your password and a code to ');
    const href = '/login?prompt=login&next=%2Fprofile%2Fauthenticator';
    await sql`update sessions set amr = '{pwd}', auth_time = ${new Date(clock)} where ended_at is null`.execute(
      app.db,
    );
    expect((await send('turn-off')).status).toBe(401);
    expect(await countAuthenticators()).toBe(1);

    clock += 60_000;
    expectCodeAsked(await owner.login(email, password, href), page);
    await enterCode(owner, showCode(secret, clock), '/login/code');
    expect((await send('turn-off', { sure: 'yes' })).status).toBe(303);
    expect(await countAuthenticators()).toBe(0);
  });

  describe('takes password and code together (contract 11.17)', () => {
    let secret: string;
    let codes: string[];
    const forget = () =>
      sql`update sessions set amr = '{ext}', auth_time = null where ended_at is null`.execute(app.db);
    const confirm = (confirmPassword: string, confirmCode: string) =>
      send('turn-off', { sure: 'yes', confirmPassword, confirmCode });
    const events = async () => {
      const { rows } = await sql<{ said: string }>`select type || ' ' || reason as said from audit_events
        where type ~ 'refused|confirmed' order by id`.execute(app.db);
      return rows.map(({ said }) => said);
    };
    const right = () => showCode(secret, clock);
    beforeEach(async () => {
      ({ secret, codes } = await setUp(owner, clock));
      await forget();
      clock += 60_000;
    });

    it('and does at once what waited, in a session that then has the second factor', async () => {
      const asked = await send('turn-off', { sure: 'yes' });
      expect(asked.text).toContain('name="confirmCode"');
      expect((await confirm(password, right())).headers.get('location')).toBe(`${page}?off`);
      expect(await countAuthenticators()).toBe(0);
      const { rows } =
        await sql`select amr from sessions where ended_at is null and auth_time is not null`.execute(app.db);
      expect(rows).toContainEqual({ amr: ['pwd', 'otp', 'mfa'] });
      expect(await events()).toEqual(['login.confirmed code']);
    });

    it('and looks at a code only after a right password', async () => {
      const wrong = await confirm('not the password', right());
      expect([wrong.status, textOf(wrong)]).toEqual([
        401,
        expect.stringContaining('The password is incorrect'),
      ]);
      for (const [code, words] of [
        [wrongCode(secret, clock), 'This code is wrong or has already been used.'],
        [showCode(secret, clock + 120_000), 'the clock on your phone may be off'],
        ['', 'This code is wrong or has already been used.'],
      ] as const) {
        const answer = await confirm(password, code);
        expect([answer.status, fieldOf(answer, 'confirmCode').descriptions.join()]).toEqual([
          401,
          expect.stringContaining(words),
        ]);
      }
      expect(await events()).toEqual([
        'password.refused wrong_password',
        ...Array(3).fill('login.refused wrong_code'),
      ]);
      expect(await countAuthenticators()).toBe(1);
      expect((await confirm(password, right())).status).toBe(303);
    });

    it('and takes each code once, however many come at once, and a recovery code, with a mail', async () => {
      // Without `sure`, a confirmed form redirects to a question and changes nothing.
      const form = { intent: 'turn-off', confirmPassword: password, confirmCode: codes[0] ?? '' };
      await sendPatiently(
        Array.from({ length: 16 }, () => () => app.send(page, { form, cookie: owner.cookie() })),
      );
      const { rows } = await sql`select 1 from audit_events where type = 'login.confirmed'`.execute(app.db);
      expect(rows).toHaveLength(1);
      expect(await listNotices(app.db, email)).toContain('recovery_code_used');
    });

    it('and counts tries together with those of a login (contract 9.50)', async () => {
      const answers = await sendPatiently(
        Array.from({ length: 16 }, () => () => confirm(password, wrongCode(secret, clock))),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(10).fill(401),
        ...Array(6).fill(429),
      ]);
      // The limit is used up, so the service looks at no code, not even a right one, and hashes no password.
      expect((await confirm(password, right())).status).toBe(429);
      expect((await confirm('not the password', right())).status).toBe(429);
      expect(await countAuthenticators()).toBe(1);
      expect(await listNotices(app.db, email)).toContain('codes_guessed');
    });
  });

  it('changes nothing else by the password either, on pages or by programs, and downloads nothing', async () => {
    await setUp(owner, clock);
    await sql`update sessions set amr = '{ext}', auth_time = null where ended_at is null`.execute(app.db);
    const currentPassword = password;
    const forms: Record<string, string>[] = [
      { intent: 'password', currentPassword, newPassword: 'another long password' },
      { intent: 'end-others', currentPassword },
      { intent: 'remove-link', externalId: 'x', currentPassword },
    ];
    for (const form of forms) {
      const asked = await owner.send('/profile/security', { form });
      expect([asked.status, textOf(asked).includes('Enter your password and a code')]).toEqual([401, true]);
    }
    const programs = openClient(app.send, owner.cookie());
    for (const call of [
      () => programs.profile.changePassword.mutate({ currentPassword, newPassword: 'another long password' }),
      () => programs.links.remove.mutate({ provider: 'marketplace', externalId: 'x', currentPassword }),
      () => programs.sessions.endOthers.mutate({ currentPassword }),
    ])
      expect((await refusalOf(call())).problem).toBe('login_required');
    // The session's credential is fresh, but it was only the password, so it does not suffice.
    await sql`update sessions set amr = '{pwd}', auth_time = ${new Date(clock)} where ended_at is null`.execute(
      app.db,
    );
    const change = programs.email.requestChange.mutate({ email: 'elsewhere@example.test' });
    expect((await refusalOf(change)).problem).toBe('login_required');
    expect((await owner.send('/profile/data.json')).headers.get('location')).toBe('/profile/data');
    expectCodeAsked(await openBrowser(app.send).login(email, password));
  });
});

it('other browsers have no allowance for codes once it is set up, whatever they gave before', async () => {
  await openBrowser(app.send).login(email);
  await setUp(owner, clock);
  const { rows } = await sql`select 1 from devices d join users u on u.id = d.user_id
    where u.email = ${email} and d.forgotten_at is null`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('somebody without a password sets one first', async () => {
  await sql`update users set password_hash = null where email = 'new-merchant@example.test'`.execute(app.db);
  await sql`update sessions set user_id = (select id from users where email = 'new-merchant@example.test'),
    amr = '{ext}', auth_time = null where ended_at is null`.execute(app.db);
  const asked = await send('set-up');
  expect(asked.status).toBe(401);
  expect(textOf(asked)).toContain('Set a password first');
});

it('new recovery codes replace the old ones', async () => {
  const { secret, codes } = await setUp(owner, clock);
  const renewed = readCodes(await send('renew-codes', { sure: 'yes' }));
  expect(renewed).toHaveLength(10);
  expect(renewed.filter((code) => codes.includes(code))).toEqual([]);
  expect(await listEvents()).toEqual(['authenticator.added', 'recovery_codes.made']);
  expect(await listNotices(app.db, email)).toEqual(['authenticator_added', 'recovery_codes_made']);
  const browser = await logIn(app.send, email);
  for (const old of codes.slice(0, 3)) expect((await enterCode(browser, old)).status).toBe(401);
  expect((await enterCode(browser, renewed[0] ?? '')).status).toBe(303);
  expect(secret).not.toBe('');
});

it('turned off, it is gone with its recovery codes, and the password alone is enough', async () => {
  const { codes } = await setUp(owner, clock);
  const off = await send('turn-off', { sure: 'yes' });
  expect([off.status, off.headers.get('location')]).toEqual([303, `${page}?off`]);
  expect(textOf(await owner.send(`${page}?off`))).toContain('You have turned off the authenticator app.');
  expect((await sql`select 1 from recovery_codes`.execute(app.db)).rows).toEqual([]);
  expect(await listEvents()).toEqual(['authenticator.added', 'authenticator.removed']);
  expect(await listNotices(app.db, email)).toEqual(['authenticator_added', 'authenticator_removed']);
  const browser = await logIn(app.send, email);
  expect(await browser.whoAmI()).toBe(email);
  expect(codes).toHaveLength(10);
  // Sending the form a second time changes nothing, and sends no mail.
  for (const intent of ['turn-off', 'renew-codes'])
    expect((await send(intent, { sure: 'yes' })).status).toBe(303);
  const notices = await listNotices(app.db, email);
  expect(notices.filter((kind) => /authenticator|recovery/.test(kind))).toHaveLength(2);
});

it('only its owner reaches the page, from our own pages only', async () => {
  const nobody = openBrowser(app.send);
  const login = '/login?next=%2Fprofile%2Fauthenticator';
  expect((await nobody.send(page)).headers.get('location')).toBe(login);
  for (const intent of ['set-up', 'renew-codes', 'turn-off'])
    expect((await nobody.send(page, { form: { intent } })).headers.get('location')).toBe(login);
  const headers = { origin: 'https://evil.example' };
  expect((await owner.send(page, { form: { intent: 'set-up' }, headers })).status).toBe(403);
  expect((await send('nothing-of-ours')).status).toBe(400);
});

it('a person who is erased leaves nothing of it', async () => {
  const erased = await openApp();
  try {
    const theirs = await logIn(erased.send, email);
    await setUp(theirs, Date.now());
    await openBrowser(erased.send).login(email);
    const count = () =>
      sql<{
        rows: number;
      }>`select (select count(*) from authenticators) + (select count(*) from recovery_codes)
        + (select count(*) from pending_logins) as rows`.execute(erased.db);
    expect((await count()).rows).toEqual([{ rows: '12' }]);
    await sql`delete from users where email = ${email}`.execute(erased.db);
    expect((await count()).rows).toEqual([{ rows: '0' }]);
  } finally {
    await erased.close();
  }
});
