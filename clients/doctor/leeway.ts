// Sends hand-offs that are up to 30 seconds too early or too late. A client must accept these, because clocks differ.
import { type Exam, play, tryOut } from './exam.ts';
import type { Changes } from './hand-offs.ts';
import { describe } from './outcome.ts';
import { expired, issued } from './wrong-hand-offs.ts';

const offSeconds = 20;
/** If the answers take longer, the hand-offs may be outside the 30 seconds. */
const spareMs = 5_000;

const ends: { sent: string; clock: string; changes: Changes }[] = [
  {
    sent: `a hand-off issued ${offSeconds} seconds ahead`,
    clock: 'slow',
    changes: issued(offSeconds),
  },
  {
    sent: `a hand-off that expired ${offSeconds} seconds ago`,
    clock: 'fast',
    changes: expired(offSeconds),
  },
];

/**
 * A client without leeway refuses both early and late hand-offs. A client that refuses only one of the two has a wrong clock.
 */
export function probeLeeway(exam: Exam): Promise<void> {
  return tryOut(exam, ['leeway_missing'], async () => {
    const startedAt = performance.now();
    const played = await Promise.all(
      ends.map(async (end) => ({ ...end, ...(await play(exam, { changes: end.changes })) })),
    );
    const refused = played.filter(({ outcome }) => outcome.kind !== 'taken');
    const [first] = refused;
    if (!first) return;
    if (performance.now() - startedAt > spareMs)
      return exam.notes.miss('leeway_missing', 'It answers too slowly to tell.');
    const { sent, clock, outcome } = first;
    const saw = `Sent ${sent}: ${describe(outcome)}`;
    const { launchId } = outcome;
    if (refused.length === ends.length) exam.notes.find('leeway_missing', { saw: `${saw}.`, launchId });
    else
      exam.notes.find('clock_wrong', {
        saw: `${saw}, but not one at the other end: its clock is ${clock} by ten seconds or more.`,
        launchId,
      });
  });
}
