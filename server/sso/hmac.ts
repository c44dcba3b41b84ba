// HMAC-SHA-256 by oslo, and the signature of a hand-off (contract 3.20). The key is the secret as configured, in UTF-8. The
// message is the `payload` parameter, in ASCII. The result is 64 lower-case hex digits.
import { constantTimeEqual, HMAC } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';

const encoder = new TextEncoder();
const hmac = new HMAC('SHA-256');

export async function hmacSha256(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  // With an empty key, anybody could sign.
  if (key.length === 0) throw new TypeError('hmacSha256 needs a key');
  return new Uint8Array(await hmac.sign(key, message));
}

export async function sign(secret: string, message: string): Promise<string> {
  return encodeHex(await hmacSha256(encoder.encode(secret), encoder.encode(message)));
}

export const matchesAny = (expected: readonly string[], given: readonly string[]): boolean =>
  findMatch(expected, given) !== undefined;

/**
 * Returns the index of the last text in `expected` that is also in `given`. The time that this takes does not show what
 * matched.
 */
export function findMatch(expected: readonly string[], given: readonly string[]): number | undefined {
  let matched: number | undefined;
  for (const [place, one] of expected.entries()) {
    for (const other of given) {
      matched = constantTimeEqual(encoder.encode(one), encoder.encode(other)) ? place : matched;
    }
  }
  return matched;
}
