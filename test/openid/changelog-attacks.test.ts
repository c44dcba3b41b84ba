// The changelog of `oidc-provider` from 9.0.0 to 9.13.3, read as a list of attacks: each fault that was repaired there and could be
// here is tried here. Names begin with the version and the word of the changelog. Left out is what we do not have: registration of
// clients by themselves (and client metadata documents), DPoP, mTLS, attestations, CIBA, device flow, pushed and signed requests,
// rich authorization requests, resource indicators, refresh tokens, introspection, revocation, verifiable credentials and FAPI.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findClientRow, lockClients } from '../../db/tables/clients.ts';
import { turnOff } from '../../server/clients/rows.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { type Browser, openBrowser, textOf } from '../support/app/visitor.ts';
import { countRows } from '../support/database/database.ts';
import {
  addOpenIdClient,
  alterJwt,
  authorizePath,
  basic,
  decodeJwt,
  exchange,
  getCode,
  logInTo,
  logoutPath,
  type Parameters,
  readJwks,
  readUserinfo,
  sentBack,
  tokensOf,
  visit,
} from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let ahead = 0;
const app = shared(async () => {
  const opened = await openApp({ now: () => new Date(Date.now() + ahead) });
  const client = await addOpenIdClient(opened, { postLogoutUris: ['https://wiki.example.test/out'] });
  const open = await addOpenIdClient(opened, { auth: 'none' });
  return { ...opened, client, open };
});

/** A browser of somebody new who is logged in. */
async function openSession(): Promise<Browser> {
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  return openBrowser(app.send, cookie);
}

const refusalOf = (answer: Answer) => [answer.status, JSON.parse(answer.text).error];
const codeFor = async (parameters: Parameters = {}, client = app.client) =>
  getCode(await openSession(), client, parameters);

describe('client-auth', () => {
  const encoded = () => basic(app.client.name, app.client.secret).slice('Basic '.length);

  it.each<[string, (right: string) => string]>([
    ['a character in it that base64 does not have', (right) => `${right.slice(0, 8)}*${right.slice(8)}`],
    ['a space in it', (right) => `${right.slice(0, 8)} ${right.slice(8)}`],
    ['a tab in it', (right) => `${right.slice(0, 8)}\t${right.slice(8)}`],
    ['padding in the middle', (right) => `${right.slice(0, 8)}=${right.slice(8)}`],
    ['more padding than it needs', (right) => `${right.replace(/=*$/, '')}====`],
    ['letters after the padding', (right) => `${right.replace(/=*$/, '')}==AAAA`],
    ['a second word', (right) => `${right} ${right}`],
    ['a comma', (right) => `${right},${right}`],
  ])('9.11.4, loosely decoded Basic credentials: %s', async (_, spoil) => {
    const code = await codeFor();
    const headers = { authorization: `Basic ${spoil(encoded())}` };
    const answer = await exchange(app, app.client, code, { headers });
    expect(refusalOf(answer)).toEqual([401, 'invalid_client']);
    tokensOf(await exchange(app, app.client, code));
  });

  it.each<[string, string]>([
    ['letters of two bytes', 'é'.repeat(43)],
    ['letters of four bytes', '😀'.repeat(43)],
    ['one half of a letter', '\ud800'.repeat(43)],
    ['no letters', ''],
    ['a null byte', '\0'],
    ['10,000 letters', 'x'.repeat(10_000)],
    ['percent signs', '%zz%'],
  ])('9.11.5, a comparison that throws: a secret of %s', async (_, secret) => {
    const raw = `Basic ${Buffer.from(`${app.client.name}:${secret}`).toString('base64')}`;
    for (const authorization of [basic(app.client.name, secret), raw]) {
      const answer = await exchange(app, app.client, 'x', { headers: { authorization } });
      expect(refusalOf(answer)).toEqual([401, 'invalid_client']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic\b/);
    }
    const form = { client_secret: secret };
    const posted = await exchange(app, app.client, 'x', { by: 'post', form });
    // An empty field is no secret.
    expect(posted.status, posted.text).toBeGreaterThanOrEqual(400);
    expect(['invalid_client', 'invalid_request']).toContain(JSON.parse(posted.text).error);
  });

  it('9.12.0, a decision that is no boolean: a client without a secret cannot be one with a secret', async () => {
    const code = await codeFor({}, app.open);
    const headers = { authorization: basic(app.open.name, app.open.secret) };
    const answer = await exchange(app, app.client, code, { by: 'none' });
    expect(refusalOf(answer)).toEqual([401, 'invalid_client']);
    expect((await exchange(app, app.open, code, { by: 'none' })).status).toBe(200);
    expect((await exchange(app, app.client, code, { headers })).status).toBeGreaterThanOrEqual(400);
  });
});

describe('requests', () => {
  const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', '0', ''];

  it.each(odd)('9.11.4, payloads of models: the name %j of JavaScript itself', async (name) => {
    const browser = await openSession();
    for (const parameter of ['client_id', 'redirect_uri']) {
      const answer = await browser.send(authorizePath(app.client, { [parameter]: name }));
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
    for (const parameter of ['response_type', 'scope', 'prompt', 'response_mode', 'code_challenge_method'])
      expect(sentBack(await browser.send(authorizePath(app.client, { [parameter]: name })))).toMatchObject({
        error: expect.stringMatching(/^(invalid_request|invalid_scope|unsupported_response_type)$/),
      });
    const code = await codeFor({ [name]: 'x', scope: `openid ${name || 'x'}` });
    const tokens = tokensOf(await exchange(app, app.client, code, { form: { [name]: 'x' } }));
    expect(tokens.scope).toBe('openid');
    const unknown = await exchange(app, { ...app.client, name }, 'x');
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    expect(unknown.status).toBeLessThan(500);
    const grant = await exchange(app, app.client, 'x', { form: { grant_type: name } });
    expect(['unsupported_grant_type', 'invalid_request']).toContain(JSON.parse(grant.text).error);
  });

  it('9.11.4, bodies that are no object: JSON at token is refused, whatever it is', async () => {
    const authorization = basic(app.client.name, app.client.secret);
    for (const json of [null, [], 'text', 7, { grant_type: 'authorization_code' }]) {
      const answer = await app.send('/oauth/token', { json, headers: { authorization } });
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
      expect(answer.status, answer.text).toBeLessThan(500);
    }
  });

  it.each(['openid\r\nX-Evil: 1', 'openid\tprofile', 'openid "x"', 'openid \\', 'openid\u0000', 'openid é'])(
    '9.11.4, the syntax of scopes: %j reaches no header and no token',
    async (scope) => {
      const answer = await (await openSession()).send(authorizePath(app.client, { scope }));
      expect(answer.headers.get('x-evil')).toBe(null);
      const { code, error } = sentBack(answer);
      if (code === undefined) return expect(['invalid_scope', 'invalid_request']).toContain(error);
      expect(tokensOf(await exchange(app, app.client, code)).scope).toBe('openid');
    },
  );

  it('9.11.3, members without a value: no answer has a word for nothing', async () => {
    const client = await addOpenIdClient(app, { pkce: 'optional' });
    const browser = await openSession();
    const asked = await browser.send(authorizePath(client, { state: undefined, scope: 'profile' }));
    expect(Object.keys(sentBack(asked)).sort()).toEqual(['error', 'error_description', 'iss']);
    const given = await browser.send(authorizePath(client, { state: undefined }));
    expect(Object.keys(sentBack(given)).sort()).toEqual(['code', 'iss']);
    const page = await browser.send(authorizePath(client, { state: undefined, response_mode: 'form_post' }));
    expect(page.text).not.toMatch(/name="state"|undefined/);
    const code = await getCode(browser, client, { nonce: undefined });
    const answer = await exchange(app, client, code);
    expect(answer.text).not.toMatch(/undefined|null/);
    expect(decodeJwt(tokensOf(answer).id_token).payload).not.toHaveProperty('nonce');
  });

  it('9.11.2, parameters of one grant in another: none widens what a code gives', async () => {
    const code = await codeFor();
    const form = { scope: 'openid email groups', resource: 'x', audience: 'x', claims: '{}', nonce: 'x' };
    const tokens = tokensOf(await exchange(app, app.client, code, { form }));
    expect(tokens.scope).toBe('openid');
    expect(decodeJwt(tokens.id_token).payload).toMatchObject({ nonce: 'the nonce', aud: app.client.name });
    expect(JSON.parse((await readUserinfo(app, tokens.access_token)).text)).not.toHaveProperty('email');
  });

  it('9.11.2, parameters that are sent twice, a thousand times over: refused, and cheap', async () => {
    const started = performance.now();
    const many = '&state=x'.repeat(900);
    const answer = await (await openSession()).send(`${authorizePath(app.client)}${many}`);
    expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
    expect(sentBack(answer)).not.toHaveProperty('state');
    const names = Array.from({ length: 900 }, (_, at) => `&a${at}=x`).join('');
    expect(sentBack(await (await openSession()).send(`${authorizePath(app.client)}${names}`))).toHaveProperty(
      'code',
    );
    // A busy machine needs a few times as long.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('9.11.2, what is kept without a bound: clients that do not exist leave nothing', async () => {
    const tables = ['oidc_grants', 'oidc_keys', 'launches', 'audit_events', 'rate_limits'];
    const count = () => Promise.all(tables.map((table) => countRows(app.db, table)));
    const before = await count();
    for (let at = 0; at < 20; at++) {
      await app.send(authorizePath({ ...app.client, name: `nobody_${at}` }));
      await exchange(app, { ...app.client, name: `nobody_${at}` }, 'x');
      await exchange(app, app.client, `x${at}`);
      await readUserinfo(app, `x${at}`);
    }
    expect(await count()).toEqual(before);
  });

  it('9.11.1, dpop_jkt and DPoP: neither changes a token', async () => {
    const code = await codeFor({ dpop_jkt: 'x'.repeat(43) });
    const answer = await exchange(app, app.client, code, {
      headers: { dpop: 'x.y.z', authorization: basic(app.client.name, app.client.secret) },
    });
    const { access_token, token_type } = tokensOf(answer);
    expect(token_type).toBe('Bearer');
    const headers = { authorization: `DPoP ${access_token}` };
    expect((await app.send('/oauth/userinfo', { headers })).status).toBe(401);
  });

  it('9.7.0, addresses that are fetched: a request_uri is not', async () => {
    let calls = 0;
    const server = createServer((_, response) => {
      calls++;
      response.end();
    });
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/`;
    for (const name of ['request_uri', 'sector_identifier_uri', 'client_uri', 'logo_uri', 'web_message_uri'])
      await (await openSession()).send(authorizePath(app.client, { [name]: address }));
    const jku = alterJwt(
      (await logInTo(app, app.client, { browser: await openSession() })).tokens.id_token,
      {},
      { jku: address },
    );
    await (await openSession()).send(authorizePath(app.client, { id_token_hint: jku }));
    // A client whose name is the URL of its metadata.
    await app.send(authorizePath({ ...app.client, name: address }));
    expect(calls).toBe(0);
    await new Promise((closed) => server.close(closed));
  });
});

describe('tokens', () => {
  it('9.11.1, claims of the effective scope: each token has its own', async () => {
    const browser = await openSession();
    const wide = await logInTo(app, app.client, {
      browser,
      parameters: { scope: 'openid profile email groups' },
    });
    const narrow = await logInTo(app, app.client, { browser });
    const read = async (token: string) =>
      Object.keys(JSON.parse((await readUserinfo(app, token)).text)).sort();
    const claims = ['email', 'email_verified', 'groups', 'name', 'preferred_username', 'sub', 'updated_at'];
    expect(await read(wide.tokens.access_token)).toEqual(claims);
    expect(await read(narrow.tokens.access_token)).toEqual(['sub']);
    for (const name of claims.slice(0, 5)) {
      expect(wide.claims).toHaveProperty(name);
      expect(narrow.claims).not.toHaveProperty(name);
    }
  });

  it('9.11.2, what has expired: a code after a minute, a token after twelve hours', async () => {
    try {
      const [early, late] = [await codeFor(), await codeFor()];
      ahead += 55_000;
      const { access_token } = tokensOf(await exchange(app, app.client, early));
      ahead += 10_000;
      expect(refusalOf(await exchange(app, app.client, late))).toEqual([400, 'invalid_grant']);
      expect((await readUserinfo(app, access_token)).status).toBe(200);
      ahead += 12 * 60 * 60 * 1_000;
      expect((await readUserinfo(app, access_token)).status).toBe(401);
    } finally {
      ahead = 0;
    }
  });

  it('9.8.6, revoking without a grant: a code used twice ends its own token alone', async () => {
    const browser = await openSession();
    const first = await logInTo(app, app.client, { browser });
    const second = await logInTo(app, app.client, { browser });
    await exchange(app, app.client, first.code);
    await exchange(app, app.client, 'a code that nobody has made');
    await exchange(app, app.client, '');
    expect((await readUserinfo(app, first.tokens.access_token)).status).toBe(401);
    expect((await readUserinfo(app, second.tokens.access_token)).status).toBe(200);
  });

  it('9.8.3, the key that signs: its kid is in the JWKS once, and every other kid, too (9.0.0)', async () => {
    const { tokens } = await logInTo(app, app.client, { browser: await openSession() });
    const kids = (await readJwks(app)).map(({ kid }) => kid);
    expect(kids.filter((kid) => kid === decodeJwt(tokens.id_token).header.kid)).toHaveLength(1);
    expect(new Set(kids).size).toBe(kids.length);
  });

  it('9.1.3, one subject: ID token, userinfo and the profile here name the same person', async () => {
    const browser = await openSession();
    const { claims, tokens } = await logInTo(app, app.client, { browser });
    expect(claims.sub).toBe(await browser.whoseId());
    expect(JSON.parse((await readUserinfo(app, tokens.access_token)).text).sub).toBe(claims.sub);
  });

  it('9.0.0, random identifiers: a code and a token have 256 bits, and no two are alike', async () => {
    const browser = await openSession();
    const all = await Promise.all(Array.from({ length: 4 }, () => logInTo(app, app.client, { browser })));
    const words = all.flatMap(({ code, tokens }) => [code, tokens.access_token]);
    for (const word of words) expect(word).toMatch(/^[A-Za-z0-9_-]{43,}$/);
    expect(new Set(words).size).toBe(words.length);
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['nothing', null],
    ['a text', 'text'],
    ['a number', 7],
  ])('9.11.4, strict decoders: a hint whose claims are %s is refused', async (_, claims) => {
    const { tokens } = await logInTo(app, app.client, { browser: await openSession() });
    const [header, , signature] = tokens.id_token.split('.');
    const id_token_hint = [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join(
      '.',
    );
    const answer = await (await openSession()).send(authorizePath(app.client, { id_token_hint }));
    expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
    expect((await app.send(logoutPath({ id_token_hint }))).status).toBe(400);
  });

  it.each<[string, unknown]>([
    ['a list with our client in it', (name: string) => [name, 'x']],
    ['a list of lists', (name: string) => [[name]]],
    ['an object', () => ({})],
    ['nothing', () => undefined],
  ])('9.11.4, members of aud: a hint whose aud is %s is refused', async (_, make) => {
    const { tokens } = await logInTo(app, app.client, { browser: await openSession() });
    const aud = (make as (name: string) => unknown)(app.client.name);
    const id_token_hint = alterJwt(tokens.id_token, { aud });
    const answer = await (await openSession()).send(authorizePath(app.client, { id_token_hint }));
    expect(sentBack(answer)).toMatchObject({ error: 'invalid_request' });
    expect((await app.send(logoutPath({ id_token_hint }))).status).toBe(400);
  });
});

describe('answers', () => {
  it('9.11.4, origins that are null: no answer but discovery and keys may be read', async () => {
    const { tokens } = await logInTo(app, app.client, { browser: await openSession() });
    const headers = { origin: 'null', authorization: `Bearer ${tokens.access_token}` };
    const allowed = async (path: string, method = 'GET') =>
      (await app.send(path, { headers, method })).headers.get('access-control-allow-origin');
    for (const path of ['/oauth/authorize', '/oauth/userinfo', '/oauth/logout'])
      expect(await allowed(path)).toBe(null);
    expect(await allowed('/oauth/token', 'POST')).toBe(null);
    for (const path of ['/.well-known/openid-configuration', '/oauth/jwks'])
      expect(await allowed(path)).toBe('*');
  });

  it.each([
    '"><script>alert(1)</script>',
    '\'"&<>`',
    '</form><form action="https://evil.example">',
    '\u2028',
  ])('9.8.2 and 9.8.5, markup in what was sent: %j stays text', async (text) => {
    const browser = await openSession();
    const html = { headers: { accept: 'text/html' } };
    const page = await browser.send(
      authorizePath(app.client, { state: text, response_mode: 'form_post' }),
      html,
    );
    expect(page.text).not.toContain(text.includes('<') ? text : '<script>alert');
    const value = /name="state"[^>]* value="([^"]*)"/.exec(page.text)?.[1];
    expect(textOf({ ...page, text: `<p>${value?.replaceAll('&#39;', "'")}</p>` }).trim()).toBe(
      text.replace('\u2028', '').trim(),
    );
    for (const parameters of [{ client_id: text }, { redirect_uri: text }]) {
      const refused = await browser.send(authorizePath(app.client, parameters), html);
      expect(refused.status).toBe(400);
      if (text.includes('<')) expect(refused.text).not.toContain(text);
    }
    const leaving = await browser.send(logoutPath({ client_id: text, state: text }), html);
    if (text.includes('<')) expect(leaving.text).not.toContain(text);
  });

  it.each(['x"y', 'x\\y', 'x",error="insufficient_scope', 'x\u007fy'])(
    '9.0.0, quotes and backslashes: the token %j leaves WWW-Authenticate as it is',
    async (token) => {
      const answer = await readUserinfo(app, token);
      expect(answer.status).toBe(401);
      const header = answer.headers.get('www-authenticate') ?? '';
      expect(header).toMatch(/^Bearer\b/);
      expect(header).not.toContain(token);
      expect(header).not.toContain('insufficient_scope');
    },
  );

  it('9.0.0, no access token: 401 and a bare challenge', async () => {
    const answer = await app.send('/oauth/userinfo');
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('9.2.0, two documents of metadata: both are the same', async () => {
    const [one, other] = await Promise.all(
      ['openid-configuration', 'oauth-authorization-server'].map((name) => app.send(`/.well-known/${name}`)),
    );
    expect(JSON.parse(one?.text ?? '')).toEqual(JSON.parse(other?.text ?? 'null'));
  });
});

describe('addresses and logout', () => {
  it.each(['http://localhost:4000/callback', 'http://127.0.0.1:4000/callback', 'http://[::1]:4000/callback'])(
    '9.11.4 and 9.4.2, ports of this machine: %s counts with its own port alone',
    async (redirectUri) => {
      const client = await addOpenIdClient(app, {
        redirectUris: [redirectUri],
        postLogoutUris: [redirectUri],
      });
      const browser = await openSession();
      const { tokens } = await logInTo(app, client, { browser });
      for (const other of [
        redirectUri.replace(':4000', ':4001'),
        redirectUri.replace(':4000', ''),
        redirectUri.replace(':4000', ':04000'),
      ]) {
        const asked = await browser.send(authorizePath(client, { redirect_uri: other }));
        expect([asked.status, asked.headers.get('location')]).toEqual([400, null]);
        const query = { id_token_hint: tokens.id_token, post_logout_redirect_uri: other };
        expect((await browser.send(logoutPath(query))).status).toBe(400);
      }
    },
  );

  it('9.9.1, a client that is gone: its hint and its name end no logout of others with a fault', async () => {
    const gone = await addOpenIdClient(app, { postLogoutUris: ['https://gone.example.test/out'] });
    const browser = await openSession();
    const { tokens } = await logInTo(app, gone, { browser });
    const stays = await logInTo(app, app.client, { browser });
    await inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
      await lockClients(trx);
      const row = await findClientRow(trx, { issuer: app.config.issuer, name: gone.name });
      if (row) await turnOff(trx, { config: app.config, now: () => new Date() }, row);
    });
    await vi.waitFor(async () => expect((await app.send(authorizePath(gone))).status).toBe(400), {
      timeout: 15_000,
      interval: 50,
    });
    const query = {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: 'https://gone.example.test/out',
    };
    expect((await browser.send(logoutPath(query))).status).toBe(400);
    expect((await readUserinfo(app, tokens.access_token)).status).toBe(401);
    // The person and other clients are not touched. A logout that does not name the client works.
    expect((await readUserinfo(app, stays.tokens.access_token)).status).toBe(200);
    const { answer } = await visit(app, browser, logoutPath({ id_token_hint: stays.tokens.id_token }));
    expect(answer.status).toBe(200);
    expect((await browser.send('/sso/profile')).status).toBe(401);
    expect((await readUserinfo(app, stays.tokens.access_token)).status).toBe(401);
  });
});
