// Plays the first genuine login, from which the doctor learns what a login looks like at this client. Without it the doctor
// can see nothing else.
import refusals from '../../clients/refusals.json' with { type: 'json' };
import { minSessionLength } from './answers.ts';
import type { Browser } from './browser.ts';
import { describeClock, measureClock } from './clock.ts';
import { type Exam, newBrowser, type Played, play } from './exam.ts';
import { describe, type Outcome } from './outcome.ts';

const maxClockOffset = 10;

/**
 * Plays the login. Undefined if the client refuses it, or if nothing shows that somebody is logged in. A note then says why.
 */
export async function playGenuine(exam: Exam): Promise<Played | undefined> {
  let played = await play(exam, { secrets: exam.target.secrets });
  if (isAboutTime(played.outcome) && (await setClock(exam, played.outcome)))
    played = await play(exam, { secrets: exam.target.secrets });
  const { browser, attempt, outcome } = played;
  if (outcome.kind !== 'taken') return noteRefusal(exam, outcome);
  await noteClock(exam, outcome);
  await exam.logins.learn(browser, outcome);
  await learnNameTags(exam, browser);
  if (!exam.logins.showsPeople()) {
    exam.notes.doubt(describeUnknown(exam));
    // If no page names people and no cookie is set, a login looks like a refusal.
    if (exam.logins.sessionCookies().length === 0) return undefined;
  }
  checkCookies(exam, played);
  checkLaunch(exam, attempt.launch);
  if (exam.held.length > 1) exam.held = await confirmSecrets(exam);
  return played;
}

/** The doctor needs two people to learn where a page says who is logged in. */
async function learnNameTags(exam: Exam, main: Browser): Promise<void> {
  const other = await play(exam, { part: 'profile', secrets: exam.target.secrets });
  if (other.outcome.kind === 'taken') await exam.logins.learnNameTags(main, other.browser, newBrowser(exam));
}

const describeUnknown = ({ logins }: Exam) =>
  logins.showsLogins()
    ? 'No page that was seen says who is logged in, so most of what a login does could not be seen.'
    : 'After a genuine login no page that was seen differs from what a visitor sees, so nobody may be logged in.';

/** During a rotation, finds each secret that is enough for a login by itself. */
async function confirmSecrets(exam: Exam): Promise<readonly string[]> {
  const held: string[] = [];
  for (const secret of exam.held) {
    const { outcome } = await play(exam, { secrets: [secret] });
    if (outcome.kind === 'taken') held.push(secret);
  }
  return held.length > 0 ? held : exam.held;
}

const isAboutTime = ({ code }: Outcome) => code === 'expired' || code === 'issued_in_future';

/** Measures the client's clock, and uses that clock for later hand-offs. */
async function setClock(exam: Exam, outcome: Outcome): Promise<boolean> {
  const ahead = await measureClock(exam);
  if (!ahead) return false;
  exam.aheadSeconds = ahead;
  exam.notes.find('clock_wrong', {
    saw: `It answered a hand-off of this moment with ${outcome.code}: its clock is ${describeClock(ahead)}.`,
    launchId: outcome.launchId,
  });
  return true;
}

/**
 * Notes that the client's clock is off, even if the client still accepts hand-offs. The header `Date` alone does not prove this,
 * because a server in front of the client may have set the header. So hand-offs measure the clock, too.
 */
async function noteClock(exam: Exam, { answer: { clockOffset } }: Outcome): Promise<void> {
  const { notes } = exam;
  if (clockOffset === undefined || Math.abs(clockOffset) < maxClockOffset || notes.hasFound('clock_wrong'))
    return;
  notes.find('clock_wrong', {
    saw: `By the Date of its answers, its clock is ${describeClock(clockOffset)}.`,
  });
  exam.aheadSeconds = (await measureClock(exam)) ?? 0;
}

function noteRefusal({ notes }: Exam, outcome: Outcome): undefined {
  const { code, answer, launchId } = outcome;
  const known = refusals.find((refusal) => refusal.code === code);
  if (code === 'store_unavailable') {
    notes.find('store_unavailable', { saw: `A genuine hand-off was answered with ${code}.`, launchId });
  } else {
    notes.find('genuine_refused', {
      saw: `Sent a genuine hand-off: ${describe(outcome)}.${known ? ` ${known.meaning}` : ''}`,
      remedy: known?.remedy,
      launchId,
      unless: answer.status >= 500 ? 'crashes' : 'cache_in_front',
    });
  }
  return undefined;
}

/** Checks the attributes of cookies, because the doctor's own browsers ignore most of them. */
function checkCookies({ notes }: Exam, { attempt, outcome }: Played): void {
  const isStrict = attempt.answer.cookies.find(({ sameSite, isGone }) => sameSite === 'strict' && !isGone);
  if (isStrict)
    notes.find('attempt_cookie_strict', {
      saw: `The login start sets ${isStrict.name} with SameSite=Strict.`,
    });
  for (const { name, value, isGone, isHttpOnly, isSecure, sameSite } of outcome.answer.cookies) {
    // A deleted or short cookie is no session. A cookie whose name says csrf is meant to be read by scripts.
    if (isGone || value.length < minSessionLength || /csrf|xsrf/i.test(name)) continue;
    if (!isHttpOnly)
      notes.find('session_cookie_readable', { saw: `${name} is set without HttpOnly: scripts can read it.` });
    if (!isSecure && outcome.answer.url.protocol === 'https:')
      notes.find('session_cookie_insecure', { saw: `${name} is set without Secure.` });
    if (sameSite === 'none')
      notes.find('session_cookie_cross_site', { saw: `${name} is set with SameSite=None.` });
    if (sameSite === undefined) notes.find('same_site_missing', { saw: `${name} is set without SameSite.` });
  }
}

function checkLaunch({ target, notes }: Exam, launch: URL): void {
  const expected = `${target.issuer}/sso/launch/${target.client}`;
  const found = launch.origin + launch.pathname;
  if (found !== expected)
    notes.find('launch_elsewhere', { saw: `The login start leads to ${found}, and not to ${expected}.` });
}
