// Local mode only: small clients, written as a product's own engineers would, so that a newcomer can watch a
// hand-off arrive and be verified or refused.
//
// They use only the public verifier (../sso), their own secret, and a table for used nonces. Their sessions are
// their own: ending one here ends none there.
import { consumeNonce } from '../../db/nonces.ts';
import { redirect } from '../http/answers.ts';
import { isSpeculative } from '../http/requests.ts';
import type { Services } from '../services.ts';
import type { Client } from '../sso/clients.ts';
import { EnvelopeError, verifyEnvelope } from '../sso/envelope.ts';
import { type Payload, payloadSchema, type StandardProfile } from '../sso/payload.ts';
import { findAttempt, isProvedSince, startAttempt } from './demo-attempts.ts';
import { buildCookie, createToken, readCookies } from './demo-cookies.ts';

export type DemoSession = {
  payload: Payload;
  /** The query of the hand-off, for the visitor to tamper with. */
  query: string;
  /** What the hand-off did to the cached profile of this person. */
  cache: 'first' | 'refreshed' | 'current';
  /** Whether this login asked for a credential again, and got it. */
  isProved: boolean;
};

/** The public code and, because it is a demo, the precise reason. */
export type DemoRefusal = { code: string; reason: string };

const sessionCookie = 'demo_session';
const maxKept = 1_000;

export function createDemoClients({ config, db, now }: Services) {
  const sessions = new Map<string, DemoSession>();
  const profiles = new Map<string, StandardProfile>();

  /** Undefined for a client with a real callback. */
  function find(name: string): Client | undefined {
    const client = config.clients.get(name);
    return client?.isDemo ? client : undefined;
  }

  /** This client's login: leads to the launch, with a state that ties the answer to this browser. */
  async function start(client: Client, request: Request): Promise<Response> {
    const { name } = client;
    const prompt = new URL(request.url).searchParams.get('prompt');
    const { state, setCookies } = await startAttempt(client, request, now(), prompt === 'login');
    const query = new URLSearchParams({ state, return_to: `/demo/${name}`, ...(prompt && { prompt }) });
    const headers = new Headers({ Location: `/sso/launch/${name}?${query}` });
    for (const setCookie of setCookies) headers.append('Set-Cookie', setCookie);
    return new Response(null, { status: 303, headers });
  }

  /** The callback: starts a session of this client's own and redirects away from the signed URL, or refuses. */
  async function receive(client: Client, request: Request): Promise<Response | DemoRefusal> {
    if (isSpeculative(request)) return new Response(null, { status: 204 });
    const { searchParams } = new URL(request.url);
    const error = searchParams.get('error');
    if (error) {
      // Unsigned: all it may do is to choose a page, and only for an attempt of this browser.
      const attempt = await findAttempt(client, request, now(), searchParams.get('state') ?? '');
      if (!attempt) return unknownState;
      return { code: error, reason: 'the identity service did not send a payload' };
    }
    // The verifier takes the clock as an argument, so visitors can let time pass without waiting.
    const waited = Math.max(0, Number(searchParams.get('wait_seconds') ?? 0));
    try {
      const { claims: payload, keepNonceUntil } = await verifyEnvelope(searchParams, {
        secrets: client.secrets,
        schema: payloadSchema,
        iss: config.issuer,
        aud: client.name,
        ttlSeconds: config.ssoTtlSeconds,
        now: new Date(now().getTime() + waited * 1_000),
      });
      if (payload.state === undefined) return startOver(client, request);
      const attempt = await findAttempt(client, request, now(), payload.state);
      if (!attempt) return unknownState;
      if (attempt.mustProve && !isProvedSince(attempt, payload))
        return { code: 'login_too_old', reason: 'auth_time is before this client asked for the password' };
      const use = await consumeNonce(db, {
        audience: `demo:${client.name}`,
        nonce: payload.nonce,
        issuedAt: new Date(payload.iat * 1_000),
        expiresAt: keepNonceUntil,
      });
      if (use === 'before_restore') return { code: 'payload_expired', reason: 'iat before restore' };
      if (use === 'used') return { code: 'nonce_replayed', reason: 'nonce used before' };
      // The attempt's cookie stays until it expires, so that visitors can see the nonce refuse a replay.
      const id = keepSession(payload, searchParams, attempt.mustProve);
      // Always this client's own page, so it need not trust `return_to`.
      return redirect(`/demo/${client.name}`, { 'Set-Cookie': buildCookie(client.name, sessionCookie, id) });
    } catch (error) {
      if (error instanceof EnvelopeError) return { code: error.code, reason: error.reason };
      throw error;
    }
  }

  /** A link from elsewhere brought the hand-off. It stays unused: this client asks for one of its own. */
  function startOver(client: Client, request: Request): Response {
    const isLoggedIn = findSession(client, request) !== undefined;
    return redirect(isLoggedIn ? `/demo/${client.name}` : `/demo/${client.name}/login`);
  }

  function keepSession(payload: Payload, searchParams: URLSearchParams, isProved: boolean): string {
    const { profile } = payload;
    const cached = profiles.get(`${payload.aud}:${profile.id}`);
    const cache = !cached
      ? 'first'
      : cached.profile_updated_at < profile.profile_updated_at
        ? 'refreshed'
        : 'current';
    keep(profiles, `${payload.aud}:${profile.id}`, profile);
    const id = createToken();
    const query = new URLSearchParams([...searchParams].filter(([name]) => name !== 'wait_seconds'));
    keep(sessions, id, { payload, query: query.toString(), cache, isProved });
    return id;
  }

  function findSession({ name }: Client, request: Request): DemoSession | undefined {
    const session = sessions.get(readCookies(request)[sessionCookie] ?? '');
    return session?.payload.aud === name ? session : undefined;
  }

  /** Ends this client's own session only. */
  function end({ name }: Client, request: Request): Response {
    sessions.delete(readCookies(request)[sessionCookie] ?? '');
    return redirect(`/demo/${name}`, { 'Set-Cookie': buildCookie(name, sessionCookie, '', 0) });
  }

  return { find, start, receive, findSession, end };
}

const unknownState = { code: 'state_mismatch', reason: 'this browser did not ask for the login' };

/** Drops the oldest when there are too many: a demo may run for weeks. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxKept && oldest !== undefined) map.delete(oldest);
}
