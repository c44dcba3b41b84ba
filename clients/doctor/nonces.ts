// Tests whether a nonce works for one login only, even if two requests arrive at the same time, and whether anything other than
// a login uses the nonce up.
import { createNonce } from '../../server/sso/envelope.ts';
import { type Exam, type Making, makeFor, newBrowser, type Played, play, tryOut } from './exam.ts';
import { randomDigits } from './hand-offs.ts';
import { isNamed } from './name-tags.ts';
import type { Sending } from './network.ts';
import { describe, type Outcome } from './outcome.ts';
import { isTaken } from './single-hand-offs.ts';
import { expired } from './wrong-hand-offs.ts';

const atOnce = 16;
const lagMs = 1_500;

export async function probeNonces(exam: Exam): Promise<void> {
  await Promise.all([
    ...lastSeconds.map((ago) => tryOut(exam, ['nonce_kept_too_short'], () => probeLastSeconds(exam, ago))),
    tryOut(exam, ['nonce_not_checked', 'second_submit_logs_out'], () => probeSecondUse(exam)),
    tryOut(exam, ['nonce_not_atomic'], () => probeRace(exam)),
    tryOut(exam, ['nonce_mistaken'], () => probeAlike(exam)),
    tryOut(exam, ['nonce_before_mac'], () => probeForged(exam)),
    tryOut(exam, ['speculative_uses_nonce'], () => probeSpeculative(exam)),
  ]);
}

/** Opens a hand-off. The returned probe opens the hand-off again, and is meant to run after all other probes. */
export async function prepareLateReplay(exam: Exam): Promise<() => Promise<void>> {
  const { browser, handOff } = await prepare(exam);
  const other = browser.copy();
  const { kind } = await exam.logins.open(browser, handOff);
  const before = exam.network.countRequests();
  return async () => {
    if (kind !== 'taken') return;
    const outcome = await exam.logins.open(other, handOff);
    if (await isTaken(exam, { browser: other, outcome }))
      exam.notes.find('nonce_kept_too_short', {
        saw: `Sent a hand-off again after ${exam.network.countRequests() - before} other requests: ${describe(outcome)}.`,
        launchId: handOff.launchId,
        unless: ['nonce_not_checked', 'nonce_not_atomic', 'cache_in_front'],
      });
  };
}

type Ready = Pick<Played, 'browser' | 'handOff'>;

/** Makes a hand-off that a browser has asked for, but does not open it. */
async function prepare(exam: Exam, making?: Making): Promise<Ready> {
  const browser = newBrowser(exam);
  const attempt = await exam.logins.start(browser);
  return { browser, handOff: await makeFor(exam, attempt, making) };
}

/**
 * Opens a hand-off twice: the second time in a browser that has the same attempt but no session. If the client refuses the
 * second use, opens the hand-off once more in the first browser, as a reload would.
 */
async function probeSecondUse(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const { browser, handOff } = await prepare(exam);
  const others = [browser.copy(), browser.copy()] as const;
  const first = await logins.open(browser, handOff);
  if (first.kind !== 'taken')
    return notes.miss('nonce_not_checked', `Sent a genuine hand-off: ${describe(first)}.`);
  const [second, later] = others;
  const again = await logins.open(second, handOff);
  if (await isTaken(exam, { browser: second, outcome: again })) {
    await noteSecondUse(exam, { browser: later, handOff }, again);
    return;
  }
  await logins.open(browser, handOff);
  if (logins.showsPeople() && !isNamed(await logins.findShown(browser), 'main'))
    notes.find('second_submit_logs_out', {
      saw: 'Sent a hand-off twice in one browser: after the second time nobody was logged in.',
      launchId: handOff.launchId,
    });
}

/**
 * If the client accepts the second use but refuses the third, it reads nonces from a store that lags behind, such as a
 * replica.
 */
async function noteSecondUse(exam: Exam, { browser, handOff }: Ready, again: Outcome): Promise<void> {
  await new Promise((done) => setTimeout(done, lagMs));
  const third = await exam.logins.open(browser, handOff);
  const { launchId } = handOff;
  if (await isTaken(exam, { browser, outcome: third }))
    exam.notes.find('nonce_not_checked', {
      saw: `Sent a hand-off a second time: ${describe(again)}.`,
      launchId,
      unless: 'cache_in_front',
    });
  else
    exam.notes.find('nonce_not_atomic', {
      saw: 'Sent a hand-off a second time at once, and it was taken; a moment later it was refused.',
      launchId,
      unless: 'cache_in_front',
    });
}

/** How many seconds ago the hand-offs have expired. Clients must accept a hand-off for 30 seconds after its end. */
const lastSeconds = [12, 26];

/**
 * Opens a hand-off twice in the last seconds in which clients must accept it. A client that forgets nonces too early accepts it
 * the second time, too.
 */
async function probeLastSeconds(exam: Exam, ago: number): Promise<void> {
  const { browser, handOff } = await prepare(exam, { changes: expired(ago) });
  const other = browser.copy();
  const first = await exam.logins.open(browser, handOff);
  // If the refusal has no code, or says `expired`, the client's clock or leeway may be the cause. Other probes test these.
  if (first.code !== undefined && !['expired', 'auth_time_too_old'].includes(first.code))
    exam.notes.find('leeway_missing', {
      saw: `Sent a hand-off for the first time, ${ago} seconds after it had expired: ${describe(first)}.`,
      launchId: handOff.launchId,
      unless: ['store_unavailable', 'cache_in_front'],
    });
  if (first.kind !== 'taken') return;
  const second = await exam.logins.open(other, handOff);
  if (await isTaken(exam, { browser: other, outcome: second }))
    exam.notes.find('nonce_kept_too_short', {
      saw: `Sent a hand-off twice, ${ago} seconds after it had expired: ${describe(second)} the second time, too.`,
      launchId: handOff.launchId,
      unless: ['nonce_not_checked', 'nonce_not_atomic', 'cache_in_front'],
    });
}

/** Sends hand-offs whose nonces differ only in case, or only in their last characters. */
async function probeAlike(exam: Exam): Promise<void> {
  const nonce = `aBcD${createNonce().slice(4, 18)}aaaA`;
  const others = [
    ['only in case', `AbCd${nonce.slice(4)}`],
    ['only in the last four characters', `${nonce.slice(0, 18)}bbbA`],
  ] as const;
  const send = (value: string) =>
    play(exam, { changes: { members: (payload) => Object.assign(payload, { nonce: value }) } });
  const first = await send(nonce);
  for (const [words, other] of others) {
    const { outcome } = await send(other);
    if (first.outcome.kind === 'taken' && outcome.kind !== 'taken')
      exam.notes.find('nonce_mistaken', {
        saw: `Sent two hand-offs whose nonces differ ${words}: the second was not taken, ${describe(outcome)}.`,
        launchId: outcome.launchId,
        unless: 'cache_in_front',
      });
  }
}

async function probeRace(exam: Exam): Promise<void> {
  const { browser, handOff } = await prepare(exam);
  const browsers = Array.from({ length: atOnce }, () => browser.copy());
  const outcomes = await Promise.all(
    browsers.map(async (each) => ({
      browser: each,
      outcome: await exam.logins.open(each, handOff, { isAtOnce: true }),
    })),
  );
  const taken = outcomes.filter(({ outcome }) => outcome.kind === 'taken');
  const { launchId } = handOff;
  if (taken.length > 1)
    exam.notes.find('nonce_not_atomic', {
      saw: `Sent a hand-off ${atOnce} times at once: ${taken.length} were taken.`,
      launchId,
      unless: 'nonce_not_checked',
    });
  if (taken.length === 0)
    exam.notes.miss('nonce_not_atomic', `Sent one hand-off ${atOnce} times at once: none was taken.`);
}

async function probeForged(exam: Exam): Promise<void> {
  const ready = await prepare(exam);
  const query = new URLSearchParams(ready.handOff.query);
  query.set('signature', randomDigits());
  query.delete('signature_next');
  const forged = await exam.logins.open(ready.browser.copy(), { ...ready.handOff, query });
  // A client that accepts the forged hand-off does not check the MAC at all, which is a finding of its own.
  if (forged.kind !== 'taken')
    await expectUnused(
      exam,
      ready,
      'nonce_before_mac',
      'a forged hand-off, and then the genuine one with its nonce',
    );
}

const speculative: [Sending, words: string][] = [
  [{ method: 'HEAD' }, 'HEAD'],
  [{ headers: { 'sec-purpose': 'prefetch' } }, 'a prefetch'],
  [{ headers: { 'sec-purpose': 'prefetch;prerender', purpose: 'prefetch' } }, 'a prefetch ahead of a click'],
];

async function probeSpeculative(exam: Exam): Promise<void> {
  await Promise.all(
    speculative.map(async ([sending, words]) => {
      const ready = await prepare(exam);
      const browser = ready.browser.copy();
      const outcome = await exam.logins.open(browser, ready.handOff, sending);
      const { launchId } = ready.handOff;
      if (outcome.kind === 'taken')
        exam.notes.find('speculative_logs_in', {
          saw: `Sent ${words}: ${describe(outcome)}.`,
          launchId,
          unless: 'cache_in_front',
        });
      else await expectUnused(exam, ready, 'speculative_uses_nonce', `${words}, and then the click`);
    }),
  );
}

/** Expects that the client still accepts the hand-off from the browser that asked for it. */
export async function expectUnused(
  { logins, notes }: Exam,
  { browser, handOff }: Ready,
  id: 'nonce_before_mac' | 'nonce_before_state' | 'speculative_uses_nonce' | 'unsolicited_uses_nonce',
  sent: string,
): Promise<void> {
  const outcome = await logins.open(browser, handOff);
  if (outcome.kind !== 'taken')
    notes.find(id, {
      saw: `Sent ${sent}: ${describe(outcome)}.`,
      launchId: handOff.launchId,
      unless: id === 'nonce_before_mac' ? 'cache_in_front' : ['cache_in_front', 'nonce_before_mac'],
    });
}
