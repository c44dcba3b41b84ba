// Staff help people in a browser: what they look at on each screen, and the telephone calls that they answer (contract section
// 12).
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { followMail, logIn, openInspection, openSite, type TestSite } from '../support/app/browser.ts';
import { logIn as logInByHttp } from '../support/app/visitor.ts';
import { addInvoice, buildPayment, report } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { addFactor, addPerson } from '../support/people/staff.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const path = async (email: string) => `/admin/people/${await idOf(site.app.db, email)}`;

/** Logs in as a member of staff, and opens the page that finds people. */
async function visitAs(email: string, options?: Parameters<TestSite['visit']>[0]) {
  const visit = await site.visit(options);
  await visit.page.goto('/admin/people');
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

it('every page of the staff has no serious axe finding, console message or sideways scrolling', async () => {
  const user = { email: 'merchant@example.test', name: 'Maya' };
  await pushSignup(site.app, buildSignup('staff-pages', { user }));
  const { page, complaints } = await visitAs('admin@example.test');
  const { faults, look } = openInspection(page, 'staff');
  await look('people');
  await page.goto('/admin?of=7d');
  await page
    .locator('main details')
    .first()
    .evaluate((each) => each.setAttribute('open', ''));
  await look('overview');
  await addSums();
  for (const of of ['24h', '7d', '30d']) await look(`overview of ${of}`, `/admin?of=${of}`);
  await look('nobody found', '/admin/people?q=nobody-has-this');
  const merchant = await path('merchant@example.test');
  const { id: author } = await sql<{ id: string }>`select id from users where email = 'admin@example.test'`
    .execute(site.app.db)
    .then(({ rows }) => rows[0] as { id: string });
  for (const text of [
    'Calls from the shop in Lyon, prefers French',
    'W'.repeat(500),
    'Pays by transfer',
    'Old',
  ])
    await sql`insert into staff_notes (id, user_id, author_id, text, at)
      values (gen_random_uuid(), ${merchant.split('/').at(-1)}, ${author}, ${text}, now())`.execute(
      site.app.db,
    );
  for (const tab of ['', '/billing', '/rights', '/activity', '/mails', '/products']) {
    await look(`person${tab.replace('/', ', ')}`, merchant + tab);
    await page.locator('main section details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '');
    });
    await look(`person${tab.replace('/', ', ')} with all forms`);
  }
  // An open form in the head covers the rest of the page.
  await page.locator('.head-acts > details').first().locator('> summary').click();
  await look('person, a form of the head');
  await page.locator('.head-acts > details').first().locator('> summary').click();
  await page.locator('.head-acts > details').last().locator('> summary').click();
  await page.locator('.head-acts > details').last().locator('details > summary').first().click();
  await look('person, more of the head');
  for (const who of ['suspended', 'unverified', 'admin']) {
    await look(who, await path(`${who}@example.test`));
  }
  await page.goto(await path('unverified@example.test'));
  await act(page, 'suspend', 'Suspend the account', 'x');
  await page.getByText('Say why in 3 to 500 characters.').waitFor();
  await look('refused');
  await look('audit', '/admin/audit');
  await look('audit of several people', '/admin/audit?person=example&staff=a');
  await sql`insert into audit_events (id, at, type, reason, user_id, address, device, details)
    select gen_random_uuid(), now() - n * interval '1 minute', 'login.refused', 'wrong_password', id, '198.51.100.' || n % 3,
      'Chrome on Linux', '{}' from generate_series(1, 10) n, users where email = 'merchant@example.test'`.execute(
    site.app.db,
  );
  await page.goto('/admin/audit?person=merchant@example.test&kind=login.refused');
  await page.getByText('10 times').waitFor();
  await look('audit of one person');
  await page.locator('main details summary').first().click();
  await look('audit with each of ten refusals');
  await look('audit without events', '/admin/audit?person=nobody&kind=staff.looked');
  await look('clients', '/admin/clients');
  await look('client', '/admin/clients/marketplace');
  await look('no mails', '/admin/mails?state=given_up');
  const { recipient, error } = {
    recipient: `${'w'.repeat(60)}@example.test`,
    error: `550 ${'<b>\u202e'.repeat(9)} ${'x'.repeat(120)}`,
  };
  await sql`insert into mails (id, kind, user_id, recipient, created_at, attempts, next_attempt_at, last_error)
      select gen_random_uuid(), 'welcome', id, ${recipient}, now(), 3, now() + interval '1 day', ${error}
      from users where email = 'merchant@example.test'`.execute(site.app.db);
  await page.goto('/admin/mails');
  await page.locator('main details').evaluateAll((all) => {
    for (const each of all) each.setAttribute('open', '');
  });
  await look('mails with all forms');
  await page.goto('/profile');
  await page.locator('.menu > summary').click();
  await look('menu');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

/** Presses each summary that hides the form, the outermost first. */
async function openDetails(page: Page, form: ReturnType<Page['locator']>) {
  const hiding = page.locator('details', { has: form });
  for (const each of await hiding.all()) await each.locator('> summary').click();
}
/** Adds hourly counts of two months, as of a service that is used more by day than by night. */
const addSums = () =>
  sql`insert into sums_of_hours (hour, key, count, last_at)
    select date_trunc('hour', now()) - n * interval '1 hour', key, 1 + (most * (1 + sin(n / 4.0)) * (1 + sin(n * 7.0)) / 4)::int, now()
    from generate_series(0, 24 * 70) n, (values ('identity_logins_total{result="ok"}', 340),
      ('identity_launches_total{client="crm_app",outcome="payload"}', 90), ('identity_sign_ups_total{result="password"}', 4),
      ('identity_refusals_total{code="nonce_replayed",client="marketplace"}', 7)) as counted (key, most)
    on conflict do nothing`.execute(site.app.db);

/** Opens the form of an act, fills in why, and sends the form without the browser's own checks. */
async function act(page: Page, intent: string, button: string, why: string, about = '') {
  const form = page.locator(`form[data-intent="${intent}"]${about}`);
  await openDetails(page, form);
  await form.evaluate((element: HTMLFormElement) => {
    element.noValidate = true;
  });
  await form.getByLabel('Why').fill(why);
  await form.getByRole('button', { name: button }).click();
}

it.each(hostile)('a person whose name is hostile stays inside its box: %s', async (what, name) => {
  const email = 'customer@example.test';
  const { page, complaints } = await visitAs('admin@example.test');
  const { faults, look } = openInspection(page, `staff, name ${what},`);
  const before = await sql<{ name: string }>`select name from users where email = ${email}`.execute(
    site.app.db,
  );
  const rename = (to: string) =>
    sql`with u as (update users set name = ${to} where email = ${email} returning account_id)
        update accounts set name = ${to} where id in (select account_id from u)`.execute(site.app.db);
  await rename(name);
  for (const where of [
    '/admin/people',
    await path(email),
    `/admin/audit?person=${await idOf(site.app.db, email)}`,
  ]) {
    await look(where.split(/[?/]/).slice(2, 4).join(' '), where);
  }
  await page.goto(await path(email));
  expect(await page.locator('h1').textContent()).toBe(name);
  await rename(before.rows[0]?.name ?? '');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

/** Logs in as a manager, and opens the page of the person who calls. */
async function answerCall(fact: string) {
  const { page } = await visitAs('manager@example.test');
  await page.getByLabel('Find', { exact: true }).fill(fact);
  await page.getByRole('button', { name: 'Find people' }).click();
  await page.waitForURL('**/admin/people/*');
  return {
    page,
    async help(intent: string, button: string, why: string) {
      const form = page.locator(`form[data-intent="${intent}"]`).first();
      await openDetails(page, form);
      expect(await form.locator('[data-notice]').textContent()).not.toBe('');
      await form.getByLabel('Why').fill(why);
      await form.getByRole('button', { name: button }).click();
      await page.waitForURL(`**?saved=${intent}`);
    },
  };
}

async function setPassword(page: Page, email: string) {
  await followMail(page, email, '/set-password');
  await page.getByLabel('New password').fill('seven quiet lanterns');
  await page.getByRole('main').getByRole('button').last().click();
  await page.waitForURL('**/profile?saved=password-set');
}

it('the page that asks for a credential shows what was typed, within its box (contract 12.202)', async () => {
  const { page } = await visitAs('admin@example.test');
  await page.goto(await path('customer@example.test'));
  const form = page.locator('form[data-intent="change-email"]').first();
  await openDetails(page, form);
  await form.getByLabel('New address').fill('casey.new@example.org');
  await form.getByLabel('Why').fill('Called back');
  await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(site.app.db);
  await form.getByRole('button', { name: 'Send the links' }).click();
  const given = page.locator('[data-given]');
  await given.waitFor();
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const { scroll, height } = await given.evaluate((list) => ({
      scroll: list.scrollWidth - list.clientWidth,
      height: list.clientHeight,
    }));
    expect([width, scroll, height < 250]).toEqual([width, 0, true]);
  }
});

describe('a call is answered', () => {
  it('“I cannot log in”: from an address to the person logged in', async () => {
    const email = 'new-merchant@example.test';
    const call = await answerCall(email);
    await call.page.getByText('Nothing on our side keeps them from logging in.').waitFor();
    await call.help('send-mail', 'Send the link', 'Forgot the password');
    const { page } = await site.visit();
    await setPassword(page, email);
  });

  it('“I changed my phone”: from an address to the person logged in without the app', async () => {
    const email = 'customer@example.test';
    await setUp(await logInByHttp(site.app.send, email), Date.now());
    const call = await answerCall(email);
    await call.page.getByText('Authenticator app', { exact: true }).waitFor();
    await call.help('remove-factors', 'Remove passkeys, app and codes', 'A new phone, and no codes kept');
    const { page } = await site.visit();
    await setPassword(page, email);
    await page.goto('/profile/authenticator');
    await page.getByRole('button', { name: 'Set up the app' }).waitFor();
  });

  it('“Why is my shop not verified?”: from an address to the reason, and the shop verified', async () => {
    const email = 'new-merchant@example.test';
    const call = await answerCall(email);
    const rights = call.page.locator('section[aria-labelledby=rights]');
    await call.page.getByRole('link', { name: 'Rights' }).click();
    await rights.getByText('The account may sell products once it is verified.').waitFor();
    const choice = rights.locator('input[name=verification][value=yes]');
    await choice.click();
    await call.help('decide', 'Save the decisions', 'The papers are right');
    expect(await choice.isChecked()).toBe(true);
    await rights.locator('[data-right=verification] .badge').getByText('Verified').waitFor();
  });

  it('“Please delete me”: from an address to the person leaving', async () => {
    const email = 'unverified@example.test';
    const call = await answerCall(email);
    // A manager has no form for this act, and sends the address of the page to an administrator.
    expect(await call.page.locator('form[data-intent="plan-deletion"]').count()).toBe(0);
    const { page } = await visitAs('admin@example.test');
    await page.goto(call.page.url());
    await act(page, 'plan-deletion', 'Plan the deletion', 'They asked on the phone');
    await page.waitForURL('**?saved=plan-deletion');
    await page.getByText('The account will be deleted in 14 days').first().waitFor();
    const { page: own } = await site.visit();
    await own.goto('/login');
    await logIn(own, email);
    await own.waitForURL('**/profile');
    await own.getByRole('main').getByText('Your account will be deleted on').waitFor();
  });
});

async function tabTo(page: Page, selector: string): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed++) {
    if ((await page.locator(`${selector}:focus`).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${selector} cannot be reached`);
}

it('a person is helped by keyboard alone, also without script', async () => {
  const { page } = await visitAs('manager@example.test', { javaScriptEnabled: false });
  // The field gets the focus by itself.
  await page.locator('input[name=q]:focus').waitFor();
  await page.keyboard.type('merchant@example.test');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/admin/people/*');
  await tabTo(page, '.head-acts > details:has([data-intent="send-mail"]) > summary');
  await page.keyboard.press('Enter');
  await tabTo(page, 'form[data-intent="send-mail"] [name=why]');
  await page.keyboard.type('They asked for it');
  await page.keyboard.press('Enter');
  await page.waitForURL('**?saved=send-mail');
  await page.locator('.notice.success').first().waitFor();
});

it.each([
  ['with script', true],
  ['without script', false],
])(
  'by keyboard alone, %s, a mail is sent again, and a book taken once a password is given',
  async (_, javaScriptEnabled) => {
    const { db } = site.app;
    const { page, complaints } = await visitAs('admin@example.test', { javaScriptEnabled });
    const [mail, recipient] = [crypto.randomUUID(), 'customer@example.test'];
    await sql`insert into mails (id, kind, user_id, recipient, details, created_at, attempts, next_attempt_at, last_error)
    select ${mail}, 'password_changed', id, email, '{}', now(), 3, now() + interval '1 day', '550 no such mailbox'
    from users where email = ${recipient}`.execute(db);
    const focused = page.locator(':focus');

    await tabTo(page, 'nav a[href="/admin/mails"]');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/mails');
    await tabTo(page, `tr:has([data-mail="${mail}"]) summary`);
    expect(await focused.textContent()).toBe(`Details: Password changed, ${recipient}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await tabTo(page, `tr:has([data-mail="${mail}"]) summary.button`);
    expect(await focused.textContent()).toBe(`Send again: Password changed, ${recipient}`);
    await page.keyboard.press('Enter');
    await tabTo(page, `tr:has([data-mail="${mail}"]) [data-intent=retry] [name=why]`);
    await page.keyboard.type('The mailbox is there again');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/mails?saved=retry');
    await page.locator('.notice.success:focus').getByText('The mail is sent again now.').waitFor();

    await sql`update sessions set auth_time = now() - interval '11 minutes'
    where user_id = ${await idOf(db, 'admin@example.test')}`.execute(db);
    await tabTo(page, 'nav a[href="/admin/files"]');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/files');
    await tabTo(page, 'nav[aria-label="Days of the books"] a[href*="from="]:text-is("Last year")');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/files?from=*#books');
    const [from = '', to = ''] = new URL(page.url()).searchParams.values();
    expect([from.slice(4), to.slice(4)]).toEqual(['-01-01', '-12-31']);
    expect(await page.getByLabel('First day').inputValue()).toBe(from);
    expect(await page.getByLabel('Last day').inputValue()).toBe(to);
    await tabTo(page, 'button[aria-label="Download tax.csv"]');
    await page.keyboard.press('Enter');
    await page.locator('input[name=confirmPassword]:focus').waitFor();
    await page.keyboard.type(demoPassword);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(download.suggestedFilename()).toBe(`tax-${from}-${to}.csv`);
    expect(await download.failure()).toBe(null);
    await page.locator('.notice.success:focus').getByText('Your download has started.').waitFor();
    expect(complaints).toEqual([]);
  },
);

it('the settings of billing look right empty, set, refused and waiting', async () => {
  const { db } = site.app;
  const { page, complaints } = await visitAs('admin@example.test');
  const { faults, look } = openInspection(page, 'billing settings');
  await look('empty', '/admin/billing/settings');
  const wide = germanSettings.seller;
  await setSettings(db, {
    ...germanSettings,
    seller: { ...wide, name: 'W'.repeat(200), foot: 'M'.repeat(500) },
  });
  await look('set', '/admin/billing/settings');
  await page.getByLabel('Why', { exact: true }).fill('A test');
  await page.getByLabel('IBAN (optional)').fill('DE00');
  await page.getByLabel('Rate in %, rule 2').fill('many');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.locator('[name=ruleCountry-4]:focus').fill('Austria');
  expect(await page.getByLabel('Rate in %, rule 2').inputValue()).toBe('many');
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByText('Nothing was saved.').waitFor();
  expect(await page.getByLabel('Country, rule 4').inputValue()).toBe('Austria');
  await look('refused');
  await setSettings(db);
  await page.goto('/admin/billing/settings');
  await page.getByLabel('IBAN (optional)').fill('FR76 3000 6000 0112 3456 7890 189');
  await page.getByLabel('Days to pay').fill('30');
  await page.getByLabel('Why', { exact: true }).fill('A new bank');
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByText('What waits is below').waitFor();
  await look('waiting');
  await page.getByLabel('Why do you stop it?').fill('Not by us');
  await page.getByRole('button', { name: 'Stop the change' }).click();
  await page.getByText('The change is stopped.').waitFor();
  expect(await page.getByLabel('Days to pay').inputValue()).toBe('30');
  expect(faults).toEqual([]);
  // A refused form is a page with an error status, which browsers report.
  expect(complaints.filter((each) => !each.includes('422'))).toEqual([]);
});

/**
 * One thing that staff press, choose or type during a call, after they have found the person or invoice
 * (docs/operate/support.md).
 */
type Step = [kind: 'link' | 'summary' | 'choice' | 'button' | 'field', name: string | RegExp, typed?: string];

const why: Step = ['field', 'Why', 'Ticket 4711'];
const calledBack: Step = ['choice', 'Called back at a number'];

const places = {
  link: 'main a:visible',
  summary: 'main summary:visible',
  choice: 'main label:visible:has([type=radio])',
  button: 'main button:visible',
};

/**
 * Answers a call, beginning at the start page of the staff. Returns the number of clicks and the number of fields. A click into
 * a field is not a click here.
 */
async function countCall(page: Page, fact: string, steps: Step[]): Promise<[clicks: number, fields: number]> {
  await page.goto('/admin');
  await page.locator('input[name=q]:focus').fill(fact);
  await page.getByRole('button', { name: 'Find people' }).click();
  await page.waitForURL(/\/admin\/(people|invoices)\/./);
  let [clicks, fields] = [1, 1];
  for (const [kind, name, typed = ''] of steps) {
    if (kind === 'field') await page.getByLabel(name).filter({ visible: true }).fill(typed);
    else await page.locator(places[kind]).filter({ hasText: name }).first().click();
    if (kind === 'field') fields++;
    else clicks++;
  }
  return [clicks, fields];
}

it('each of the ten calls takes at most four clicks and two fields, and a credential one page more (contract 12.254)', async () => {
  const { app } = site;
  await setSettings(app.db, germanSettings);
  const { page, complaints } = await visitAs('admin@example.test');
  const addCaller = async () => {
    const person = await addPerson(app);
    await addFactor(app.db, person);
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      values (${`before-${person.email}`}, ${person.id}, now() + interval '7 days')`.execute(app.db);
    return person;
  };
  const { email } = await addCaller();
  const robbed = await addCaller();
  const buyer = await addCaller();
  const invoices = [];
  for (let at = 0; at < 6; at++) invoices.push(await addInvoice(app.db, { email: buyer.email }));
  const [wrong = '', stale = '', bad = '', late = '', open = '', paid = ''] = invoices;
  await report(app, buildPayment(3_451, { invoice_number: bad }));

  const calls: [call: string, fact: string, steps: Step[]][] = [
    [
      'I cannot log in',
      email,
      [['summary', 'Send a link to set a password'], why, ['button', 'Send the link']],
    ],
    [
      'I lost my mailbox and my phone',
      email,
      [
        ['summary', 'Change the address and remove second factors'],
        ['field', 'New address', 'found-again@example.org'],
        calledBack,
        ['button', 'Send the links'],
      ],
    ],
    [
      'I changed my phone',
      email,
      [['summary', /^Remove second factors/], why, ['button', 'Remove passkeys']],
    ],
    [
      'Somebody changed my address and deleted the email',
      `before-${robbed.email}`,
      [
        ['summary', 'Give the account back'],
        ['choice', `before-${robbed.email}`],
        why,
        ['button', 'Give the account back'],
      ],
    ],
    [
      'Why is my shop not verified?',
      email,
      [['link', 'Rights'], ['choice', /^Verified/], why, ['button', 'Save the decisions']],
    ],
    [
      'Please delete me',
      email,
      [['summary', 'More'], ['summary', 'Delete the account'], why, ['button', 'Plan the deletion']],
    ],
    [
      'Cancel my contract',
      buyer.email,
      [
        ['link', 'Billing'],
        ['summary', 'Cancel at the end of the period'],
        why,
        ['button', 'Cancel the contract'],
      ],
    ],
    [
      'My invoice is wrong: they cannot change their details',
      wrong,
      [
        ['summary', 'Issue it again'],
        ['field', /^Company/, 'Blumen GmbH'],
        calledBack,
        ['button', 'Issue it again'],
      ],
    ],
    ['My invoice is wrong', stale, [['summary', 'Issue it again'], why, ['button', 'Issue it again']]],
    ['I want my money back', bad, [['summary', 'Credit all'], why, ['button', 'Issue the credit note']]],
    [
      'I want my money back: when the bank has paid it',
      bad,
      [
        ['link', 'Look for money paid too much'],
        ['summary', 'Record as paid back'],
        why,
        ['button', 'Record that it was paid back'],
      ],
    ],
    [
      'I want my money back: a part',
      late,
      [
        ['summary', 'Credit a part'],
        ['field', 'Amount of the part', '4.51'],
        calledBack,
        ['button', 'Issue the credit note'],
      ],
    ],
    [
      'I paid, but it says open',
      open,
      [['summary', 'Record a payment'], why, ['button', 'Record the payment']],
    ],
    [
      'I paid, but it says open: the payment waits',
      paid,
      [['link', 'Look for its payment'], ['summary', 'Allocate to an invoice'], why, ['button', 'Allocate']],
    ],
  ];
  const counted: [call: string, clicks: number, fields: number][] = [];
  for (const [call, fact, steps] of calls) {
    const isStale = steps.includes(calledBack);
    if (isStale) await sql`update sessions set auth_time = now() - interval '11 minutes'`.execute(app.db);
    if (fact === paid) await report(app, buildPayment(3_451));
    counted.push([call, ...(await countCall(page, fact, steps))]);
    if (isStale) {
      await page.locator('input[name=confirmPassword]:focus').fill(demoPassword);
      await page.keyboard.press('Enter');
    }
    await page.waitForURL('**saved=*');
    await page.locator('.notice.success:focus').waitFor();
  }
  expect(counted).toEqual([
    ['I cannot log in', 3, 2],
    ['I lost my mailbox and my phone', 4, 2],
    ['I changed my phone', 3, 2],
    ['Somebody changed my address and deleted the email', 4, 2],
    ['Why is my shop not verified?', 4, 2],
    ['Please delete me', 4, 2],
    ['Cancel my contract', 4, 2],
    ['My invoice is wrong: they cannot change their details', 4, 2],
    ['My invoice is wrong', 3, 2],
    ['I want my money back', 3, 2],
    ['I want my money back: when the bank has paid it', 4, 2],
    ['I want my money back: a part', 4, 2],
    ['I paid, but it says open', 3, 2],
    ['I paid, but it says open: the payment waits', 4, 2],
  ]);
  const { rows } = await sql<{ why: string }>`select why from audit_events
    where type in ('staff.change_email', 'staff.edit_billing_details', 'credit_note.issued') and why like 'Called back%'`.execute(
    app.db,
  );
  expect(rows).toHaveLength(4);
  // The page that asks for a credential has the status 401, which browsers report.
  expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
});
