// The operator's names for this service and its clients, and the links of pages for people who need help.
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const named = {
  IDENTITY_NAME: 'Zoë’s ID',
  SSO_MARKETPLACE_TITLE: 'Grand <Bazaar>',
  IDENTITY_SUPPORT_URL: 'mailto:help@example.test',
  IDENTITY_PRIVACY_URL: 'https://example.test/privacy?a=1&b=2',
  IDENTITY_TERMS_URL: 'https://example.test/terms',
  IDENTITY_ACCESSIBILITY_URL: 'https://example.test/accessibility',
  IDENTITY_SECURITY_CONTACT: 'mailto:security@example.test',
};

const app = shared(openApp);
const other = shared(() => app.startInstance({ env: named }));

const html = { accept: 'text/html' };

describe('a page', () => {
  it('has the name of the service in its title and above it', async () => {
    for (const [path, title] of [
      ['/login', 'Log in'],
      ['/forgot-password', 'Set or reset your password'],
      ['/nowhere', 'Page not found'],
    ] as const) {
      const { text } = await other.send(path, { headers: html });
      expect(text, path).toContain(`<title>${title} · Zoë’s ID</title>`);
      expect(text, path).toMatch(/<a class="brand" href="\/">(?:<img [^>]*>)?Zoë’s ID<\/a>/);
      expect(text, path).not.toContain('Identity');
    }
  });

  it('is called Identity where nothing else is said', async () => {
    expect((await app.send('/login')).text).toContain('<title>Log in · Identity</title>');
  });

  it('names the client that somebody comes from as the operator does', async () => {
    const { text } = await other.send('/login?next=/sso/launch/marketplace');
    expect(text).toContain('Continue to Grand &lt;Bazaar&gt;');
  });

  it('leads to help, privacy, terms and accessibility if they are set, and has no foot if none is', async () => {
    for (const path of ['/login', '/nowhere']) {
      const { text } = await other.send(path, { headers: html });
      const foot = /<footer class="foot">(.*?)<\/footer>/s.exec(text)?.[1];
      const hrefs = [...(foot ?? '').matchAll(/href="([^"]*)">([^<]*)</g)].map(([, href, words]) => [
        href,
        words,
      ]);
      expect(hrefs).toEqual([
        ['mailto:help@example.test', 'Help'],
        ['https://example.test/privacy?a=1&amp;b=2', 'Privacy'],
        ['https://example.test/terms', 'Terms'],
        ['https://example.test/accessibility', 'Accessibility'],
      ]);
    }
    expect((await app.send('/login')).text).not.toContain('<footer');
  });
});

describe('/.well-known', () => {
  it('leads to the form for the password (contract 9.138)', async () => {
    const answer = await app.send('/.well-known/change-password');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/profile/security#password');
  });

  it('names the pages of passkeys (contract 9.361)', async () => {
    const answer = await app.send('/.well-known/passkey-endpoints');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(JSON.parse(answer.text)).toEqual({
      enroll: 'http://localhost:3000/profile/passkeys/add',
      manage: 'http://localhost:3000/profile/passkeys',
    });
  });

  it('says where to report a weakness, for half a year', async () => {
    const answer = await other.send('/.well-known/security.txt');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const fields = new Map(
      answer.text
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ', 2) as [string, string]),
    );
    expect(fields.get('Contact')).toBe('mailto:security@example.test');
    expect(fields.get('Canonical')).toMatch(/\/\.well-known\/security\.txt$/);
    const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(179);
    expect(days).toBeLessThan(181);
  });

  it('has no security.txt without a contact', async () => {
    const answer = await app.send('/.well-known/security.txt');
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_configured' });
  });
});
