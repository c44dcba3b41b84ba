import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { inspectPage, logIn, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const timezoneId = 'Asia/Kolkata';
const email = 'merchant@example.test';

/** Added in summer and used in winter, both near midnight. */
beforeAll(() =>
  sql`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name,
      from_established_browser, created_at, last_used_at)
    select gen_random_uuid(), id, 'a-passkey', 'key', 0, '{}', true, 'Phone', true, '2026-06-30T22:30:00Z',
      '2026-11-30T23:30:00Z' from users where email = ${email}`.execute(site.app.db),
);

const choose = (timeZone: string | null) =>
  sql`update users set time_zone = ${timeZone} where email = ${email}`.execute(site.app.db);

async function readTimes(page: Page): Promise<string[]> {
  await page.goto('/profile/passkeys', { waitUntil: 'networkidle' });
  const times = page.locator('main time[datetime*="T"]');
  const stamps = await times.evaluateAll((all) => all.map((time) => time.getAttribute('datetime')));
  expect(stamps).toEqual(['2026-06-30T22:30:00.000Z', '2026-11-30T23:30:00.000Z']);
  return times.allTextContents();
}

async function logInHere(options: Parameters<typeof site.visit>[0]) {
  const visitor = await site.visit({ timezoneId, ...options });
  await visitor.page.goto('/login');
  await logIn(visitor.page, email);
  await visitor.page.waitForURL('**/profile');
  return visitor;
}

it.each([
  ['Europe/Berlin', ['1 Jul 2026, 00:30 CEST', '1 Dec 2026, 00:30 CET']],
  ['America/New_York', ['30 Jun 2026, 18:30 GMT-4', '30 Nov 2026, 18:30 GMT-5']],
])('are in %s if it is chosen, with and without script (contract 9.424)', async (timeZone, times) => {
  await choose(timeZone);
  for (const javaScriptEnabled of [true, false]) {
    const { page, context, complaints } = await logInHere({ javaScriptEnabled });
    expect(await readTimes(page)).toEqual(times);
    expect(complaints).toEqual([]);
    await context.close();
  }
});

it('are in the zone of the browser if none is chosen, and in UTC without script (contract 9.424)', async () => {
  await choose(null);
  const { page, complaints } = await logInHere({});
  expect(await readTimes(page)).toEqual(['1 Jul 2026, 04:00 GMT+5:30', '1 Dec 2026, 05:00 GMT+5:30']);
  expect(complaints).toEqual([]);
  const { page: plain } = await logInHere({ javaScriptEnabled: false });
  expect(await readTimes(plain)).toEqual(['30 Jun 2026, 22:30 UTC', '30 Nov 2026, 23:30 UTC']);
});

it('stay in the same zone when a part of the page is loaded again', async () => {
  const { page } = await site.visit({ timezoneId });
  await page.goto('/login');
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/profile');
  await site.app.login('customer@example.test');
  await page.goto('/profile/security');
  await page.getByRole('button', { name: 'Log out everywhere else' }).click();
  await page.getByText('You are logged out everywhere else.').waitFor();
  for (const time of await page.locator('time[datetime*="T"]').allTextContents())
    expect(time).toMatch(/\d\d:\d\d GMT\+5:30$/);
});

it('are offered in the zone of the browser after a login, until one is chosen (contract 2.171)', async () => {
  await choose(null);
  const { page, complaints } = await logInHere({});
  const offer = page.getByText('Your browser is in the time zone Asia/Calcutta.');
  await offer.waitFor();
  expect(await inspectPage(page, 'time zone offered')).toEqual([]);
  await page.getByRole('button', { name: 'Use this time zone' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await offer.count()).toBe(0);
  expect(await page.getByLabel('Show times in').inputValue()).toBe('Asia/Kolkata');
  expect(await inspectPage(page, 'time zone saved')).toEqual([]);
  expect(complaints).toEqual([]);
});

it('are chosen without script, by keyboard, from a list', async () => {
  await choose(null);
  const { page } = await logInHere({ javaScriptEnabled: false });
  expect(await page.getByText('Your browser is in the time zone').isVisible()).toBe(false);
  await page.getByLabel('Show times in').focus();
  await page.keyboard.type('Lisb');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Saved.').waitFor();
  expect(await page.getByLabel('Show times in').inputValue()).toBe('Europe/Lisbon');
  expect(await readTimes(page)).toEqual(['30 Jun 2026, 23:30 WEST', '30 Nov 2026, 23:30 WET']);
});
