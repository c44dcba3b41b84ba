// Setting up an authenticator app, new recovery codes, and turning it off, by its owner.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Procedures } from '../../server/trpc/router.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import {
  enterCode,
  expectCodeAsked,
  page,
  payloadOf,
  readCodes,
  readOffer,
  setUp,
  showCode,
  wrongCode,
} from '../support/people/totp-app.ts';

const email = 'merchant@example.test';
const password = 'local demo password';

let app: TestApp;
let clock = Date.parse('2026-03-01T12:00:00Z');
let owner: Browser;
beforeAll(async () => {
  app = await openApp({ now: () => new Date(clock) });
});
afterAll(() => app.close());
beforeEach(async () => {
  clock += 3_600_000;
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from authenticators`.execute(app.db);
  await sql`delete from recovery_codes`.execute(app.db);
  owner = await logIn(app.send, email);
  // Not what the login has left.
  await sql`delete from mails`.execute(app.db);
  await sql`delete from audit_events`.execute(app.db);
});

const send = (intent: string, more: Record<string, string> = {}) =>
  owner.send(page, { form: { intent, ...more } });

async function countAuthenticators(): Promise<number> {
  return (await sql`select 1 from authenticators`.execute(app.db)).rows.length;
}

async function listEvents(): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`select type from audit_events
    where type ~ 'authenticator|recovery' order by id`.execute(app.db);
  return rows.map(({ type }) => type);
}

describe('setting it up', () => {
  it('shows a secret as a QR code and to type, and counts once a code proves it', async () => {
    expect(textOf(await owner.send('/profile/security'))).toContain('Authenticator app');
    const offered = await send('set-up');
    expect(offered.status).toBe(200);
    expect(offered.text).toMatch(/<svg[^>]*role="img"[^>]*><path d="M\d+ \d+h1v1h-1z/);
    expect(offered.text).toContain('otpauth://totp/Identity:merchant%40example.test?secret=');
    expect(offered.headers.get('cache-control')).toBe('no-store');
    expect(await countAuthenticators()).toBe(0);
    const { secret, sealed } = readOffer(offered);

    const refused = await send('add', { sealed, code: wrongCode(secret, clock) });
    expect(refused.status).toBe(422);
    expect(fieldOf(refused, 'code').descriptions.join()).toContain('This code is wrong.');
    expect(readOffer(refused)).toEqual({ secret, sealed });
    expect(await countAuthenticators()).toBe(0);

    const added = await send('add', { sealed, code: showCode(secret, clock) });
    expect(readCodes(added)).toHaveLength(10);
    expect(added.headers.get('cache-control')).toBe('no-store');
    // The file has the same, and needs no script.
    const [, file = ''] = /href="data:text\/plain;charset=utf-8,([^"]+)"/.exec(added.text) ?? [];
    for (const code of readCodes(added)) expect(decodeURIComponent(file)).toContain(code);
    expect(added.text).toContain('<a href="/profile/security">I have kept them. Continue</a>');
    expect(await listEvents()).toEqual(['authenticator.added']);
    expect(await listNotices(app.db, email)).toEqual(['authenticator_added']);
    const shown = textOf(await owner.send(page));
    expect(shown).toContain('10 of 10');
    for (const code of readCodes(added)) expect(shown).not.toContain(code);
  });

  it('logs out everywhere else, and counts in this session as given', async () => {
    const elsewhere = await logIn(app.send, email);
    await setUp(owner, clock);
    expect(await elsewhere.whoAmI()).toBeUndefined();
    expect(payloadOf(await owner.send('/sso/launch/marketplace'))).toMatchObject({
      amr: ['pwd', 'otp', 'mfa'],
    });
  });

  it('works once, even when 16 confirm it at once', async () => {
    const asked = await sendPatiently(Array.from({ length: 16 }, () => () => send('set-up')));
    const offers = asked.map(readOffer);
    const answers = await sendPatiently(
      offers.map(
        ({ secret, sealed }) =>
          () =>
            send('add', { sealed, code: showCode(secret, clock) }),
      ),
    );
    const winners = answers.filter((answer) => readCodes(answer).length === 10);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(15);
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from recovery_codes`.execute(
      app.db,
    );
    expect(rows).toEqual([{ count: 10 }]);
    // The app that has won is the one that counts.
    clock += 60_000;
    const { secret } = offers[answers.indexOf(winners[0] as (typeof answers)[0])] ?? { secret: '' };
    const browser = openBrowser(app.send);
    expectCodeAsked(await browser.login(email));
    expect((await enterCode(browser, showCode(secret, clock))).status).toBe(303);
  });

  it('takes only a secret that was made for this user, and is whole', async () => {
    const stranger = await logIn(app.send, 'customer@example.test');
    const theirs = readOffer(await stranger.send(page, { form: { intent: 'set-up' } }));
    const { secret, sealed } = readOffer(await send('set-up'));
    const changed = (sealed.startsWith('A') ? 'B' : 'A') + sealed.slice(1);
    for (const wrong of [theirs.sealed, changed, '', 'A'.repeat(64), '!'])
      for (const code of [showCode(secret, clock), showCode(theirs.secret, clock), '000000'])
        expect((await send('add', { sealed: wrong, code })).status, wrong).toBe(400);
    expect(await countAuthenticators()).toBe(0);
  });

  it('does not turn on anything for a session that has ended meanwhile', async () => {
    const { secret, sealed } = readOffer(await send('set-up'));
    await sql`update sessions set ended_at = now()`.execute(app.db);
    const answer = await send('add', { sealed, code: showCode(secret, clock) });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/login?next=%2Fprofile%2Fauthenticator',
    ]);
    expect(await countAuthenticators()).toBe(0);
  });
});

describe('a login of over ten minutes ago', () => {
  const intents = ['set-up', 'add', 'renew-codes', 'turn-off'];

  it('is not enough: the password is asked for, and then what was asked is done', async () => {
    clock += 601_000;
    for (const intent of intents) {
      const asked = await send(intent, { sealed: 'kept', code: '123456' });
      expect(asked.status, intent).toBe(401);
      expect(textOf(asked)).toContain('Confirm it’s you');
      expect(fieldOf(asked, 'intent').value).toBe(intent);
      expect(fieldOf(asked, 'sealed').value).toBe('kept');
    }
    expect((await send('set-up', { confirmPassword: 'wrong' })).status).toBe(401);
    expect(readOffer(await send('set-up', { confirmPassword: password })).secret).not.toBe('');
  });

  it('is not enough for the rules themselves either, should a page forget to ask', async () => {
    await setUp(owner, clock);
    clock += 601_000;
    const { call, close } = await openBackend({
      databaseUrl: app.databaseUrl,
      now: () => new Date(clock),
    });
    try {
      const request = new Request(`http://localhost:3000${page}`, { headers: { cookie: owner.cookie() } });
      const changes: ((procedures: Procedures) => Promise<unknown>)[] = [
        ({ authenticator }) => authenticator.offer(),
        ({ authenticator }) => authenticator.add({ sealed: '', code: '' }),
        ({ authenticator }) => authenticator.renewCodes(),
        ({ authenticator }) => authenticator.remove(),
      ];
      for (const change of changes)
        await expect(call(change, { request })).rejects.toMatchObject({ code: 'login_required' });
    } finally {
      await close();
    }
  });

  it('changes nothing, whatever is sent', async () => {
    await setUp(owner, clock);
    clock += 601_000;
    for (const intent of intents) await send(intent);
    expect(await countAuthenticators()).toBe(1);
    expect(await listEvents()).toEqual(['authenticator.added']);
  });
});

describe('a session without the second factor', () => {
  it('cannot turn it off with the password, and is led to a login', async () => {
    const { secret } = await setUp(owner, clock);
    // Such as one that the marketplace started.
    await sql`update sessions set amr = '{ext}', auth_time = null where ended_at is null`.execute(app.db);
    const asked = await send('turn-off', { confirmPassword: password });
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Log in again first');
    const href = '/login?prompt=login&next=%2Fprofile%2Fauthenticator';
    expect(asked.text).toContain(`href="${href.replace('&', '&amp;')}"`);
    await sql`update sessions set amr = '{pwd}', auth_time = ${new Date(clock)} where ended_at is null`.execute(
      app.db,
    );
    expect((await send('turn-off')).status).toBe(401);
    expect(await countAuthenticators()).toBe(1);

    clock += 60_000;
    expectCodeAsked(await owner.login(email, password, href), page);
    await enterCode(owner, showCode(secret, clock), '/login/code');
    expect((await send('turn-off')).status).toBe(303);
    expect(await countAuthenticators()).toBe(0);
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
      expect([asked.status, textOf(asked).includes('Log in again first')]).toEqual([401, true]);
    }
    const programs = openClient(app.send, owner.cookie());
    for (const call of [
      () => programs.profile.changePassword.mutate({ currentPassword, newPassword: 'another long password' }),
      () => programs.links.remove.mutate({ provider: 'marketplace', externalId: 'x', currentPassword }),
      () => programs.sessions.endOthers.mutate({ currentPassword }),
    ])
      expect((await refusalOf(call())).problem).toBe('login_required');
    // Not even with a credential of just now, if it was the password.
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
  const renewed = readCodes(await send('renew-codes'));
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
  const off = await send('turn-off');
  expect([off.status, off.headers.get('location')]).toEqual([303, `${page}?off`]);
  expect(textOf(await owner.send(`${page}?off`))).toContain('The authenticator app is turned off.');
  expect((await sql`select 1 from recovery_codes`.execute(app.db)).rows).toEqual([]);
  expect(await listEvents()).toEqual(['authenticator.added', 'authenticator.removed']);
  expect(await listNotices(app.db, email)).toEqual(['authenticator_added', 'authenticator_removed']);
  const browser = await logIn(app.send, email);
  expect(await browser.whoAmI()).toBe(email);
  expect(codes).toHaveLength(10);
  // Sent again, nothing happens, and nobody is told.
  for (const intent of ['turn-off', 'renew-codes']) expect((await send(intent)).status).toBe(303);
  const notices = await listNotices(app.db, email);
  expect(notices.filter((kind) => /authenticator|recovery/.test(kind))).toHaveLength(2);
});

it('only its owner reaches the page, from our own pages only', async () => {
  const nobody = openBrowser(app.send);
  const login = '/login?next=%2Fprofile%2Fauthenticator';
  expect((await nobody.send(page)).headers.get('location')).toBe(login);
  for (const intent of ['set-up', 'add', 'renew-codes', 'turn-off'])
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
