// Work that an answer does not wait for, so that the time of the answer does not tell a stranger what was found.
import type { Log } from './log.ts';

export type Aside = {
  /** The work starts once the answer is on its way. If it fails, the log has `fields` and `failure`. */
  start: (work: () => Promise<void>, fields: object, failure: string) => void;
  /** Resolves once all work that was started has ended. */
  finish: () => Promise<void>;
};

// Longer than it takes to write an answer: otherwise the first step of the work would show in the time of the answer.
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
