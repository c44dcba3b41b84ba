// Reads the sealed facts in a PDF with a key, as the contract describes them, without code of the service.
import { createHmac } from 'node:crypto';
import { inflateSync } from 'node:zlib';

/** Returns the facts, if the seal is of one of the keys (contract 7.215 and 7.216). */
export function readSealedFacts(pdf: Uint8Array, keys: readonly Uint8Array[]): unknown {
  const text = Buffer.from(pdf).toString('latin1');
  const [, ref] = /\/EF <<\s*\/F (\d+) 0 R\s*>>\s*\/UF \(identity-facts\.json\)/.exec(text) ?? [];
  const start = text.indexOf(`\n${ref} 0 obj\n`);
  const from = text.indexOf('stream\n', start) + 'stream\n'.length;
  const [, length] = /\/Length (\d+)/.exec(text.slice(start, from)) ?? [];
  const { facts, seal } = JSON.parse(inflateSync(pdf.subarray(from, from + Number(length))).toString());
  const hmac = (key: Uint8Array, content: string) => createHmac('sha256', key).update(content);
  const isSealed = keys.some((key) => {
    const derived = hmac(key, 'identity-service: seal of documents, 1').digest();
    return seal.version === 1 && hmac(derived, JSON.stringify(facts)).digest('hex') === seal.hmac;
  });
  return isSealed ? facts : undefined;
}
