// What a customer of the CRM does in a browser: from a mail to a password, a contract and an invoice.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { browsersOfTwo, followMail, logIn, openInspection, openSite } from '../support/app/browser.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const password = 'seven quiet lanterns';
const site = shared(openSite);
beforeAll(() => setSettings(site.app.db));

const becomeCustomer = (signupId: string, contract: object) => {
  const signup = buildSignup(signupId);
  return pushSignup(site.app, { ...signup, contract: { ...signup.contract, ...contract } });
};
const active = { status: 'active', trial_ends_at: undefined };

it('a new customer gets from the mail to a password, the contract and its invoice by keyboard', async () => {
  await becomeCustomer('keyboard', active);
  const { page, complaints } = await site.visit();
  await followMail(page, 'keyboard@example.test', '/set-password');
  // The field has the focus at first, and gets it back after the refusal.
  const focused = page.locator('[name=newPassword]:focus');
  await focused.waitFor();
  await page.keyboard.type('too short');
  await page.keyboard.press('Enter');
  await page.getByText('Your password must be at least 12').waitFor();
  await focused.waitFor();
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText('Your password has been set').waitFor();
  // The notice takes the focus when it appears, perhaps just before Enter is pressed on the link. Then the press needs another
  // try.
  const contract = page.getByRole('region', { name: 'Service contracts' });
  await vi.waitFor(async () => {
    await page.getByRole('link', { name: 'Billing' }).press('Enter');
    await contract.waitFor({ timeout: 5_000 });
  }, 30_000);
  expect(await contract.textContent()).toMatch(/Starter.*EUR\s29\.00 a month.*Active/);
  const invoice = page.getByRole('link', { name: /^Invoice INV-\d+-\d+$/ });
  for (let attempt = 0; attempt < 50 && !(await invoice.isVisible()); attempt++) {
    await page.waitForTimeout(300);
    await page.reload();
  }
  await invoice.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Invoice INV-\d+-\d+$/ }).waitFor();
  expect(await page.getByRole('main').textContent()).toMatch(/Account keyboard.*Unpaid.*EUR\s34\.51/);
  // The printed page shows only the invoice.
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

describe.each(
  [
    ['a browser with script', true, 'unverified@example.test', 'customer@example.test'],
    ['a browser without script', false, 'manager@example.test', 'new-merchant@example.test'],
  ].slice(0, browsersOfTwo) as [string, boolean, string, string][],
)('%s', (_name, javaScriptEnabled, unverified, forgetful) => {
  it('verifies an address on the way to a product, and goes on to it', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await site.app.db
      .updateTable('users')
      .set({ email_verified_at: null })
      .where('email', '=', unverified)
      .execute();
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await logIn(page, unverified);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByText('We have sent a link to').waitFor();
    await followMail(page, unverified, '/verify-email/confirm');
    await page.getByText('you will go on to Marketplace').waitFor();
    await page.getByRole('button', { name: 'Yes, verify it' }).click();
    await page.getByRole('heading', { name: /^Hello, / }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('sets a forgotten password on the way to a product, and goes on to it', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.getByRole('link', { name: 'Forgot your password, or don’t have one yet?' }).click();
    await page.getByLabel('Email address').fill(forgetful.toUpperCase());
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await followMail(page, forgetful, '/set-password');
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: /^Hello, / }).waitFor();
    expect(complaints).toEqual([]);
  });
});

it('every page for customers has no serious axe finding, console message or sideways scrolling', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  await becomeCustomer('pages', active);
  await becomeCustomer('pages-trial', {});
  await look('forgot-password', '/forgot-password');
  await page.getByLabel('Email address').fill('nobody@example');
  await page.getByRole('button', { name: 'Email me a link' }).click();
  await page
    .getByText(/email address in the correct format|we have emailed a link/)
    .first()
    .waitFor();
  await look('forgot-password sent', '/forgot-password?sent');
  await look('set-password dead', '/set-password?token=none');
  await followMail(page, 'pages@example.test', '/set-password');
  await page.getByLabel('New password').waitFor();
  await look('set-password');
  await look('mails', '/dev/mail');
  await page.goBack();
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your password has been set').waitFor();
  await look('profile after a password was set');
  await page.goto('/profile/billing');
  for (let attempt = 0; attempt < 50; attempt++) {
    if (await page.getByRole('link', { name: /^Invoice/ }).isVisible()) break;
    await page.waitForTimeout(300);
    await page.reload();
  }
  await look('billing with contract');
  await page.getByRole('link', { name: /^Invoice/ }).click();
  await page.getByRole('heading', { name: /^Invoice/ }).waitFor();
  await look('invoice');
  await look('invoice of nobody', '/invoices/INV-2026-9999');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
