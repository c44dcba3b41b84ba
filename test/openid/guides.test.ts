// The guides of docs/openid.md, as a document and on the page of a client (contract 14.90 to 14.92).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { fillIn } from '../../app/components/staff/openid-guide.tsx';
import type { ClientFacts } from '../../db/tables/clients.ts';
import { openApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { addOpenIdClient } from '../support/openid/client.ts';
import { addStaff, formsOf, why } from '../support/people/staff.ts';
import { productSamples } from '../support/project/samples.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp());

let cookie: string;
beforeEach(async () => {
  ({ cookie } = await addStaff(app));
});

const redirectUris = ['http://localhost:4000/login/generic_oauth', 'http://localhost:4000/again'];
const add = async (facts: Partial<ClientFacts> = {}) =>
  (await addOpenIdClient(app, { redirectUris, ...facts })).name;

const open = (name: string) => app.send(`/admin/clients/${name}`, { cookie });
const guidesOf = (html: string) =>
  [
    ...html.matchAll(
      /<summary[^>]*>([^<]*)<\/summary><div[^>]*><div class="guide">([\s\S]*?)<\/div><\/div>/g,
    ),
  ].map(([, title, text = '']) => ({ title, text }));

describe('the page of a client of the kind openid', () => {
  it('has the issuer, each address, and the guides with its own values (contract 14.90)', async () => {
    const name = await add();
    const answer = await open(name);
    const base = app.config.baseUrl;
    for (const shown of [
      ...[name, base, `${base}/.well-known/openid-configuration`],
      ...['authorize', 'token', 'userinfo', 'logout', 'jwks'].map((path) => `${base}/oauth/${path}`),
    ])
      expect(answer.text).toContain(`<dd><code>${shown}</code></dd>`);
    const guides = guidesOf(answer.text);
    expect(guides.map(({ title }) => title)).toEqual([
      'Grafana',
      'GitLab',
      'Nextcloud',
      'Apache',
      'Anything else',
    ]);
    for (const { text } of guides) {
      expect(text).toContain(base);
      expect(text).toContain(name);
      expect(text).toContain('SECRET');
      expect(text).not.toMatch(/example\.com|\bCLIENT_ID\b|undefined/);
    }
    expect(guides[0]?.text).toContain(`client_id = ${name}\nclient_secret = SECRET\n`);
    expect(guides[0]?.text).toContain('root_url = http://localhost:4000/\n');
    expect(answer.text).not.toContain('identity-client-php.zip');
    for (const shown of ['http://localhost:4000/again', 'Redirect URIs'])
      expect(textOf(answer)).toContain(shown);
  });

  it('has the secret only in the answer that makes it (contract 13.111 and 14.90)', async () => {
    const name = await add();
    const [, form] = [...formsOf(await open(name))].find(([key]) => key.startsWith('rotate-client')) ?? [];
    const answer = await app.send(`/admin/clients/${name}`, { cookie, form: { ...form, why } });
    const secrets = answer.text.match(/idsec_[A-Za-z0-9_-]{49}/g) ?? [];
    expect(new Set(secrets).size).toBe(1);
    for (const { text } of guidesOf(answer.text)) {
      expect(text).toContain(secrets[0]);
      expect(text).not.toMatch(/\bSECRET\b/);
    }
    expect((await open(name)).text).not.toContain('idsec_');
  });

  it('warns while the product sends no challenge, and says since when it does (contract 14.91)', async () => {
    expect(textOf(await open(await add()))).not.toContain('challenge since');
    const name = await add({ pkce: 'state-only' });
    const without = textOf(await open(name));
    expect(without).toContain('The product sends no challenge.');
    await sql`update clients set challenge_at = '2031-05-06T07:08:09Z' where name = ${name}`.execute(app.db);
    const since = await open(name);
    expect(textOf(since)).toContain('has sent a challenge since');
    expect(since.text).toContain('2031-05-06T07:08:09');
  });

  it('asks for no secret that the product cannot show', async () => {
    const name = await add({ auth: 'none' });
    const answer = textOf(await open(name));
    expect(answer).not.toContain('Put the secret in place of');
    expect(answer).toContain('None, so PKCE is required');
  });
});

describe('a guide', () => {
  const html = '<code>https://wiki.example.com https://id.example.com CLIENT_ID SECRET OIDC_CLIENT_ID</code>';
  const baseUrl = 'https://id.example.org';
  const fill = (origin: string, secret?: string) =>
    fillIn(html, { client: { name: 'wiki', callbackUrl: `${origin}/callback` }, baseUrl, secret });

  it('gets the values of the client, and of the service', () => {
    expect(fill('https://w.example.org:8443', 'idsec_x')).toBe(
      `<code>https://w.example.org:8443 ${baseUrl} wiki idsec_x OIDC_CLIENT_ID</code>`,
    );
    expect(fill('https://w.example.org')).toContain(' SECRET ');
  });

  it.each([
    "https://a'b.example.org",
    'https://a$(id).example.org',
    'https://a&b.example.org',
    'https://a;b.org',
  ])('keeps its example in place of %s, because people paste it into a shell (contract 14.92)', (origin) => {
    expect(fill(origin)).toContain('<code>https://wiki.example.com ');
  });

  it('names no address or scope that is not there', () => {
    expect(productSamples).toHaveLength(3);
    for (const { code } of productSamples) {
      expect(code.match(/\bCLIENT_ID\b/g)?.length).toBeGreaterThan(0);
      expect(code.match(/\bSECRET\b/g)).toHaveLength(1);
      const paths = [...code.matchAll(/https:\/\/id\.example\.com(\/[\w./-]*)/g)].map(([, path]) => path);
      for (const path of paths)
        expect(path).toMatch(
          /^\/(?:oauth\/(?:authorize|token|userinfo|logout)|\.well-known\/openid-configuration)$/,
        );
      const [, scopes = ''] = /scopes?\W+(openid.*)/i.exec(code) ?? [];
      expect(scopes.match(/\w+/g)).toEqual(['openid', 'profile', 'email', 'groups']);
    }
  });
});
