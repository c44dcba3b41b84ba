// Sends each right and each wrong hand-off, in a new browser each time.
import { type Exam, type Played, play, tryOut } from './exam.ts';
import { readPayload } from './hand-offs.ts';
import { findMaxAge } from './logins.ts';
import { isNamed } from './name-tags.ts';
import { describe } from './outcome.ts';
import { type RightHandOff, rightHandOffs } from './right-hand-offs.ts';
import { type WrongHandOff, wrongHandOffs } from './wrong-hand-offs.ts';

export async function probeSingleHandOffs(exam: Exam): Promise<void> {
  await Promise.all([
    ...wrongHandOffs.map((wrong) => tryOut(exam, [wrong.id], () => expectRefused(exam, wrong))),
    ...rightHandOffs.map((right) => tryOut(exam, [right.id], () => expectTaken(exam, right))),
  ]);
}

async function expectRefused(exam: Exam, wrong: WrongHandOff): Promise<void> {
  const { id, sent, codes, unless, changes } = wrong;
  const played = await play(exam, { changes, secrets: exam.held.slice(0, 1) });
  const { kind, code, launchId } = played.outcome;
  if (await isTaken(exam, played))
    exam.notes.find(id, { saw: `Sent ${sent}: ${describe(played.outcome)}.`, launchId, unless });
  else if (kind === 'bounced' && wrong.mayBounce) return;
  else if (kind !== 'refused' || (code !== undefined && !codes.includes(code)))
    exam.notes.miss(id, `Sent ${sent}: ${describe(played.outcome)}, which is not about that.`);
}

async function expectTaken(exam: Exam, { id, sent, changes }: RightHandOff): Promise<void> {
  const { attempt, handOff, outcome } = await play(exam, { changes, secrets: exam.held.slice(0, 1) });
  // If the login start demands a credential, the client is right to refuse a hand-off that does not say when one was given.
  if (findMaxAge(attempt) !== undefined && readPayload(handOff).auth_time === undefined) return;
  if (outcome.kind !== 'taken')
    exam.notes.find(id, { saw: `Sent ${sent}: ${describe(outcome)}.`, launchId: outcome.launchId });
}

/** Whether the client accepted the hand-off. If the client refused it with a status other than 4xx, notes that, too. */
export async function isTaken(exam: Exam, played: Pick<Played, 'browser' | 'outcome'>): Promise<boolean> {
  const { status } = played.outcome.answer;
  const isLoggedIn = await logsIn(exam, played);
  if (!isLoggedIn && played.outcome.kind !== 'bounced' && status < 400 && status !== 204)
    exam.notes.find('refusal_status', {
      saw: `A refusal was answered with ${status}.`,
      launchId: played.outcome.launchId,
    });
  return isLoggedIn;
}

/**
 * Whether somebody is logged in. If pages name the person, a cookie alone proves nothing, because some clients set a cookie in
 * every browser.
 */
export async function logsIn(
  { logins }: Exam,
  { browser, outcome }: Pick<Played, 'browser' | 'outcome'>,
): Promise<boolean> {
  if (outcome.kind !== 'taken' && (outcome.kind !== 'refused' || outcome.answer.status >= 400)) return false;
  return logins.showsPeople() ? isNamed(await logins.findShown(browser), 'main') : outcome.kind === 'taken';
}
