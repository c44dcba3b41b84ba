// Tests what the client does with events, if a page shows who is logged in. The events are about the test people of this run.
// At the end of the run, events tell the client to delete these people (contract 3.41 to 3.43).
import { createNonce } from '../../server/sso/envelope.ts';
import type { Browser } from './browser.ts';
import { sendNudge } from './events.ts';
import { type Exam, type Played, play } from './exam.ts';
import type { FindingId } from './findings.ts';
import { readPayload } from './hand-offs.ts';
import { isNamed } from './name-tags.ts';
import { UnreachableError } from './network.ts';
import { nobodyNamed } from './notes.ts';
import { describe } from './outcome.ts';
import { type Part, parts } from './people.ts';
import { logsIn } from './single-hand-offs.ts';
import type { EventWriter, OwnEvent, Reads } from './target.ts';

const ids = [
  ...(['events_logout_ignored', 'events_suspension_ignored', 'events_deletion_ignored'] as const),
  ...(['events_page_missed', 'events_order_ignored', 'events_ended_login_taken'] as const),
  ...(['events_end_others', 'events_restored_ignored', 'events_erased_stops'] as const),
  'events_profile_ignored' as const,
];
const withinMs = 2_000;
/** More events than one page has, so the client has to read a second page (contract 10.18). */
const pageful = 101;
const pagefulWithinMs = 10_000;
/** Longer than ten seconds, because the database notes the reads of a client at most every ten seconds. */
const erasedWithinMs = 12_000;
/** How long the client may take to apply events that it has read. */
const graceMs = 1_000;
const pauseMs = 100;
const minuteMs = 60_000;

/** Call this last, because the people of this probe cannot log in after it. */
export async function probeEventEffects(exam: Exam): Promise<void> {
  const { tools, notes, logins } = exam;
  const { events } = tools;
  if (!events) return;
  try {
    const reads = await tools.findReads?.();
    if (typeof reads !== 'object') notes.miss(ids, reads ?? 'The doctor has no database here.');
    else if (!logins.showsPeople()) notes.miss(ids, nobodyNamed);
    else await runSteps(exam, events);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    notes.miss(ids, `It did not answer: ${error.message}.`);
  }
}

/** Call this at the end of a run, even after an error, because the client has met the people of this run. */
export async function forgetPeople({ tools, people }: Exam): Promise<void> {
  await tools.events?.forget(parts.map((part) => people[part].id));
}

type Teller = (events: OwnEvent[], ms?: number) => Promise<Told>;
type Told = {
  /** Waits until the client has read the events, or the time is over. */
  hasRead: () => Promise<boolean>;
  /**
   * True as soon as the page does not name the person. When the time is over: false if the client has read the events, and
   * undefined if not.
   */
  isGone: (browser: Browser, part: Part) => Promise<boolean | undefined>;
  /**
   * True as soon as the page shows the text. When the time is over: false if the client has read the events, and undefined if
   * not.
   */
  shows: (browser: Browser, text: string) => Promise<boolean | undefined>;
};

async function runSteps(exam: Exam, writer: EventWriter): Promise<void> {
  const tell = createTeller(exam, writer);
  // A client may acknowledge events only when it reads again. So this first makes it read one time.
  await (await tell([update(exam, 'profile')])).hasRead();
  if (await probeLogOut(exam, tell)) await probeErased(exam, tell);
  await probeNewProfile(exam, tell);
  await probeSuspension(exam, tell);
  await probeDeletion(exam, tell);
  await probePageful(exam, tell);
}

const logIn = (exam: Exam, part: Part) => play(exam, { part });
const sidOf = ({ handOff }: Played): string => readPayload(handOff).sid;

const update = ({ people }: Exam, part: Part): OwnEvent => ({
  type: 'profile.updated',
  userId: people[part].id,
  profile: people[part],
});
const ended = ({ people }: Exam, part: Part, sid: string): OwnEvent => ({
  type: 'session.ended',
  userId: people[part].id,
  sid,
});

function createTeller(exam: Exam, writer: EventWriter): Teller {
  const findReads = async (): Promise<Reads | undefined> => {
    const reads = await exam.tools.findReads?.();
    return typeof reads === 'object' ? reads : undefined;
  };
  return async (events, ms = withinMs) => {
    const before = await findReads();
    const latest = await writer.append(events);
    await sendNudge(exam, latest);
    const until = performance.now() + ms;
    const hasRead = async () => {
      const reads = await findReads();
      return (
        reads !== undefined &&
        (reads.acknowledged > (before?.acknowledged ?? 0) ||
          reads.pulledAt?.getTime() !== before?.pulledAt?.getTime())
      );
    };
    const pause = (ms = pauseMs) => new Promise((done) => setTimeout(done, ms));
    const inTime = async (isSo: () => Promise<boolean>) => {
      do {
        if (await isSo()) return true;
        await pause();
      } while (performance.now() < until);
      if (!(await hasRead())) return undefined;
      await pause(graceMs);
      return isSo();
    };
    return {
      async hasRead() {
        while (!(await hasRead()) && performance.now() < until) await pause();
        return hasRead();
      },
      isGone: (browser, part) => inTime(async () => !isNamed(await exam.logins.findShown(browser), part)),
      shows: (browser, text) => inTime(async () => (await exam.logins.look(browser)).includes(text)),
    };
  };
}

const notRead = (words: string) => `Appended ${words}: the client had not read it in time.`;

/** If the client has read the events but the page still names the person, notes a finding. */
async function expectGone(
  exam: Exam,
  id: FindingId,
  { told, browser, part, words }: { told: Told; browser: Browser; part: Part; words: string },
): Promise<boolean> {
  const isGone = await told.isGone(browser, part);
  if (isGone === undefined) {
    exam.notes.miss(id, notRead(words));
    exam.notes.doubt('It did not read events in time, so what it does with them could not be seen.');
  } else if (!isGone)
    exam.notes.find(id, {
      saw: `Appended ${words}, which the client has read: the page still names the person.`,
      unless: id === 'events_logout_ignored' ? undefined : 'events_logout_ignored',
    });
  return isGone === true;
}

/** Returns whether the event logged the person out. */
async function probeLogOut(exam: Exam, tell: Teller): Promise<boolean> {
  const other = await logIn(exam, 'profile');
  const mine = await logIn(exam, 'main');
  await logIn(exam, 'main');
  // The client may cache who is logged in. This request fills that cache.
  await exam.logins.look(mine.browser);
  const told = await tell([ended(exam, 'main', sidOf(mine))]);
  const words = 'session.ended of the earlier of two logins';
  const { browser } = mine;
  const isGone = await expectGone(exam, 'events_logout_ignored', { told, browser, part: 'main', words });
  if (!isNamed(await exam.logins.findShown(other.browser), 'profile'))
    exam.notes.find('events_end_others', {
      saw: 'Appended session.ended of one person: another person was logged out, too.',
    });
  return isGone;
}

/**
 * After the service has erased a person, it sends an event that names nobody in place of each event about that person. The
 * client must pass over such an event and go on.
 */
async function probeErased(exam: Exam, tell: Teller): Promise<void> {
  const mine = await logIn(exam, 'main');
  const told = await tell([{ type: 'erased' }, ended(exam, 'main', sidOf(mine))], erasedWithinMs);
  const [{ browser }, words] = [mine, 'erased, and then session.ended'];
  // The database may have missed the client's read, because it notes a read only every ten seconds. So the client is made to
  // read again.
  if ((await told.isGone(browser, 'main')) === undefined)
    await (await tell([update(exam, 'profile')])).hasRead();
  await expectGone(exam, 'events_erased_stops', { told, browser, part: 'main', words });
}

async function probeNewProfile(exam: Exam, tell: Teller): Promise<void> {
  const { logins, notes, people } = exam;
  const { main } = people;
  const { browser } = await logIn(exam, 'main');
  if (!(await logins.look(browser)).includes(main.name))
    return notes.miss('events_profile_ignored', 'The page that says who is logged in shows no name.');
  const newer = `${main.name} (by event)`;
  const newerAt = (ms: number) => new Date(Date.parse(main.profile_updated_at) + ms).toISOString();
  const change = (name: string, ms: number): OwnEvent => ({
    type: 'profile.updated',
    userId: main.id,
    profile: { ...main, name, profile_updated_at: newerAt(ms) },
  });
  const told = await tell([change(newer, 1)]);
  const isShown = await told.shows(browser, newer);
  if (isShown === undefined) notes.miss('events_profile_ignored', notRead('profile.updated'));
  else if (!isShown)
    notes.find('events_profile_ignored', {
      saw: 'Appended profile.updated with another name, which the client has read: the page still shows the earlier name.',
    });
  main.profile_updated_at = newerAt(2);
  await (await tell([change(main.name, 2)])).hasRead();
}

/** Sends the events of a suspension in the service's order: the sessions end first. */
async function probeSuspension(exam: Exam, tell: Teller): Promise<void> {
  const { id: userId } = exam.people.first;
  const { browser, ...played } = await logIn(exam, 'first');
  const told = await tell([
    ended(exam, 'first', sidOf({ browser, ...played })),
    { type: 'user.suspended', userId },
  ]);
  const words = 'session.ended and user.suspended';
  const isGone = await expectGone(exam, 'events_suspension_ignored', { told, browser, part: 'first', words });
  const restored = await tell([{ type: 'user.restored', userId }]);
  if (!isGone || !(await restored.hasRead())) return;
  const { outcome } = await logIn(exam, 'first');
  if (outcome.kind !== 'taken')
    exam.notes.find('events_restored_ignored', {
      saw: `Appended user.suspended, and then user.restored: the next hand-off was not taken, ${describe(outcome)}.`,
      launchId: outcome.launchId,
    });
}

/** A deletion may come without session.ended, because the session at the service may have expired before. */
async function probeDeletion(exam: Exam, tell: Teller): Promise<void> {
  const { browser } = await logIn(exam, 'second');
  const told = await tell([{ type: 'user.deleted', userId: exam.people.second.id }]);
  await expectGone(exam, 'events_deletion_ignored', { told, browser, part: 'second', words: 'user.deleted' });
}

/**
 * Appends more events than a page has. One of the first events has a profile that is older than the kept profile. If the last
 * event has its effect, the client has applied all of them.
 */
async function probePageful(exam: Exam, tell: Teller): Promise<void> {
  const { notes, logins, people } = exam;
  const other = await logIn(exam, 'profile');
  const mine = await logIn(exam, 'main');
  const { name, profile_updated_at: updatedAt } = people.main;
  const older = `${name} (older)`;
  const olderAt = new Date(Date.parse(updatedAt) - minuteMs).toISOString();
  const sid = createNonce();
  const told = await tell(
    [
      {
        type: 'profile.updated',
        userId: people.main.id,
        profile: { ...people.main, name: older, profile_updated_at: olderAt },
      },
      ended(exam, 'main', sid),
      ...Array.from({ length: pageful }, () => update(exam, 'profile')),
      ended(exam, 'profile', sidOf(other)),
    ],
    pagefulWithinMs,
  );
  const { browser } = other;
  const words = `session.ended after ${pageful} other events`;
  if (!(await expectGone(exam, 'events_page_missed', { told, browser, part: 'profile', words }))) return;
  if ((await logins.look(mine.browser)).includes(older))
    notes.find('events_order_ignored', {
      saw: 'Appended a profile that is older than the one of the login: the page shows it.',
    });
  const late = await play(exam, { changes: { members: (payload) => Object.assign(payload, { sid }) } });
  if (await logsIn(exam, late))
    notes.find('events_ended_login_taken', {
      saw: `Appended session.ended, and then sent a hand-off of that login: ${describe(late.outcome)}.`,
      launchId: late.outcome.launchId,
    });
}
