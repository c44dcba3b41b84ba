// What a demo client keeps: the profiles that it has cached and its own sessions, and what a hand-off and each event
// (contract section 10) do to them. In memory: after a restart nobody is logged in.
import { z } from 'zod';
import { type Payload, payloadSchema, type StandardProfile } from '../sso/payload.ts';
import { createToken } from './demo-cookies.ts';

/** The members that this client reads; `erased` has the first two only. */
export const demoEventSchema = z.object({
  seq: z.int(),
  type: z.string(),
  occurred_at: z.string().default(''),
  user_id: z.string().optional(),
  sid: z.string().optional(),
  profile: payloadSchema.shape.profile.optional(),
});
export type DemoEvent = z.infer<typeof demoEventSchema>;

/** What it did here, in words for the visitor. */
export type ArrivedEvent = { seq: number | undefined; type: string; occurredAt: string; effect: string };

export type DemoSession = {
  payload: Payload;
  /** The query of the hand-off, for the visitor to tamper with. */
  query: string;
  /** What the hand-off did to the cached profile of this person. */
  cache: 'first' | 'refreshed' | 'current';
  /** Whether this login asked for a credential again, and got it. */
  isProved: boolean;
};

export type KeptSession = {
  client: string;
  userId: string;
  sid: string | undefined;
  /** Undefined once it has ended: then nothing of the person is left in it. */
  live: DemoSession | undefined;
  /** Those about this person since the login, the newest first. */
  events: ArrivedEvent[];
  /** Called when there is something new to see. */
  watchers: Set<() => void>;
};

export type DemoSessions = ReturnType<typeof createDemoSessions>;

const maxKept = 1_000;
const maxEvents = 20;

export function createDemoSessions() {
  const sessions = new Map<string, KeptSession>();
  const profiles = new Map<string, StandardProfile>();
  /** Logins that ended while their hand-off may still be on its way. */
  const endedSids = new Map<string, true>();
  const keyOf = (client: string, id: string | undefined) => `${client}:${id}`;

  /** A session for the person of a verified payload; the result is its id. Undefined where that login has ended meanwhile. */
  function start(payload: Payload, login: Pick<DemoSession, 'query' | 'isProved'>): string | undefined {
    const { aud: client, sid, profile } = payload;
    if (sid !== undefined && endedSids.has(keyOf(client, sid))) return undefined;
    const cached = profiles.get(keyOf(client, profile.id));
    const isNewer = cached && cached.profile_updated_at < profile.profile_updated_at;
    const cache = !cached ? 'first' : isNewer ? 'refreshed' : 'current';
    // An event may have brought a newer one than the payload of a moment ago.
    if (cache !== 'current') keep(profiles, keyOf(client, profile.id), profile);
    const id = createToken();
    const live = { payload, ...login, cache } as const;
    const kept = {
      client,
      userId: profile.id,
      sid,
      live,
      events: [],
      watchers: new Set<() => void>(),
    };
    keep(sessions, id, kept);
    return id;
  }

  function find(client: string, id: string): KeptSession | undefined {
    const kept = sessions.get(id);
    return kept?.client === client ? kept : undefined;
  }

  function end(client: string, id: string): void {
    if (find(client, id)) sessions.delete(id);
  }

  function apply(client: string, event: DemoEvent): void {
    const key = keyOf(client, event.user_id);
    const cached = profiles.get(key);
    const isNewer = cached && event.profile && cached.profile_updated_at < event.profile.profile_updated_at;
    if (isNewer && event.profile) profiles.set(key, event.profile);
    if (event.type === 'user.deleted') profiles.delete(key);
    if (event.type === 'session.ended') keep(endedSids, keyOf(client, event.sid), true);
    for (const kept of sessions.values()) {
      if (!kept.live || kept.client !== client || kept.userId !== event.user_id) continue;
      const isEnd = endsSession(event, kept.sid);
      const effect = isEnd
        ? 'ended this session'
        : isNewer
          ? 'refreshed the cached profile'
          : 'nothing to do';
      const { seq, type, occurred_at: occurredAt } = event;
      if (isEnd) kept.live = undefined;
      show(kept, { seq, type, occurredAt, effect });
    }
  }

  /** What was missed cannot be read any more: nobody can say whose login still counts. */
  function forgetAll(client: string): void {
    for (const key of profiles.keys()) if (key.startsWith(`${client}:`)) profiles.delete(key);
    for (const kept of sessions.values()) {
      if (kept.client !== client || !kept.live) continue;
      kept.live = undefined;
      const occurredAt = new Date().toISOString();
      show(kept, { seq: undefined, type: 'events_gone', occurredAt, effect: 'ended this session' });
    }
  }

  return {
    start,
    find,
    end,
    apply,
    /** The newest profile that this client has of that person. */
    findProfile: (client: string, userId: string) => profiles.get(keyOf(client, userId)),
    forgetAll,
  };
}

function show(kept: KeptSession, event: ArrivedEvent): void {
  kept.events = [event, ...kept.events].slice(0, maxEvents);
  for (const tell of kept.watchers) tell();
}

const endsSession = ({ type, sid }: DemoEvent, ofSession: string | undefined) =>
  type === 'user.suspended' ||
  type === 'user.deleted' ||
  (type === 'session.ended' && sid !== undefined && sid === ofSession);

/** Drops the oldest when there are too many: a demo may run for weeks. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxKept && oldest !== undefined) map.delete(oldest);
}
