import { beforeAll, expect, test } from 'vitest';
import { openApp, type TestApp } from '../support/app/app.ts';
import { logIn } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  exchange,
  getCode,
  logInTo,
  type OpenIdClient,
  readUserinfo,
  rightRequest,
  tokensOf,
  verifyJwt,
} from '../support/openid/client.ts';

let app: TestApp;
let client: OpenIdClient;

beforeAll(async () => {
  app = await openApp();
  client = await addOpenIdClient(app);
});

const customer = 'customer@example.test';

test('a code becomes an ID token and an access token (Contract 14.46, 14.48, 14.49 and 14.50)', async () => {
  const { tokens } = await logInTo(app, client, {
    parameters: { scope: 'openid profile email groups phone' },
  });
  const { header, payload } = await verifyJwt(app, tokens.id_token);
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
    at_hash: expect.stringMatching(/^[\w-]{22}$/),
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

test('of 16 uses of a code at once at most one gets a token, which has ended (Contract 14.45)', async () => {
  const browser = await logIn(app.send, customer);
  const code = await getCode(browser, client);
  const answers = await Promise.all(Array.from({ length: 16 }, () => exchange(app, client, code)));
  const right = answers.filter(({ status }) => status === 200);
  expect(right.length).toBeLessThanOrEqual(1);
  for (const { status, text } of answers)
    if (status !== 200) expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_grant']);
  for (const answer of right)
    expect((await readUserinfo(app, tokensOf(answer).access_token)).status).toBe(401);
});
