// The lists in a browser: rows of 44 pixels if there is room, and cards on a phone (contract 12.245 and 7.450).
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { inspectAsItIs, logIn, openSite } from '../support/app/browser.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const clock = { at: new Date('2036-08-15T10:00:00Z') };
const site = shared(() => openSite({}, () => clock.at));
const customers = shared(() => arrangeSeller(site.app, clock));

beforeAll(async () => {
  const { db } = site.app;
  await customers.setClock('2036-08-15T10:00:00Z');
  await customers.giveDetails(owner, 'Zoë’s Flowers SARL', 'FR83404833048');
  await customers.report('crm_1041');
  await customers.bill();
  const [first = ''] = await customers.numbers();
  await customers.credit(first, 1_000);
  await customers.pay(first);
  await customers.setClock('2036-09-15T10:00:00Z');
  await customers.bill();
  await customers.setClock('2036-10-10T10:00:00Z');
  await customers.report('crm_1042', { email: 'merchant@example.test' });
  await customers.report('crm_1043', {
    contract: { plan: 'pro', status: 'trialing', trial_ends_at: '2036-10-24T10:00:00.000Z' },
  });
  await customers.report('crm_1044', { contract: { plan: 'pro', price: { ...yen, currency: 'JPY' } } });
  await customers.bill();
  const [, , third = ''] = await customers.numbers();
  await customers.credit(third, 1_000);
  await sql`insert into mails (id, kind, user_id, recipient, created_at, attempts, next_attempt_at, last_error, given_up_at)
    select gen_random_uuid(), kind, id, email, timestamptz '2036-10-09 12:00Z' - n * interval '7 hours', 3,
      timestamptz '2036-10-10 12:00Z', error, given_up
    from users, (values
      (1, 'welcome', '550 5.1.1 no such mailbox here, please check the spelling of the address', null),
      (2, 'password_changed', '451 greylisted', null),
      (3, 'invoice_reminder_2', null, timestamptz '2036-10-09 13:00Z')) as mail (n, kind, error, given_up)
    where email = ${owner}`.execute(db);
});

const yen = { unit_amount: 2_900, interval: 'month' };

const lists = [
  ['people', 'admin@example.test', '/admin/people?q=example'],
  ['contracts', 'admin@example.test', '/admin/contracts'],
  ['invoices', 'admin@example.test', '/admin/invoices?state=open'],
  ['mails', 'admin@example.test', '/admin/mails'],
  ['clients', 'admin@example.test', '/admin/clients'],
  ['documents', owner, '/profile/billing'],
] as const;

/**
 * Measures the rows that have nothing below their cells: their heights, and whether the cells of the first row start at the
 * same left edge, as in a card.
 */
const measure = (page: Page) =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll('.table tbody tr:not(:has(.below))')];
    const [first] = rows;
    const starts = [...(first?.querySelectorAll('th, td[data-label]:not(:empty, .state)') ?? [])].map(
      (cell) => Math.round(cell.getBoundingClientRect().left),
    );
    return {
      count: rows.length,
      highest: Math.max(...rows.map((row) => row.getBoundingClientRect().height)),
      lowest: Math.min(...rows.map((row) => row.getBoundingClientRect().height)),
      isCard: new Set(starts).size === 1,
    };
  });

it.each(lists)(
  'the list of %s has rows of 44 pixels at 1,100 and 1,280, and cards on a phone',
  async (name, email, path) => {
    const { page, complaints } = await site.visit();
    await page.goto(`/login?next=${encodeURIComponent(path)}`);
    await logIn(page, email);
    await page.waitForURL(`**${path}`);
    // A search may find new people only after five seconds (contract 12.53).
    const countRows = async () => {
      await page.goto(path);
      return page.locator(`table.${name} tbody tr`).count();
    };
    await expect.poll(countRows).toBeGreaterThan(1);
    const faults: string[] = [];
    for (const width of [1_280, 1_100, 700, 390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      faults.push(...(await inspectAsItIs(page, `list of ${name} at ${width}`)));
      const { count, highest, lowest, isCard } = await measure(page);
      expect(count).toBeGreaterThan(1);
      const rows = { width, isCard, is44: highest < 44.1 && lowest > 43.9 };
      const wide = width >= 1_100;
      expect(rows, `${lowest} to ${highest}`).toEqual({ width, isCard: !wide, is44: wide });
      // A screen reader finds a table, even if the style sheet shows cards.
      const seen = await page.locator(`table.${name}`).ariaSnapshot();
      expect(seen.match(/^ *- '?row /gm)?.length).toBeGreaterThan(count);
      expect(seen).toMatch(/- '?rowheader /);
      expect(seen).toMatch(/- '?columnheader /);
    }
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    faults.push(...(await inspectAsItIs(page, `list of ${name}, text at 200 %`)));
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

it('a list is sorted by a link in its heading, also on a phone and without script', async () => {
  const { page } = await site.visit({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.goto('/login?next=/admin/invoices?state=open');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/admin/invoices?state=open');
  const numbers = () => page.locator('tbody th').allTextContents();
  const sorted = () =>
    page.locator('th[aria-sort]').evaluateAll((all) => all.map((th) => [th.textContent, th.ariaSort]));
  const before = await numbers();
  expect(await sorted()).toEqual([['Issued', 'descending']]);
  await page.getByRole('link', { name: 'Issued' }).click();
  await page.waitForURL('**/admin/invoices?state=open&sort=issued');
  expect(await sorted()).toEqual([['Issued', 'ascending']]);
  expect(await numbers()).toEqual(before.reverse());
  await page.getByRole('link', { name: 'Due' }).click();
  await page.waitForURL('**/admin/invoices?state=open&sort=due');
  expect(await sorted()).toEqual([['Due', 'ascending']]);
});
