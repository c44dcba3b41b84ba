// A refused form in the history of a browser: Back, a reload, a second tab, and a session that ends (contract 9.171 to 9.176).
import { describe, expect, it } from 'vitest';
import { inspectAsItIs, logIn, openSite, type TestSite } from '../support/app/browser.ts';
import { openClient } from '../support/app/trpc.ts';
import { byForm } from '../support/faults/faults.ts';
import { shared } from '../support/run/shared.ts';

// The tests move the clock on, so that credentials get old and tries are forgotten.
let lagMs = 0;
const site = shared(() => openSite({}, () => new Date(Date.now() + lagMs)));

const email = 'customer@example.test';

type Page = Awaited<ReturnType<TestSite['visit']>>['page'];

const pathOf = (page: Page) => new URL(page.url()).pathname;
const refusedOf = (page: Page) => new URL(page.url()).searchParams.get('refused');

async function logInAnew(page: Page, as = email) {
  await page.goto('/login');
  await logIn(page, as);
  await page.waitForURL('**/profile');
}

async function signUp(page: Page, address: string) {
  await page.getByLabel('Name').fill('Anna Long');
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/signup?refused=*');
}

type Row = {
  what: string;
  path: string;
  arrange?: (page: Page) => Promise<void>;
  send: (page: Page) => Promise<void>;
  says: string;
  /** The name of the field that has the focus, or its selector. */
  focus: string;
  holds?: [label: string, value: string];
};

async function changeAddress(page: Page, address: string) {
  await page.getByLabel('New email address').fill(address);
  await page.getByRole('button', { name: 'Email me a link' }).click();
}

const rows: Row[] = [
  {
    what: 'a login',
    path: '/login',
    send: (page) => logIn(page, email, 'not the password'),
    says: 'The email address or password is incorrect.',
    focus: 'password',
    holds: ['Email address', email],
  },
  {
    what: 'a sign-up',
    path: '/signup',
    send: (page) => signUp(page, 'anna@gmial.com'),
    says: 'Did you mean anna@gmail.com?',
    focus: 'email',
    holds: ['Email address', 'anna@gmial.com'],
  },
  {
    what: 'a change of address',
    path: '/profile/email',
    arrange: logInAnew,
    send: (page) => changeAddress(page, email),
    says: 'This is already your email address.',
    focus: 'email',
    holds: ['New email address', email],
  },
  {
    what: '“Confirm it’s you”',
    path: '/profile/email',
    async arrange(page) {
      await logInAnew(page);
      lagMs += 11 * 60_000;
    },
    send: (page) => changeAddress(page, 'another@example.com'),
    says: 'Enter your password to change your email address.',
    focus: 'confirmPassword',
  },
  {
    // This form is too long for a cookie.
    what: 'the settings of billing',
    path: '/admin/billing/settings',
    arrange: (page) => logInAnew(page, 'admin@example.test'),
    async send(page) {
      // Turns off the browser's own checks, so that the service refuses the form.
      await page.locator('form.settings').evaluate((form: HTMLFormElement) => {
        form.noValidate = true;
      });
      await page.getByLabel('Text at the bottom of each page').fill('Foot '.repeat(90));
      await page.getByLabel('Name of the company').fill('Blumen Zoë GmbH');
      await page.getByRole('button', { name: 'Save the settings' }).click();
    },
    says: 'Nothing was saved.',
    focus: '.notice.error',
    holds: ['Name of the company', 'Blumen Zoë GmbH'],
  },
];

const findSidewaysScrolling = async (page: Page): Promise<string[]> =>
  (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
    ? ['scrolls sideways']
    : [];

const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 800 };
const browsers = [
  ['with script on a phone', { javaScriptEnabled: true, viewport: phone }],
  ['without script on a desktop', { javaScriptEnabled: false, viewport: desktop }],
  ...byForm<[string, { javaScriptEnabled: boolean; viewport: typeof phone }][]>({
    short: [],
    long: [
      ['without script on a phone', { javaScriptEnabled: false, viewport: phone }],
      ['with script on a desktop', { javaScriptEnabled: true, viewport: desktop }],
    ],
  }),
] as const;

describe.each(browsers)('%s,', (browser, options) => {
  // axe needs script. Without script, only sideways scrolling is checked.
  const inspect = async (page: Page, what: string) =>
    options.javaScriptEnabled ? inspectAsItIs(page, what) : findSidewaysScrolling(page);

  it.each(rows)('$what that is refused is no step of the history that is sent again', async (row) => {
    const { page, complaints } = await site.visit(options);
    await row.arrange?.(page);
    await page.goto('/developers');
    await page.goto(row.path);
    const posts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.isNavigationRequest()) posts.push(request.url());
    });
    await row.send(page);
    const message = page.getByText(row.says);
    const check = async () => {
      await message.waitFor();
      expect(pathOf(page)).toBe(row.path);
      if (row.holds) expect(await page.getByLabel(row.holds[0]).inputValue()).toBe(row.holds[1]);
    };
    await check();
    // The field with the mistake has the focus.
    await page.locator(`:is([name="${row.focus}"], ${row.focus}):focus`).waitFor();
    const id = refusedOf(page);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await inspect(page, `back, ${row.what}, ${browser}`)).toEqual([]);

    await page.reload();
    await check();
    expect(refusedOf(page)).toBe(id);

    await page.goBack();
    expect([pathOf(page), refusedOf(page)]).toEqual([row.path, null]);
    expect(await page.getByRole('main').locator('form').count()).toBeGreaterThan(0);
    expect(await message.count()).toBe(0);
    await page.goBack();
    expect(pathOf(page)).toBe('/developers');
    await page.goForward();
    await page.goForward();
    await check();
    expect(refusedOf(page)).toBe(id);
    expect(posts).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it('two tabs with different refusals stay apart', async () => {
    const { page, context } = await site.visit(options);
    const other = await context.newPage();
    const tabs = [
      [page, 'one@gmial.com', 'one@gmail.com'],
      [other, 'two@hotmial.com', 'two@hotmail.com'],
    ] as const;
    for (const [tab, typed] of tabs) {
      await tab.goto('/signup');
      await signUp(tab, typed);
    }
    expect(refusedOf(page)).not.toBe(refusedOf(other));
    for (const [tab, typed, meant] of tabs) {
      await tab.reload();
      await tab.getByText(`Did you mean ${meant}?`).waitFor();
      expect(await tab.getByLabel('Email address').inputValue()).toBe(typed);
    }
  });

  it('a form typed while another tab logs out is there again after the login, not yet sent', async () => {
    const { page, context, complaints } = await site.visit(options);
    await logInAnew(page);
    const name = page.getByLabel('Name', { exact: true });
    const before = await name.inputValue();
    const typed = `Zoë ${browser}`;
    await name.fill(typed);

    const other = await context.newPage();
    await other.goto('/logout');
    await other.getByRole('main').getByRole('button', { name: 'Log out' }).click();
    await other.waitForURL('**/login?logged_out');

    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL('**/login?**');
    await page.getByText('You have been logged out.').waitFor();
    expect(await inspect(page, `back, ended, ${browser}`)).toEqual([]);
    await logIn(page, email);
    await page.waitForURL('**/profile?refused=*');
    expect(await name.inputValue()).toBe(typed);
    expect(await inspect(page, `back, typed before, ${browser}`)).toEqual([]);
    await other.goto('/login');
    await other.waitForURL('**/profile');
    expect(await other.getByLabel('Name', { exact: true }).inputValue()).toBe(before);

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await name.inputValue()).toBe(typed);
    expect(complaints).toEqual([]);
  });
});

// Contract 9.28.
it('Back to a profile that was changed elsewhere meanwhile shows the change, and does not undo it', async () => {
  const { page } = await site.visit();
  await logInAnew(page);
  await page.getByLabel('Name', { exact: true }).fill('Typed First');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/profile?saved=names');
  const cookie = await site.app.login(email);
  await openClient(site.app.send, cookie).profile.update.mutate({ name: 'From The Phone' });
  await page.goBack();
  await page.waitForURL('**/profile');
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('From The Phone');
});

it('a refused form gets the focus to its error, also where the address leads to a part of the page', async () => {
  const { page } = await site.visit();
  await logInAnew(page);
  await page.goto('/profile/security#password');
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password').fill('nine quiet lanterns');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.waitForURL('**/profile/security?refused=*');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')))
    .toBe('currentPassword');
});
