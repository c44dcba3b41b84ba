// What a screen reader finds in the PDF of a document, read without other programs: its elements, and whether all that is drawn
// is tagged.
import { inflateSync } from 'node:zlib';

/** Each element with its words for a screen reader, and what is in it. */
export type Element = { tag: string; scope?: string; alt?: string; actual?: string; in: Element[] };

const latin = (pdf: Uint8Array) => Buffer.from(pdf).toString('latin1');

const readObjects = (pdf: Uint8Array) =>
  new Map(
    [...latin(pdf).matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj$/gm)].map(([, id = '', body = '']) => [
      id,
      body,
    ]),
  );

/** The string that follows a name in a dictionary. Strings outside ASCII are UTF-16. */
function readString(body: string, name: string): string | undefined {
  const [, written] = new RegExp(`/${name} \\(((?:\\\\.|[^\\\\)])*)\\)`, 's').exec(body) ?? [];
  if (written === undefined) return undefined;
  const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
  const bytes = Buffer.from(
    written.replace(/\\(.)/gs, (_, sign: string) => escapes[sign] ?? sign),
    'latin1',
  );
  return bytes[0] === 0xfe ? bytes.subarray(2).swap16().toString('utf16le') : bytes.toString('latin1');
}

export function readStructure(pdf: Uint8Array): Element[] {
  const objects = readObjects(pdf);
  const childrenOf = (body: string): Element[] => {
    const [, kids = ''] = /\/K \[([^\]]*)\]/.exec(body) ?? [];
    // A number alone refers to content. A dictionary refers to an annotation.
    return [...kids.replace(/<<[\s\S]*?>>/g, '').matchAll(/(\d+) 0 R/g)].map(([, id = '']) => {
      const element = objects.get(id) ?? '';
      const [, tag = ''] = /\/S \/(\w+)/.exec(element) ?? [];
      const [, scope] = /\/Scope \/(\w+)/.exec(element) ?? [];
      const words = { scope, alt: readString(element, 'Alt'), actual: readString(element, 'ActualText') };
      return { tag, ...words, in: childrenOf(element) };
    });
  };
  const root = [...objects.values()].find((body) => body.includes('/Type /StructTreeRoot')) ?? '';
  return childrenOf(root);
}

/** Returns the dictionary of the whole file. */
export const readCatalog = (pdf: Uint8Array): string =>
  [...readObjects(pdf).values()].find((body) => body.includes('/Type /Catalog')) ?? '';

type Mark = { tag: string; content: number | undefined };

/** Returns the tags under which each page draws, in order. Throws if something is drawn without a tag. */
export const readMarks = (pdf: Uint8Array): Mark[][] => readDrawn(pdf).map(readPage);

/** Returns what each page draws, in the operators of PDF. */
export function readDrawn(pdf: Uint8Array): string[] {
  return [...readObjects(pdf).values()].flatMap((body) => {
    const [, written] = /stream\n([\s\S]*)\nendstream$/.exec(body) ?? [];
    if (!written || !body.includes('/FlateDecode')) return [];
    const drawn = inflateSync(Buffer.from(written, 'latin1')).toString('latin1');
    return drawn.startsWith('1 0 0 -1 0 ') ? [drawn] : [];
  });
}

/** `TJ` draws text, `S` a line, `f` an area. */
const steps = /^\/(\w+) (?:BMC|<<\n\/MCID (\d+)\n>> BDC)$|^EMC$|^(?:.* TJ|S|f)$/gm;

function readPage(drawn: string): Mark[] {
  const marks: Mark[] = [];
  let isOpen = false;
  for (const [step, tag, content] of drawn.matchAll(steps)) {
    if (tag) marks.push({ tag, content: content === undefined ? undefined : Number(content) });
    else if (step !== 'EMC' && !isOpen) throw new Error(`drawn without a tag: ${step}`);
    if (tag && isOpen) throw new Error(`${tag} is in another tag`);
    if (tag || step === 'EMC') isOpen = Boolean(tag);
  }
  return marks;
}
