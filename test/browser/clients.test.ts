// An administrator adds a client and tries it, in a browser (contract 13.110 to 13.115).
import { expect, it } from 'vitest';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

it.each([
  ['with script', true],
  ['without script', false],
])('a client is added, connected and tried %s', async (name, javaScriptEnabled) => {
  const client = `shop_${javaScriptEnabled}`;
  const { page, complaints } = await site.visit({ javaScriptEnabled });
  const { faults, look } = openInspection(page, `clients ${name}`);
  await page.goto('/login?next=/admin/clients');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/admin/clients');
  await page.locator('summary', { hasText: /^Add a client$/ }).click();
  const form = page.locator('form[data-intent=add-client]').first();
  await form.getByLabel('Name').fill(client);
  await form.getByLabel('Callback URL').fill('http://localhost:4000/sso/callback');
  await form.getByLabel('Why').fill('The new shop');
  if (javaScriptEnabled) await look('form');
  await form.getByRole('button', { name: 'Add the client' }).click();
  await page.getByText('The client is added.').waitFor();
  const url = await page
    .getByText(/^http:\/\/shop_\w+:idsec_/)
    .first()
    .textContent();
  expect(url).toMatch(/^http:\/\/shop_\w+:idsec_[A-Za-z0-9_-]{49}@/);
  if (javaScriptEnabled) await look('added');
  await page.locator('summary', { hasText: 'PHP' }).click();
  expect(await page.getByText('php -S localhost:4000 example.php').isVisible()).toBe(true);
  expect(await page.getByText('PORT=4000 node example.mjs').isVisible()).toBe(false);

  await page.getByRole('link', { name: 'Go on to its page' }).click();
  await page.waitForURL(`**/admin/clients/${client}`);
  expect(await page.content()).not.toContain('idsec_');
  await page.locator('[data-check=launch]').getByText('Not yet').waitFor();
  const cookie = await site.app.login('customer@example.test');
  expect((await site.app.send(`/sso/launch/${client}`, { cookie })).status).toBe(303);
  const done = page.locator('[data-check=launch]').getByText('within the last minute');
  // The page may show a number of launches that is up to ten seconds old.
  await expect
    .poll(
      async () => {
        if (!javaScriptEnabled) await page.reload();
        return done.count();
      },
      { timeout: 40_000, interval: 1_000 },
    )
    .toBe(1);
  if (javaScriptEnabled) await look('page');
  await page.locator('summary', { hasText: 'Turn the client off' }).click();
  const off = page.locator('form[data-intent=turn-client-off]');
  await off.getByLabel('Why').fill('A test');
  await off.getByRole('button', { name: 'Turn the client off' }).click();
  await page.getByText('The client is off.').waitFor();
  if (javaScriptEnabled) await look('off');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a product of OpenID Connect is added and changed (contract 14.7 and 14.97)', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page, 'clients of OpenID Connect');
  await page.goto('/login?next=/admin/clients');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/admin/clients');
  await page.locator('summary', { hasText: 'Add a product that speaks OpenID Connect' }).click();
  const form = page.locator('form[data-intent=add-client]').last();
  await form.getByLabel('Name').fill('wiki');
  await form.getByLabel('Redirect URIs').fill('http://localhost:4000/cb\nhttp://localhost:4000/code?code=1');
  await form.getByLabel('Back-channel logout URI').fill('http://localhost:4000/back');
  await form.getByLabel('Why').fill('A wiki for all');
  await look('form');
  await form.getByRole('button', { name: 'Add the client' }).click();
  await page.getByText('must not have code').waitFor();
  await look('refused');
  await form.getByLabel('Redirect URIs').fill('http://localhost:4000/cb\nhttp://localhost:4000/two');
  await form.getByRole('button', { name: 'Add the client' }).click();
  await page.getByText('The client is added.').waitFor();
  await page.getByRole('link', { name: 'Go on to its page' }).click();
  await page.locator('[data-check=logOut]').getByText('Not yet').waitFor();
  await look('page');
  await page.locator('summary', { hasText: 'Change the client' }).click();
  const change = page.locator('form[data-intent=set-client]');
  expect(await change.getByLabel('Redirect URIs').inputValue()).toBe(
    'http://localhost:4000/cb\nhttp://localhost:4000/two',
  );
  await look('change');
  expect([faults, complaints]).toEqual([[], []]);
});
