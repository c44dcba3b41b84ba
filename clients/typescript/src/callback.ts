// The two URLs of a client that a browser opens: the start of a login, and the callback to which the login comes back.
import { answer, findTarget, fromStore, isSpeculative, type RefusalHooks, refuse } from './answers.ts';
import { buildSilentState, findAttempt, isProved, readSilentPage, startAttempt } from './attempts.ts';
import { launchId } from './bytes.ts';
import { findOtherHost, findOtherPath, type Settings } from './config.ts';
import { forgetTried, hasTried, markTried } from './cookies.ts';
import { type HandOff, isReturnTo, type Profile } from './hand-off.ts';
import { Refusal, type RefusalCode } from './refusals.ts';
import {
  endOwnSession,
  findSession,
  requireSessionStore,
  startSession as startOwnSession,
} from './sessions.ts';
import { findLaunchId, readQuery, verifyHandOff } from './verify.ts';

export type LoginOptions = {
  /**
   * The page to come back to: a path on your site. Any other value is ignored, so it is safe to let a visitor choose the page.
   * By default, it is `return_to` in the query of the request.
   */
  returnTo?: string | null;
  /** `login` asks for a credential again. `none` shows no page: if nobody is logged in, your callback gets an error. */
  prompt?: 'login' | 'none';
  /** If the last credential is older than this many seconds, the service asks for a credential again. */
  maxAge?: number;
};

export type Login = {
  /** Whether this attempt demanded a credential (by `prompt` or `maxAge`), and the person gave one. */
  isProved: boolean;
};

/** Everything is optional: without `startSession`, the kit keeps the sessions. */
export type CallbackOptions = RefusalHooks & {
  /**
   * Saves a profile in your own table. It is called only if the profile is later than the kept one. If it does not throw, the
   * kit keeps the profile, and then starts the session.
   */
  savePerson?: (profile: Profile) => unknown;
  /**
   * Is called at each login, before anything is kept. To turn the person away, throw `new Refusal('person_refused', reason)`.
   * They then see a page, and no session starts.
   */
  onLogin?: (handOff: HandOff) => unknown;
  /** Starts your own session, with a new id. Returns the headers that set the session's cookie. */
  startSession?: (handOff: HandOff, login: Login) => Promise<HeadersInit> | HeadersInit;
  /**
   * Ends your session of the login with this `sid`. Required with `startSession`, because the login can end while you start its
   * session.
   */
  endSession?: (sid: string) => unknown;
};

/** Sends the browser to the identity service. */
export async function startLogin(
  settings: Settings,
  request: Request,
  { returnTo = findReturnTo(request), prompt, maxAge }: LoginOptions,
): Promise<Response> {
  if (isSpeculative(request)) return answer(204);
  if (request.method !== 'GET')
    return refuse(settings, request, new Refusal('method_not_allowed', request.method));
  if (prompt && prompt !== 'login' && prompt !== 'none') throw new RangeError('prompt must be login or none');
  if (maxAge !== undefined && !(Number.isInteger(maxAge) && maxAge >= 0 && maxAge <= 2_592_000))
    throw new RangeError('maxAge must be a whole number of seconds, 0 to 2,592,000');
  logElsewhere(settings, findOtherHost(settings, request));
  const demand = prompt === 'login' ? 0 : maxAge;
  const { state, setCookies } = await startAttempt(settings, request, demand);
  const query = new URLSearchParams({ state });
  if (isReturnTo(returnTo)) query.set('return_to', String(returnTo));
  if (prompt) query.set('prompt', prompt);
  if (maxAge !== undefined) query.set('max_age', String(maxAge));
  return launch(settings, query, setCookies);
}

/** Undefined if the parameter is repeated. */
function findReturnTo(request: Request): string | undefined {
  const [path, ...more] = new URL(request.url).searchParams.getAll('return_to');
  return more.length > 0 ? undefined : path;
}

function launch({ baseUrl, client }: Settings, query: URLSearchParams, setCookies: string[]): Response {
  const headers = setCookies.map((cookie): [string, string] => ['Set-Cookie', cookie]);
  return answer(303, { Location: `${baseUrl}/sso/launch/${client}?${query}` }, headers);
}

/** The query parameter that says that a silent attempt came back without its cookie. */
const triedInVain = 'silent';

/**
 * Asks the identity service whether this browser is logged in there, without showing a page of the service. Returns the
 * redirect that asks. If there is nothing to ask, returns undefined, and you show your page.
 */
export async function loginSilently(settings: Settings, request: Request): Promise<Response | undefined> {
  const { pathname, search, searchParams } = new URL(request.url);
  // Only a page may be redirected. Browsers also send requests for pictures, frames and scripts.
  const isPage = (request.headers.get('sec-fetch-dest') ?? 'document') === 'document';
  if (request.method !== 'GET' || isSpeculative(request) || !isPage) return undefined;
  if (hasTried(settings, request) || searchParams.has(triedInVain)) return undefined;
  try {
    if (settings.sessions && (await findSession(settings, request))) return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(settings, request, error, settings.hooks);
  }
  const page = pathname + search;
  const silent = buildSilentState(page);
  if (!silent) return undefined;
  const { state, setCookies } = await startAttempt(settings, request, undefined, silent);
  const query = new URLSearchParams({ state, return_to: page, prompt: 'none' });
  // This cookie is set together with the attempt's cookie, because a browser keeps either both or neither.
  return launch(settings, query, [...setCookies, markTried(settings)]);
}

/**
 * Accepts a hand-off: starts a session, and redirects away from the URL that contains the payload. Refuses a wrong hand-off.
 */
export async function handleCallback(
  settings: Settings,
  request: Request,
  given: CallbackOptions,
): Promise<Response> {
  const options = { ...settings.hooks, ...given };
  if (!options.startSession) requireSessionStore(settings);
  else if (!options.endSession)
    throw new TypeError('startSession needs endSession: a login can end while its session starts');
  // Browsers and chat programs open links before anybody clicks. Such a request must not use the hand-off up.
  if (isSpeculative(request)) return answer(204);
  try {
    if (request.method !== 'GET') throw new Refusal('method_not_allowed', request.method);
    logElsewhere(settings, findOtherPath(settings, request));
    const { headers, handOff } = await receive(settings, request, options);
    settings.log({ outcome: 'accepted', launchId: await launchId(handOff.nonce) });
    const all = new Headers(headers);
    for (const [name, value] of forgetTried(settings, request)) all.append(name, value);
    return answer(303, { Location: findTarget(settings, handOff.return_to) }, all);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.leadsTo !== undefined) return answer(303, { Location: error.leadsTo });
    const { isLoggedIn = ownsSession(settings, options), onRefusal } = options;
    return refuse(settings, request, error, { isLoggedIn, onRefusal });
  }
}

/** If the kit keeps the sessions, returns the function that finds whether a browser has a session. */
const ownsSession = (settings: Settings, { startSession }: CallbackOptions) =>
  startSession ? undefined : (request: Request) => findSession(settings, request);

/** The page to go back to if a silent attempt logged nobody in. Undefined if the attempt was not silent. */
function findSilentEnd(settings: Settings, state: string | undefined, isKept: boolean): string | undefined {
  const page = readSilentPage(state);
  if (page === undefined) return undefined;
  const target = findTarget(settings, page);
  if (isKept) return target;
  // If the attempt's cookie is missing, this browser may keep no cookies at all. So the URL has to say that a silent login was
  // tried. The rest of the query stays byte for byte, because the page may have signed it.
  const [address = '', ...fragment] = target.split('#');
  const tried = `${address}${address.includes('?') ? '&' : '?'}${triedInVain}=no`;
  return [tried, ...fragment].join('#');
}

/** The error that came in place of a hand-off. Undefined if there is a hand-off to verify. */
function readCallbackError(given: URLSearchParams): { error: string; state: string | undefined } | undefined {
  const { payload, signature, signature_next, error, state } = readQuery(given);
  const isError = [payload, signature, signature_next].every((value) => value === undefined);
  return isError && error !== undefined ? { error, state } : undefined;
}

const expected = ['login_required', 'interaction_required', 'access_denied'];

function logElsewhere({ log }: Settings, reason: string | undefined): void {
  if (reason) log({ outcome: 'opened_elsewhere', launchId: undefined, reason });
}

async function receive(settings: Settings, request: Request, options: CallbackOptions) {
  const query = new URL(request.url).searchParams;
  try {
    const failed = readCallbackError(query);
    if (failed) throw await readError(settings, request, failed.error, failed.state);
    const handOff = await verifyHandOff(query, { ...settings, now: settings.now() });
    return { handOff, headers: await accept(settings, request, handOff, options) };
  } catch (refused) {
    if (refused instanceof Refusal) refused.launchId ??= await findLaunchId(query);
    throw refused;
  }
}

/** Checks a hand-off that has been verified. The nonce is used last, so that an earlier refusal does not use it up. */
async function accept(
  settings: Settings,
  request: Request,
  handOff: HandOff,
  { onLogin, savePerson, startSession, endSession }: CallbackOptions,
): Promise<HeadersInit> {
  const { nonces, profiles } = settings;
  const { profile } = handOff;
  await requireLive(settings, handOff);
  if (handOff.state === undefined) throw new Refusal('state_missing', 'nobody asked for it here');
  const attempt = await findAttempt(settings, request, handOff.state);
  if (!attempt) throw unknownState(settings, handOff.state);
  if (!isProved(attempt, handOff))
    throw new Refusal('auth_time_too_old', 'auth_time is before this client asked for a credential');
  const keepUntil = handOff.exp + 60;
  if (!(await fromStore(() => nonces.consume(handOff.nonce, keepUntil))))
    throw new Refusal('nonce_replayed', 'nonce used before');
  await onLogin?.(handOff);
  // The profile is saved first. If that fails, no session starts.
  if (await fromStore(() => profiles.isNewer(profile))) {
    // `savePerson` comes first. If it throws, the kit does not keep the profile. So an event with the same profile still counts
    // as newer.
    await savePerson?.(profile);
    await fromStore(() => profiles.apply(profile));
  }
  if (!startSession) await requireKnown(settings, handOff);
  if (!startSession) return startKept(settings, request, handOff, endSession);
  const headers = await startSession(handOff, { isProved: attempt.maxAge !== undefined });
  try {
    await requireLive(settings, handOff);
  } catch (refused) {
    // The event about the end of the login may have come before there was a session to end.
    if (handOff.sid !== undefined) await endSession?.(handOff.sid);
    throw refused;
  }
  return headers;
}

/** Starts a session that the kit keeps. Ends the earlier session of this browser. */
async function startKept(
  settings: Settings,
  request: Request,
  handOff: HandOff,
  endSession: CallbackOptions['endSession'],
): Promise<HeadersInit> {
  const { headers, end } = await startOwnSession(settings, handOff);
  try {
    await requireLive(settings, handOff);
    // The earlier session ends last. If the store fails before that, the browser still has that session.
    await endOwnSession(settings, request);
    return headers;
  } catch (refused) {
    const { sid } = handOff;
    if (refused instanceof Refusal && refused.code === 'session_ended' && sid !== undefined) {
      // The event about the end of the login may have come before there was a session to end.
      await fromStore(() => settings.sessions?.endLogin(sid));
      await endSession?.(sid);
    } else {
      // Ends only the new session, because the earlier session may be of the same login. If even that fails, nobody has the
      // new session's cookie.
      await end().catch(() => {});
    }
    throw refused;
  }
}

/** If a person was deleted while the hand-off was on its way, the store has no profile of them. */
async function requireKnown({ profiles }: Settings, { profile }: HandOff): Promise<void> {
  if (!(await fromStore(() => profiles.find(profile.id))))
    throw new Refusal('session_ended', 'the person was deleted meanwhile');
}

async function requireLive({ endedLogins }: Settings, { sid }: HandOff): Promise<void> {
  if (sid !== undefined && (await fromStore(() => endedLogins.has(sid))))
    throw new Refusal('session_ended', 'the event of its end came first');
}

/** Errors are not signed. So an error can do nothing but choose a page, and only for an attempt of this browser. */
async function readError(settings: Settings, request: Request, error: string, state: string | undefined) {
  if (!(await findAttempt(settings, request, state))) return unknownState(settings, state);
  if (!expected.includes(error)) return new Refusal('error_unknown', 'an error of no known name');
  const refusal = new Refusal(error as RefusalCode, 'the identity service sent no payload');
  refusal.leadsTo = findSilentEnd(settings, state, true);
  return refusal;
}

function unknownState(settings: Settings, state: string | undefined): Refusal {
  const refusal = new Refusal('state_unknown', 'this browser did not ask for it in the last ten minutes');
  refusal.leadsTo = findSilentEnd(settings, state, false);
  return refusal;
}
