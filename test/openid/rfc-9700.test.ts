// The rules of RFC 9700 (Best Current Practice for OAuth 2.0 Security) that a service like ours must keep, by section. The list with
// the rules that do not apply is docs/security/openid.md.
import { createHmac, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { type Answer, codeOf, openApp, targetOf } from '../support/app/app.ts';
import { type Browser, logIn, openBrowser } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  alterJwt,
  authorizePath,
  basic,
  challengeOf,
  decodeJwt,
  exchange,
  getCode,
  logInTo,
  logoutPath,
  type OpenIdClient,
  type Parameters,
  readJwks,
  readUserinfo,
  rightRequest,
  sentBack,
  tokensOf,
  verifier,
} from '../support/openid/client.ts';
import { addresses } from '../support/openid/compared.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const wayBack = 'https://wiki.example.test/out';

async function openServices() {
  const app = await openApp();
  const add = (facts: { pkce?: string; auth?: string } = {}) =>
    addOpenIdClient(app, { postLogoutUris: [wayBack], ...facts });
  const [required, optional, stateOnly, open] = await Promise.all([
    add(),
    add({ pkce: 'optional' }),
    add({ pkce: 'state-only' }),
    add({ auth: 'none' }),
  ]);
  return { ...app, clients: { required, optional, stateOnly, public: open } };
}

const app = shared(openServices);
type Kind = keyof (typeof app)['clients'];
const kinds: Kind[] = ['required', 'optional', 'stateOnly', 'public'];
const methodOf = (kind: Kind) => (kind === 'public' ? 'none' : 'basic');

const plain = { code_challenge: undefined, code_challenge_method: undefined };

/** A browser with a session of its own, of somebody new. */
async function openSession(): Promise<Browser> {
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  return openBrowser(app.send, cookie);
}

const errorOf = (answer: Answer): string => JSON.parse(answer.text).error;
const expectGrantRefused = (answer: Answer) =>
  expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
const expectPage = (answer: Answer, status = 400) =>
  expect([answer.status, answer.headers.get('location'), codeOf(answer)]).toEqual([
    status,
    null,
    'invalid_request',
  ]);

describe('2.1 and 4.1: an address', () => {
  it.each(Object.entries(addresses))('%s gets no code and no error', async (_, by) => {
    const browser = await openSession();
    const redirect_uri = by(app.clients.required.redirectUri);
    expectPage(await browser.send(authorizePath(app.clients.required, { redirect_uri })));
    const asked = authorizePath(app.clients.required, { redirect_uri, prompt: 'none' });
    expectPage(await openBrowser(app.send).send(asked));
  });

  it('of another client gets no code and no error', async () => {
    const { redirectUri: redirect_uri } = app.clients.optional;
    expectPage(await (await openSession()).send(authorizePath(app.clients.required, { redirect_uri })));
  });

  it('that is not the one of the code gets no token', async () => {
    const [first, second] = ['https://two.example.test/a', 'https://two.example.test/b'] as const;
    const client = await addOpenIdClient(app, { redirectUris: [first, second] });
    const code = await getCode(await openSession(), client, { redirect_uri: second });
    expectGrantRefused(await exchange(app, client, code, { form: { redirect_uri: first } }));
    tokensOf(await exchange(app, client, code, { form: { redirect_uri: second } }));
  });
});

describe('2.1 and 4.4: mix-up', () => {
  it('is seen by clients, because every answer names us', async () => {
    const { issuer: iss } = app.config;
    const browser = await openSession();
    const client = app.clients.required;
    expect(sentBack(await browser.send(authorizePath(client)))).toMatchObject({ iss });
    const wrong = authorizePath(client, { scope: 'profile' });
    expect(sentBack(await browser.send(wrong))).toMatchObject({ error: 'invalid_scope', iss });
    const silent = authorizePath(client, { prompt: 'none' });
    expect(sentBack(await openBrowser(app.send).send(silent))).toMatchObject({
      error: 'login_required',
      iss,
    });
    const page = await browser.send(authorizePath(client, { response_mode: 'form_post' }));
    expect(page.text).toMatch(new RegExp(`name="iss"[^>]*value="${iss}"`));
    const { text } = await app.send('/.well-known/openid-configuration');
    expect(JSON.parse(text)).toMatchObject({
      issuer: iss,
      authorization_response_iss_parameter_supported: true,
    });
  });
});

describe('2.1.1 and 4.8: a challenge', () => {
  it.each(kinds)('that was sent is enforced (%s)', async (kind) => {
    const client = app.clients[kind];
    const by = methodOf(kind);
    const code = await getCode(await openSession(), client);
    for (const code_verifier of [undefined, `${verifier.slice(1)}x`, challengeOf(verifier)])
      expectGrantRefused(await exchange(app, client, code, { by, form: { code_verifier } }));
    tokensOf(await exchange(app, client, code, { by }));
  });

  it.each(['required', 'public'] as const)('cannot be left out (%s)', async (kind) => {
    const answer = await (await openSession()).send(authorizePath(app.clients[kind], plain));
    expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
    expect(sentBack(answer)).not.toHaveProperty('code');
  });

  it.each(['optional', 'stateOnly'] as const)(
    'that an attacker took out of the request makes the verifier wrong (%s)',
    async (kind) => {
      const client = app.clients[kind];
      const code = await getCode(await openSession(), client, plain);
      expectGrantRefused(await exchange(app, client, code));
    },
  );

  it.each(kinds)('is S256, never plain (%s)', async (kind) => {
    const client = app.clients[kind];
    const browser = await openSession();
    for (const method of ['plain', undefined, 'S512']) {
      const parameters = { code_challenge_method: method };
      const answer = await browser.send(authorizePath(client, parameters));
      expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
    }
  });

  it('can be found in discovery', async () => {
    const { text } = await app.send('/.well-known/oauth-authorization-server');
    expect(JSON.parse(text).code_challenge_methods_supported).toEqual(['S256']);
  });
});

describe('2.1.1 and 4.5: a code', () => {
  it('of another client is refused, and stays with its own', async () => {
    const { required, optional } = app.clients;
    const code = await getCode(await openSession(), required);
    const form = { redirect_uri: required.redirectUri };
    expectGrantRefused(await exchange(app, optional, code, { form }));
    expectGrantRefused(await exchange(app, optional, code));
    expectGrantRefused(await exchange(app, app.clients.public, code, { by: 'none', form }));
  });

  it('that an attacker puts into the login of somebody else is refused, because the verifier is another', async () => {
    const client = app.clients.required;
    const stolen = await getCode(await openSession(), client);
    const ofVictim = 'the-verifier-in-the-session-of-somebody-else-0';
    await getCode(await openSession(), client, { code_challenge: challengeOf(ofVictim) });
    expectGrantRefused(await exchange(app, client, stolen, { form: { code_verifier: ofVictim } }));
  });

  it('that an attacker puts into the login of somebody else shows another nonce, without a challenge', async () => {
    const client = app.clients.optional;
    const stolen = await getCode(await openSession(), client, { ...plain, nonce: 'of the attacker' });
    const tokens = tokensOf(await exchange(app, client, stolen, { form: { code_verifier: undefined } }));
    expect(decodeJwt(tokens.id_token).payload.nonce).toBe('of the attacker');
  });

  it.each([
    ['optional', { ...plain, nonce: undefined }],
    ['stateOnly', { ...plain, nonce: undefined, state: undefined }],
  ] as const)('is not given to a request that nothing protects (%s)', async (kind, parameters) => {
    const answer = await (await openSession()).send(authorizePath(app.clients[kind], parameters));
    expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
  });

  it('is not used up by somebody who does not know the secret', async () => {
    const client = app.clients.required;
    const code = await getCode(await openSession(), client);
    const headers = { authorization: basic(client.name, 'a wrong secret') };
    expect((await exchange(app, client, code, { headers })).status).toBe(401);
    tokensOf(await exchange(app, client, code));
  });
});

describe('4.2.4: a code', () => {
  it('works once: a second use ends what the first one got', async () => {
    const client = app.clients.required;
    const { code, tokens } = await logInTo(app, client, { browser: await openSession() });
    const others = await logInTo(app, client, { browser: await openSession() });
    expect((await readUserinfo(app, tokens.access_token)).status).toBe(200);
    expectGrantRefused(await exchange(app, client, code));
    expect((await readUserinfo(app, tokens.access_token)).status).toBe(401);
    expect((await readUserinfo(app, others.tokens.access_token)).status).toBe(200);
  });

  it('gives at most one of 16 uses at once a token', async () => {
    const client = app.clients.required;
    const code = await getCode(await openSession(), client);
    const answers = await Promise.all(Array.from({ length: 16 }, () => exchange(app, client, code)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    for (const answer of answers.filter((each) => !given.includes(each))) expectGrantRefused(answer);
    for (const answer of given)
      expect((await readUserinfo(app, tokensOf(answer).access_token)).status).toBe(401);
  });

  it('is in no header Referer, and in no cache', async () => {
    const answer = await (await openSession()).send(authorizePath(app.clients.required));
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('2.1.2 and 2.4: a token', () => {
  it.each(['token', 'id_token', 'id_token token', 'code token', 'code id_token', 'none'])(
    'is never in the answer to a browser (%s)',
    async (response_type) => {
      const answer = await (await openSession()).send(authorizePath(app.clients.required, { response_type }));
      expect(sentBack(answer)).toMatchObject({ error: 'unsupported_response_type' });
      expect(answer.headers.get('location')).not.toMatch(/access_token|id_token=|#/);
    },
  );

  it.each(['password', 'client_credentials', 'refresh_token'])('is not given for %s', async (grant_type) => {
    const form = { grant_type, username: 'customer@example.test', password: 'local demo password' };
    const answer = await exchange(app, app.clients.required, '', { form: { ...form, code: undefined } });
    expect([answer.status, errorOf(answer)]).toEqual([400, 'unsupported_grant_type']);
  });
});

describe('2.3 and 4.10: an access token', () => {
  it('opens userinfo and nothing else', async () => {
    const { tokens } = await logInTo(app, app.clients.required, { browser: await openSession() });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await app.send('/oauth/userinfo', { headers })).status).toBe(200);
    for (const path of ['/sso/profile', '/sso/events', '/trpc/profile.get'])
      expect((await app.send(path, { headers })).status, path).toBe(401);
    for (const name of ['identity_session', '__Host-identity_session']) {
      const cookie = `${name}=${tokens.access_token}`;
      expect((await app.send('/sso/profile', { cookie })).status).toBe(401);
    }
  });

  it('is the only thing that opens userinfo', async () => {
    const client = app.clients.required;
    const browser = await openSession();
    const { tokens } = await logInTo(app, client, { browser });
    const session = browser.cookie().split('=')[1] ?? '';
    const token = await sign(client.secret, `identity events v1 ${client.name}`);
    const code = await getCode(browser, client);
    for (const other of [tokens.id_token, session, token, client.secret, code])
      expect((await readUserinfo(app, other)).status).toBe(401);
    expect((await browser.send('/oauth/userinfo')).status).toBe(401);
    for (const path of ['/sso/profile', '/sso/events']) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await app.send(path, { headers })).status, path).toBe(401);
    }
  });

  it('has only the scopes that were asked for', async () => {
    const { tokens } = await logInTo(app, app.clients.required, { browser: await openSession() });
    expect(tokens.scope).toBe('openid');
    expect(Object.keys(JSON.parse((await readUserinfo(app, tokens.access_token)).text))).toEqual(['sub']);
  });
});

describe('4.3.2: an access token in a query', () => {
  it('is not read', async () => {
    const { tokens } = await logInTo(app, app.clients.required, { browser: await openSession() });
    expect((await app.send(`/oauth/userinfo?access_token=${tokens.access_token}`)).status).toBe(401);
  });
});

describe('2.5: a client', () => {
  it('shows its secret, unless its row says that it has none', async () => {
    for (const kind of kinds) {
      const client = app.clients[kind];
      const code = await getCode(await openSession(), client);
      const answer = await exchange(app, client, code, { by: 'none' });
      expect([kind, answer.status]).toEqual([kind, kind === 'public' ? 200 : 401]);
    }
  });
});

describe('2.6: another site', () => {
  it('may not read the answers of authorize, token, userinfo and logout', async () => {
    const { tokens } = await logInTo(app, app.clients.required, { browser: await openSession() });
    for (const origin of ['https://evil.example', 'null', new URL(app.clients.public.redirectUri).origin]) {
      const headers = { origin, authorization: `Bearer ${tokens.access_token}` };
      const asked = { ...headers, 'access-control-request-method': 'POST' };
      for (const path of ['/oauth/authorize', '/oauth/token', '/oauth/userinfo', '/oauth/logout'])
        for (const options of [
          { headers },
          { headers, method: 'POST', body: new URLSearchParams() },
          { headers: asked, method: 'OPTIONS' },
        ])
          expect((await app.send(path, options)).headers.get('access-control-allow-origin')).toBe(null);
    }
  });
});

describe('4.11: open redirection', () => {
  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)'])(
    'a logout does not lead to %s',
    async (post_logout_redirect_uri) => {
      const browser = await openSession();
      const { tokens } = await logInTo(app, app.clients.required, { browser });
      const { name: client_id } = app.clients.required;
      for (const more of [{ id_token_hint: tokens.id_token }, { client_id }])
        for (const someone of [browser, openBrowser(app.send)])
          expectPage(await someone.send(logoutPath({ ...more, post_logout_redirect_uri })));
      expect((await browser.send('/sso/profile')).status).toBe(200);
    },
  );

  it('an address without a client is no way back', async () => {
    const answer = await openBrowser(app.send).send(logoutPath({ post_logout_redirect_uri: wayBack }));
    expect(answer.headers.get('location') ?? '').not.toContain('wiki.example.test');
  });

  it('/go leads to authorize of this service alone', async () => {
    const client = app.clients.required;
    for (const next of ['//evil.example/oauth/authorize', 'https://evil.example/oauth/authorize']) {
      const answer = await openBrowser(app.send).send(`/go?next=${encodeURIComponent(next)}`);
      expect(`${answer.headers.get('location')}${answer.headers.get('refresh')}`).not.toContain('evil');
    }
    const browser = openBrowser(app.send);
    const start = await browser.send(authorizePath(client));
    const login = new URL(start.headers.get('location') ?? '', app.config.baseUrl);
    const answer = await browser.login('customer@example.test', undefined, login.pathname + login.search);
    expect(targetOf(answer).pathname).toBe('/oauth/authorize');
  });
});

describe('4.12: a redirect', () => {
  it('is 303, so that no browser sends a password on', async () => {
    const client = app.clients.required;
    const browser = openBrowser(app.send);
    const start = await browser.send(authorizePath(client));
    const form = new URLSearchParams(rightRequest(client));
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answers = [
      start,
      await browser.send(authorizePath(client, { prompt: 'none' })),
      await app.send('/oauth/authorize', { method: 'POST', body: form, headers }),
      await app.send('/oauth/logout', { method: 'POST', body: new URLSearchParams(), headers }),
      await browser.login('customer@example.test', undefined, start.headers.get('location') ?? ''),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
  });
});

describe('4.16: a page', () => {
  it('is in no frame', async () => {
    const client = app.clients.required;
    const browser = await openSession();
    const html = { headers: { accept: 'text/html' } };
    const pages = [
      await browser.send(authorizePath(client, { response_mode: 'form_post' }), html),
      await browser.send(authorizePath(client, { redirect_uri: 'https://evil.example/' }), html),
      await browser.send(
        logoutPath({ post_logout_redirect_uri: 'https://evil.example/', client_id: client.name }),
        html,
      ),
      await browser.send('/logout', html),
    ];
    for (const { headers } of pages) {
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });
});

describe('what only OpenID Connect has: a hint', () => {
  /** A second service on the same database, with another issuer. */
  const other = shared(async () => ({
    ...(await app.startInstance({ env: { IDENTITY_ISSUER: 'http://127.0.0.1:3000' } })),
    db: app.db,
  }));

  it('of somebody else gets no code, and ends no session', async () => {
    const client = app.clients.required;
    const { tokens } = await logInTo(app, client, { browser: await openSession() });
    const id_token_hint = tokens.id_token;
    const victim = await openSession();
    for (const prompt of ['none', undefined]) {
      const answer = await victim.send(authorizePath(client, { id_token_hint, prompt }));
      expect(sentBack(answer)).toMatchObject({ error: 'login_required' });
    }
    const leave = { id_token_hint, post_logout_redirect_uri: wayBack };
    expect((await victim.send(logoutPath(leave))).headers.get('location') ?? '').not.toContain(wayBack);
    expect((await victim.send('/sso/profile')).status).toBe(200);
  });

  it('of another session of the same person ends no session', async () => {
    const client = app.clients.required;
    const { tokens } = await logInTo(app, client);
    const victim = await logIn(app.send, 'customer@example.test');
    await getCode(victim, client);
    await victim.send(logoutPath({ id_token_hint: tokens.id_token }));
    expect((await victim.send('/sso/profile')).status).toBe(200);
  });

  it('of another client is refused', async () => {
    const browser = await openSession();
    const { tokens } = await logInTo(app, app.clients.optional, { browser });
    const { id_token: id_token_hint } = tokens;
    const asked = await browser.send(authorizePath(app.clients.required, { id_token_hint }));
    expect(sentBack(asked)).toMatchObject({ error: 'invalid_request' });
    expectPage(await browser.send(logoutPath({ id_token_hint, client_id: app.clients.required.name })));
    expect((await browser.send('/sso/profile')).status).toBe(200);
  });

  const forgeries: Record<string, (token: string) => string | Promise<string>> = {
    'with alg none': (token) => alterJwt(token, {}, { alg: 'none' }).replace(/[^.]*$/, ''),
    'with alg none and its signature': (token) => alterJwt(token, {}, { alg: 'none' }),
    'with alg in another case': (token) => alterJwt(token, {}, { alg: 'rs256' }),
    'signed by our public key as a secret': async (token) => {
      const [jwk] = await readJwks(app);
      if (!jwk) throw new Error('no key');
      const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
      const unsigned = alterJwt(token, {}, { alg: 'HS256' }).replace(/\.[^.]*$/, '');
      return `${unsigned}.${createHmac('sha256', pem).update(unsigned).digest('base64url')}`;
    },
    'signed by the secret of the client': (token) => {
      const unsigned = alterJwt(token, {}, { alg: 'HS256' }).replace(/\.[^.]*$/, '');
      return `${unsigned}.${createHmac('sha256', app.clients.required.secret).update(unsigned).digest('base64url')}`;
    },
    'for somebody else': (token) => alterJwt(token, { sub: '01900000-0000-7000-8000-000000000005' }),
    'for another time': (token) => alterJwt(token, { exp: 9_999_999_999 }),
    'with a kid that nobody has': (token) => alterJwt(token, {}, { kid: 'other' }),
    'without a kid': (token) => alterJwt(token, {}, { kid: undefined }),
    'with a key of its own': (token) => alterJwt(token, {}, { jwk: { kty: 'oct', k: 'AAAA' } }),
    'with the address of a key': (token) => alterJwt(token, {}, { jku: 'https://evil.example/jwks' }),
    'that is critical': (token) => alterJwt(token, {}, { crit: ['exp'] }),
    'with a space in it': (token) => token.replace('.', '. '),
    'with five parts': (token) => `${token}.x.y`,
    'without a signature': (token) => token.replace(/[^.]*$/, ''),
    'of a list': (token) => `${token.split('.')[0]}.W10.${token.split('.')[2]}`,
  };

  it.each(Object.entries(forgeries))('%s is refused', async (_, forge) => {
    const client = app.clients.required;
    const browser = await openSession();
    const { tokens } = await logInTo(app, client, { browser });
    const id_token_hint = await forge(tokens.id_token);
    const asked = await browser.send(authorizePath(client, { id_token_hint }));
    expect(sentBack(asked)).toMatchObject({ error: 'invalid_request' });
    const leave: Parameters = { id_token_hint, post_logout_redirect_uri: wayBack };
    expectPage(await browser.send(logoutPath(leave)));
    expectPage(await openBrowser(app.send).send(logoutPath(leave)));
    expect((await browser.send('/sso/profile')).status).toBe(200);
  });

  it('with a kid of another issuer is refused, and each issuer shows its own keys alone', async () => {
    const { name } = app.clients.required;
    const client: OpenIdClient = await addOpenIdClient(other, { name, postLogoutUris: [wayBack] });
    const person = await addPerson(app);
    const cookies = await Promise.all([app, other].map((at) => addSession(at, person.id)));
    const [here, there] = cookies.map(({ cookie }) => cookie);
    const { tokens } = await logInTo(other, client, { browser: openBrowser(other.send, there) });
    const browser = openBrowser(app.send, here);
    const id_token_hint = tokens.id_token;
    const asked = await browser.send(authorizePath(app.clients.required, { id_token_hint }));
    expect(sentBack(asked)).toMatchObject({ error: 'invalid_request' });
    expectPage(await browser.send(logoutPath({ id_token_hint, post_logout_redirect_uri: wayBack })));
    const kids = (await Promise.all([app, other].map(readJwks))).map((keys) => keys.map(({ kid }) => kid));
    expect(kids[0]).not.toContain(decodeJwt(id_token_hint).header.kid);
    expect(kids[0]?.filter((kid) => kids[1]?.includes(kid))).toEqual([]);
  });
});

describe('a form of another site', () => {
  it('that is posted to logout or authorize reads no cookie, and changes nothing', async () => {
    const client = app.clients.required;
    const browser = await openSession();
    const { tokens } = await logInTo(app, client, { browser });
    const forms = {
      '/oauth/logout': { id_token_hint: tokens.id_token, post_logout_redirect_uri: wayBack },
      '/oauth/authorize': rightRequest(client),
    };
    for (const [path, form] of Object.entries(forms)) {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const send = (cookie?: string) =>
        app.send(path, { method: 'POST', body: new URLSearchParams(form), headers, cookie });
      const [withCookie, without] = [await send(browser.cookie()), await send()];
      expect(withCookie.status).toBe(303);
      expect(withCookie.headers.get('location')).toBe(without.headers.get('location'));
      expect(new URL(withCookie.headers.get('location') ?? '', app.config.baseUrl).pathname).toBe(path);
      expect(withCookie.headers.getSetCookie()).toEqual([]);
    }
    expect((await browser.send('/sso/profile')).status).toBe(200);
  });
});
