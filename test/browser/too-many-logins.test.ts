import { describe, expect, it } from 'vitest';
import { inspectPage, logIn, openSite } from '../support/app/browser.ts';
import { shared } from '../support/run/shared.ts';

const triesOfNetwork = 10;
// This email address has no user. Its guesses are counted as for a user, but nothing is hashed, which saves time.
const email = 'owner@example.test';

const site = shared(openSite);

async function guessUntilRefused(): Promise<void> {
  for (let times = 0; times < triesOfNetwork; times++)
    await site.app.send('/login', { form: { email, password: 'wrong' }, from: '127.0.0.1' });
}

describe.each([
  ['with script', true],
  ['without script', false],
])('the cap of tries to log in, %s,', (_name, javaScriptEnabled) => {
  it('says how long to wait, and leads to the email that gets somebody in', async () => {
    await guessUntilRefused();
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/login?next=%2Fprofile%2Fbilling');
    await logIn(page, email, 'any password');
    const notice = page.getByRole('alert').filter({ hasText: 'too many attempts' });
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/Try again in \d+ minutes?\./);
    await notice.getByRole('link', { name: 'set a new password by email' }).click();
    await page.getByRole('heading', { name: 'Set or reset your password' }).waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(email);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

it('the cap of tries to log in is good on every screen', async () => {
  await guessUntilRefused();
  const { page } = await site.visit();
  await page.goto('/login');
  await logIn(page, email, 'any password');
  await page.getByText('There have been too many attempts').waitFor();
  expect(await inspectPage(page, 'login too many')).toEqual([]);
});
