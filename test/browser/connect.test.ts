import { expect, it } from 'vitest';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(() => openSite({ SSO_MARKETPLACE_LOGIN_URL: 'http://market.localhost:4000/login' }));

it('what changes is shown before and after', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  const url = await buildHandOff(site.app, {
    id: 'connect',
    email: 'customer@example.test',
    name: 'Wolfeschlegelsteinhausenbergerdorff',
    role: 'merchant',
    capabilities: ['manage_storefront', 'sell_products', 'sell_services'],
    profileUpdatedAt: new Date(),
    returnTo: '/profile/products',
  });
  await page.goto(url);
  await page.getByRole('link', { name: 'Log in to connect' }).click();
  await logIn(page, 'customer@example.test');
  await page.getByRole('heading', { name: 'What will change in your account here' }).waitFor();
  await look('connect with changes');
  await page.getByRole('button', { name: 'Connect', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What has changed in your account here' }).waitFor();
  await look('connected');
  expect(await page.getByRole('link', { name: 'Go to Marketplace' }).getAttribute('href')).toBe(
    'http://market.localhost:4000/login',
  );
  await page.getByRole('link', { name: 'Continue' }).click();
  await page.waitForURL('**/profile/products');
  await page.goto('/profile/security');
  await page.getByText('Remove marketplace account').click();
  await page.getByText(/only from the marketplace: .*verification/).waitFor();
  await look('a link that takes rights along');
  const connected = page.getByRole('region', { name: 'Connected accounts' });
  await connected.getByLabel('Current password').fill('local demo password');
  await connected.getByRole('button', { name: 'Remove the connected account' }).click();
  await page.getByText('The marketplace account is no longer connected.').waitFor();
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
