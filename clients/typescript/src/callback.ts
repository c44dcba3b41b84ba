// The two addresses of a client that a browser opens: the start of a login, and the callback that the login comes back to.
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
   * The page to come back to: a path on your site. Other values are ignored, so a visitor may choose it. By default, it is
   * `return_to` in the query of the request.
   */
  returnTo?: string | null;
  /** `login` asks for a credential again. `none` shows no page: if nobody is logged in, your callback gets an error. */
  prompt?: 'login' | 'none';
  /** Asks for a credential again if the last one was given more than this many seconds ago. */
  maxAge?: number;
};

export type Login = {
  /** Whether this attempt demanded a credential, by `prompt` or `maxAge`, and got it. */
  isProved: boolean;
};

/** Everything is optional: without `startSession`, the kit keeps the sessions. */
export type CallbackOptions = RefusalHooks & {
  /**
   * Saves a profile in your own table. It is called only if the profile is later than the kept one. If it does not throw, the kit
   * keeps the profile, and then the session starts.
   */
  savePerson?: (profile: Profile) => unknown;
  /**
   * Hears of each login before anything of it is kept. To turn somebody away, throw `new Refusal('person_refused', reason)`: they
   * see a page, and no session starts.
   */
  onLogin?: (handOff: HandOff) => unknown;
  /**
   * Starts a session of your own, with a new id. Returns the headers that set it, such as `Set-Cookie`.
   */
  startSession?: (handOff: HandOff, login: Login) => Promise<HeadersInit> | HeadersInit;
  /**
   * Ends your session of that login (the `sid` of its hand-off). The login can end while you start its session, so
   * `startSession` needs it.
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

/** Undefined if it is there twice. */
function findReturnTo(request: Request): string | undefined {
  const [path, ...more] = new URL(request.url).searchParams.getAll('return_to');
  return more.length > 0 ? undefined : path;
}

function launch({ baseUrl, client }: Settings, query: URLSearchParams, setCookies: string[]): Response {
  const headers = setCookies.map((cookie): [string, string] => ['Set-Cookie', cookie]);
  return answer(303, { Location: `${baseUrl}/sso/launch/${client}?${query}` }, headers);
}

/** In the query of a page, it says that a silent attempt came back without its cookie. */
const triedInVain = 'silent';

/**
 * Sends a browser without a session to the identity service once, which shows no page. Undefined if there is nothing to try: then
 * show this page.
 */
export async function loginSilently(settings: Settings, request: Request): Promise<Response | undefined> {
  const { pathname, search, searchParams } = new URL(request.url);
  // Pictures, frames and scripts ask for addresses, too.
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
  // The mark is set together with the attempt: a browser that keeps the one keeps the other.
  return launch(settings, query, [...setCookies, markTried(settings)]);
}

/** Takes a hand-off. Starts a session and redirects away from the signed address, or refuses. */
export async function handleCallback(
  settings: Settings,
  request: Request,
  given: CallbackOptions,
): Promise<Response> {
  const options = { ...settings.hooks, ...given };
  if (!options.startSession) requireSessionStore(settings);
  else if (!options.endSession)
    throw new TypeError('startSession needs endSession: a login can end while its session starts');
  // Browsers and chat programs open links before anybody clicks. That must not use the hand-off up.
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

/** How to find whether a browser has a session, if the kit keeps the sessions. */
const ownsSession = (settings: Settings, { startSession }: CallbackOptions) =>
  startSession ? undefined : (request: Request) => findSession(settings, request);

/** Where a silent attempt leads that brought nobody. Undefined for every other attempt. */
function findSilentEnd(settings: Settings, state: string | undefined, isKept: boolean): string | undefined {
  const page = readSilentPage(state);
  if (page === undefined) return undefined;
  const target = findTarget(settings, page);
  if (isKept) return target;
  // Without the attempt's cookie, the browser may keep none, so only the address can say that this was tried. The page may have
  // signed its query, so that stays byte for byte.
  const [address = '', ...fragment] = target.split('#');
  const tried = `${address}${address.includes('?') ? '&' : '?'}${triedInVain}=no`;
  return [tried, ...fragment].join('#');
}

/** The error in place of a hand-off. Undefined if there is something to verify. */
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

/** The hand-off has been verified. The nonce is used last, so that a refusal by an earlier check does not use it up. */
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
  // The profile is saved before the session starts, so that no session belongs to a person who could not be saved.
  if (await fromStore(() => profiles.isNewer(profile))) {
    // This comes first: if it throws, the event about this profile must still count as newer.
    await savePerson?.(profile);
    await fromStore(() => profiles.apply(profile));
  }
  if (!startSession) await requireKnown(settings, handOff);
  if (!startSession) return startKept(settings, request, handOff, endSession);
  const headers = await startSession(handOff, { isProved: attempt.maxAge !== undefined });
  try {
    await requireLive(settings, handOff);
  } catch (refused) {
    // The event about the login's end may have come before there was a session to end.
    if (handOff.sid !== undefined) await endSession?.(handOff.sid);
    throw refused;
  }
  return headers;
}

/** Starts a session that the kit keeps, in place of the earlier one of this browser. */
async function startKept(
  settings: Settings,
  request: Request,
  handOff: HandOff,
  endSession: CallbackOptions['endSession'],
): Promise<HeadersInit> {
  const { headers, end } = await startOwnSession(settings, handOff);
  try {
    await requireLive(settings, handOff);
    // The earlier session ends last: if a store is away before that, the browser still has it.
    await endOwnSession(settings, request);
    return headers;
  } catch (refused) {
    const { sid } = handOff;
    if (refused instanceof Refusal && refused.code === 'session_ended' && sid !== undefined) {
      // The event about the login's end may have come before there was a session to end.
      await fromStore(() => settings.sessions?.endLogin(sid));
      await endSession?.(sid);
    } else {
      // The earlier session may be of the same login, so only the new one ends. If it does not, nobody has its cookie.
      await end().catch(() => {});
    }
    throw refused;
  }
}

/** A person who was deleted while the hand-off was on its way has no profile. */
async function requireKnown({ profiles }: Settings, { profile }: HandOff): Promise<void> {
  if (!(await fromStore(() => profiles.find(profile.id))))
    throw new Refusal('session_ended', 'the person was deleted meanwhile');
}

async function requireLive({ endedLogins }: Settings, { sid }: HandOff): Promise<void> {
  if (sid !== undefined && (await fromStore(() => endedLogins.has(sid))))
    throw new Refusal('session_ended', 'the event of its end came first');
}

/** An error is not signed, so it may only choose a page, and only for an attempt of this browser. */
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
