import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { nobodysHash } from '../../db/tables/users.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, cookieOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { overtake } from '../support/database/database.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import {
  addPasskey,
  createAuthenticator,
  fetchOptions,
  type Lie,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { listNotices, readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
beforeEach(async () => {
  await emptyTables(app.db, 'mails', 'mail_tokens', 'rate_limits', 'sessions');
});

/** Makes a new customer of the CRM. Returns the token in the mail that welcomes them. */
async function welcomeCustomer(id: string): Promise<{ email: string; token: string }> {
  await pushSignup(app, buildSignup(id));
  const email = `${id}@example.test`;
  return { email, token: await readToken(other, email, 'set_password') };
}

async function arrive(browser: Browser, token: string, lie: Lie = {}, phone = createAuthenticator()) {
  const passkey = phone.register(await fetchOptions(browser, 'arrive', token), origin, lie);
  return browser.send(`/set-password?token=${token}`, { form: { passkey } });
}

const countPasskeys = async () =>
  (await sql<{ n: number }>`select count(*)::int as n from passkeys`.execute(app.db)).rows[0]?.n;

describe('a link that sets a password (contract 11.4)', () => {
  it('adds a passkey instead, if the person has no credential, and proves the address (contract 2.8)', async () => {
    const { email, token } = await welcomeCustomer('crm_passkey');
    const browser = openBrowser(app.send);
    expect(textOf(await browser.send(`/set-password?token=${token}`))).toContain('Create a passkey instead');
    const phone = createAuthenticator();
    const answer = await arrive(browser, token, {}, phone);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile/passkeys?saved=added']);
    expect(await browser.whoAmI()).toBe(email);
    const { rows } =
      await sql`select s.amr, u.password_hash, u.has_passkey, u.email_verified_at is not null as is_proved
      from sessions s join users u on u.id = s.user_id where u.email = ${email}`.execute(app.db);
    expect(rows).toEqual([{ amr: ['pop', 'mfa'], password_hash: null, has_passkey: true, is_proved: true }]);
    expect(await listNotices(app.db, email)).toEqual(
      expect.arrayContaining(['passkey_added', 'email_proved']),
    );
    const later = openBrowser(app.send);
    expect((await logInByPasskey(later, phone)).status).toBe(303);
    expect(await later.whoAmI()).toBe(email);
    expect((await later.send(`/set-password?token=${token}`)).status).toBe(404);
  });

  it('proves a typed address that way, and leaves the person who typed it with nothing (contract 2.8 and 2.9)', async () => {
    const email = 'typed-passkey@example.test';
    const typist = await handOver(app, { id: 'typed-passkey', email, emailVerified: false });
    const cookie = cookieOf(typist);
    await app.send('/verify-email', { cookie, form: {} });
    const token = await readToken(other, email, 'set_password');
    const browser = openBrowser(app.send);
    expect((await arrive(browser, token)).status).toBe(303);
    expect(await browser.whoAmI()).toBe(email);
    expect(await openBrowser(app.send, cookie).whoAmI()).toBeUndefined();
    const { rows } = await sql`select sleeping_since is not null as sleeps from external_links
      where external_id = 'typed-passkey'`.execute(app.db);
    expect(rows).toEqual([{ sleeps: true }]);
  });

  it('adds one, of 16 that come at once with a challenge each', async () => {
    const { token } = await welcomeCustomer('crm_sixteen');
    const before = (await countPasskeys()) ?? 0;
    const ready: (() => Promise<Answer>)[] = [];
    while (ready.length < 16) {
      const browser = openBrowser(app.send);
      const passkey = createAuthenticator().register(await fetchOptions(browser, 'arrive', token), origin);
      ready.push(() => browser.send(`/set-password?token=${token}`, { form: { passkey } }));
    }
    const answers = await Promise.all(ready.map((send) => send()));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await countPasskeys()).toBe(before + 1);
  });

  it.each<[string, Lie]>([
    ['made for another origin', { origin: 'https://evil.example' }],
    ['made without user verification', { isUnverified: true }],
    ['with a challenge of its own', { challenge: 'AAAA' }],
  ])('takes no passkey %s, and is not used up', async (_, lie) => {
    const { token } = await welcomeCustomer(`crm_${crypto.randomUUID()}`);
    const browser = openBrowser(app.send);
    const refused = await arrive(browser, token, lie);
    expect(refused.status).toBe(422);
    expect(textOf(refused)).toContain('The passkey could not be added. Try again.');
    expect((await arrive(browser, token)).status).toBe(303);
  });

  it('takes none for the challenge of another user', async () => {
    const first = await welcomeCustomer('crm_first');
    const second = await welcomeCustomer('crm_second');
    const browser = openBrowser(app.send);
    const passkey = createAuthenticator().register(
      await fetchOptions(browser, 'arrive', first.token),
      origin,
    );
    const answer = await browser.send(`/set-password?token=${second.token}`, { form: { passkey } });
    expect(answer.status).toBe(422);
  });

  it.each(['customer@example.test', 'merchant@example.test', 'unverified@example.test'])(
    'adds none if the person has a credential, which it would bypass, or ever had a password: %s (contract 2.8)',
    async (email) => {
      if (email.startsWith('merchant')) {
        const own = await logIn(app.send, email);
        await addPasskey(own);
        await sql`update users set password_hash = null where email = ${email}`.execute(app.db);
        await sql`truncate mails`.execute(app.db);
      }
      if (email.startsWith('unverified'))
        await sql`update users set password_hash = ${nobodysHash} where email = ${email}`.execute(app.db);
      await other.call(({ passwordMail }) => passwordMail.request({ email }));
      const token = await readToken(other, email, 'set_password');
      const browser = openBrowser(app.send);
      const page = await browser.send(`/set-password?token=${token}`);
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('Create a passkey');
      const options = await browser.send('/passkeys/options', { form: { purpose: 'arrive', token } });
      expect(options.status).toBe(404);
      const passkey = createAuthenticator().register(await fetchOptions(browser, 'login'), origin);
      expect((await browser.send(`/set-password?token=${token}`, { form: { passkey } })).status).toBe(404);
    },
  );

  it('adds none where they get a password meanwhile', async () => {
    const { email, token } = await welcomeCustomer('crm_meanwhile');
    const browser = openBrowser(app.send);
    const passkey = createAuthenticator().register(await fetchOptions(browser, 'arrive', token), origin);
    const before = await countPasskeys();
    const answer = await overtake(
      app.db,
      sql`update users set password_hash = (select password_hash from users where email = 'admin@example.test')
        where email = ${email}`,
      () => browser.send(`/set-password?token=${token}`, { form: { passkey } }),
    );
    expect(answer.status).toBe(404);
    expect(await countPasskeys()).toBe(before);
  });
});

describe('a link that creates an account', () => {
  /** Signs up. Returns the token in the mail about that. */
  async function askToSignUp(email: string): Promise<string> {
    await app.send('/signup', { form: { name: 'Pia Passkey', email } });
    return readToken(other, email, 'sign_up');
  }

  async function create(browser: Browser, token: string, phone = createAuthenticator()): Promise<Answer> {
    const passkey = phone.register(await fetchOptions(browser, 'arrive', token), origin);
    return browser.send(`/signup/confirm?token=${token}`, { form: { name: 'Pia Passkey', passkey } });
  }

  const countUsers = async (email: string) =>
    (await sql`select from users where email = ${email}`.execute(app.db)).rows.length;

  it('makes the user with a passkey instead of a password (contract 2.14 and 11.11)', async () => {
    const email = 'signs-up@example.test';
    const token = await askToSignUp(email);
    const browser = openBrowser(app.send);
    expect(textOf(await browser.send(`/signup/confirm?token=${token}`))).toContain(
      'Create a passkey instead',
    );
    const phone = createAuthenticator();
    const answer = await create(browser, token, phone);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile?saved=signed-up']);
    const { rows } = await sql<{ id: string }>`select u.id, u.name, u.holds_email, u.password_hash, s.amr
      from sessions s join users u on u.id = s.user_id where u.email = ${email}`.execute(app.db);
    expect(rows).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        name: 'Pia Passkey',
        holds_email: true,
        password_hash: null,
        amr: ['pop', 'mfa'],
      },
    ]);
    const later = openBrowser(app.send);
    expect((await logInByPasskey(later, phone)).status).toBe(303);
    expect(await later.whoAmI()).toBe(email);
    expect((await browser.send(`/signup/confirm?token=${token}`)).status).toBe(404);
  });

  it('makes one user of 16 that come at once with a passkey each', async () => {
    const email = 'sixteen-sign-up@example.test';
    const token = await askToSignUp(email);
    const ready = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const browser = openBrowser(app.send);
        const passkey = createAuthenticator().register(await fetchOptions(browser, 'arrive', token), origin);
        return () => browser.send(`/signup/confirm?token=${token}`, { form: { name: 'Six Teen', passkey } });
      }),
    );
    const answers = await Promise.all(ready.map((send) => send()));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await countUsers(email)).toBe(1);
  });

  it('takes no passkey that was made for another link or in another browser, and is not used up', async () => {
    const [email, token] = ['own-link@example.test', await askToSignUp('own-link@example.test')];
    const theirs = await askToSignUp('their-link@example.test');
    const [browser, elsewhere] = [openBrowser(app.send), openBrowser(app.send)];
    for (const options of [
      await fetchOptions(browser, 'arrive', theirs),
      await fetchOptions(elsewhere, 'arrive', token),
    ]) {
      const passkey = createAuthenticator().register(options, origin);
      const form = { name: 'Pia Passkey', passkey };
      expect((await browser.send(`/signup/confirm?token=${token}`, { form })).status).toBe(422);
    }
    expect(await countUsers(email)).toBe(0);
    expect((await create(browser, token)).status).toBe(303);
  });

  it('is off with sign-up, where a customer’s mail still adds a passkey', async () => {
    const token = await askToSignUp('too-late@example.test');
    const closed = await app.startInstance({ env: { IDENTITY_SIGN_UP: 'closed' } });
    const browser = openBrowser(closed.send);
    const refused = await browser.send('/passkeys/options', { form: { purpose: 'arrive', token } });
    expect(refused.status).toBe(404);
    const customer = await welcomeCustomer('crm_while_closed');
    expect((await arrive(browser, customer.token)).status).toBe(303);
  });
});
