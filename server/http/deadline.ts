// The deadline of a request (contract 9.97 to 9.99, 503 `unavailable`): one for all that it waits for, however many statements
// that are, so that no answer takes three seconds (docs/decisions/deadline.md).
import { unavailable } from '../basics/errors.ts';

const answerAfterMs = 2_800;
// Earlier, so that what is being committed when the deadline comes was most likely sent in time to be answered.
const commitForMs = 2_600;

export class Deadline {
  #startedAt = performance.now();
  #pausedAt: number | undefined;

  /** Too late to commit: whoever asked is about to be told that nothing was done. */
  get isNear(): boolean {
    return this.#spentMs() >= commitForMs;
  }

  /**
   * Does work whose time does not count, because it is bounded otherwise: a client sends a body, or a password is hashed.
   * Throws 503 `unavailable` where it is too late to begin with it.
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

  /** Its result, or 503 `unavailable` at the deadline. What goes on behind that is nobody's any more. */
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
