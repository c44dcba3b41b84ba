// Detects connections on which no answer comes. One timer serves all connections. pg's own timer for each statement
// (`query_timeout`) took 6 % of a hand-off's time on Deno.

const lookMs = 200;

/**
 * Calls `onSilence` one time if the oldest statement has waited for `limitMs`. With 'all', calls it if no statement at all was
 * answered for `limitMs`. Time is counted in looks, one every `lookMs`, and not by the clock. So a pause of this process counts
 * as one look at most, and the answers that arrived during the pause are read before the next look.
 */
export function createSilenceWatch<Connection>(
  limitMs: number,
  of: 'the oldest' | 'all',
  onSilence: (on: Connection) => void,
) {
  const maxLooks = Math.ceil(limitMs / lookMs);
  // For each connection: the value of `looks` when each pending statement was sent, the oldest first, and the value of `looks`
  // when the last answer came.
  const underWay = new Map<Connection, { sentAt: number[]; heardAt: number }>();
  let looks = 0;
  let isLooking = false;
  const look = () => {
    looks++;
    for (const [connection, { sentAt, heardAt }] of underWay) {
      const since = of === 'all' ? Math.max(heardAt, sentAt[0] ?? looks) : (sentAt[0] ?? looks);
      // Waits one look longer than `maxLooks`, because the first look may come right after the statement was sent.
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
