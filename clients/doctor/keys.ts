// Finds out whether anybody can sign hand-offs that the client accepts, because the client holds an empty or well-known key.
import { type Exam, play, tryOut } from './exam.ts';
import { listKnownKeys } from './known-keys.ts';
import { describe } from './outcome.ts';
import { findTelling } from './secrets.ts';
import { isTaken } from './single-hand-offs.ts';

export async function probeKnownKeys(exam: Exam): Promise<void> {
  let tells: Awaited<ReturnType<typeof findTelling>>;
  let isLimited = true;
  await tryOut(exam, ['key_known'], async () => {
    tells = await findTelling(exam);
    isLimited = false;
  });
  if (isLimited) return;
  await Promise.all(
    listKnownKeys(exam.target).map(([key, words]) =>
      tryOut(exam, ['key_known'], async () => {
        if (tells && !(await tells(key))) return;
        const played = await play(exam, { secrets: [key] });
        if (!(await isTaken(exam, played))) return;
        const { outcome } = played;
        exam.notes.find('key_known', {
          saw: `Sent a hand-off signed with ${words}: ${describe(outcome)}.`,
          launchId: outcome.launchId,
          unless: ['mac_not_checked', 'cache_in_front'],
        });
      }),
    ),
  );
}
