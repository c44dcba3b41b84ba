// The deadline of a request (contract 9.97 to 9.99, 503 `unavailable`): one for everything that the request waits for,
// however many statements, so that no answer takes three seconds (docs/decisions/deadline.md).
import { unavailable } from '../basics/errors.ts';

const answerAfterMs = 2_800;
// Earlier than the deadline, so that a transaction which is committing when the deadline comes was most likely sent in time
// to be answered.
const commitForMs = 2_600;

export class Deadline {
  #startedAt = performance.now();
  #pausedAt: number | undefined;

  /** Whether it is too late to commit, because the client is about to be told that nothing was done. */
  get isNear(): boolean {
    return this.#spentMs() >= commitForMs;
  }

  /**
   * Does work whose time does not count, because something else limits it: a client sends a body, or a password is hashed.
   * Throws 503 `unavailable` if it is too late to begin.
   */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    if (this.isNear) throw tooLate();
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
        const leftMs = answerAfterMs - this.#spentMs();
        if (leftMs > 0) timer = setTimeout(check, leftMs);
        else failed(tooLate());
      };
      let timer = setTimeout(check, answerAfterMs - this.#spentMs());
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
}

const tooLate = () => unavailable(new Error(`no answer within ${answerAfterMs} ms`));
