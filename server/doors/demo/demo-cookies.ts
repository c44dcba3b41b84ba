// Cookies of the demo clients. Each client sees only its own.
import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { base64url } from 'oslo/encoding';

/** Makes a token of 22 characters from 16 random bytes. */
export const createToken = () =>
  base64url.encode(crypto.getRandomValues(new Uint8Array(16)), { includePadding: false });

/** Returns a `Set-Cookie` value. Without `maxAgeSeconds`, the cookie lasts until the browser is closed. */
export function buildCookie(client: string, name: string, value: string, maxAgeSeconds?: number): string {
  return serializeCookie(name, value, {
    path: `/demo/${client}`,
    httpOnly: true,
    sameSite: 'lax',
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
  });
}

export const readCookies = (request: Request) => parseCookie(request.headers.get('cookie') ?? '');
