// The sessions of this client, if the kit keeps them. The browser has 256 random bits in a cookie. The store has only the
// SHA-256 of these bits and the client's name. So nobody can log in with what they read in the store.
import { answer, fromStore, refuse } from './answers.ts';
import { readBody } from './body.ts';
import { fromHex, hmac, isSignedByAny, randomBytes, sha256, toBase64url, toHex, utf8 } from './bytes.ts';
import type { Settings } from './config.ts';
import { buildCookie, forgetTried, readCookies, sessionCookieOf } from './cookies.ts';
import { type HandOff, isReturnTo, type Profile } from './hand-off.ts';
import { Refusal } from './refusals.ts';
import type { Session, SessionStore } from './stores.ts';
import { toSeconds } from './verify.ts';

/** Throws if the client has no store for sessions. */
export function requireSessionStore({ sessions }: Settings): SessionStore {
  if (sessions) return sessions;
  throw new TypeError('sessions is missing: spread createSqlStores(), or give startSession and endSession');
}

/** Starts a session with a new id. Returns the header that sets its cookie, and a function that ends the session again. */
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

/** Ends the browser's session in the store. */
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

/** Reads the events if the last read is too old. Returns whether events were read. */
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

/**
 * Returns who is logged in. If nobody is, returns the answer to send: a redirect to the login, which leads back to this page.
 */
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
  // The login cannot make the browser post a form again, so it leads back only to the page of a GET.
  if (request.method === 'GET' && isReturnTo(pathname + search))
    target.searchParams.set('return_to', pathname + search);
  return answer(303, { Location: target.href });
}

/** A token for forms, which proves that a form is from a page of this session. Empty if the browser has no session. */
export async function buildLogoutToken(settings: Settings, request: Request): Promise<string> {
  const token = readToken(settings, request);
  return token ? toHex(await hmac(utf8(token), logoutMessage(settings))) : '';
}

/** If the log-out form is genuine, ends the session, and redirects to the log-out at the identity service. */
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

/** The value of this browser's session cookie. Undefined if the value does not have the right form. */
function readToken(settings: Settings, request: Request): string | undefined {
  const value = readCookies(request).get(sessionCookieOf(settings)) ?? '';
  return /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** The id contains the client's name. So a cookie of one client is not valid at another client on the same tables. */
const idOf = async ({ client }: Settings, token: string) => toHex(await sha256(utf8(`${client} ${token}`)));
