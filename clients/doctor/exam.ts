// What all probes share: the client, the test people, what was noted, and a login from its start to the callback.
import pLimit, { type LimitFunction } from 'p-limit';
import { type Browser, openBrowser } from './browser.ts';
import type { FindingId } from './findings.ts';
import { type Changes, draftPayload, type HandOff, makeHandOff, randomDigits } from './hand-offs.ts';
import { type Attempt, type Logins, openLogins } from './logins.ts';
import { LimitedError, type Network, openNetwork, UnreachableError } from './network.ts';
import { type Notes, openNotes } from './notes.ts';
import type { Outcome } from './outcome.ts';
import { makeTestPeople, type Part, type TestPeople } from './people.ts';
import type { Target, Tools } from './target.ts';

export type Exam = {
  target: Target;
  tools: Tools;
  network: Network;
  notes: Notes;
  logins: Logins;
  /** Limits how many probes run at the same time. */
  limit: LimitFunction;
  people: TestPeople;
  /** Which of the configured secrets the client holds. */
  held: readonly string[];
  /** How many seconds the client's clock is ahead of ours, if that is more than the client tolerates. */
  aheadSeconds: number;
  /** Cancels the probes that have not begun. Resolves when the probes that have begun are over. */
  end: () => Promise<void>;
};

const probesAtOnce = 4;

export async function openExam(target: Target, tools: Tools): Promise<Exam> {
  const network = openNetwork(tools);
  const notes = openNotes();
  const people = await makeTestPeople(
    target.client,
    tools.now(),
    tools.events && `-${randomDigits().slice(0, 12)}`,
  );
  // With a limit on requests per minute, more probes would make each other wait, and hand-offs would expire.
  const limit = pLimit(tools.pace === undefined ? probesAtOnce : 1);
  return {
    target,
    tools,
    network,
    notes,
    logins: openLogins(target, notes, people),
    limit,
    people,
    held: target.secrets,
    aheadSeconds: 0,
    async end() {
      limit.clearQueue();
      while (limit.activeCount > 0) await new Promise((done) => setTimeout(done, 20));
    },
  };
}

/** The current time by the client's clock, in Unix seconds. */
export const nowSeconds = ({ tools, aheadSeconds }: Exam) =>
  Math.floor(tools.now().getTime() / 1_000) + aheadSeconds;

export const newBrowser = ({ network }: Exam): Browser => openBrowser(network);

export type Making = { part?: Part; changes?: Changes; secrets?: readonly string[] };

/** Makes a hand-off for an attempt, or for no attempt if only a state is given. It is genuine except for `changes`. */
export function makeFor(
  exam: Exam,
  asked: Pick<Attempt, 'state' | 'returnTo'> | { state: string | undefined },
  { part = 'main', changes, secrets = exam.held }: Making = {},
): Promise<HandOff> {
  const person = exam.people[part];
  return makeHandOff(
    draftPayload(exam.target, { ...asked, person, issuedAt: nowSeconds(exam) }),
    secrets,
    changes,
  );
}

export type Played = { browser: Browser; attempt: Attempt; handOff: HandOff; outcome: Outcome };

/** Plays one login, in a new browser if none is given. */
export async function play(exam: Exam, making: Making = {}, browser = newBrowser(exam)): Promise<Played> {
  const attempt = await exam.logins.start(browser);
  const handOff = await makeFor(exam, attempt, making);
  return { browser, attempt, handOff, outcome: await exam.logins.open(browser, handOff) };
}

/**
 * Runs a whole probe. Only a few probes run at the same time, so that no hand-off expires while it waits. If the client does
 * not answer, the findings `ids` are noted as unseen.
 */
export async function tryOut(
  exam: Exam,
  ids: readonly FindingId[],
  probe: () => Promise<void>,
): Promise<void> {
  try {
    await exam.limit(probe);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    exam.notes.miss(ids, `It did not answer: ${error.message}.`);
    if (!(error instanceof LimitedError))
      exam.notes.find('crashes', { saw: `A request was not answered: ${error.message}.` });
  }
}
