// Work that an answer does not wait for. If an answer waited for it, a stranger could tell from the time of the answer what was
// found.
import type { Log } from './log.ts';

export type Aside = {
  /** Starts the work once the answer is on its way. If the work fails, `fields` and `failure` are logged. */
  start: (work: () => Promise<void>, fields: object, failure: string) => void;
  /** Resolves once all work that was started has ended. */
  finish: () => Promise<void>;
};

// The work starts after this pause, which is longer than writing an answer takes. So the work cannot delay the answer.
const pauseMs = 100;

export function createAside(log: Log): Aside {
  const underWay = new Set<Promise<void>>();
  return {
    start(work, fields, failure) {
      const run = new Promise((done) => setTimeout(done, pauseMs))
        .then(work)
        .catch((err) => log.error({ ...fields, err }, failure))
        .finally(() => underWay.delete(run));
      underWay.add(run);
    },
    async finish() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
