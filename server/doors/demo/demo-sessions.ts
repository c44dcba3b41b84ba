// Keeps the sessions of a demo client, and says what each event (contract 10.8 to 10.13) does to them. They are in memory, so a
// restart logs everybody out.
import type {
  EventHooks,
  HandOff,
  IdentityEvent,
  Login,
  Profile,
} from '../../../clients/typescript/src/index.ts';
import { createToken } from './demo-cookies.ts';

/** What the event did here, in words for the visitor. */
export type ArrivedEvent = { seq: number | undefined; type: string; occurredAt: string; effect: string };

export type DemoSession = {
  payload: HandOff;
  /** The query of the hand-off, for the visitor to tamper with. */
  query: string;
  /** The newest profile that this client has of the person. */
  profile: Profile;
  /** What the hand-off did to the cached profile of this person. */
  cache: 'first' | 'refreshed' | 'current';
  /** Whether this login asked for a credential again and got one. */
  isProved: boolean;
};

export type KeptSession = {
  client: string;
  userId: string;
  sid: string | undefined;
  /** Undefined once the session has ended. After that, this client keeps nothing about the person. */
  live: DemoSession | undefined;
  /** Events about this person since the login, the newest first. */
  events: ArrivedEvent[];
  /** How many events there have been, including old ones that are not kept. */
  arrived: number;
  /** Calls each watcher when there is something new to see. */
  watchers: Set<() => void>;
};

const maxKept = 1_000;
const maxEvents = 20;

export function createDemoSessions() {
  const sessions = new Map<string, KeptSession>();
  /** The people who have logged in here before. */
  const visitors = new Map<string, true>();

  function start(
    payload: HandOff,
    { isNewer, ...login }: Login & Pick<DemoSession, 'query' | 'profile'> & { isNewer: boolean },
  ): string {
    const { aud: client, sid, profile } = payload;
    const visitor = `${client}:${profile.id}`;
    const cache = !visitors.has(visitor) ? 'first' : isNewer ? 'refreshed' : 'current';
    keep(visitors, visitor, true);
    const id = createToken();
    const live = { payload, ...login, cache } as const;
    const watchers = new Set<() => void>();
    keep(sessions, id, { client, userId: profile.id, sid, live, events: [], arrived: 0, watchers });
    return id;
  }

  function find(client: string, id: string): KeptSession | undefined {
    const kept = sessions.get(id);
    return kept?.client === client ? kept : undefined;
  }

  function end(client: string, id: string): void {
    if (find(client, id)) sessions.delete(id);
  }

  function endLogin(client: string, sid: string): void {
    for (const [id, kept] of sessions) if (kept.client === client && kept.sid === sid) sessions.delete(id);
  }

  const listLive = (client: string) =>
    [...sessions.values()].filter((kept) => kept.client === client && kept.live);

  const hooksOf = (client: string): EventHooks => ({
    // This does nothing. `apply` ends the session, so that the page of the ended session can show the event.
    endSession() {},
    apply(event, isNewer) {
      const { seq, type, occurred_at: occurredAt = '', profile, user_id: userId } = event;
      if (type === 'user.deleted') visitors.delete(`${client}:${userId}`);
      for (const kept of listLive(client).filter((each) => each.userId === userId)) {
        const isEnd = endsSession(event, kept.sid);
        if (isEnd) kept.live = undefined;
        else if (isNewer && profile && kept.live) kept.live.profile = profile;
        const effect = isEnd
          ? 'ended this session'
          : isNewer
            ? 'refreshed the cached profile'
            : 'nothing to do';
        show(kept, { seq, type, occurredAt, effect });
      }
    },
    /**
     * The client has missed some events and can never read them. So nobody can say which logins are still valid, and all sessions
     * end.
     */
    startOver() {
      const occurredAt = new Date().toISOString();
      for (const kept of listLive(client)) {
        kept.live = undefined;
        show(kept, { seq: undefined, type: 'events_gone', occurredAt, effect: 'ended this session' });
      }
    },
  });

  return { start, find, end, endLogin, hooksOf };
}

function show(kept: KeptSession, event: ArrivedEvent): void {
  kept.events = [event, ...kept.events].slice(0, maxEvents);
  kept.arrived++;
  for (const tell of kept.watchers) tell();
}

const endsSession = ({ type, sid }: IdentityEvent, ofSession: string | undefined) =>
  type === 'user.suspended' ||
  type === 'user.deleted' ||
  (type === 'session.ended' && sid !== undefined && sid === ofSession);

/** Deletes the oldest entry if there are too many, because a demo may run for weeks. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxKept && oldest !== undefined) map.delete(oldest);
}
