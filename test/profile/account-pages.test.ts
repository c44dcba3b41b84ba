import { beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { logIn, submitProfile } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const pages = ['/profile', '/profile/security', '/profile/products', '/profile/billing'];

let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  cookie = await app.login('merchant@example.test');
});

const linksOf = (text: string) => {
  const [nav = ''] = /<nav [\s\S]*?<\/nav>/.exec(text) ?? [];
  return [...nav.matchAll(/<a href="([^"]*)"( aria-current="page")?/g)].map(([, href, current]) => ({
    href,
    isCurrent: current !== undefined,
  }));
};

describe('the navigation of the account', () => {
  it('has only pages that there are, and marks the one that is open', async () => {
    const hrefs = linksOf((await app.send('/profile', { cookie })).text).map(({ href }) => href ?? '');
    expect(hrefs).toEqual(expect.arrayContaining(pages));
    for (const href of hrefs) {
      const page = await app.send(href, { cookie });
      expect(page.status).toBe(200);
      expect(linksOf(page.text).filter(({ isCurrent }) => isCurrent)).toEqual([{ href, isCurrent: true }]);
    }
  });

  it('is on no page of somebody who is not logged in, nor on another', async () => {
    for (const answer of [await app.send('/login'), await app.send('/logout', { cookie })])
      expect(linksOf(answer.text)).toEqual([]);
  });
});

it('the page about logins is called Security everywhere', async () => {
  const { text } = await app.send('/profile/security', { cookie });
  expect(text).toContain('<title>Security · Identity</title>');
  expect(text).toContain('<h1>Security</h1>');
  const names = [...text.matchAll(/<a href="\/profile\/security"[^>]*>(.*?)<\/a>/gs)].map(([, name = '']) =>
    name.replace(/<svg.*?<\/svg>/s, ''),
  );
  expect(names).toEqual(['Security', 'Security']);
});

it('each page shows only what it is about', async () => {
  const [profile = '', security = '', products = '', billing = ''] = await Promise.all(
    pages.map(async (path) => (await app.send(path, { cookie })).text),
  );
  const headings = (text: string) => [...text.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title]) => title);
  expect(headings(profile)).toEqual([
    ...['Your details', 'Email address', 'Time zone', 'What you can do', 'Your data'],
  ]);
  expect(headings(security)).toEqual(expect.arrayContaining(['Password', 'Where you are logged in']));
  expect(headings(products)).toEqual(['Products for you']);
  expect(headings(billing)).toEqual(['No contracts or invoices yet']);
});

it('products that were opened come first, the last one at the top', async () => {
  const browser = await logIn(app.send, 'manager@example.test');
  for (const client of ['crm_app', 'network_site']) await browser.send(`/sso/launch/${client}`);
  const { text } = await browser.send('/profile/products');
  const titles = [...text.matchAll(/(?:<h2[^>]*>|<strong>)(Products you use|Other products|[A-Z][\w ]+)</g)];
  expect(titles.map(([, title]) => title)).toEqual([
    'Products you use',
    'Network site',
    'CRM app',
    'Other products',
    'Marketplace',
  ]);
});

it('nothing is said of contracts before the address is proved', async () => {
  const unproved = await app.login('unverified@example.test');
  const user = { email: 'unverified@example.test', name: 'Una' };
  await pushSignup(app, buildSignup('crm_unproved', { user }));
  const { text } = await app.send('/profile/billing', { cookie: unproved });
  expect(text).toContain('Verify your email address first');
  expect(text).not.toContain('Service contracts');
});

it.each([
  ['/profile', { intent: 'names', name: 'Maya Merchant', accountName: 'Maya’s account' }, 'about-you'],
  ['/profile/security', { intent: 'end-others' }, 'sessions'],
] as const)(
  'what was saved on %s is said at its form, which takes the focus',
  async (path, form, section) => {
    for (const page of [
      await submitProfile(app.send, cookie, form),
      await app.send(`${path}?saved=${form.intent}`, { cookie }),
    ]) {
      const [, part = ''] =
        new RegExp(`aria-labelledby="${section}">([\\s\\S]*?)</section>`).exec(page.text) ?? [];
      expect(part).toMatch(/<div class="notice success" role="status" tabindex="-1" autofocus="">/);
      expect(page.text.match(/class="notice success/g)).toHaveLength(1);
    }
  },
);
