// Random tokens in cookies, of which the database only knows the SHA-256: who reads it cannot use them.
import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { base64url } from 'oslo/encoding';
import { sha256 } from '../runtime/hash.ts';

/** 256 random bits in base64url: 43 characters. */
export function createToken(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)), { includePadding: false });
}

export const hashToken = (token: string): Uint8Array => sha256(token);

/** A `Set-Cookie` value for the whole site; a life of 0 takes the cookie away. */
export function buildTokenCookie(issuer: string, name: string, token: string, maxAgeSeconds: number): string {
  return serializeCookie(cookieName(issuer, name), token, {
    httpOnly: true,
    secure: isSecure(issuer),
    sameSite: 'lax',
    path: '/',
    maxAge: maxAgeSeconds,
  });
}

/** The token of that cookie, or undefined where there is none of the right form. */
export function readToken(request: Request, issuer: string, name: string): string | undefined {
  const token = parseCookie(request.headers.get('cookie') ?? '')[cookieName(issuer, name)];
  return token && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : undefined;
}

const isSecure = (issuer: string) => issuer.startsWith('https:');

// The prefix makes browsers refuse the cookie from a subdomain or over plain http (RFC 6265bis section 4.1.3).
const cookieName = (issuer: string, name: string) => (isSecure(issuer) ? `__Host-${name}` : name);
