import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp, type TestApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import {
  type Authenticator,
  addPasskey,
  createAuthenticator,
  fetchOptions,
  type Lie,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const refusal = 'We could not log you in with that passkey. Try again, or use your password.';

let clock: Date | undefined;
let phone: Authenticator;
let others: Authenticator;
const app = shared(() => openApp({ now: () => clock ?? new Date() }));
beforeAll(async () => {
  phone = await addTo(email);
  others = await addTo('customer@example.test');
});

async function addTo(address: string, authenticator = createAuthenticator()): Promise<Authenticator> {
  const browser = await logIn(app.send, address);
  return addPasskey(browser, authenticator);
}

const reasonsSince = (length: number) =>
  app.logged
    .slice(length)
    .flatMap(({ message, fields }) => (message === 'login refused' ? [fields.reason] : []));

const namedSince = (length: number) =>
  app.logged
    .slice(length)
    .flatMap(({ message, fields }) => (message === 'login refused' ? [fields.userId] : []));

const countSessions = async () =>
  (await sql<{ n: number }>`select count(*)::int as n from sessions`.execute(app.db)).rows[0]?.n;

/** Expects one success. All other answers are refusals: 401, or 503 from a busy machine. */
function expectOne(answers: Answer[]): void {
  const [first, ...others] = answers.map(({ status }) => status).sort();
  expect(first).toBe(303);
  expect(others.filter((status) => status !== 401 && status !== 503)).toEqual([]);
}

describe('a passkey', () => {
  it('logs in without a password, and goes on to where one was going (contract 9.33 and 11.3)', async () => {
    const browser = openBrowser(app.send);
    const path = `/login?next=${encodeURIComponent('/sso/launch/crm_app?state=s')}`;
    const answer = await logInByPasskey(browser, phone, { path });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(
      `/go?next=${encodeURIComponent('/sso/launch/crm_app?state=s')}`,
    );
    expect(await browser.whoAmI()).toBe(email);
  });

  it('counts as two factors, and as a credential given now (contract 3.16 and 9.33)', async () => {
    const browser = openBrowser(app.send);
    await logInByPasskey(browser, phone);
    const launched = locationOf(await browser.send('/sso/launch/marketplace?state=s'));
    const [payload = ''] = launched.searchParams.getAll('payload');
    const { amr, auth_time } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(amr).toEqual(['pop', 'mfa']);
    expect(Math.abs(auth_time - Date.now() / 1_000)).toBeLessThan(30);
  });

  it('is recorded, and makes the browser one that its user knows', async () => {
    const browser = openBrowser(app.send);
    const answer = await logInByPasskey(browser, phone);
    expect(browser.jar.has('identity_device')).toBe(true);
    const { rows } = await sql`select type, reason from audit_events
      where request_id = ${answer.headers.get('x-request-id')}`.execute(app.db);
    expect(rows).toEqual(
      expect.arrayContaining([
        { type: 'login.succeeded', reason: 'passkey' },
        { type: 'session.started', reason: 'passkey' },
      ]),
    );
    const known = await sql`select from devices d join users u on u.id = d.user_id
      where u.email = ${email} and d.known_since is not null and d.is_last
        and token_hash = sha256(${browser.jar.get('identity_device')}::bytea)`.execute(app.db);
    expect(known.rows).toHaveLength(1);
  });

  it('of an authenticator that does not count works again and again', async () => {
    const synced = await addTo(
      'manager@example.test',
      createAuthenticator({ counts: false, isSynced: true }),
    );
    for (let n = 0; n < 3; n++)
      expect((await logInByPasskey(openBrowser(app.send), synced)).status).toBe(303);
  });

  it('gets its owner in at the cap of guesses', async () => {
    const stranger = () => app.send('/login', { form: { email, password: 'wrong' }, from: '198.51.100.9' });
    for (let n = 0; n < 10; n++) await stranger();
    expect((await stranger()).status).toBe(429);
    const send: TestApp['send'] = (path, options) => app.send(path, { ...options, from: '198.51.100.9' });
    expect((await logInByPasskey(openBrowser(send), phone)).status).toBe(303);
  });

  it('renews the session of the same user, and ends that of another', async () => {
    const browser = await logIn(app.send, email);
    const before = await countSessions();
    await logInByPasskey(browser, phone);
    expect(await countSessions()).toBe(before);
    const old = openBrowser(app.send, browser.cookie());
    await logInByPasskey(browser, others);
    expect(await old.whoAmI()).toBeUndefined();
    expect(await browser.whoAmI()).toBe('customer@example.test');
  });
});

it('a refused login names the owner of the passkey, if it has one', async () => {
  const { length } = app.logged;
  const lies: Lie[] = [
    { isForged: true },
    { isUnverified: true },
    { type: 'webauthn.create' },
    { credentialId: others.credentialId },
    { credentialId: 'AAAA' },
    { origin: 'https://evil.example' },
  ];
  for (const lie of lies) await logInByPasskey(openBrowser(app.send), phone, { lie });
  const [own, other] = [await idOf(app.db, email), await idOf(app.db, 'customer@example.test')];
  expect(namedSince(length)).toEqual([own, own, own, other, undefined, undefined]);
});

describe('a passkey is refused, always with the same words, (contract 9.39)', () => {
  const cases: [what: string, reason: string, lie: () => Lie][] = [
    ['made for another origin', 'origin', () => ({ origin: 'https://evil.example' })],
    ['made for another port of this host', 'origin', () => ({ origin: 'http://localhost:3001' })],
    ['made in a frame of another site', 'origin', () => ({ crossOrigin: true })],
    ['made for another host', 'rp_id', () => ({ rpId: 'evil.example' })],
    ['without user verification', 'user_verification', () => ({ isUnverified: true })],
    ['without anybody there', 'user_verification', () => ({ isAbsent: true })],
    ['signed wrongly', 'signature', () => ({ isForged: true })],
    ['of another ceremony', 'malformed', () => ({ type: 'webauthn.create' })],
    ['that nobody has', 'unknown_passkey', () => ({ credentialId: 'AAAA' })],
    ['signed by another one', 'other_user', () => ({ credentialId: others.credentialId })],
    ['that does not say whose it is', 'other_user', () => ({ userHandle: undefined })],
    [
      'that says it is somebody else’s',
      'other_user',
      () => ({ userHandle: Buffer.from('x').toString('base64url') }),
    ],
    [
      'for a challenge of its own',
      'challenge',
      () => ({ challenge: Buffer.from('x').toString('base64url') }),
    ],
  ];
  it.each(cases)('%s', async (_, reason, lie) => {
    const browser = openBrowser(app.send);
    const { length } = app.logged;
    const answer = await logInByPasskey(browser, phone, { lie: lie() });
    expect(answer.status).toBe(401);
    expect(textOf(answer)).toContain(refusal);
    // Only if the passkey is unknown here may the browser forget it (contract 9.362).
    expect(answer.text.includes('unknownCredential')).toBe(reason === 'unknown_passkey');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(reasonsSince(length)).toEqual([`passkey_${reason}`]);
  });

  it.each(['', '{', '[]', '{"id":"x"}', 'null', JSON.stringify({ id: 'A'.repeat(2_000) })])(
    'that is no answer of a browser: %s',
    async (passkey) => {
      const answer = await openBrowser(app.send).send('/login', { form: { passkey } });
      expect(answer.status).toBe(401);
      expect(textOf(answer)).toContain(refusal);
    },
  );

  it('used before, in the same words', async () => {
    const browser = openBrowser(app.send);
    const passkey = phone.answer(await fetchOptions(browser, 'login'), origin);
    expect((await browser.send('/login', { form: { passkey } })).status).toBe(303);
    const { length } = app.logged;
    const again = await browser.send('/login', { form: { passkey } });
    expect(again.status).toBe(401);
    expect(textOf(again)).toContain(refusal);
    expect(reasonsSince(length)).toEqual(['passkey_challenge_used']);
  });

  it('whose challenge was answered before, by whichever passkey', async () => {
    const browser = openBrowser(app.send);
    const options = await fetchOptions(browser, 'login');
    const first = await browser.send('/login', { form: { passkey: phone.answer(options, origin) } });
    const second = await browser.send('/login', { form: { passkey: others.answer(options, origin) } });
    expect([first.status, second.status]).toEqual([303, 401]);
  });

  it('in another browser than the one that got the challenge', async () => {
    const passkey = phone.answer(await fetchOptions(openBrowser(app.send), 'login'), origin);
    const other = openBrowser(app.send);
    const { length } = app.logged;
    expect((await other.send('/login', { form: { passkey } })).status).toBe(401);
    await fetchOptions(other, 'login');
    expect((await other.send('/login', { form: { passkey } })).status).toBe(401);
    expect(reasonsSince(length)).toEqual(['passkey_challenge', 'passkey_challenge']);
  });

  it('after five minutes, and not before', async () => {
    try {
      for (const [ms, status] of [
        [299_000, 303],
        [301_000, 401],
      ] as const) {
        const browser = openBrowser(app.send);
        clock = new Date();
        const options = await fetchOptions(browser, 'login');
        clock = new Date(clock.getTime() + ms);
        const answer = await browser.send('/login', { form: { passkey: phone.answer(options, origin) } });
        expect(answer.status).toBe(status);
      }
    } finally {
      clock = undefined;
    }
  });

  it.each(['confirm', 'add'] as const)('for a challenge of another purpose: %s', async (purpose) => {
    const browser = await logIn(app.send, email);
    const options = await fetchOptions(browser, purpose);
    const passkey = phone.answer({ ...options, rpId: 'localhost' }, origin);
    const { length } = app.logged;
    expect((await browser.send('/login', { form: { passkey } })).status).toBe(401);
    expect(reasonsSince(length)).toEqual(['passkey_challenge']);
  });

  // Contract 9.38.
  it('whose counter has not increased, as if it were a copy, and the audit says so', async () => {
    const copied = await addTo('admin@example.test');
    expect((await logInByPasskey(openBrowser(app.send), copied, { lie: { counter: 7 } })).status).toBe(303);
    for (const counter of [7, 6, 0]) {
      const answer = await logInByPasskey(openBrowser(app.send), copied, { lie: { counter } });
      expect(answer.status).toBe(401);
      const { rows } = await sql`select type, reason from audit_events
        where request_id = ${answer.headers.get('x-request-id')}`.execute(app.db);
      expect(rows).toEqual([{ type: 'login.refused', reason: 'passkey_counter' }]);
    }
    expect(
      (await logInByPasskey(openBrowser(app.send), copied, { lie: { counter: 4_294_967_295 } })).status,
    ).toBe(303);
  });

  it('with one of its characters changed, without growing a table', async () => {
    const rows = async () =>
      (
        await sql<{ n: number }>`select (select count(*) from audit_events)::int
          + (select count(*) from used_passkey_challenges)::int as n`.execute(app.db)
      ).rows;
    const before = await rows();
    const browser = openBrowser(app.send);
    for (let n = 0; n < 5; n++) {
      const { challenge } = await fetchOptions(browser, 'login');
      const bytes = Buffer.from(challenge, 'base64url').toString();
      const at = n * 20;
      const changed = bytes.slice(0, at) + (bytes[at] === '1' ? '2' : '1') + bytes.slice(at + 1);
      const lie = { challenge: Buffer.from(changed).toString('base64url') };
      expect((await logInByPasskey(browser, phone, { lie })).status).toBe(401);
    }
    expect(await rows()).toEqual(before);
  });
});

it('a suspended user gets 403 for a right passkey, and 401 for a wrong one', async () => {
  const theirs = await addTo('new-merchant@example.test');
  await sql`update users set suspended_at = now() where email = 'new-merchant@example.test'`.execute(app.db);
  const browser = openBrowser(app.send);
  const right = await logInByPasskey(browser, theirs);
  expect(right.status).toBe(403);
  expect(right.headers.getSetCookie()).toEqual([]);
  expect((await logInByPasskey(browser, theirs, { lie: { isForged: true } })).status).toBe(401);
});

it('one of 16 answers to one challenge logs in', async () => {
  const browser = openBrowser(app.send);
  const options = await fetchOptions(browser, 'login');
  const before = (await countSessions()) ?? 0;
  const cookie = browser.cookie();
  const answers = await Promise.all(
    Array.from({ length: 16 }, () =>
      app.send('/login', { cookie, form: { passkey: phone.answer(options, origin) } }),
    ),
  );
  expectOne(answers);
  expect(await countSessions()).toBe(before + 1);
});

it('one of 16 answers with one counter logs in', async () => {
  const browsers = Array.from({ length: 16 }, () => openBrowser(app.send));
  const answers = await Promise.all(
    browsers.map((browser) => logInByPasskey(browser, phone, { lie: { counter: 100_000 } })),
  );
  expectOne(answers);
});

it('challenges from before a restore of the database count no more', async () => {
  const browser = openBrowser(app.send);
  const options = await fetchOptions(browser, 'login');
  expect((await runCli(app.databaseUrl, ['database:restored'])).code).toBe(0);
  const passkey = phone.answer(options, origin, { counter: 200_000 });
  expect((await browser.send('/login', { form: { passkey } })).status).toBe(401);
  expect((await logInByPasskey(browser, phone, { lie: { counter: 200_001 } })).status).toBe(303);
});
