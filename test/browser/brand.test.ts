// The operator's brand on pages, the mails as a mail program shows them, and what people read about their account.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { inEachAppearance, inspectAsItIs, logIn, openInspection, openSite } from '../support/app/browser.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const draw = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="32" viewBox="0 0 96 32"><script>document.documentElement.id = "run"</script><rect width="96" height="32" rx="6" fill="${colour}"/></svg>`;

const folder = await sharedFolder();
await writeFile(join(folder, 'own.svg'), draw('#8a1e5c'));
await writeFile(join(folder, 'client.svg'), draw('#b8430f'));
const site = shared(() =>
  openSite({
    IDENTITY_NAME: 'Château ID',
    IDENTITY_LOGO_FILE: join(folder, 'own.svg'),
    // A difficult colour, because it hardly stands out from a white page.
    IDENTITY_ACCENT_COLOR: '#ffee00',
    SSO_MARKETPLACE_LOGO_FILE: join(folder, 'client.svg'),
  }),
);

const launch = '/login?next=%2Fsso%2Flaunch%2Fmarketplace';
const brokenImages = `[...document.images].filter((image) => image.naturalWidth === 0).map(({ src }) => src)`;

async function findMail(page: Page, subject: string): Promise<Locator> {
  const heading = page.getByRole('heading', { name: subject, exact: true });
  const mail = page.locator('article', { has: heading }).first();
  for (let attempt = 0; attempt < 50; attempt++) {
    await page.goto('/dev/mail');
    if ((await mail.count()) > 0) break;
    await page.waitForTimeout(200);
  }
  return mail;
}

it('pages have the logo and the colour, and the activity is readable', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look: inspect } = openInspection(page, 'brand');
  const look = async (what: string) => {
    await inspect(what);
    faults.push(...((await page.evaluate(brokenImages)) as string[]));
  };
  await page.goto(launch);
  expect(await page.getByRole('img', { name: 'Château ID' }).isVisible()).toBe(true);
  expect(await page.locator('main img').count()).toBe(1);
  await inEachAppearance(page, async ({ colorScheme }) => {
    const [fill, ink, edge] = (await page.evaluate(`(() => {
      const { backgroundColor, color, borderTopColor } = getComputedStyle(document.querySelector('main form > button'));
      return [backgroundColor, color, borderTopColor];
    })()`)) as string[];
    expect([fill, ink]).toEqual(['rgb(255, 238, 0)', 'rgb(0, 0, 0)']);
    expect(edge === fill).toBe(colorScheme === 'dark');
  });
  await look('login');
  await page.goto('/login');
  await logIn(page);
  await page.waitForURL('**/profile');
  await look('profile');
  await page.goto('/profile/activity');
  await page.getByRole('main').getByText('Logged in').first().waitFor();
  await look('activity');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a logo that is opened as a page runs nothing', async () => {
  const { page } = await site.visit();
  await page.goto('/login');
  const src = await page.locator('.brand img').getAttribute('src');
  await page.goto(src ?? '');
  expect(await page.evaluate('document.documentElement.nodeName')).toBe('svg');
  expect(await page.evaluate('document.documentElement.id')).toBe('');
});

it('mails are readable on phones and desktops, light and dark, and a link leads out of the frame', async () => {
  const [{ page, complaints }, { page: reader }] = [await site.visit(), await site.visit()];
  // Nobody gets a mail about their first login, so the user logs in two times.
  await site.app.login('customer@example.test');
  await page.goto('/login');
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/profile');
  await page.goto('/forgot-password');
  await page.getByLabel('Email address').fill('customer@example.test');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/forgot-password?sent*');
  const faults: string[] = [];
  for (const subject of ['Set a new password – Château ID', 'New login to your account – Château ID']) {
    const src = await (await findMail(page, subject)).locator('iframe').getAttribute('src');
    const { text } = await site.app.send(src ?? '');
    // The page that shows a mail runs no script, so axe checks the mail's text in another page.
    await reader.setContent(text);
    for (const width of [390, 800])
      for (const colorScheme of ['light', 'dark'] as const) {
        await reader.setViewportSize({ width, height: 800 });
        await reader.emulateMedia({ colorScheme });
        faults.push(...(await inspectAsItIs(reader, `mail ${subject}, ${width} ${colorScheme}`)));
      }
  }
  expect(faults).toEqual([]);

  const mail = await findMail(page, 'Set a new password – Château ID');
  await mail.getByText('As HTML').click();
  await mail.locator('iframe').contentFrame().getByRole('link', { name: 'Set a new password' }).click();
  await page.getByRole('heading', { name: 'Set your password' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/set-password');
  expect(complaints).toEqual([]);
});
