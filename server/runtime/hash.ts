// SHA-256 on the main thread. Web Crypto hands every digest to another thread, which takes many times longer than
// hashing something short.
import { createHash } from 'node:crypto';
import { encodeHex } from 'oslo/encoding';

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(data).digest());
}

/** 24 hex digits that stand for the bytes, where nobody gains by finding others that have the same. */
export const shortDigest = (data: Uint8Array | string): string => encodeHex(sha256(data).slice(0, 12));
