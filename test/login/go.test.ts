// After a form the next stop is never a client: /go is in between (contract 9.191 and 9.194).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { readMails } from '../support/people/kept-mail.ts';
import { linkIn } from '../support/people/mail-server.ts';
import { enterCode, setUp, showCode } from '../support/people/totp-app.ts';
import { quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const shop = 'https://shop.localhost:8443';
const launch = '/sso/launch/shop?state=s&return_to=%2Fa%3Fb%3Dc';
const next = encodeURIComponent(launch);
const plain = '/sso/launch/shop';
const email = 'customer@example.test';
const newPassword = 'seven quiet lanterns';

let at = Date.now();
const now = () => new Date(at);
const env = { SSO_CLIENTS: 'shop', SSO_SHOP_CALLBACK_URL: `${shop}/sso/callback` };
const app = shared(() => openApp({ env, now }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now }));
beforeEach(async () => {
  at += 120_000;
  await emptyTables(app.db, 'mails', 'mail_tokens', 'rate_limits');
});

const pathOf = ({ pathname, search }: URL) => pathname + search;
const leadOf = (answer: Answer) => [answer.status, answer.headers.get('location')];
const goTo = (path: string) => [303, `/go?next=${encodeURIComponent(path)}`];

async function readLink(address: string, page: string): Promise<string> {
  const [mail] = await readMails(other, address);
  return pathOf(linkIn(mail ?? {}, page));
}

const unprove = () =>
  sql`update users set email_verified_at = null where email = 'unverified@example.test'`.execute(app.db);

/** The forms that can lead to a client, and where each of them leads in the end. */
const forms: Record<string, { goesTo: string; post: () => Promise<Answer> }> = {
  login: { goesTo: launch, post: () => openBrowser(app.send).login(email, undefined, `/login?next=${next}`) },
  'login/code': {
    goesTo: launch,
    async post() {
      const { secret } = await setUp(await logIn(app.send, 'merchant@example.test'), at);
      at += 60_000;
      const browser = openBrowser(app.send);
      const asked = await browser.login('merchant@example.test', undefined, `/login?next=${next}`);
      return enterCode(browser, showCode(secret, at), pathOf(locationOf(asked)));
    },
  },
  'signup/confirm': {
    goesTo: plain,
    async post() {
      const form = { name: 'Nia', email: 'nia@example.test' };
      await app.send(`/signup?next=${next}`, { form });
      const link = await readLink(form.email, '/signup/confirm');
      return app.send(link, { form: { name: 'Nia', newPassword } });
    },
  },
  'set-password': {
    goesTo: plain,
    async post() {
      await app.send(`/forgot-password?next=${next}`, { form: { email: 'new-merchant@example.test' } });
      const link = await readLink('new-merchant@example.test', '/set-password');
      return app.send(link, { form: { newPassword } });
    },
  },
  'verify-email/confirm': {
    goesTo: plain,
    async post() {
      await unprove();
      const browser = await logIn(app.send, 'unverified@example.test');
      await browser.send(`/verify-email?next=${next}`, { form: {} });
      return browser.send(await readLink('unverified@example.test', '/verify-email/confirm'), { form: {} });
    },
  },
  'profile/delete': {
    goesTo: launch,
    async post() {
      const browser = await logIn(app.send, email);
      await browser.send('/profile/delete', { form: { intent: 'delete' } });
      return browser.send(`/profile/delete?next=${next}`, { form: { intent: 'keep' } });
    },
  },
  'profile/authenticator': {
    goesTo: launch,
    async post() {
      const browser = await logIn(app.send, email);
      return browser.send(`/profile/authenticator?next=${next}`, { form: { intent: 'go-on' } });
    },
  },
  continue: {
    goesTo: launch,
    async post() {
      const browser = openBrowser(app.send);
      const asked = await browser.send(
        await buildHandOff(app, { id: 'on-the-way', returnTo: launch }, new Date(at)),
      );
      return browser.send(pathOf(locationOf(asked)), { form: {} });
    },
  },
  logout: {
    goesTo: '/logout?client=shop&return_to=/bye?x=1%26y=ü',
    async post() {
      const browser = await logIn(app.send, email);
      const query = new URLSearchParams({ client: 'shop', return_to: '/bye?x=1&y=ü' });
      return browser.send(`/logout?${query}`, { form: {} });
    },
  },
};

describe('a form that goes on to a client leads to the page in between first', () => {
  it.each(Object.entries(forms))('%s', async (_name, { goesTo, post }) => {
    expect(leadOf(await post())).toEqual(goTo(goesTo));
  });
});

/** Pages that have nothing to ask. A form can lead to each of them if something happened in another tab. */
const pages: Record<string, { as: string; path: string }> = {
  login: { as: email, path: `/login?next=${next}` },
  signup: { as: email, path: `/signup?sent&next=${next}` },
  'verify-email': { as: email, path: `/verify-email?next=${next}` },
  'verify-email/confirm': { as: email, path: `/verify-email/confirm?token=x&next=${next}` },
  'profile/delete': { as: email, path: `/profile/delete?next=${next}` },
  'profile/connected': { as: email, path: `/profile/connected?next=${next}` },
};

describe('a page with nothing to ask leads there, too', () => {
  it.each(Object.entries(pages))('%s', async (_name, { as, path }) => {
    const browser = await logIn(app.send, as);
    expect(leadOf(await browser.send(path))).toEqual(goTo(launch));
    const clicked = { 'sec-fetch-mode': 'navigate', 'sec-fetch-user': '?1' };
    expect(leadOf(await browser.send(path, { headers: clicked }))).toEqual(goTo(launch));
    // The browser goes back, or reloads.
    const back = await browser.send(path, { headers: { 'sec-fetch-mode': 'navigate' } });
    expect(leadOf(back)).toEqual([303, `${goTo(launch)[1]}&stay`]);
  });
});

it('what goes on to a page of ours goes there at once', async () => {
  for (const path of [
    '/profile/data',
    '/logout',
    '/sso/launch/nobody',
    '/logout?client=nobody',
    '/sso/profile',
  ])
    expect(
      leadOf(
        await openBrowser(app.send).login(email, undefined, `/login?${new URLSearchParams({ next: path })}`),
      ),
    ).toEqual([303, path]);
});

describe('/go', () => {
  const open = (path: string, options?: Parameters<Browser['send']>[1]) =>
    app.send(`/go?${new URLSearchParams({ next: path })}`, options);

  it('leads on by a header and by a link, and is kept nowhere', async () => {
    const answer = await open(launch);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('refresh')).toBe(`0; url=${launch}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(textOf(answer)).toContain('Continue to Shop');
    expect(answer.text).toContain(`href="${launch.replace('&', '&amp;')}"`);
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self';");
  });

  it('leads back from a logout, as far as the client', async () => {
    const path = pathOf(
      new URL(locationOf((await forms.logout?.post()) as Answer).searchParams.get('next') ?? '', shop),
    );
    const answer = await open(path);
    expect(answer.headers.get('refresh')).toBe(`0; url=${path}`);
    expect(textOf(answer)).toContain('Back to Shop');
    expect(leadOf(await app.send(path))).toEqual([303, `${shop}/bye?x=1&y=%C3%BC`]);
  });

  it('leads as far with the longest path that a client may name', async () => {
    const browser = await logIn(app.send, email);
    for (const returnTo of [`/${'%'.repeat(1_500)}`, `/${'ü'.repeat(2_047)}`, `/${'& +#'.repeat(500)}x`]) {
      const query = new URLSearchParams({ client: 'shop', return_to: returnTo });
      const posted = await browser.send(`/logout?${query}`, { form: {} });
      const answer = await app.send(posted.headers.get('location') ?? '');
      const path = /^0; url=(\/.*)$/.exec(answer.headers.get('refresh') ?? '')?.[1] ?? '';
      const direct = await app.send(`/logout?${query}`);
      expect(direct.headers.get('location')).toContain(shop);
      expect(leadOf(await app.send(path))).toEqual(leadOf(direct));
    }
  });

  it('waits for a click where somebody has come back, and begins anew with it', async () => {
    const browser = await logIn(app.send, email);
    const answer = await browser.send(`/go?next=${next}&stay`);
    expect([answer.status, answer.headers.get('refresh')]).toEqual([200, null]);
    expect(answer.text).toContain('href="/sso/launch/shop"');
    expect(answer.text).not.toContain('state=s');
  });

  it('leads nobody on who has not clicked (contract 9.195)', async () => {
    for (const options of [{ method: 'HEAD' }, { headers: { 'sec-purpose': 'prefetch;prerender' } }]) {
      const answer = await open(launch, options);
      expect([answer.status, answer.headers.get('refresh'), answer.text]).toEqual([204, null, '']);
    }
  });

  it.each(
    quoted([
      undefined,
      '',
      '/',
      '/profile',
      '/login?next=%2Fsso%2Flaunch%2Fshop',
      '/go?next=%2Fsso%2Flaunch%2Fshop',
      '/sso/launch/',
      '/sso/launch/nobody',
      '/sso/launch/constructor',
      '/sso/launch/shop/',
      '/sso/launch/shop/x',
      '/sso/launch/%',
      '/sso/launch//shop',
      '/sso/launch/shop\r\nSet-Cookie: a=b',
      '//evil.example/sso/launch/shop',
      '/\\evil.example/sso/launch/shop',
      `${shop}/sso/launch/shop`,
      'http://localhost:3000/sso/launch/shop',
      'javascript:alert(1)',
      '0; url=https://evil.example',
      '/logout',
      '/logout?return_to=/a',
      '/logout?client=nobody',
      '/logout?client=shop&client=shop',
      '/logout?client=shop&return_to=//evil.example',
      '/logout?client=shop&return_to=https://evil.example/',
      '/logout.data?client=shop',
      '/sso/marketplace/callback',
      `/sso/launch/shop?return_to=/${'x'.repeat(9_000)}`,
    ]),
  )('leads not to %s', async (_, path) => {
    const query = path === undefined ? '' : `?${new URLSearchParams({ next: path })}`;
    const answer = await app.send(`/go${query}`);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    expect([answer.headers.get('refresh'), answer.headers.get('location')]).toEqual([null, null]);
  });

  it('knows a client however the path is spelt', async () => {
    for (const path of ['/sso/launch/%73hop', '/x/../sso/launch/shop'])
      expect((await open(path)).headers.get('refresh')).toMatch(/^0; url=\/sso\/launch\/(shop|%73hop)$/);
    const answer = await open('/sso/launch/shop?return_to=/ä"<>\u2028');
    expect(answer.headers.get('refresh')).toMatch(/^[\x21-\x7e]+ url=[\x21-\x7e]+$/);
  });
});
