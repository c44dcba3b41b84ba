// Local mode only: a small client of each kind, as a product's own engineer would write it, so that a
// newcomer can see a hand-off arrive, be verified and be refused.
//
// It uses nothing of the identity service but the public verifier (../sso), its client's secret, and a table
// for used nonces. Its sessions are its own: ending one here ends none there.
import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { base64url } from 'oslo/encoding';
import { consumeNonce } from '../../db/nonces.ts';
import type { Services } from '../backend.ts';
import { isSpeculative, redirect, requireMethod } from '../http.ts';
import type { Client } from '../sso/clients.ts';
import { EnvelopeError, openEnvelope } from '../sso/envelope.ts';
import { type Payload, payloadSchema, type StandardProfile } from '../sso/payload.ts';

export type DemoSession = {
  payload: Payload;
  /** The query that the hand-off arrived with, for the visitor to tamper with. */
  query: string;
  /** What the cached profile of this person was when the hand-off came. */
  cache: 'first' | 'refreshed' | 'current';
  receivedAt: Date;
};

/** A refusal as this client tells it: the public code and, because it is a demo, the precise reason. */
export type DemoRefusal = { code: string; reason: string };

const maxKept = 1_000;

export function createDemoClients({ config, db, now }: Services) {
  const sessions = new Map<string, DemoSession>();
  const profiles = new Map<string, StandardProfile>();

  /** The demo receiver of that name; none where a real callback is configured. */
  function find(name: string): Client | undefined {
    const client = config.clients.get(name);
    return client?.isDemo ? client : undefined;
  }

  /** Where this client's login link leads: to the launch, with a state that ties the answer to this browser. */
  function start({ name }: Client, request: Request): Response {
    requireMethod(request, ['GET', 'HEAD']);
    const state = randomToken();
    const query = new URLSearchParams({ state, return_to: `/demo/${name}` });
    return redirect(`/sso/launch/${name}?${query}`, { 'Set-Cookie': cookie(name, 'state', state) });
  }

  /** The callback: a session of this client's own and a redirect away from the signed URL, or a refusal. */
  async function receive(client: Client, request: Request): Promise<Response | DemoRefusal> {
    if (isSpeculative(request)) return new Response(null, { status: 204 });
    const { searchParams } = new URL(request.url);
    const error = searchParams.get('error');
    if (error) return { code: error, reason: 'the identity service answered without a payload' };
    // The verifier takes the clock as an argument, so the visitor can let time pass without waiting.
    const waited = Math.max(0, Number(searchParams.get('wait_seconds') ?? 0));
    try {
      const payload = await openEnvelope(searchParams, {
        secrets: client.secrets,
        schema: payloadSchema,
        iss: config.issuer,
        aud: client.name,
        ttlSeconds: config.ssoTtlSeconds,
        now: new Date(now().getTime() + waited * 1_000),
        consumeNonce: (nonce, expiresAt) =>
          consumeNonce(db, { audience: `demo:${client.name}`, nonce, expiresAt }),
      });
      const expected = readCookie(request, 'state');
      if (payload.state !== undefined && payload.state !== expected) {
        return { code: 'state_mismatch', reason: 'the login was not asked for by this browser' };
      }
      const id = keepSession(payload, searchParams);
      // This client only ever returns to its own page, so `return_to` need not be trusted further.
      return redirect(`/demo/${client.name}`, { 'Set-Cookie': cookie(client.name, 'session', id) });
    } catch (refusal) {
      if (refusal instanceof EnvelopeError) return { code: refusal.code, reason: refusal.reason };
      throw refusal;
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

  function findDemoSession({ name }: Client, request: Request): DemoSession | undefined {
    const session = sessions.get(readCookie(request, 'session') ?? '');
    return session?.payload.aud === name ? session : undefined;
  }

  /** Ends this client's own session only. */
  function end({ name }: Client, request: Request): Response {
    sessions.delete(readCookie(request, 'session') ?? '');
    return redirect(`/demo/${name}`, { 'Set-Cookie': cookie(name, 'session', '') });
  }

  return { find, start, receive, findSession: findDemoSession, end };
}

const randomToken = () =>
  base64url.encode(crypto.getRandomValues(new Uint8Array(16)), { includePadding: false });

/** A demo may run for weeks: the oldest goes when there are too many. */
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
