// The facts of a document as they are attached to its PDF: JSON, sealed by an HMAC, so that whoever has the key can tell a document of
// this service from a forged one (contract 7.215 and 7.216).
import { encodeHex } from 'oslo/encoding';
import { hmacSha256 } from '../../sso/hmac.ts';
import type { DocumentFacts } from '../values/document-facts.ts';

const encoder = new TextEncoder();

/** The content of the attachment. The first of the keys, each of 32 bytes, seals. */
export async function sealFacts(facts: DocumentFacts, [key]: readonly Uint8Array[]): Promise<string> {
  if (!key) throw new Error('There is no key to seal with.');
  // A key of its own, so that no seal can stand for anything else that the first key is good for.
  const derived = await hmacSha256(key, encoder.encode('identity-service: seal of documents, 1'));
  const hmac = encodeHex(await hmacSha256(derived, encoder.encode(JSON.stringify(facts))));
  return JSON.stringify({ facts, seal: { version: 1, hmac } }, null, 1);
}
