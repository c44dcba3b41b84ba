// What products read before they log anybody in (contract 14.1, 14.2 and 14.10 to 14.16).
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { codeOf, openApp } from '../support/app/app.ts';
import { addOpenIdClient, authorizePath, logInTo, readJwks } from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const documents = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth/jwks',
];
const form = { a: 'b' };
const requests = [
  ...documents.map((path) => [path, {}] as const),
  ...documents.map((path) => [path, { method: 'HEAD' }] as const),
  ['/oauth/authorize', {}],
  ['/oauth/authorize?client_id=x', { headers: { accept: 'text/html' } }],
  ['/oauth/authorize', { form }],
  ['/oauth/authorize', { method: 'HEAD' }],
  ['/oauth/token', { form }],
  ['/oauth/userinfo', {}],
  ['/oauth/userinfo', { form }],
  ['/oauth/userinfo', { headers: { authorization: 'Bearer x' } }],
] as const;

async function expectNotConfigured() {
  for (const [path, options] of requests) {
    const answer = await app.send(path, options);
    expect([answer.status, answer.headers.get('cache-control')], path).toEqual([404, 'no-store']);
    if (answer.headers.get('content-type') === 'application/problem+json' && answer.text)
      expect(codeOf(answer)).toBe('not_configured');
    expect(answer.headers.get('access-control-allow-origin')).toBe(null);
  }
}

it('without a row of kind openid that is on, each path is 404 not_configured (Contract 14.2)', async () => {
  await expectNotConfigured();
  const client = await addOpenIdClient(app);
  expect((await app.send(documents[0] ?? '')).status).toBe(200);
  await sql`update clients set off_at = now() where name = ${client.name}`.execute(app.db);
  await expect.poll(async () => (await app.send(documents[0] ?? '')).status, { timeout: 15_000 }).toBe(404);
  await expectNotConfigured();
});

it('discovery names what is here and nothing else (Contract 14.10 and 14.14 to 14.16)', async () => {
  await addOpenIdClient(app);
  const [one, same, keys] = await Promise.all(
    documents.map((path) => app.send(path, { headers: { origin: 'https://wiki.example.test' } })),
  );
  for (const answer of [one, same, keys]) {
    expect(answer?.status).toBe(200);
    expect(answer?.headers.get('content-type')).toBe('application/json');
    expect(answer?.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer?.headers.getSetCookie()).toEqual([]);
  }
  expect(same?.text).toBe(one?.text);
  const { issuer, baseUrl } = app.config;
  expect(JSON.parse(one?.text ?? '')).toEqual({
    issuer,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
    end_session_endpoint: `${baseUrl}/oauth/logout`,
    jwks_uri: `${baseUrl}/oauth/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['openid', 'profile', 'email', 'groups'],
    claims_supported: [
      ...[
        'sub',
        'iss',
        'aud',
        'exp',
        'iat',
        'sid',
        'auth_time',
        'amr',
        'nonce',
        'at_hash',
        'name',
        'updated_at',
      ],
      ...['email', 'email_verified', 'preferred_username', 'groups'],
    ],
    prompt_values_supported: ['none', 'login', 'select_account', 'consent'],
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
  });
  for (const path of documents) {
    expect((await app.send(path, { form })).status).toBe(405);
    expect((await app.send(path, { method: 'HEAD' })).status).toBe(200);
  }
});

it('the JWKS shows public keys alone (Contract 14.86)', async () => {
  await addOpenIdClient(app);
  const keys = await readJwks(app);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    expect(key).toEqual({
      kty: 'RSA',
      n: expect.any(String),
      e: 'AQAB',
      kid: expect.any(String),
      use: 'sig',
      alg: 'RS256',
    });
    expect(Buffer.from(key.n, 'base64url')).toHaveLength(256);
  }
  expect(new Set(keys.map(({ n }) => createHash('sha256').update(n).digest('hex'))).size).toBe(keys.length);
});

it('a row of kind openid has none of the paths of the hand-off, and the reverse (Contract 14.1)', async () => {
  const client = await addOpenIdClient(app);
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  const launch = await app.send(`/sso/launch/${client.name}`, { cookie });
  expect([launch.status, codeOf(launch)]).toEqual([404, 'unknown_client']);
  const token = await sign(client.secret, `identity events v1 ${client.name}`);
  const { tokens } = await logInTo(app, client);
  for (const each of [token, tokens.access_token, client.secret]) {
    const answer = await app.send('/sso/events', { headers: { authorization: `Bearer ${each}` } });
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_token']);
  }
  const handOff = await app.send(authorizePath({ ...client, name: 'marketplace' }), { cookie });
  expect([handOff.status, codeOf(handOff)]).toEqual([400, 'invalid_request']);
});
