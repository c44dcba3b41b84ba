import { expect, it } from 'vitest';
import { inEachAppearance, openInspection, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

// These pages have every kind of content: prose, a picture, a download, a program, tables and code.
const pages = ['', '/php', '/integrate', '/doctor', '/refusals'];

const site = shared(openSite);

it('every page of /developers of a kind is good to read', async () => {
  const { page, context, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  for (const path of pages) await look(`developers${path.replace('/', ' ')}`, `/developers${path}`);
  expect([...faults, ...complaints]).toEqual([]);
  await context.close();
});

it('code is copied by a button, which says so', async () => {
  const { page, context } = await site.visit();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
  await page.goto('/developers/integrate');
  const part = page.locator('.code', { has: page.getByRole('button') }).first();
  const button = part.getByRole('button', { name: 'Copy' });
  await button.focus();
  await page.keyboard.press('Enter');
  await part.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(await part.locator('code').textContent());
  await context.close();
});

it('the button to copy covers no code, nothing is cut off, and code is as large as text', async () => {
  const { page, context } = await site.visit();
  for (const path of pages) {
    await page.goto(`/developers${path}`);
    await inEachAppearance(page, async ({ name }) => {
      expect(await page.evaluate(findOverlaps), `${path} ${name}`).toEqual([]);
    });
  }
  await context.close();
});

/** A script for the page: finds parts that lie over each other. */
const findOverlaps = `[...document.querySelectorAll('.code')].flatMap((part) => {
  const pre = part.querySelector('pre').getBoundingClientRect();
  const button = part.querySelector('button')?.getBoundingClientRect();
  const size = Number.parseFloat(getComputedStyle(part.querySelector('code')).fontSize);
  const covers = button && button.left < pre.right && button.top < pre.bottom && button.bottom > pre.top;
  const isBesideOrAbove = !button || part.getBoundingClientRect().right >= button.right;
  return covers || !isBesideOrAbove || size < 14 ? [part.textContent.slice(0, 60) + ' ' + size] : [];
}).concat([...document.querySelectorAll('.document-table')].flatMap((table) =>
  innerWidth <= 640 && table.scrollWidth > table.clientWidth ? [table.textContent.slice(0, 60)] : []
))`;

it('the cells of a row stand side by side, and on a phone below each other', async () => {
  for (const [width, isBeside] of [
    [1280, true],
    [390, false],
  ] as const) {
    const { page, context } = await site.visit({ viewport: { width, height: 800 } });
    await page.goto('/developers/integrate');
    const [one, other] = await page.locator('.document-table tbody tr').first().locator('td').all();
    expect((await one?.boundingBox())?.y === (await other?.boundingBox())?.y).toBe(isBeside);
    await context.close();
  }
});

it('a phone gets a picture that can be read there', async () => {
  for (const [width, picture] of [
    [390, 'flow-narrow'],
    [1280, 'flow'],
  ] as const) {
    const { page, context } = await site.visit({ viewport: { width, height: 800 } });
    await page.goto('/developers');
    const shown = await page.evaluate("document.querySelector('.document img').currentSrc");
    expect(shown).toMatch(new RegExp(`/${picture}-[\\w-]{8}\\.svg$`));
    await context.close();
  }
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
