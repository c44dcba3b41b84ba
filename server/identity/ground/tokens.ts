// Random tokens for cookies and mails. The database stores only their SHA-256, so nobody who reads the database gets a token.

import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { base64url } from 'oslo/encoding';
import { readHeader } from '../../basics/text.ts';
import { sha256 } from '../../runtime/hash.ts';

/** 256 random bits in base64url: 43 characters. */
export function createToken(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)), { includePadding: false });
}

export const hashToken = (token: string): Uint8Array => sha256(token);

/** Returns a `Set-Cookie` value. `maxAgeSeconds` 0 deletes the cookie. */
export function buildTokenCookie(issuer: string, name: string, token: string, maxAgeSeconds: number): string {
  return serializeCookie(cookieName(issuer, name), token, {
    httpOnly: true,
    secure: isSecure(issuer),
    sameSite: 'lax',
    path: '/',
    maxAge: maxAgeSeconds,
  });
}

export function readToken(request: Request, issuer: string, name: string): string | undefined {
  const token = readCookie(request, issuer, name);
  return isToken(token) ? token : undefined;
}

/** Reads all cookies whose names begin with `prefix`. The keys of the result are the names without `prefix`. */
export function readTokens(request: Request, issuer: string, prefix: string): Map<string, string> {
  const start = cookieName(issuer, prefix);
  const cookies = Object.entries(readCookies(request));
  return new Map(
    cookies.flatMap(([name, token]) =>
      name.startsWith(start) && isToken(token) ? [[name.slice(start.length), token] as const] : [],
    ),
  );
}

export const sendsCookieLike = (request: Request, issuer: string, prefix: string): boolean =>
  Object.keys(readCookies(request)).some((name) => name.startsWith(cookieName(issuer, prefix)));

export const readOtherCookies = (request: Request, issuer: string, name: string): string =>
  Object.entries(readCookies(request))
    .filter(([each]) => each.startsWith(cookieName(issuer, 'identity_')) && each !== cookieName(issuer, name))
    .map(([each, value]) => `${each}=${value}`)
    .sort()
    .join('; ');

/** Returns the token that the cookie will hold in the browser after the response has arrived. */
export function readTokenAfter(
  { request, response }: { request: Request; response: Response },
  issuer: string,
  name: string,
): string | undefined {
  const start = `${cookieName(issuer, name)}=`;
  const set = response.headers.getSetCookie().findLast((line) => line.startsWith(start));
  if (set === undefined) return readToken(request, issuer, name);
  const token = set.slice(start.length).split(';', 1)[0];
  return isToken(token) ? token : undefined;
}

export const readCookie = (request: Request, issuer: string, name: string): string | undefined =>
  readCookies(request)[cookieName(issuer, name)];

const readCookies = (request: Request) => parseCookie(readHeader(request.headers, 'cookie') ?? '');

const isToken = (token: string | undefined): token is string =>
  token !== undefined && /^[A-Za-z0-9_-]{43}$/.test(token);

const isSecure = (issuer: string) => issuer.startsWith('https:');

// With the prefix `__Host-`, browsers refuse the cookie from a subdomain or over plain http (RFC 6265bis section 4.1.3).
const cookieName = (issuer: string, name: string) => (isSecure(issuer) ? `__Host-${name}` : name);
