// Finds out whether a cache answers in the client's place. If two browsers get the same session, a cache is likely but not
// certain. Some clients give two logins of one person the same signed cookie: always, or within one second.
import { type Exam, makeFor, newBrowser, play, tryOut } from './exam.ts';
import type { Outcome } from './outcome.ts';

/** Longer than a second, because the times in signed cookies have whole seconds. */
const pauseMs = 1_100;
// If three logins happen together, at least two of them are in the same second.
const atOnce = 3;

const cannotTell =
  'A cache may be in front of it: each login of a person sets the same session, so an answer of a cache looks like one of its own.';

/** Call this last, because it does something only if two browsers were given the same session. */
export function probeCaches(exam: Exam): Promise<void> {
  return tryOut(exam, ['cache_in_front'], async () => {
    if (exam.logins.hasRepeatedSession()) await probeRepeatedSession(exam);
  });
}

async function probeRepeatedSession(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const isSame = (one: Outcome, other: Outcome) =>
    logins.readSession(one) !== '' && logins.readSession(one) === logins.readSession(other);
  const [login, ...others] = await Promise.all(Array.from({ length: atOnce }, () => logIn(exam)));
  if (!login) return;
  const { launchId } = login.outcome;
  const somebodyElse = await play(exam, { part: 'profile' });
  if (isSame(login.outcome, somebodyElse.outcome))
    return notes.find('cache_in_front', { saw: 'Two people were given the same session.', launchId });
  if (!isSame(login.outcome, await login.openAgain())) return;
  const all = new Set([login, ...others].map(({ outcome }) => logins.readSession(outcome)));
  if (all.size < atOnce) {
    // If the session is a signed cookie with a time in it, the cookie is different a second later, unless a cache answers.
    await new Promise((done) => setTimeout(done, pauseMs));
    if (!isSame(login.outcome, await login.openAgain())) return;
    if (isSame(login.outcome, (await play(exam)).outcome)) return notes.doubt(cannotTell);
  }
  notes.find('cache_in_front', { saw: 'Two browsers were given the same session.', launchId });
}

/** Logs in, and returns how to open the same hand-off again in a copy of the browser from before the login. */
async function logIn(exam: Exam) {
  const browser = newBrowser(exam);
  const handOff = await makeFor(exam, await exam.logins.start(browser));
  const before = browser.copy();
  return {
    outcome: await exam.logins.open(browser, handOff),
    openAgain: () => exam.logins.open(before.copy(), handOff),
  };
}
