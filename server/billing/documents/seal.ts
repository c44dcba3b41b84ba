// Seals the facts of a document for its PDF, with an HMAC of their JSON. Somebody who has the key can tell a document of this
// service from a forged one (contract 7.215 and 7.216).
import { encodeHex } from 'oslo/encoding';
import { hmacSha256 } from '../../sso/hmac.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

const encoder = new TextEncoder();

/** Seals with the first key. Each key has 32 bytes. */
export async function sealFacts(facts: DocumentFacts, [key]: readonly Uint8Array[]): Promise<string> {
  if (!key) throw new Error('There is no key to seal with.');
  // The key is derived, so that a seal is not valid for any other use of the first key.
  const derived = await hmacSha256(key, encoder.encode('identity-service: seal of documents, 1'));
  const hmac = encodeHex(await hmacSha256(derived, encoder.encode(JSON.stringify(facts))));
  return JSON.stringify({ facts, seal: { version: 1, hmac } }, null, 1);
}
