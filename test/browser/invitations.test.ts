// Somebody is invited to the staff, in a browser (contract 12.210 to 12.225).
import { expect, it } from 'vitest';
import { followMail, logIn, openInspection, openSite } from '../support/app/browser.ts';
import { showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const clock = Date.now();
const site = shared(() => openSite({ IDENTITY_ADMIN_SECOND_FACTOR: 'optional' }, () => new Date(clock)));

it.each([
  ['with script', true],
  ['without script', false],
])('an administrator invites somebody, who becomes staff with an app, %s', async (_, javaScriptEnabled) => {
  const email = `ina-${javaScriptEnabled}@example.com`;
  const { page, complaints } = await site.visit({ javaScriptEnabled });
  const { faults, look } = openInspection(page, 'invitation');
  await page.goto('/admin/people');
  await logIn(page, 'admin@example.test');
  await page.getByRole('link', { name: 'Invite to the staff' }).click();
  await page.getByText('No open invitation').waitFor();
  if (javaScriptEnabled) await look('none');
  const invite = async (address: string) => {
    const form = page.locator('form[data-intent=invite]');
    if (!(await form.isVisible())) await page.locator('summary', { hasText: 'Invite somebody' }).click();
    await form.getByLabel('Email address').fill(address);
    await form.getByLabel('Manager: looks at people and helps customers').check();
    await form.getByLabel('Why').fill('Starts on Monday');
    await form.getByRole('button', { name: 'Send the invitation' }).click();
  };
  await invite('customer@example.test');
  await page.getByRole('link', { name: 'See the person who has this address' }).waitFor();
  if (javaScriptEnabled) await look('refused');
  await invite(email);
  await page.getByText('The invitation is on its way.').waitFor();
  await page.locator('main details').evaluateAll((all) => {
    for (const each of all) each.setAttribute('open', '');
  });
  if (javaScriptEnabled) await look('sent');

  const invited = await site.visit({ javaScriptEnabled });
  const own = openInspection(invited.page, 'invitation');
  await followMail(invited.page, email, '/invitation');
  await invited.page.getByRole('heading', { name: 'Accept the invitation' }).waitFor();
  if (javaScriptEnabled) await own.look('page');
  await invited.page.getByLabel('Name').fill('Ina Invited');
  await invited.page.getByLabel('Password').fill('seven quiet lanterns');
  await invited.page.getByRole('button', { name: 'Create account' }).click();
  await invited.page.getByText('You are invited to be a manager, which needs a second factor.').waitFor();
  if (javaScriptEnabled) await own.look('second factor');
  await invited.page.getByRole('button', { name: 'Set up the app' }).click();
  const secret = (await invited.page.locator('code.key').textContent()) ?? '';
  await invited.page.getByLabel('Code that the app shows now').fill(showCode(secret, clock));
  await invited.page.keyboard.press('Enter');
  await invited.page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  if (javaScriptEnabled) await own.look('codes');
  await invited.page.goto('/admin');
  await invited.page.getByRole('heading', { name: 'People', level: 1 }).waitFor();

  await page.goto('/admin/invitations');
  await page.getByText('No open invitation').waitFor();
  expect([...faults, ...own.faults]).toEqual([]);
  expect([...complaints, ...invited.complaints]).toEqual([]);
});
