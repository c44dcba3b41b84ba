// Small demo clients, in local mode only. They let a newcomer watch how a hand-off arrives and is verified or refused.
// They are written as a product's own engineers would write them, with only the kit for TypeScript (clients/typescript), their
// own secret, and a table for used nonces. They have their own sessions. The end of a demo session ends no session of the
// service. If a session ends at the service, an event ends the demo session.
import {
  createIdentityClient,
  createMemoryStores,
  type IdentityClient,
  Refusal,
  type Stores,
} from '../../../clients/typescript/src/index.ts';
import { consumeNonce } from '../../../db/tables/nonces.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Client } from '../../sso/clients.ts';
import { redirect, respond } from '../../web/answers.ts';
import { isSpeculative } from '../../web/requests.ts';
import { buildCookie, readCookies } from './demo-cookies.ts';
import { createDemoSessions, type DemoSession, type KeptSession } from './demo-sessions.ts';
import { createDemoStreams } from './demo-streams.ts';

/** If `session` is missing, the session has ended, and `events` begins with the event that ended it. */
type DemoVisit = { session?: DemoSession } & Pick<KeptSession, 'events' | 'arrived'>;

/** What a real product would show of a refusal and, because this is a demo, the precise reason. */
type DemoRefusal = Pick<Refusal, 'code' | 'reason' | 'status' | 'launchId'>;

type Connection = { stores: Stores; identity: IdentityClient; isCaughtUp: boolean };

const sessionCookie = 'demo_session';
const waitMs = 1_000;
const maxWaitSeconds = 1_000_000_000;

export function createDemoClients({
  config,
  clients,
  db,
  log,
  now,
}: Pick<Dependencies, 'config' | 'clients' | 'db' | 'log' | 'now'>) {
  const sessions = createDemoSessions();
  const streams = createDemoStreams();
  const connections = new Map<string, Connection>();

  /** Returns undefined for a client with a real callback, because no demo client plays it. */
  function find(name: string): Client | undefined {
    const client = clients.get(name);
    return client?.isDemo ? client : undefined;
  }

  function connect(client: Client): Connection {
    const known = connections.get(client.name);
    if (known) return known;
    const stores = { ...createMemoryStores({ now }), nonces: buildNonceStore(client) };
    const connection = { stores, identity: build(client, stores), isCaughtUp: false };
    connections.set(client.name, connection);
    return connection;
  }

  /** Returns the kit for one client, with a clock that may be ahead of ours. */
  function build(client: Client, stores: Stores, aheadSeconds = 0): IdentityClient {
    const homeUrl = `${config.baseUrl}/demo/${client.name}`;
    return createIdentityClient({
      ...stores,
      issuer: config.issuer,
      client: client.name,
      secrets: client.secrets,
      callbackUrl: client.callbackUrl,
      loginUrl: `${homeUrl}/login`,
      homeUrl,
      ttlSeconds: client.ttlSeconds,
      now: () => new Date(now().getTime() + aheadSeconds * 1_000),
    });
  }

  function buildNonceStore({ name, ttlSeconds }: Client): Stores['nonces'] {
    return {
      async consume(nonce, keepUntil) {
        // `keepUntil` is `exp` + 60, and `exp` of our hand-offs is `iat` plus the whole TTL. So this computes `iat`. If a
        // hand-off has a shorter life, the result is too early. Then the hand-off could be refused after a restore, but never
        // accepted twice.
        const issuedAt = new Date((keepUntil - 60 - ttlSeconds) * 1_000);
        const expiresAt = new Date(keepUntil * 1_000);
        const use = await consumeNonce(db, { audience: `demo:${name}`, nonce, issuedAt, expiresAt });
        if (use === 'before_restore') throw new Refusal('expired', 'iat before restore');
        return use === 'fresh';
      },
    };
  }

  function start(client: Client, request: Request): Promise<Response> {
    const asked = new URL(request.url).searchParams.get('prompt');
    const prompt = asked === 'login' || asked === 'none' ? asked : undefined;
    return connect(client).identity.startLogin(request, { returnTo: `/demo/${client.name}`, prompt });
  }

  /** Handles the callback. It starts a session of this client and redirects away from the signed URL, or refuses. */
  async function receive(client: Client, request: Request): Promise<Response | DemoRefusal> {
    const { name } = client;
    const { stores } = connect(client);
    const query = new URL(request.url).searchParams;
    // The kit gets the clock as an argument, so that visitors can let time pass without waiting.
    const waited = Math.min(Math.max(0, Number(query.get('wait_seconds')) || 0), maxWaitSeconds);
    query.delete('wait_seconds');
    let isNewer = false;
    let refusal: Refusal | undefined;
    const answer = await build(client, stores, waited).handleCallback(request, {
      isLoggedIn: () => findVisit(client, request)?.session,
      savePerson() {
        isNewer = true;
      },
      async startSession(handOff, login) {
        await catchUpOnce(client);
        // Events may have brought a newer profile than the hand-off.
        const profile = (await stores.profiles.find(handOff.profile.id)) ?? handOff.profile;
        const id = sessions.start(handOff, { ...login, isNewer, profile, query: query.toString() });
        return { 'Set-Cookie': buildCookie(name, sessionCookie, id) };
      },
      endSession: (sid) => sessions.endLogin(name, sid),
      onRefusal(found) {
        // A failure of the store says nothing about the hand-off. So the store's error is thrown, and the service answers it
        // like any unexpected error.
        if (found.code === 'store_unavailable') throw found.cause;
        refusal = found;
        return undefined;
      },
    });
    return refusal ?? answer;
  }

  function findVisit({ name }: Client, request: Request): DemoVisit | undefined {
    const kept = sessions.find(name, readSessionId(request));
    return kept && { session: kept.live, events: kept.events, arrived: kept.arrived };
  }

  /** Ends this client's own session only. */
  function end({ name }: Client, request: Request): Response {
    sessions.end(name, readSessionId(request));
    return redirect(`/demo/${name}`, { 'Set-Cookie': buildCookie(name, sessionCookie, '', 0) });
  }

  async function receiveNudge(client: Client, request: Request): Promise<Response> {
    const answer = await connect(client).identity.receiveNudge(request);
    // Does not wait for the pull, because it may take longer than the sender of a nudge waits for its answer.
    if (answer.ok) void pull(client);
    return answer;
  }

  async function pull(client: Client): Promise<void> {
    const connection = connect(client);
    try {
      await connection.identity.pullEvents(sessions.hooksOf(client.name));
      connection.isCaughtUp = true;
    } catch (err) {
      log.info({ client: client.name, err }, 'demo client has not pulled');
    }
  }

  /** Reads past events before the first session starts, so that they cannot end that session. Does not wait long. */
  async function catchUpOnce(client: Client): Promise<void> {
    if (connect(client).isCaughtUp) return;
    await Promise.race([pull(client), new Promise<void>((done) => setTimeout(done, waitMs))]);
  }

  /** Tells an open page by server-sent events how many events have arrived. */
  function watch({ name }: Client, request: Request): Response {
    const kept = isSpeculative(request) ? undefined : sessions.find(name, readSessionId(request));
    // After a 204, a browser does not connect again.
    return kept ? streams.open(kept.watchers, () => kept.arrived) : respond(204);
  }

  return { find, start, receive, findVisit, end, receiveNudge, watch, endStreams: streams.end };
}

const readSessionId = (request: Request) => readCookies(request)[sessionCookie] ?? '';
