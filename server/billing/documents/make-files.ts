// Makes the PDF and the XML of a document from its facts alone. Also makes the PDF of samples.
import { type DocumentFacts, hasXml } from '../values/document-facts.ts';
import { buildPdf, buildSample, type SampleToMake } from './pdf.ts';
import type { Look } from './sheet.ts';
import { buildXml } from './xml.ts';

/** `sealed` is the sealed facts as JSON. */
export type FilesToMake = { facts: DocumentFacts; sealed: string; look: Look };

/** `missing` has the letters that no font contains. The PDF shows them as □. */
export type MadeFiles = { pdf: Uint8Array; xml: string | undefined; missing: string[] };

/** If the files cannot be made, the message of the error says why. */
export async function makeFiles(asked: FilesToMake | SampleToMake): Promise<MadeFiles> {
  if ('reminder' in asked) return { ...(await buildSample(asked)), xml: undefined };
  const { facts, sealed, look } = asked;
  const xml = hasXml(facts) ? buildXml(facts) : undefined;
  return { ...(await buildPdf(facts, { look, xml, sealed })), xml };
}
