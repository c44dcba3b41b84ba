// Notices statements that get no answer in time. One timer for all of them: one for each, as pg has it (`query_timeout`), took
// 6 % of a hand-off on Deno.

const lookMs = 250;

/**
 * The result watches a statement until its answer is there; answers on one connection come in turn. `onSilence` is called
 * where the oldest has waited for so long. Counted in looks, not by a clock: after a pause of this process, the answers that
 * came meanwhile are read before the next look.
 */
export function createSilenceWatch<Connection>(limitMs: number, onSilence: (on: Connection) => void) {
  const maxLooks = Math.ceil(limitMs / lookMs);
  // For each statement under way, oldest first, how many looks there had been.
  const underWay = new Map<Connection, number[]>();
  let looks = 0;
  let isLooking = false;
  const look = () => {
    looks++;
    for (const [connection, [oldest = looks]] of underWay)
      if (looks - oldest === maxLooks) onSilence(connection);
    isLooking = underWay.size > 0;
    if (isLooking) setTimeout(look, lookMs);
  };
  return async <T>(connection: Connection, answer: Promise<T>): Promise<T> => {
    const statements = underWay.get(connection) ?? [];
    if (statements.push(looks) === 1) underWay.set(connection, statements);
    if (!isLooking) setTimeout(look, lookMs);
    isLooking = true;
    try {
      // Awaited here and nowhere else, or the stack of an error would end here.
      return await answer;
    } finally {
      statements.shift();
      if (statements.length === 0) underWay.delete(connection);
    }
  };
}
