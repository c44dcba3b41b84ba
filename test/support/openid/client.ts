// A product that speaks OpenID Connect, as a row of the real service: its requests, and what it reads in the answers. It checks
// signatures by `node:crypto`, so that no fault of the service's own package stays unseen.
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { expect, vi } from 'vitest';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { type ClientFacts, lockClients } from '../../../db/tables/clients.ts';
import { addClient } from '../../../server/clients/rows.ts';
import { type Answer, locationOf, nextStopOf, type SendOptions, type TestApp } from '../app/app.ts';
import { type Browser, logIn } from '../app/visitor.ts';

type At = Pick<TestApp, 'db' | 'config' | 'send'>;
type Send = TestApp['send'];

export type OpenIdClient = { name: string; secret: string; redirectUri: string };

let serial = 0;

/** Adds a row of kind `openid` that everybody may enter, and returns when this instance knows the row. */
export async function addOpenIdClient(
  app: At,
  facts: Partial<ClientFacts> & { name?: string } = {},
): Promise<OpenIdClient> {
  const { name = `wiki_${++serial}_${randomBytes(4).toString('hex')}`, ...given } = facts;
  const redirectUris = given.redirectUris ?? [`https://${name.replaceAll('_', '-')}.example.test/callback`];
  const [redirectUri = ''] = redirectUris;
  const deps = { config: app.config, now: () => new Date() };
  const secret = await inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
    await lockClients(trx);
    return addClient(trx, deps, {
      name,
      kind: 'openid',
      facts: {
        title: name,
        callbackUrl: redirectUri,
        loginUrl: null,
        eventsUrl: null,
        listed: [],
        roles: ['admin', 'merchant', 'customer'],
        needsFactor: false,
        redirectUris,
        postLogoutUris: [],
        backChannelUri: null,
        pkce: 'required',
        auth: 'secret',
        ...given,
      },
    });
  });
  const client = { name, secret, redirectUri };
  // This request names no response type. It gets a page while the client is unknown, and a redirect to the client when the
  // client is known.
  const query = new URLSearchParams({ client_id: name, redirect_uri: redirectUri });
  await vi.waitFor(async () => expect((await app.send(`/oauth/authorize?${query}`)).status).toBe(303), {
    timeout: 15_000,
    interval: 50,
  });
  return client;
}

/** The same for every test. A product makes a new one for each login. */
export const verifier = 'a-verifier.of_43-characters~at-the-very-least-0';
export const challengeOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A parameter that is undefined is not sent. */
export type Parameters = Record<string, string | undefined>;

const queryOf = (parameters: Parameters): URLSearchParams =>
  new URLSearchParams(
    Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined),
  );

/** A correct request, with `state`, `nonce` and a challenge. */
export const rightRequest = ({ name, redirectUri }: OpenIdClient): Record<string, string> => ({
  client_id: name,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid',
  state: 'the state',
  nonce: 'the nonce',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
});

export const authorizePath = (client: OpenIdClient, parameters: Parameters = {}): string =>
  `/oauth/authorize?${queryOf({ ...rightRequest(client), ...parameters })}`;

/** What a redirect tells the client, or an empty object if the answer is no redirect. */
export const sentBack = (answer: Answer): Record<string, string> =>
  answer.status === 303 ? Object.fromEntries(locationOf(answer).searchParams) : {};

/** The code for somebody who is logged in. Throws if the answer has none. */
export async function getCode(
  browser: Pick<Browser, 'send'>,
  client: OpenIdClient,
  parameters: Parameters = {},
): Promise<string> {
  const answer = await browser.send(authorizePath(client, parameters));
  const { code } = sentBack(answer);
  if (!code) throw new Error(`no code: ${answer.status} ${answer.headers.get('location') ?? answer.text}`);
  return code;
}

type Visiting = {
  /** The person who logs in if a page asks for it. */
  email?: string;
  password?: string;
  /** Posts a form to the path, as a press of a button does. */
  form?: Record<string, string>;
};

/** Goes to the path and wherever our own site leads on to. Returns the first answer that leads elsewhere or nowhere, and its path. */
export async function visit(
  { config }: Pick<TestApp, 'config'>,
  browser: Browser,
  path: string,
  { email = 'customer@example.test', password, form }: Visiting = {},
): Promise<{ answer: Answer; path: string }> {
  let at = path;
  let answer = await browser.send(path, { form });
  for (let stops = 0; stops < 10; stops++) {
    const next = nextStopOf(answer);
    const url = next && new URL(next, config.baseUrl);
    if (!url || url.origin !== config.baseUrl) return { answer, path: at };
    at = url.pathname + url.search;
    const mustLogIn = url.pathname === '/login' && !url.searchParams.has('logged_out');
    answer = mustLogIn ? await browser.login(email, password, at) : await browser.send(at);
  }
  throw new Error(`more than ten redirects from ${path}`);
}

/** RFC 6749 section 2.3.1: name and secret are form-encoded before they are joined. */
export const basic = (name: string, secret: string): string => {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(name)}:${encode(secret)}`).toString('base64')}`;
};

/** Posts a correct form for a code. The method of authentication is `basic` unless the client has no secret. */
export async function exchange(
  { send }: Pick<TestApp, 'send'>,
  client: OpenIdClient,
  code: string,
  {
    form = {},
    by = 'basic',
    ...options
  }: Omit<SendOptions, 'form'> & { form?: Parameters; by?: 'basic' | 'post' | 'none' } = {},
): Promise<Answer> {
  const { name, secret, redirectUri } = client;
  const stated: Parameters = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...(by !== 'basic' && { client_id: name }),
    ...(by === 'post' && { client_secret: secret }),
    ...form,
  };
  const authorization: Record<string, string> = by === 'basic' ? { authorization: basic(name, secret) } : {};
  // A product's server sends no `Origin`. The tests' own `send` adds an `Origin` unless a header says where the request comes
  // from.
  const headers = { 'sec-fetch-site': 'cross-site', ...authorization, ...options.headers };
  return send('/oauth/token', { ...options, headers, method: 'POST', body: queryOf(stated) });
}

export type Tokens = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  id_token: string;
};

export const tokensOf = (answer: Answer): Tokens => {
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
};

/** Logs somebody in at the client, by their browser if it is given. */
export async function logInTo(
  app: Pick<TestApp, 'send'>,
  client: OpenIdClient,
  {
    email = 'customer@example.test',
    ...given
  }: { email?: string; browser?: Browser; by?: 'basic' | 'post' | 'none'; parameters?: Parameters } = {},
) {
  const browser = given.browser ?? (await logIn(app.send, email));
  const code = await getCode(browser, client, given.parameters);
  const form = given.parameters?.redirect_uri ? { redirect_uri: given.parameters.redirect_uri } : {};
  const tokens = tokensOf(await exchange(app, client, code, { form, ...(given.by && { by: given.by }) }));
  return { browser, code, tokens, claims: decodeJwt(tokens.id_token).payload };
}

export const readUserinfo = ({ send }: Pick<TestApp, 'send'>, accessToken: string): Promise<Answer> =>
  send('/oauth/userinfo', { headers: { authorization: `Bearer ${accessToken}` } });

export const logoutPath = (parameters: Parameters): string => `/oauth/logout?${queryOf(parameters)}`;

// biome-ignore lint/suspicious/noExplicitAny: tests look at each claim anyway.
type Members = Record<string, any>;

/** Returns the parts of a JWT, whatever it is signed with. */
export function decodeJwt(token: string): { header: Members; payload: Members } {
  const [header = '', payload = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: read(header), payload: read(payload) };
}

export type Jwk = { kty: string; n: string; e: string; kid: string; use: string; alg: string };

export const readJwks = async ({ send }: { send: Send }): Promise<Jwk[]> =>
  JSON.parse((await send('/oauth/jwks')).text).keys;

/** The claims of a token that a key in our JWKS has signed. Throws for any other token. */
export async function verifyJwt(app: { send: Send }, token: string) {
  const { header, payload } = decodeJwt(token);
  const jwk = (await readJwks(app)).find(({ kid }) => kid === header.kid);
  if (!jwk) throw new Error(`no key ${header.kid}`);
  const at = token.lastIndexOf('.');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signature = Buffer.from(token.slice(at + 1), 'base64url');
  if (header.alg !== 'RS256' || !verify('sha256', Buffer.from(token.slice(0, at)), key, signature))
    throw new Error(`not signed by ${header.kid}`);
  return { header, payload };
}

/** Returns the token with other claims or another header, but with its old signature. */
export function alterJwt(token: string, payload: Members, header: Members = {}): string {
  const was = decodeJwt(token);
  const write = (members: Members) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const parts = [
    { ...was.header, ...header },
    { ...was.payload, ...payload },
  ].map(write);
  return [...parts, token.split('.')[2]].join('.');
}
