// The operator's logos, painted on light and dark pages, must be clearly visible.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { logIn, openSite } from '../support/app/browser.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="32" viewBox="0 0 96 32">
  <style>rect { fill: #111 } @media (prefers-color-scheme: dark) { rect { fill: #eee } }</style>
  <rect width="48" height="32"/></svg>`;
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAYAAACzzX7wAAAAFElEQVR42mMQEBD4j4wZ0AHtFQAAY8cS8fd6YSIAAAAASUVORK5CYII=';
const lightPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAYAAACzzX7wAAAAFElEQVR42mP4+vXrf2TMgA5orwAA41M94ad1TsoAAAAASUVORK5CYII=';

const folder = await sharedFolder();
await writeFile(join(folder, 'light.png'), Buffer.from(lightPng, 'base64'));
await writeFile(join(folder, 'adapts.svg'), svg);
await writeFile(join(folder, 'dark.png'), Buffer.from(png, 'base64'));
const site = shared(() =>
  openSite({
    IDENTITY_LOGO_FILE: join(folder, 'dark.png'),
    IDENTITY_LOGO_DARK_FILE: join(folder, 'light.png'),
    SSO_MARKETPLACE_LOGO_FILE: join(folder, 'dark.png'),
    SSO_WEBSITE_LOGO_FILE: join(folder, 'adapts.svg'),
  }),
);

/** Measures the contrast between the lightest and the darkest spot of the painted element, as WCAG 2.2 defines it. */
async function measureContrast(part: Locator): Promise<number> {
  const picture = (await part.screenshot()).toString('base64');
  const { page, context } = await site.visit();
  const luminances = (await page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${picture}';
    await image.decode();
    const { width, height } = image;
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const linear = (byte) => (byte / 255 <= 0.04045 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
    let [darkest, lightest] = [1, 0];
    for (let at = 0; at < data.length; at += 4) {
      const luminance = 0.2126 * linear(data[at]) + 0.7152 * linear(data[at + 1]) + 0.0722 * linear(data[at + 2]);
      darkest = Math.min(darkest, luminance);
      lightest = Math.max(lightest, luminance);
    }
    return [darkest, lightest];
  })()`)) as [number, number];
  await context.close();
  return (luminances[1] + 0.05) / (luminances[0] + 0.05);
}

it.each(['light', 'dark'] as const)('can be told from a %s page', async (colorScheme) => {
  const { page } = await site.visit({ colorScheme });
  await page.goto('/login?next=%2Fsso%2Flaunch%2Fmarketplace');
  expect(await measureContrast(page.locator('.brand img'))).toBeGreaterThan(7);
  // The logo that is made for dark pages has no white ground on them.
  const ground = "getComputedStyle(document.querySelector('.brand img')).backgroundColor";
  expect(await page.evaluate(ground)).toBe('rgba(0, 0, 0, 0)');
  expect(await measureContrast(page.locator('.client-logo'))).toBeGreaterThan(7);
  await logIn(page);
  await page.goto('/sso/launch/marketplace');
  await page.goto('/profile/products');
  for (const src of ['png', 'svg'])
    expect(await measureContrast(page.locator(`.row-icon img[src$=".${src}"]`))).toBeGreaterThan(7);
});
