// HMAC-SHA-256 as the hand-off uses it: the key is the UTF-8 bytes of the secret as configured, the message
// the ASCII bytes of the `payload` parameter, the result 64 lower-case hex digits (contract section 3).
import { constantTimeEqual, HMAC } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';

const hmac = new HMAC('SHA-256');
const encoder = new TextEncoder();

export async function sign(secret: string, message: string): Promise<string> {
  return encodeHex(await hmac.sign(encoder.encode(secret), encoder.encode(message)));
}

/** In constant time, over all pairs: the time tells neither which secret matched nor how much of it. */
export async function verifyAny(
  secrets: readonly string[],
  message: string,
  signatures: readonly string[],
): Promise<boolean> {
  let matched = false;
  for (const secret of secrets) {
    const expected = encoder.encode(await sign(secret, message));
    for (const signature of signatures) {
      matched = constantTimeEqual(expected, encoder.encode(signature)) || matched;
    }
  }
  return matched;
}
