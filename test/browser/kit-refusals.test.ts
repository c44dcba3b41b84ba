// The page on which a kit refuses, in a real browser: on small screens, in dark mode, and under the page's own security policy.
import { expect, it } from 'vitest';
import { Refusal, type RefusalCode, refusalStatuses } from '../../clients/typescript/src/index.ts';
import { buildRefusalPage } from '../../clients/typescript/src/refusals.ts';
import { inEachAppearance, inspectPage, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const shop = 'https://shop.example.test';
const loginUrl = `${shop}/a-login-start-with-a-long-path-that-has-no-place-to-break?and=parameters&more=of-them`;

it('is right on every screen', async () => {
  const { page, complaints } = await site.visit();
  await page.route(`${shop}/**`, async (route) => {
    const refusal = new Refusal(new URL(route.request().url()).pathname.slice(1) as RefusalCode, 'why');
    refusal.launchId = '3f9a-12c4';
    const answer = buildRefusalPage(refusal, { loginUrl, homeUrl: `${shop}/` });
    const headers = Object.fromEntries(answer.headers);
    await route.fulfill({ status: answer.status, headers, body: await answer.text() });
  });
  for (const code of ['state_unknown', 'store_unavailable', 'nonce_replayed'] as const) {
    const answer = await page.goto(`${shop}/${code}`);
    expect(answer?.status()).toBe(refusalStatuses[code]);
    expect(await inspectPage(page, `kit ${code}`)).toEqual([]);
    expect(await page.getByRole('link', { name: 'Log in' }).getAttribute('href')).toBe(loginUrl);
    expect(await page.locator('main').textContent()).toContain(`${code} · 3f9a-12c4`);
    await inEachAppearance(page, async ({ colorScheme }) => {
      const ink = await page.evaluate('getComputedStyle(document.querySelector("h1")).color');
      expect(ink).toBe(colorScheme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(0, 0, 0)');
    });
  }
  expect(complaints).toEqual([]);
});
