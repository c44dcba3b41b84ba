// The programs with which tests look at documents: poppler-utils, a QR decoder, and CEN's own rules.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jsQr from 'jsqr';
import { readConfig } from '../../../server/settings/config.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export const hasPoppler = ['pdftotext', 'pdffonts', 'pdfdetach', 'pdftoppm', 'pdfinfo'].every(
  (name) => !spawnSync(name, ['-v']).error,
);

/** CEN's rules of EN 16931 for CII, which are not part of the project. */
const rules = join(root, '../shared/en16931/EN16931-CII-validation.xslt');
export const hasRules = existsSync(rules);

export const notRun = (isThere: boolean, what: string) => (isThere ? '' : `NOT RUN, ${what} is missing: `);

/** Calls `work` with the path of a file that contains the PDF. */
export function withFile<Result>(
  bytes: Uint8Array | string,
  work: (file: string, folder: string) => Result,
): Result {
  const folder = mkdtempSync(join(tmpdir(), 'document-'));
  try {
    const file = join(folder, 'document');
    writeFileSync(file, bytes);
    return work(file, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const read = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

export const readText = (pdf: Uint8Array) => withFile(pdf, (file) => read('pdftotext', '-raw', file, '-'));
export const readInfo = (pdf: Uint8Array) =>
  withFile(pdf, (file) => read('pdfinfo', '-meta', file) + read('pdfinfo', file));

/** Returns the elements of a tagged PDF and their texts, in the order in which a screen reader reads them. */
export const readStructureText = (pdf: Uint8Array) =>
  withFile(pdf, (file) => read('pdfinfo', '-struct-text', file));

/** For each font its name, and whether it is embedded, is a subset, and has a map to Unicode. */
export const readFonts = (pdf: Uint8Array) =>
  withFile(pdf, (file) => read('pdffonts', file))
    .split('\n')
    .slice(2, -1)
    .map((line) => line.trim().split(/\s{2,}|\s(?=yes|no)/));

export const readAttachments = (pdf: Uint8Array): Record<string, string> =>
  withFile(pdf, (file, folder) => {
    const names = read('pdfdetach', '-list', file).matchAll(/^\d+: (.+)$/gm);
    return Object.fromEntries(
      [...names].map(([, name = ''], at) => {
        const saved = join(folder, `attachment-${at}`);
        read('pdfdetach', '-save', String(at + 1), '-o', saved, file);
        return [name, readFileSync(saved, 'utf8')];
      }),
    );
  });

/** A copy of the built-in font with another name. It shows 花 (U+82B1), too. */
export function buildOtherFont(): Uint8Array {
  const font = Buffer.from(readConfig({}).billingFonts[0] ?? []);
  const replaceAll = (from: Buffer, to: Buffer) => {
    let found = 0;
    for (let at = font.indexOf(from); at >= 0; at = font.indexOf(from, at + to.length), found++)
      to.copy(font, at);
    if (found === 0) throw new Error('the built-in font is another one');
  };
  // In the table of characters and their glyphs (`cmap`, format 12), a run of 64 hexagrams becomes a run of other characters that
  // begins with 花. The order of the runs stays.
  const glyphs = [0x12, 0x5f];
  const run = (first: number) =>
    Buffer.from([first, first + 63].flatMap((sign) => [0, 0, sign >> 8, sign & 255]).concat(0, 0, ...glyphs));
  replaceAll(run(0x4dc0), run(0x82b1));
  const inUtf16 = (name: string) => Buffer.from(name, 'utf16le').swap16();
  replaceAll(inUtf16('DejaVuSansCondensed'), inUtf16(otherFontName));
  return font;
}
/** The name is as long as that of the built-in font. */
export const otherFontName = 'OperatorsFontOfTest';

/** Returns what the QR code on one of the pages says; null if there is none. */
export function readCode(pdf: Uint8Array): string | null {
  const image = withFile(pdf, (file) => execFileSync('pdftoppm', ['-r', '150', file], { maxBuffer: 1e9 }));
  for (let at = 0; at < image.length; ) {
    const head = /^P6\s(\d+) (\d+)\s255\s/.exec(image.toString('latin1', at, at + 30));
    if (!head) throw new Error('not a picture');
    const [width, height] = [Number(head[1]), Number(head[2])];
    const pixels = image.subarray(at + head[0].length, at + head[0].length + width * height * 3);
    const rgba = new Uint8ClampedArray(width * height * 4).fill(255);
    for (let pixel = 0; pixel < width * height; pixel++)
      rgba.set(pixels.subarray(pixel * 3, pixel * 3 + 3), pixel * 4);
    const found = jsQr(rgba, width, height);
    if (found) return found.data;
    at += head[0].length + pixels.length;
  }
  return null;
}

/** Compiles CEN's rules one time for all documents, because compiling takes most of the time. */
export function compileRules(folder: string): string {
  const compiled = join(folder, 'rules.sef.json');
  read(process.execPath, xslt, `-xsl:${rules}`, `-export:${compiled}`, '-nogo');
  return compiled;
}

const xslt = join(root, 'node_modules/xslt3/xslt3.js');

/** Returns what CEN's rules find wrong with an invoice, and how many of the rules applied to it. */
export const judge = (compiled: string, xml: string) =>
  withFile(xml, (file, folder) => {
    const report = join(folder, 'report.svrl');
    read(process.execPath, xslt, `-xsl:${compiled}`, `-s:${file}`, `-o:${report}`);
    const text = readFileSync(report, 'utf8');
    const faults = [...text.matchAll(/<svrl:failed-assert[\s\S]*?<svrl:text>([\s\S]*?)<\/svrl:text>/g)];
    return {
      faults: faults.map(([, fault = '']) => fault.trim()),
      looked: [...text.matchAll(/<svrl:fired-rule/g)].length,
    };
  });
