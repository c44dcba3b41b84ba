// Reads and writes the kit's cookies. On https their names begin with `__Host-`, so that no other host can set them.
import type { Settings } from './config.ts';

/**
 * Without `seconds`, the browser deletes the cookie when the browser is closed. If `seconds` is 0, the browser deletes the
 * cookie immediately.
 */
export function buildCookie({ isSecure }: Settings, name: string, value: string, seconds?: number): string {
  const life = seconds === undefined ? '' : ` Max-Age=${seconds};`;
  return `${name}=${value}; Path=/;${life} HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`;
}

/**
 * If two cookies have one name, the first counts. Only spaces and tabs are trimmed. If another blank comes before `__Host-`,
 * browsers do not see that prefix, so another host may have set the cookie.
 */
export function readCookies(request: Request): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const cookie = part.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '');
    const at = cookie.indexOf('=');
    const name = cookie.slice(0, Math.max(0, at));
    if (name && !cookies.has(name)) cookies.set(name, cookie.slice(at + 1));
  }
  return cookies;
}

export const sessionCookieOf = ({ hostPrefix, client }: Settings) => `${hostPrefix}${client}_session`;
const silentCookieOf = ({ hostPrefix, client }: Settings) => `${hostPrefix}${client}_silent`;

const silentSeconds = 600;

/** Keeps `loginSilently` from trying again. */
export const markTried = (settings: Settings) =>
  buildCookie(settings, silentCookieOf(settings), '1', silentSeconds);

export const hasTried = (settings: Settings, request: Request) =>
  readCookies(request).has(silentCookieOf(settings));

/** Lets `loginSilently` try again. Returns no header if the browser does not have the cookie of `markTried`. */
export const forgetTried = (settings: Settings, request: Request): [string, string][] =>
  hasTried(settings, request) ? [['Set-Cookie', buildCookie(settings, silentCookieOf(settings), '', 0)]] : [];
