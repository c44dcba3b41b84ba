// Turns at what many want at once: so many in all, and so many of each key, such as a person or an address. Whoever waits is let in
// key by key, so a key that many wait under holds up itself.

type Limits = {
  /** How many have a turn at once. */
  all?: number;
  /** How many of one key. */
  each: number;
  /** How many wait, in all and of one key. */
  maxWaiting?: { all: number; each: number };
};

type Key = { running: number; waiting: (() => void)[] };

export class Turns {
  #running = 0;
  #waiting = 0;
  /** Those under which somebody has a turn or waits. The one that was let in longest ago comes first. */
  readonly #keys = new Map<string, Key>();
  readonly #limits: Limits;
  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves at the turn of the key, with the function that ends it, to be called once. Undefined if too many wait already.
   */
  async take(key: string): Promise<(() => void) | undefined> {
    const { all = Number.POSITIVE_INFINITY, each, maxWaiting } = this.#limits;
    const own = this.#keys.get(key) ?? { running: 0, waiting: [] };
    if (this.#running < all && own.running < each) {
      this.#begin(key, own);
    } else {
      if (maxWaiting && (this.#waiting >= maxWaiting.all || own.waiting.length >= maxWaiting.each))
        return undefined;
      this.#keys.set(key, own);
      this.#waiting++;
      await new Promise<void>((begin) => own.waiting.push(begin));
    }
    return () => this.#end(key, own);
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
      const begin = its.running < each ? its.waiting.shift() : undefined;
      if (!begin) continue;
      this.#waiting--;
      this.#begin(next, its);
      begin();
      return;
    }
  }
}
