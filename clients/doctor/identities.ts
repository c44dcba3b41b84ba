// Tests who is logged in after a hand-off, and what the hand-off changes about people, as far as the client's pages show it.
import { createNonce } from '../../server/sso/envelope.ts';
import { type Exam, newBrowser, type Played, play, tryOut } from './exam.ts';
import type { FindingId } from './findings.ts';
import type { Changes } from './hand-offs.ts';
import { isNamed } from './name-tags.ts';
import { nobodyNamed } from './notes.ts';
import { describe } from './outcome.ts';

const minuteMs = 60_000;

export async function probeIdentities(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const shown = ['linked_by_email', 'older_profile_applied'] as const;
  if (!logins.showsPeople()) notes.miss(shown, nobodyNamed);
  await Promise.all([
    ...(logins.showsPeople()
      ? [
          tryOut(exam, ['linked_by_email'], () => probeSharedAddress(exam)),
          tryOut(exam, ['older_profile_applied'], () => probeOlderProfile(exam)),
        ]
      : []),
    tryOut(exam, ['session_fixed'], () => probeFixedSession(exam)),
    tryOut(exam, ['session_fixed', 'earlier_login_kept'], () => probeSecondPerson(exam)),
  ]);
}

/** Logs in two people who have the same email address, one after the other. */
async function probeSharedAddress(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const first = await play(exam, { part: 'first' });
  if (isMissed(exam, 'linked_by_email', first)) return;
  const second = await play(exam, { part: 'second' });
  // A client that allows only one person for each email address may refuse the second person.
  if (second.outcome.kind !== 'taken') return;
  const inFirst = await logins.findShown(first.browser);
  const inSecond = await logins.findShown(second.browser);
  if (isNamed(inSecond, 'first') || isNamed(inFirst, 'second'))
    notes.find('linked_by_email', {
      saw: 'Logged in two people with one e-mail address: the second got the local user of the first.',
      launchId: second.handOff.launchId,
      unless: 'people_mixed',
    });
  else if (!isNamed(inSecond, 'second'))
    notes.miss('linked_by_email', 'The page did not say who was logged in as the second.');
}

/** Sends a profile of a person, and then an older profile of the same person. */
async function probeOlderProfile(exam: Exam): Promise<void> {
  const { logins, notes, people } = exam;
  const { name, profile_updated_at: updatedAt } = people.profile;
  const older = name.replace('newer', 'older');
  const changes: Changes = {
    members: ({ profile }) => {
      profile.name = older;
      profile.profile_updated_at = new Date(Date.parse(updatedAt) - minuteMs).toISOString();
    },
  };
  const newest = await play(exam, { part: 'profile' });
  if (isMissed(exam, 'older_profile_applied', newest)) return;
  if (!(await logins.look(newest.browser)).includes(name))
    return notes.miss('older_profile_applied', 'No page that was seen shows the name of a profile.');
  const second = await play(exam, { part: 'profile', changes });
  if (isMissed(exam, 'older_profile_applied', second)) return;
  const page = await logins.look(second.browser);
  // A page may show the profile of the hand-off beside the kept profile. So the page counts only if the newer name is missing.
  if (page.includes(older) && !page.includes(name))
    notes.find('older_profile_applied', {
      saw: 'Sent a profile, and then one that was changed a minute before it: the page shows the older one.',
      launchId: second.handOff.launchId,
    });
}

/**
 * Logs somebody in with a browser in which another person is logged in. That other person may have planted the session, and
 * still has its cookie.
 */
async function probeSecondPerson(exam: Exam): Promise<void> {
  const { logins, notes } = exam;
  const earlier = await play(exam);
  const planter = earlier.browser.copy();
  const { outcome, browser } = await play(exam, { part: 'first' }, earlier.browser);
  if (earlier.outcome.kind !== 'taken' || !logins.showsPeople()) return;
  if (isNamed(await logins.findShown(planter), 'first'))
    notes.find('session_fixed', {
      saw: 'Logged in with the session of somebody else, who then was logged in as the person, too.',
      launchId: outcome.launchId,
    });
  else if (outcome.kind === 'taken' && isNamed(await logins.findShown(browser), 'main'))
    notes.find('earlier_login_kept', {
      saw: 'Logged in as somebody else in a browser in which a person was logged in: that person still is.',
      launchId: outcome.launchId,
    });
}

function isMissed({ notes }: Exam, id: FindingId, { outcome }: Played): boolean {
  if (outcome.kind === 'taken') return false;
  notes.miss(id, `Sent a genuine hand-off: ${describe(outcome)}.`);
  return true;
}

/** Logs in with a browser that has a session id chosen by somebody else. */
async function probeFixedSession(exam: Exam): Promise<void> {
  const { logins, notes, target } = exam;
  const names = logins.sessionCookies();
  if (names.length === 0)
    return notes.find('session_fixed', {
      saw: 'A genuine login set no cookie: the session has the id from before.',
    });
  const planted = createNonce();
  const { hostname } = new URL(target.callbackUrl);
  const browser = newBrowser(exam);
  for (const name of names)
    browser.keep({
      name,
      value: planted,
      host: hostname,
      domain: undefined,
      path: '/',
      isSecure: false,
      isHttpOnly: true,
      sameSite: 'lax',
      isGone: false,
    });
  const { outcome } = await play(exam, {}, browser);
  const given = outcome.answer.cookies.filter(({ name, isGone }) => names.includes(name) && !isGone);
  if (given.length === 0 || given.every(({ value }) => value === planted))
    notes.find('session_fixed', {
      saw: `Logged in with ${names.join(', ')} chosen before: it was not replaced.`,
      launchId: outcome.launchId,
    });
}
