// Staff help people in a browser: what they look at on each screen, and the calls that they answer (contract section 12).
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appearances,
  followMail,
  inspectPage,
  logIn,
  openSite,
  type TestSite,
} from '../support/app/browser.ts';
import { logIn as logInByHttp } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { setUp } from '../support/people/totp-app.ts';

let site: TestSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const path = async (email: string) => `/admin/people/${await idOf(site.app.db, email)}`;

/** A visitor who has logged in as somebody of the staff, on the page that finds people. */
async function visitAs(email: string, options?: Parameters<TestSite['visit']>[0]) {
  const visit = await site.visit(options);
  await visit.page.goto('/admin');
  await logIn(visit.page, email);
  await visit.page.waitForURL('**/admin/people');
  return visit;
}

const hostile: [what: string, name: string][] = [
  ['HTML', '<img src=x onerror=alert(1)></title><script>alert(2)</script>'],
  ['bidi', '\u202eevil\u2067 name \u05d0\u05d1\u05d2'],
  ['marks', `Zo${'\u0308\u0323\u035f\u0489'.repeat(49)}`],
  ['without a space', 'W'.repeat(200)],
];

describe.each(appearances)('every page of the staff, at %s,', (name, options) => {
  it('has no serious axe finding, console message or sideways scrolling', async () => {
    const user = { email: 'merchant@example.test', name: 'Maya' };
    await pushSignup(site.app, buildSignup(`staff-${name.replace(' ', '-')}`, { user }));
    const { page, complaints } = await visitAs('admin@example.test', options);
    const faults: string[] = [];
    const look = async (what: string) => {
      faults.push(...(await inspectPage(page, `staff ${what}, ${name}`)));
    };
    await look('people');
    await page.goto('/admin/people?q=nobody-has-this');
    await look('nobody found');
    await page.goto(await path('merchant@example.test'));
    await look('person');
    await page.locator('main details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '');
    });
    await look('person with all forms');
    for (const who of ['suspended', 'unverified', 'admin']) {
      await page.goto(await path(`${who}@example.test`));
      await look(who);
    }
    await page.goto(await path('unverified@example.test'));
    await act(page, 'suspend', 'Suspend the account', 'x');
    await page.getByText('Say why in 3 to 500 characters.').waitFor();
    await look('refused');
    await page.goto('/admin/audit');
    await look('audit');
    await page.goto('/admin/audit?person=nobody&kind=staff.looked');
    await look('audit without events');
    await page.goto('/profile');
    await page.locator('.menu > summary').click();
    await look('menu');
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

/** Opens the form of an act, says why, and sends it. The browser's own checks are left out. */
async function act(page: Page, intent: string, button: string, why: string, about = '') {
  const form = page.locator(`form[data-intent="${intent}"]${about}`);
  await page.locator('details', { has: form }).locator('> summary').click();
  await form.evaluate((element: HTMLFormElement) => {
    element.noValidate = true;
  });
  await form.getByLabel('Why').fill(why);
  await form.getByRole('button', { name: button }).click();
}

describe.each(hostile)('a person whose name is hostile: %s', (what, name) => {
  it.each([320, 1280])('stays inside its box %i pixels wide', async (width) => {
    const email = 'customer@example.test';
    const { page, complaints } = await visitAs('admin@example.test', { viewport: { width, height: 800 } });
    const before = await sql<{ name: string }>`select name from users where email = ${email}`.execute(
      site.app.db,
    );
    const rename = (to: string) =>
      sql`with u as (update users set name = ${to} where email = ${email} returning account_id)
        update accounts set name = ${to} where id in (select account_id from u)`.execute(site.app.db);
    await rename(name);
    const faults: string[] = [];
    for (const where of [
      '/admin/people',
      await path(email),
      `/admin/audit?person=${await idOf(site.app.db, email)}`,
    ]) {
      await page.goto(where);
      faults.push(
        ...(await inspectPage(
          page,
          `staff ${where.split('?')[0]?.slice(7, 13).replace('/', ' ')}, name ${what}, ${width}`,
        )),
      );
    }
    await page.goto(await path(email));
    expect(await page.locator('h1').textContent()).toBe(name);
    await rename(before.rows[0]?.name ?? '');
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
