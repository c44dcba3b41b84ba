// An authenticator app, set up and used by a person at a browser, with and without script.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appearances, inspectPage, logIn, openSite, type TestSite } from '../support/app/browser.ts';
import { showCode } from '../support/people/totp-app.ts';

// Codes work once, so the clock goes on between two logins.
let clock = Date.now();
let site: TestSite;
beforeAll(async () => {
  site = await openSite({ IDENTITY_SUPPORT_URL: 'mailto:help@example.test' }, () => new Date(clock));
});
afterAll(() => site.close());

type Page = Awaited<ReturnType<TestSite['visit']>>['page'];

/** From the profile to the recovery codes. */
async function setUp(page: Page, look: (what: string) => Promise<void> = async () => undefined) {
  await page.goto('/profile/security');
  await page.getByRole('link', { name: 'Authenticator app' }).click();
  await page.getByRole('heading', { name: 'Authenticator app', level: 1 }).waitFor();
  await look('authenticator off');
  await page.getByRole('button', { name: 'Set up the app' }).click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  const secret = (await page.locator('code.key').textContent()) ?? '';
  await look('authenticator set-up');
  await page.getByLabel('Code that the app shows now').fill('000000');
  await page.getByRole('button', { name: 'Turn on the app' }).click();
  await page.getByText('This code is wrong.').waitFor();
  expect(await page.locator('code.key').textContent()).toBe(secret);
  await look('authenticator set-up refused');
  await page.getByLabel('Code that the app shows now').fill(showCode(secret, clock));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
  const codes = await page.locator('.codes code').allTextContents();
  expect(codes).toHaveLength(10);
  await look('recovery codes');
  return { secret, codes };
}

async function logOut(page: Page) {
  await page.goto('/logout');
  await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/login?logged_out');
}

describe.each([
  ['with script', true, 'merchant@example.test'],
  ['without script', false, 'new-merchant@example.test'],
])('an authenticator app, %s,', (_name, javaScriptEnabled, email) => {
  it('is set up, and asked for when a client sends somebody to log in', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/login');
    await logIn(page, email);
    await page.waitForURL('**/profile');
    const { secret, codes } = await setUp(page);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as text' }).click();
    expect((await download).suggestedFilename()).toBe('recovery-codes.txt');
    await page.getByRole('link', { name: 'I have kept them. Continue' }).click();
    await page.waitForURL('**/profile/security');
    await page.getByRole('link', { name: 'Authenticator app' }).waitFor();
    await logOut(page);

    clock += 60_000;
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.waitForURL('**/login?next=**');
    await logIn(page, email);
    await page.waitForURL('**/login/code?next=**');
    expect(await page.locator('.intro').textContent()).toBe('to continue to Marketplace');
    await page.locator('[name=code]:focus').waitFor();
    await page.keyboard.type('000000');
    await page.keyboard.press('Enter');
    await page.getByText('This code is not right').waitFor();
    await page.getByLabel('Code from your authenticator app').fill(showCode(secret, clock));
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/demo/marketplace');
    await page.getByRole('heading', { name: /^Hello, / }).waitFor();

    // The phone is lost.
    await logOut(page);
    await page.goto('/sso/launch/network_site');
    await logIn(page, email);
    await page.getByRole('link', { name: 'Don’t have your phone?' }).click();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/demo/network_site');
    await page.goto('/profile/authenticator');
    await page.getByText('9 of 10').waitFor();
    await page.getByRole('button', { name: 'Turn off the authenticator app' }).click();
    await page.getByText('The authenticator app is turned off.').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe.each(appearances)('on a %s screen,', (name, options) => {
  it('its pages have no serious axe finding, console message or sideways scrolling', async () => {
    const { page, complaints } = await site.visit(options);
    const faults: string[] = [];
    const look = async (what: string) => {
      faults.push(...(await inspectPage(page, `${what}, ${name}`)));
    };
    await page.goto('/login');
    await logIn(page, 'customer@example.test');
    await page.waitForURL('**/profile');
    await setUp(page, look);
    await page.goto('/profile/authenticator');
    await look('authenticator on');
    await logOut(page);
    clock += 60_000;
    await logIn(page, 'customer@example.test');
    await page.waitForURL('**/login/code?**');
    await look('code');
    await page.getByLabel('Code from your authenticator app').fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('This code is not right').waitFor();
    await look('code refused');
    await page.getByRole('link', { name: 'Don’t have your phone?' }).click();
    await look('recovery code');
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
    await site.app.db.deleteFrom('authenticators').execute();
  });
});
