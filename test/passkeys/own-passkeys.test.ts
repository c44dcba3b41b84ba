import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Procedures } from '../../server/doors/trpc/router.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { overtake } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
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
const customer = 'customer@example.test';
const password = 'local demo password';

let hash: string;
const app = shared(openApp);
beforeAll(async () => {
  hash = await hashPassword(password);
});
beforeEach(async () => {
  await sql`delete from passkeys`.execute(app.db);
  await sql`delete from mails`.execute(app.db);
  await sql`delete from rate_limits`.execute(app.db);
  await sql`update users set password_hash = ${hash}, email_verified_at = now() where email in (${email}, ${customer})`.execute(
    app.db,
  );
});

async function openLoggedIn(address = email): Promise<Browser> {
  const browser = await logIn(app.send, address);
  return browser;
}

async function add(
  browser: Browser,
  lie: Lie = {},
  name = 'My phone',
  authenticator = createAuthenticator(),
) {
  const passkey = authenticator.register(await fetchOptions(browser, 'add'), origin, lie);
  return browser.send('/profile/passkeys/add', { form: { name, passkey } });
}

const listed = async (address = email) =>
  (
    await sql<{
      id: string;
      name: string;
      transports: string[];
      backed_up: boolean;
      last_used_at: Date | null;
    }>`
      select p.id, p.name, p.transports, p.backed_up, p.last_used_at from passkeys p join users u on u.id = p.user_id
      where u.email = ${address} order by p.created_at`.execute(app.db)
  ).rows;

const mailsTo = async (address: string) =>
  (
    await sql<{
      kind: string;
    }>`select kind from mails where recipient = ${address} order by created_at`.execute(app.db)
  ).rows.map(({ kind }) => kind);

const eventsOf = async (answer: Answer) =>
  (
    await sql<{ event: string }>`select concat_ws(' ', type, reason) as event from audit_events
      where request_id = ${answer.headers.get('x-request-id')} order by at, id`.execute(app.db)
  ).rows.map(({ event }) => event);

const dropPassword = () => sql`update users set password_hash = null where email = ${email}`.execute(app.db);

const send = (browser: Browser, form: Record<string, string>) => browser.send('/profile/passkeys', { form });

async function openWithoutPassword(): Promise<{ browser: Browser; phone: Authenticator }> {
  const phone = await addPasskey(await openLoggedIn());
  await dropPassword();
  const browser = openBrowser(app.send);
  expect((await logInByPasskey(browser, phone)).status).toBe(303);
  return { browser, phone };
}

describe('adding a passkey', () => {
  it('stores it under its name, tells the owner, and leaves other sessions alone (contract 9.35)', async () => {
    const elsewhere = await openLoggedIn();
    const browser = await openLoggedIn();
    const answer = await add(browser, {}, '  Zoë’s phone ', createAuthenticator({ isSynced: true }));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile/passkeys?saved=added']);
    expect(await listed()).toMatchObject([
      { name: 'Zoë’s phone', transports: ['internal'], backed_up: true, last_used_at: null },
    ]);
    expect(await eventsOf(answer)).toEqual(['passkey.added']);
    expect(await mailsTo(email)).toContain('passkey_added');
    expect(await elsewhere.whoAmI()).toBe(email);
    const page = textOf(await browser.send('/profile/passkeys?saved=added'));
    expect(page).toContain('Zoë’s phone');
    expect(page).toContain('Not used yet.');
    expect(page).toContain('You have added a passkey.');
  });

  const cases: [what: string, reason: string, lie: Lie][] = [
    ['made for another origin', 'origin', { origin: 'https://evil.example' }],
    ['made for another host', 'rp_id', { rpId: 'evil.example' }],
    ['without user verification', 'user_verification', { isUnverified: true }],
    ['without anybody there', 'user_verification', { isAbsent: true }],
    ['of another ceremony', 'malformed', { type: 'webauthn.get' }],
    ['with a key that is none', 'malformed', { publicKey: Buffer.from('a0', 'hex') }],
    ['with a challenge of its own', 'challenge', { challenge: 'AAAA' }],
  ];
  it.each(cases)('refuses one %s', async (_, reason, lie) => {
    const browser = await openLoggedIn();
    const { length } = app.logged;
    const answer = await add(browser, lie);
    expect(answer.status).toBe(422);
    expect(textOf(answer)).toContain('The passkey could not be added. Try again.');
    expect(fieldOf(answer, 'name').value).toBe('My phone');
    expect(app.logged.slice(length).map(({ fields }) => fields.reason)).toContain(`passkey_${reason}`);
    expect(await listed()).toEqual([]);
  });

  it.each(['', '{}', 'null', '{"id":"AA","rawId":"AA","type":"public-key","response":{}}'])(
    'refuses what no browser says: %s',
    async (passkey) => {
      const browser = await openLoggedIn();
      const answer = await browser.send('/profile/passkeys/add', { form: { name: 'x', passkey } });
      expect(answer.status).toBe(422);
    },
  );

  it('does not look at what the maker of an authenticator says, nor at addresses in it', async () => {
    expect((await add(await openLoggedIn(), { format: 'packed' })).status).toBe(303);
  });

  it.each([
    ['', 'Enter a name.'],
    ['\u200b', 'Enter a name.'],
    ['x'.repeat(201), 'Use no more than 200 characters.'],
    ['a\u202eb', 'Remove characters that cannot be shown, such as control characters.'],
  ])('refuses the name %j at its field, and uses nothing up', async (name, words) => {
    const browser = await openLoggedIn();
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    const answer = await browser.send('/profile/passkeys/add', { form: { name, passkey } });
    expect(answer.status).toBe(422);
    expect(fieldOf(answer, 'name')).toMatchObject({ isInvalid: true });
    expect(fieldOf(answer, 'name').descriptions).toContain(words);
    const again = await browser.send('/profile/passkeys/add', { form: { name: 'Fine', passkey } });
    expect(again.status).toBe(303);
  });

  // Contract 11.17.
  it('asks for the password again after ten minutes, and then goes on', async () => {
    const browser = await openLoggedIn();
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    const form = { name: 'My phone', passkey };
    const asked = await browser.send('/profile/passkeys/add', { form });
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Confirm it’s you');
    // The new passkey is not kept while the page asks for a password. After that, the page asks the browser for another
    // passkey.
    expect(asked.text).not.toContain('name="passkey"');
    expect(fieldOf(asked, 'name').value).toBe('My phone');
    const page = '/profile/passkeys/add';
    const back = await browser.send(page, { form: { name: 'My phone', confirmPassword: password } });
    expect([back.status, locationOf(back).pathname]).toEqual([303, page]);
    expect(await listed()).toEqual([]);
    await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    const confirmed = await browser.send('/profile/passkeys/add', {
      form: { ...form, confirmPassword: password },
    });
    expect(confirmed.status).toBe(303);
    expect(await listed()).toHaveLength(1);
  });

  it('is not for a session that a hand-off started, which has given no credential', async () => {
    const browser = await openLoggedIn();
    await sql`update sessions set auth_time = null, amr = '{ext}'`.execute(app.db);
    expect((await add(browser)).status).toBe(401);
    expect(await listed()).toEqual([]);
  });

  it('is not for an address that is not proved, which the database holds too (contract 9.34)', async () => {
    const browser = await openLoggedIn('unverified@example.test');
    const answer = await add(browser);
    expect(answer.status).toBe(403);
    const page = await browser.send('/profile/passkeys');
    expect(textOf(page)).toContain('You can add a passkey once you have verified your email address.');
    expect((await browser.send('/profile/passkeys/add')).headers.get('location')).toBe('/profile/passkeys');
    await expect(
      sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at)
        select gen_random_uuid(), id, 'x', 'x', 0, '{}', false, 'x', now() from users
        where email = 'unverified@example.test'`.execute(app.db),
    ).rejects.toThrow('a passkey needs a proved address');
  });

  it('is refused if somebody has that passkey already', async () => {
    const authenticator = createAuthenticator();
    await addPasskey(await openLoggedIn(), authenticator);
    const options = await fetchOptions(await openLoggedIn(), 'add');
    expect(options).toMatchObject({
      excludeCredentials: [{ id: authenticator.credentialId, type: 'public-key' }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    expect((await add(await openLoggedIn(customer), {}, 'Mine', authenticator)).status).toBe(422);
    expect(await listed(customer)).toEqual([]);
  });

  it('answers a challenge that was made for adding one, and not for a confirmation', async () => {
    const browser = await openLoggedIn();
    const options = { ...(await fetchOptions(browser, 'confirm')), rp: { id: 'localhost' } };
    const passkey = createAuthenticator().register(options, origin);
    expect((await browser.send('/profile/passkeys/add', { form: { name: 'x', passkey } })).status).toBe(422);
    const right = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    expect(
      (await browser.send('/profile/passkeys/add', { form: { name: 'x', passkey: right } })).status,
    ).toBe(303);
  });

  it('answers a challenge that was made for this user, in this browser', async () => {
    const theirs = await fetchOptions(await openLoggedIn(customer), 'add');
    const browser = await openLoggedIn();
    const passkey = createAuthenticator().register(theirs, origin);
    expect((await browser.send('/profile/passkeys/add', { form: { name: 'x', passkey } })).status).toBe(422);
    // Before the browser sends the passkey, somebody else logs in in the same browser.
    const own = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    await browser.login(customer);
    expect((await browser.send('/profile/passkeys/add', { form: { name: 'x', passkey: own } })).status).toBe(
      422,
    );
  });

  it('adds one of 16 answers to one challenge', async () => {
    const browser = await openLoggedIn();
    const options = await fetchOptions(browser, 'add');
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        browser.send('/profile/passkeys/add', {
          form: { name: 'x', passkey: createAuthenticator().register(options, origin) },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await listed()).toHaveLength(1);
  });

  it('ends at 20, also where 16 come at once (contract 9.34)', async () => {
    const browser = await openLoggedIn();
    for (let n = 0; n < 10; n++) await addPasskey(browser);
    const answers = await Promise.all(Array.from({ length: 16 }, () => add(browser)));
    expect(await listed()).toHaveLength(10 + answers.filter(({ status }) => status === 303).length);
    // Adds passkeys until there are 20, because a busy machine may have refused some of the sixteen.
    while ((await add(browser)).status === 303);
    expect(await listed()).toHaveLength(20);
    expect(textOf(await browser.send('/profile/passkeys'))).toContain(
      'You cannot have more passkeys than this.',
    );
  });

  it('adds nothing where the password is changed elsewhere meanwhile', async () => {
    const browser = await openLoggedIn();
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    const answer = await overtake(
      app.db,
      sql`select from users where email = ${email} for no key update`,
      () => browser.send('/profile/passkeys/add', { form: { name: 'x', passkey } }),
      sql`update sessions set ended_at = now() where ended_at is null`,
    );
    expect(locationOf(answer).searchParams.get('next')).toBe('/profile/passkeys/add');
    expect(await listed()).toEqual([]);
  });
});

describe('past the page that asks for a credential', () => {
  it('nothing is added, renamed or removed in a session whose credential is older than ten minutes (contract 9.35)', async () => {
    const browser = await openLoggedIn();
    await addPasskey(browser);
    const [{ id = '' } = {}] = await listed();
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'add'), origin);
    await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    const other = await openBackend({ databaseUrl: app.databaseUrl });
    const request = new Request(`${origin}/profile/passkeys`, { headers: { cookie: browser.cookie() } });
    const refused = { code: 'login_required' };
    const changes: ((procedures: Procedures) => Promise<void>)[] = [
      ({ passkeys }) => passkeys.add({ name: 'x', passkey }),
      ({ passkeys }) => passkeys.remove({ id }),
      ({ passkeys }) => passkeys.rename({ id, name: 'x' }),
    ];
    for (const change of changes)
      await expect(other.call(change, { request })).rejects.toMatchObject(refused);
    await other.close();
    expect(await listed()).toMatchObject([{ name: 'My phone' }]);
  });
});

describe('the list', () => {
  it('says when each was last used', async () => {
    const phone = await addPasskey(await openLoggedIn());
    const browser = openBrowser(app.send);
    await logInByPasskey(browser, phone);
    expect(textOf(await browser.send('/profile/passkeys'))).toContain('Last used');
    expect((await listed())[0]?.last_used_at).not.toBeNull();
  });

  it('renames one, and not somebody else’s', async () => {
    const browser = await openLoggedIn();
    await addPasskey(browser);
    const [{ id = '' } = {}] = await listed();
    expect((await send(browser, { intent: 'rename', id, name: 'Blue key' })).status).toBe(303);
    expect((await listed())[0]?.name).toBe('Blue key');
    const refused = await send(browser, { intent: 'rename', id, name: ' ' });
    expect(refused.status).toBe(422);
    expect(fieldOf(refused, 'name').descriptions).toContain('Enter a name.');
    const other = await openLoggedIn(customer);
    expect((await send(other, { intent: 'rename', id, name: 'Taken' })).status).toBe(404);
    expect((await listed())[0]?.name).toBe('Blue key');
  });

  it('asks for the password before it renames one after ten minutes, and keeps the name that was typed', async () => {
    const browser = await openLoggedIn();
    await addPasskey(browser);
    const [{ id = '' } = {}] = await listed();
    await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    const form = { intent: 'rename', id, name: 'Blue key' };
    const asked = await send(browser, form);
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Confirm it’s you');
    expect(['intent', 'id', 'name'].map((name) => fieldOf(asked, name).value)).toEqual([
      'rename',
      id,
      'Blue key',
    ]);
    expect((await send(browser, { ...form, confirmPassword: 'wrong' })).status).toBe(401);
    expect((await listed())[0]?.name).toBe('My phone');
    const done = await send(browser, { ...form, confirmPassword: password });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/profile/passkeys?saved=rename']);
    expect((await listed())[0]?.name).toBe('Blue key');
  });

  it.each(['GET', 'POST'])('is only for people who are logged in (%s)', async (method) => {
    const answer = await app.send('/profile/passkeys', {
      method,
      ...(method === 'POST' && { form: { intent: 'remove', id: 'x' } }),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/login?next=%2Fprofile%2Fpasskeys',
    ]);
  });

  it('tells somebody who has nothing else how to get in again', async () => {
    const { browser } = await openWithoutPassword();
    const page = textOf(await browser.send('/profile/passkeys'));
    expect(page).toContain('You do not have a password.');
    expect(page).toContain(`We will email a link to ${email} so that you can log in again.`);
  });
});

describe('removing a passkey', () => {
  it('ends logins with it, tells the owner, and leaves other sessions alone (contract 9.35 and 11.9)', async () => {
    const browser = await openLoggedIn();
    const phone = await addPasskey(browser);
    const elsewhere = openBrowser(app.send);
    await logInByPasskey(elsewhere, phone);
    const [{ id = '' } = {}] = await listed();
    const answer = await send(browser, { intent: 'remove', id });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile/passkeys?saved=remove']);
    expect(await eventsOf(answer)).toEqual(['passkey.removed']);
    expect(await mailsTo(email)).toContain('passkey_removed');
    expect(await elsewhere.whoAmI()).toBe(email);
    expect((await logInByPasskey(openBrowser(app.send), phone)).status).toBe(401);
  });

  it('asks for a credential again after ten minutes', async () => {
    const browser = await openLoggedIn();
    await addPasskey(browser);
    const [{ id = '' } = {}] = await listed();
    await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    expect((await send(browser, { intent: 'remove', id })).status).toBe(401);
    expect(await listed()).toHaveLength(1);
    expect((await send(browser, { intent: 'remove', id, confirmPassword: password })).status).toBe(303);
    expect(await listed()).toEqual([]);
  });

  it.each(['', 'x', '01900000-0000-7000-8000-00000000ffff'])('finds none with the id %j', async (id) => {
    expect((await send(await openLoggedIn(), { intent: 'remove', id })).status).toBe(404);
  });

  it('cannot be done to somebody else’s', async () => {
    await addPasskey(await openLoggedIn());
    const [{ id = '' } = {}] = await listed();
    expect((await send(await openLoggedIn(customer), { intent: 'remove', id })).status).toBe(404);
    expect(await listed()).toHaveLength(1);
  });

  it('leaves the last way to log in, also where 16 remove the last two at once (contract 9.36)', async () => {
    const { browser } = await openWithoutPassword();
    const [{ id = '' } = {}] = await listed();
    const refused = await send(browser, { intent: 'remove', id });
    expect(refused.status).toBe(422);
    expect(textOf(refused)).toContain('This is your only way to log in, so it was not removed.');
    await addPasskey(browser);
    const ids = (await listed()).map((passkey) => passkey.id);
    await Promise.all(
      Array.from({ length: 16 }, (_, at) => send(browser, { intent: 'remove', id: ids[at % 2] ?? '' })),
    );
    expect(await listed()).toHaveLength(1);
    const { rows } = await sql`select has_passkey from users where email = ${email}`.execute(app.db);
    expect(rows).toEqual([{ has_passkey: true }]);
  });

  it('goes with its user', async () => {
    await addPasskey(await openLoggedIn());
    await app.db
      .transaction()
      .execute(async (trx) => {
        await sql`delete from users where email = ${email}`.execute(trx);
        const { rows } = await sql`select from passkeys`.execute(trx);
        expect(rows).toEqual([]);
        throw new Error('undo');
      })
      .catch((error) => expect(error.message).toBe('undo'));
  });
});

describe('“Confirm it’s you”', () => {
  const stale = () =>
    sql`update sessions set auth_time = now() - interval '11 minutes', amr = '{pwd}'`.execute(app.db);
  const answerOf = async (browser: Browser, phone: Authenticator, lie?: Lie) =>
    phone.answer(await fetchOptions(browser, 'confirm'), origin, lie);

  it('takes a passkey, which then counts as given now (contract 11.17)', async () => {
    const { browser, phone } = await openWithoutPassword();
    await stale();
    const asked = await send(browser, { intent: 'add' });
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toContain('Use your passkey');
    expect(asked.text).not.toContain('name="confirmPassword"');
    expect(fieldOf(asked, 'intent').value).toBe('add');
    const form = { intent: 'add', confirmPasskey: await answerOf(browser, phone, { userHandle: undefined }) };
    const answer = await send(browser, form);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile/passkeys/add']);
    expect(await eventsOf(answer)).toEqual(['login.confirmed passkey']);
    const { rows } = await sql`select amr, auth_time > now() - interval '1 minute' as is_fresh from sessions
      where ended_at is null order by last_seen_at desc limit 1`.execute(app.db);
    expect(rows).toEqual([{ amr: ['pop', 'mfa'], is_fresh: true }]);
  });

  it('refuses it twice, and never shows it again', async () => {
    const { browser, phone } = await openWithoutPassword();
    await stale();
    const form = { intent: 'add', confirmPasskey: await answerOf(browser, phone) };
    expect((await send(browser, form)).status).toBe(303);
    await stale();
    const again = await send(browser, form);
    expect(again.status).toBe(401);
    expect(textOf(again)).toContain('The passkey was not accepted. Try again.');
    expect(again.text).not.toContain('clientDataJSON');
  });

  it.each<[string, Lie]>([
    ['signed wrongly', { isForged: true }],
    ['without user verification', { isUnverified: true }],
    ['for another origin', { origin: 'https://evil.example' }],
  ])('refuses one %s', async (_, lie) => {
    const { browser, phone } = await openWithoutPassword();
    await stale();
    const form = { intent: 'add', confirmPasskey: await answerOf(browser, phone, lie) };
    expect((await send(browser, form)).status).toBe(401);
  });

  it('refuses a passkey of somebody else, and the challenge of a login', async () => {
    const theirs = await addPasskey(await openLoggedIn(customer));
    const { browser, phone } = await openWithoutPassword();
    await stale();
    const other = { intent: 'add', confirmPasskey: await answerOf(browser, theirs) };
    expect((await send(browser, other)).status).toBe(401);
    const login = phone.answer(await fetchOptions(browser, 'login'), origin);
    expect((await send(browser, { intent: 'add', confirmPasskey: login })).status).toBe(401);
  });

  it('lets somebody without a password end their other sessions', async () => {
    const { browser, phone } = await openWithoutPassword();
    const elsewhere = openBrowser(app.send);
    await logInByPasskey(elsewhere, phone);
    await stale();
    const asked = await browser.send('/profile/security', { form: { intent: 'end-others' } });
    expect(asked.status).toBe(401);
    expect(await elsewhere.whoAmI()).toBe(email);
    const form = { intent: 'end-others', confirmPasskey: await answerOf(browser, phone) };
    expect((await browser.send('/profile/security', { form })).status).toBe(303);
    expect(await elsewhere.whoAmI()).toBeUndefined();
  });
});

it('a person with a passkey can log in by themselves: a hand-off with their address asks for that', async () => {
  const { browser } = await openWithoutPassword();
  const profile = textOf(await browser.send('/profile/security'));
  expect(profile).toContain('You do not have a password. You log in with a passkey.');
  const stranger = openBrowser(app.send);
  const opened = locationOf(await stranger.send(await buildHandOff(app, { id: 'same-address', email })));
  expect(opened.pathname).toBe('/continue');
  const page = textOf(await stranger.send(opened.pathname + opened.search));
  expect(page).toContain('Connect');
  const { rows } = await sql`select from external_links`.execute(app.db);
  expect(rows).toEqual([]);
});

it('no page from elsewhere gets the options for a passkey, and they need a session except for a login (contract 11.4)', async () => {
  const foreign = await app.send('/passkeys/options', {
    form: { purpose: 'login' },
    headers: { origin: 'https://evil.example' },
  });
  expect(foreign.status).toBe(403);
  for (const [purpose, status] of [
    ['login', 200],
    ['add', 401],
    ['confirm', 401],
    ['', 400],
    ['other', 400],
  ] as const)
    expect((await app.send('/passkeys/options', { form: { purpose } })).status, purpose).toBe(status);
  const { headers } = await app.send('/passkeys/options', { form: { purpose: 'login' } });
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('set-cookie')).toMatch(/^identity_passkey=[\w-]{43}; .*HttpOnly/);
});
