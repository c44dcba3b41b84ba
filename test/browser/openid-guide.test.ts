// The guides on the page of a client that speaks OpenID Connect, in a browser (contract 14.90).
import { expect, it } from 'vitest';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { addOpenIdClient } from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

it('one opens at a time, and its settings are copied with the values of the client', async () => {
  const redirectUris = ['http://localhost:4000/login/generic_oauth'];
  const { name } = await addOpenIdClient(site.app, { redirectUris, pkce: 'state-only' });
  const { page, complaints } = await site.visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { faults, look } = openInspection(page, 'openid guide');
  await page.goto(`/login?next=/admin/clients/${name}`);
  await logIn(page, 'admin@example.test');
  await page.waitForURL(`**/admin/clients/${name}`);
  await page.locator('summary', { hasText: 'Nextcloud' }).click();
  await look('Nextcloud');
  await page.locator('summary', { hasText: 'Grafana' }).click();
  await look('Grafana');
  expect(await page.getByText('php occ').isVisible()).toBe(false);
  const settings = page.locator('.code', { hasText: '[auth.generic_oauth]' });
  await settings.getByRole('button', { name: 'Copy' }).click();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain(`client_id = ${name}\nclient_secret = SECRET\n`);
  expect(copied).toContain('root_url = http://localhost:4000/\n');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
