import { describe, expect, it } from 'vitest';
import { logIn, openInspection, openSite, type TestSite } from '../support/app/browser.ts';
import { showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

// A code works one time, so the test moves the clock on between two logins.
let clock = Date.now();
const site = shared(() =>
  openSite({ IDENTITY_SUPPORT_URL: 'mailto:help@example.test' }, () => new Date(clock)),
);

type Page = Awaited<ReturnType<TestSite['visit']>>['page'];

/** Sets up an authenticator app, from the profile to the recovery codes. */
async function setUp(
  page: Page,
  look: (what: string, path?: string) => Promise<void> = async () => undefined,
) {
  await page.goto('/profile/security');
  await page.getByRole('link', { name: 'Authenticator app' }).click();
  await page.getByRole('heading', { name: 'Authenticator app', level: 1 }).waitFor();
  await look('authenticator off');
  await page.goto('/profile/authenticator/set-up');
  await page.getByRole('heading', { name: 'Start again' }).waitFor();
  await look('authenticator set-up gone');
  await page.getByRole('button', { name: 'Start again' }).click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  const secret = (await page.locator('code.key').textContent()) ?? '';
  await look('authenticator set-up');
  await page.reload();
  expect(await page.locator('code.key').textContent()).toBe(secret);
  await page.getByLabel('Code that the app shows now').fill('000000');
  await page.getByRole('button', { name: 'Turn on the app' }).click();
  await page.getByText('This code is wrong.').waitFor();
  expect(await page.locator('code.key').textContent()).toBe(secret);
  await look('authenticator set-up refused');
  await page.getByLabel('Code that the app shows now').fill(showCode(secret, clock));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
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
    await page.getByRole('link', { name: 'I have saved them. Continue' }).click();
    await page.waitForURL('**/profile/security');
    await page.getByRole('link', { name: 'Authenticator app' }).waitFor();
    await logOut(page);

    clock += 60_000;
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.waitForURL('**/login?next=**');
    await logIn(page, email);
    await page.waitForURL('**/login/code?next=**');
    expect(await page.locator('.intro').textContent()).toBe('To continue to Marketplace');
    await page.locator('[name=code]:focus').waitFor();
    await page.keyboard.type('000000');
    await page.keyboard.press('Enter');
    await page.getByText('This code is wrong').waitFor();
    await page.getByLabel('Code from your authenticator app').fill(showCode(secret, clock));
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/demo/marketplace');
    await page.getByRole('heading', { name: /^Hello, / }).waitFor();

    // The person has lost their phone, and logs in with a recovery code.
    await logOut(page);
    await page.goto('/sso/launch/network_site');
    await logIn(page, email);
    await page.getByRole('link', { name: 'Don’t have your phone?' }).click();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/demo/network_site');
    await page.goto('/profile/authenticator');
    await page.getByText('9 of 10').waitFor();
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByRole('heading', { name: 'Make new recovery codes?' }).waitFor();
    await page.getByText('The 9 codes you have left will stop working.').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('9 of 10').waitFor();
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByRole('button', { name: 'Make new codes' }).click();
    await page.getByText('Your old codes no longer work.').waitFor();
    await page.goto('/profile/authenticator');
    await page.getByRole('button', { name: 'Turn off the authenticator app' }).click();
    await page.getByRole('heading', { name: 'Turn off the authenticator app?' }).waitFor();
    // On a reload, the browser does not ask whether to send a form again.
    await page.reload();
    await page.getByRole('button', { name: 'Turn off the app' }).click();
    await page.getByText('You have turned off the authenticator app.').waitFor();
    expect(complaints).toEqual([]);
  });
});

it('the key and the codes can be copied, and the codes printed, by buttons that only script shows', async () => {
  const { page, context } = await site.visit();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const clipboard = () => page.evaluate('navigator.clipboard.readText()');
  await page.goto('/login');
  await logIn(page, 'manager@example.test');
  await page.waitForURL('**/profile');
  await page.goto('/profile/authenticator');
  await page.getByRole('button', { name: 'Set up the app' }).click();
  await page.getByRole('button', { name: 'Copy the key' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const secret = (await page.locator('code.key').textContent()) ?? '';
  expect(await clipboard()).toBe(secret.replaceAll(' ', ''));
  await page.getByRole('button', { name: 'Copy the key' }).waitFor();
  await page.getByLabel('Code that the app shows now').fill(showCode(secret, clock));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy the codes' }).press('Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const codes = await page.locator('.codes code').allTextContents();
  expect(await clipboard()).toBe(codes.join('\n'));
  await page.evaluate('window.print = () => { document.title = "printed"; }');
  await page.getByRole('button', { name: 'Print' }).click();
  expect(await page.title()).toBe('printed');
  // The printed page says whose recovery codes they are, and has no buttons.
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByText('Identity, manager@example.test').isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
  expect(await page.locator('.codes code').first().isVisible()).toBe(true);
  await site.app.db.deleteFrom('authenticators').execute();

  const plain = await site.visit({ javaScriptEnabled: false });
  await plain.page.goto('/login');
  await logIn(plain.page, 'manager@example.test');
  await plain.page.goto('/profile/authenticator');
  await plain.page.getByRole('button', { name: 'Set up the app' }).click();
  await plain.page.locator('code.key').waitFor();
  expect(await plain.page.getByRole('button', { name: 'Copy the key' }).count()).toBe(0);
});

it('its pages have no serious axe finding, console message or sideways scrolling', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  await page.goto('/login');
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/profile');
  await setUp(page, look);
  await look('security with an app', '/profile/security');
  await look('authenticator on', '/profile/authenticator');
  for (const sure of ['turn-off', 'renew-codes']) {
    await look(`authenticator ${sure}`, `/profile/authenticator?sure=${sure}`);
  }
  await logOut(page);
  clock += 60_000;
  await logIn(page, 'customer@example.test');
  await page.waitForURL('**/login/code?**');
  await look('code');
  await page.getByLabel('Code from your authenticator app').fill('000000');
  await page.keyboard.press('Enter');
  await page.getByText('This code is wrong').waitFor();
  await look('code refused');
  await page.getByRole('link', { name: 'Don’t have your phone?' }).click();
  await look('recovery code');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
