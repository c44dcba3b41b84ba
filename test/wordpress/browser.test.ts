// The plugin as people see it, in a real browser: from its activation to its removal.
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { inspectAsItIs, logIn } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';
import { openPair, openVisitor, secret, soon } from './pair.ts';
import { administrator } from './site.ts';

let url = '';
const pair = shared(openPair);
beforeAll(async () => {
  url = pair.wordpress.url;
});

const narrow = { width: 390, height: 844 };
const wide = { width: 1280, height: 800 };

/** Takes pictures at both widths if SCREENSHOTS is set, and looks for faults in our part of the page. */
async function look(page: Page, name: string): Promise<void> {
  for (const viewport of [narrow, wide]) {
    await page.setViewportSize(viewport);
    const faults = await inspectAsItIs(page, `wordpress-${name}-${viewport.width}`);
    expect(faults.filter((fault) => fault.includes('sideways'))).toEqual([]);
  }
}

async function logInLocally(page: Page): Promise<void> {
  await page.goto(`${url}/wp-login.php?local`);
  await page.getByLabel('Username or Email Address').fill(administrator.name);
  await page.getByLabel('Password', { exact: true }).fill(administrator.password);
  await page.getByRole('button', { name: 'Log In' }).click();
  await page.waitForURL(/wp-admin/);
}

test('an owner activates, fills in four things and checks', async () => {
  await pair.wordpress.php(`update_option('permalink_structure', '/%postname%/');`);
  const { page, context } = await pair.site.visit();
  await logInLocally(page);
  await page.goto(`${url}/wp-admin/plugins.php`);
  await page.locator('#activate-identity-login').click();
  // Waits for a link, because WordPress removes the parameter of the activation from the URL.
  await page.locator('#deactivate-identity-login').waitFor();
  await page.locator('tr[data-slug="identity-login"]').getByRole('link', { name: 'Settings' }).click();
  expect(await page.locator('.notice-warning').textContent()).toMatch(
    /Nobody can log in with Identity[\s\S]*Fill in the address of Identity[\s\S]*Put the secret/,
  );
  await page.getByLabel('Address of Identity').fill(`${pair.site.baseUrl}/`);
  await page.getByLabel('Name of this site').fill('network_site');
  await page.getByLabel('Secret', { exact: true }).fill(secret);
  await page.getByLabel('Role here of merchant').selectOption('contributor');
  await page.getByRole('button', { name: 'Save Changes' }).click();
  await page.getByText('Settings saved.').waitFor();
  const callback = page.getByLabel('SSO_WEBSITE_CALLBACK_URL');
  expect(await callback.inputValue()).toBe(`${url}/sso/identity/callback`);
  await callback.focus();
  expect(await page.evaluate('String(getSelection())')).toBe(`${url}/sso/identity/callback`);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('knows this site by this name and secret').waitFor();
  expect(await page.locator('.notice-error').count()).toBe(0);
  await page.getByText('Nobody has logged in with these settings yet').waitFor();
  await look(page, 'settings');
  await context.close();
});

test('a person logs in by the button, and finds their profile kept at Identity', async () => {
  const { page, context } = await pair.site.visit();
  await page.goto(`${url}/wp-admin/profile.php`);
  expect(await page.getByLabel('Password', { exact: true }).isVisible()).toBe(false);
  await look(page, 'login');
  await page.getByRole('link', { name: 'Log in with Identity' }).click();
  await logIn(page);
  await page.waitForURL(`${url}/wp-admin/profile.php`);
  expect(await page.getByText('are kept at Identity').textContent()).toContain('Edit them there');
  expect(await page.locator('#email').isVisible()).toBe(false);
  expect(await page.getByText('merchant@example.test', { exact: true }).isVisible()).toBe(true);
  await look(page, 'profile');

  // Two tabs log in at the same time, without a password.
  const tabs = await Promise.all([context.newPage(), context.newPage()]);
  await Promise.all(tabs.map((tab) => tab.goto(`${url}/sso/identity/login?return_to=/`)));
  for (const tab of tabs) {
    expect(tab.url()).toBe(`${url}/`);
    expect(await tab.locator('#who').textContent()).toMatch(/^identity-/);
  }
  await page.goto(`${pair.site.baseUrl}/profile/products`);
  await page.locator(`a[href*="127.0.0.1"]`).first().click();
  await page.waitForURL(`${url}/`);

  // The person logs out here, and then at the service.
  await page.goto(`${url}/wp-admin/profile.php`);
  const logout = await page.locator('#wp-admin-bar-logout a').getAttribute('href');
  await page.goto(logout ?? '');
  await look(page, 'logged-out');
  await page.getByRole('link', { name: 'Log out of Identity, too' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${url}/`);
  expect(await page.locator('#who').textContent()).toBe('nobody');
  await context.close();
});

test('a logout at Identity ends the session here within seconds', async () => {
  const { page, context } = await pair.site.visit();
  await page.goto(`${url}/sso/identity/login?return_to=/`);
  await logIn(page, 'customer@example.test');
  await page.waitForURL(`${url}/`);
  await page.goto(`${pair.site.baseUrl}/logout`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await soon(async () => {
    await page.goto(`${url}/`);
    expect(await page.locator('#who').textContent()).toBe('nobody');
  });
  await context.close();
});

test('shortcode and block show the button, and then who is logged in', async () => {
  await pair.wordpress.php(`wp_insert_post(['post_title' => 'Login', 'post_name' => 'login-here', 'post_type' => 'page',
    'post_status' => 'publish', 'post_content' => '[identity_login]<!-- wp:identity-login/login /-->']);
    flush_rewrite_rules();`);
  const { page, context } = await pair.site.visit();
  await page.goto(`${url}/login-here/?a=1&b=2`);
  expect(await page.getByRole('link', { name: 'Log in with Identity' }).count()).toBe(2);
  // Block themes put the content of a page into a column like this one.
  await page.setViewportSize(wide);
  await page.addStyleTag({
    content: 'body > * { max-width: 600px; margin-left: auto !important; margin-right: auto !important }',
  });
  for (const button of await page.getByRole('link', { name: 'Log in with Identity' }).all())
    expect((await button.boundingBox())?.x).toBeGreaterThan(300);
  await page.getByRole('link', { name: 'Log in with Identity' }).first().click();
  await logIn(page, 'customer@example.test');
  await page.waitForURL(`${url}/login-here/?a=1&b=2`);
  expect(await page.locator('.identity-login-person').allTextContents()).toEqual(
    Array(2).fill('Casey Customer · Log out'),
  );
  await context.close();
});

test('constants of wp-config.php win over the settings page', async () => {
  const [{ secrets, client, issuer }, operator] = await pair.wordpress.php<
    [{ secrets: string[]; client: string; issuer: string }, Record<string, string>]
  >(`
    define('IDENTITY_LOGIN_SECRETS', 'one,two');
    define('IDENTITY_LOGIN_CLIENT', 'shop');
    return [IdentityLogin\\settings(), IdentityLogin\\operator_settings()];`);
  expect({ secrets, client, issuer }).toEqual({
    secrets: ['one', 'two'],
    client: 'shop',
    issuer: pair.site.baseUrl,
  });
  expect(operator.SSO_SHOP_LOGIN_URL).toBe(`${url}/sso/identity/login`);
});

test('IDENTITY_URL of wp-config.php wins over all others, or is said to be wrong without its values (contract 13.72 and 13.74)', async () => {
  const read = (address: string) =>
    pair.wordpress.php<[Record<string, unknown>, Record<string, string>, boolean]>(`
      define('IDENTITY_URL', '${address}');
      define('IDENTITY_LOGIN_SECRETS', 'one,two');
      return [IdentityLogin\\settings(), IdentityLogin\\find_configuration_faults(), IdentityLogin\\is_constant('client')];`);
  const canary = 'kanarienvogel-0123456789-0123456789';
  const [settings, faults, isConstant] = await read(`https://shop:${canary}@id.example.test`);
  expect(settings).toMatchObject({ issuer: 'https://id.example.test', client: 'shop', secrets: [canary] });
  expect(Object.keys(faults)).toEqual([]);
  expect(isConstant).toBe(true);
  const [, wrong] = await read(`https://shop:${canary}/x@id.example.test`);
  expect(Object.keys(wrong).sort()).toEqual(['client', 'issuer', 'secrets']);
  for (const words of Object.values(wrong)) expect(words).toMatch(/^IDENTITY_URL in wp-config.php must be /);
  expect(JSON.stringify(wrong)).not.toContain('kanarienvogel');
});

test('a refusal says its code on a small page', async () => {
  const { page, context } = await pair.site.visit();
  const answer = await page.goto(`${url}/sso/identity/callback?payload=e30&signature=${'0'.repeat(64)}`);
  expect(answer?.headers()['identity-refusal']).toBe('signature_wrong');
  await look(page, 'refusal');
  await page.goto(`${url}/wp-login.php?action=lostpassword`);
  await look(page, 'lost-password');
  await page.goto(`${url}/wp-login.php?local`);
  await look(page, 'local-login');
  await logInLocally(page);
  await page.goto(`${url}/wp-admin/options-general.php?page=identity-login`);
  await page.getByRole('link', { name: 'signature_wrong' }).first().waitFor();
  await page.getByText('Somebody has logged in with these settings').waitFor();
  await look(page, 'settings-later');
  await page.goto(`${url}/wp-admin/users.php`);
  await page.getByRole('cell', { name: 'Casey Customer', exact: true }).waitFor();
  await look(page, 'users');
  await page
    .getByRole('link', { name: /^identity-/ })
    .first()
    .click();
  await page.locator('.user-role-wrap').getByText('It follows the role at Identity').waitFor();
  expect(await page.getByRole('button', { name: 'Send Reset Link' }).count()).toBe(0);
  expect(await page.getByRole('heading', { name: 'Application Passwords' }).count()).toBe(0);
  await look(page, 'user');
  await context.close();
});

test('deactivated, it leaves no session of a linked user; deleted, it leaves users alone', async () => {
  const { page: person, context: theirs } = await pair.site.visit();
  await person.goto(`${url}/sso/identity/login?return_to=/`);
  await logIn(person, 'customer@example.test');
  await person.waitForURL(`${url}/`);
  const { page, context } = await pair.site.visit();
  await logInLocally(page);
  await page.goto(`${url}/wp-admin/plugins.php`);
  await page.locator('#deactivate-identity-login').click();
  await page.locator('#activate-identity-login').waitFor();
  await person.goto(`${url}/`);
  expect(await person.locator('#who').textContent()).toBe('nobody');
  const roles = await pair.wordpress.php<string[][]>(`
    global $wpdb;
    $wpdb->query("UPDATE {$wpdb->prefix}identity_links SET status = 'suspended' ORDER BY user_id DESC LIMIT 1");
    uninstall_plugin('identity-login/identity-login.php');
    return array_map(fn($user) => array_values($user->roles), get_users(['orderby' => 'ID']));`);
  expect(roles).toEqual([['administrator'], ['contributor'], []]);
  const [users, tables, options, meta, cron] = await pair.wordpress.php<number[]>(`
    global $wpdb;
    return [count(get_users()), count($wpdb->get_col("SHOW TABLES LIKE '%identity%'")),
      (int) $wpdb->get_var("SELECT COUNT(*) FROM $wpdb->options WHERE option_name LIKE '%identity%'"),
      (int) $wpdb->get_var("SELECT COUNT(*) FROM $wpdb->usermeta WHERE meta_key LIKE '%identity%'"),
      (int) (bool) wp_next_scheduled('identity_login_pull')];`);
  expect({ users, tables, options, meta, cron }).toEqual({
    users: 3,
    tables: 0,
    options: 0,
    meta: 0,
    cron: 0,
  });
  expect((await openVisitor(pair).go('/wp-login.php')).text).not.toContain('Identity');
  await Promise.all([context.close(), theirs.close()]);
});
