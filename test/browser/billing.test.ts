// What customers do about billing in a browser: they see what to pay, edit their details, cancel, and read documents.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { accountPages } from '../../app/components/account/account-pages.ts';
import { logIn, openInspection, openSite } from '../support/app/browser.ts';
import { camtEntry, writeCamt } from '../support/billing/bank-samples.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { addEarlyRefund, buildPayment, buildRefund, report } from '../support/billing/money.ts';
import { idOf } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
// Lies in the future, because the sweep deletes sessions that are over 30 days old by the database's own clock.
const clock = { at: new Date('2036-09-15T10:00:00Z') };
const site = shared(() => openSite({}, () => clock.at));
const customers = shared(() => arrangeSeller(site.app, clock));
beforeAll(async () => {
  await customers.setClock('2036-08-15T10:00:00Z');
  await customers.giveDetails(owner, 'Zoë’s Flowers SARL', 'FR83404833048');
  await customers.report('paid');
  await customers.bill();
  const [first = ''] = await customers.numbers();
  await customers.credit(first, 1_000);
  await customers.pay(first);
  await customers.setClock('2036-09-15T10:00:00Z');
  await customers.bill();
  await customers.setClock('2036-10-10T10:00:00Z');
  await customers.report('second');
  await customers.report('trial', {
    contract: { plan: 'pro', status: 'trialing', trial_ends_at: '2036-10-24T10:00:00.000Z' },
  });
  await customers.bill();
  const at = { at: clock.at };
  const paid = { paid_at: '2036-09-14T10:00:00.000Z' };
  const much = { ...paid, invoice_number: first, reference: 'W'.repeat(200) };
  await report(site.app, buildPayment(123_456_789_012, much), at);
  await report(site.app, buildPayment(500, { ...paid, invoice_number: 'شركة 1' }), at);
  await addEarlyRefund(site.app.db, buildRefund('nobody-knows-it', 100, paid));
});

async function openBilling(page: Page): Promise<void> {
  await page.goto('/login?next=/profile/billing');
  await logIn(page, owner);
  await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor();
}

it('the pages of billing have no serious axe finding, console message or sideways scrolling', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  await openBilling(page);
  await look('billing');
  for (const summary of await page.locator('summary').all()) await summary.click();
  await look('billing, canceling');
  await page.getByRole('link', { name: 'Edit your billing details' }).click();
  await look('billing, details edited');
  await page.getByLabel('VAT ID').fill('FR1');
  await page.getByLabel('Postal code').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('This is not a VAT ID').waitFor();
  await look('billing, details refused');
  await page.goto('/profile');
  await page.getByText('You have an overdue invoice.').waitFor();
  await look('profile, overdue');
  const [paid = ''] = await customers.numbers();
  const [, open = ''] = await customers.numbers();
  const [credit = ''] = await customers.numbers('credit_note');
  for (const number of [paid, open, credit]) {
    await page.goto(`/invoices/${number}`);
    await page.getByRole('heading', { level: 1, name: number }).waitFor();
    await look(`document ${number}`);
  }
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('the pages of billing for administrators have no serious axe finding, console message or sideways scrolling', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look: inspect } = openInspection(page, 'administrators');
  const look = async (what: string) => {
    for (const summary of await page.locator('main .disclosure > summary').all()) await summary.click();
    await inspect(what);
  };
  await page.goto('/login?next=/admin/billing');
  await logIn(page, 'admin@example.test');
  await page.getByRole('heading', { name: 'Unallocated payments' }).waitFor();
  await look('billing');
  await page.getByRole('navigation', { name: 'Billing' }).getByText('Unallocated').press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Unallocated payments' }).waitFor();
  await look('unallocated');
  await page.goto('/admin/billing/import');
  const [paid = '', open = ''] = await customers.numbers();
  await page.getByLabel('Bank statement').setInputFiles({
    ...{ name: 'statement.xml', mimeType: 'text/xml' },
    buffer: Buffer.from(
      writeCamt(
        camtEntry(`Rechnung ${open}`, '34.80'),
        camtEntry(`${open} part`, '10.00'),
        camtEntry('Danke', '7.77'),
      ),
    ),
  });
  await page.getByRole('button', { name: 'Show what it pays' }).click();
  await page.getByRole('heading', { name: /to decide/ }).waitFor();
  await look('statement');
  const [credit = ''] = await customers.numbers('credit_note');
  for (const number of [paid, open, credit]) {
    await page.goto(`/admin/invoices/${number}`);
    await page.getByRole('heading', { level: 1, name: number }).waitFor();
    await look(number);
  }
  await page.goto(`/admin/people/${await idOf(site.app.db, owner)}/billing`);
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
  await look('a customer');
  const previews = page.getByRole('link', { name: 'What will be invoiced' });
  await page.goto((await previews.last().getAttribute('href')) ?? '');
  await page.getByRole('heading', { level: 1, name: 'What will be invoiced' }).waitFor();
  await look('what will be invoiced');
  for (const path of ['/admin/invoices', '/admin/invoices?state=void', '/admin/contracts', '/admin/files']) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await look(path);
  }
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('with text at 200 %, nothing scrolls sideways: each page of the account on a phone, the list of people on a desktop', async () => {
  const { page } = await site.visit();
  const wide: string[] = [];
  const enlarge = async (path: string, width: number) => {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(path);
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    const pixels = Number(await page.evaluate(over));
    if (pixels > 0) wide.push(`${path} at ${width}: ${pixels}`);
  };
  await openBilling(page);
  const [paid = '', open = ''] = await customers.numbers();
  const more = ['passkeys', 'passkeys/add', 'authenticator', 'email', 'data', 'delete', 'connected'];
  for (const path of [
    ...accountPages.map((each) => each.path),
    ...more.map((name) => `/profile/${name}`),
    ...[paid, open].map((number) => `/invoices/${number}`),
  ])
    await enlarge(path, 390);
  await page.context().clearCookies();
  await page.goto('/login?next=/admin/people');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/admin/people');
  await enlarge('/admin/people', 1280);
  expect(wide).toEqual([]);
});

describe.each([
  ['with script', true],
  ['without script', false],
])('by keyboard, %s,', (how, javaScriptEnabled) => {
  it('a customer corrects their details, cancels a contract and keeps it', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await openBilling(page);
    const press = async (name: string) => {
      await page.getByRole('button', { name }).first().focus();
      await page.keyboard.press('Enter');
    };
    await page.getByRole('link', { name: 'Edit your billing details' }).press('Enter');
    await page.getByLabel('Postal code').fill('');
    await press('Save');
    const field = page.locator('[name=postcode]:focus');
    await field.waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.type('75012');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    await page.getByText('75012 Paris').waitFor();
    // After ten minutes, the page asks for a credential.
    clock.at = new Date(clock.at.getTime() + 11 * 60_000);
    await page.locator('summary').last().focus();
    await page.keyboard.press('Enter');
    await page.getByText('The contract goes on until').filter({ visible: true }).first().waitFor();
    await page
      .getByRole('button', { name: 'Cancel the contract' })
      .filter({ visible: true })
      .last()
      .press('Enter');
    await page.getByText('Enter your password to cancel the contract').waitFor();
    await page.keyboard.type('local demo password');
    await page.keyboard.press('Enter');
    await page.getByText('You have canceled the contract.').waitFor();
    // This link adds #details to the URL. In spite of that, the outcome of the next form takes the focus.
    await page.getByRole('link', { name: 'Edit your billing details' }).press('Enter');
    await page.getByLabel('Postal code').waitFor();
    await press('Keep the contract');
    await page.locator('.notice.success:focus', { hasText: 'Your contract goes on.' }).waitFor();
    expect([how, complaints]).toEqual([how, []]);
  });
});
