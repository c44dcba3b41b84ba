// Tests what a client does with visitors. It tries silent logins that find nobody, cookies that other sites set, and old
// credentials.
import { createNonce } from '../../server/sso/envelope.ts';
import type { Browser } from './browser.ts';
import { type Exam, makeFor, newBrowser, play, tryOut } from './exam.ts';
import { findMaxAge } from './logins.ts';
import { isNamed } from './name-tags.ts';
import { describe } from './outcome.ts';
import { isTaken } from './single-hand-offs.ts';

const hourSeconds = 3_600;
/** A site may try a second silent login, but must then show its page. */
const maxSilentTries = 3;

export async function probeVisits(exam: Exam): Promise<void> {
  await Promise.all([
    tryOut(exam, ['error_loops'], () => probeSilentLogins(exam)),
    tryOut(exam, ['crashes'], () => probeOddCookie(exam)),
    tryOut(exam, ['auth_time_not_checked'], () => probeOldCredential(exam)),
    tryOut(exam, ['people_mixed'], () => probePagesAtOnce(exam)),
  ]);
}

/** Opens each page. If the page starts a silent login, answers with the error that nobody is logged in. */
async function probeSilentLogins(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const browser = newBrowser(exam);
  for (const page of logins.pages()) {
    let answer = await logins.follow(browser, await browser.open(page));
    for (let tries = 0; tries <= maxSilentTries; tries++) {
      const query =
        answer.location && logins.isLaunch(answer.location) ? answer.location.searchParams : undefined;
      if (query?.get('prompt') !== 'none') break;
      if (tries === maxSilentTries)
        return notes.find('error_loops', {
          saw: `Answered ${tries} silent logins of ${page.pathname} with error=login_required: it began another one.`,
        });
      const error = new URLSearchParams({ error: 'login_required', state: query.get('state') ?? '' });
      answer = await logins.follow(browser, await browser.open(logins.addressOf(error)));
    }
  }
}

/** A script of another site on the same domain may set a cookie that the client does not expect. */
async function probeOddCookie(exam: Exam): Promise<void> {
  const { logins, notes, target } = exam;
  const browser = newBrowser(exam);
  const { hostname: host } = new URL(target.callbackUrl);
  const rest = { domain: undefined, isSecure: false, isHttpOnly: false, isGone: false } as const;
  browser.keep({ ...rest, name: 'identity_doctor', value: '100%', host, path: '/', sameSite: 'lax' });
  const read = async (each: Browser) => [
    await each.open(new URL(target.loginUrl)),
    ...(await logins.readPages(each)),
  ];
  const [usual, pages] = [await read(newBrowser(exam)), await read(browser)];
  const broken = pages.find(({ status }, at) => status >= 500 && (usual[at]?.status ?? 0) < 500);
  if (broken)
    notes.find('crashes', {
      saw: `Sent a further cookie with the value 100%: ${broken.url.pathname} was answered with ${broken.status}.`,
    });
}

/** If the login start demands a recent credential, the client must refuse a hand-off with an old one. */
async function probeOldCredential(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const browser = newBrowser(exam);
  const attempt = await logins.start(browser);
  const maxAge = findMaxAge(attempt);
  if (maxAge === undefined) return;
  const handOff = await makeFor(exam, attempt, {
    changes: {
      members: (payload) => {
        payload.auth_time = payload.iat - maxAge - hourSeconds;
      },
    },
  });
  const outcome = await logins.open(browser, handOff);
  if (await isTaken(exam, { browser, outcome }))
    notes.find('auth_time_not_checked', {
      saw: `The login start demands a credential, and a hand-off had one of an hour before: ${describe(outcome)}.`,
      launchId: handOff.launchId,
    });
}

/**
 * Anybody can lead a browser to the callback with an error, and this must not end the browser's session. Call this while no
 * other probe logs in, because a client may allow each person only one session.
 */
export async function probeErrorInSession(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const { browser, outcome } = await play(exam);
  if (outcome.kind !== 'taken' || !isNamed(await logins.findShown(browser), 'main')) return;
  await browser.open(
    logins.addressOf(new URLSearchParams({ error: 'login_required', state: createNonce() })),
  );
  if (!isNamed(await logins.findShown(browser), 'main'))
    notes.find('second_submit_logs_out', {
      saw: 'Sent error=login_required with an unknown state to a browser with a session: afterwards nobody was logged in.',
      unless: 'people_mixed',
    });
}

const readsAtOnce = 8;
const rounds = 3;

/**
 * A server may keep the current person where other requests can see it. Such a server mixes up people who open pages at the
 * same time.
 */
async function probePagesAtOnce(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  if (!logins.showsPeople()) return;
  const mine = await play(exam);
  const other = await play(exam, { part: 'first' });
  if (mine.outcome.kind !== 'taken' || other.outcome.kind !== 'taken') return;
  const read = async (_: unknown, n: number) => {
    const [{ browser }, stranger] = n % 2 === 0 ? [mine, 'first' as const] : [other, 'main' as const];
    return isNamed(await logins.findShown(browser), stranger);
  };
  let isMixed = false;
  for (let round = 0; round < rounds && !isMixed; round++)
    isMixed = (await Promise.all(Array.from({ length: readsAtOnce }, read))).includes(true);
  if (isMixed)
    notes.find('people_mixed', {
      saw: 'Two people asked for a page at once: one got the page of the other.',
    });
}
