// Tests whether only the browser that asked for a hand-off can use it, and what the client does with hand-offs that nobody
// asked for.
import { createNonce } from '../../server/sso/envelope.ts';
import { type Exam, makeFor, newBrowser, tryOut } from './exam.ts';
import { countDiffering, isShort, maxGuessable } from './guessing.ts';
import { expectUnused } from './nonces.ts';
import { describe, type Outcome } from './outcome.ts';
import { isTaken, logsIn } from './single-hand-offs.ts';

export async function probeStates(exam: Exam): Promise<void> {
  await Promise.all([
    tryOut(exam, ['state_not_compared', 'state_unknown_loops'], () => probeOtherBrowser(exam)),
    tryOut(exam, ['state_not_compared'], () => probeOtherAttempt(exam)),
    tryOut(exam, ['state_missing_accepted', 'unsolicited_refused'], () => probeUnsolicited(exam)),
    tryOut(exam, ['one_state_cookie'], () => probeSecondTab(exam)),
    tryOut(exam, ['state_guessable'], () => probeGuessable(exam)),
    tryOut(exam, ['error_loops'], () => probeErrors(exam)),
  ]);
}

/**
 * Opens a hand-off in a browser that has not asked for it, as an attacker might. Then opens it in the browser that has asked.
 */
async function probeOtherBrowser(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const owner = newBrowser(exam);
  const handOff = await makeFor(exam, await logins.start(owner));
  const browser = newBrowser(exam);
  const outcome = await logins.open(browser, handOff);
  const { launchId } = handOff;
  const saw = `Sent a hand-off to a browser without the cookie of its attempt: ${describe(outcome)}.`;
  if (await isTaken(exam, { browser, outcome }))
    return notes.find('state_not_compared', { saw, launchId, unless: 'cache_in_front' });
  if (outcome.kind === 'bounced') notes.find('state_unknown_loops', { saw, launchId });
  const sent = 'a hand-off to a browser that had not asked for it, and then to the one that had';
  await expectUnused(exam, { browser: owner, handOff }, 'nonce_before_state', sent);
}

/** Compares the states of three browsers. If an attacker can guess a state, they can log somebody else in. */
async function probeGuessable(exam: Exam): Promise<void> {
  const states: string[] = [];
  for (let nth = 0; nth < 3; nth++) states.push((await exam.logins.start(newBrowser(exam))).state);
  const [state = ''] = states;
  const differing = countDiffering(states);
  const why = isShort(state)
    ? `has only ${state.length} characters`
    : differing <= maxGuessable && `differs from browser to browser in ${differing} characters only`;
  if (why) exam.notes.find('state_guessable', { saw: `The "state" of the login start ${why}.` });
}

/** Opens a hand-off in a browser that has an attempt of its own, but not the attempt of this hand-off. */
async function probeOtherAttempt(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const browser = newBrowser(exam);
  await logins.start(browser);
  const handOff = await makeFor(exam, await logins.start(newBrowser(exam)));
  const outcome = await logins.open(browser, handOff);
  const saw = `Sent a hand-off with the state of another browser's attempt: ${describe(outcome)}.`;
  if (await isTaken(exam, { browser, outcome }))
    notes.find('state_not_compared', {
      saw,
      launchId: handOff.launchId,
      unless: ['cache_in_front', 'state_guessable'],
    });
}

/**
 * Opens a hand-off without a state, as a link on another site might. The client must not use it up, and must start a new
 * login.
 */
async function probeUnsolicited(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const owner = newBrowser(exam);
  const { state, returnTo } = await logins.start(owner);
  let nonce = '';
  const unsolicited = await makeFor(
    exam,
    { state: undefined },
    {
      changes: {
        members: (payload) => {
          nonce = payload.nonce;
        },
      },
    },
  );
  const browser = newBrowser(exam);
  const outcome = await logins.open(browser, unsolicited);
  const { launchId } = unsolicited;
  const saw = `Sent a hand-off without a state: ${describe(outcome)}.`;
  if (await logsIn(exam, { browser, outcome }))
    return notes.find('state_missing_accepted', { saw, launchId });
  if (outcome.kind !== 'bounced')
    notes.find('unsolicited_refused', { saw, remedy: describeOtherOrigin(exam, outcome), launchId });
  const handOff = await makeFor(
    exam,
    { state, returnTo },
    { changes: { members: (payload) => Object.assign(payload, { nonce }) } },
  );
  const sent = 'a hand-off without a state, and then one with its nonce that was asked for';
  await expectUnused(exam, { browser: owner, handOff }, 'unsolicited_uses_nonce', sent);
}

/**
 * Says that the client redirects to a host that does not have the attempt's cookie, for example from localhost to 127.0.0.1.
 */
function describeOtherOrigin({ target }: Exam, { answer: { location } }: Outcome): string | undefined {
  const own = new URL(target.callbackUrl).origin;
  if (!location || location.origin === own) return undefined;
  return `Your callback leads to ${location.origin}, which is not its own origin (${own}): have login start and callback on one.`;
}

/** Starts a login in each of two tabs. Opens the hand-off of the older tab first, and then the hand-off of the other tab. */
async function probeSecondTab(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const browser = newBrowser(exam);
  const attempts = [await logins.start(browser), await logins.start(browser)];
  for (const [index, attempt] of attempts.entries()) {
    const handOff = await makeFor(exam, attempt);
    const outcome = await logins.open(browser, handOff);
    if (outcome.kind === 'taken') continue;
    const which = index === 0 ? 'first' : 'second';
    const saw = `Started a login in two tabs, and sent the hand-off of the ${which}: ${describe(outcome)}.`;
    return notes.find('one_state_cookie', { saw, launchId: handOff.launchId });
  }
}

/** Sends the error that answers `prompt=none`: first for an attempt of this browser, and then for no attempt. */
async function probeErrors(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const browser = newBrowser(exam);
  const { state } = await logins.start(browser);
  for (const [words, of] of [
    ['of this browser', state],
    ['unknown', createNonce()],
  ] as const) {
    const query = new URLSearchParams({ error: 'login_required', state: of });
    const answer = await browser.open(logins.addressOf(query));
    const saw = `Sent error=login_required with a state ${words}: it was answered with ${answer.status}`;
    if (answer.location && logins.isLoginStart(answer.location))
      notes.find('error_loops', { saw: `${saw} to ${answer.location.pathname}.` });
    if (answer.status >= 500) notes.find('crashes', { saw: `${saw}.` });
  }
}
