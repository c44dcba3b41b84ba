// Notices connections on which nothing comes back. One timer for all of them: one for each statement, as pg has it
// (`query_timeout`), took 6 % of a hand-off on Deno.

const lookMs = 200;

/**
 * The result watches a statement until its answer is there; answers on one connection come in turn. `onSilence` is called once if
 * the oldest was sent so long ago, however busy the server was with those before it, or if nothing at all was answered for so
 * long. Counted in looks, not by a clock: after a pause of this process, the answers that came meanwhile are read before the
 * next look.
 */
export function createSilenceWatch<Connection>(
  limitMs: number,
  of: 'the oldest' | 'all',
  onSilence: (on: Connection) => void,
) {
  const maxLooks = Math.ceil(limitMs / lookMs);
  // For each connection with statements under way: how many looks there had been when each was sent, oldest first, and when
  // the last answer came.
  const underWay = new Map<Connection, { sentAt: number[]; heardAt: number }>();
  let looks = 0;
  let isLooking = false;
  const look = () => {
    looks++;
    for (const [connection, { sentAt, heardAt }] of underWay) {
      const since = of === 'all' ? Math.max(heardAt, sentAt[0] ?? looks) : (sentAt[0] ?? looks);
      // The first look may come right after the statement.
      if (looks - since === maxLooks + 1) onSilence(connection);
    }
    isLooking = underWay.size > 0;
    if (isLooking) setTimeout(look, lookMs);
  };
  return async <T>(connection: Connection, answer: Promise<T>): Promise<T> => {
    const its = underWay.get(connection) ?? { sentAt: [], heardAt: 0 };
    if (its.sentAt.push(looks) === 1) underWay.set(connection, its);
    if (!isLooking) setTimeout(look, lookMs);
    isLooking = true;
    try {
      // Without `await`, errors would lose the caller's stack.
      return await answer;
    } finally {
      its.heardAt = looks;
      its.sentAt.shift();
      if (its.sentAt.length === 0) underWay.delete(connection);
    }
  };
}
