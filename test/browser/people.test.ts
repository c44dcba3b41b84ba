import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectAsItIs, logIn, openInspection, openSite, type TestSite } from '../support/app/browser.ts';
import { openClient } from '../support/app/trpc.ts';

const isInView = (element: Element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
};

let site: TestSite;
let client: Server;
let clientOrigin: string;
beforeAll(async () => {
  // The product has another origin than the service, because browsers treat other origins differently.
  client = createServer((_request, response) => response.end('<h1>Another product</h1>')).listen(
    0,
    '127.0.0.1',
  );
  await once(client, 'listening');
  clientOrigin = `http://127.0.0.1:${(client.address() as AddressInfo).port}`;
  site = await openSite({ SSO_CRM_CALLBACK_URL: `${clientOrigin}/callback` });
});
afterAll(async () => {
  await site.close();
  client.close();
});

describe.each([
  ['a browser with script', true],
  ['a browser without script', false],
])('%s', (_name, javaScriptEnabled) => {
  it('carries a login to a client, which notices an edit of the profile', async () => {
    const { page, context, complaints } = await site.visit({ javaScriptEnabled });
    const newName = `Zoë O’Neil ${javaScriptEnabled}`;
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.waitForURL('**/login?next=**');
    expect(await page.getByRole('heading').textContent()).toBe('Continue to Marketplace');
    await logIn(page);
    await page.waitForURL('**/demo/marketplace');
    expect(await page.getByRole('status').textContent()).toMatch(
      /First visit|nothing to refresh|refreshed its cache/,
    );
    const before = await page.locator('dd code').textContent();
    const findSession = async () =>
      (await context.cookies(`${site.baseUrl}/demo/marketplace`)).find(({ name }) => name === 'demo_session')
        ?.value;
    const session = await findSession();
    expect(session).toBeDefined();

    await page.goto('/profile');
    await page.getByLabel('Name', { exact: true }).fill(newName);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();

    // The person is logged in at this client, so the link opens the client's own page and starts no new session at the client.
    await page.getByRole('link', { name: 'Products' }).click();
    await page.getByRole('link', { name: 'Open Marketplace' }).click();
    await page.waitForURL('**/demo/marketplace');
    expect(await findSession()).toBe(session);
    await page.getByRole('link', { name: 'Log in again', exact: true }).click();
    await page.getByRole('heading', { name: `Hello, ${newName}` }).waitFor();
    expect(await page.getByRole('status').textContent()).toMatch(/refreshed its cache|nothing to refresh/);
    expect(await findSession()).not.toBe(session);
    expect((await page.locator('dd code').textContent()) ?? '').not.toBe(before);

    await page.getByRole('link', { name: 'Replay it' }).click();
    await page.getByText('nonce_replayed').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Change a character' }).click();
    await page.getByText('signature_wrong').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Wait an hour' }).click();
    await page.getByText('expired').waitFor();

    // Nobody is logged in at this client yet, so its page starts a login without a question.
    await page.goto('/profile/products');
    await page.getByRole('link', { name: 'Open Network site' }).click();
    await page.waitForURL('**/demo/network_site');
    await page.getByRole('heading', { name: `Hello, ${newName}` }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows a mistake at its field, and keeps what was typed', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    await page.goto('/login');
    await logIn(page, 'admin@example.test', 'not the password');
    await page.getByRole('alert').filter({ hasText: 'is incorrect' }).waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe('admin@example.test');
    await logIn(page, 'admin@example.test');
    await page.waitForURL('**/profile');

    await page.getByLabel('Account name').fill('x'.repeat(201));
    await page.getByRole('button', { name: 'Save' }).click();
    const field = page.getByLabel('Account name');
    await page.getByText('Use no more than 200 characters.').waitFor();
    expect(await field.inputValue()).toBe('x'.repeat(201));
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const described = (await field.getAttribute('aria-describedby')) ?? '';
    const messages = described.split(' ').map((id) => page.locator(`[id="${id}"]`).textContent());
    expect(await Promise.all(messages)).toContain('Use no more than 200 characters.');
    if (javaScriptEnabled)
      expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('shows an edit made elsewhere before it replaces it', async () => {
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const { profile } = openClient(site.app.send, await site.app.login('merchant@example.test'));
    await page.goto('/login');
    await logIn(page, 'merchant@example.test');
    await page.waitForURL('**/profile');
    const name = page.getByLabel('Name', { exact: true });
    await profile.update.mutate({ name: 'From elsewhere' });
    await name.fill('From here');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('They are now: name From elsewhere').waitFor();
    if (javaScriptEnabled) expect(await inspectAsItIs(page, 'edited meanwhile')).toEqual([]);
    expect(await name.inputValue()).toBe('From here');
    expect((await profile.get.query()).name).toBe('From elsewhere');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await profile.get.query()).name).toBe('From here');

    // After a form of another page, the profile shows a change that was made elsewhere.
    await profile.update.mutate({ name: 'From elsewhere again' });
    await page.goto('/profile/security');
    await page.getByRole('button', { name: 'Log out everywhere else' }).click();
    await page.getByText('You are logged out everywhere else.').waitFor();
    await page.getByRole('link', { name: 'Profile', exact: true }).click();
    await page.waitForURL('**/profile');
    expect(await name.inputValue()).toBe('From elsewhere again');
    expect(complaints).toEqual([]);
  });

  it('changes a password, which ends other sessions', async () => {
    const email = javaScriptEnabled ? 'manager@example.test' : 'customer@example.test';
    const { page, complaints } = await site.visit({ javaScriptEnabled });
    const other = await site.visit({ javaScriptEnabled });
    for (const visitor of [other.page, page]) {
      await visitor.goto('/login');
      await logIn(visitor, email);
      await visitor.waitForURL('**/profile');
    }
    await page.goto('/profile/security');
    expect(await page.getByRole('button', { name: /^Log out of / }).count()).toBe(1);
    await page.getByLabel('Current password').fill('local demo password');
    await page.getByLabel('New password').fill('password1234');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('too easy to guess').waitFor();
    await page.getByLabel('Current password').fill('local demo password');
    await page.getByLabel('New password').fill('violet kettle orbit');
    await page.getByRole('button', { name: 'Change password' }).click();
    const changed = page.getByText('Your password has been changed');
    await changed.waitFor();
    // The notice has the focus, so it is read out and is in view.
    await expect.poll(() => page.locator('.notice.success:focus').count()).toBe(1);
    expect(await changed.evaluate(isInView)).toBe(true);
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await other.page.goto('/profile');
    expect(new URL(other.page.url()).pathname).toBe('/login');
    expect(complaints).toEqual([]);
  });
});

describe('a password', () => {
  it('is shown by a button, also after it was refused, and sent as a password', async () => {
    const { page, complaints } = await site.visit();
    await page.goto('/login');
    const field = page.getByLabel('Password');
    const button = page.getByRole('button', { name: 'Show password' });
    await field.fill('what was typed');
    expect(await field.getAttribute('type')).toBe('password');
    await button.click();
    expect(await field.getAttribute('type')).toBe('text');
    expect(await button.getAttribute('aria-pressed')).toBe('true');
    await button.click();
    expect(await field.getAttribute('type')).toBe('password');
    await button.click();
    await page.evaluate("document.forms[0].addEventListener('submit', (event) => event.preventDefault())");
    await page.getByLabel('Email address').fill('maya@example.test');
    await page.getByRole('button', { name: 'Log in' }).click();
    expect(await field.getAttribute('type')).toBe('password');
    expect(complaints).toEqual([]);
  });

  it('has no such button without script, where it would do nothing', async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto('/login');
    expect(await page.locator('[data-show-password]').count()).toBe(1);
    expect(await page.getByRole('button').allTextContents()).toEqual(['Log in']);
  });
});

const oddNames = {
  'long and unbroken': 'N'.repeat(200),
  'from right to left': 'عائشة بنت عبد الرحمن '.repeat(9).trim(),
};

it.each(Object.entries(oddNames))('a name that is %s stays inside its box', async (what, name) => {
  const { page, complaints } = await site.visit();
  const faults: string[] = [];
  const look = async (where: string) => {
    // If a window of 1,280 pixels is zoomed to 200 %, its page is 640 pixels wide.
    for (const width of [320, 390, 640]) {
      await page.setViewportSize({ width, height: 800 });
      faults.push(...(await inspectAsItIs(page, `${where}, name ${what}, ${width}`)));
    }
  };
  await page.goto('/login');
  await logIn(page, 'admin@example.test');
  await page.waitForURL('**/profile');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await look('profile');
  await page.goto('/demo/network_site/login');
  await page.getByRole('heading', { name: /^Hello, / }).waitFor();
  await look('demo client');
  await page.goto('/demo/legacy-marketplace');
  await page.getByLabel('Marketplace ID').fill(`m-${what.length}`);
  await page.getByLabel('Email address').fill(`odd-${what.length}@example.test`);
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Hand over' }).click();
  await page.getByRole('heading', { name: 'Is this your account?' }).waitFor();
  await look('continue');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a login goes on to a client on another origin', async () => {
  const { page, complaints } = await site.visit();
  await page.goto('/sso/launch/crm_app');
  await logIn(page);
  await page.waitForURL(`${clientOrigin}/callback?payload=*`);
  expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
});

it('a logout that a client on another origin started goes back there, after a click', async () => {
  const { page, complaints } = await site.visit();
  await page.goto('/login');
  await logIn(page);
  await page.waitForURL('**/profile');
  await page.goto('/logout?client=crm_app&return_to=/goodbye');
  await page.getByText('You will then go back to CRM app.').waitFor();
  expect(await inspectAsItIs(page, 'logout by a client')).toEqual([]);
  await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${clientOrigin}/goodbye`);
  await page.goto('/profile');
  expect(new URL(page.url()).pathname).toBe('/login');
  expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
});

it('the pages can be used by keyboard alone', async () => {
  const { page } = await site.visit();
  await page.goto('/login');
  // The first field already has the focus.
  await page.locator('[name=email]:focus').waitFor();
  await page.keyboard.type('merchant@example.test');
  await page.keyboard.press('Tab');
  await page.keyboard.type('local demo password');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/profile');

  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  // The offer of the browser's time zone stands first (contract 2.171).
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Use this time zone');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.name')).toBe('name');
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
  expect(outline).toBe('3px');
  const goTo = async (key: string, element: string) => {
    const focused = page.locator(`${element}:focus`);
    for (let step = 0; step < 20 && (await focused.count()) === 0; step++) await page.keyboard.press(key);
    expect(await focused.count()).toBe(1);
  };
  await goTo('Shift+Tab', 'summary');
  await page.keyboard.press('Enter');
  await goTo('Tab', '.menu button');
  // Escape closes the menu, and the focus returns to the menu's button.
  await page.keyboard.press('Escape');
  await page.locator('summary:focus').waitFor();
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0);
  await page.keyboard.press('Enter');
  await goTo('Tab', '.menu button');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/login?logged_out');
  await page.getByText('You have logged out.').waitFor();
});

it('a marketplace user is led through connecting an account that they can log in to', async () => {
  const { page, complaints } = await site.visit({ viewport: { width: 360, height: 740 } });
  await page.goto('/demo/legacy-marketplace');
  await page.getByLabel('Marketplace ID').fill('walk-1');
  await page.getByLabel('Email address').fill('admin@example.test');
  await page.getByRole('button', { name: 'Hand over' }).click();
  await page.getByRole('heading', { name: 'Administrators must log in here' }).waitFor();
  await page.goBack();
  await page.getByLabel('Marketplace ID').fill('walk-1');
  await page.getByLabel('Email address').fill('merchant@example.test');
  await page.getByRole('button', { name: 'Hand over' }).click();
  await page.getByRole('heading', { name: 'Connect your marketplace account?' }).waitFor();
  expect(await inspectAsItIs(page, 'connect, logged out')).toEqual([]);
  await page.getByRole('link', { name: 'Log in to connect' }).click();
  await page.getByLabel('Email address').fill('merchant@example.test');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('is incorrect').waitFor();
  await page.getByLabel('Password').fill('local demo password');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL('**/continue?id=*');
  expect(await inspectAsItIs(page, 'connect, logged in')).toEqual([]);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('heading', { name: 'Marketplace account connected' }).waitFor();
  await page.getByRole('link', { name: 'Go to your profile' }).click();
  await page.waitForURL('**/profile');
  await page.goto('/profile/security');
  await page.getByRole('heading', { name: 'Connected accounts' }).waitFor();
  const { rows } = await sql`select user_id from external_links where external_id = 'walk-1'`.execute(
    site.app.db,
  );
  expect(rows).toEqual([{ user_id: '01900000-0000-7000-8000-000000000001' }]);
  // Removes the marketplace account by keyboard.
  await page.locator('summary', { hasText: 'Remove marketplace account' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Connected accounts' }).getByLabel('Current password').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('This is not your current password.').waitFor();
  expect(await inspectAsItIs(page, 'remove a link')).toEqual([]);
  await page
    .getByRole('region', { name: 'Connected accounts' })
    .getByLabel('Current password')
    .fill('local demo password');
  await page.keyboard.press('Enter');
  await page.getByText('The marketplace account is no longer connected.').waitFor();
  expect(complaints).toEqual([]);
});

it('a marketplace user is asked before somebody else’s browser is theirs', async () => {
  const { page, complaints } = await site.visit();
  await page.goto('/login');
  await logIn(page, 'new-merchant@example.test');
  await page.waitForURL('**/profile');
  const handOver = async () => {
    await page.goto('/demo/legacy-marketplace');
    await page.getByLabel('Marketplace ID').fill('walk-2');
    await page.getByLabel('Email address').fill('walker@example.test');
    await page.getByLabel('Name').fill('Wanda Walker');
    await page.getByRole('button', { name: 'Hand over' }).click();
    await page.getByRole('heading', { name: 'Is this your account?' }).waitFor();
  };
  await handOver();
  expect(await inspectAsItIs(page, 'continue')).toEqual([]);
  await page.getByRole('link', { name: 'Stay logged in' }).click();
  await page.locator('.visitor-email', { hasText: 'new-merchant@example.test' }).waitFor();
  await handOver();
  await page.getByRole('button', { name: 'Continue as Wanda Walker' }).click();
  await page.locator('.visitor-email', { hasText: 'walker@example.test' }).waitFor();
  await page.goto('/profile/security');
  expect(await inspectAsItIs(page, 'first password')).toEqual([]);
  await page.getByRole('button', { name: 'Email me a link to set a password' }).click();
  await page.getByText('We have sent a link to walker@example.test').waitFor();
  expect(await inspectAsItIs(page, 'first password mailed')).toEqual([]);
  expect(complaints).toEqual([]);
});

it('every page has no serious axe finding, console message or sideways scrolling', async () => {
  const { page, complaints } = await site.visit();
  const { faults, look } = openInspection(page);
  await look('login', '/login?next=/sso/launch/network_site');
  await logIn(page, 'new-merchant@example.test', 'wrong');
  await page.getByText('is incorrect').waitFor();
  await look('login refused');
  await logIn(page, 'new-merchant@example.test');
  await page.waitForURL('**/demo/network_site');
  await look('demo client');
  await page.getByRole('link', { name: 'Replay it' }).click();
  await page.getByText('nonce_replayed').waitFor();
  await look('demo refusal');
  await look('profile', '/profile');
  await page.locator('.menu > summary').click();
  await look('menu');
  for (const part of ['security', 'products', 'billing']) {
    await look(part, `/profile/${part}`);
  }
  await page.goto('/profile');
  await page.getByLabel('Name', { exact: true }).fill('   ');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Enter a name.').waitFor();
  await look('profile refused');
  await look('logout', '/logout');
  await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/login?logged_out');
  await logIn(page, 'unverified@example.test');
  await page.waitForURL('**/profile');
  await look('profile unverified');
  await look('products unverified', '/profile/products');
  await look('billing unverified', '/profile/billing');
  await page.goto('/sso/launch/network_site');
  await page.waitForURL('**/verify-email?**');
  await look('verify-email');
  await look('problem explained', '/problems/invalid_signature');
  await look('problem met', '/sso/launch/nobody');
  await look('demo client, nobody logged in', '/demo/marketplace');
  await look('legacy marketplace', '/demo/legacy-marketplace');
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
});
