// `oidc-provider` with clients like ours, at the same paths, so that a test can send it what it sends us.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { parseUrl } from '../../../server/basics/url.ts';
import type { Answer, SendOptions } from '../app/app.ts';

export type ReferenceClient = {
  name: string;
  secret: string;
  redirectUris: string[];
  postLogoutUris: string[];
  auth: 'secret' | 'none';
  needsChallenge: boolean;
};

type Stored = Record<string, unknown> & { uid?: string; grantId?: string; consumed?: number };

/** What the library stores. The library's own store is shared by all providers of a process. */
function buildStore() {
  const kept = new Map<string, Stored>();
  return class {
    kind: string;
    constructor(kind: string) {
      this.kind = kind;
    }
    async upsert(id: string, stored: Stored) {
      kept.set(`${this.kind} ${id}`, stored);
    }
    async find(id: string) {
      return kept.get(`${this.kind} ${id}`);
    }
    async findByUid(uid: string) {
      return [...kept].find(([key, each]) => key.startsWith(`${this.kind} `) && each.uid === uid)?.[1];
    }
    async consume(id: string) {
      Object.assign((await this.find(id)) ?? {}, { consumed: Math.floor(Date.now() / 1_000) });
    }
    async destroy(id: string) {
      kept.delete(`${this.kind} ${id}`);
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, each] of kept) if (each.grantId === grantId) kept.delete(key);
    }
  };
}

export async function openReference(clients: readonly ReferenceClient[]) {
  // The library needs a function that Node has had since version 22, and warns of Node 20 when it is loaded.
  const had = URL.parse;
  URL.parse ??= (text, base) => parseUrl(String(text), base) ?? null;
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  // @ts-expect-error It has no types.
  const { Provider } = await import('oidc-provider');
  warn.mockRestore();

  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const needsChallenge = new Set(clients.filter((each) => each.needsChallenge).map(({ name }) => name));
  const provider = new Provider(issuer, {
    adapter: buildStore(),
    jwks: { keys: [{ ...key, kid: 'reference', use: 'sig', alg: 'RS256' }] },
    clients: clients.map(({ name, secret, redirectUris, postLogoutUris, auth }) => ({
      client_id: name,
      ...(auth === 'secret' && { client_secret: secret }),
      token_endpoint_auth_method: auth === 'secret' ? 'client_secret_basic' : 'none',
      redirect_uris: redirectUris,
      post_logout_redirect_uris: postLogoutUris,
      response_types: ['code'],
      grant_types: ['authorization_code'],
    })),
    allowOmittingSingleRegisteredRedirectUri: false,
    claims: { openid: ['sub'], profile: ['name', 'updated_at'], email: ['email', 'email_verified'] },
    clientBasedCORS: () => false,
    // Without this, a POST from another site has no cookie.
    enableHttpPostMethods: true,
    cookies: { long: { sameSite: 'none' } },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true, logoutSource: asIs, postLogoutSuccessSource: asIs },
      backchannelLogout: { enabled: true },
      requestObjects: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      claimsParameter: { enabled: false },
      resourceIndicators: { enabled: false },
      dPoP: { enabled: false },
    },
    findAccount: async (_: unknown, accountId: string) => ({
      accountId,
      claims: async () => ({
        sub: accountId,
        name: 'Test',
        email: 'test@example.test',
        email_verified: true,
      }),
    }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    // Nobody is asked for consent.
    async loadExistingGrant({
      oidc,
    }: {
      oidc: { session: { accountId: string }; client: { clientId: string } };
    }) {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save(3_600);
      return grant;
    },
    pkce: { required: (_: unknown, { clientId }: { clientId: string }) => needsChallenge.has(clientId) },
    renderError: (context: { type: string; body: string }, { error }: { error: string }) => {
      context.type = 'html';
      context.body = error;
    },
    responseTypes: ['code'],
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      userinfo: '/oauth/userinfo',
      end_session: '/oauth/logout',
      jwks: '/oauth/jwks',
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 60,
      Grant: 3_600,
      IdToken: 3_600,
      Interaction: 600,
      Session: 3_600,
    },
  });
  const handle = provider.callback();

  return {
    issuer,
    async send(path: string, options: SendOptions = {}): Promise<Answer> {
      const { cookie, body, form } = options;
      const headers = new Headers(options.headers);
      if (cookie) headers.set('cookie', cookie);
      const content = body ?? (form && new URLSearchParams(form));
      const method = options.method ?? (content === undefined ? 'GET' : 'POST');
      const init = { method, headers, body: content, redirect: 'manual' } as const;
      const response = await fetch(new URL(path, issuer), init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    /** Returns the cookie of a new session. */
    async logIn(accountId: string): Promise<string> {
      const session = new provider.Session({});
      session.loginAccount({ accountId, loginTs: Math.floor(Date.now() / 1_000) });
      await session.save(3_600);
      return `_session=${session.id}`;
    },
    async close() {
      await new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      });
      URL.parse = had;
    },
  };
}

/** Pages are compared by their status alone, so their body does not matter. */
async function asIs(context: { body: string }, form = '') {
  context.body = form;
}
