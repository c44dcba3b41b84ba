// Pages in turn. To read and render a page takes more of the pool and of the one thread than any other answer, and strangers may ask
// for as many as they like. So a few are made at once, and addresses take turns; logins, launches and all that programs ask for
// never wait behind them (docs/decisions/pages-in-turn.md).
import { Turns } from '../../db/postgres/turns.ts';
import { unavailable } from '../basics/errors.ts';
import { lineOf, siteOf } from '../ground/rate-limits.ts';
import type { Config } from '../settings/config.ts';
import type { Visit } from '../web/requests.ts';

// They have a bound of their own, because the door leaves them out of its count. One address has half of it.
const maxWaiting = { all: 200, each: 100 };

export type PageTurns = ReturnType<typeof createPageTurns>;

export function createPageTurns({ databasePoolSize }: Pick<Config, 'databasePoolSize'>) {
  // Each page reads on one connection, so pages have half of the pool at most. Of one address two are made at once: one renders
  // while the other reads. More would only make each step of a login wait for more renderings.
  const all = Math.max(1, Math.floor(databasePoolSize / 2));
  const turns = new Turns({ all, each: Math.min(all, 2), maxWaiting });
  return {
    /** How many requests wait for their turn, and do nothing meanwhile. */
    countWaiting: () => turns.waiting,
    /**
     * Makes the page at the turn of its address. Throws 503 `unavailable` if too many wait already, and if there is no time left to make
     * it.
     */
    async take<Page>(
      { address, deadline }: Pick<Visit, 'address' | 'deadline'>,
      make: () => Promise<Page>,
    ): Promise<Page> {
      if (deadline.isNear) throw unavailable(new Error('no time left for the page'));
      const line = lineOf(address) ?? '';
      // One customer can have many lines in IPv6, and fill all places from them.
      const leave = await turns.take(line, siteOf(address) ?? line);
      if (!leave) throw unavailable(new Error('too many wait for a page'));
      try {
        if (deadline.isNear) throw unavailable(new Error('no time left for the page'));
        return await make();
      } finally {
        // Answers to logins and launches that have come meanwhile are read before the next page begins.
        setTimeout(leave, 0);
      }
    },
  };
}
