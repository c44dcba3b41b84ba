// Sets one deadline for everything that a request waits for (contract 9.97 to 9.99, docs/inside/decisions/deadline.md).
import { unavailable } from '../basics/errors.ts';

export const answerWithinMs = 2_800;
// If a commit starts this long before the deadline, it is most likely answered in time.
const commitBeforeMs = 200;

export class Deadline {
  #startedAt = performance.now();
  #pausedAt: number | undefined;
  readonly #withinMs: number;

  constructor(withinMs = answerWithinMs) {
    this.#withinMs = withinMs;
  }

  /**
   * Whether it is too late to commit. At the deadline, the client may be told that nothing was done. A later commit would make
   * this untrue.
   */
  get isNear(): boolean {
    return this.#spentMs() >= this.#withinMs - commitBeforeMs;
  }

  /**
   * Stops the clock for work that has its own limit, such as reading a body. If `isNear`, does not begin the work and throws
   * 503 `unavailable`.
   */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    if (this.isNear) throw this.#tooLate();
    this.#pausedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#startedAt += performance.now() - this.#pausedAt;
      this.#pausedAt = undefined;
    }
  }

  /** Throws 503 `unavailable` at the deadline. The work goes on, but nobody waits for it. */
  enforce<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((done, failed) => {
      const check = () => {
        const leftMs = this.#withinMs - this.#spentMs();
        if (leftMs > 0) timer = setTimeout(check, leftMs);
        else failed(this.#tooLate());
      };
      let timer = setTimeout(check, this.#withinMs - this.#spentMs());
      work.then(done, failed).finally(() => clearTimeout(timer));
    });
  }

  #spentMs(): number {
    return (this.#pausedAt ?? performance.now()) - this.#startedAt;
  }

  #tooLate() {
    return unavailable(new Error(`no answer within ${this.#withinMs} ms`));
  }
}
