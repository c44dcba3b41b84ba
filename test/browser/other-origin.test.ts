// A client may redirect from its callback to a third host. After a form of the service, a page of the service comes in between
// (contract 9.191).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  browsersOfTwo,
  followMail,
  logIn,
  openInspection,
  openSite,
  type TestSite,
} from '../support/app/browser.ts';
import { showCode } from '../support/people/totp-app.ts';

let clock = Date.now();
let site: TestSite;

/** A client with two origins, localhost and 127.0.0.1. Its pages link to the login. */
const client = createServer(({ url }, response) => {
  const path = url?.split('?')[0] ?? '';
  const leadsTo: Record<string, string> = {
    '/login': `${site.baseUrl}/sso/launch/marketplace?state=s1`,
    '/logout': `${site.baseUrl}/logout?client=marketplace&return_to=/goodbye`,
    '/callback': elsewhere('/in'),
    '/goodbye': elsewhere('/out'),
  };
  const location = leadsTo[path];
  response.writeHead(location ? 303 : 200, { 'content-type': 'text/html', ...(location && { location }) });
  response.end('<title>Client</title><a href="/login">Log in</a> <a href="/logout">Log out</a>');
});
const portOf = () => (client.address() as AddressInfo).port;
const here = (path: string) => `http://localhost:${portOf()}${path}`;
const elsewhere = (path: string) => `http://127.0.0.1:${portOf()}${path}`;

beforeAll(async () => {
  await new Promise<void>((done) => client.listen(0, done));
  site = await openSite({ SSO_MARKETPLACE_CALLBACK_URL: here('/callback') }, () => new Date(clock));
});
afterAll(async () => {
  await site?.close();
  client.closeAllConnections();
  await new Promise((done) => client.close(done));
});

/** Returns the paths in the history of the tab, and the path that the tab shows. */
async function historyOf(context: BrowserContext, page: Page): Promise<{ paths: string[]; at: string }> {
  const session = await context.newCDPSession(page);
  const { entries, currentIndex } = await session.send('Page.getNavigationHistory');
  await session.detach();
  const paths = entries.map(({ url }) => (url.startsWith('http') ? new URL(url).pathname : url));
  return { paths, at: paths[currentIndex] ?? '' };
}

describe.each(
  [
    ['with script', true, 'merchant@example.test', 'customer@example.test'],
    ['without script', false, 'new-merchant@example.test', 'manager@example.test'],
  ].slice(0, browsersOfTwo) as [string, boolean, string, string][],
)(
  '%s, a client whose callback leads to a third host is reached',
  (_name, javaScriptEnabled, email, other) => {
    const visit = async () => {
      const visitor = await site.visit({ javaScriptEnabled });
      await visitor.page.goto(here('/home'));
      return visitor;
    };

    it('from the login, at the first try, and Back neither ends on the page in between nor goes forward again', async () => {
      const { page, context, complaints } = await visit();
      await page.getByRole('link', { name: 'Log in' }).click();
      await page.waitForURL('**/login?next=**');
      await logIn(page, other);
      await page.waitForURL(elsewhere('/in'));
      expect(await historyOf(context, page)).toEqual({
        paths: ['about:blank', '/home', '/login', '/in'],
        at: '/in',
      });

      await page.goBack();
      await page.getByText('Use this link to go to Marketplace.').waitFor();
      // Waits longer than the page in between takes to redirect.
      await page.waitForTimeout(1_000);
      expect((await historyOf(context, page)).at).toBe('/go');
      await page.getByRole('link', { name: 'Continue to Marketplace' }).click();
      await page.waitForURL(elsewhere('/in'));
      await page.goBack();
      await page.goBack();
      await page.waitForURL(here('/home'));
      expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
      await context.close();
    });

    it('from the page of the code', async () => {
      const { page, context, complaints } = await visit();
      await page.goto('/login');
      await logIn(page, email);
      await page.waitForURL('**/profile');
      await page.goto('/profile/authenticator');
      await page.getByRole('button', { name: 'Set up the app' }).click();
      const secret = (await page.locator('code.key').textContent()) ?? '';
      await page.getByLabel('Code that the app shows now').fill(showCode(secret, clock));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
      await context.clearCookies();

      clock += 60_000;
      await page.goto(here('/login'));
      await logIn(page, email);
      await page.waitForURL('**/login/code?next=**');
      await page.getByLabel('Code from your authenticator app').fill(showCode(secret, clock));
      await page.keyboard.press('Enter');
      await page.waitForURL(elsewhere('/in'));
      expect((await historyOf(context, page)).paths).not.toContain('/go');
      expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
      await context.close();
    });

    it('from a sign-up', async () => {
      const { page, context, complaints } = await visit();
      const address = `third-host-${javaScriptEnabled}@example.test`;
      await page.goto('/signup?next=/sso/launch/marketplace');
      await page.getByLabel('Name').fill('Nia New');
      await page.getByLabel('Email address').fill(address);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Check your email' }).waitFor();
      await followMail(page, address, '/signup/confirm');
      await page.getByLabel('Password').fill('seven quiet lanterns');
      await page.keyboard.press('Enter');
      await page.waitForURL(elsewhere('/in'));
      expect((await historyOf(context, page)).paths).not.toContain('/go');
      expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
      await context.close();
    });

    it('from the logout that it started', async () => {
      const { page, context, complaints } = await visit();
      await page.goto('/login');
      await logIn(page, other);
      await page.waitForURL('**/profile');
      await page.goto(here('/home'));
      await page.getByRole('link', { name: 'Log out' }).click();
      await page.getByText('You will then go back to Marketplace.').waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
      await page.waitForURL(elsewhere('/out'));
      expect((await historyOf(context, page)).paths).not.toContain('/go');
      await page.goto('/profile');
      expect(new URL(page.url()).pathname).toBe('/login');
      expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
      await context.close();
    });
  },
);

it('the page in between is good, where the browser does not go on by itself, and where somebody came back', async () => {
  const { page, context, complaints } = await site.visit();
  // Some browsers can be set to ignore `Refresh`, so this test removes the header.
  await page.route('**/go?**', async (route) => {
    const answer = await route.fetch();
    const { refresh: _, ...headers } = answer.headers();
    await route.fulfill({ response: answer, headers });
  });
  const { faults, look } = openInspection(page);
  for (const [what, path] of Object.entries({
    'go on': '/go?next=/sso/launch/marketplace',
    'go back': `/go?next=${encodeURIComponent('/logout?client=marketplace')}`,
    'come back': '/go?next=/sso/launch/marketplace&stay',
  })) {
    await look(what, path);
  }
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});
