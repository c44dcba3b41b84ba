// What the owner of a site meets: settings that are refused, the check, refusals, the list of users and passwords.
import { createHmac } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { addPerson, openSession } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';
import {
  addArrived,
  addLocalUser,
  choose,
  openPair,
  openVisitor,
  refusalOf,
  secret,
  setUp,
  signHandOff,
  soon,
} from './pair.ts';
import { administrator, phpText } from './site.ts';

let owner: Awaited<ReturnType<typeof openOwner>>;
const pair = shared(openPair);
beforeAll(async () => {
  owner = await openOwner();
});
beforeEach(() => setUp(pair));

const settingsPage = '/wp-admin/options-general.php?page=identity-login';

async function openOwner() {
  const visitor = openVisitor(pair);
  await visitor.logInLocally(administrator.name, administrator.password);
  const nonceOf = async (page: string, before: string) => {
    const { text } = await visitor.go(page);
    return new RegExp(`${before}[\\s\\S]*?name="_wpnonce" value="(\\w+)"`).exec(text)?.[1] ?? '';
  };
  return {
    ...visitor,
    nonceOf,
    readSettings: async () => toText((await visitor.go(settingsPage)).text),
    /** Saves the settings. Returns the page that says what became of them. */
    async save(fields: Record<string, string>) {
      const form = Object.entries(fields).map(([name, value]) => [`identity_login${name}`, value]);
      const body = new URLSearchParams([
        ...form,
        ['option_page', 'identity-login'],
        ['action', 'update'],
        ['_wpnonce', await nonceOf(settingsPage, 'options.php')],
        ['_wp_http_referer', settingsPage],
      ]);
      const answer = await visitor.go('/wp-admin/options.php', { method: 'POST', body });
      expect(answer.status).toBe(302);
      return toText((await visitor.go(answer.location)).text);
    },
    async check() {
      const body = new URLSearchParams({
        identity_login_check: 'Check now',
        _wpnonce: await nonceOf(settingsPage, 'id="check"'),
      });
      return toText((await visitor.go(settingsPage, { method: 'POST', body })).text);
    },
  };
}

/** The text of a page, without its menu and markup. */
const toText = (page: string) =>
  page
    .slice(page.indexOf('id="wpbody-content"'))
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, '');

const doctorsPerson = {
  id: '00000000-0000-7abc-8def-000000000001',
  email: 'identity-doctor@network-site.invalid',
  name: 'Identity doctor',
};

const readStored = <T>(setting: string) =>
  pair.wordpress.php<T>(`return get_option('identity_login')[${phpText(setting)}] ?? null;`);

test('a secret of less than 32 bytes is taken from nowhere, and the page says what to do', async () => {
  expect(await owner.save({ '[secrets][0]': 'x'.repeat(31) })).toMatch(
    /too short: it needs 32 characters or more\. Ask the people who run Identity/,
  );
  expect(await readStored('secrets')).toEqual([secret]);
  await choose(pair, 'secrets', `['${'x'.repeat(31)}']`);
  expect((await openVisitor(pair).go('/sso/identity/login')).status).toBe(503);
  expect(await owner.readSettings()).toMatch(/Nobody can log in with Identity until[\s\S]*too short/);
  expect(await owner.save({ '[secrets][0]': 'x'.repeat(32) })).toContain('Settings saved');
  expect(await readStored('secrets')).toEqual(['x'.repeat(32)]);
});

test('a whole IDENTITY_URL fills in address, name and secret, and its secret is not shown, right or wrong (contract 13.72)', async () => {
  const canary = 'kanarienvogel-0123456789-0123456789';
  const stored = async () => [
    await readStored('issuer'),
    await readStored('client'),
    await readStored('secrets'),
  ];
  const right = await owner.save({ '[issuer]': ` https://shop:${canary}@id.example.test/ ` });
  expect(await stored()).toEqual(['https://id.example.test', 'shop', [canary]]);
  const wrong = await owner.save({ '[issuer]': `https://other:${canary}/@x%zz@other.example.test` });
  expect(await stored()).toEqual(['https://other.example.test', 'shop', [canary]]);
  await choose(pair, 'issuer', `''`);
  const none = await owner.save({ '[issuer]': `other:${canary}@other.example.test/x` });
  for (const page of [right, wrong, none, (await owner.go(settingsPage)).text])
    expect(page).not.toContain(canary);
});

test('an address of Identity with which nobody could log in does not replace one that works', async () => {
  const page = await owner.save({
    '[issuer]': `${pair.site.baseUrl}/developers`,
    '[label]': 'Come in',
    '[ttl]': '5',
  });
  expect(page).toMatch(/end with the name of the server[\s\S]*as it was before, the others are saved/);
  expect(page).toContain('a number from 30 to 3600');
  expect(await readStored('issuer')).toBe(pair.site.baseUrl);
  expect((await openVisitor(pair).go('/wp-login.php')).text).toContain('>Come in</a>');
});

test('what is missing is said in the words of the page', async () => {
  const steps = `href="${pair.site.baseUrl}/developers/wordpress"`;
  expect((await owner.go(settingsPage)).text).toContain(steps);
  await choose(pair, 'secrets', '[]');
  await choose(pair, 'issuer', `''`);
  expect(await owner.readSettings()).toMatch(
    /Nobody can log in[\s\S]*Fill in the address of Identity\.[\s\S]*Put the secret into wp-config\.php/,
  );
});

test('an address of Identity without its scheme is kept, and the page says how it starts', async () => {
  await choose(pair, 'issuer', `''`);
  expect(await owner.save({ '[issuer]': 'localhost:21000' })).toMatch(
    /Nobody can log in[\s\S]*start with https:/,
  );
  expect(await readStored('issuer')).toBe('localhost:21000');
});

test('results of a check are shown once, and never as those of other settings', async () => {
  const result = 'Identity knows this site by this name and secret.';
  expect(await owner.check()).toContain(result);
  expect(await owner.readSettings()).not.toContain(result);
  await owner.check();
  expect(await owner.save({ '[client]': 'network_site' })).not.toContain(result);
  const forged = new URLSearchParams({ identity_login_check: 'Check now', _wpnonce: 'forged' });
  expect((await owner.go(settingsPage, { method: 'POST', body: forged })).status).toBe(403);
});

test('the check says what a failure means', async () => {
  await choose(pair, 'secrets', `['another secret that is as long as ours is']`);
  expect(await owner.check()).toMatch(
    /\(401\)\. Compare both[\s\S]*not set them yet, or have not restarted Identity since/,
  );
  await choose(pair, 'issuer', `'http://127.0.0.1:9'`);
  const unreachable = await owner.check();
  expect(unreachable).toMatch(/Identity does not answer at its address[\s\S]*did not answer:/);
  expect(unreachable).not.toMatch(/401|restarted/);
});

test('the check names the address that Identity has, where it answers at another one', async () => {
  const { port } = new URL(pair.site.baseUrl);
  for (const host of ['localhost', '127.0.0.1']) {
    const other = `http://${host}:${port}`;
    await choose(pair, 'issuer', phpText(other));
    const words = `its own address is ${pair.site.baseUrl}, and “Address of Identity” says ${other}.`;
    const page = await owner.check();
    if (other === pair.site.baseUrl) expect(page).toContain('Identity answers, and the clocks agree');
    else expect(page).toContain(words);
  }
});

test('the check says what to do about addresses that do not lead to the plugin', async () => {
  const check = (structure: string) =>
    pair.wordpress.php<[boolean, string]>(`
      $GLOBALS['wp_rewrite']->set_permalink_structure(${phpText(structure)});
      add_filter('pre_http_request', fn($_, $args, $url) => ['response' => ['code' => 404], 'body' => $url], 10, 3);
      return IdentityLogin\\check_own_address();`);
  expect(await check('')).toEqual([false, expect.stringContaining('another structure than “Plain”')]);
  expect(await check('/%postname%/')).toEqual([
    false,
    expect.stringMatching(/\/sso\/identity\/login does not [^(]*\(404\)[\s\S]*begins with \/index\.php\//),
  ]);
  expect(await check('/index.php/%postname%/')).toEqual([
    false,
    expect.stringMatching(/\/index\.php\/sso\/identity\/login does not [^(]*\(404\)\. Ask your host why\.$/),
  ]);
});

test('where permalinks begin with index.php, so do the addresses, and those of before still answer', async () => {
  await pair.wordpress.php(`update_option('permalink_structure', '/index.php/%postname%/');`);
  const base = `${pair.wordpress.url}/index.php/sso/identity`;
  const page = (await owner.go(settingsPage)).text;
  for (const path of ['callback', 'login', 'events']) expect(page).toContain(`value="${base}/${path}"`);
  expect(await owner.check()).toContain('The addresses of this site lead to the plugin.');
  expect((await openVisitor(pair).go('/wp-login.php')).text).toContain(`href="${base}/login`);
  for (const prefix of ['/index.php', '']) {
    const visitor = openVisitor(pair);
    const start = await visitor.go(`${prefix}/sso/identity/login?return_to=/index.php/somewhere/`);
    const state = new URL(start.location).searchParams.get('state') ?? '';
    const email = `index${prefix.length}@example.test`;
    const id = `0190f5a0-0000-7000-8000-0000000099${10 + prefix.length}`;
    const answer = await visitor.go(`${prefix}${signHandOff(pair, state, { id, email })}`);
    expect(refusalOf(answer)).toEqual([303, null]);
    expect(await visitor.whoAmI()).toMatch(/^identity-/);
  }
  const nudge = await owner.go('/index.php/sso/identity/events', { method: 'POST', body: '{}' });
  expect(refusalOf(nudge)).toEqual([400, 'nudge_malformed']);
});

test('the page says when Identity last called, or that it has not', async () => {
  await addArrived(pair);
  await soon(async () =>
    expect(await owner.readSettings()).toMatch(/Identity last called this site at [\d-]+ \d\d:\d\d:\d\d/),
  );
  await choose(pair, 'client', `'elsewhere'`);
  await pair.wordpress.php(`update_option('identity_login_proved', IdentityLogin\\connection());`);
  expect(await owner.readSettings()).toMatch(/has not called this site[\s\S]*ends in \/events/);
});

test('the check says which way the clock is wrong', async () => {
  const body = JSON.stringify({ type: `${pair.site.baseUrl}/problems/login_required` });
  const checkAt = (secondsAhead: number) =>
    pair.wordpress.php<[boolean, string]>(`
      add_filter('pre_http_request', fn() => ['response' => ['code' => 401], 'body' => ${phpText(body)},
        'headers' => ['date' => gmdate('D, d M Y H:i:s', time() - ${secondsAhead}) . ' GMT']]);
      return IdentityLogin\\check_service();`);
  expect(await checkAt(60)).toEqual([
    false,
    expect.stringMatching(/ (59|60|61) seconds fast\. Ask your host/),
  ]);
  expect(await checkAt(-60)).toEqual([
    false,
    expect.stringMatching(/ (59|60|61) seconds slow\. Ask your host/),
  ]);
  expect(await checkAt(0)).toEqual([true, expect.stringContaining('the clocks agree')]);
});

test('until somebody has logged in with these settings, the page asks to try it', async () => {
  const [nobody, somebody] = ['Nobody has logged in with these settings yet', 'Somebody has logged in'];
  expect(await owner.readSettings()).toContain(nobody);
  const doctor = openVisitor(pair);
  const examined = await doctor.go(signHandOff(pair, await doctor.startAttempt(), doctorsPerson));
  expect(refusalOf(examined)).toEqual([303, null]);
  expect(await owner.readSettings()).toContain(nobody);
  await addArrived(pair);
  expect(await owner.readSettings()).toContain(somebody);
  await choose(pair, 'client', `'elsewhere'`);
  expect(await owner.readSettings()).toContain(nobody);
});

test('why changes do not arrive stands on the page, until they do', async () => {
  // The site and this nudge share a secret that the service does not know.
  const other = 'another secret that is as long as ours is';
  await choose(pair, 'secrets', `['${other}']`);
  const body = JSON.stringify({ client: 'network_site', latest: 1 });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = createHmac('sha256', other).update('identity webhooks v1 network_site').digest();
  const signature = createHmac('sha256', key).update(`one.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': 'one',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const nudged = await owner.go('/sso/identity/events', { method: 'POST', headers, body });
  expect(nudged.status).toBe(503);
  const cause = /\d\d:\d\d:\d\d \S+: Identity does not know this site by this name and secret \(401\)/;
  expect(await owner.readSettings()).toMatch(cause);
  expect(await owner.save({ '[secrets][0]': secret })).not.toMatch(cause);
  // WordPress may have begun a pull by itself, which clears the failure, so the test tries again.
  await soon(async () => {
    await pair.wordpress.php(`update_option('identity_login_pull_failure', ['at' => 1, 'words' => 'Old.']);`);
    expect(await owner.readSettings()).toContain('Old.');
  });
  await pair.wordpress.php(`do_action('identity_login_pull');`);
  expect(await owner.readSettings()).not.toMatch(/Old\.|cannot be read/);
});

test("refusals are counted by code, also 16 at once, and the doctor's people are left out", async () => {
  const refuse = async (key: string, profile: Record<string, unknown>) => {
    const visitor = openVisitor(pair);
    return refusalOf(await visitor.go(signHandOff(pair, 'x'.repeat(22), profile, key)));
  };
  const wrong = 'a secret of somebody who is not the service';
  expect(await refuse(secret, doctorsPerson)).toEqual([403, 'state_unknown']);
  expect(await owner.readSettings()).not.toContain('state_unknown');
  await refuse(secret, {});
  const answers = await Promise.all(Array.from({ length: 16 }, () => refuse(wrong, doctorsPerson)));
  expect(answers).toEqual(Array(16).fill([401, 'signature_wrong']));
  const page = await owner.readSettings();
  expect(page).toMatch(
    /(?<!nudge_)signature_wrong, 16 times, last at [\d-]+ \d\d:\d\d:\d\d \S+ · [0-9a-f]{4}-/,
  );
  expect(page).toMatch(/state_unknown, 1 time, at /);
  await pair.wordpress.php(`$GLOBALS['wpdb']->query("UPDATE {$GLOBALS['wpdb']->prefix}identity_refusals
    SET last_at = last_at - 31 * 86400 WHERE code = 'signature_wrong'"); do_action('identity_login_pull');`);
  expect(await owner.readSettings()).not.toMatch(/(?<!nudge_)signature_wrong/);
  expect(await owner.readSettings()).toContain('state_unknown');
  const forget = async (nonce: string) => {
    const body = new URLSearchParams({ identity_login_forget: 'Forget these', _wpnonce: nonce });
    return owner.go(settingsPage, { method: 'POST', body });
  };
  const nonce = await owner.nonceOf(settingsPage, 'Refused lately');
  expect((await forget('forged')).status).toBe(403);
  expect(await owner.readSettings()).toContain('state_unknown');
  await forget(nonce);
  expect(await owner.readSettings()).not.toContain('Refused lately');
});

test('the owner lets roles follow Identity again: one that was given by hand, and one from before', async () => {
  const byHand = await addArrived(pair);
  await pair.wordpress.php(`get_userdata(${byHand.user.id})->set_role('editor');`);
  await choose(pair, 'policy', `'link'`);
  const person = await addPerson(pair.site.app.db);
  const adopted = await addLocalUser(pair, 'adopted', person.email, 'subscriber');
  await openVisitor(pair).login(await openSession(pair.site.app.db, person));
  const local = await addLocalUser(pair, 'local', 'local@example.test');
  await choose(
    pair,
    'roles',
    `['admin' => 'subscriber', 'merchant' => 'author', 'customer' => 'contributor']`,
  );
  const readRoles = () =>
    pair.wordpress.php<string[]>(`return array_map(fn($id) => implode(' ', get_userdata($id)->roles),
      [${byHand.user.id}, ${adopted}, ${local}, get_user_by('login', ${phpText(administrator.name)})->ID]);`);
  const before = ['editor', 'subscriber', 'author', 'administrator'];
  for (const id of [byHand.user.id, adopted])
    expect((await owner.go(`/wp-admin/user-edit.php?user_id=${id}`)).text).toMatch(
      /It does not follow the role at Identity[^"]*list of users[^"]*Let the role follow Identity/,
    );
  const { text: users } = await owner.go('/wp-admin/users.php');
  expect(users).toContain('<option value="identity_login_follow_role">Let the role follow Identity</option>');
  expect(users).toMatch(new RegExp(`data-colname="Email at Identity">${person.email}<`));
  const everybody = [...users.matchAll(/name=.users\[\]. [^>]*value=.(\d+)/g)].map(
    ([, id]) => `users[]=${id}`,
  );
  expect(everybody.length).toBeGreaterThan(3);
  const nonce = /name="_wpnonce" value="(\w+)"/.exec(users)?.[1] ?? '';
  const apply = (nonce: string, who = owner.go) =>
    who(`/wp-admin/users.php?action=identity_login_follow_role&${everybody.join('&')}&_wpnonce=${nonce}`);
  expect((await apply('forged')).status).toBe(403);
  expect(await readRoles()).toEqual(before);
  const done = await apply(nonce);
  expect(await readRoles()).toEqual(['contributor', 'contributor', 'author', 'administrator']);
  expect(toText((await owner.go(done.location)).text)).toMatch(
    /The roles? of \d+ users? follows? Identity\./,
  );
  await choose(
    pair,
    'roles',
    `['admin' => 'subscriber', 'merchant' => 'author', 'customer' => 'subscriber']`,
  );
  await byHand.visitor.whoAmI();
  expect((await readRoles())[0]).toBe('subscriber');
  // The owner, who logs in with Identity, changes the role of all users. The owner's own role does not change.
  const takesOwnRights = await pair.wordpress.php(`
    get_userdata(${byHand.user.id})->set_role('administrator');
    wp_set_current_user(${byHand.user.id});
    return array_map('IdentityLogin\\let_role_follow', [${byHand.user.id}, ${adopted}]);`);
  expect(takesOwnRights).toEqual([false, true]);
  expect((await readRoles())[0]).toBe('administrator');
});

test('a refusal leads on: to the login, and after a second use to the site', async () => {
  const person = await addPerson(pair.site.app.db);
  const visitor = openVisitor(pair);
  const callback = await visitor.launch(await openSession(pair.site.app.db, person));
  await visitor.go(callback);
  const again = await visitor.go(callback);
  expect(refusalOf(again)).toEqual([409, 'nonce_replayed']);
  expect(again.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(again.text).toContain(`href="${pair.wordpress.url}/">Go on to Site</a>`);
  expect(again.text).toContain(
    `<a class="button" href="${pair.wordpress.url}/sso/identity/login">Log in</a>`,
  );
  expect(again.text).not.toContain(person.email);
});

test('no reset of a password is offered for a linked user, or said to be sent', async () => {
  const { user } = await addArrived(pair, 'Nora Name');
  const local = await addLocalUser(pair, 'resettable', 'resettable@example.test');
  const { text } = await owner.go('/wp-admin/users.php');
  const rowOf = (id: number) =>
    new RegExp(`<tr id='user-${id}'[\\s\\S]*?</tr>`).exec(text)?.[0].replaceAll('&amp;', '&') ?? '';
  expect(rowOf(local)).toContain('Send password reset');
  expect(rowOf(user.id)).not.toContain('Send password reset');
  expect(rowOf(user.id)).toContain('data-colname="Name">Nora Name</td>');
  const nonce = /_wpnonce=(\w+)[^>]*>Send password reset|action=resetpassword[^']*_wpnonce=(\w+)/.exec(
    rowOf(local),
  );
  const send = async (...ids: number[]) => {
    const chosen = ids.map((id) => `users[]=${id}`).join('&');
    const answer = await owner.go(
      `/wp-admin/users.php?action=resetpassword&${chosen}&_wpnonce=${nonce?.[1] ?? nonce?.[2]}`,
    );
    expect(answer.status).toBe(302);
    return toText((await owner.go(new URL(answer.location, `${pair.wordpress.url}/wp-admin/`).href)).text);
  };
  const both = await send(user.id, local);
  expect(both).toContain('Password reset link sent.');
  expect(both).toContain('Nothing was sent to 1 user who logs in with Identity');
  const one = await send(user.id);
  expect(one).not.toContain('link sent');
  expect(one).toContain('Nothing was sent to 1 user');
  const page = (await owner.go(`/wp-admin/user-edit.php?user_id=${user.id}`)).text;
  expect(page).toMatch(/\.user-generate-reset-link-wrap[^}]*\{display:none\}/);
  expect(page).toMatch(/It follows the role at Identity\. If you choose another, that one stays\./);
});

test('a stranger does not learn who is linked, and everybody learns where Identity resets passwords', async () => {
  const { user, person } = await addArrived(pair);
  await addLocalUser(pair, 'unlinked', 'unlinked@example.test');
  const stranger = openVisitor(pair);
  const lose = async (name: string) => {
    const body = new URLSearchParams({ user_login: name });
    const { status, location } = await stranger.go('/wp-login.php?action=lostpassword', {
      method: 'POST',
      body,
    });
    return [status, location];
  };
  const sent = [302, expect.stringContaining('checkemail=confirm')];
  for (const name of ['unlinked', user.login, person.email]) expect(await lose(name)).toEqual(sent);
  const key = await pair.wordpress.php<string>(
    `return get_userdata(${user.id})->user_activation_key . get_user_by('login', 'unlinked')->user_activation_key;`,
  );
  // Only one mail was sent, and not to the linked user.
  expect(key).toMatch(/^\d+:\$/);
  const tryPassword = async (name: string) =>
    (await stranger.logInLocally(name, 'a wrong password')).text.replaceAll(name, 'NAME');
  expect(await tryPassword(user.login)).toBe(await tryPassword('unlinked'));
  for (const path of ['/wp-login.php?action=lostpassword', '/wp-login.php?checkemail=confirm'])
    expect((await stranger.go(path)).text).toContain(`href="${pair.site.baseUrl}/forgot-password"`);
  expect((await openVisitor(pair).go('/wp-login.php')).text).not.toContain('/forgot-password');
});
