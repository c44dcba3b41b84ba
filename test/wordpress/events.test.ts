// What reaches WordPress from the service: logouts, suspensions, deletions, and the nudges that announce them.
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { deletePerson, openSession } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';
import {
  addArrived,
  choose,
  openPair,
  openVisitor,
  refusalOf,
  secret,
  setUp,
  signHandOff,
  soon,
  userOf,
} from './pair.ts';
import { administrator } from './site.ts';

const pair = shared(openPair);
beforeAll(async () => {
  await setUp(pair);
});

test('a logout at the service ends the sessions of that login here, and no others', async () => {
  const { person, cookie, visitor, user } = await addArrived(pair);
  const elsewhere = openVisitor(pair);
  await elsewhere.login(await openSession(pair.site.app.db, person));
  const late = openVisitor(pair);
  const callback = await late.launch(cookie);
  await pair.site.app.send('/logout', { form: {}, cookie });
  await soon(async () => expect(await visitor.whoAmI()).toBe('nobody'));
  expect(await elsewhere.whoAmI()).toBe(user.login);
  // This hand-off was on its way when the session ended.
  expect(refusalOf(await late.go(callback))).toEqual([403, 'session_ended']);
});

test('a session does not come back by a write of WordPress that had read it before', async () => {
  const { cookie, visitor, user } = await addArrived(pair);
  const read = (code: string) => pair.wordpress.php<string>(code);
  const stored = await read(`return serialize(get_user_meta(${user.id}, 'session_tokens', true));`);
  await pair.site.app.send('/logout', { form: {}, cookie });
  await soon(async () => expect(await visitor.whoAmI()).toBe('nobody'));
  const bytes = Buffer.from(stored).toString('base64');
  await read(`update_user_meta(${user.id}, 'session_tokens', unserialize(base64_decode('${bytes}')));`);
  expect(await visitor.whoAmI()).toBe('nobody');
});

test('a suspension ends all sessions, and holds until it is lifted', async () => {
  const { person, cookie, visitor, user } = await addArrived(pair);
  const callback = await openVisitor(pair).launch(cookie);
  const { databaseUrl, db } = pair.site.app;
  expect((await runCli(databaseUrl, ['user:suspend', person.email])).code).toBe(0);
  await soon(async () => expect((await userOf(pair, person.id)).roles).toEqual([]));
  expect(await visitor.whoAmI()).toBe('nobody');
  // Acts as if another hand-off of this person had been on its way.
  const again = await visitor.go(signHandOff(pair, await visitor.startAttempt(), { id: person.id }));
  expect(refusalOf(again)).toEqual([403, 'access_denied']);
  expect((await openVisitor(pair).go(callback)).status).toBe(403);
  expect((await runCli(databaseUrl, ['user:resume', person.email])).code).toBe(0);
  const back = openVisitor(pair);
  expect(refusalOf(await back.login(await openSession(db, person)))).toEqual([303, null]);
  expect(await back.whoAmI()).toBe(user.login);
  expect(await visitor.whoAmI()).toBe('nobody');
  expect((await userOf(pair, person.id)).roles).toEqual(['subscriber']);
});

test('a deletion takes what says who it was, and leaves what they wrote', async () => {
  const { person, visitor, user } = await addArrived(pair);
  const post = await pair.wordpress.php<number>(`return wp_insert_post(
    ['post_author' => ${user.id}, 'post_title' => 'Kept', 'post_status' => 'publish']);`);
  await pair.wordpress.php(`wp_insert_comment(['comment_post_ID' => ${post}, 'user_id' => ${user.id},
    'comment_author' => 'Somebody', 'comment_author_email' => '${person.email}', 'comment_content' => 'Kept']);`);
  await deletePerson(pair.site.app.db, person);
  await soon(async () => expect((await userOf(pair, person.id)).name).toBe('Deleted person'));
  const deleted = await userOf(pair, person.id);
  // The login name is random, so nobody can have guessed it.
  expect(deleted.login).toMatch(/^deleted-[0-9a-f]{16}$/);
  expect(deleted).toEqual({
    id: user.id,
    login: deleted.login,
    email: `${deleted.login}@identity.invalid`,
    name: 'Deleted person',
    roles: [],
    identityEmail: '',
  });
  expect(await visitor.whoAmI()).toBe('nobody');
  const [author, comments] = await pair.wordpress.php<[string, Record<string, string>[]]>(`return [
    get_post(${post})->post_author, get_comments(['post_id' => ${post}])];`);
  expect(author).toBe(String(user.id));
  expect(comments[0]).toMatchObject({
    comment_author: 'Deleted person',
    comment_author_email: '',
    comment_content: 'Kept',
  });
  const answer = await visitor.go(signHandOff(pair, await visitor.startAttempt(), { id: person.id }));
  expect(refusalOf(answer)).toEqual([403, 'access_denied']);
});

test('a changed profile arrives without a login', async () => {
  const { person } = await addArrived(pair);
  await sql`update users set name = 'Changed \\ "here"' where id = ${person.id}`.execute(pair.site.app.db);
  await soon(async () => expect((await userOf(pair, person.id)).name).toBe('Changed \\ "here"'));
});

test('an event that another process has applied already is left', async () => {
  const { person } = await addArrived(pair);
  const name = (seq: number, text: string) => `$event(${seq}, ${JSON.stringify(text)});`;
  await pair.wordpress.php(`
    $now = (int) $GLOBALS['wpdb']->get_var("SELECT MAX(applied) FROM {$GLOBALS['wpdb']->prefix}identity_state");
    $event = fn($seq, $type) => IdentityLogin\\apply_event(Identity\\Event::read((object) [
      'seq' => $now + $seq, 'type' => $type, 'user_id' => '${person.id}']));
    ${name(1000, 'user.suspended')} ${name(1001, 'user.restored')} ${name(1000, 'user.suspended')}`);
  const status = await pair.wordpress.php(`return IdentityLogin\\find_status('${person.id}');`);
  expect(status).toBe('active');
});

const readPosition = () =>
  pair.wordpress.php(`return array_map('intval', $GLOBALS['wpdb']->get_row("SELECT last_seq, claimed_until
    FROM {$GLOBALS['wpdb']->prefix}identity_positions WHERE client = 'network_site'", ARRAY_A));`);

/** The number of the last event; null while an event has no number. */
async function findNewest(): Promise<number | null> {
  const { rows } = await sql<{ newest: number | null }>`
    select case when bool_and(seq is not null) then max(seq)::int end as newest
      from events where client = 'network_site'`.execute(pair.site.app.db);
  return rows[0]?.newest ?? null;
}

test('an event that cannot be written holds nobody else up', async () => {
  const { person } = await addArrived(pair);
  const { person: other } = await addArrived(pair);
  const applied = await pair.wordpress.php(`
    add_filter('wp_pre_insert_user_data', '__return_empty_array');
    $now = IdentityLogin\\read_applied();
    $profile = ['id' => '${person.id}', 'email' => 'new@example.test', 'name' => 'New', 'role' => 'customer',
      'account' => ['capabilities' => []], 'profile_updated_at' => '2036-01-01T00:00:00.000Z'];
    $events = [['profile.updated', '${person.id}', ['profile' => $profile]], ['user.deleted', '${person.id}', []],
      ['user.suspended', '${other.id}', []]];
    foreach ($events as $n => [$type, $id, $more]) {
      $event = ['seq' => $now + $n + 1, 'type' => $type, 'user_id' => $id] + $more;
      IdentityLogin\\apply_event(Identity\\Event::read(json_decode(json_encode($event))));
    }
    $seen = IdentityLogin\\read_applied() - $now;
    $GLOBALS['wpdb']->query("UPDATE {$GLOBALS['wpdb']->prefix}identity_state SET applied = $now");
    return $seen;`);
  expect(applied).toBe(3);
  expect(await userOf(pair, person.id)).toMatchObject({ name: 'Deleted person', roles: [] });
  expect((await userOf(pair, other.id)).roles).toEqual([]);
});

test('a linked user whose meta is gone stays one', async () => {
  const { person, visitor, user } = await addArrived(pair);
  await pair.wordpress.php(`delete_user_meta(${user.id}, 'identity_profile_id');
    wp_set_password('a local password', ${user.id});`);
  const local = await openVisitor(pair).logInLocally(user.login, 'a local password');
  expect(local.text).toContain('has no password here');
  await visitor.login(await openSession(pair.site.app.db, person));
  expect(await userOf(pair, person.id)).toMatchObject({ id: user.id });
});

test('a session whose login ended while it was started is ended, and no other', async () => {
  const { user } = await addArrived(pair);
  const left = await pair.wordpress.php<string[]>(`
    wp_set_current_user(${user.id});
    foreach (['one', 'two'] as $sid) {
      IdentityLogin\\take_session(wp_get_current_user(), $sid);
    }
    IdentityLogin\\end_session('one');
    $sessions = WP_Session_Tokens::get_instance(${user.id})->get_all();
    return array_values(array_map(fn($session) => $session['identity_login']['sid'], $sessions));`);
  expect(left).toHaveLength(2);
  expect(left).toContain('two');
});

test('the option with the secret is not loaded with every page', async () => {
  expect(await pair.wordpress.php(`return isset(wp_load_alloptions()['identity_login']);`)).toBe(false);
});

test('where events are gone, all sessions end and reading goes on', async () => {
  const { person, cookie, visitor, user } = await addArrived(pair);
  // Waits until no pull is under way, because a pull would write the position anew.
  await soon(async () =>
    expect(await readPosition()).toEqual({ last_seq: await findNewest(), claimed_until: 0 }),
  );
  await pair.wordpress.php(
    `$GLOBALS['wpdb']->query("UPDATE {$GLOBALS['wpdb']->prefix}identity_positions SET last_seq = 999999");`,
  );
  await sql`update users set name = 'After the gap' where id = ${person.id}`.execute(pair.site.app.db);
  await soon(async () => expect((await userOf(pair, person.id)).name).toBe('After the gap'));
  expect(await visitor.whoAmI()).toBe('nobody');
  await visitor.login(cookie);
  expect(await visitor.whoAmI()).toBe(user.login);
});

test('a nudge that is not signed with the secret is refused', async () => {
  const visitor = openVisitor(pair);
  const nudge = (key: string, timestamp = Math.floor(Date.now() / 1000), method = 'POST') => {
    const body = JSON.stringify({ client: 'network_site', latest: 1 });
    const id = 'network_site_1';
    const bytes = createHmac('sha256', key).update('identity webhooks v1 network_site').digest();
    const signature = createHmac('sha256', bytes).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    };
    return visitor.go('/sso/identity/events', {
      method,
      headers,
      body: method === 'POST' ? body : undefined,
    });
  };
  expect(refusalOf(await nudge('another secret, which is as long as ours is'))).toEqual([
    401,
    'nudge_signature_wrong',
  ]);
  expect(refusalOf(await nudge(secret, 1_700_000_000))).toEqual([401, 'nudge_too_old']);
  expect(refusalOf(await nudge(secret, undefined, 'GET'))).toEqual([405, 'method_not_allowed']);
  expect(refusalOf(await visitor.go('/sso/identity/events', { method: 'POST' }))).toEqual([
    400,
    'nudge_malformed',
  ]);
  expect(refusalOf(await nudge(secret))).toEqual([204, null]);
});

test('the five-minute job pulls what no nudge has said', async () => {
  const { person } = await addArrived(pair);
  // With this wrong name, the site refuses nudges, so only the job can pull. The job runs after the right name is set.
  await choose(pair, 'client', `'elsewhere'`);
  await sql`update users set name = 'By the job' where id = ${person.id}`.execute(pair.site.app.db);
  await pair.wordpress.php(
    `define('IDENTITY_LOGIN_CLIENT', 'network_site'); do_action('identity_login_pull');`,
  );
  expect((await userOf(pair, person.id)).name).toBe('By the job');
  await choose(pair, 'client', `'network_site'`);
  expect(await pair.wordpress.php(`return wp_get_schedule('identity_login_pull');`)).toBe(
    'identity_login_five_minutes',
  );
});

test('a local administrator gets in while the service is not set up, and while the tables are gone', async () => {
  const { visitor } = await addArrived(pair);
  await pair.wordpress.php(`$GLOBALS['wpdb']->query("RENAME TABLE {$GLOBALS['wpdb']->prefix}identity_links TO hidden");
    update_option('identity_login', ['secrets' => []] + get_option('identity_login'));`);
  const { name, password } = administrator;
  const owner = openVisitor(pair);
  expect((await owner.logInLocally(name, password)).status).toBe(302);
  expect(await owner.whoAmI()).toBe(name);
  expect(await visitor.whoAmI()).toBe('nobody');
  expect((await visitor.go('/sso/identity/login')).status).toBe(503);
  await pair.wordpress.php(`$GLOBALS['wpdb']->query("RENAME TABLE hidden TO {$GLOBALS['wpdb']->prefix}identity_links");
    update_option('identity_login', ['secrets' => ['${secret}']] + get_option('identity_login'));`);
});
