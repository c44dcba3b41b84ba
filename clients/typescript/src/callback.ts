// The two addresses of a client that a browser opens: the start of a login, and the callback that the login comes back to.
import { findAttempt, isProved, startAttempt } from './attempts.ts';
import { launchId } from './bytes.ts';
import { findOtherHost, findOtherPath, type Settings } from './config.ts';
import { type HandOff, isReturnTo, type Profile } from './hand-off.ts';
import { buildRefusalPage, describe, privateHeaders, Refusal, type RefusalCode } from './refusals.ts';
import { findLaunchId, readQuery, verifyHandOff } from './verify.ts';

export type LoginOptions = {
  /** The page to come back to: a path on your site. Other values are ignored, so a visitor may choose it. */
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

export type CallbackOptions = {
  /**
   * Saves a profile in your own table. It is called only if the profile is later than the kept one. If it does not throw, the kit
   * keeps the profile, and then the session starts.
   */
  savePerson?: (profile: Profile) => unknown;
  /**
   * Starts a session of your own, with a new id. Returns the headers that set it, such as `Set-Cookie`. To turn somebody away,
   * throw `new Refusal('person_refused', reason)`.
   */
  startSession: (handOff: HandOff, login: Login) => Promise<HeadersInit> | HeadersInit;
  /** Ends your session of that login (the `sid` of its hand-off). The login can end while you start its session. */
  endSession: (sid: string) => unknown;
  /** Whether this browser has a session of yours already. */
  isLoggedIn?: (request: Request) => unknown;
  /** Your own answer in place of the kit's page. It is also called for the errors of `prompt=none`. */
  onRefusal?: (refusal: Refusal) => Promise<Response | undefined> | Response | undefined;
};

/** Sends the browser to the identity service. */
export async function startLogin(
  settings: Settings,
  request: Request,
  { returnTo, prompt, maxAge }: LoginOptions,
): Promise<Response> {
  if (isSpeculative(request)) return answer(204);
  if (request.method !== 'GET')
    return refuse(settings, request, new Refusal('method_not_allowed', request.method), {});
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
  const headers = setCookies.map((cookie): [string, string] => ['Set-Cookie', cookie]);
  return answer(303, { Location: `${settings.baseUrl}/sso/launch/${settings.client}?${query}` }, headers);
}

/** Takes a hand-off. Starts a session and redirects away from the signed address, or refuses. */
export async function handleCallback(
  settings: Settings,
  request: Request,
  options: CallbackOptions,
): Promise<Response> {
  // Browsers and chat programs open links before anybody clicks. That must not use the hand-off up.
  if (isSpeculative(request)) return answer(204);
  try {
    if (request.method !== 'GET') throw new Refusal('method_not_allowed', request.method);
    logElsewhere(settings, findOtherPath(settings, request));
    const { headers, handOff } = await receive(settings, request, options);
    settings.log({ outcome: 'accepted', launchId: await launchId(handOff.nonce) });
    return answer(303, { Location: findTarget(settings, handOff) }, headers);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(settings, request, error, options);
  }
}

function logElsewhere({ log }: Settings, reason: string | undefined): void {
  if (reason) log({ outcome: 'opened_elsewhere', launchId: undefined, reason });
}

async function receive(settings: Settings, request: Request, options: CallbackOptions) {
  const query = new URL(request.url).searchParams;
  try {
    const { payload, signature, signature_next, error, state } = readQuery(query);
    const isError = [payload, signature, signature_next].every((value) => value === undefined);
    if (isError && error !== undefined) throw await readError(settings, request, error, state);
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
  { savePerson, startSession, endSession }: CallbackOptions,
): Promise<HeadersInit> {
  const { nonces, profiles } = settings;
  const { profile } = handOff;
  await requireLive(settings, handOff);
  if (handOff.state === undefined) throw new Refusal('state_missing', 'nobody asked for it here');
  const attempt = await findAttempt(settings, request, handOff.state);
  if (!attempt) throw unknownState();
  if (!isProved(attempt, handOff))
    throw new Refusal('auth_time_too_old', 'auth_time is before this client asked for a credential');
  const keepUntil = handOff.exp + 60;
  if (!(await fromStore(() => nonces.consume(handOff.nonce, keepUntil))))
    throw new Refusal('nonce_replayed', 'nonce used before');
  // The profile is saved before the session starts, so that no session belongs to a person who could not be saved.
  if (await fromStore(() => profiles.isNewer(profile))) {
    // This comes first: if it throws, the event about this profile must still count as newer.
    await savePerson?.(profile);
    await fromStore(() => profiles.apply(profile));
  }
  const headers = await startSession(handOff, { isProved: attempt.maxAge !== undefined });
  try {
    await requireLive(settings, handOff);
  } catch (refused) {
    // The event about the login's end may have come before there was a session to end.
    if (handOff.sid !== undefined) await endSession(handOff.sid);
    throw refused;
  }
  return headers;
}

async function requireLive({ endedLogins }: Settings, { sid }: HandOff): Promise<void> {
  if (sid !== undefined && (await fromStore(() => endedLogins.has(sid))))
    throw new Refusal('session_ended', 'the event of its end came first');
}

/** An error is not signed, so it may only choose a page, and only for an attempt of this browser. */
async function readError(settings: Settings, request: Request, error: string, state: string | undefined) {
  if (!(await findAttempt(settings, request, state))) return unknownState();
  const isKnown = ['login_required', 'interaction_required', 'access_denied'].includes(error);
  const code = isKnown ? (error as RefusalCode) : 'error_unknown';
  return new Refusal(code, isKnown ? 'the identity service sent no payload' : 'an error of no known name');
}

const unknownState = () =>
  new Refusal('state_unknown', 'this browser did not ask for it in the last ten minutes');

/** If a store throws, nobody is let in. A store may also throw a refusal. */
async function fromStore<T>(ask: () => Promise<T> | T): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal('store_unavailable', 'a store threw', { cause });
  }
}

async function refuse(
  settings: Settings,
  request: Request,
  refusal: Refusal,
  { isLoggedIn, onRefusal }: Pick<CallbackOptions, 'isLoggedIn' | 'onRefusal'>,
): Promise<Response> {
  const { code, launchId, reason, cause } = refusal;
  settings.log({ outcome: code, launchId, reason, cause });
  const headers = describe(refusal);
  if (refusal.code === 'state_missing') {
    // This redirects only if nobody asked for the hand-off. It cannot loop, because the next hand-off has a state.
    const target = (await isLoggedIn?.(request)) ? settings.homeUrl : settings.loginUrl;
    return answer(refusal.status, { ...headers, Location: target });
  }
  const page = (await onRefusal?.(refusal)) ?? buildRefusalPage(refusal, settings);
  const more = furtherHeaders[refusal.status];
  return answer(page.status, { ...headers, ...more }, page.headers, page.body);
}

const furtherHeaders: Record<number, Record<string, string>> = {
  405: { Allow: 'GET, HEAD' },
  503: { 'Retry-After': '5' },
};

/** The payload's path, on the site of the callback and on no other site. */
function findTarget({ callbackUrl, homeUrl }: Settings, { return_to: path }: HandOff): string {
  if (path === undefined) return homeUrl;
  const target = new URL(path, callbackUrl);
  return target.origin === new URL(callbackUrl).origin ? target.href : homeUrl;
}

const isSpeculative = (request: Request) =>
  request.method === 'HEAD' || /\bprefetch\b/i.test(request.headers.get('sec-purpose') ?? '');

/** The headers are those given, the headers of `base`, and the headers that every answer has. */
function answer(
  status: number,
  given: Record<string, string> = {},
  base?: HeadersInit,
  body: BodyInit | null = null,
): Response {
  const headers = new Headers(base);
  for (const [name, value] of Object.entries({ ...privateHeaders, ...given })) headers.set(name, value);
  return new Response(body, { status, headers });
}
