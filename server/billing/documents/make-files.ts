// Makes both files of a document, from its facts alone.
import { type DocumentFacts, hasXml } from '../values/document-facts.ts';
import { buildPdf } from './pdf.ts';
import { buildXml } from './xml.ts';

/** `sealed` is the sealed facts as JSON. `font` is a TTF. */
export type FilesToMake = { facts: DocumentFacts; sealed: string; font: Uint8Array };

export type MadeFiles = { pdf: Uint8Array; xml: string | undefined };

/** The message of an error says why the files cannot be made. */
export async function makeFiles({ facts, sealed, font }: FilesToMake): Promise<MadeFiles> {
  const xml = hasXml(facts) ? buildXml(facts) : undefined;
  return { pdf: await buildPdf(facts, { font, xml, sealed }), xml };
}
