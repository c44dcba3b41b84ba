// A network of sites (multisite): its sites share their users, so the plugin refuses to be activated, and says why.
import { beforeAll, expect, inject, test } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { openPair, openVisitor } from './pair.ts';
import { administrator, makeNetwork } from './site.ts';

const pair = shared(openPair);
let owner: ReturnType<typeof openVisitor>;
beforeAll(async () => {
  await makeNetwork(inject('wordpress'));
  owner = openVisitor(pair);
  await owner.logInLocally(administrator.name, administrator.password);
});

const findPlugin = () =>
  pair.wordpress.php(`global $wpdb;
    return [
      is_multisite(), get_option('active_plugins'), get_site_option('active_sitewide_plugins'),
      $wpdb->get_col("SHOW TABLES LIKE '%identity%'"), get_option('identity_login_schema'), wp_next_scheduled('identity_login_pull'),
    ];`);
const untouched = [true, [], [], [], false, false];

test.each([
  ['a site', '/wp-admin/plugins.php'],
  ['the whole network', '/wp-admin/network/plugins.php'],
])('%s refuses the plugin with the reason, and nothing is made', async (_, page) => {
  const list = await owner.go(page);
  const [, link = ''] =
    /href="(plugins\.php\?action=activate[^"]*identity-login\.php[^"]*)"/.exec(list.text) ?? [];
  const answer = await owner.go(new URL(link.replaceAll('&amp;', '&'), `${pair.wordpress.url}${page}`).href);
  expect([link, answer.status]).toEqual([expect.stringContaining('_wpnonce='), 500]);
  expect(answer.text).toContain('Identity Login does not work on a network of sites');
  expect(await findPlugin()).toEqual(untouched);
});
