// The launch id names a launch for people: in our log, on the refusals of clients and in the doctor's report (contract 3.30 and
// 3.31).
import { encodeHex } from 'oslo/encoding';
import { sha256 } from '../runtime/hash.ts';

export function buildLaunchId(nonce: string): string {
  const digits = encodeHex(sha256(nonce).slice(0, 4));
  return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}
