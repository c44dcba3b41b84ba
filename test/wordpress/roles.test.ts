// Roles that somebody changed in WordPress: nothing later gives back the earlier roles.
import { beforeAll, expect, test } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { openSession, type Person } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';
import {
  addArrived,
  choose,
  openPair,
  openVisitor,
  refusalOf,
  setUp,
  signHandOff,
  soon,
  userOf,
} from './pair.ts';
import { administrator } from './site.ts';

const pair = shared(openPair);
beforeAll(() => setUp(pair));

const chooseRoles = (admin: string, merchant: string, customer: string) =>
  choose(pair, 'roles', `['admin' => '${admin}', 'merchant' => '${merchant}', 'customer' => '${customer}']`);

const rolesOf = (id: number) =>
  pair.wordpress.php<string[]>(`return array_values(get_userdata(${id})->roles);`);

const hasTaken = (id: number) =>
  pair.wordpress.php<boolean>(`return metadata_exists('user', ${id}, 'identity_roles_suspended');`);

async function suspend({ email, id }: Person): Promise<void> {
  expect((await runCli(pair.site.app.databaseUrl, ['user:suspend', email])).code).toBe(0);
  await soon(async () => expect((await userOf(pair, id)).roles).toEqual([]));
}

async function resume({ email, id }: Person): Promise<void> {
  expect((await runCli(pair.site.app.databaseUrl, ['user:resume', email])).code).toBe(0);
  await soon(async () =>
    expect(await pair.wordpress.php(`return IdentityLogin\\find_status('${id}');`)).toBe('active'),
  );
}

async function openOwner() {
  const owner = openVisitor(pair);
  await owner.logInLocally(administrator.name, administrator.password);
  return owner;
}

async function changeInTheList(role: string, id: number): Promise<void> {
  const owner = await openOwner();
  const { text } = await owner.go('/wp-admin/users.php');
  const nonce = /name="_wpnonce" value="(\w+)"/.exec(text)?.[1] ?? '';
  const query = `new_role=${role}&changeit=Change&users[]=${id}&_wpnonce=${nonce}`;
  expect((await owner.go(`/wp-admin/users.php?${query}`)).location).toContain('update=promote');
}

const change = (php: string) => (id: number) =>
  pair.wordpress.php(`$user = get_userdata(${id}); ${php}`).then(() => undefined);

const changeWhileAway = (php: string) => async (id: number) => {
  await pair.wordpress.php(`deactivate_plugins('identity-login/identity-login.php');`);
  await change(php)(id);
  await pair.wordpress.php(`activate_plugin('identity-login/identity-login.php');`);
};

const changesInASuspension: [name: string, change: (id: number) => Promise<void>, after: string[]][] = [
  ['another, in the list of users', (id) => changeInTheList('contributor', id), ['contributor']],
  ['none, in the list of users', (id) => changeInTheList('none', id), []],
  ['another besides', change(`$user->add_role('contributor');`), ['contributor']],
  ['one that is taken again', change(`$user->set_role('editor'); $user->set_role('');`), []],
  ['all rights taken', change(`$user->remove_all_caps();`), []],
  ['while the plugin is away', changeWhileAway(`$user->set_role('contributor');`), ['contributor']],
  [
    'one that is taken again, while the plugin is away',
    changeWhileAway(`$user->set_role('editor'); $user->set_role('');`),
    [],
  ],
];

// This takes long, because each of many people needs the command line.
test('a role that was changed in a suspension stays, whoever changed it and how', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const cases = await Promise.all(
    changesInASuspension.map(async ([name, changeRole, after]) => ({
      name,
      changeRole,
      after,
      ...(await addArrived(pair)),
    })),
  );
  const readRoles = async () =>
    Object.fromEntries(await Promise.all(cases.map(async ({ name, id }) => [name, await rolesOf(id)])));
  const expected = Object.fromEntries(cases.map(({ name, after }) => [name, after]));
  await Promise.all(cases.map(({ person }) => suspend(person)));
  for (const { id, changeRole } of cases) await changeRole(id);
  await Promise.all(cases.map(({ person }) => resume(person)));
  await soon(async () => expect(await Promise.all(cases.map(({ id }) => hasTaken(id)))).not.toContain(true));
  expect(await readRoles()).toEqual(expected);
  await chooseRoles('administrator', 'subscriber', 'editor');
  for (const { person } of cases) {
    const back = openVisitor(pair);
    expect(refusalOf(await back.login(await openSession(pair.site.app.db, person)))).toEqual([303, null]);
    expect(await back.whoAmI()).not.toBe('nobody');
  }
  expect(await readRoles()).toEqual(expected);
}, 180_000);

test('nothing changed in a suspension: a role by hand comes back, and one that follows is that of the table of now', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const byHand = await addArrived(pair);
  await change(`$user->set_role('editor'); $user->add_role('contributor');`)(byHand.id);
  const follows = await addArrived(pair);
  await change(`$user->add_role('contributor');`)(follows.id);
  await Promise.all([suspend(byHand.person), suspend(follows.person)]);
  await chooseRoles('administrator', 'author', 'subscriber');
  const given = `add_action('add_user_role', fn($id, $role) => $GLOBALS['given'][] = $role, 10, 2);`;
  const restore = (id: number) =>
    pair.wordpress.php<string[]>(`${given}
      IdentityLogin\\give_roles_back(get_userdata(${id}));
      return $GLOBALS['given'];`);
  expect(await restore(follows.id)).toEqual(['subscriber', 'contributor']);
  expect(await restore(byHand.id)).toEqual(['editor', 'contributor']);
  await Promise.all([resume(follows.person), resume(byHand.person)]);
  expect(await rolesOf(follows.id)).toEqual(['subscriber', 'contributor']);
  expect(await rolesOf(byHand.id)).toEqual(['editor', 'contributor']);
});

test('a suspension that is told again takes the role of now, and no earlier one comes back', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { person, id } = await addArrived(pair);
  await suspend(person);
  const tellAgain = () =>
    pair.wordpress.php(`IdentityLogin\\suspend_person('${person.id}', IdentityLogin\\fresh_user(${id}));`);
  await tellAgain();
  await change(`$user->set_role('contributor');`)(id);
  await tellAgain();
  expect(await rolesOf(id)).toEqual([]);
  await resume(person);
  await soon(async () => expect(await rolesOf(id)).toEqual(['contributor']));
});

test('a role that was taken here and given again by hand no longer follows Identity', async () => {
  await chooseRoles('administrator', 'author', 'subscriber');
  const id = '0190f5a0-0000-7000-8000-00000000ab01';
  const arrive = async (role: string, profile_updated_at: string) => {
    const visitor = openVisitor(pair);
    const profile = { id, role, profile_updated_at, email: 'hand.role@example.test' };
    await visitor.go(signHandOff(pair, await visitor.startAttempt(), profile));
    return userOf(pair, id);
  };
  const { id: local } = await arrive('customer', '2026-01-01T00:00:00.000Z');
  await changeInTheList('editor', local);
  await arrive('admin', '2026-01-02T00:00:00.000Z');
  await changeInTheList('subscriber', local);
  const later = await arrive('merchant', '2026-01-03T00:00:00.000Z');
  expect(later.roles).toEqual(['subscriber']);
  expect((await arrive('admin', '2026-01-04T00:00:00.000Z')).roles).toEqual(['subscriber']);
});

test('a role that is changed while another process is about to write one stays', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { id } = await addArrived(pair);
  /** Changes the role as another process would, after WordPress has read the user in this process. */
  const changeBefore = (prepare: string, write: string) =>
    pair.wordpress.php<string[]>(`
      $user = get_userdata(${id});
      ${prepare}
      $GLOBALS['wpdb']->update($GLOBALS['wpdb']->usermeta, ['meta_value' => serialize(['contributor' => true])],
        ['user_id' => ${id}, 'meta_key' => 'wp_capabilities']);
      IdentityLogin\\${write}($user);
      return array_values(IdentityLogin\\fresh_user(${id})->roles);`);
  const changeTable = `$settings = get_option('identity_login');
    $settings['roles']['customer'] = 'editor';
    update_option('identity_login', $settings);`;
  expect(await changeBefore(changeTable, 'follow_role')).toEqual(['contributor']);
  expect(await changeBefore(`IdentityLogin\\take_roles_away($user);`, 'give_roles_back')).toEqual([
    'contributor',
  ]);
});

test('after a gap in the events, roles that the owner let follow are all that a login gives', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { person, cookie, id } = await addArrived(pair);
  await change(`$user->set_role('editor');`)(id);
  await pair.wordpress.php(`IdentityLogin\\suspend_person('${person.id}', IdentityLogin\\fresh_user(${id}));
    IdentityLogin\\forget_profiles();
    wp_set_current_user(get_user_by('login', '${administrator.name}')->ID);
    IdentityLogin\\let_role_follow(${id});`);
  expect(await rolesOf(id)).toEqual(['author']);
  expect(refusalOf(await openVisitor(pair).login(cookie))).toEqual([303, null]);
  expect(await rolesOf(id)).toEqual(['author']);
});

test('whoever was suspended under the plugin of before gets the role back', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { person, id } = await addArrived(pair);
  await suspend(person);
  await pair.wordpress.php(
    `update_user_meta(${id}, 'wp_user_level', 0); update_option('identity_login_schema', 2);`,
  );
  // The next page that somebody opens updates the tables.
  await openVisitor(pair).go('/');
  await resume(person);
  await soon(async () => expect(await rolesOf(id)).toEqual(['author']));
});

test('the page of a suspended user says what becomes of the role', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { person, id } = await addArrived(pair);
  await suspend(person);
  const owner = await openOwner();
  const readPage = async () => (await owner.go(`/wp-admin/user-edit.php?user_id=${id}`)).text;
  expect(await readPage()).toContain(
    'The role that they had comes back when the suspension ends. If you save',
  );
  await changeInTheList('contributor', id);
  expect(await readPage()).toContain('It was changed here since the suspension, and stays as it is');
});

test('a role that was taken here stays taken when the plugin is deactivated, deleted and installed again', async () => {
  await chooseRoles('administrator', 'subscriber', 'author');
  const { person, cookie, id } = await addArrived(pair);
  await changeInTheList('none', id);
  await changeWhileAway('')(id);
  expect(refusalOf(await openVisitor(pair).login(cookie))).toEqual([303, null]);
  expect(await rolesOf(id)).toEqual([]);
  const { person: suspended, id: suspendedId } = await addArrived(pair);
  await suspend(suspended);
  await changeInTheList('contributor', suspendedId);
  await pair.wordpress.php(`
    deactivate_plugins('identity-login/identity-login.php');
    uninstall_plugin('identity-login/identity-login.php');`);
  await setUp(pair);
  await chooseRoles('administrator', 'subscriber', 'author');
  await choose(pair, 'policy', `'link'`);
  expect(refusalOf(await openVisitor(pair).login(cookie))).toEqual([303, null]);
  expect(await userOf(pair, person.id)).toMatchObject({ id, roles: [] });
  expect((await runCli(pair.site.app.databaseUrl, ['user:resume', suspended.email])).code).toBe(0);
  const again = await openSession(pair.site.app.db, suspended);
  expect(refusalOf(await openVisitor(pair).login(again))).toEqual([303, null]);
  expect(await userOf(pair, suspended.id)).toMatchObject({ id: suspendedId, roles: [] });
});
