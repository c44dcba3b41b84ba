// Local mode only: small clients, written as a product's own engineers would, so that a newcomer can watch a
// hand-off arrive and be verified or refused.
//
// They use only the public verifier (../sso), their own secret, and a table for used nonces. Their sessions are
// their own: ending one here ends none there, and one that ends there ends here by an event.
import { consumeNonce } from '../../db/nonces.ts';
import { redirect, respond } from '../http/answers.ts';
import { isSpeculative } from '../http/requests.ts';
import type { Services } from '../services.ts';
import type { Client } from '../sso/clients.ts';
import { EnvelopeError, verifyEnvelope } from '../sso/envelope.ts';
import { payloadSchema, type StandardProfile } from '../sso/payload.ts';
import { findAttempt, isProvedSince, startAttempt } from './demo-attempts.ts';
import { buildCookie, readCookies } from './demo-cookies.ts';
import { createDemoSubscriptions } from './demo-events.ts';
import {
  type ArrivedEvent,
  createDemoSessions,
  type DemoSession,
  type KeptSession,
} from './demo-sessions.ts';
import { createDemoStreams } from './demo-streams.ts';

/** What the page shows of a visitor. Without `session` that has ended, and `events` begins with the one that ended it. */
export type DemoVisit = {
  session?: DemoSession & { profile: StandardProfile };
  events: ArrivedEvent[];
};

/** The public code and, because it is a demo, the precise reason. */
export type DemoRefusal = { code: string; reason: string };

const sessionCookie = 'demo_session';

export function createDemoClients(services: Pick<Services, 'config' | 'db' | 'log' | 'now'>) {
  const { config, db, now } = services;
  const sessions = createDemoSessions();
  const streams = createDemoStreams();
  const { receiveNudge, catchUpOnce } = createDemoSubscriptions(services, sessions);

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
      await catchUpOnce(client);
      const query = new URLSearchParams([...searchParams].filter(([name]) => name !== 'wait_seconds'));
      const id = sessions.start(payload, { query: query.toString(), isProved: attempt.mustProve });
      if (!id) return { code: 'session_ended', reason: 'this login has ended meanwhile' };
      // Always this client's own page, so it need not trust `return_to`.
      return redirect(`/demo/${client.name}`, { 'Set-Cookie': buildCookie(client.name, sessionCookie, id) });
    } catch (error) {
      if (error instanceof EnvelopeError) return { code: error.code, reason: error.reason };
      throw error;
    }
  }

  /** A link from elsewhere brought the hand-off. It stays unused: this client asks for one of its own. */
  function startOver(client: Client, request: Request): Response {
    const isLoggedIn = findVisit(client, request)?.session !== undefined;
    return redirect(isLoggedIn ? `/demo/${client.name}` : `/demo/${client.name}/login`);
  }

  function findVisit({ name }: Client, request: Request): DemoVisit | undefined {
    const kept = sessions.find(name, readSessionId(request));
    return kept && describe(kept);
  }

  function describe({ client, userId, live, events }: KeptSession): DemoVisit {
    if (!live) return { events };
    const profile = sessions.findProfile(client, userId) ?? live.payload.profile;
    return { session: { ...live, profile }, events };
  }

  /** Ends this client's own session only. */
  function end({ name }: Client, request: Request): Response {
    sessions.end(name, readSessionId(request));
    return redirect(`/demo/${name}`, { 'Set-Cookie': buildCookie(name, sessionCookie, '', 0) });
  }

  /** Sends the open page, by server-sent events, what it is to show now. */
  function watch({ name }: Client, request: Request): Response {
    const kept = isSpeculative(request) ? undefined : sessions.find(name, readSessionId(request));
    // To a browser this also says: do not ask again.
    return kept ? streams.open(kept.watchers, () => describe(kept)) : respond(204);
  }

  return { find, start, receive, findVisit, end, receiveNudge, watch, endStreams: streams.end };
}

const readSessionId = (request: Request) => readCookies(request)[sessionCookie] ?? '';

const unknownState = { code: 'state_mismatch', reason: 'this browser did not ask for the login' };
