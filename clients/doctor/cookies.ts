// Keeps cookies as browsers do (RFC 6265), as far as logins depend on it.
import { isThisMachine } from '../../server/settings/this-machine.ts';

export type Cookie = {
  name: string;
  value: string;
  host: string;
  /** If this is undefined, the cookie is only for the host that set it. */
  domain: string | undefined;
  path: string;
  isSecure: boolean;
  isHttpOnly: boolean;
  sameSite: string | undefined;
  /** Whether the server has set the cookie only to delete it. */
  isGone: boolean;
};

/** Reads a Set-Cookie header; undefined if browsers would not keep the cookie. */
export function readSetCookie(text: string, url: URL): Cookie | undefined {
  const [pair = '', ...attributes] = text.split(';').map((part) => part.trim());
  const at = pair.indexOf('=');
  if (at < 1) return undefined;
  const given = new Map(
    attributes.map((attribute) => {
      const [name = '', ...value] = attribute.split('=');
      return [name.trim().toLowerCase(), value.join('=').trim()];
    }),
  );
  const domain = given.get('domain')?.toLowerCase().replace(/^\./, '') || undefined;
  const path = given.get('path');
  const maxAge = given.get('max-age');
  const expires = Date.parse(given.get('expires') ?? '');
  const cookie: Cookie = {
    name: pair.slice(0, at),
    value: pair.slice(at + 1),
    host: url.hostname,
    domain,
    path: path?.startsWith('/') ? path : url.pathname.replace(/\/[^/]*$/, '') || '/',
    isSecure: given.has('secure'),
    isHttpOnly: given.has('httponly'),
    sameSite: given.get('samesite')?.toLowerCase(),
    isGone: maxAge !== undefined ? Number(maxAge) <= 0 : expires < Date.now(),
  };
  return isKept(cookie, url) ? cookie : undefined;
}

function isKept({ name, domain, path, isSecure }: Cookie, url: URL): boolean {
  if (domain !== undefined && !isWithin(url.hostname, domain)) return false;
  if (name.startsWith('__Host-')) return isSecure && domain === undefined && path === '/';
  return !name.startsWith('__Secure-') || isSecure;
}

const isWithin = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

export function isSentTo(cookie: Cookie, url: URL): boolean {
  const { host, domain, path } = cookie;
  const isItsHost = domain === undefined ? url.hostname === host : isWithin(url.hostname, domain);
  const isItsPath = url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  // On this machine, browsers treat http like https.
  const isItsScheme = !cookie.isSecure || url.protocol === 'https:' || isThisMachine(url.hostname);
  return isItsHost && isItsPath && isItsScheme;
}

export const isSameCookie = (a: Cookie, b: Cookie) =>
  a.name === b.name && a.path === b.path && (a.domain ?? a.host) === (b.domain ?? b.host);
