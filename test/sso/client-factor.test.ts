// A client that needs a second factor from everybody (contract 13.54 to 13.58).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp, targetOf } from '../support/app/app.ts';
import { type Browser, cookieOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildHandOff, type HandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import {
  type Authenticator,
  addPasskey,
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { enterCode, page, payloadOf, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const email = 'customer@example.test';
const password = 'local demo password';
const launch = '/sso/launch/vault?state=s1&return_to=%2Fa';
const html = { accept: 'text/html' };

let clock = Date.parse('2026-03-01T12:00:00Z');
const app = shared(() =>
  openApp({ env: { SSO_CLIENTS: 'vault', SSO_VAULT_FACTOR: 'required' }, now: () => new Date(clock) }),
);
beforeEach(async () => {
  clock += 3_600_000;
  for (const table of ['rate_limits', 'authenticators', 'passkeys', 'sessions'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const handOver = async (user: HandOff) => openHandOff(app, await buildHandOff(app, user, new Date(clock)));
const pathOf = (answer: Answer) => locationOf(answer).pathname + locationOf(answer).search;
const withNext = (path: string) =>
  `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(launch)}`;
const errorOf = async (browser: Pick<Browser, 'send'>) =>
  locationOf(await browser.send(`${launch}&prompt=none`)).searchParams.get('error');

/** Expects that a launch gives the session no payload and leads to `first`. Other clients do not ask for anything. */
async function expectOwed(browser: Pick<Browser, 'send'>, first: string): Promise<void> {
  const answer = await browser.send(launch);
  expect([answer.status, pathOf(answer)]).toEqual([303, withNext(first)]);
  expect(await errorOf(browser)).toBe('interaction_required');
  expect(payloadOf(await browser.send('/sso/launch/marketplace'))).toBeDefined();
}

/** Expects that the answer to a form goes on with the launch, which then gives a payload. */
async function expectGoesOn(browser: Browser, answer: Answer, amr: string[]): Promise<void> {
  expect([answer.status, targetOf(answer).pathname + targetOf(answer).search]).toEqual([303, launch]);
  expect(payloadOf(await browser.send(launch))).toMatchObject({ state: 's1', return_to: '/a', amr });
  expect(payloadOf(await browser.send(`${launch}&prompt=none`))).toBeDefined();
}

describe('somebody without a factor', () => {
  it('sets up an app first, and then goes on (contract 13.54, 13.55 and 13.57)', async () => {
    const browser = await logIn(app.send, email);
    await expectOwed(browser, page);
    const shown = await browser.send(withNext(page));
    expect(textOf(shown)).toContain(
      'Vault needs a second factor. To continue, set up the app or add a passkey .',
    );
    expect(shown.text).toContain(`href="${withNext('/profile/passkeys/add')}"`);
    const started = await browser.send(withNext(page), { form: { intent: 'set-up' } });
    expect(pathOf(started)).toBe(withNext('/profile/authenticator/set-up'));
    const secret = /<code class="key">([A-Z2-7 ]{39})</.exec((await browser.send(pathOf(started))).text)?.[1];
    const form = { code: showCode(secret ?? '', clock) };
    const codes = await browser.send(pathOf(started), { form });
    expect(codes.text).toContain(`href="${launch.replaceAll('&', '&amp;')}"`);
    expect(payloadOf(await browser.send(launch))).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] });
  });

  it('or adds a passkey, gives it, and goes on (contract 13.57)', async () => {
    const browser = await logIn(app.send, email);
    const phone = createAuthenticator();
    const passkey = phone.register(await fetchOptions(browser, 'add'), origin);
    const form = { name: 'My phone', passkey };
    const added = await browser.send(withNext('/profile/passkeys/add'), { form });
    expect(targetOf(added).pathname + targetOf(added).search).toBe(launch);
    await expectOwed(browser, page);
    await givePasskey(browser, phone);
  });

  it('is not helped by other pages, or by going on by hand', async () => {
    const browser = await logIn(app.send, email);
    const form = { intent: 'go-on' };
    const went = await browser.send(withNext(page), { form });
    expect(targetOf(went).pathname).toBe('/sso/launch/vault');
    expect(payloadOf(await browser.send(launch))).toBeUndefined();
    expect(payloadOf(await browser.send('/sso/launch/vault?max_age=600'))).toBeUndefined();
    await browser.login(email, password, '/login?prompt=login');
    await expectOwed(browser, page);
  });

  it('gets no offer of a passkey on the way there, but on other ways (contract 13.58)', async () => {
    const logInOn = async (next: string) =>
      openBrowser(app.send).send(`/login?next=${encodeURIComponent(next)}`, {
        form: { email, password, can_add_passkey: 'yes' },
      });
    expect(targetOf(await logInOn(launch)).pathname).toBe('/sso/launch/vault');
    expect(locationOf(await logInOn('/sso/launch/marketplace')).pathname).toBe('/profile/passkeys/offer');
  });
});

describe('somebody with an app', () => {
  it('who logged in with its code goes on at once', async () => {
    const { secret } = await setUp(await logIn(app.send, email), clock);
    clock += 60_000;
    const browser = openBrowser(app.send);
    const asked = await browser.login(email, password, withNext('/login'));
    expect(pathOf(asked)).toBe(withNext('/login/code'));
    const answer = await enterCode(browser, showCode(secret, clock), pathOf(asked));
    await expectGoesOn(browser, answer, ['pwd', 'otp', 'mfa']);
  });

  // No login gives such a session, because setting up the app ends the user's other sessions. SQL can make one.
  it('and a session by password alone gives the password and a code (contract 13.55 and 13.56)', async () => {
    const browser = await logIn(app.send, email);
    const { secret } = await setUp(browser, clock);
    await sql`update sessions set amr = '{pwd}'`.execute(app.db);
    clock += 60_000;
    await giveCode(browser, secret);
  });

  it('and a session that a hand-off started gives the password and a code (contract 13.56)', async () => {
    const { secret } = await setUp(await logIn(app.send, email), clock);
    await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
      select 'marketplace', 'factor-1', id, '2025-01-01Z' from users where email = ${email}`.execute(app.db);
    clock += 60_000;
    const cookie = cookieOf(await handOver({ id: 'factor-1', email }));
    const browser = openBrowser(app.send, cookie);
    expect(payloadOf(await browser.send('/sso/launch/marketplace'))).toMatchObject({ amr: ['ext'] });
    await giveCode(browser, secret);
    await sql`delete from external_links where external_id = 'factor-1'`.execute(app.db);
  });

  it('can use a recovery code, and leave the page of the code for the login', async () => {
    const { codes } = await setUp(await logIn(app.send, email), clock);
    const browser = openBrowser(app.send);
    const asked = await browser.login(email, password, withNext('/login'));
    const answer = await enterCode(browser, codes[0] ?? '', `${pathOf(asked)}&use=recovery`);
    await expectGoesOn(browser, answer, ['pwd', 'otp', 'mfa']);
    await sql`update sessions set amr = '{ext}'`.execute(app.db);
    const again = await browser.login(email, password, withNext('/login?prompt=login'));
    const shown = await browser.send(pathOf(again));
    expect(shown.text).toContain(`href="${withNext('/login?prompt=login').replaceAll('&', '&amp;')}"`);
  });

  it('goes on at once with a session that has given it, from the page that asks for the code', async () => {
    const browser = await logIn(app.send, email);
    await setUp(browser, clock);
    const stale = await browser.send(withNext('/login/code'));
    expect(pathOf(stale)).toBe(withNext('/login'));
    expect(targetOf(await browser.send(pathOf(stale))).pathname).toBe('/sso/launch/vault');
  });
});

/** Somebody with an app is asked for the password and then for a code. After that, the launch goes on. */
async function giveCode(browser: Browser, secret: string): Promise<void> {
  await expectOwed(browser, '/login/code');
  const login = await browser.send(withNext('/login/code'));
  expect(pathOf(login)).toBe(withNext('/login?prompt=login&why=asked-again'));
  expect(textOf(await browser.send(pathOf(login)))).toContain('is asking you to confirm that it is you');
  // Nobody can try a code without the password.
  const early = await enterCode(browser, showCode(secret, clock), withNext('/login/code'));
  expect(locationOf(early).pathname).toBe('/login');
  await expectOwed(browser, '/login/code');
  const asked = await browser.login(email, password, pathOf(login));
  expect(pathOf(asked)).toBe(withNext('/login/code'));
  await expectOwed(browser, '/login/code');
  const answer = await enterCode(browser, showCode(secret, clock), pathOf(asked));
  await expectGoesOn(browser, answer, ['pwd', 'otp', 'mfa']);
}

describe('somebody with a passkey', () => {
  let phone: Authenticator;
  beforeEach(async () => {
    phone = await addPasskey(await logIn(app.send, email));
    clock += 60_000;
  });

  it('who logged in with it goes on at once (contract 13.54)', async () => {
    const browser = openBrowser(app.send);
    await expectGoesOn(browser, await logInByPasskey(browser, phone, { path: withNext('/login') }), [
      'pop',
      'mfa',
    ]);
  });

  it('who logged in by password gives the passkey, whatever the password says (contract 13.57)', async () => {
    const browser = await logIn(app.send, email);
    await givePasskey(browser, phone);
  });

  it('who came by hand-off gives the passkey', async () => {
    const { cookie } = await addSession(app, await idOf(email), { amr: ['ext'], authTime: null });
    await givePasskey(openBrowser(app.send, cookie), phone);
  });

  it('may use the page of the app as ever, if no client needs a factor', async () => {
    const browser = await logIn(app.send, email);
    for (const path of [page, `${page}?next=${encodeURIComponent('/sso/launch/marketplace')}`])
      expect(textOf(await browser.send(path))).not.toContain('Use your passkey');
  });
});

const idOf = async (address: string) =>
  (await sql<{ id: string }>`select id from users where email = ${address}`.execute(app.db)).rows[0]?.id ??
  '';

/** Somebody with only a passkey is asked for the passkey and nothing else. After that, the launch goes on. */
async function givePasskey(browser: Browser, phone: Authenticator): Promise<void> {
  await expectOwed(browser, page);
  const asking = await browser.send(withNext(page), { headers: html });
  expect(textOf(asking)).toContain('Use your passkey to continue.');
  expect(asking.text).not.toContain('name="confirmPassword"');
  for (const more of [{}, { confirmPassword: password }] as Record<string, string>[]) {
    const form = { intent: 'go-on', ...more };
    expect((await browser.send(withNext(page), { form })).status).toBe(401);
  }
  await expectOwed(browser, page);
  const confirmPasskey = phone.answer(await fetchOptions(browser, 'confirm'), origin);
  const answer = await browser.send(withNext(page), { form: { intent: 'go-on', confirmPasskey } });
  await expectGoesOn(browser, answer, ['pop', 'mfa']);
}

it('somebody who came by hand-off and has no factor sets a password first, by a link that leads on (contract 13.57)', async () => {
  const browser = openBrowser(app.send, cookieOf(await handOver({ id: 'factor-none' })));
  expect(pathOf(await browser.send(launch))).toBe(withNext(page));
  const asked = await browser.send(withNext(page), { form: { intent: 'set-up' } });
  expect([asked.status, textOf(asked).includes('Set a password first')]).toEqual([401, true]);
  expect(asked.text).toContain(`href="${withNext('/forgot-password')}"`);
});

it('is asked of everybody, whatever their role, also under 16 launches at once', async () => {
  for (const role of ['user', 'manager', 'admin'] as const) {
    const { id } = await addPerson(app, { role });
    const { cookie } = await addSession(app, id, { amr: ['pwd'], authTime: new Date(clock) });
    await sql`update sessions set created_at = ${new Date(clock)}, last_seen_at = ${new Date(clock)}`.execute(
      app.db,
    );
    const answers = await Promise.all(Array.from({ length: 16 }, () => app.send(launch, { cookie })));
    expect(new Set(answers.map(pathOf))).toEqual(new Set([withNext(page)]));
  }
});
