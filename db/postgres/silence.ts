// Notices connections on which nothing comes back. One timer serves all connections. pg's own timer for each statement
// (`query_timeout`) took 6 % of a hand-off on Deno.

const lookMs = 200;

/**
 * Calls `onSilence` once if the oldest statement has waited for `limitMs`. With 'all', calls it if no statement was answered
 * for that long. Time is counted in looks, not by a clock. So after a pause of this process, answers that have arrived are read
 * before the next look.
 */
export function createSilenceWatch<Connection>(
  limitMs: number,
  of: 'the oldest' | 'all',
  onSilence: (on: Connection) => void,
) {
  const maxLooks = Math.ceil(limitMs / lookMs);
  // By connection: the value of `looks` when each pending statement was sent, oldest first, and when the last answer came.
  const underWay = new Map<Connection, { sentAt: number[]; heardAt: number }>();
  let looks = 0;
  let isLooking = false;
  const look = () => {
    looks++;
    for (const [connection, { sentAt, heardAt }] of underWay) {
      const since = of === 'all' ? Math.max(heardAt, sentAt[0] ?? looks) : (sentAt[0] ?? looks);
      // One more look, because the first may come right after the statement was sent.
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
