// Turns at what many want at once: so many in all, and so many of each key, such as a person or an address. Whoever waits is let in
// key by key, so a key that many wait under holds up itself.

type Limits = {
  /** How many have a turn at once. */
  all?: number;
  /** How many of one key. */
  each: number;
  /** How many wait, in all and of one key. */
  maxWaiting?: { all: number; each: number };
  /** The key of whoever asks; without one, who asks is the key. */
  keyOf?: (asker: string) => string | undefined;
};

type Key = { running: number; waiting: Waiter[] };
/** `go` says whether it is its turn, or it was pushed out. */
type Waiter = { key: string; own: Key; group: string; go: (isTurn: boolean) => void };

export class Turns {
  #running = 0;
  /** Whoever came last is last. */
  readonly #waiting = new Set<Waiter>();
  /** Those under which somebody has a turn or waits. The one that was let in longest ago comes first. */
  readonly #keys = new Map<string, Key>();
  readonly #limits: Limits;
  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves at the turn of the key, with the function that ends it, to be called once. Undefined if too many wait already. If all
   * places are taken, the group of keys that has the most of them gives up its newest one, so nobody fills them alone.
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

  /** Pushes out the newest of the group that has the most waiting, unless the group of the newcomer has as many. */
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
