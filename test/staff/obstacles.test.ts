// Why somebody cannot log in, as staff read it (contract 12.192): each refusal of the login has its reason there.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { listPasskeys } from '../../db/tables/passkeys.ts';
import { listPasswordOwners } from '../../db/tables/password-owners.ts';
import { nobodysHash } from '../../db/tables/users.ts';
import { createRateLimits } from '../../server/ground/rate-limits.ts';
import { type AllowanceName, allowances, countOf } from '../../server/identity/ground/allowances.ts';
import { countGuessFor } from '../../server/identity/ground/device.ts';
import { findLoginAllowance } from '../../server/identity/ground/established-browsers.ts';
import type { LoginRefusal } from '../../server/identity/ground/trail.ts';
import type { findObstacles } from '../../server/identity/login/obstacles.ts';
import type { LaunchOutcome, LoginResult } from '../../server/metrics/results.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { addPasskey, logInByPasskey } from '../support/people/authenticator.ts';
import { formsOf } from '../support/people/staff.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const strict = shared(() => openApp({ env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' } }));
beforeEach(() => sql`delete from rate_limits`.execute(app.db));

const html = { accept: 'text/html' };
const admin = 'admin@example.test';
const manager = 'manager@example.test';
const password = 'local demo password';
const why = 'They called, and we know them.';

type Obstacle = Awaited<ReturnType<typeof findObstacles>>['obstacles'][number];

/** How each obstacle comes about: by a row of the user, or by a full limit. */
const byUser = {
  frozen: sql`suspended_at = now(), frozen_at = now()`,
  suspended: sql`suspended_at = now()`,
  leaving: sql`deletion_due_at = now() + interval '9 days'`,
  address_typed: sql`holds_email = false, email_verified_at = null, password_hash = null`,
  address_unproved: sql`email_verified_at = null`,
  password_ended: sql`password_hash = ${nobodysHash}`,
  no_password: sql`password_hash = null, has_passkey = true`,
  no_credential: sql`password_hash = null`,
};
const byLimit = [
  'too_many_passwords',
  'too_many_passwords_known_browser',
  'too_many_codes',
  'too_many_codes_known_browser',
  'too_many_logins',
] as const;

type Cause =
  | Obstacle[]
  | 'a try, which is listed'
  | 'not about the person'
  | 'of one product, which its line says'
  | 'no refusal';

/**
 * Every way in which a login can end, or lead elsewhere than to the product. A new way does not compile until it is listed
 * here, with its obstacles.
 */
const causes: Record<LoginRefusal | LoginResult | LaunchOutcome, Cause> = {
  ok: 'no refusal',
  code_asked: 'no refusal',
  payload: 'no refusal',
  code: 'no refusal',
  login: 'no refusal',
  wrong_password: 'a try, which is listed',
  wrong_passkey: 'a try, which is listed',
  wrong_code: 'a try, which is listed',
  passkey_counter: 'a try, which is listed',
  malformed_address: 'not about the person',
  busy: 'not about the person',
  unavailable: 'not about the person',
  canceled: 'not about the person',
  failed: 'not about the person',
  // A client that asks for no page (`prompt=none`) gets these errors in place of any page.
  login_required: 'not about the person',
  interaction_required: 'not about the person',
  access_denied: 'not about the person',
  unknown_user: ['address_typed'],
  no_password: ['password_ended', 'no_password', 'no_credential'],
  suspended: ['suspended', 'frozen'],
  rate_limited: [...byLimit],
  verify_email: ['address_unproved'],
  deletion: ['leaving'],
  client_not_allowed: 'of one product, which its line says',
  second_factor: ['factor_missing'],
};

it('each obstacle comes from a refusal, and the tests below bring about each', () => {
  const named = Object.values(causes).filter((cause) => Array.isArray(cause));
  const made = [...Object.keys(byUser), ...byLimit, 'factor_missing'];
  expect([...new Set(named.flat())].sort()).toEqual(made.sort());
});

const open = (browser: Pick<Browser, 'send'>, path: string) => browser.send(path, { headers: html });
const pathTo = async (email: string, of = app) => `/admin/people/${await idOf(of.db, email)}`;
const obstaclesOf = ({ text }: Answer) =>
  [...text.matchAll(/data-obstacle="([^"]+)"/g)].map(([, name]) => name);
const helpsOf = ({ text }: Answer) =>
  [...text.matchAll(/data-helps="([^"]+)"/g)].map(([, name]) => name ?? '');

describe('by what the account is', () => {
  let serial = 0;
  /** Adds a customer with the password of the demo users, and with a new email address. */
  async function addCustomer() {
    const email = `obstacle-${++serial}@example.test`;
    await sql`with account as (insert into accounts (id, name) values (gen_random_uuid(), 'Obstacles') returning id)
      insert into users (id, account_id, email, holds_email, email_verified_at, name, role, password_hash)
      select gen_random_uuid(), account.id, ${email}, true, now(), 'Olive', 'user', password_hash from account, users
      where email = 'customer@example.test'`.execute(app.db);
    return email;
  }

  const ways = {
    frozen: [403, 'thaw'],
    suspended: [403, 'resume'],
    leaving: [303, 'keep'],
    address_typed: [401, 'send-mail prove-email'],
    address_unproved: [303, 'send-mail prove-email'],
    password_ended: [401, 'send-mail set-password'],
    no_password: [401, 'send-mail set-password'],
    no_credential: [401, 'send-mail set-password'],
  } satisfies Record<keyof typeof byUser, [status: number, help: string]>;

  it.each(Object.entries(ways))('%s is named, with the act that helps', async (name, [status, help]) => {
    const email = await addCustomer();
    const staff = await logIn(app.send, admin);
    const path = await pathTo(email);
    expect(textOf(await open(staff, path))).toContain('Nothing on our side keeps them from logging in');
    await sql`update users set ${byUser[name as keyof typeof byUser]} where email = ${email}`.execute(app.db);
    const tried = await openBrowser(app.send).login(email, password);
    expect(tried.status).toBe(status);
    const page = await open(staff, path);
    expect(obstaclesOf(page)).toContain(name);
    expect(textOf(page)).not.toContain('Nothing on our side keeps');
    expect(helpsOf(page)).toContain(help);
    const form = formsOf(page).get(help);
    const choice: Record<string, string> = help === 'thaw' ? { keep: email } : {};
    const done = await staff.send(path, { form: { ...form, ...choice, why }, headers: html });
    expect(done.status).toBe(303);
    if (!help.startsWith('send-mail')) expect(obstaclesOf(await open(staff, path))).not.toContain(name);
  });

  it('the act is named only to staff who may do it', async () => {
    const email = await addCustomer();
    await sql`update users set ${byUser.frozen} where email = ${email}`.execute(app.db);
    const page = await open(await logIn(app.send, manager), await pathTo(email));
    expect([obstaclesOf(page), helpsOf(page)]).toEqual([['frozen'], []]);
  });

  it('a role that needs a second factor, without one, is named', async () => {
    const browser = await logIn(strict.send, admin);
    await setUp(browser, Date.now());
    const page = await open(browser, await pathTo(manager, strict));
    expect(obstaclesOf(page)).toEqual(['factor_missing']);
  });
});

describe('by too many tries', () => {
  const address = '2001:db8:7:8::9';
  type Count = { key: string; times: number };

  // This reads only the names of the counts, which needs no database.
  const { guessLimits, codeLimits } = createRateLimits(undefined as never, () => undefined);
  const readCounts = async () => {
    const { rows } = await sql<{ key: string }>`select key, points, expire from rate_limits
      where key ~ '^(guess|code|allowance-login-)' order by key`.execute(app.db);
    return rows;
  };

  /** Makes that count full, and all others empty. */
  async function fill({ key, times }: Count) {
    await sql`delete from rate_limits`.execute(app.db);
    await sql`insert into rate_limits (key, points, expire)
      values (${key}, ${times}, (extract(epoch from now()) * 1000)::bigint + 400000)`.execute(app.db);
  }

  /** With that count full, the login is refused. Staff read why and for how long, and spend no try. */
  async function expectObstacle(
    email: string,
    { count, obstacle, tryIt }: { count: Count; obstacle: Obstacle; tryIt: () => Promise<Answer> },
  ) {
    await fill(count);
    expect((await tryIt()).status, count.key).toBe(429);
    const staff = await logIn(app.send, admin);
    await fill(count);
    const before = await readCounts();
    const page = await open(staff, await pathTo(email));
    expect([count.key, obstaclesOf(page)]).toEqual([count.key, [obstacle]]);
    expect(textOf(page)).toContain('for 7 minutes');
    expect(helpsOf(page)).toEqual(['send-mail set-password']);
    expect(formsOf(page).has('send-mail set-password')).toBe(true);
    expect(await readCounts()).toEqual(before);
  }

  /** The browsers that somebody knows, as the login finds them. */
  const knownBrowsers = async (email: string) =>
    (await listPasswordOwners(app.db, await idOf(app.db, email))).filter((owner) => owner.deviceKnownSince);

  it.each([
    ['new to them', false, 'too_many_passwords', 4],
    ['they know', true, 'too_many_passwords_known_browser', 3],
  ] as const)('at the password, in a browser %s: each count', async (_, isKnown, obstacle, many) => {
    const email = 'merchant@example.test';
    const browser = isKnown ? await logIn(app.send, email) : openBrowser(app.send);
    const [unknown] = await listPasswordOwners(app.db, await idOf(app.db, email));
    const [known] = await knownBrowsers(email);
    const tryWith = (typed: string) =>
      browser.send('/login', { form: { email, password: typed }, from: address });
    // Staff learn of the network by a refused try from there. The try is recorded after it was answered.
    await tryWith('wrong');
    const isListed = sql`select 1 from audit_events where address = ${address} and type = 'login.refused'`;
    await expect.poll(async () => (await isListed.execute(app.db)).rows.length).toBeGreaterThan(0);
    const counts = guessLimits.countsOf(countGuessFor(email, isKnown ? known : unknown, address));
    expect(counts).toHaveLength(many);
    for (const count of counts)
      await expectObstacle(email, { count, obstacle, tryIt: () => tryWith(password) });
  });

  it.each([
    ['new to them', false, 'too_many_codes', 2],
    ['they know', true, 'too_many_codes_known_browser', 2],
  ] as const)('at the code, in a browser %s: each count', async (_, isKnown, obstacle, many) => {
    const email = 'customer@example.test';
    const id = await idOf(app.db, email);
    await sql`delete from authenticators where user_id = ${id}`.execute(app.db);
    const owner = await logIn(app.send, email);
    const { codes } = await setUp(owner, Date.now());
    const [unknown] = await listPasswordOwners(app.db, id);
    const known = (await knownBrowsers(email))[0];
    const counts = codeLimits.countsOf(countGuessFor(id, isKnown ? known : unknown, ''));
    expect(counts).toHaveLength(many);
    for (const count of counts) {
      const browser = isKnown ? owner : openBrowser(app.send);
      await sql`delete from rate_limits`.execute(app.db);
      expect((await browser.login(email, password)).headers.get('location')).toContain('/login/code');
      await expectObstacle(email, {
        count,
        obstacle,
        tryIt: () => browser.send('/login/code', { form: { code: codes[0] ?? '' } }),
      });
    }
  });

  it('at logins with the right password or passkey: each allowance', async () => {
    const email = 'new-merchant@example.test';
    const id = await idOf(app.db, email);
    const first = await logIn(app.send, email);
    const phone = await addPasskey(first);
    // A browser that has been known for a week has a count of its own.
    await sql`update devices set known_since = known_since - interval '8 days' where user_id = ${id}`.execute(
      app.db,
    );
    const second = await logIn(app.send, email);
    const [unknown] = await listPasswordOwners(app.db, id);
    const owners = [unknown, ...(await knownBrowsers(email))];
    const [passkey] = await listPasskeys(app.db, id);
    const of = Object.fromEntries(
      [
        ...owners.map((owner) => findLoginAllowance(owner, new Date())),
        { name: 'login-passkey' as const, of: passkey?.id ?? '' },
      ].map(({ name, of }) => [name, of]),
    );
    const byPassword = (browser: Browser) => () => browser.login(email, password);
    const tries: Record<string, () => Promise<Answer>> = {
      'login-own-browser': byPassword(first),
      'login-new-browser': byPassword(openBrowser(app.send)),
      'login-known-browser': byPassword(second),
      'login-passkey': () => logInByPasskey(openBrowser(app.send), phone),
    };
    // Anybody who adds an allowance of logins has to add a try here.
    const names = (Object.keys(allowances) as AllowanceName[]).filter((name) => name.startsWith('login-'));
    expect(names.sort()).toEqual(Object.keys(tries).sort());
    for (const name of names) {
      const count = countOf(name, of[name] ?? '');
      await expectObstacle(email, {
        count,
        obstacle: 'too_many_logins',
        tryIt: tries[name] as () => Promise<Answer>,
      });
    }
  });

  it('of another person, or at a password that was replaced, is no obstacle', async () => {
    const [email, other] = ['customer@example.test', 'merchant@example.test'];
    const [owner] = await listPasswordOwners(app.db, await idOf(app.db, other));
    const [count] = guessLimits.countsOf(countGuessFor(other, owner, '')).slice(-1);
    if (!count) throw new Error('no count');
    const staff = await logIn(app.send, admin);
    await fill(count);
    expect(obstaclesOf(await open(staff, await pathTo(other)))).toEqual(['too_many_passwords']);
    expect(obstaclesOf(await open(staff, await pathTo(email)))).toEqual([]);
    await sql`update users set password_hash = ${nobodysHash} where email = ${other}`.execute(app.db);
    expect(obstaclesOf(await open(staff, await pathTo(other)))).toEqual(['password_ended']);
  });

  it('of staff is not shown to a manager (contract 12.9)', async () => {
    const [owner] = await listPasswordOwners(app.db, await idOf(app.db, admin));
    const browser = await logIn(app.send, manager);
    for (const count of guessLimits.countsOf(countGuessFor(admin, owner, ''))) await fill(count);
    const page = await open(browser, await pathTo(admin));
    expect([page.status, obstaclesOf(page), page.text.includes('too_many')]).toEqual([200, [], false]);
  });
});
