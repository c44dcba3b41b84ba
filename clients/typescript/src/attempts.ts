// The attempts of a browser. Each login that a browser starts has its own state and cookie, so that two tabs can log in at the
// same time. Only a hand-off with a state of this browser starts a session. Without this check, a stranger's link could log the
// person in as the stranger.
import {
  fromBase64url,
  fromHex,
  hmac,
  isSignedByAny,
  randomBytes,
  toBase64url,
  toHex,
  utf8,
} from './bytes.ts';
import type { Settings } from './config.ts';
import { buildCookie, readCookies } from './cookies.ts';
import { type HandOff, isReturnTo } from './hand-off.ts';
import { toSeconds } from './verify.ts';

/** The form of the value of an attempt's cookie: its time, the credential that it demands, and a MAC. */
const form = /^(\d{1,12})\.(-|\d{1,7})\.([0-9a-f]{64})$/;

type Attempt = { startedAt: number; maxAge: number | undefined };

const maxAttempts = 5;
const lifeSeconds = 600;
const leewaySeconds = 30;
/** The longest state that the launch accepts. */
const maxStateLength = 512;

/**
 * The state of a silent attempt contains the page to come back to. So the browser can come back even if it keeps no cookies.
 * The cookie's MAC covers the state. Undefined if the page makes the state too long for a launch.
 */
export function buildSilentState(page: string): string | undefined {
  const state = `silent.${toBase64url(randomBytes(16))}.${toBase64url(utf8(page))}`;
  return isReturnTo(page) && state.length <= maxStateLength ? state : undefined;
}

/** The page in the state of a silent attempt: a path on this site. Undefined for any other state. */
export function readSilentPage(state: string | undefined): string | undefined {
  const [, page = ''] = /^silent\.[\w-]{22}\.([\w-]+)$/.exec(state ?? '') ?? [];
  const path = new TextDecoder().decode(fromBase64url(page));
  return isReturnTo(path) ? path : undefined;
}

/**
 * Starts an attempt. Returns its state, and `Set-Cookie` values that keep it and the four newest attempts before it. The
 * cookie is signed, because it says whether the person must give a credential again (`maxAge`).
 */
export async function startAttempt(
  settings: Settings,
  request: Request,
  maxAge: number | undefined,
  state = toBase64url(randomBytes(16)),
) {
  const { cookiePrefix, secrets, now } = settings;
  const said = `${toSeconds(now())}.${maxAge ?? '-'}`;
  const mac = await hmac(utf8(secrets[0] ?? ''), message(settings, state, said));
  const dropped = listAttempts(settings, request).slice(0, 1 - maxAttempts);
  return {
    state,
    setCookies: [
      buildCookie(settings, cookiePrefix + state, `${said}.${toHex(mac)}`, lifeSeconds),
      ...dropped.map((name) => buildCookie(settings, name, '', 0)),
    ],
  };
}

/** This browser's attempt with that state, if it started in the last ten minutes. */
export async function findAttempt(
  settings: Settings,
  request: Request,
  state: string | undefined,
): Promise<Attempt | undefined> {
  const value = readCookies(request).get(settings.cookiePrefix + state) ?? '';
  const [, started, demand, mac] = form.exec(value) ?? [];
  if (state === undefined || !started || !demand || !mac) return undefined;
  const signed = message(settings, state, `${started}.${demand}`);
  if (!(await isSignedByAny(settings.secrets.map(utf8), [fromHex(mac)], signed))) return undefined;
  const startedAt = Number(started);
  if (toSeconds(settings.now()) >= startedAt + lifeSeconds) return undefined;
  return { startedAt, maxAge: demand === '-' ? undefined : Number(demand) };
}

/** Whether the person gave a credential recently enough. A session that a hand-off started has no `auth_time`. */
export const isProved = ({ startedAt, maxAge }: Attempt, { auth_time }: HandOff): boolean =>
  maxAge === undefined || (auth_time !== undefined && auth_time >= startedAt - maxAge - leewaySeconds);

const message = ({ client }: Settings, state: string, said: string) =>
  utf8(`identity attempt v1 ${client} ${state} ${said}`);

/**
 * The names of the cookies of this browser's attempts, the oldest first. The name of a session's cookie may begin with the same
 * prefix, so the form of the name and of the value is checked, too.
 */
function listAttempts({ cookiePrefix }: Settings, request: Request): string[] {
  return [...readCookies(request)]
    .filter(
      ([name, value]) =>
        name.startsWith(cookiePrefix) &&
        form.test(value) &&
        /^(?:silent\.)?[\w-]{22}(?:\.[\w-]*)?$/.test(name.slice(cookiePrefix.length)),
    )
    .sort(([, one], [, other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map(([name]) => name);
}
