import { expect, it } from 'vitest';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(() =>
  openSite({
    IDENTITY_SUPPORT_URL: 'mailto:help@example.test',
    SSO_CLIENTS: 'shop,vault',
    SSO_SHOP_ROLES: 'merchant,admin',
    SSO_VAULT_FACTOR: 'required',
  }),
);

it('somebody who may not enter reads so, and logs in with another account (contract 13.53)', async () => {
  const { page } = await site.visit();
  const { faults, look } = openInspection(page, 'entry');
  await page.goto('/login');
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/profile');
  await look('products', '/profile/products');
  expect(await page.getByRole('link', { name: 'Open Shop' }).count()).toBe(0);
  await look('refused', '/sso/launch/shop');
  await page.getByText('Shop is not open to your account.').waitFor();
  await page.getByRole('link', { name: 'Log in with another account' }).click();
  await logIn(page, 'merchant@example.test');
  await page.waitForURL('**/demo/shop**');
  expect(faults).toEqual([]);
});

it.each([
  ['with script', true, 'customer@example.test'],
  ['without script', false, 'new-merchant@example.test'],
])(
  'somebody without a factor sets up an app on the way to a client that needs one, %s (contract 13.57)',
  async (name, javaScriptEnabled, email) => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const { faults, look } = openInspection(page, `factor ${name}`);
    await page.goto('/sso/launch/vault');
    await logIn(page, email);
    await page.waitForURL('**/profile/authenticator?**');
    await page.getByText('Vault needs a second factor.').waitFor();
    if (javaScriptEnabled) await look('needed');
    await page.getByRole('button', { name: 'Set up the app' }).click();
    const secret = (await page.locator('code.key').textContent()) ?? '';
    await page.getByLabel('Code that the app shows now').fill(showCode(secret, Date.now()));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await page.getByRole('link', { name: 'Continue to Vault' }).click();
    await page.waitForURL('**/demo/vault**');
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  },
);
