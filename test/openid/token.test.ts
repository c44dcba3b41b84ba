// What /oauth/token answers to a product's server (contract 14.40 to 14.51): one code gives one token, and only to the client
// for which the code was made.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findClientRow, lockClients } from '../../db/tables/clients.ts';
import { rotateSecret } from '../../server/clients/rows.ts';
import { type Answer, codeOf, openApp, type SendOptions } from '../support/app/app.ts';
import { logIn } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  basic,
  challengeOf,
  decodeJwt,
  exchange,
  getCode,
  logInTo,
  type OpenIdClient,
  type Parameters,
  readUserinfo,
  rightRequest,
  tokensOf,
  verifier,
  verifyJwt,
} from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const customer = 'customer@example.test';

let client: OpenIdClient;
let other: OpenIdClient;
let loose: OpenIdClient;
let open: OpenIdClient;
beforeAll(async () => {
  [client, other, loose, open] = await Promise.all([
    addOpenIdClient(app),
    addOpenIdClient(app, {
      redirectUris: ['https://other.example.test/cb', 'https://other.example.test/two'],
    }),
    addOpenIdClient(app, { pkce: 'optional' }),
    addOpenIdClient(app, { auth: 'none' }),
  ]);
});

/** Somebody who is logged in, and their browser. */
async function enter() {
  const person = await addPerson(app);
  const { cookie, sessionId } = await addSession(app, person.id);
  const send = (path: string, options: SendOptions = {}) => app.send(path, { cookie, ...options });
  return { ...person, sessionId, send };
}

/** Returns the status and, of a refusal, its code. Checks the form of every answer (Contract 14.51). */
function outcomeOf({ status, headers, text }: Answer): string {
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('access-control-allow-origin')).toBe(null);
  expect(headers.getSetCookie()).toEqual([]);
  const body = JSON.parse(text);
  if (status === 200) return '200';
  expect(body).toEqual({
    error: expect.any(String),
    error_description: expect.stringMatching(/^[ -!#-[\]-~]+$/),
  });
  return `${status} ${body.error}`;
}

describe('the tokens', () => {
  it('a code becomes an ID token and an access token (Contract 14.9, 14.46, 14.48, 14.49 and 14.50)', async () => {
    const { tokens } = await logInTo(app, client, {
      parameters: { scope: 'openid profile email groups phone' },
    });
    const { header, payload } = await verifyJwt(app, tokens.id_token);
    expect(Object.keys(tokens).sort()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'scope',
      'token_type',
    ]);
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'openid profile email groups' });
    expect(tokens.expires_in).toBe(43_200);
    expect(header).toEqual({ alg: 'RS256', kid: expect.any(String), typ: 'JWT' });
    const user = await app.db
      .selectFrom('users')
      .select(['id', 'name', 'profile_updated_at'])
      .where('email', '=', customer)
      .executeTakeFirstOrThrow();
    const launch = await app.db
      .selectFrom('launches')
      .select('sid')
      .where('client', '=', client.name)
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow();
    expect(payload).toEqual({
      iss: app.config.issuer,
      aud: client.name,
      sub: user.id,
      iat: expect.any(Number),
      exp: payload.iat + 3_600,
      sid: launch.sid,
      auth_time: expect.any(Number),
      amr: ['pwd'],
      at_hash: Buffer.from(challengeOf(tokens.access_token), 'base64url')
        .subarray(0, 16)
        .toString('base64url'),
      nonce: rightRequest(client).nonce,
      name: user.name,
      updated_at: Math.floor(user.profile_updated_at.getTime() / 1_000),
      email: customer,
      email_verified: true,
      preferred_username: customer,
      groups: ['customer'],
    });
    const info = await readUserinfo(app, tokens.access_token);
    expect(JSON.parse(info.text)).toEqual({
      sub: user.id,
      name: user.name,
      updated_at: payload.updated_at,
      email: customer,
      email_verified: true,
      preferred_username: customer,
      groups: ['customer'],
    });
  });

  it.each([
    ['openid', []],
    ['openid profile', ['name', 'updated_at']],
    ['email openid', ['email', 'email_verified', 'preferred_username']],
    ['openid groups', ['groups']],
  ])('scope %s gives %j (Contract 14.50)', async (scope, claims) => {
    const { send } = await enter();
    const tokens = tokensOf(
      await exchange(app, client, await getCode({ send }, client, { scope, nonce: undefined })),
    );
    expect(tokens.scope.split(' ').sort()).toEqual(scope.split(' ').sort());
    const own = ['iss', 'aud', 'sub', 'iat', 'exp', 'sid', 'auth_time', 'amr', 'at_hash'];
    expect(Object.keys(decodeJwt(tokens.id_token).payload).sort()).toEqual([...own, ...claims].sort());
    const info = JSON.parse((await readUserinfo(app, tokens.access_token)).text);
    expect(Object.keys(info).sort()).toEqual(['sub', ...claims].sort());
  });

  it.each([
    ['merchant@example.test', /^merchant(,\w+)+$/],
    ['manager@example.test', /^admin$/],
    ['admin@example.test', /^admin/],
  ])(
    'groups of %s are the role of rule 2.65, then the active capabilities (Contract 14.50)',
    async (email, groups) => {
      const { claims } = await logInTo(app, client, { email, parameters: { scope: 'openid groups' } });
      expect(claims.groups.join()).toMatch(groups);
    },
  );

  it('each login of a session at a client has the same sid, another client another one (Contract 14.48)', async () => {
    const { send, sessionId, id } = await enter();
    const sids = [];
    for (const each of [client, client, other])
      sids.push(
        decodeJwt(tokensOf(await exchange(app, each, await getCode({ send }, each))).id_token).payload.sid,
      );
    expect(sids[0]).toBe(sids[1]);
    expect(sids[0]).not.toBe(sids[2]);
    // This client gets the events that a client of any kind gets.
    await sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(app.db);
    const { rows } = await sql`select client, body ->> 'sid' as sid from events
      where user_id = ${id} and type = 'session.ended'`.execute(app.db);
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ client: client.name, sid: sids[0] });
  });

  it('expires_in is what is left of the session, if that is less (Contract 14.46)', async () => {
    const { send, sessionId } = await enter();
    await sql`update sessions set created_at = now() - interval '30 days' + interval '1 hour' where id = ${sessionId}`.execute(
      app.db,
    );
    const { expires_in: seconds } = tokensOf(await exchange(app, client, await getCode({ send }, client)));
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
  });

  it('codes and tokens are stored as hashes alone', async () => {
    const { send } = await enter();
    const code = await getCode({ send }, client);
    const { access_token } = tokensOf(await exchange(app, client, code));
    const { rows } = await sql`select g::text as text from oidc_grants g`.execute(app.db);
    const stored = JSON.stringify(rows);
    for (const secret of [code, access_token]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
      expect(stored).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    }
  });
});

describe('who asks (Contract 14.40 to 14.42)', () => {
  type Try = { by?: 'basic' | 'post' | 'none'; form?: Parameters; authorization?: string };
  const wrongSecret = 'a-secret-that-is-wrong-but-long-enough-to-be-one';
  const tries: [
    about: string,
    whose: () => OpenIdClient,
    attempt: (of: OpenIdClient) => Try,
    outcome: string,
    header?: string,
  ][] = [
    ['Basic', () => client, () => ({ by: 'basic' }), '200'],
    ['the body', () => client, () => ({ by: 'post' }), '200'],
    ['Basic, and an equal client_id', () => client, ({ name }) => ({ form: { client_id: name } }), '200'],
    [
      'BASIC in capitals',
      () => client,
      ({ name, secret }) => ({ authorization: basic(name, secret).replace('Basic', 'BASIC') }),
      '200',
    ],
    [
      'Basic without the last =',
      () => client,
      ({ name, secret }) => ({ authorization: basic(name, secret).replace(/=+$/, '') }),
      '200',
    ],
    [
      'Basic, percent-encoded',
      () => client,
      ({ name, secret }) => ({ authorization: `Basic ${btoa(`${name.replaceAll('_', '%5F')}:${secret}`)}` }),
      '200',
    ],
    [
      'Basic, and another client_id',
      () => client,
      () => ({ form: { client_id: other.name } }),
      '400 invalid_request',
    ],
    [
      'both methods with the same secret',
      () => client,
      ({ secret }) => ({ form: { client_secret: secret } }),
      '400 invalid_request',
    ],
    [
      'both methods with two secrets',
      () => client,
      () => ({ form: { client_secret: wrongSecret } }),
      '400 invalid_request',
    ],
    [
      'Basic with a wrong secret',
      () => client,
      ({ name }) => ({ authorization: basic(name, wrongSecret) }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'Basic with an empty secret',
      () => client,
      ({ name }) => ({ authorization: basic(name, '') }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'Basic that is no base64',
      () => client,
      () => ({ authorization: 'Basic ***' }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'Basic with nothing',
      () => client,
      () => ({ authorization: 'Basic' }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'Basic without a colon',
      () => client,
      ({ name }) => ({ authorization: `Basic ${btoa(name)}` }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'Basic of a client of the hand-off',
      () => client,
      () => ({
        authorization: basic('marketplace', app.config.clients.get('marketplace')?.secrets[0] ?? ''),
      }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'the secret of another client',
      () => client,
      ({ name }) => ({ authorization: basic(name, other.secret) }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'another scheme',
      () => client,
      ({ secret }) => ({ authorization: `Bearer ${secret}` }),
      '401 invalid_client',
      'Basic realm="token"',
    ],
    [
      'the body with a wrong secret',
      () => client,
      () => ({ by: 'post', form: { client_secret: wrongSecret } }),
      '401 invalid_client',
    ],
    ['no secret', () => client, () => ({ by: 'none' }), '401 invalid_client'],
    [
      'an empty secret',
      () => client,
      () => ({ by: 'post', form: { client_secret: '' } }),
      '401 invalid_client',
    ],
    ['nothing', () => client, () => ({ by: 'none', form: { client_id: undefined } }), '401 invalid_client'],
    [
      'an unknown client',
      () => client,
      () => ({ by: 'post', form: { client_id: 'nobody' } }),
      '401 invalid_client',
    ],
    ['its client_id alone, of a client without a secret', () => open, () => ({ by: 'none' }), '200'],
    [
      'a wrong secret of a client without one',
      () => open,
      () => ({ by: 'post', form: { client_secret: wrongSecret } }),
      '200',
    ],
    [
      'Basic with a wrong secret of a client without one',
      () => open,
      ({ name }) => ({ authorization: basic(name, wrongSecret) }),
      '200',
    ],
    [
      'no client_id, of a client without a secret',
      () => open,
      () => ({ by: 'none', form: { client_id: undefined } }),
      '401 invalid_client',
    ],
    [
      'another client without a secret',
      () => client,
      () => ({ by: 'none', form: { client_id: open.name } }),
      '400 invalid_grant',
    ],
  ];

  it.each(tries)('%s', async (_, whose, attempt, outcome, header) => {
    const { send } = await enter();
    const code = await getCode({ send }, whose());
    const { authorization, ...options } = attempt(whose());
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await exchange(app, whose(), code, { ...options, headers });
    expect(outcomeOf(answer)).toBe(outcome);
    expect(answer.headers.get('www-authenticate')).toBe(header ?? null);
    // Nothing that was refused has used the code up (Contract 14.42).
    const again = await exchange(app, whose(), code, { by: whose() === open ? 'none' : 'basic' });
    expect(outcomeOf(again)).toBe(outcome === '200' ? '400 invalid_grant' : '200');
  });

  it('during a rotation either secret counts (Contract 14.40)', async () => {
    const rotating = await addOpenIdClient(app);
    const secret = await inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
      await lockClients(trx);
      const row = await findClientRow(trx, { issuer: app.config.issuer, name: rotating.name });
      if (!row) throw new Error('no row');
      return rotateSecret(trx, { config: app.config, now: () => new Date() }, row);
    });
    const { send } = await enter();
    await expect
      .poll(
        async () => {
          const answer = await exchange(app, { ...rotating, secret }, await getCode({ send }, rotating));
          return outcomeOf(answer);
        },
        { timeout: 15_000 },
      )
      .toBe('200');
    expect(outcomeOf(await exchange(app, rotating, await getCode({ send }, rotating), { by: 'post' }))).toBe(
      '200',
    );
  });
});

describe('what is asked (Contract 14.43 and 14.44)', () => {
  const refusals: [about: string, form: Parameters, outcome: string][] = [
    ['no grant_type', { grant_type: undefined }, '400 invalid_request'],
    ['refresh_token', { grant_type: 'refresh_token' }, '400 unsupported_grant_type'],
    ['client_credentials', { grant_type: 'client_credentials' }, '400 unsupported_grant_type'],
    ['password', { grant_type: 'password' }, '400 unsupported_grant_type'],
    ['no code', { code: undefined }, '400 invalid_request'],
    ['an empty code', { code: '' }, '400 invalid_request'],
    ['an unknown code', { code: 'A'.repeat(43) }, '400 invalid_grant'],
    ['a code with more behind it', { code: undefined }, '400 invalid_request'],
    ['no redirect_uri', { redirect_uri: undefined }, '400 invalid_request'],
    ['another redirect_uri', { redirect_uri: 'https://other.example.test/two' }, '400 invalid_grant'],
    ['redirect_uri with a slash', { redirect_uri: 'https://other.example.test/cb/' }, '400 invalid_grant'],
    ['no verifier', { code_verifier: undefined }, '400 invalid_grant'],
    ['an empty verifier', { code_verifier: '' }, '400 invalid_grant'],
    ['another verifier', { code_verifier: `${verifier}1` }, '400 invalid_grant'],
    ['the challenge as the verifier', { code_verifier: challengeOf(verifier) }, '400 invalid_grant'],
    ['a verifier with a space', { code_verifier: `${verifier} ` }, '400 invalid_grant'],
  ];

  it.each(refusals)('%s, and the code stays', async (_, form, outcome) => {
    const { send } = await enter();
    const code = await getCode({ send }, other);
    expect(outcomeOf(await exchange(app, other, code, { form }))).toBe(outcome);
    expect(outcomeOf(await exchange(app, other, code))).toBe('200');
  });

  it.each([
    ['42 characters', 'a'.repeat(42), '400 invalid_grant'],
    ['43 characters', 'a'.repeat(43), '200'],
    ['128 characters', '~'.repeat(128), '200'],
    ['129 characters', 'a'.repeat(129), '400 invalid_grant'],
    ['a letter of another alphabet', 'ä'.repeat(43), '400 invalid_grant'],
    ['base64', `${'a'.repeat(43)}+/=`, '400 invalid_grant'],
  ])('a verifier of %s whose challenge matches (Contract 14.44)', async (_, text, outcome) => {
    const { send } = await enter();
    const code = await getCode({ send }, client, { code_challenge: challengeOf(text) });
    expect(outcomeOf(await exchange(app, client, code, { form: { code_verifier: text } }))).toBe(outcome);
  });

  it('without a challenge a verifier is refused; a challenge that was sent is enforced (Contract 14.44)', async () => {
    const { send } = await enter();
    const without = await getCode({ send }, loose, {
      code_challenge: undefined,
      code_challenge_method: undefined,
    });
    expect(outcomeOf(await exchange(app, loose, without))).toBe('400 invalid_grant');
    expect(outcomeOf(await exchange(app, loose, without, { form: { code_verifier: undefined } }))).toBe(
      '200',
    );
    const withOne = await getCode({ send }, loose);
    expect(outcomeOf(await exchange(app, loose, withOne, { form: { code_verifier: undefined } }))).toBe(
      '400 invalid_grant',
    );
    expect(outcomeOf(await exchange(app, loose, withOne))).toBe('200');
  });

  it('a code of another client is refused, and stays (Contract 14.43)', async () => {
    const { send } = await enter();
    const code = await getCode({ send }, client);
    for (const by of ['basic', 'post'] as const)
      expect(
        outcomeOf(await exchange(app, other, code, { by, form: { redirect_uri: client.redirectUri } })),
      ).toBe('400 invalid_grant');
    expect(outcomeOf(await exchange(app, client, code))).toBe('200');
  });

  it.each([
    [55, '200'],
    [61, '400 invalid_grant'],
  ])('a code that is %i seconds old (Contract 14.43)', async (seconds, outcome) => {
    const { send, sessionId } = await enter();
    const code = await getCode({ send }, client);
    await sql`update oidc_grants set created_at = created_at - make_interval(secs => ${seconds}) where session_id = ${sessionId}`.execute(
      app.db,
    );
    expect(outcomeOf(await exchange(app, client, code))).toBe(outcome);
  });

  it.each(['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id', 'client_secret'])(
    '%s sent twice is invalid_request',
    async (name) => {
      const { send } = await enter();
      const code = await getCode({ send }, client);
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUri,
        code_verifier: verifier,
        client_id: client.name,
        client_secret: client.secret,
      };
      const body = new URLSearchParams(form);
      body.append(name, form[name as keyof typeof form]);
      const headers = { 'sec-fetch-site': 'cross-site' };
      expect(outcomeOf(await app.send('/oauth/token', { body, headers }))).toBe('400 invalid_request');
      expect(outcomeOf(await app.send('/oauth/token', { form, headers }))).toBe('200');
    },
  );

  it('the parameters are in the body alone, as a form', async () => {
    const { send } = await enter();
    const code = await getCode({ send }, client);
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
    };
    const headers = { authorization: basic(client.name, client.secret), 'sec-fetch-site': 'cross-site' };
    const query = new URLSearchParams(form);
    expect(outcomeOf(await app.send(`/oauth/token?${query}`, { form: { a: 'b' }, headers }))).toBe(
      '400 invalid_request',
    );
    expect(outcomeOf(await app.send('/oauth/token', { json: form, headers }))).toBe('400 invalid_request');
    expect(outcomeOf(await app.send('/oauth/token', { method: 'POST', headers }))).toBe(
      '400 invalid_request',
    );
    const get = await app.send(`/oauth/token?${query}`, { headers });
    expect([get.status, codeOf(get)]).toEqual([405, 'method_not_allowed']);
    // Only a product's server asks for tokens, so a script of a page gets nothing (Contract 14.12).
    const preflight = await app.send('/oauth/token', {
      method: 'OPTIONS',
      headers: { origin: 'https://wiki.example.test', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    // A request from another site is accepted (Contract 14.13), because the secret decides.
    expect(
      outcomeOf(
        await app.send('/oauth/token', { form, headers: { ...headers, origin: 'https://evil.example' } }),
      ),
    ).toBe('200');
  });
});

describe('a second use (Contract 14.45)', () => {
  it('is refused, and ends the token of the first', async () => {
    const { send } = await enter();
    const code = await getCode({ send }, client);
    const { access_token } = tokensOf(await exchange(app, client, code));
    // Another client can end nothing with the code.
    expect(outcomeOf(await exchange(app, other, code))).toBe('400 invalid_grant');
    expect((await readUserinfo(app, access_token)).status).toBe(200);
    expect(outcomeOf(await exchange(app, client, code))).toBe('400 invalid_grant');
    expect((await readUserinfo(app, access_token)).status).toBe(401);
    expect(outcomeOf(await exchange(app, client, code))).toBe('400 invalid_grant');
  });

  it('ends only the token of its own code', async () => {
    const { send } = await enter();
    const [one, two] = [await getCode({ send }, client), await getCode({ send }, client)];
    await exchange(app, client, one);
    const { access_token } = tokensOf(await exchange(app, client, two));
    await exchange(app, client, one);
    expect((await readUserinfo(app, access_token)).status).toBe(200);
  });

  it('of 16 at once at most one gets a token, which has ended', async () => {
    const browser = await logIn(app.send, customer);
    const code = await getCode(browser, client);
    const answers = await Promise.all(Array.from({ length: 16 }, () => exchange(app, client, code)));
    const right = answers.filter(({ status }) => status === 200);
    expect(right.length).toBeLessThanOrEqual(1);
    for (const answer of answers)
      if (answer.status !== 200) expect(outcomeOf(answer)).toBe('400 invalid_grant');
    for (const answer of right)
      expect((await readUserinfo(app, tokensOf(answer).access_token)).status).toBe(401);
  });
});

describe('a person who may not enter any more (Contract 14.47)', () => {
  it.each([
    [
      'role',
      `update clients set roles = '{admin}' where name = $client`,
      `update clients set roles = '{admin,merchant,customer}' where name = $client`,
    ],
    [
      'planned deletion',
      `update users set deletion_due_at = now() + interval '9 days' where id = $id`,
      'update users set deletion_due_at = null where id = $id',
    ],
    [
      'proof of the address',
      'update users set email_verified_at = null where id = $id',
      'update users set email_verified_at = now() where id = $id',
    ],
    [
      'factor',
      `update clients set needs_factor = true where name = $client`,
      `update clients set needs_factor = false where name = $client`,
    ],
  ])('is refused while it lasts: %s; the code stays unused', async (_, close, reopen) => {
    const own = await addOpenIdClient(app);
    const { id } = await addPerson(app);
    const { cookie } = await addSession(app, id, { amr: ['pwd'] });
    const run = (text: string) =>
      sql.raw(text.replace('$client', `'${own.name}'`).replace('$id', `'${id}'`)).execute(app.db);
    const code = await getCode({ send: (path) => app.send(path, { cookie }) }, own);
    await run(close);
    const info = async () => outcomeOf(await exchange(app, own, code));
    // Another instance's change of a row is known within two seconds. A request with a wrong redirect URI is refused in the
    // same way, and uses no code up.
    if (close.includes('clients'))
      await expect
        .poll(
          async () =>
            (
              await app.send(
                `/oauth/authorize?${new URLSearchParams({ ...rightRequest(own), prompt: 'none' })}`,
                { cookie },
              )
            ).headers.get('location'),
          { timeout: 15_000 },
        )
        .toMatch(/error=/);
    expect(await info()).toBe('400 invalid_grant');
    await run(reopen);
    await expect.poll(info, { timeout: 15_000 }).toBe('200');
  });

  it.each([
    [
      'suspension',
      `update users set suspended_at = now() where id = $id`,
      'update users set suspended_at = null where id = $id',
    ],
    ['the end of the session', 'update sessions set ended_at = now() where user_id = $id', 'select 1'],
  ])('is refused for good after %s (Contract 14.58)', async (_, close, reopen) => {
    const { send, id } = await enter();
    const code = await getCode({ send }, client);
    await sql.raw(close.replace('$id', `'${id}'`)).execute(app.db);
    expect(outcomeOf(await exchange(app, client, code))).toBe('400 invalid_grant');
    await sql.raw(reopen.replace('$id', `'${id}'`)).execute(app.db);
    expect(outcomeOf(await exchange(app, client, code))).toBe('400 invalid_grant');
    const { rows } = await sql`select 1 from launches where user_id = ${id}`.execute(app.db);
    expect(rows).toEqual([]);
  });
});
