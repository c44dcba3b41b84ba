// Makes both files of a document from its facts alone. Also makes samples.
import { type DocumentFacts, hasXml } from '../values/document-facts.ts';
import { buildPdf, buildSample, type SampleToMake } from './pdf.ts';
import { buildXml } from './xml.ts';

/** `sealed` is the sealed facts as JSON. `fonts` are TTF or OTF, and the last one is the built-in font. */
export type FilesToMake = { facts: DocumentFacts; sealed: string; fonts: readonly Uint8Array[] };

/** `missing` has the letters that no font contains. The PDF shows them as □. */
export type MadeFiles = { pdf: Uint8Array; xml: string | undefined; missing: string[] };

/** If the files cannot be made, the message of the error says why. */
export async function makeFiles(asked: FilesToMake | SampleToMake): Promise<MadeFiles> {
  if ('reminder' in asked) return { ...(await buildSample(asked)), xml: undefined };
  const { facts, sealed, fonts } = asked;
  const xml = hasXml(facts) ? buildXml(facts) : undefined;
  return { ...(await buildPdf(facts, { fonts, xml, sealed })), xml };
}
