// What refusals say to people (contract 9.85): words that fit, where to get help, and who is logged in.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp, openProductionApp, type TestApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { openAway } from '../support/faults/away.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const html = { accept: 'text/html' };

let customer: string;
const app = shared(openApp);
beforeAll(async () => {
  customer = await app.login('customer@example.test');
});

describe('a hand-off with a wrong time says what is wrong with it', () => {
  const seconds = (from: number) => new Date(Date.now() + from * 1_000);

  it('that it is too old, or that a clock is wrong (contract 9.337)', async () => {
    const path = await buildHandOff(app, { id: 'm-old' }, seconds(-3_600));
    expect(await refusalOf(path)).toMatch(/too old: it was valid.* a clock is wrong, there or here/);
  });

  it('that it is dated in the future', async () => {
    const path = await buildHandOff(app, { id: 'm-early' }, seconds(120));
    expect(await refusalOf(path)).toMatch(/dated in the future.* a clock is wrong/);
  });

  it('that the profile was changed in the future, and not that anything has expired', async () => {
    const path = await buildHandOff(app, { id: 'm-tomorrow', profileUpdatedAt: seconds(86_400) });
    expect(await refusalOf(path)).toMatch(/profile was changed in the future/);
  });

  it('that it would be valid for too long', async () => {
    const other = await app.startInstance({ env: { MARKETPLACE_SSO_TTL: '30' } });
    const { text } = await other.send(await buildHandOff(app, { id: 'm-long' }), { headers: html });
    expect(text).toMatch(/would be valid for too long, or for no time at all/);
  });

  /** Returns the words of a refusal, which are the same for programs and people. The words never say "expired". */
  async function refusalOf(path: string): Promise<string> {
    const [problem, page] = [await app.send(path), await app.send(path, { headers: html })];
    const { code, detail } = JSON.parse(problem.text);
    expect([problem.status, code, page.status]).toEqual([401, 'payload_expired', 401]);
    expect(textOf(page)).toContain(detail);
    expect(textOf(page).replace('payload_expired', '')).not.toContain('expired');
    expect(detail).not.toMatch(/\d{4}|signature|secret|iat|exp\b/);
    return detail;
  }
});

it('a suspended person who comes by hand-off reads nothing about a password', async () => {
  await handOver(app, { id: 'm-suspended' });
  await sql`update users set suspended_at = now() where email = 'm-suspended@example.test'`.execute(app.db);
  const page = await handOver(app, { id: 'm-suspended' }, { headers: html });
  expect(page.status).toBe(403);
  expect(textOf(page)).toContain('Your account is suspended');
  expect(textOf(page)).not.toMatch(/password|typed|entered/i);
});

describe('"Contact support"', () => {
  const suspended = { email: 'suspended@example.test', password: 'local demo password' };

  it.each(['mailto:help@example.test?subject=Login', 'https://help.example.test/?from=identity&page=1'])(
    'leads to %s where that is set',
    async (supportUrl) => {
      const { send } = await app.startInstance({ env: { IDENTITY_SUPPORT_URL: supportUrl } });
      const link = ` href="${supportUrl.replaceAll('&', '&amp;')}">Contact support</a>`;
      for (const page of [
        await send('/login', { form: suspended, headers: html }),
        await send('/problems/account_suspended'),
        await send('/problems/email_in_use'),
      ])
        expect(page.text).toContain(link);
      expect((await send('/nowhere', { headers: html })).text).not.toContain('Contact support');
      const { detail } = JSON.parse((await send('/login', { form: suspended })).text);
      expect(detail).toContain('Contact support for help.');
    },
  );

  it('is left out where it is not: there is nobody to contact', async () => {
    for (const page of [
      await app.send('/login', { form: suspended, headers: html }),
      await app.send('/problems/account_suspended'),
      await app.send('/problems/email_in_use'),
      await app.send('/take-back?token=none'),
    ]) {
      expect(page.status).toBeOneOf([200, 403, 404]);
      expect(textOf(page)).not.toMatch(/contact support/i);
    }
    expect(textOf(await app.send('/problems/account_suspended'))).toContain(
      'You cannot log in while your account is suspended.',
    );
  });
});

describe('a refusal leads on to one thing that works (contract 9.198)', () => {
  const suspended = { email: 'suspended@example.test', password: 'local demo password' };
  const launch = `?next=${encodeURIComponent('/sso/launch/crm_app?state=s')}`;

  /** Returns the links of the card, the button first: the text and the target of each. */
  async function linksOf(page: Awaited<ReturnType<TestApp['send']>>) {
    const [actions = ''] = /<div class="actions">.*?<\/div>/s.exec(page.text) ?? [];
    const links = [...actions.matchAll(/href="([^"]*)">([^<]*)</g)];
    return links.map(([, href, label]) => [label, href?.replaceAll('&amp;', '&')]);
  }

  it('a suspended person to another account, to the product that sent them, or to the support', async () => {
    const refuse = (send: TestApp['send'], query = '') =>
      send(`/login${query}`, { form: suspended, headers: html });
    expect(await linksOf(await refuse(app.send))).toEqual([
      ['Log in with another account', '/login?prompt=login'],
    ]);
    expect(await linksOf(await refuse(app.send, launch))).toEqual([['Back to CRM app', '/demo/crm_app']]);
    const { send } = await app.startInstance({
      env: {
        IDENTITY_SUPPORT_URL: 'https://help.example.test/',
        SSO_CRM_CALLBACK_URL: 'https://crm.localhost/auth/callback?x=1',
        SSO_CRM_LOGIN_URL: 'https://crm.localhost/login',
        SSO_CRM_SECRET: 'a-secret-of-the-test-with-more-than-32-characters',
      },
    });
    expect(await linksOf(await refuse(send, launch))).toEqual([
      ['Contact support', 'https://help.example.test/'],
      ['Back to CRM app', 'https://crm.localhost/'],
    ]);
    // These URLs lead to no product of ours, so the page names none.
    for (const next of ['https://evil.example', '/sso/launch/evil', '//evil.example', '/\\evil'])
      expect(await linksOf(await refuse(app.send, `?next=${encodeURIComponent(next)}`))).toHaveLength(1);
  });

  it('a hand-off that has expired, was used, or is for nobody, back to the marketplace', async () => {
    const old = await buildHandOff(app, { id: 'm-too-old' }, new Date(Date.now() - 3_600_000));
    for (const path of [old, '/sso/marketplace/callback?payload=x&signature=y', '/continue?id=none'])
      expect(await linksOf(await app.send(path, { headers: html }))).toEqual([
        ['Back to Marketplace', '/demo/marketplace'],
      ]);
  });

  it('an administrator who comes by hand-off to the login here', async () => {
    await handOver(app, { id: 'm-admin' });
    await sql`update users set role = 'admin' where email = 'm-admin@example.test'`.execute(app.db);
    expect(await linksOf(await handOver(app, { id: 'm-admin' }, { headers: html }))).toEqual([
      ['Log in here', '/login?prompt=login'],
      ['Back to Marketplace', '/demo/marketplace'],
    ]);
  });
});

describe('the page of a 404', () => {
  it.each(['/nowhere', '/sso/launch/nobody', '/problems/nonsense', '/demo/nobody'])(
    'at %s shows who is logged in, and a way to log out',
    async (path) => {
      const page = await app.send(path, { cookie: customer, headers: html });
      expect(page.status).toBe(404);
      expect(page.text).toContain('<span class="visitor-email">customer@example.test</span>');
      expect(page.text).toContain('action="/logout"');
      expect((await app.send(path, { headers: html })).text).not.toContain('class="visitor"');
    },
  );

  it('shows nobody once the session has ended', async () => {
    const cookie = await app.login('merchant@example.test');
    await app.send('/logout', { method: 'POST', cookie });
    expect((await app.send('/nowhere', { cookie, headers: html })).text).not.toContain('merchant@');
  });

  it('shows nobody while the database is away, and is a 404 still; the page of a 503 reads nothing', async () => {
    const away = await openAway();
    away.wire.cut();
    const page = await away.ask('/nowhere', { headers: html });
    expect(page.status).toBe(404);
    expect(page.text).toContain('<h1>Page not found</h1>');
    expect(page.text).not.toContain('class="visitor"');
    const refused = await away.ask('/profile', { headers: html });
    expect([refused.status, refused.text.includes('visitor')]).toEqual([503, false]);
    away.wire.restore();
    await away.close();
  });
});

it('a refusal that is no 404 shows nobody', async () => {
  const live = await openProductionApp();
  const cookie = await live.login('customer@example.test');
  for (const [path, options] of [
    ['/logout', { method: 'POST', headers: { ...html, origin: 'https://evil.example' } }],
    ['/sso/launch/marketplace?state=', { headers: html }],
  ] as const)
    expect((await live.send(path, { cookie, ...options })).text).not.toContain('customer@');
  await live.close();
});
