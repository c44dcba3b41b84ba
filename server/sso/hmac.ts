// HMAC-SHA-256 as the hand-off uses it: the key is the UTF-8 bytes of the secret as configured, the message
// the ASCII bytes of the `payload` parameter, the result 64 lower-case hex digits (contract section 3).
//
// Made at once, for a fifth more hand-offs a second on Deno: oslo's HMAC imports the key for each signature, has each
// made on another thread, and on Node that waits in line with the passwords being hashed.
import { createHmac } from 'node:crypto';
import { constantTimeEqual } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';

const encoder = new TextEncoder();

/** Over the parts, one after the other; of a string its UTF-8 bytes count. Throws a TypeError without a key. */
export function hmacSha256(key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Uint8Array {
  // Where a setting is missing, everybody could sign with the same nothing.
  if (key.length === 0) throw new TypeError('hmacSha256 needs a key');
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

export function sign(secret: string, message: string): string {
  return encodeHex(hmacSha256(secret, message));
}

/** In constant time, over all pairs: the time tells neither which one matched nor how much of it. */
export function matchesAny(expected: readonly string[], given: readonly string[]): boolean {
  let matched = false;
  for (const one of expected) {
    for (const other of given) {
      matched = constantTimeEqual(encoder.encode(one), encoder.encode(other)) || matched;
    }
  }
  return matched;
}
