import { afterAll, beforeAll, expect, it } from 'vitest';
import { appearances, inspectPage, openSite, type TestSite } from '../support/browser.ts';

// Prose and a picture; a download and a program; tables and code.
const pages = ['', '/php', '/integrate'];

let site: TestSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

it.each(appearances)('every page of /developers of a kind is good to read: %s', async (name, options) => {
  const { page, context, complaints } = await site.visit(options);
  const faults: string[] = [];
  for (const path of pages) {
    await page.goto(`/developers${path}`);
    faults.push(...(await inspectPage(page, `developers${path.replace('/', ' ')} ${name}`)));
  }
  expect([...faults, ...complaints]).toEqual([]);
  await context.close();
});

it('code is copied by a button, which says so', async () => {
  const { page, context } = await site.visit();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
  await page.goto('/developers/integrate');
  const part = page.locator('.code').first();
  const button = part.getByRole('button', { name: 'Copy' });
  await button.focus();
  await page.keyboard.press('Enter');
  await part.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(await part.locator('code').textContent());
  await context.close();
});

it('without script there is no button, and everything else', async () => {
  const { page, context } = await site.visit({ javaScriptEnabled: false });
  await page.goto('/developers/integrate');
  expect(await page.getByRole('button').count()).toBe(0);
  await page.getByRole('link', { name: 'Verify it', exact: true }).first().click();
  await page.waitForURL('**/developers/integrate#verify-it');
  await context.close();
});

it('the contents are beside the text on a wide screen, and open above it on a phone', async () => {
  const wide = await site.visit({ viewport: { width: 1280, height: 800 } });
  await wide.page.goto('/developers');
  const link = (page: typeof wide.page) =>
    page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Glossary' });
  await link(wide.page).click();
  await wide.page.waitForURL('**/developers/glossary');
  await wide.context.close();

  const phone = await site.visit({ viewport: { width: 320, height: 640 } });
  await phone.page.goto('/developers');
  expect(await link(phone.page).isVisible()).toBe(false);
  await phone.page.getByText('Contents', { exact: true }).focus();
  await phone.page.keyboard.press('Enter');
  await link(phone.page).click();
  await phone.page.waitForURL('**/developers/glossary');
  await phone.context.close();
});
