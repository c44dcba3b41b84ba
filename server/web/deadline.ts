// The deadline of a request (contract 9.97 to 9.99, 503 `unavailable`): one for everything that the request waits for,
// however many statements, so that no answer takes three seconds (docs/decisions/deadline.md).
import { unavailable } from '../basics/errors.ts';

/** After how long a request is answered at the latest, but for tests of what is not about time. */
export const answerWithinMs = 2_800;
// A transaction that is committing when the deadline comes was most likely sent in time to be answered.
const commitBeforeMs = 200;

export class Deadline {
  #startedAt = performance.now();
  #pausedAt: number | undefined;
  readonly #withinMs: number;

  constructor(withinMs = answerWithinMs) {
    this.#withinMs = withinMs;
  }

  /** Whether it is too late to commit, because the client is about to be told that nothing was done. */
  get isNear(): boolean {
    return this.#spentMs() >= this.#withinMs - commitBeforeMs;
  }

  /**
   * Does work whose time does not count, because something else limits it: a client sends a body, or a password is hashed.
   * Throws 503 `unavailable` if it is too late to begin.
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

  /**
   * The result of the work, or 503 `unavailable` at the deadline. Work that goes on after the deadline has nobody waiting
   * for it.
   */
  enforce<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((done, failed) => {
      const check = () => {
        const leftMs = this.#withinMs - this.#spentMs();
        if (leftMs > 0) timer = setTimeout(check, leftMs);
        else failed(this.#tooLate());
      };
      let timer = setTimeout(check, this.#withinMs - this.#spentMs());
      work.then(
        (result) => {
          clearTimeout(timer);
          done(result);
        },
        (error) => {
          clearTimeout(timer);
          failed(error);
        },
      );
    });
  }

  #spentMs(): number {
    return (this.#pausedAt ?? performance.now()) - this.#startedAt;
  }

  #tooLate() {
    return unavailable(new Error(`no answer within ${this.#withinMs} ms`));
  }
}
