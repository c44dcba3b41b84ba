// The facts of a document as they are attached to its PDF: JSON, sealed by an HMAC, so that a document that the database lost can be
// put back from its file, and from no other (contract 7.215 to 7.217).
import { encodeHex } from 'oslo/encoding';
import { hmacSha256, matchesAny } from '../../sso/hmac.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { factsFile } from './attachments.ts';
import { inflate } from './same-pdf.ts';

/** One or two keys of 32 bytes, those that encrypt. The first seals, either verifies. */
type Keys = readonly Uint8Array[];

const encoder = new TextEncoder();

async function sign(key: Uint8Array, facts: string): Promise<string> {
  // A key of its own, so that no seal can stand for anything else that the first key is good for.
  const derived = await hmacSha256(key, encoder.encode('identity-service: seal of documents, 1'));
  return encodeHex(await hmacSha256(derived, encoder.encode(facts)));
}

/** The content of the attachment. */
export async function sealFacts(facts: DocumentFacts, [key]: Keys): Promise<string> {
  if (!key) throw new Error('There is no key to seal with.');
  const hmac = await sign(key, JSON.stringify(facts));
  return JSON.stringify({ facts, seal: { version: 1, hmac } }, null, 1);
}

/**
 * The facts in the PDF of a document, if it is one of ours and bears our seal. Undefined for any other file, also for a PDF that another
 * program has written anew.
 */
export async function readSealedFacts(pdf: Uint8Array, keys: Keys): Promise<DocumentFacts | undefined> {
  return (await readSealed(pdf, keys))?.facts;
}

/** The same, with the content of the attachment. */
export async function readSealed(
  pdf: Uint8Array,
  keys: Keys,
): Promise<{ facts: DocumentFacts; sealed: string } | undefined> {
  const json = await findAttachment(pdf).catch(() => undefined);
  if (json === undefined) return undefined;
  try {
    const { facts, seal } = JSON.parse(json);
    if (seal?.version !== 1 || typeof seal.hmac !== 'string') return undefined;
    // Parsed and written again, JSON of ours is the same text.
    const expected = await Promise.all(keys.map((key) => sign(key, JSON.stringify(facts))));
    return matchesAny(expected, [seal.hmac]) ? { facts, sealed: json } : undefined;
  } catch {
    return undefined;
  }
}

/** The text of the attachment, in a PDF as we write it: its stream is where its file specification says. */
async function findAttachment(pdf: Uint8Array): Promise<string | undefined> {
  // A character for each byte.
  const text = new TextDecoder('latin1').decode(pdf);
  const named = text.indexOf(`/UF (${factsFile})`);
  if (named < 0) return undefined;
  const [, ref] = /\/EF <<\s*\/F (\d+) 0 R\s*>>\s*$/.exec(text.slice(Math.max(0, named - 200), named)) ?? [];
  const start = text.indexOf(`\n${ref} 0 obj\n`);
  const from = text.indexOf('stream\n', start) + 'stream\n'.length;
  const [, length] = /\/Length (\d+)/.exec(text.slice(start, from)) ?? [];
  if (!ref || start < 0 || !length || Number(length) > maxBytes) return undefined;
  return await inflate(
    pdf.slice(from, from + Number(length)),
    maxBytes,
    new TextDecoder('utf-8', { fatal: true }),
  );
}

const maxBytes = 1_000_000;
