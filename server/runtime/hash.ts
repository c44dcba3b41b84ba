// Computes SHA-256 on the main thread. Web Crypto uses another thread, which takes many times longer for short data.
import { createHash } from 'node:crypto';
import { encodeHex } from 'oslo/encoding';

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(data).digest());
}

/** Returns a digest of 24 hex digits. Use it only if nobody gains by finding two inputs with the same digest. */
export const shortDigest = (data: Uint8Array | string): string => encodeHex(sha256(data).slice(0, 12));
