// Goes through logins at the client as a browser does: its login start, its callback, and the page that follows. The first
// genuine login shows what a login looks like at this client.
import { createAnswerChecks, findTargets } from './answers.ts';
import type { Browser } from './browser.ts';
import type { HandOff } from './hand-offs.ts';
import {
  findNameTags,
  findOnlyNamed,
  hideNumbers,
  type NameTags,
  readNameTags,
  type Shown,
} from './name-tags.ts';
import { type Answer, LimitedError, type Sending } from './network.ts';
import type { Notes } from './notes.ts';
import type { Kind, Outcome } from './outcome.ts';
import type { TestPeople } from './people.ts';
import { CannotExamineError, type Target } from './target.ts';

export type Attempt = {
  state: string;
  returnTo: string | undefined;
  /** The answer of the login start: a redirect to the launch. */
  answer: Answer;
  /** The launch that the answer leads to. */
  launch: URL;
};

/** What a login looks like at this client. */
type Known = {
  sessionCookies: string[];
  /** The cookies that only a login sets. */
  proof: string[];
  leadsTo: string | undefined;
  /** The page that says who is logged in, and where on the page it says so. */
  landing: { page: URL; tags: NameTags } | undefined;
  /** The page that opened after the login, and the start page. */
  pages: URL[];
  /** Whether one of these pages looks different to a visitor. */
  isShown: boolean;
};

/** How old the last credential may be, in seconds, if the login start demands one. */
export function findMaxAge({ launch: { searchParams } }: Attempt): number | undefined {
  if (searchParams.get('prompt') === 'login') return 0;
  const maxAge = searchParams.get('max_age');
  return maxAge === null ? undefined : Number(maxAge);
}

const maxRedirects = 5;

export type Logins = ReturnType<typeof openLogins>;

export function openLogins(target: Target, notes: Notes, people: TestPeople) {
  const callback = new URL(target.callbackUrl);
  const login = new URL(target.loginUrl);
  const { checkCallback, checkLoginStart, hasRepeatedSession } = createAnswerChecks(notes);
  let known: Known | undefined;
  /** Cookies that visitors get before they log in. They prove no login. */
  const anonymous = new Set<string>();

  /** Opens the login start and follows redirects, but not the redirect to our launch. */
  async function start(browser: Browser, sending: Sending = {}): Promise<Attempt> {
    let url = login;
    for (let step = 0; step < maxRedirects; step++) {
      const answer = await browser.open(url, sending);
      requireNotLimited(answer);
      const { location, status } = answer;
      for (const name of listSet(answer)) anonymous.add(name);
      if (!location)
        throw new CannotExamineError(
          `The login start ${url.origin}${url.pathname} answers ${status}, and not with a redirect to the launch.`,
        );
      if (isLaunch(location)) {
        checkLoginStart(answer);
        const state = location.searchParams.get('state');
        if (!state)
          throw new CannotExamineError(
            'The login start sends no "state", so no hand-off can be tied to a browser.',
          );
        const returnTo = location.searchParams.get('return_to') ?? undefined;
        return { state, returnTo, answer, launch: location };
      }
      if (location.origin !== login.origin)
        throw new CannotExamineError(
          `The login start leads to ${location.origin}${location.pathname}, and not to the launch.`,
        );
      url = location;
    }
    throw new CannotExamineError('The login start leads in a circle.');
  }

  function addressOf(query: URLSearchParams): URL {
    const url = new URL(callback);
    url.search = url.search ? `${url.search}&${query}` : `?${query}`;
    return url;
  }

  async function open(browser: Browser, handOff: HandOff, sending?: Sending): Promise<Outcome> {
    const { query, launchId } = handOff;
    const held = known?.sessionCookies.map((name) => browser.valueOf(name));
    const answer = await browser.open(addressOf(query), sending);
    requireNotLimited(answer);
    if (answer.status >= 400) for (const name of listSet(answer)) anonymous.add(name);
    const outcome = {
      kind: classify(answer),
      code: answer.headers.get('identity-refusal') ?? undefined,
      answer,
      launchId,
    };
    checkCallback(outcome, { sessionCookies: known?.sessionCookies ?? [], held: held ?? [] });
    return outcome;
  }

  /**
   * Throws if the client, or a server in front of it, says that there are too many requests. A 503 with a refusal code has
   * another cause.
   */
  function requireNotLimited({ url, status, headers }: Answer): void {
    if (status !== 429 && (status !== 503 || headers.has('identity-refusal'))) return;
    notes.find('rate_limited', { saw: `${url.pathname} said that it had too many requests (${status}).` });
    notes.doubt('It had too many requests, so not all could be seen.');
    throw new LimitedError(`too many requests (${status})`);
  }

  function classify(answer: Answer): Kind {
    const { status, location } = answer;
    if (status >= 400) return status >= 500 ? 'crashed' : 'refused';
    if (!known) return location && isLoginStart(location) ? 'bounced' : 'taken';
    const hasProof = listSet(answer).some((name) => known?.proof.includes(name));
    if (hasProof) return 'taken';
    if (location && isLoginStart(location)) return 'bounced';
    return known.proof.length === 0 && readPath(location) === known.leadsTo ? 'taken' : 'refused';
  }

  const isLaunch = ({ pathname }: URL) => pathname.includes('/sso/launch/');
  const isLoginStart = (url: URL) =>
    isLaunch(url) || (url.origin === login.origin && url.pathname === login.pathname);

  /** Learns from the first genuine login which cookies are the session, and which pages may say who is logged in. */
  async function learn(browser: Browser, { answer }: Outcome): Promise<void> {
    const sessionCookies = listSet(answer);
    const proof = sessionCookies.filter((name) => !anonymous.has(name));
    known = {
      sessionCookies,
      proof,
      leadsTo: readPath(answer.location),
      landing: undefined,
      pages: [],
      isShown: false,
    };
    const landed = await follow(browser, answer);
    if (landed.location && isLoginStart(landed.location)) {
      const saw = `After a genuine login, ${landed.url.pathname} led to the login start again.`;
      return notes.find('session_not_kept', { saw });
    }
    known.pages = [landed.url, new URL('/', callback)];
  }

  /** Compares pages in the browsers of two people, to learn which page says who is logged in, and where on the page. */
  async function learnNameTags(main: Browser, profile: Browser, visitor: Browser): Promise<void> {
    if (!known) return;
    for (const page of known.pages) {
      const ofMain = await readPage(main, page);
      const ofProfile = await readPage(profile, page);
      const ofVisitor = await readPage(visitor, page);
      known.isShown ||= hideNumbers(ofMain) !== hideNumbers(ofVisitor);
      const mixed = findOnlyNamed(people, [ofMain, ofProfile]);
      if (mixed)
        notes.find('people_mixed', {
          saw: `Logged in two people in two browsers: ${page.pathname} showed the same one in both.`,
        });
      const tags = findNameTags(people, { main: ofMain, profile: ofProfile, visitor: ofVisitor });
      if (Object.keys(tags).length === 0) continue;
      known.landing = { page, tags };
      return;
    }
  }

  /**
   * Follows redirects, and pages that redirect immediately, within the client's own origin. Stops before the login start.
   * Returns the last answer.
   */
  async function follow(browser: Browser, answer: Answer): Promise<Answer> {
    let last = answer;
    for (let step = 0; step < maxRedirects; step++) {
      const [target] = findTargets(last);
      if (target?.origin !== callback.origin || isLoginStart(target)) break;
      last = await browser.open(target);
    }
    return last;
  }

  const readPage = async (browser: Browser, url: URL) =>
    (await follow(browser, await browser.open(url))).text;

  /** The page that says who is logged in, or an empty text if there is none. */
  const look = async (browser: Browser) => (known?.landing ? readPage(browser, known.landing.page) : '');

  return {
    start,
    open,
    addressOf,
    learn,
    learnNameTags,
    follow,
    isLaunch,
    isLoginStart,
    pages: () => known?.pages ?? [],
    readPages: (browser: Browser) =>
      Promise.all((known?.pages ?? []).map(async (page) => follow(browser, await browser.open(page)))),
    proof: () => known?.proof ?? [],
    sessionCookies: () => known?.sessionCookies ?? [],
    hasRepeatedSession,
    /** The session that an answer sets, or an empty text if it sets none. */
    readSession: ({ answer }: Outcome) =>
      answer.cookies
        .filter(({ name, isGone }) => known?.sessionCookies.includes(name) && !isGone)
        .map(({ name, value }) => `${name}=${value}`)
        .sort()
        .join(),
    /** Whether a page of the client says who is logged in. */
    showsPeople: () => known?.landing !== undefined,
    /** Whether a page looks different to visitors and to people who are logged in. */
    showsLogins: () => known?.isShown === true,
    look,
    /** The person who is logged in, according to the client's page. */
    findShown: async (browser: Browser): Promise<Shown> =>
      readNameTags(people, known?.landing?.tags ?? {}, await look(browser)),
  };
}

const listSet = ({ cookies }: Answer) =>
  cookies.filter(({ value, isGone }) => value !== '' && !isGone).map(({ name }) => name);

const readPath = (url: URL | undefined) => url && url.pathname + url.search;
