// Tests where the client sends a browser if the request or the payload names another site, and what it does with requests that
// contain no hand-off.
import { findTargets } from './answers.ts';
import type { Browser } from './browser.ts';
import { type Exam, makeFor, newBrowser, play, tryOut } from './exam.ts';
import { type Answer, UnreachableError } from './network.ts';
import { describe } from './outcome.ts';

const elsewhere = 'identity-doctor.invalid';

export async function probeAddresses(exam: Exam): Promise<void> {
  await Promise.all([
    ...openPaths.map((path) => tryOut(exam, ['return_to_open'], () => probeReturnTo(exam, path))),
    ...openPaths.map((path) => tryOut(exam, ['return_to_open'], () => probeLoginStart(exam, path))),
    ...forgedHosts.map((headers) => tryOut(exam, ['host_followed'], () => probeHost(exam, headers))),
    ...malformed.map((query) => tryOut(exam, [], () => probeMalformed(exam, query))),
  ]);
}

/** Call this last: a server may die if it puts a line break into a header. */
export async function probeLineBreaks(exam: Exam): Promise<void> {
  const path = `/\n/${elsewhere}/`;
  for (const probe of [probeReturnTo, probeLoginStart])
    await tryOut(exam, ['return_to_open'], () => probe(exam, path).catch(hangUp));
}

const openPaths = [
  `//${elsewhere}/`,
  `https://${elsewhere}/`,
  `/\\${elsewhere}/`,
  `/\t/${elsewhere}/`,
  `/%2f${elsewhere}/`,
  `/%5c${elsewhere}/`,
  `\\\\${elsewhere}/`,
  `@${elsewhere}/`,
  `.${elsewhere}/`,
  `/.//${elsewhere}/../..//${elsewhere}`,
];

async function probeReturnTo(exam: Exam, path: string): Promise<void> {
  const { outcome } = await play(exam, {
    changes: { members: (payload) => Object.assign(payload, { return_to: path }) },
  });
  if (!leadsElsewhere(outcome.answer)) return;
  exam.notes.find('return_to_open', {
    saw: `Sent "return_to" ${JSON.stringify(path)}: the browser was sent to another site (${outcome.answer.status}).`,
    launchId: outcome.launchId,
  });
}

/** Sites use one of these parameters for the page to come back to. */
const pageNames = [
  ...[
    'return_to',
    'returnTo',
    'return',
    'return_url',
    'returnUrl',
    'next',
    'redirect',
    'redirect_to',
    'redirect_uri',
  ],
  ...[
    'redirect_url',
    'url',
    'target',
    'to',
    'continue',
    'back',
    'dest',
    'destination',
    'goto',
    'r',
    'from',
    'path',
  ],
];

/**
 * Asks the login start to come back to a page on another site: first as a visitor, who then logs in, and then as somebody who
 * is logged in.
 */
async function probeLoginStart(exam: Exam, path: string): Promise<void> {
  const { logins, notes, target } = exam;
  const url = new URL(target.loginUrl);
  for (const name of pageNames) if (!url.searchParams.has(name)) url.searchParams.set(name, path);
  const note = (where: string, answer: Answer, launchId?: string) => {
    if (leadsElsewhere(answer))
      notes.find('return_to_open', {
        saw: `Asked the login start for the page ${JSON.stringify(path)}: ${where} sent the browser to another site (${answer.status}).`,
        launchId,
      });
  };
  const browser = newBrowser(exam);
  const first = await browser.open(url);
  note('it', first);
  const state = first.location?.searchParams.get('state');
  if (!first.location || !logins.isLaunch(first.location) || !state) return;
  const returnTo = first.location.searchParams.get('return_to') ?? undefined;
  // Our launch would refuse a `return_to` that is no path on the client's site, so the hand-off has none. But the client may
  // remember the page without our help.
  const isPassedOn = returnTo !== undefined && isPath(returnTo);
  const handOff = await makeFor(exam, { state, returnTo: isPassedOn ? returnTo : undefined });
  const outcome = await logins.open(browser, handOff);
  note('the callback', outcome.answer, outcome.launchId);
  if (outcome.kind === 'taken') note('it, once somebody was logged in,', await browser.open(url));
}

/** Accepts the paths that our launch accepts (contract 4.3). */
const isPath = (path: string) => /^\/(?!\/)[^\\\p{Cc}]*$/u.test(path);

const leadsElsewhere = (answer: Answer) =>
  findTargets(answer).some(({ hostname }) => hostname.endsWith(elsewhere));

const forgedHosts: Record<string, string>[] = [
  {
    'x-forwarded-host': elsewhere,
    'x-forwarded-server': elsewhere,
    'x-host': elsewhere,
    forwarded: `host=${elsewhere}`,
  },
  { host: elsewhere },
];

async function probeHost(exam: Exam, headers: Record<string, string>): Promise<void> {
  const { logins, notes, target } = exam;
  const names = Object.keys(headers).join(', ');
  // These requests name an unknown host, so a server in front of the client may answer them. So only the target of the answer
  // counts.
  const open = async (where: string, browser: Browser, url: URL, launchId?: string) => {
    const sent = browser.open(url, { headers });
    const answer = await (headers.host === undefined ? sent : sent.catch(hangUp));
    if (answer?.location?.href.includes(elsewhere))
      notes.find('host_followed', { saw: `Sent another host in ${names}: ${where} led there.`, launchId });
  };
  await open('the login start', newBrowser(exam), new URL(target.loginUrl));
  const owner = newBrowser(exam);
  const handOff = await makeFor(exam, await logins.start(owner));
  await open('the callback', owner, logins.addressOf(handOff.query), handOff.launchId);
}

/**
 * Counts a dropped connection as no answer. A server may drop a request for an unknown host, or an answer that it cannot
 * write.
 */
function hangUp(error: unknown): undefined {
  if (!(error instanceof UnreachableError)) throw error;
}

const wellFormed = `payload=e30&signature=${'0'.repeat(64)}`;

/** Malformed requests, in the spellings that trip up frameworks. */
const malformed = [
  '',
  'payload',
  'payload=&signature=',
  'payload[]=e30&signature[]=0',
  'payload[a][b]=e30&signature[length]=64',
  'payload=%00&signature=%00',
  'payload=%FF%FE&signature=%ZZ',
  `${wellFormed}&signature_next[]=0`,
  `${wellFormed}&state[]=x`,
  `payload=${'A'.repeat(8_192)}&signature=${'f'.repeat(64)}`,
  `payload=${'A'.repeat(8_193)}&signature=${'f'.repeat(64)}`,
  `payload=e30&signature=${'é'.repeat(64)}`,
  'error=login_required',
  'error[]=login_required&state[]=x',
  `error=${'x'.repeat(1_000)}&state=%0d%0aSet-Cookie:%20a=b`,
];

async function probeMalformed(exam: Exam, query: string): Promise<void> {
  const url = new URL(exam.target.callbackUrl);
  url.search = [url.search.slice(1), query].filter(Boolean).join('&');
  const { status } = await newBrowser(exam).open(url);
  const shown = query.length > 60 ? `${query.slice(0, 60)}…` : query;
  if (status >= 500) exam.notes.find('crashes', { saw: `Opened the callback with "?${shown}": ${status}.` });
}

/** JSON that is signed correctly but is no payload. */
const oddJson = [
  '[]',
  'null',
  '1',
  '"x"',
  '{}',
  `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
  '{"profile":[]}',
];

export async function probeOddJson(exam: Exam): Promise<void> {
  await Promise.all(
    oddJson.map((json) =>
      tryOut(exam, ['crashes'], async () => {
        const handOff = await makeFor(exam, { state: undefined }, { changes: { json: () => json } });
        const outcome = await exam.logins.open(newBrowser(exam), handOff);
        if (outcome.kind === 'taken')
          exam.notes.find('member_types', {
            saw: `Sent ${json.slice(0, 20)} as the payload: ${describe(outcome)}.`,
          });
      }),
    ),
  );
}
