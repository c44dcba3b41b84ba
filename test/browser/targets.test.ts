// On a phone, everything to press or type into is at least 44 pixels high and wide, on every page (contract 9.224).
import { beforeAll, describe, expect, it } from 'vitest';
import { findSmallTargets, logIn, openSite } from '../support/app/browser.ts';
import { listEveryRoute } from '../support/app/every-route.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

let paths: string[];
const site = shared(() => openSite({ IDENTITY_SUPPORT_URL: 'mailto:help@example.test' }));
beforeAll(async () => {
  paths = (await listEveryRoute(site.app)).flatMap(({ name, request: [path] }) =>
    name.startsWith('GET ') &&
    !/^\/(?:sso|trpc|brand|healthz|readyz|integrations)\b|\/events$|\.\w+$/.test(path)
      ? [path]
      : [],
  );
});

// The main parts of the pages that were checked before, perhaps for another user. None is checked twice.
const seen = new Set<string>();

const phone = { viewport: { width: 390, height: 844 } };

describe.each([
  ['nobody', undefined],
  ['a merchant', 'merchant@example.test'],
  ['somebody whose address is not proved', 'unverified@example.test'],
  ['an administrator', 'admin@example.test'],
])('on each page for %s', (who, email) => {
  it('nothing is too small to be pressed', async () => {
    const { page } = await site.visit(phone);
    if (email) {
      if (who === 'a merchant') {
        const user = { email, name: 'Maya' };
        await pushSignup(site.app, buildSignup('targets', { user }));
      }
      await page.goto('/login');
      await logIn(page, email);
      await page.waitForURL('**/profile');
    }
    const faults: string[] = [];
    for (const path of paths) {
      // Skips redirects, and paths at which this user gets no page.
      const answer = await page.request.get(path, { maxRedirects: 0 });
      if (answer.status() !== 200 || !answer.headers()['content-type']?.startsWith('text/html')) continue;
      const [main = path] = /<main[\s\S]*<\/main>/.exec(await answer.text()) ?? [];
      if (seen.has(main)) continue;
      seen.add(main);
      await page.goto(path);
      for (const each of await page.locator('details:not([open]) > summary').all())
        if (await each.isVisible()) await each.click();
      faults.push(...(await findSmallTargets(page)).map((fault) => `${path}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});

it('says so where something is', async () => {
  const { page } = await site.visit(phone);
  await page.goto('/login');
  await page.evaluate(
    "document.querySelector('button[type=submit]').style.cssText = 'min-height:0;height:43px;box-sizing:border-box'",
  );
  expect(await findSmallTargets(page)).toEqual([expect.stringMatching(/^target of .* x 43\.0: button/)]);
});

it('a demo user’s address fills the login form, and is plain text without script', async () => {
  const { page, complaints } = await site.visit(phone);
  await page.goto('/login');
  await page.getByRole('button', { name: 'customer@example.test' }).click();
  expect(await page.getByLabel('Email address').inputValue()).toBe('customer@example.test');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/profile');
  expect(complaints).toEqual([]);
  const { page: plain } = await site.visit({ ...phone, javaScriptEnabled: false });
  await plain.goto('/login?email=x@example.test');
  expect(await plain.getByRole('button').allTextContents()).toEqual(['Log in']);
  expect(await plain.getByText('customer@example.test').locator('visible=true').count()).toBe(1);
  expect(await plain.getByLabel('Email address').inputValue()).toBe('');
});
