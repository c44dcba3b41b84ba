// HMAC-SHA-256, made by oslo, and the signature of a hand-off (contract 3.20): the key is the UTF-8 bytes of the
// secret as configured, the message the ASCII bytes of the `payload` parameter, the result 64 lower-case hex digits.
import { constantTimeEqual, HMAC } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';

const encoder = new TextEncoder();
const hmac = new HMAC('SHA-256');

export async function hmacSha256(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  // With a missing secret anybody could sign.
  if (key.length === 0) throw new TypeError('hmacSha256 needs a key');
  return new Uint8Array(await hmac.sign(key, message));
}

export async function sign(secret: string, message: string): Promise<string> {
  return encodeHex(await hmacSha256(encoder.encode(secret), encoder.encode(message)));
}

export const matchesAny = (expected: readonly string[], given: readonly string[]): boolean =>
  findMatch(expected, given) !== undefined;

/** The index of the last of `expected` that is given. The time shows neither which pair matches nor how much of it. */
export function findMatch(expected: readonly string[], given: readonly string[]): number | undefined {
  let matched: number | undefined;
  for (const [place, one] of expected.entries()) {
    for (const other of given) {
      matched = constantTimeEqual(encoder.encode(one), encoder.encode(other)) ? place : matched;
    }
  }
  return matched;
}
