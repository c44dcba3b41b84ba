// A small product: pages, and sessions in a cookie. Each test says how the product speaks to the service.
import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { listen } from '../../server/runtime/listen.ts';
import type { Place, Product } from './pair.ts';

/** What a product stores of one browser. `who` is set while somebody is logged in. */
export type Session = { who?: unknown; [name: string]: unknown };

export type Sessions = Map<string, Session>;

export type Call = { url: URL; form: URLSearchParams; session: Session; request: Request };

/** Each route is a method and a path. If a route returns text, the text is shown as a page. */
export type Routes = Record<string, (call: Call) => Promise<Response | string>>;

export async function openSmallProduct(
  { port }: Pick<Place, 'port'>,
  routes: Routes,
  sessions: Sessions = new Map(),
): Promise<Product> {
  const all: Routes = { 'GET /': async ({ session }) => showHome(session.who), ...routes };

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const id = /\bproduct=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? random();
    const session = sessions.get(id) ?? {};
    const form = new URLSearchParams(request.method === 'POST' ? await request.clone().text() : '');
    const route = all[`${request.method} ${url.pathname}`];
    if (!route) return refuse('not found', 404);
    // The product shows what went wrong, so that a failed test says it.
    const result = await route({ url, form, session, request }).catch((error) => refuse(error.stack));
    const response = typeof result === 'string' ? toPage(result) : result;
    if (Object.keys(session).length > 0) {
      sessions.set(id, session);
      // For two minutes, browsers send a cookie without `SameSite` even with the form of another site.
      response.headers.append('set-cookie', `product=${id}; Path=/; HttpOnly`);
    }
    return response;
  }

  const listener = await listen(answer, { host: '127.0.0.1', port });
  return { close: () => listener.close(0) };
}

export const random = () => randomBytes(32).toString('base64url');

export const showHome = (who: unknown, { login, logout } = { login: '/login', logout: '/logout' }) =>
  who
    ? `<pre id="who">${JSON.stringify(who).replaceAll('<', '\\u003c')}</pre><a href="${logout}">Log out</a>`
    : `<a href="${login}">Log in</a>`;

export const toPage = (html: string) =>
  new Response(`<!doctype html><title>Product</title>${html}`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });

export function goTo(to: string | URL, query?: Record<string, string>): Response {
  const location = query ? `${to}?${new URLSearchParams(query)}` : String(to);
  return new Response(null, { status: 302, headers: { location } });
}

export const refuse = (why: string, status = 500) => new Response(why, { status });

type Metadata = Record<
  'authorization_endpoint' | 'token_endpoint' | 'userinfo_endpoint' | 'end_session_endpoint' | 'jwks_uri',
  string
> &
  Partial<Record<'code_challenge_methods_supported' | 'token_endpoint_auth_methods_supported', string[]>>;

/** Returns the discovery document of the service. */
export const discover = ({ issuer }: Place): Promise<Metadata> =>
  ask(`${issuer}/.well-known/openid-configuration`) as Promise<Metadata>;

export const challengeOf = (verifier: string) => ({
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});

export type Tokens = { access_token: string; id_token: string; expires_in: number };

/** Exchanges a code. Returns the tokens. */
export const exchange = (
  { token_endpoint }: Metadata,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Tokens> =>
  ask(token_endpoint, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ grant_type: 'authorization_code', ...form }),
  }) as Promise<Tokens>;

export const askUserinfo = ({ userinfo_endpoint }: Metadata, token: string) =>
  ask(userinfo_endpoint, { headers: { authorization: `Bearer ${token}` } });

export const basic = (name: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
});

async function ask(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** Returns the claims of a token for this product, after checking that the service signed it. */
export async function verify(
  { jwks_uri }: Metadata,
  { issuer, client }: Place,
  token: string,
): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(jwks_uri));
  const { payload } = await jwtVerify(token, keys, { issuer, audience: client, algorithms: ['RS256'] });
  return payload;
}
