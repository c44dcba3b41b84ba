// Lets callers take turns at a scarce resource. There is a limit for all turns together, and a limit for each key, such as a
// person or an IP address. Keys are served in turn, so a key with many waiters delays only itself.

type Limits = {
  /** How many may have a turn at the same time: `all` for all keys together, `each` for one key. */
  all?: number;
  each: number;
  maxWaiting?: { all: number; each: number };
  /** Returns the key of an asker. By default, each asker is its own key. */
  keyOf?: (asker: string) => string | undefined;
};

type Key = { running: number; waiting: Waiter[] };
/** `go(false)` tells the waiter that it was pushed out. */
type Waiter = { key: string; own: Key; group: string; go: (isTurn: boolean) => void };

export class Turns {
  #running = 0;
  /** The newest waiter is last. */
  readonly #waiting = new Set<Waiter>();
  /** Keys with a turn or a waiter. The key that was let in longest ago comes first. */
  readonly #keys = new Map<string, Key>();
  readonly #limits: Limits;
  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with a function that ends the turn. Call this function exactly one time. Resolves with undefined if too many are
   * waiting.
   */
  async take(asker: string, ofGroup?: string): Promise<(() => void) | undefined> {
    const { all = Number.POSITIVE_INFINITY, each, maxWaiting, keyOf } = this.#limits;
    const key = keyOf?.(asker) ?? asker;
    const group = ofGroup ?? key;
    const own = this.#keys.get(key) ?? { running: 0, waiting: [] };
    if (this.#running < all && own.running < each) {
      this.#begin(key, own);
    } else {
      if (maxWaiting && own.waiting.length >= maxWaiting.each) return undefined;
      if (maxWaiting && this.#waiting.size >= maxWaiting.all && !this.#makeRoom(group)) return undefined;
      this.#keys.set(key, own);
      const isTurn = await new Promise<boolean>((go) => {
        const waiter = { key, own, group, go };
        own.waiting.push(waiter);
        this.#waiting.add(waiter);
      });
      if (!isTurn) return undefined;
    }
    return () => this.#end(key, own);
  }

  /** Pushes out the newest waiter of the group with the most waiters, so that no group fills all places alone. */
  #makeRoom(group: string): boolean {
    const counts = new Map<string, number>();
    for (const waiter of this.#waiting) counts.set(waiter.group, (counts.get(waiter.group) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most <= (counts.get(group) ?? 0) + 1) return false;
    const last = [...this.#waiting].findLast((waiter) => counts.get(waiter.group) === most);
    if (!last) return false;
    const { key, own, go } = last;
    this.#waiting.delete(last);
    own.waiting.splice(own.waiting.indexOf(last), 1);
    if (own.running === 0 && own.waiting.length === 0) this.#keys.delete(key);
    go(false);
    return true;
  }

  #begin(key: string, own: Key): void {
    this.#running++;
    own.running++;
    this.#keys.delete(key);
    this.#keys.set(key, own);
  }

  #end(key: string, own: Key): void {
    this.#running--;
    own.running--;
    if (own.running === 0 && own.waiting.length === 0) this.#keys.delete(key);
    const { all = Number.POSITIVE_INFINITY, each } = this.#limits;
    if (this.#running >= all) return;
    for (const [next, its] of this.#keys) {
      const first = its.running < each ? its.waiting.shift() : undefined;
      if (!first) continue;
      this.#waiting.delete(first);
      this.#begin(next, its);
      first.go(true);
      return;
    }
  }
}
