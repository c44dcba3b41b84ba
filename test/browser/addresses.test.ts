// A person signs up on the way to a client. A person changes their email address, and gets the old one back.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  browsersOfTwo,
  followMail,
  inspectAsItIs,
  logIn,
  openInspection,
  openSite,
} from '../support/app/browser.ts';
import { idOf } from '../support/database/database.ts';
import { offer } from '../support/people/new-addresses.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const password = 'seven quiet lanterns';
const newPassword = 'eight louder lanterns';

async function signUp(page: Page, email: string, name = 'Nia New'): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await followMail(page, email, '/signup/confirm');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
}

let serial = 0;
const newEmail = () => `browser-${serial++}@example.test`;

describe.each(
  [
    ['a browser with script', true],
    ['a browser without script', false],
  ].slice(0, browsersOfTwo) as [string, boolean][],
)('%s', (_name, javaScriptEnabled) => {
  it('signs somebody up on the way to a client, and ends there, logged in', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.waitForURL('**/login?next=**');
    await page.getByRole('link', { name: 'Create an account' }).click();
    expect(await page.locator('.intro').textContent()).toBe('To continue to Marketplace');
    await page.getByRole('link', { name: 'Log in', exact: true }).click();
    await page.waitForURL('**/login?next=**');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await signUp(page, newEmail(), `Nia ${javaScriptEnabled}`);
    await page.waitForURL('**/demo/marketplace');
    await page.getByRole('heading', { name: `Hello, Nia ${javaScriptEnabled}` }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('sends a mail again by a button, and says that its link was used, with the way to the login', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const [mistyped, email] = [newEmail(), newEmail()];
    await page.goto('/signup');
    await page.getByLabel('Name').fill('Ann Again');
    await page.getByLabel('Email address').fill(mistyped);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Use another address' }).click();
    expect(await page.getByLabel('Email address').inputValue()).toBe(mistyped);
    expect(await page.getByLabel('Name').inputValue()).toBe('Ann Again');
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Send it again' }).click();
    await page.getByText(`We have sent an email to ${email}.`).waitFor();
    if (javaScriptEnabled) expect(await inspectAsItIs(page, 'signup-sent')).toEqual([]);
    await followMail(page, email, '/signup/confirm');
    const link = page.url();
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Your account is ready').waitFor();
    const { page: elsewhere } = await site.visit({ javaScriptEnabled });
    await elsewhere.goto(link);
    await elsewhere.getByRole('heading', { name: 'You have already used this link' }).waitFor();
    if (javaScriptEnabled) expect(await inspectAsItIs(elsewhere, 'link-used')).toEqual([]);
    await elsewhere.getByRole('main').getByRole('link', { name: 'Log in' }).click();
    await elsewhere.waitForURL('**/login');
    expect(complaints).toEqual([]);
  });

  it('changes an address, and gets it back', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const [email, mistyped, fresh] = [newEmail(), newEmail(), newEmail()];
    const askFor = async (address: string) => {
      await page.getByRole('link', { name: 'Change your email address' }).click();
      await page.getByLabel('New email address').fill(address);
      await page.getByRole('button', { name: 'Email me a link' }).click();
      await page.getByText(`We have sent an email to ${address}.`).waitFor();
    };
    await page.goto('/signup');
    await signUp(page, email);
    await page.getByText('Your account is ready').waitFor();
    await askFor(mistyped);
    await page.getByRole('link', { name: 'Go to your profile' }).click();
    await page.getByRole('listitem').filter({ hasText: mistyped }).getByText('It works until').waitFor();
    await page.getByRole('button', { name: 'Send it again' }).click();
    await page.getByText(`We have sent an email to ${mistyped}.`).waitFor();
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Cancel the change' }).click();
    await page.getByText('Your email address has not changed.').waitFor();
    expect(await page.getByText(mistyped).count()).toBe(0);
    await askFor(fresh);
    await followMail(page, fresh, '/profile/email/confirm');
    await page.getByRole('button', { name: 'Yes, change it' }).click();
    await page.getByText('Your email address has been changed.').waitFor();
    expect(await page.locator('.visitor-email').textContent()).toBe(fresh);

    const { page: elsewhere } = await site.visit({ javaScriptEnabled });
    await followMail(elsewhere, email, '/take-back');
    await elsewhere.getByText('The email address was changed').waitFor();
    await elsewhere.getByLabel('New password').fill(newPassword);
    await elsewhere.getByRole('button', { name: 'Take your account back' }).click();
    await elsewhere.waitForURL('**/profile?saved=taken-back');
    expect(await elsewhere.locator('.visitor-email').textContent()).toBe(email);
    await page.goto('/profile');
    await page.waitForURL('**/login?next=**');
    await logIn(page, email, newPassword);
    await page.waitForURL('**/profile');
    expect(complaints).toEqual([]);
  });

  it('gets another address after the mailbox was lost, and can stop one', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const [email, stopped, fresh] = [newEmail(), newEmail(), newEmail()];
    await page.goto('/signup');
    await signUp(page, email);
    await page.getByText('Your account is ready').waitFor();
    const id = await idOf(site.app.db, email);
    await offer(site, id, stopped);
    const { page: elsewhere } = await site.visit({ javaScriptEnabled });
    await followMail(elsewhere, email, '/stop-new-address');
    await elsewhere.getByRole('button', { name: 'Stop the change' }).click();
    await elsewhere.getByRole('heading', { name: 'You have stopped the change' }).waitFor();
    await followMail(elsewhere, stopped, '/new-address');
    await elsewhere.getByText('has stopped the change').waitFor();
    await offer(site, id, fresh);
    await followMail(elsewhere, fresh, '/new-address');
    await elsewhere.getByLabel('New password').fill('short');
    await elsewhere.getByRole('button', { name: 'Use this email address' }).click();
    await elsewhere.getByText('Your password must be at least 12 characters long.').waitFor();
    await elsewhere.getByLabel('New password').fill(newPassword);
    await elsewhere.getByRole('button', { name: 'Use this email address' }).click();
    await elsewhere.waitForURL('**/profile?saved=email-changed');
    expect(await elsewhere.locator('.visitor-email').textContent()).toBe(fresh);
    await page.goto('/profile');
    await page.waitForURL('**/login?next=**');
    expect(complaints).toEqual([]);
  });

  it('asks for the password where the login was long ago, and goes on with what was typed', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const [email, fresh] = [newEmail(), newEmail()];
    await page.goto('/signup');
    await signUp(page, email);
    await page.getByText('Your account is ready').waitFor();
    await page.goto('/profile/email');
    await site.app.db
      .updateTable('sessions')
      .set({ auth_time: new Date(Date.now() - 11 * 60_000) })
      .execute();
    await page.getByLabel('New email address').fill(fresh);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Change your email address' }).click();
    await page.getByRole('heading', { name: 'Check your new inbox' }).waitFor();
    await followMail(page, fresh, '/profile/email/confirm');
    expect(complaints).toEqual([]);
  });
});

it('every page is good on every screen, with a long name and address', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look: inspect } = openInspection(page);
  const long = (start: string) => `${start}-${serial++}-${'x'.repeat(180)}@example.test`;
  const [email, fresh] = [long('a'), long('b')];
  await page.goto('/signup?next=/sso/launch/marketplace');
  await inspect('sign-up');
  await page.getByRole('button', { name: 'Continue' }).focus();
  await page.locator('form.card').evaluate((form) => (form as unknown as { submit: () => void }).submit());
  await page.getByText('Enter an email address in the correct format').waitFor();
  await inspect('sign-up refused');
  await page.getByLabel('Name').fill('م'.repeat(100) + 'x'.repeat(100));
  await page.getByLabel('Email address').fill(email);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await inspect('sign-up sent');
  await followMail(page, email, '/signup/confirm');
  await inspect('sign-up confirm');
  const link = page.url().replace(/&next=.*/, '');
  await page.goto(link);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/profile?saved=signed-up');
  await inspect('profile after sign-up');
  await page.goto(link);
  await inspect('sign-up dead link');
  await page.goto('/profile/email');
  await inspect('change address');
  await page.getByLabel('New email address').fill(fresh);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your new inbox' }).waitFor();
  await inspect('change address sent');
  await page.goto('/profile');
  await inspect('profile, change pending');
  await followMail(page, fresh, '/profile/email/confirm');
  await inspect('change address confirm');
  const changeLink = page.url();
  await page.getByRole('button', { name: 'Yes, change it' }).click();
  await page.getByText('Your email address has been changed.').waitFor();
  await page.goto(changeLink);
  await inspect('change address dead link');
  await followMail(page, email, '/take-back');
  await inspect('take back');
  const takeBackLink = page.url();
  await page.getByLabel('New password').fill(newPassword);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/profile?saved=taken-back');
  await inspect('profile after take back');
  await page.goto(takeBackLink);
  await inspect('take back dead link');
  const id = await idOf(site.app.db, email);
  await offer(site, id, fresh);
  await followMail(page, email, '/stop-new-address');
  await inspect('stop new address');
  await page.getByRole('button', { name: 'Stop the change' }).click();
  await page.getByRole('heading', { name: 'You have stopped the change' }).waitFor();
  await inspect('stopped');
  const final = long('c');
  await offer(site, id, final);
  await followMail(page, final, '/new-address');
  await inspect('new address');
  const newLink = page.url();
  await page.getByLabel('New password').fill('nine louder lanterns');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/profile?saved=email-changed');
  await page.goto(newLink);
  await inspect('new address dead link');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
