// If the site's owner allows it, people are linked with local users: with which ones, and what open registration does if the
// owner does not.
import { beforeAll, expect, test } from 'vitest';
import { addPerson, openSession } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';
import { addLocalUser, choose, openPair, openVisitor, refusalOf, setUp, userOf } from './pair.ts';
import { administrator } from './site.ts';

const pair = shared(openPair);
beforeAll(() => setUp(pair));

let serial = 0;

/** A person comes who has the email address of a local user with this role. `php` changes the local user before that. */
async function arrive(role: string, php = '') {
  await choose(pair, 'policy', `'link'`);
  const person = await addPerson(pair.site.app.db);
  const local = await addLocalUser(pair, `local-${++serial}`, person.email, role);
  await pair.wordpress.php(`$user = get_userdata(${local}); ${php}`);
  const answer = await openVisitor(pair).login(await openSession(pair.site.app.db, person));
  return { outcome: refusalOf(answer), person, local };
}

const addRole = (name: string, rights: string) =>
  `remove_role('${name}'); add_role('${name}', 'Name', [${rights}]);`;
const refused = [403, 'person_refused'];

test.each([
  ['contributor', ''],
  ['author', ''],
  ['editor', ''],
  ['subscriber', `$user->add_role('contributor');`],
  // Rights that WordPress itself does not know.
  ['subscriber', `$user->add_cap('manage_woocommerce');`],
  [
    'subscriber',
    `${addRole('shop_manager', `'read' => true, 'edit_shop_orders' => true`)} $user->set_role('shop_manager');`,
  ],
  ['subscriber', `$user->add_role('contributor'); $user->add_cap('edit_posts', false);`],
  [
    'subscriber',
    `get_role('administrator')->add_cap('member'); ${addRole('member', `'read' => true`)} $user->set_role('member');`,
  ],
])('link: nobody becomes a user who may do more than read: %s %s', async (role, php) => {
  const { outcome, person, local } = await arrive(role, php);
  expect(outcome).toEqual(refused);
  const kept = await pair.wordpress.php(`$user = get_userdata(${local});
    return [$user->user_email, wp_check_password('a local password', $user->user_pass)];`);
  expect(kept).toEqual([person.email, true]);
});

test.each([
  ['subscriber', ''],
  ['subscriber', `$user->add_cap('edit_posts', false);`],
  ['', ''],
  ['subscriber', `${addRole('customer', `'read' => true`)} $user->set_role('customer');`],
  ['subscriber', `${addRole('shop_manager', `'edit_product' => true, 'edit_post' => true`)}`],
])('link: they become a user who may only read: %s %s', async (role, php) => {
  const { outcome, person, local } = await arrive(role, php);
  expect(outcome).toEqual([303, null]);
  expect(await userOf(pair, person.id)).toMatchObject({ id: local });
});

test('link: a right that the site has given all its subscribers is more than reading', async () => {
  const give = `get_role('subscriber')->add_cap('upload_files');`;
  expect((await arrive('subscriber', give)).outcome).toEqual(refused);
  expect((await arrive('subscriber', `get_role('subscriber')->remove_cap('upload_files');`)).outcome).toEqual(
    [303, null],
  );
});

test.each([
  ['nothing', '', true],
  [
    'a right that it is asked for',
    `fn($all, $caps, $args) => $args[0] === 'edit_posts' ? ['edit_posts' => true] + $all : $all`,
    false,
  ],
  ['a right that no role has', `fn($all) => ['keep_the_gate' => true] + $all`, false],
  ['nothing, and hides one for the moment', `fn($all) => array_diff_key($all, ['publish_posts' => 1])`, true],
])('link: what another plugin answers for a user counts: %s', async (_, filter, may) => {
  const local = await addLocalUser(
    pair,
    `filtered-${++serial}`,
    `filtered-${serial}@example.test`,
    'subscriber',
  );
  const hook = filter && `add_filter('user_has_cap', ${filter}, 10, 3);`;
  const ask = `return IdentityLogin\\may_be_linked(get_userdata(${local}));`;
  expect(await pair.wordpress.php(`${hook} ${ask}`)).toBe(may);
});

test('link: a right that another plugin takes for reading, or hides for the moment, counts', async () => {
  const local = await addLocalUser(pair, 'mapped', 'mapped@example.test', 'subscriber');
  const ask = `return IdentityLogin\\may_be_linked(get_userdata(${local}));`;
  const map = `add_filter('map_meta_cap', fn($caps, $cap) => $cap === 'list_users' ? ['read'] : $caps, 10, 2);`;
  expect(await pair.wordpress.php(`${map} ${ask}`)).toBe(false);
  const hide = `add_filter('user_has_cap', fn($all) => array_diff_key($all, ['edit_themes' => 1]));
    get_userdata(${local})->add_cap('edit_themes');`;
  expect(await pair.wordpress.php(`${hide} ${ask}`)).toBe(false);
});

test('deny: the page says beside it what open registration means, and so it is', async () => {
  await choose(pair, 'policy', `'deny'`);
  const owner = openVisitor(pair);
  await owner.logInLocally(administrator.name, administrator.password);
  const readNote = async () => {
    const { text } = await owner.go('/wp-admin/options-general.php?page=identity-login');
    const note =
      /value="deny"[^>]* aria-describedby="([\w-]+)">[^<]*<\/label><br><p [^>]*id="\1">([^<]*)<\/p><label>/;
    return note.exec(text)?.[2];
  };
  const consequence =
    'Whoever that address belongs to, and has not logged in here with Identity yet, is then not let in until you delete that user.';
  expect(await readNote()).toMatch(/^Nobody can register at this site through WordPress\. If you allow that/);
  expect(await readNote()).toContain(consequence);
  await pair.wordpress.php(`update_option('users_can_register', 1);`);
  expect(await readNote()).toMatch(
    /^Anybody can register at this site \(“Membership” under Settings, General\)/,
  );
  expect(await readNote()).toContain(consequence);

  const { db } = pair.site.app;
  const known = await addPerson(db);
  const knownCookie = await openSession(db, known);
  expect(refusalOf(await openVisitor(pair).login(knownCookie))).toEqual([303, null]);
  const newcomer = await addPerson(db);
  const stranger = openVisitor(pair);
  const register = (email: string) =>
    stranger.go('/wp-login.php?action=register', {
      method: 'POST',
      body: new URLSearchParams({ user_login: `stranger${++serial}`, user_email: email }),
    });
  expect((await register(newcomer.email)).location).toContain('checkemail=registered');
  await register(known.email);
  expect(refusalOf(await openVisitor(pair).login(knownCookie))).toEqual([303, null]);
  const cookie = await openSession(db, newcomer);
  expect(refusalOf(await openVisitor(pair).login(cookie))).toEqual(refused);
  await pair.wordpress.php(`wp_delete_user(get_user_by('email', '${newcomer.email}')->ID);`);
  expect(refusalOf(await openVisitor(pair).login(cookie))).toEqual([303, null]);
});
