// The sessions of this client, if it leaves them to the kit. The browser has 256 random bits in a cookie, and the store has the
// SHA-256 of the client's name and them, so nobody can log in with what is in the store.
import { answer, fromStore, refuse } from './answers.ts';
import { readBody } from './body.ts';
import { fromHex, hmac, isSignedByAny, randomBytes, sha256, toBase64url, toHex, utf8 } from './bytes.ts';
import type { Settings } from './config.ts';
import { buildCookie, forgetTried, readCookies, sessionCookieOf } from './cookies.ts';
import { type HandOff, isReturnTo, type Profile } from './hand-off.ts';
import { Refusal } from './refusals.ts';
import type { Session, SessionStore } from './stores.ts';
import { toSeconds } from './verify.ts';

/** Throws if the client has no store for them. */
export function requireSessionStore({ sessions }: Settings): SessionStore {
  if (sessions) return sessions;
  throw new TypeError('sessions is missing: spread createSqlStores(), or give startSession and endSession');
}

/** Starts a session with a new id. Returns the header that sets its cookie, and how to end it again. */
export async function startSession(settings: Settings, { sid, profile: { id: userId } }: HandOff) {
  const store = requireSessionStore(settings);
  const token = toBase64url(randomBytes(32));
  const now = toSeconds(settings.now());
  const expiresAt = now + settings.maxSeconds;
  const id = await idOf(settings, token);
  await fromStore(() => store.add({ id, sid, userId, expiresAt }, now));
  return {
    headers: { 'Set-Cookie': buildCookie(settings, sessionCookieOf(settings), token) },
    end: () => fromStore(() => store.end(id)),
  };
}

/** Ends the session that this browser has, at the store. */
export async function endOwnSession(settings: Settings, request: Request): Promise<void> {
  const token = readToken(settings, request);
  if (token) await fromStore(async () => requireSessionStore(settings).end(await idOf(settings, token)));
}

export async function findSession(settings: Settings, request: Request): Promise<Session | undefined> {
  const token = readToken(settings, request);
  if (!token) return undefined;
  const store = requireSessionStore(settings);
  const session = await fromStore(async () => store.find(await idOf(settings, token)));
  return session && toSeconds(settings.now()) < session.expiresAt ? session : undefined;
}

/** Reads the events if that was long ago, and says whether it did. */
type ReadIfOld = () => Promise<boolean>;

export async function currentPerson(
  settings: Settings,
  request: Request,
  readIfOld: ReadIfOld,
): Promise<Profile | undefined> {
  let session = await findSession(settings, request);
  // The events may end the session, or change the person.
  if (session && (await readIfOld())) session = await findSession(settings, request);
  const userId = session?.userId;
  return userId === undefined ? undefined : fromStore(() => settings.profiles.find(userId));
}

/** The person, or the answer to send: the way to the login, which leads back to this page. */
export async function requireLogin(
  settings: Settings,
  request: Request,
  readIfOld: ReadIfOld,
): Promise<Profile | Response> {
  try {
    const person = await currentPerson(settings, request, readIfOld);
    if (person) return person;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(settings, request, error, settings.hooks);
  }
  const { pathname, search } = new URL(request.url);
  const target = new URL(settings.loginUrl);
  // A form that was sent cannot be sent again by a redirect.
  if (request.method === 'GET' && isReturnTo(pathname + search))
    target.searchParams.set('return_to', pathname + search);
  return answer(303, { Location: target.href });
}

/** Proves that a form is from a page of this session. Empty if the browser has none. */
export async function buildLogoutToken(settings: Settings, request: Request): Promise<string> {
  const token = readToken(settings, request);
  return token ? toHex(await hmac(utf8(token), logoutMessage(settings))) : '';
}

/** Ends the session of a genuine log-out form, and leads to the log-out at the identity service. */
export async function endSession(settings: Settings, request: Request, logoutUrl: string): Promise<Response> {
  try {
    if (request.method !== 'POST') throw new Refusal('method_not_allowed', request.method);
    await requireLogoutToken(settings, request);
    await endOwnSession(settings, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(settings, request, error, settings.hooks, 'POST');
  }
  return answer(303, { Location: logoutUrl }, [
    ['Set-Cookie', buildCookie(settings, sessionCookieOf(settings), '', 0)],
    ...forgetTried(settings, request),
  ]);
}

async function requireLogoutToken(settings: Settings, request: Request): Promise<void> {
  const token = readToken(settings, request);
  if (!token) throw new Refusal('logout_token_wrong', 'the browser has no session');
  const form = new URLSearchParams(new TextDecoder().decode(await readBody(request)));
  const [given = '', ...more] = form.getAll('token');
  if (!/^[0-9a-f]{64}$/.test(given) || more.length > 0)
    throw new Refusal(
      'logout_token_wrong',
      'not one token in the form, or something has read the form before the kit',
    );
  if (!(await isSignedByAny([utf8(token)], [fromHex(given)], logoutMessage(settings))))
    throw new Refusal('logout_token_wrong', 'the token of another session');
}

const logoutMessage = ({ client }: Settings) => utf8(`identity logout v1 ${client}`);

/** The cookie of this browser, if it has the form of ours. */
function readToken(settings: Settings, request: Request): string | undefined {
  const value = readCookies(request).get(sessionCookieOf(settings)) ?? '';
  return /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** Another client on the same tables has other ids, so a cookie of one is nothing to the other. */
const idOf = async ({ client }: Settings, token: string) => toHex(await sha256(utf8(`${client} ${token}`)));
