// SHA-256 on the main thread. Web Crypto hands every digest to another thread, which takes many times longer than
// hashing something short.
import { createHash } from 'node:crypto';

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(data).digest());
}
