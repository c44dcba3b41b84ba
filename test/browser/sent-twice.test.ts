// Presses each button two times, 120 ms apart, on a network with answers 250 ms late. Every form ends as after one press
// (contract 9.287).
import { beforeAll, describe, expect, it } from 'vitest';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { openBackend } from '../support/app/backend.ts';
import { logIn, openSite, type TestSite } from '../support/app/browser.ts';
import * as visitor from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

// A code works one time, so the test moves the clock on.
let lagMs = 0;
const now = () => new Date(Date.now() + lagMs);
let secret = '';
const site = shared(() => openSite({}, now, { answerFormsLateMs: 250 }));
const other = shared(() => openBackend({ databaseUrl: site.app.databaseUrl, now }));
beforeAll(async () => {
  const owner = await visitor.logIn(site.app.send, 'new-merchant@example.test');
  ({ secret } = await setUp(owner, now().getTime()));
});

type Page = Awaited<ReturnType<TestSite['visit']>>['page'];

async function pressTwice(page: Page, name: string | RegExp) {
  const button = page.getByRole('main').getByRole('button', { name });
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  if (!box) throw new Error(`no button ${name}`);
  const at = [box.x + box.width / 2, box.y + box.height / 2] as const;
  await page.mouse.click(...at);
  await page.waitForTimeout(120);
  await page.mouse.click(...at);
}

/** This does not use waitForURL, which fails if the second press stops the navigation that the first press began. */
const arriveAt = (page: Page, end: string) =>
  expect.poll(() => page.url().endsWith(end), { timeout: 30_000 }).toBe(true);

const posts = (path: string) =>
  site.app.logged.filter(
    ({ message, fields }) => message === 'request' && fields.method === 'POST' && fields.path === path,
  );

describe.each([
  ['with script', true, 'customer@example.test', 'merchant@example.test'],
  ['without script', false, 'unverified@example.test', 'manager@example.test'],
] as const)('%s', (_, javaScriptEnabled, email, another) => {
  const visit = async () => (await site.visit({ javaScriptEnabled })).page;

  it('a sign-up is confirmed, and its owner is logged in', async () => {
    const address = `twice-${javaScriptEnabled}@example.com`;
    await site.app.send('/signup', { form: { name: 'Twice', email: address } });
    const page = await visit();
    await page.goto(`/signup/confirm?token=${await readToken(other, address, 'sign_up')}`);
    await page.getByLabel('Password').fill('nine slow lanterns');
    const before = posts('/signup/confirm').length;
    await pressTwice(page, 'Create account');
    await page.getByText('Your account is ready, and you are logged in.').waitFor();
    expect(posts('/signup/confirm').length - before).toBe(javaScriptEnabled ? 1 : 2);
  });

  it('a password is set by a mail, and its owner is logged in', async () => {
    await site.app.send('/forgot-password', { form: { email: another } });
    const page = await visit();
    await page.goto(`/set-password?token=${await readToken(other, another, 'set_password')}`);
    await page.getByLabel('New password').fill('nine slow lanterns');
    await pressTwice(page, 'Set password');
    await page.getByText('Your password has been set.').waitFor();
  });

  it('a code logs in', async () => {
    lagMs += 60_000;
    const page = await visit();
    await page.goto('/login');
    await logIn(page, 'new-merchant@example.test');
    await page.getByLabel('Code from your authenticator app').fill(showCode(secret, now().getTime()));
    await pressTwice(page, 'Log in');
    await arriveAt(page, '/profile');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your profile');
  });

  it('an authenticator app is set up, and the recovery codes are shown', async () => {
    const page = await visit();
    await page.goto('/login?next=/profile/authenticator');
    await logIn(page, another, 'nine slow lanterns');
    await page.getByRole('button', { name: 'Set up the app' }).click();
    const key = (await page.locator('code.key').textContent()) ?? '';
    await page.getByLabel('Code that the app shows now').fill(showCode(key, now().getTime()));
    await pressTwice(page, 'Turn on the app');
    await page.getByText('You have turned on the authenticator app.').waitFor();
    expect(await page.locator('li code').count()).toBe(10);
  });

  it('a hand-off is continued', async () => {
    const page = await visit();
    await page.goto(await buildHandOff(site.app, { id: `twice-${javaScriptEnabled}` }, now()));
    await pressTwice(page, /^Continue as/);
    await arriveAt(page, '/profile');
  });

  it('staff suspend somebody, and are told that it is done', async () => {
    const page = await visit();
    await page.goto('/login');
    await logIn(page, 'admin@example.test');
    await page.waitForURL('**/profile');
    await page.goto(`/admin/people/${await idOf(site.app.db, email)}`);
    const form = page.locator('form[data-intent="suspend"]');
    for (const each of await page.locator('details:has(form[data-intent="suspend"])').all())
      if (!(await form.isVisible())) await each.locator('> summary').click();
    await form.getByLabel('Why').fill('They asked for it');
    await pressTwice(page, 'Suspend the account');
    await arriveAt(page, '?saved=suspend');
  });

  it('an own password is changed', async () => {
    const page = await visit();
    const address = `twice-${javaScriptEnabled}@example.com`;
    await page.goto('/login?next=/profile/security');
    await logIn(page, address, 'nine slow lanterns');
    await page.getByLabel('Current password').fill('nine slow lanterns');
    await page.getByLabel('New password').fill(demoPassword);
    await pressTwice(page, 'Change password');
    await arriveAt(page, '/profile/security?saved=password');
    await page.getByText('Your password has been changed.').waitFor();
  });
});

it('a button that was pressed shows that it is at work', async () => {
  const { page } = await site.visit();
  // Playwright cannot read a page that is being left, so the page counts its busy buttons itself.
  await page.addInitScript(() => {
    const count = () => document.querySelectorAll('button[aria-disabled=true]').length;
    window.addEventListener('submit', () => setTimeout(() => sessionStorage.setItem('busy', `${count()}`)));
  });
  await page.goto('/login');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/profile');
  expect(await page.evaluate(() => sessionStorage.getItem('busy'))).toBe('1');
});
