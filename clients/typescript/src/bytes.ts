// Converts bytes to text and back, and has the kit's functions of Web Crypto.

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const hmacSha256 = { name: 'HMAC', hash: 'SHA-256' };

export const utf8 = (text: string): Bytes => encoder.encode(text);

export function toBase64url(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/**
 * Undefined if the text is not canonical base64url without padding. Without this check, several texts would stand for the same
 * bytes.
 */
export function fromBase64url(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = fromBinary(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  return toBase64url(bytes) === text ? bytes : undefined;
}

/** Undefined if the text is not base64. */
export function fromBase64(text: string): Bytes | undefined {
  try {
    return fromBinary(atob(text));
  } catch {
    return undefined;
  }
}

const fromBinary = (binary: string): Bytes => Uint8Array.from(binary, (one) => one.charCodeAt(0));

export const toHex = (bytes: Bytes): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Reads an even number of hex digits, in lower case only. */
export const fromHex = (text: string): Bytes =>
  Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

export const randomBytes = (count: number): Bytes => crypto.getRandomValues(new Uint8Array(count));

export async function hmac(key: Bytes, message: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, hmacSha256, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message));
}

export const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

/**
 * Whether any of the keys made any of the signatures. Compares every pair, so that the time does not show which pair matches.
 */
export async function isSignedByAny(keys: Bytes[], signatures: Bytes[], message: Bytes): Promise<boolean> {
  let found = false;
  for (const key of keys) {
    const expected = await hmac(key, message);
    for (const signature of signatures) found = isEqual(expected, signature) || found;
  }
  return found;
}

function isEqual(expected: Bytes, given: Bytes): boolean {
  let difference = expected.length ^ given.length;
  for (const [at, byte] of expected.entries()) difference |= byte ^ (given[at] ?? 0);
  return difference === 0;
}

/**
 * Returns the id by which people name a launch. The log of the identity service, refusal pages and your log show the same id.
 */
export async function launchId(nonce: string): Promise<string> {
  const hash = await sha256(utf8(nonce));
  return `${toHex(hash.slice(0, 2))}-${toHex(hash.slice(2, 4))}`;
}
