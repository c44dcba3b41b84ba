// What a client keeps: used nonces, cached profiles, ended logins and how far it has read the events. Each is a small interface,
// so that any of them can be yours. In memory is for tests, and for one process that may forget.
import type { Profile } from './hand-off.ts';

export type NonceStore = {
  /**
   * Stores the nonce, and says whether it was not there yet: in one statement, so that of many at once one gets `true`. It
   * may be deleted after `keepUntil` (Unix seconds).
   */
  consume(nonce: string, keepUntil: number): Promise<boolean>;
};

export type ProfileStore = {
  /** Whether `apply` would keep this profile now. */
  isNewer(profile: Profile): Promise<boolean>;
  /** Keeps the profile if its `profile_updated_at` is later than that of the kept one, and says whether it was. */
  apply(profile: Profile): Promise<boolean>;
  find(id: string): Promise<Profile | undefined>;
  /** Nothing of the person is left, and no older profile that is still on its way brings them back. */
  forget(id: string): Promise<void>;
  forgetAll(): Promise<void>;
};

/** Logins that ended at the identity service while their hand-off may still be on its way here. */
export type EndedLogins = {
  add(sid: string, keepUntil: number): Promise<void>;
  has(sid: string): Promise<boolean>;
};

export type PositionStore = {
  /**
   * For one pull at a time, so that none applies an event again or after a later one. Another pull waits; it gets `undefined`
   * if the first is still at work after that.
   */
  claim(): Promise<Claim | undefined>;
};

/** The position in the hands of one pull. */
export type Claim = {
  /** The number of the last event that was applied; 0 at first. */
  readonly position: number;
  /** Stores a number, and says whether this pull still holds the position: if it seemed dead, another one has taken over. */
  advance(to: number): Promise<boolean>;
  release(): Promise<void>;
};

export type Stores = {
  nonces: NonceStore;
  profiles: ProfileStore;
  endedLogins: EndedLogins;
  position: PositionStore;
};

const maxProfiles = 10_000;

/** Lost with the process, and unknown to any other one: in production use `createSqlStores`. */
export function createMemoryStores({ now = () => new Date() }: { now?: () => Date } = {}): Stores {
  const nonces = new Map<string, number>();
  const ended = new Map<string, number>();
  /** Undefined for somebody who was deleted. */
  const profiles = new Map<string, Profile | undefined>();
  let position = 0;
  let lastTurn: Promise<void> = Promise.resolve();

  /** The oldest come first, because all are kept for the same time. */
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

  function put(id: string, profile: Profile | undefined): void {
    profiles.delete(id);
    profiles.set(id, profile);
    const [oldest] = profiles.keys();
    if (profiles.size > maxProfiles && oldest !== undefined) profiles.delete(oldest);
  }
}

/** Whether the turn is over within three seconds. */
async function isOverSoon(turn: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((done) => {
    timer = setTimeout(done, 3_000, false);
  });
  const isOver = await Promise.race([turn.then(() => true), late]);
  clearTimeout(timer);
  return isOver;
}
