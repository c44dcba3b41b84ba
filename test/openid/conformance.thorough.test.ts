// What the OpenID Foundation’s conformance suite does to a provider, by the names of its modules: the plans Basic, Config, RP-Initiated
// Logout and Back-Channel Logout, with a client that is known beforehand (`static_client`). One module sends neither a nonce nor a
// challenge, so the client is a row with the `pkce` `state-only`. Modules that the plan leaves out for such a client are here as far as
// they say something about us.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { demoPassword, seedDemoUsers } from '../../server/doors/demo/demo-users.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, openApp, type TestApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  alterJwt,
  authorizePath,
  challengeOf,
  decodeJwt,
  exchange,
  logoutPath,
  type OpenIdClient,
  type Parameters,
  readJwks,
  readUserinfo,
  rightRequest,
  sentBack,
  tokensOf,
  verifier,
  verifyJwt,
  visit,
} from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

let now = new Date();
beforeEach(() => {
  now = new Date();
});
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};

const email = 'customer@example.test';
const origin = 'https://suite.example.test';

type Plan = TestApp & { client: OpenIdClient; second: OpenIdClient };

async function openPlan(): Promise<Plan> {
  const app = await openApp({ env: production, now: () => now });
  await seedDemoUsers(app.db, await hashPassword(demoPassword), new Date());
  const add = (path: string) =>
    addOpenIdClient(app, {
      pkce: 'state-only',
      redirectUris: [`${origin}${path}/callback`],
      postLogoutUris: [`${origin}${path}/post_logout_redirect`],
    });
  return { ...app, client: await add('/first'), second: await add('/second') };
}

const plan = shared(openPlan);

/** The request that most modules send. */
const plain = { code_challenge: undefined, code_challenge_method: undefined };
const withoutVerifier = { code_verifier: undefined };

const ask = async (browser: Browser, parameters: Parameters = {}, client = plan.client) =>
  (await visit(plan, browser, authorizePath(client, { ...plain, ...parameters }))).answer;

const errorOf = (answer: Answer) => sentBack(answer).error;

/** One authorization, with what the suite checks each time. Somebody logs in if the browser is new. */
async function authorize({
  browser = openBrowser(plan.send),
  client = plan.client,
  by = 'basic',
  ...parameters
}: {
  browser?: Browser;
  client?: OpenIdClient;
  by?: 'basic' | 'post';
  parameters?: Parameters;
} = {}) {
  const asked: Parameters = { ...rightRequest(client), ...plain, ...parameters.parameters };
  const answer = await ask(browser, asked, client);
  const back = sentBack(answer);
  expect(back).toEqual({ code: expect.any(String), state: asked.state, iss: plan.config.issuer });
  // The code has at least 128 bits: `EnsureMinimumAuthorizationCodeEntropy`.
  expect(back.code).toMatch(/^[A-Za-z0-9_-]{22,}$/);
  const token = await exchange(plan, client, back.code ?? '', { by, form: withoutVerifier });
  expect(token.headers.get('content-type')).toContain('application/json');
  const tokens = tokensOf(token);
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) });
  const { header, payload } = await verifyJwt(plan, tokens.id_token);
  const seconds = Math.floor(now.getTime() / 1_000);
  expect(payload).toMatchObject({ iss: plan.config.issuer, aud: client.name });
  expect(payload.nonce).toBe(asked.nonce);
  expect(payload.sub).toMatch(/^[\x20-\x7e]{1,255}$/);
  expect(Math.abs(payload.iat - seconds)).toBeLessThan(60);
  expect(payload.exp).toBeGreaterThan(seconds);
  return { browser, code: back.code ?? '', tokens, header, claims: payload };
}

/** With `parameters` in the only authorization of a new browser. */
const authorizeWith = (parameters: Parameters, more: { browser?: Browser } = {}) =>
  authorize({ parameters, ...more });

const userinfoOf = async (accessToken: string) => {
  const answer = await readUserinfo(plan, accessToken);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('application/json'),
  ]);
  return JSON.parse(answer.text);
};

/** An error page: nobody is led to the client. */
const expectErrorPage = (answer: Answer) =>
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);

describe('oidcc-basic-certification-test-plan', () => {
  it('oidcc-server', async () => {
    const { tokens, claims } = await authorize();
    const digest = createHash('sha256').update(tokens.access_token).digest();
    expect(claims.at_hash).toBe(digest.subarray(0, 16).toString('base64url'));
    // Claims that nobody asked for would be a warning.
    const known = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'amr', 'at_hash', 'sid'];
    expect(Object.keys(claims).filter((name) => !known.includes(name))).toEqual([]);
    expect(await userinfoOf(tokens.access_token)).toEqual({ sub: claims.sub });
    // The module then does the same as the second client.
    await authorize({ client: plan.second });
  });

  it('oidcc-response-type-missing', async () => {
    const back = sentBack(await ask(openBrowser(plan.send), { response_type: undefined }));
    expect(back).toMatchObject({ state: 'the state', iss: plan.config.issuer });
    expect(['unsupported_response_type', 'invalid_request']).toContain(back.error);
  });

  it('oidcc-idtoken-signature, although a known client has no algorithm to choose', async () => {
    const { header } = await authorize();
    expect(header).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
  });

  it('oidcc-idtoken-unsigned: discovery lists no algorithm "none", which skips the module', async () => {
    expect((await readDiscovery()).id_token_signing_alg_values_supported).toEqual(['RS256']);
  });

  it('oidcc-userinfo-get', async () => {
    const { tokens, claims } = await authorize();
    expect((await userinfoOf(tokens.access_token)).sub).toBe(claims.sub);
  });

  it('oidcc-userinfo-post-header', async () => {
    const { tokens, claims } = await authorize();
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'sec-fetch-site': 'cross-site' };
    const answer = await plan.send('/oauth/userinfo', { method: 'POST', headers });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { sub: claims.sub }]);
  });

  it('oidcc-userinfo-post-body: a refusal is a warning, because no provider has to take such a token', async () => {
    const { tokens } = await authorize();
    const body = new URLSearchParams({ access_token: tokens.access_token });
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await plan.send('/oauth/userinfo', { method: 'POST', body, headers });
    expect(answer.status).toBe(401);
  });

  it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { claims } = await authorizeWith({ nonce: undefined });
    expect(claims).not.toHaveProperty('nonce');
  });

  it.each([
    ['oidcc-scope-profile', 'openid profile', ['name', 'updated_at']],
    ['oidcc-scope-email', 'openid email', ['email', 'email_verified', 'preferred_username']],
    ['oidcc-scope-address', 'openid address', []],
    ['oidcc-scope-phone', 'openid phone', []],
    [
      'oidcc-scope-all',
      'openid email phone address profile',
      ['name', 'updated_at', 'email', 'email_verified', 'preferred_username'],
    ],
    ['oidcc-alternate-happy-flow', 'email openid', ['email', 'email_verified', 'preferred_username']],
  ])('%s', async (_, scope, names) => {
    const { tokens } = await authorizeWith({ scope });
    expect(Object.keys(await userinfoOf(tokens.access_token)).sort()).toEqual(['sub', ...names].sort());
  });

  it.each([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-login-hint', { login_hint: email }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['oidcc-claims-essential', { claims: '{"userinfo":{"name":{"essential":true}}}' }],
  ])('%s', async (_, parameters) => {
    await authorizeWith(parameters);
  });

  it('oidcc-prompt-login', async () => {
    const first = await authorize();
    later(1);
    const path = authorizePath(plan.client, { ...plain, prompt: 'login' });
    expect((await first.browser.send(path)).headers.get('location')).toMatch(/^\/login\?prompt=login&/);
    const second = await authorizeWith({ prompt: 'login' }, first);
    expect(second.claims.auth_time).toBeGreaterThan(first.claims.auth_time);
    expect(second.claims.sub).toBe(first.claims.sub);
  });

  it('oidcc-prompt-none-not-logged-in', async () => {
    const state = 'x'.repeat(128);
    const back = sentBack(await ask(openBrowser(plan.send), { prompt: 'none', state }));
    expect(back).toEqual({
      error: 'login_required',
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      state,
      iss: plan.config.issuer,
    });
  });

  it.each([
    ['oidcc-prompt-none-logged-in', {}, { prompt: 'none' }],
    ['oidcc-max-age-10000', { max_age: '15000' }, { max_age: '10000' }],
  ])('%s', async (_, before, after) => {
    const first = await authorizeWith(before);
    later(2);
    const second = await authorizeWith(after, first);
    const { sub, auth_time } = first.claims;
    expect(second.claims).toMatchObject({ sub, auth_time });
    expect(auth_time).toEqual(expect.any(Number));
  });

  it('oidcc-max-age-1', async () => {
    const first = await authorize();
    later(2);
    const second = await authorizeWith({ max_age: '1' }, first);
    expect(second.claims.auth_time).toBeGreaterThan(first.claims.auth_time);
    expect(Math.floor(now.getTime() / 1_000) - second.claims.auth_time).toBeLessThan(5);
  });

  it('a max_age of 0, which no module has, means prompt=login, even within the second of the login (Contract 14.28)', async () => {
    const browser = await logIn(plan.send, email);
    const path = authorizePath(plan.client, { ...plain, max_age: '0' });
    expect((await browser.send(path)).headers.get('location')).toMatch(/^\/login\?prompt=login&/);
    expect(errorOf(await ask(browser, { prompt: 'none', max_age: '0' }))).toBe('login_required');
    await authorizeWith({ max_age: '0' }, { browser });
  });

  it('oidcc-id-token-hint', async () => {
    const first = await authorize();
    const id_token_hint = first.tokens.id_token;
    const second = await authorizeWith({ prompt: 'none', id_token_hint }, first);
    expect(second.claims).toMatchObject({ sub: first.claims.sub, auth_time: first.claims.auth_time });
  });

  it.each([
    ['oidcc-codereuse', 0],
    ['oidcc-codereuse-30seconds', 30],
  ])('%s', async (_, seconds) => {
    const { code, tokens } = await authorize();
    later(seconds);
    const again = await exchange(plan, plan.client, code, { form: withoutVerifier });
    expect([again.status, JSON.parse(again.text).error]).toEqual([400, 'invalid_grant']);
    expect((await readUserinfo(plan, tokens.access_token)).status).toBe(401);
  });

  it('oidcc-ensure-registered-redirect-uri', async () => {
    const browser = openBrowser(plan.send);
    expectErrorPage(await ask(browser, { redirect_uri: `${plan.client.redirectUri}/bad` }));
  });

  it('oidcc-ensure-post-request-succeeds', async () => {
    const browser = await logIn(plan.send, email);
    const form = new URLSearchParams(rightRequest(plan.client));
    for (const name of Object.keys(plain)) form.delete(name);
    // A form on another site sends no cookie of ours.
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await plan.send('/oauth/authorize', { method: 'POST', body: form, headers });
    const { answer: last } = await visit(plan, browser, answer.headers.get('location') ?? '');
    expect(sentBack(last)).toMatchObject({ code: expect.any(String), state: 'the state' });
  });

  it('oidcc-server-client-secret-post', async () => {
    await authorize({ by: 'post' });
  });

  it.each([
    [
      'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
      { request_uri: `${origin}/request` },
      'request_uri_not_supported',
    ],
    [
      'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
      { request: 'eyJhbGciOiJub25lIn0.e30.' },
      'request_not_supported',
    ],
  ])('%s', async (_, parameters, error) => {
    expect(errorOf(await ask(openBrowser(plan.send), parameters))).toBe(error);
  });

  it('oidcc-ensure-request-object-with-redirect-uri', async () => {
    const parameters = { request: 'eyJhbGciOiJub25lIn0.e30.', redirect_uri: `${origin}/invalid` };
    expectErrorPage(await ask(openBrowser(plan.send), parameters));
  });

  it('oidcc-refresh-token: the answer has none, which skips the module', async () => {
    const { tokens } = await authorize();
    expect(tokens).not.toHaveProperty('refresh_token');
    const { grant_types_supported, scopes_supported } = await readDiscovery();
    expect(grant_types_supported).toEqual(['authorization_code']);
    expect(scopes_supported).not.toContain('offline_access');
  });

  it('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const browser = openBrowser(plan.send);
    const challenge = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
    const { code = '' } = sentBack(await ask(browser, challenge));
    tokensOf(await exchange(plan, plan.client, code));
  });
});

const readDiscovery = async () => JSON.parse((await plan.send('/.well-known/openid-configuration')).text);

/** `CheckDiscEndpointAllEndpointsAreHttps` */
const expectHttps = (discovered: Record<string, unknown>) => {
  const addresses = Object.entries(discovered).filter(([name]) => /_endpoint$|_uri$|^issuer$/.test(name));
  expect(addresses.length).toBeGreaterThan(5);
  for (const [, address] of addresses) expect(address).toMatch(/^https:\/\//);
};

describe('oidcc-config-certification-test-plan', () => {
  it('oidcc-discovery-endpoint-verification', async () => {
    const answer = await plan.send('/.well-known/openid-configuration');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
    const discovered = JSON.parse(answer.text);
    expectHttps(discovered);
    const { issuer } = plan.config;
    // The document is at the issuer's URL, and names the issuer byte for byte.
    expect(discovered).toMatchObject({
      issuer,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
      scopes_supported: expect.arrayContaining(['openid']),
      claims_supported: expect.arrayContaining(['sub']),
      grant_types_supported: ['authorization_code'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
      code_challenge_methods_supported: ['S256'],
    });
    for (const name of ['authorization', 'token', 'userinfo'])
      expect(new URL(discovered[`${name}_endpoint`]).origin).toBe(new URL(issuer).origin);
    const keys = await readJwks(plan);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String) });
      // The document has no private part of the key.
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    }
  });
});

const loggedOut = 'You have logged out.';

/** Authorizes one time, and then builds the path of the logout. */
async function start() {
  const { browser, tokens, claims } = await authorize();
  const right: Parameters = {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: `${origin}/first/post_logout_redirect`,
    state: 'y'.repeat(128),
  };
  const leave = (parameters: Parameters) => visit(plan, browser, logoutPath({ ...right, ...parameters }));
  /** The suite’s last request of a logout. It shows whether somebody is still logged in. */
  const isLoggedIn = async () => errorOf(await ask(browser, { prompt: 'none' })) !== 'login_required';
  /** Presses the button if there is one. */
  const confirm = async (page: Awaited<ReturnType<typeof leave>>) => {
    expect(page.answer.status).toBe(200);
    expect(textOf(page.answer)).toContain('Log out?');
    expect(await isLoggedIn()).toBe(true);
    return visit(plan, browser, page.path, { form: {} });
  };
  return { browser, claims, right, leave, isLoggedIn, confirm };
}

/** The answer must not lead back to the suite. */
const expectNoWayBack = (answer: Answer) =>
  expect(answer.headers.get('location') ?? answer.headers.get('refresh') ?? '').not.toContain(origin);

describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
  it('oidcc-rp-initiated-logout-discovery-endpoint-verification', async () => {
    const discovered = await readDiscovery();
    expectHttps(discovered);
    expect(discovered.end_session_endpoint).toBe(`${plan.config.issuer}/oauth/logout`);
  });

  it.each([
    ['oidcc-rp-initiated-logout', {}, { state: 'y'.repeat(128) }],
    ['oidcc-rp-initiated-logout-no-state', { state: undefined }, {}],
  ])('%s', async (_, parameters, expected) => {
    const { right, leave, isLoggedIn } = await start();
    const { answer } = await leave(parameters);
    const to = new URL(answer.headers.get('location') ?? answer.headers.get('refresh')?.slice(7) ?? '');
    expect(to.origin + to.pathname).toBe(right.post_logout_redirect_uri);
    expect(Object.fromEntries(to.searchParams)).toEqual(expected);
    expect(await isLoggedIn()).toBe(false);
  });

  it.each([
    ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', { post_logout_redirect_uri: `${origin}/bad` }],
    [
      'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
      { post_logout_redirect_uri: `${origin}/first/post_logout_redirect?foo=bar` },
    ],
  ])('%s', async (_, parameters) => {
    const { leave, isLoggedIn } = await start();
    expectErrorPage((await leave(parameters)).answer);
    expect(await isLoggedIn()).toBe(true);
  });

  it('oidcc-rp-initiated-logout-modified-id-token-hint', async () => {
    const { right, leave, isLoggedIn } = await start();
    const altered = alterJwt(right.id_token_hint ?? '', {}, { alg: 'none' });
    const unsigned = altered.replace(/[^.]*$/, '');
    expect(decodeJwt(unsigned).header.alg).toBe('none');
    for (const id_token_hint of [unsigned, altered]) expectErrorPage((await leave({ id_token_hint })).answer);
    expect(await isLoggedIn()).toBe(true);
  });

  it('oidcc-rp-initiated-logout-bad-id-token-hint', async () => {
    const { right, leave, isLoggedIn } = await start();
    const forged = alterJwt(right.id_token_hint ?? '', { sub: 'somebody' }, { kid: 'of-the-suite' });
    expectErrorPage((await leave({ id_token_hint: forged })).answer);
    expect(await isLoggedIn()).toBe(true);
  });

  it('oidcc-rp-initiated-logout-no-id-token-hint', async () => {
    const { leave, isLoggedIn } = await start();
    const { answer } = await leave({ id_token_hint: undefined });
    expectNoWayBack(answer);
    expect(await isLoggedIn()).toBe(true);
  });

  it.each([
    [
      'oidcc-rp-initiated-logout-no-params',
      { id_token_hint: undefined, post_logout_redirect_uri: undefined, state: undefined },
    ],
    [
      'oidcc-rp-initiated-logout-only-state',
      { id_token_hint: undefined, post_logout_redirect_uri: undefined },
    ],
  ])('%s', async (_, parameters) => {
    const { leave, confirm, isLoggedIn } = await start();
    const { answer } = await confirm(await leave(parameters));
    expectNoWayBack(answer);
    expect(textOf(answer)).toContain(loggedOut);
    expect(await isLoggedIn()).toBe(false);
  });

  it('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', async () => {
    const { leave, isLoggedIn } = await start();
    const { answer } = await leave({ post_logout_redirect_uri: undefined });
    expectNoWayBack(answer);
    expect(textOf(answer)).toContain(loggedOut);
    expect(await isLoggedIn()).toBe(false);
  });
});

/** The suite’s own server. It accepts every logout token. */
async function openSuite() {
  const received: { type: string; form: Record<string, string> }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const form = Object.fromEntries(new URLSearchParams(body));
    received.push({ type: request.headers['content-type'] ?? '', form });
    response.writeHead(200, { 'cache-control': 'no-store' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  return { received, uri: `http://127.0.0.1:${port}/backchannel_logout`, close };
}

describe('oidcc-backchannel-rp-initiated-logout-certification-test-plan', () => {
  // In production, the service sends no request to this machine.
  const local = shared(openApp);
  const suite = shared(openSuite);

  it('oidcc-backchannel-logout-discovery-endpoint-verification', async () => {
    const discovered = await readDiscovery();
    expectHttps(discovered);
    expect(discovered).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      end_session_endpoint: expect.stringMatching(/^https:/),
    });
  });

  it('oidcc-backchannel-rp-initiated-logout', async () => {
    const back = `${origin}/post_logout_redirect`;
    const client = await addOpenIdClient(local, {
      pkce: 'state-only',
      postLogoutUris: [back],
      backChannelUri: suite.uri,
    });
    const browser = await logIn(local.send, email);
    const { code = '' } = sentBack(await browser.send(authorizePath(client, plain)));
    const { id_token } = tokensOf(await exchange(local, client, code, { form: withoutVerifier }));
    const { payload: claims } = decodeJwt(id_token);
    const query = { id_token_hint: id_token, post_logout_redirect_uri: back, state: 'z' };
    const { answer } = await visit(local, browser, logoutPath(query));
    expect(answer.headers.get('location') ?? answer.headers.get('refresh')).toContain(`${back}?state=z`);
    await expect.poll(() => suite.received.length).toBe(1);
    const [{ type, form } = { type: '', form: {} }] = suite.received;
    expect(type).toMatch(/^application\/x-www-form-urlencoded\b/);
    expect(Object.keys(form)).toEqual(['logout_token']);
    const { header, payload } = await verifyJwt(local, form.logout_token ?? '');
    expect(header.typ).toBe('logout+jwt');
    expect(payload).toEqual({
      iss: local.config.issuer,
      aud: client.name,
      sub: claims.sub,
      sid: claims.sid,
      iat: expect.any(Number),
      exp: payload.iat + 120,
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(300);
    const silent = await browser.send(authorizePath(client, { ...plain, prompt: 'none' }));
    expect(errorOf(silent)).toBe('login_required');
  });
});
