// The table of contract 6.12 to 6.22, 6.36, 6.37, 6.82 and 6.83. It depends on three things: the user of the hand-off, the
// state of the email address here, and the user of the browser. The expectations come from the contract, not from the code.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { codeOf, locationOf, openApp } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser } from '../support/app/visitor.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const password = 'local demo password';
const hashOf = sql`(select password_hash from users where email = 'customer@example.test')`;

/** What this service knows of the email address that the hand-off names. */
const addresses = [
  'nobody',
  'typed by somebody',
  'held from the CRM',
  'held with a password',
  'held with another link',
  'held with a sleeping link',
  'an administrator',
  'suspended',
] as const;
type Address = (typeof addresses)[number];

/** What this service knows of the marketplace's id, and what the hand-off says about the email address. */
const ids = [
  'known, of the holder',
  'known, of a user with a typed address, now verified',
  'known, of a user with a typed address, still unverified',
  'known, of somebody else who holds an address',
  'known, asleep',
  'unknown, unverified',
  'unknown, verified',
] as const;
type Id = (typeof ids)[number];

const browsers = [
  'fresh',
  'last used by that user',
  'last used by somebody else',
  'logged in as that user',
  'logged in as somebody else',
] as const;
type BrowserState = (typeof browsers)[number];

let serial = 0;

type Person = { id: string; email: string };

async function addUser(email: string, change: object = {}): Promise<Person> {
  const columns = {
    holds_email: true,
    email_verified_at: sql`now()`,
    password_hash: null,
    role: 'user',
    ...change,
  };
  const names = Object.keys(columns);
  const { rows } = await sql<Person>`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), 'Account') returning id)
    insert into users (id, account_id, name, email, ${sql.join(names.map((name) => sql.ref(name)))})
    select gen_random_uuid(), id, 'Person', ${email}, ${sql.join(Object.values(columns))} from account
    returning id, email`.execute(app.db);
  return rows[0] as Person;
}

const addLink = (userId: string, externalId: string, sleepingSince: Date | null = null) =>
  sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at, sleeping_since)
    values ('marketplace', ${externalId}, ${userId}, '2026-01-01', ${sleepingSince})`.execute(app.db);

async function addHolder(address: Address, email: string): Promise<Person | undefined> {
  switch (address) {
    case 'nobody':
      return undefined;
    case 'typed by somebody':
      await addUser(email, { holds_email: false, email_verified_at: null });
      return undefined;
    case 'held from the CRM':
      return addUser(email, { email_verified_at: null });
    case 'held with a password':
      return addUser(email, { password_hash: hashOf });
    case 'held with another link': {
      const holder = await addUser(email);
      await addLink(holder.id, `other-${serial}`);
      return holder;
    }
    case 'held with a sleeping link': {
      const holder = await addUser(email, { password_hash: hashOf });
      await addLink(holder.id, `other-${serial}`, new Date());
      return holder;
    }
    case 'an administrator':
      return addUser(email, { role: 'admin', password_hash: hashOf });
    case 'suspended':
      return addUser(email, { suspended_at: sql`now()`, password_hash: hashOf });
  }
}

type Expected =
  | 'admin_not_allowed'
  | 'account_suspended'
  | 'email_in_use'
  | 'connect'
  | 'linked'
  | 'own'
  | 'new';

/**
 * Returns what the contract says. `own`: the user who has the link. `linked`: the holder, who gets the link. `new`: a new user.
 */
function expectedOf(id: Id, address: Address): Expected {
  const verifiedAddress: Record<Address, Expected> = {
    nobody: 'new',
    'typed by somebody': 'new',
    'held from the CRM': 'linked',
    'held with a password': 'connect',
    'held with another link': 'email_in_use',
    'held with a sleeping link': 'connect',
    'an administrator': 'admin_not_allowed',
    suspended: 'account_suspended',
  };
  switch (id) {
    case 'unknown, verified':
      return verifiedAddress[address];
    case 'known, of a user with a typed address, now verified':
      return verifiedAddress[address] === 'new' ? 'own' : verifiedAddress[address];
    case 'unknown, unverified':
      return 'new';
    case 'known, asleep':
      return 'connect';
    case 'known, of the holder':
      if (address === 'an administrator') return 'admin_not_allowed';
      if (address === 'suspended') return 'account_suspended';
      return 'own';
    case 'known, of a user with a typed address, still unverified':
    case 'known, of somebody else who holds an address':
      return 'own';
  }
}

/** Some combinations are impossible: a link of the holder needs a holder, who has no other link. */
function isPossible(id: Id, address: Address): boolean {
  if (id !== 'known, of the holder') return true;
  return !['nobody', 'typed by somebody', 'held with another link', 'held with a sleeping link'].includes(
    address,
  );
}

const cases = ids.flatMap((id) =>
  addresses
    .filter((address) => isPossible(id, address))
    .flatMap((address) => browsers.map((browser) => [id, address, browser] as const)),
);

async function rememberIn(browser: Browser, userId: string): Promise<void> {
  const token = userId.replaceAll('-', '').padEnd(43, 'A');
  await sql`insert into devices (token_hash, user_id, last_login_at, is_last)
    values (sha256(${token}::bytea), ${userId}, now(), true)`.execute(app.db);
  browser.jar.set('identity_device', token);
}

async function startSession(browser: Browser, userId: string): Promise<void> {
  const token = userId.replaceAll('-', '').padEnd(43, 'B');
  await sql`insert into sessions (id, token_hash, user_id, created_at, last_seen_at, auth_time, address, user_agent)
    values (gen_random_uuid(), sha256(${token}::bytea), ${userId}, now(), now(), null, '', '')`.execute(
    app.db,
  );
  browser.jar.set('identity_session', token);
}

const sessionsOf = async (userId: string) =>
  (
    await sql<{ token_hash: Buffer }>`select token_hash from sessions
      where user_id = ${userId} and ended_at is null`.execute(app.db)
  ).rows.length;
const linkOf = async (externalId: string) =>
  (
    await sql<{
      user_id: string;
      sleeping_since: Date | null;
    }>`select user_id, sleeping_since from external_links
      where external_id = ${externalId}`.execute(app.db)
  ).rows[0];
const userOf = async (id: string) =>
  (
    await sql<{ email: string; holds_email: boolean; email_verified_at: Date | null }>`
      select email, holds_email, email_verified_at from users where id = ${id}`.execute(app.db)
  ).rows[0];

it('has every possible combination', () => expect(cases).toHaveLength((7 * 8 - 4) * 5));

describe.each(ids)('a hand-off of an id that is %s', (id) => {
  it.each(cases.filter((one) => one[0] === id).map(([, address, browser]) => [address, browser] as const))(
    'with an address that is %s, in a browser that is %s',
    async (address, browserState) => {
      const key = `t${++serial}`;
      const email = `${key}@example.test`;
      const holder = await addHolder(address, email);
      const owner = await addOwner(id, key, holder);
      if (owner) await addLink(owner.id, key, id === 'known, asleep' ? new Date() : null);
      const expected = expectedOf(id, address);

      // The user of the hand-off, if that user exists already.
      const target =
        expected === 'linked' || expected === 'connect' ? (id === 'known, asleep' ? owner : holder) : owner;
      const other = await addUser(`other-${key}@example.test`);
      const browser = await openBrowserAs(browserState, target ?? holder, other);
      if (!browser) return;
      const before = {
        target: target && (await userOf(target.id)),
        holder: holder && (await userOf(holder.id)),
        link: await linkOf(key),
        sessions: target && (await sessionsOf(target.id)),
        present: await browser.whoAmI(),
      };
      const isVerified = !/unverified/.test(id);
      const url = await buildHandOff(app, {
        id: key,
        email,
        emailVerified: isVerified,
        profileUpdatedAt: new Date('2026-02-01T00:00:00Z'),
      });
      const answer = await browser.send(url);
      const link = await linkOf(key);

      if (/admin_not_allowed|account_suspended|email_in_use/.test(expected)) {
        expect([codeOf(answer), answer.headers.get('set-cookie')]).toEqual([expected, null]);
        expect(link).toEqual(before.link);
        if (holder) expect(await userOf(holder.id)).toEqual(before.holder);
        return;
      }
      expect(answer.status).toBe(303);
      const { pathname } = locationOf(answer);
      if (expected === 'connect') {
        // Nobody is logged in or linked, not even after a click on the page that asks.
        expect(pathname).toBe('/continue');
        expect(link).toEqual(before.link);
        if (holder) expect(await userOf(holder.id)).toEqual(before.holder);
        const clicked = await browser.send(answer.headers.get('location') ?? '', { form: {} });
        expect(locationOf(clicked).pathname).toBe('/continue');
        expect(await linkOf(key)).toEqual(before.link);
        expect(await sessionsOf(target?.id ?? '')).toBe(before.sessions);
        return;
      }

      // The id leads to exactly one user, which is the right one.
      const user = link && (await userOf(link.user_id));
      if (expected === 'linked') expect(link?.user_id).toBe(holder?.id);
      if (expected === 'own') expect(link?.user_id).toBe(owner?.id);
      if (expected === 'new') expect([holder?.id, undefined]).not.toContain(link?.user_id);
      // Nobody gets an unproved address, and nobody loses their address.
      if (!isVerified) expect(user).toMatchObject({ holds_email: false, email_verified_at: null });
      if (id === 'known, of a user with a typed address, now verified' || id === 'unknown, verified')
        expect(user).toMatchObject({ email, holds_email: true, email_verified_at: expect.any(Date) });
      if (holder && link?.user_id !== holder.id) expect(await userOf(holder.id)).toEqual(before.holder);

      // A session starts immediately only if the user of the hand-off was the last to log in here, and nobody is logged in.
      const isThere = link?.user_id === target?.id;
      if (isThere && browserState === 'logged in as that user') {
        expect([pathname, answer.headers.get('set-cookie')]).toEqual(['/profile', null]);
        expect(await sessionsOf(link?.user_id ?? '')).toBe(before.sessions);
      } else if (isThere && browserState === 'last used by that user') {
        expect(pathname).toBe('/profile');
        expect(await browser.whoAmI()).toBe(user?.email);
      } else {
        expect(pathname).toBe('/continue');
        expect(await browser.whoAmI()).toBe(before.present);
        const elsewhere = openBrowser(app.send);
        expect((await elsewhere.send(answer.headers.get('location') ?? '', { form: {} })).status).toBe(404);
        const clicked = await browser.send(answer.headers.get('location') ?? '', { form: {} });
        expect(clicked.headers.get('location')).toBe('/profile');
        expect(await browser.whoAmI()).toBe(user?.email);
      }
    },
  );
});

async function addOwner(id: Id, key: string, holder: Person | undefined): Promise<Person | undefined> {
  if (id === 'known, of the holder') return holder;
  if (/typed address/.test(id))
    return addUser(`typed-${key}@example.test`, { holds_email: false, email_verified_at: null });
  if (id === 'known, of somebody else who holds an address')
    return addUser(`owner-${key}@example.test`, { password_hash: hashOf });
  if (id === 'known, asleep') return addUser(`asleep-${key}@example.test`, { password_hash: hashOf });
  return undefined;
}

/** Returns undefined if the browser is impossible, such as that of a user who does not exist yet. */
async function openBrowserAs(
  state: BrowserState,
  user: Person | undefined,
  other: Person,
): Promise<Browser | undefined> {
  const browser = openBrowser(app.send);
  if (state === 'fresh') return browser;
  const person = /that user/.test(state) ? user : other;
  if (!person) return undefined;
  if (/last used/.test(state)) await rememberIn(browser, person.id);
  else await startSession(browser, person.id);
  return browser;
}

describe('Connect', () => {
  it.each(['held with a password', 'held with a sleeping link'] as const)(
    'links the holder of an address that is %s after their login and an explicit click, and only then',
    async (address) => {
      const key = `t${++serial}`;
      const email = `${key}@example.test`;
      const holder = await addHolder(address, email);
      const browser = openBrowser(app.send);
      const page = (
        await browser.send(await buildHandOff(app, { id: key, email, returnTo: '/profile?from=market' }))
      ).headers.get('location');
      expect((await browser.send(page ?? '')).text).toContain('Log in to connect');
      await browser.login(email, password);
      expect(await linkOf(key)).toBeUndefined();
      expect((await browser.send(page ?? '')).text).toMatch(/<button type="submit">Connect</);
      const elsewhere = await logIn(app.send, email, password);
      expect((await elsewhere.send(page ?? '', { form: {} })).status).toBe(404);
      const crossSite = { form: {}, headers: { origin: 'https://evil.example' } };
      expect((await browser.send(page ?? '', crossSite)).status).toBe(403);
      const clicks = await Promise.all(
        Array.from({ length: 16 }, () => browser.send(page ?? '', { form: {} })),
      );
      const statuses = clicks.map(({ status }) => status).sort();
      expect(statuses).toEqual([303, ...Array(15).fill(404)]);
      expect(await linkOf(key)).toEqual({ user_id: holder?.id, sleeping_since: null });
      const { rows } =
        await sql`select external_id from external_links where user_id = ${holder?.id}`.execute(app.db);
      expect(rows).toEqual([{ external_id: key }]);
      const again = await openHandOff(app, await buildHandOff(app, { id: key, email }));
      expect(again.headers.get('location')).toBe('/profile');
    },
  );
});
