// What a client keeps: used nonces, cached profiles, ended logins, sessions, and how far it has read the events. Each store
// is a small interface that you can implement. The stores in memory are for tests, and for a single process that may forget
// everything when it stops.
import type { Profile } from './hand-off.ts';

export type NonceStore = {
  /**
   * Stores the nonce, and returns whether it is new. It must be one statement, so that only one of several callers at once
   * gets `true`. The nonce may be deleted after `keepUntil` (Unix seconds).
   */
  consume(nonce: string, keepUntil: number): Promise<boolean>;
};

export type ProfileStore = {
  /** Whether `apply` would keep this profile now. */
  isNewer(profile: Profile): Promise<boolean>;
  /** Keeps the profile if its `profile_updated_at` is later than that of the kept one. Returns whether it was kept. */
  apply(profile: Profile): Promise<boolean>;
  find(id: string): Promise<Profile | undefined>;
  /** Deletes everything about the person. An older profile that is still on its way must not bring them back. */
  forget(id: string): Promise<void>;
  forgetAll(): Promise<void>;
};

/** Remembers logins that have ended at the identity service while their hand-off may still be on its way here. */
export type EndedLogins = {
  add(sid: string, keepUntil: number): Promise<void>;
  has(sid: string): Promise<boolean>;
};

export type PositionStore = {
  /**
   * Only one pull at a time may hold the position, so that each event is applied once, and in order. A second pull waits for
   * the first. If the first is still at work after the wait, the second gets `undefined`.
   */
  claim(): Promise<Claim | undefined>;
};

/** The position while one pull holds it. */
export type Claim = {
  /** The number of the last event that was applied, or 0 at first. */
  readonly position: number;
  /** Stores a number. False if another pull has taken over, because this one seemed dead. */
  advance(to: number): Promise<boolean>;
  release(): Promise<void>;
};

/** A session of a person at this client. */
export type Session = {
  /** The SHA-256 of the session's cookie, in hex. */
  id: string;
  /** The login with which the session began. */
  sid: string | undefined;
  userId: string;
  /** Unix seconds. */
  expiresAt: number;
};

export type SessionStore = {
  /** Keeps a session. Sessions that expired before `now` may be deleted. */
  add(session: Session, now: number): Promise<void>;
  find(id: string): Promise<Session | undefined>;
  end(id: string): Promise<void>;
  endLogin(sid: string): Promise<void>;
  endPerson(userId: string): Promise<void>;
  endAll(): Promise<void>;
};

export type Stores = {
  nonces: NonceStore;
  profiles: ProfileStore;
  endedLogins: EndedLogins;
  position: PositionStore;
  /** Not needed if you keep the sessions yourself. */
  sessions?: SessionStore;
};

const maxProfiles = 10_000;

/** These stores end with their process, and other processes do not see them. Use `createSqlStores` in production. */
export function createMemoryStores({ now = () => new Date() }: { now?: () => Date } = {}): Required<Stores> {
  const nonces = new Map<string, number>();
  const ended = new Map<string, number>();
  const sessions = new Map<string, Session>();
  /** The value is undefined if the person was deleted. */
  const profiles = new Map<string, Profile | undefined>();
  let position = 0;
  let lastTurn: Promise<void> = Promise.resolve();

  /** The oldest entries come first, because all entries are kept for the same time. */
  function dropExpired(kept: Map<string, number>): void {
    const nowSeconds = now().getTime() / 1_000;
    for (const [key, keepUntil] of kept) {
      if (keepUntil >= nowSeconds) return;
      kept.delete(key);
    }
  }

  function isNewer({ id, profile_updated_at: updatedAt }: Profile): boolean {
    const kept = profiles.get(id);
    return kept ? kept.profile_updated_at < updatedAt : !profiles.has(id);
  }

  return {
    nonces: {
      async consume(nonce, keepUntil) {
        dropExpired(nonces);
        if (nonces.has(nonce)) return false;
        nonces.set(nonce, keepUntil);
        return true;
      },
    },
    profiles: {
      isNewer: async (profile) => isNewer(profile),
      async apply(profile) {
        if (!isNewer(profile)) return false;
        put(profile.id, profile);
        return true;
      },
      find: async (id) => profiles.get(id),
      forget: async (id) => put(id, undefined),
      forgetAll: async () => profiles.clear(),
    },
    endedLogins: {
      async add(sid, keepUntil) {
        dropExpired(ended);
        ended.set(sid, keepUntil);
      },
      has: async (sid) => ended.has(sid),
    },
    sessions: {
      async add(session, now) {
        endEach(({ expiresAt }) => expiresAt < now);
        sessions.set(session.id, session);
      },
      find: async (id) => sessions.get(id),
      async end(id) {
        sessions.delete(id);
      },
      endLogin: async (sid) => endEach((session) => session.sid === sid),
      endPerson: async (userId) => endEach((session) => session.userId === userId),
      endAll: async () => sessions.clear(),
    },
    position: {
      async claim() {
        const turnBefore = lastTurn;
        let release = () => {};
        lastTurn = new Promise((done) => {
          release = done;
        });
        if (!(await isOverSoon(turnBefore))) {
          turnBefore.then(release);
          return undefined;
        }
        return {
          position,
          async advance(to) {
            position = to;
            return true;
          },
          release: async () => release(),
        };
      },
    },
  };

  function endEach(isMeant: (session: Session) => boolean): void {
    for (const [id, session] of sessions) if (isMeant(session)) sessions.delete(id);
  }

  function put(id: string, profile: Profile | undefined): void {
    profiles.delete(id);
    profiles.set(id, profile);
    const [oldest] = profiles.keys();
    if (profiles.size > maxProfiles && oldest !== undefined) profiles.delete(oldest);
  }
}

/** Waits until `turn` is over. Returns false if that takes more than three seconds. */
async function isOverSoon(turn: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((done) => {
    timer = setTimeout(done, 3_000, false);
  });
  const isOver = await Promise.race([turn.then(() => true), late]);
  clearTimeout(timer);
  return isOver;
}
