// A page takes more of the pool and of the thread than other answers. So only a few pages are made at the same time, and IP
// addresses take turns. Logins, launches and programs never wait for pages (docs/inside/decisions/pages-in-turn.md).
import { Turns } from '../../db/postgres/turns.ts';
import { unavailable } from '../basics/errors.ts';
import { lineOf, siteOf } from '../ground/rate-limits.ts';
import type { Config } from '../settings/config.ts';
import type { Visit } from '../web/requests.ts';

// The door does not count requests that wait for a page, so they have their own limit. One IP address may use half of it.
const maxWaiting = { all: 200, each: 100 };

export type PageTurns = ReturnType<typeof createPageTurns>;

export function createPageTurns({ databasePoolSize }: Pick<Config, 'databasePoolSize'>) {
  // All pages together may use half of the pool, with one connection each. Each IP address may have two pages made at the same
  // time, so that one can be rendered while the other reads from the database.
  const all = Math.max(1, Math.floor(databasePoolSize / 2));
  const turns = new Turns({ all, each: Math.min(all, 2), maxWaiting });
  return {
    countWaiting: () => turns.waiting,
    /** Throws 503 `unavailable` if too many requests wait already, or if no time is left to make the page. */
    async take<Page>(
      { address, deadline }: Pick<Visit, 'address' | 'deadline'>,
      make: () => Promise<Page>,
    ): Promise<Page> {
      if (deadline.isNear) throw unavailable(new Error('no time left for the page'));
      const line = lineOf(address) ?? '';
      // If too many requests wait, the group with the most waiting requests loses one. A group is an IPv4 address or an IPv6
      // /48 network. A site with such a network has many internet connections, which could otherwise fill all places.
      const leave = await turns.take(line, siteOf(address) ?? line);
      if (!leave) throw unavailable(new Error('too many wait for a page'));
      try {
        if (deadline.isNear) throw unavailable(new Error('no time left for the page'));
        return await make();
      } finally {
        // Logins and launches that arrived while the page was made are handled before the next page.
        setTimeout(leave, 0);
      }
    },
  };
}
