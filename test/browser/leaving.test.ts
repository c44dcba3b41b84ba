import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { addOldInvoice } from '../support/billing/money.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { makeDue, runErasure } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

/** Makes the last credential of everybody who is logged in an hour older. */
const forgetCredentials = () =>
  sql`update sessions set auth_time = auth_time - interval '1 hour'`.execute(site.app.db);

it.each([true, false])(
  'from a launch: somebody asks to be deleted, is stopped, keeps the account, and goes on (script: %s)',
  async (javaScriptEnabled) => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/login');
    await logIn(page, 'customer@example.test');
    await page.waitForURL('**/profile');
    await forgetCredentials();
    await page.getByRole('link', { name: 'Delete your account' }).click();
    await page.getByRole('button', { name: 'Delete your account' }).click();
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Delete your account' }).click();
    await page.getByText('The password is incorrect').waitFor();
    await page.getByLabel('Password').fill('local demo password');
    await page.getByRole('button', { name: 'Delete your account' }).click();
    await page.getByRole('heading', { name: 'Your account will be deleted' }).waitFor();

    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.getByText('To continue to Marketplace, keep your account.').waitFor();
    await page.getByRole('button', { name: 'Keep your account' }).click();
    await page.waitForURL('**/demo/marketplace');
    await page.getByRole('heading', { name: /^Hello, / }).waitFor();
    expect(complaints).toEqual([]);
  },
);

it.each([true, false])(
  'downloads a file with their data, behind their password (script: %s)',
  async (javaScriptEnabled) => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/login');
    await logIn(page);
    await page.waitForURL('**/profile');
    await forgetCredentials();
    await page.getByRole('link', { name: 'Download your data' }).click();
    await page.getByRole('button', { name: 'Download your data' }).click();
    await page.getByLabel('Password').fill('local demo password');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download your data' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('your-data.json');
    const data = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(data.profile).toMatchObject([{ email: 'merchant@example.test' }]);
    expect(complaints).toEqual([]);
  },
);

it('a person who is erased is logged out, and cannot log in', async () => {
  const { page } = await site.visit();
  await page.goto('/login');
  await logIn(page, 'new-merchant@example.test');
  await page.waitForURL('**/profile');
  await makeDue(site.app.db, 'new-merchant@example.test');
  await runErasure(site.app.db);
  await page.goto('/profile');
  await page.waitForURL('**/login?**');
  await logIn(page, 'new-merchant@example.test');
  await page.getByText('The email address or password is incorrect').waitFor();
});

it('the pages are good on every screen', async () => {
  const contract = {
    plan: 'starter',
    status: 'active',
    price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
  };
  const user = { email: 'manager@example.test', name: 'x' };
  await pushSignup(site.app, buildSignup('crm_pages', { user, contract }));
  const { id } = await site.app.db
    .selectFrom('service_contracts')
    .select('id')
    .where('signup_id', '=', 'crm_pages')
    .executeTakeFirstOrThrow();
  await addOldInvoice(site.app.db, id);
  const { page } = await site.visit();
  await page.goto('/login');
  await logIn(page, user.email);
  await page.waitForURL('**/profile');
  const { faults, look } = openInspection(page);
  await look('data', '/profile/data');
  await look('delete', '/profile/delete');
  await page.getByRole('button', { name: 'Delete your account' }).click();
  await page.getByRole('heading', { name: 'Your account will be deleted' }).waitFor();
  await look('deletion planned');
  await look('profile, deletion planned', '/profile');
  await page.goto('/profile/delete');
  await page.getByRole('button', { name: 'Keep your account' }).click();
  await page.getByText('Your account will not be deleted.').waitFor();
  await look('an invoice from before there was a seller', '/profile/billing');
  expect(faults).toEqual([]);
});
