// Local mode only: small clients, written as a product's own engineers would, so that a newcomer can watch a
// hand-off arrive and be verified or refused.
//
// They use only the public verifier (../sso), their own secret, and a table for used nonces. Their sessions are
// their own: ending one here ends none there.
import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { base64url } from 'oslo/encoding';
import { consumeNonce } from '../../db/nonces.ts';
import { redirect } from '../http/answers.ts';
import { isSpeculative } from '../http/requests.ts';
import type { Services } from '../services.ts';
import type { Client } from '../sso/clients.ts';
import { EnvelopeError, verifyEnvelope } from '../sso/envelope.ts';
import { type Payload, payloadSchema, type StandardProfile } from '../sso/payload.ts';

export type DemoSession = {
  payload: Payload;
  /** The query of the hand-off, for the visitor to tamper with. */
  query: string;
  /** What the hand-off did to the cached profile of this person. */
  cache: 'first' | 'refreshed' | 'current';
  receivedAt: Date;
};

/** The public code and, because it is a demo, the precise reason. */
export type DemoRefusal = { code: string; reason: string };

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
  function start({ name }: Client): Response {
    const state = randomToken();
    const query = new URLSearchParams({ state, return_to: `/demo/${name}` });
    return redirect(`/sso/launch/${name}?${query}`, { 'Set-Cookie': cookie(name, 'state', state) });
  }

  /** The callback: starts a session of this client's own and redirects away from the signed URL, or refuses. */
  async function receive(client: Client, request: Request): Promise<Response | DemoRefusal> {
    if (isSpeculative(request)) return new Response(null, { status: 204 });
    const { searchParams } = new URL(request.url);
    const refusal = searchParams.get('error');
    if (refusal) return { code: refusal, reason: 'the identity service did not send a payload' };
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
      const nonce = { audience: `demo:${client.name}`, nonce: payload.nonce, expiresAt: keepNonceUntil };
      if (!(await consumeNonce(db, nonce))) return { code: 'nonce_replayed', reason: 'nonce used before' };
      if (payload.state !== undefined && payload.state !== readCookie(request, 'state')) {
        return { code: 'state_mismatch', reason: 'this browser did not ask for the login' };
      }
      const id = keepSession(payload, searchParams);
      // Always this client's own page, so it need not trust `return_to`.
      return redirect(`/demo/${client.name}`, { 'Set-Cookie': cookie(client.name, 'session', id) });
    } catch (error) {
      if (error instanceof EnvelopeError) return { code: error.code, reason: error.reason };
      throw error;
    }
  }

  function keepSession(payload: Payload, searchParams: URLSearchParams): string {
    const { profile } = payload;
    const cached = profiles.get(`${payload.aud}:${profile.id}`);
    const cache = !cached
      ? 'first'
      : cached.profile_updated_at < profile.profile_updated_at
        ? 'refreshed'
        : 'current';
    keep(profiles, `${payload.aud}:${profile.id}`, profile);
    const id = randomToken();
    const query = new URLSearchParams([...searchParams].filter(([name]) => name !== 'wait_seconds'));
    keep(sessions, id, { payload, query: query.toString(), cache, receivedAt: now() });
    return id;
  }

  function findSession({ name }: Client, request: Request): DemoSession | undefined {
    const session = sessions.get(readCookie(request, 'session') ?? '');
    return session?.payload.aud === name ? session : undefined;
  }

  /** Ends this client's own session only. */
  function end({ name }: Client, request: Request): Response {
    sessions.delete(readCookie(request, 'session') ?? '');
    return redirect(`/demo/${name}`, { 'Set-Cookie': cookie(name, 'session', '') });
  }

  return { find, start, receive, findSession, end };
}

const randomToken = () =>
  base64url.encode(crypto.getRandomValues(new Uint8Array(16)), { includePadding: false });

/** Drops the oldest when there are too many: a demo may run for weeks. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxKept && oldest !== undefined) map.delete(oldest);
}

function cookie(client: string, kind: 'state' | 'session', value: string): string {
  const attributes = { path: `/demo/${client}`, httpOnly: true, sameSite: 'lax' } as const;
  return serializeCookie(`demo_${kind}`, value, value ? attributes : { ...attributes, maxAge: 0 });
}

function readCookie(request: Request, kind: 'state' | 'session'): string | undefined {
  return parseCookie(request.headers.get('cookie') ?? '')[`demo_${kind}`];
}
