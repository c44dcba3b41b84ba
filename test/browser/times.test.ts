import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { logIn, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const timezoneId = 'Asia/Kolkata';

async function expectTimes(page: Page, timeZone: string, end = ''): Promise<void> {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const times = await page.locator('time[datetime*="T"]').all();
  expect(times.length).toBeGreaterThan(0);
  for (const time of times) {
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    expect(await time.textContent()).toBe(format.format(at) + end);
  }
}

it('are in the zone of the browser', async () => {
  const { page, complaints } = await site.visit({ timezoneId });
  await page.goto('/login');
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/profile');
  await page.goto('/profile/activity', { waitUntil: 'networkidle' });
  await expectTimes(page, timezoneId);

  await site.app.login('customer@example.test');
  await page.goto('/profile/security');
  await page.getByRole('button', { name: 'Log out everywhere else' }).click();
  await page.getByText('You are logged out everywhere else.').waitFor();
  await expectTimes(page, timezoneId);

  await page.goto('/profile/delete');
  await page.getByRole('button', { name: 'Delete your account' }).click();
  await page.getByRole('heading', { name: 'Your account will be deleted' }).waitFor();
  await expectTimes(page, timezoneId);
  await page.getByRole('button', { name: 'Keep your account' }).click();
  expect(complaints).toEqual([]);
});

it('are in UTC, and say so, without script', async () => {
  const { page } = await site.visit({ timezoneId, javaScriptEnabled: false });
  await page.goto('/login');
  await logIn(page, 'merchant@example.test');
  await page.waitForURL('**/profile');
  for (const path of ['/profile/activity', '/profile/security']) {
    await page.goto(path);
    await expectTimes(page, 'UTC', ' UTC');
  }
});
