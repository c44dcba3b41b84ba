// What the browser has to fetch, compressed, before a page is whole.
import { expect, it } from 'vitest';
import { logIn, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const kilobyte = 1_000;

const site = shared(openSite);

/** Returns the bytes of scripts and styles that a browser without a cache fetches for a page. */
async function weigh(path: string, isLoggedIn: boolean): Promise<{ script: number; stylesheet: number }> {
  const { page, context } = await site.visit();
  if (isLoggedIn) {
    await page.goto('/login');
    await logIn(page);
    await page.waitForURL('**/profile');
  }
  // Playwright turns off the cache of a context that has a route.
  await context.route('**', (route) => route.continue());
  const weight = { script: 0, stylesheet: 0 };
  const sizes: Promise<unknown>[] = [];
  page.on('requestfinished', (request) => {
    const type = request.resourceType();
    if (type !== 'script' && type !== 'stylesheet') return;
    sizes.push(
      request.sizes().then(({ responseBodySize }) => {
        weight[type] += responseBodySize;
      }),
    );
  });
  await page.goto(path, { waitUntil: 'networkidle' });
  await Promise.all(sizes);
  await context.close();
  return weight;
}

it.each(['/login', '/profile', '/profile/security', '/profile/billing', '/demo/marketplace'])(
  '%s takes at most 8 kB of script and 12 kB of style',
  async (path) => {
    const { script, stylesheet } = await weigh(path, path !== '/login');
    expect(script).toBeGreaterThan(kilobyte);
    expect(script).toBeLessThan(8 * kilobyte);
    expect(stylesheet).toBeGreaterThan(kilobyte);
    expect(stylesheet).toBeLessThan(12 * kilobyte);
  },
);
