// Local users in WordPress, their roles, and what people cannot change about themselves in WordPress.
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { addPerson, openSession } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';
import {
  addArrived,
  addLocalUser,
  choose,
  openPair,
  openVisitor,
  refusalOf,
  setUp,
  signHandOff,
  soon,
  userOf,
  usersOf,
} from './pair.ts';
import { administrator } from './site.ts';

const pair = shared(openPair);
beforeAll(() => setUp(pair));

const readLinks = (page: string) =>
  [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(([, url = '', words]) => [
    url.replaceAll('&#038;', '&'),
    words,
  ]);

test('a first login makes a local user, and each later one finds it', async () => {
  const { person, cookie, user } = await addArrived(pair, 'Zoë \\ O’Neil <b>');
  expect(user).toMatchObject({ email: person.email, name: 'Zoë \\ O’Neil', roles: ['subscriber'] });
  expect(user.login).toMatch(/^identity-[0-9a-f]{16}$/);
  const other = openVisitor(pair);
  expect((await other.login(cookie, '/wp-admin/profile.php?a=b')).location).toBe(
    `${pair.wordpress.url}/wp-admin/profile.php?a=b`,
  );
  expect(await other.whoAmI()).toBe(user.login);
  expect(await usersOf(pair, person.id)).toHaveLength(1);
});

test('of 16 first logins at once each gets in, as one local user', async () => {
  const person = await addPerson(pair.site.app.db);
  const cookie = await openSession(pair.site.app.db, person);
  const visitors = Array.from({ length: 16 }, () => openVisitor(pair));
  const callbacks = await Promise.all(visitors.map((visitor) => visitor.launch(cookie)));
  const answers = await Promise.all(visitors.map((visitor, n) => visitor.go(callbacks[n] ?? '')));
  expect(answers.map(refusalOf)).toEqual(visitors.map(() => [303, null]));
  const { login } = await userOf(pair, person.id);
  expect(await Promise.all(visitors.map((visitor) => visitor.whoAmI()))).toEqual(visitors.map(() => login));
});

test('of 16 people who come at once for the first time each becomes a local user', async () => {
  const { db } = pair.site.app;
  const people = await Promise.all(Array.from({ length: 16 }, () => addPerson(db)));
  const visitors = people.map(() => openVisitor(pair));
  const cookies = await Promise.all(people.map((person) => openSession(db, person)));
  const callbacks = await Promise.all(visitors.map((visitor, n) => visitor.launch(cookies[n] ?? '')));
  const answers = await Promise.all(visitors.map((visitor, n) => visitor.go(callbacks[n] ?? '')));
  expect(answers.map(refusalOf)).toEqual(people.map(() => [303, null]));
  const users = await Promise.all(people.map(({ id }) => userOf(pair, id)));
  expect(users.map(({ email }) => email)).toEqual(people.map(({ email }) => email));
});

test('of 16 uses of one hand-off at once one gets in', async () => {
  const person = await addPerson(pair.site.app.db);
  const visitor = openVisitor(pair);
  const callback = await visitor.launch(await openSession(pair.site.app.db, person));
  const answers = await Promise.all(Array.from({ length: 16 }, () => visitor.go(callback)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
});

test('of 16 tabs of one browser that log in at once each stays logged in, with one session', async () => {
  const { cookie, user, visitor } = await addArrived(pair);
  const before = [...visitor.jar];
  const callbacks = await Promise.all(Array.from({ length: 16 }, () => visitor.launch(cookie)));
  const answers = await Promise.all(callbacks.map((callback) => visitor.go(callback)));
  expect(answers.map(refusalOf)).toEqual(callbacks.map(() => [303, null]));
  expect(await visitor.whoAmI()).toBe(user.login);
  expect(
    await pair.wordpress.php(`return count(WP_Session_Tokens::get_instance(${user.id})->get_all());`),
  ).toBe(1);
  // Acts as a page that another tab asked for before the login, and that arrives after it.
  visitor.jar.clear();
  for (const [name, value] of before) visitor.jar.set(name, value);
  expect(await visitor.whoAmI()).toBe(user.login);
});

test('a newer profile is taken, and an older one changes nothing', async () => {
  const id = '0190f5a0-0000-7000-8000-00000000aaaa';
  const visitor = openVisitor(pair);
  const arrive = async (profile_updated_at: string, name: string, email: string) => {
    const state = await visitor.startAttempt();
    return visitor.go(signHandOff(pair, state, { id, name, email, profile_updated_at }));
  };
  await arrive('2026-01-02T00:00:00.000Z', 'Newer', 'newer@example.test');
  expect((await arrive('2026-01-01T23:59:59.999Z', 'Older', 'older@example.test')).status).toBe(303);
  expect(await userOf(pair, id)).toMatchObject({ name: 'Newer', email: 'newer@example.test' });
  await arrive('2026-01-02T00:00:00.001Z', 'Newest', 'newest@example.test');
  expect(await userOf(pair, id)).toMatchObject({ name: 'Newest', email: 'newest@example.test' });
});

test('a second person with the same address does not become the first', async () => {
  const first = { id: '0190f5a0-0000-7000-8000-00000000bb01', email: 'twice@example.test' };
  const second = { id: '0190f5a0-0000-7000-8000-00000000bb02', email: 'twice@example.test' };
  for (const policy of ['deny', 'link']) {
    await choose(pair, 'policy', `'${policy}'`);
    for (const [profile, expected] of [
      [first, [303, null]],
      [second, [403, 'person_refused']],
    ] as const) {
      const visitor = openVisitor(pair);
      const answer = await visitor.go(signHandOff(pair, await visitor.startAttempt(), profile));
      expect(refusalOf(answer)).toEqual(expected);
    }
  }
  await choose(pair, 'policy', `'deny'`);
});

test('deny: whoever has the address of a local user is not let in, and nothing is kept', async () => {
  const person = await addPerson(pair.site.app.db);
  const local = await addLocalUser(pair, 'denied', person.email);
  const visitor = openVisitor(pair);
  const answer = await visitor.login(await openSession(pair.site.app.db, person));
  expect(refusalOf(answer)).toEqual([403, 'person_refused']);
  expect(answer.headers.get('identity-launch')).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4}$/);
  // A link to log in again would only lead back to this page.
  const leave = 'logout?client=network_site&return_to=%2Fsso%2Fidentity%2Flogin';
  expect(readLinks(answer.text)).toEqual([
    [`${pair.wordpress.url}/`, 'Go on to Site'],
    [`${pair.site.baseUrl}/${leave}`, 'Log in as somebody else'],
    [`${pair.wordpress.url}/wp-login.php?local=1`, 'Log in with a password of this site'],
  ]);
  expect(answer.text).not.toContain(person.email);
  expect(await usersOf(pair, person.id)).toEqual([]);
  expect(await visitor.whoAmI()).toBe('nobody');
  expect(await pair.wordpress.php(`return get_user_meta(${local}, 'identity_profile_id', true);`)).toBe('');
});

test('create: they become another local user, whose placeholder gives way once the address is free', async () => {
  await choose(pair, 'policy', `'create'`);
  const { app } = pair.site;
  const person = await addPerson(app.db);
  const local = await addLocalUser(pair, 'kept', person.email);
  const visitor = openVisitor(pair);
  expect(refusalOf(await visitor.login(await openSession(app.db, person)))).toEqual([303, null]);
  await choose(pair, 'policy', `'deny'`);
  const user = await userOf(pair, person.id);
  expect(user.id).not.toBe(local);
  expect(user.email).toMatch(/^identity-[0-9a-f]{16}@identity\.invalid$/);
  expect(user.identityEmail).toBe(person.email);
  await pair.wordpress.php(`wp_delete_user(${local});`);
  await sql`update users set name = 'Moved' where id = ${person.id}`.execute(app.db);
  await soon(async () =>
    expect(await userOf(pair, person.id)).toMatchObject({ name: 'Moved', email: person.email }),
  );
});

test('create: once the address is free, the next login puts it in', async () => {
  await choose(pair, 'policy', `'create'`);
  const person = await addPerson(pair.site.app.db);
  const cookie = await openSession(pair.site.app.db, person);
  const local = await addLocalUser(pair, 'leaves', person.email);
  await openVisitor(pair).login(cookie);
  await openVisitor(pair).login(cookie);
  await choose(pair, 'policy', `'deny'`);
  expect((await userOf(pair, person.id)).email).toMatch(/@identity\.invalid$/);
  await pair.wordpress.php(`wp_delete_user(${local});`);
  await openVisitor(pair).login(cookie);
  expect((await userOf(pair, person.id)).email).toBe(person.email);
});

test('link: they become that local user, whose password, sessions and role are as they should be', async () => {
  await choose(pair, 'policy', `'link'`);
  const person = await addPerson(pair.site.app.db);
  const local = await addLocalUser(pair, 'linked', person.email, 'subscriber');
  const before = openVisitor(pair);
  await before.logInLocally('linked', 'a local password');
  expect(await before.whoAmI()).toBe('linked');
  const visitor = openVisitor(pair);
  expect(refusalOf(await visitor.login(await openSession(pair.site.app.db, person)))).toEqual([303, null]);
  await choose(pair, 'policy', `'deny'`);
  expect(await userOf(pair, person.id)).toMatchObject({ id: local, login: 'linked', roles: ['subscriber'] });
  expect(await visitor.whoAmI()).toBe('linked');
  expect(await before.whoAmI()).toBe('nobody');
  await before.logInLocally('linked', 'a local password');
  expect(await before.whoAmI()).toBe('nobody');
});

test('link: an administrator is never taken over', async () => {
  await choose(pair, 'policy', `'link'`);
  const visitor = openVisitor(pair);
  const profile = { id: '0190f5a0-0000-7000-8000-00000000cccc', email: administrator.email };
  const answer = await visitor.go(signHandOff(pair, await visitor.startAttempt(), profile));
  await choose(pair, 'policy', `'deny'`);
  expect(refusalOf(answer)).toEqual([403, 'person_refused']);
  expect(await visitor.whoAmI()).toBe('nobody');
});

test('an address that WordPress does not take, or would change, stays out of it', async () => {
  const visitor = openVisitor(pair);
  await addLocalUser(pair, 'zoe', 'zoe.accent@example.test');
  await choose(pair, 'policy', `'link'`);
  for (const [n, email] of [
    'zoé.accent@example.test',
    `${'a'.repeat(60)}@${'b'.repeat(50)}.test`,
  ].entries()) {
    const id = `0190f5a0-0000-7000-8000-00000000dd0${n}`;
    const answer = await visitor.go(signHandOff(pair, await visitor.startAttempt(), { id, email }));
    expect(refusalOf(answer)).toEqual([303, null]);
    const user = await userOf(pair, id);
    expect(user.identityEmail).toBe(email);
    expect(user.login).toMatch(/^identity-/);
    expect(user.email).toMatch(/@identity\.invalid$/);
  }
  await choose(pair, 'policy', `'deny'`);
});

test('the role follows the table at once, and one that was given by hand stays', async () => {
  const { visitor, user } = await addArrived(pair);
  const rolesOf = () => pair.wordpress.php(`return array_values(get_userdata(${user.id})->roles);`);
  await choose(
    pair,
    'roles',
    `['admin' => 'subscriber', 'merchant' => 'author', 'customer' => 'contributor']`,
  );
  await visitor.whoAmI();
  expect(await rolesOf()).toEqual(['contributor']);
  await pair.wordpress.php(`get_userdata(${user.id})->set_role('editor');`);
  await choose(
    pair,
    'roles',
    `['admin' => 'subscriber', 'merchant' => 'author', 'customer' => 'subscriber']`,
  );
  await visitor.whoAmI();
  expect(await rolesOf()).toEqual(['editor']);
  for (const [n, [role, local]] of [
    ['merchant', 'author'],
    ['admin', 'subscriber'],
  ].entries()) {
    const id = `0190f5a0-0000-7000-8000-00000000ee0${n}`;
    const other = openVisitor(pair);
    const profile = { id, role, email: `${role}@roles.example.test` };
    await other.go(signHandOff(pair, await other.startAttempt(), profile));
    expect((await userOf(pair, id)).roles).toEqual([local]);
  }
  await choose(pair, 'roles', `array_fill_keys(['admin', 'merchant', 'customer'], 'subscriber')`);
});

test('the role follows Identity also where another plugin has added one', async () => {
  const id = '0190f5a0-0000-7000-8000-00000000ff01';
  await choose(
    pair,
    'roles',
    `['admin' => 'administrator', 'merchant' => 'author', 'customer' => 'subscriber']`,
  );
  const arrive = async (role: string, profile_updated_at: string) => {
    const visitor = openVisitor(pair);
    const profile = { id, role, profile_updated_at, email: 'two.roles@example.test' };
    await visitor.go(signHandOff(pair, await visitor.startAttempt(), profile));
    return userOf(pair, id);
  };
  const { id: local, roles } = await arrive('admin', '2026-01-01T00:00:00.000Z');
  expect(roles).toEqual(['administrator']);
  await pair.wordpress.php(`get_userdata(${local})->add_role('editor');`);
  expect((await arrive('customer', '2026-01-02T00:00:00.000Z')).roles.sort()).toEqual([
    'editor',
    'subscriber',
  ]);
  await choose(pair, 'roles', `array_fill_keys(['admin', 'merchant', 'customer'], 'subscriber')`);
});

test('a placeholder of an address that is taken cannot be guessed', async () => {
  const { user } = await addArrived(pair);
  await addLocalUser(pair, 'taken', 'taken@example.test');
  const address = await pair.wordpress.php<string>(
    `return IdentityLogin\\local_address('taken@example.test', get_userdata(${user.id}));`,
  );
  expect(address).toMatch(/^identity-[0-9a-f]{16}@identity\.invalid$/);
});

test('a linked user cannot change what is kept at Identity: not by form, not by REST, not by a lost password', async () => {
  const { person, visitor, user } = await addArrived(pair, 'Unchanged');
  const page = await visitor.go('/wp-admin/profile.php');
  expect(page.text).toContain(`${pair.site.baseUrl}/profile`);
  expect(page.text).not.toMatch(/name="pass1"|id="new_application_password_name"/);
  const nonce = /name="_wpnonce" value="(\w+)"/.exec(page.text)?.[1] ?? '';
  const form = {
    _wpnonce: nonce,
    action: 'update',
    user_id: String(user.id),
    email: 'mine@evil.example',
    display_name: 'Evil',
    nickname: 'Evil',
    first_name: 'Evil',
    description: 'About me',
    pass1: 'an evil password',
    pass2: 'an evil password',
  };
  const { text: restNonce } = await visitor.go('/wp-admin/admin-ajax.php?action=rest-nonce');
  const rest = await visitor.go('/wp-json/wp/v2/users/me', {
    method: 'POST',
    body: JSON.stringify({
      name: 'Evil',
      email: 'mine@evil.example',
      first_name: 'E',
    }),
    headers: { 'content-type': 'application/json', 'x-wp-nonce': restNonce },
  });
  expect(rest.status).toBe(200);
  // The form has a password, so WordPress starts a session of its own. The plugin does not accept that session.
  await visitor.go('/wp-admin/profile.php', { method: 'POST', body: new URLSearchParams(form) });
  expect(await visitor.whoAmI()).toBe('nobody');
  const [description, first, nickname, pending] = await pair.wordpress.php<string[]>(`return array_map(
    fn($name) => get_user_meta(${user.id}, $name, true), ['description', 'first_name', 'nickname', '_new_email']);`);
  expect([description, first, nickname, pending]).toEqual(['About me', 'Unchanged', 'Unchanged', '']);
  expect(await userOf(pair, person.id)).toMatchObject({ name: 'Unchanged', email: person.email });
  expect(await pair.wordpress.php(`return get_userdata(${user.id})->user_activation_key;`)).toBe('');
  await pair.wordpress.php(`wp_set_password('an evil password', ${user.id});`);
  for (const name of [user.login, person.email]) {
    const stranger = openVisitor(pair);
    await stranger.go('/wp-login.php?action=lostpassword', {
      method: 'POST',
      body: new URLSearchParams({ user_login: name }),
    });
    expect(await pair.wordpress.php(`return get_userdata(${user.id})->user_activation_key;`)).toBe('');
    expect((await stranger.logInLocally(name, 'an evil password')).text).toContain('has no password here');
    expect(await stranger.whoAmI()).toBe('nobody');
  }
});

test('a session that did not begin with a hand-off counts for no linked user', async () => {
  const { user } = await addArrived(pair);
  const cookie = await pair.wordpress.php<string>(`
    $token = WP_Session_Tokens::get_instance(${user.id})->create(time() + 3600);
    return wp_generate_auth_cookie(${user.id}, time() + 3600, 'logged_in', $token);`);
  const name = await pair.wordpress.php<string>('return LOGGED_IN_COOKIE;');
  const visitor = openVisitor(pair);
  visitor.jar.set(name, encodeURIComponent(cookie));
  expect(await visitor.whoAmI()).toBe('nobody');
});
