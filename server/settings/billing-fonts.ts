// The fonts of documents (contract 7.490 and 7.499), read once at the start. Only the heads of the files are checked here: the
// library that reads whole fonts is loaded only when a document is made.
import { defaultFontFile, readSmallFile } from '../runtime/files.ts';
import type { SettingsReader } from './reader.ts';

const setting = 'BILLING_FONT_FILES';
const maxMebibytes = 32;
const maxMebibytesOfAll = 64;
const mebibyte = 1_024 * 1_024;

/** The fonts in the order in which a character is looked for. The last one is the built-in font. */
export function readBillingFonts(reader: SettingsReader): Uint8Array[] {
  const paths = reader.text(setting, { form: 'font files; several comma-separated' })?.split(',') ?? [];
  const files = paths.map((path) => readSmallFile(path.trim(), maxMebibytes * mebibyte));
  reader.faultIf(
    setting,
    files.includes(undefined),
    `must name files that can be read, of ${maxMebibytes} MiB at most, with commas between them`,
  );
  reader.faultIf(
    setting,
    files.reduce((sum, file) => sum + (file?.length ?? 0), 0) > maxMebibytesOfAll * mebibyte,
    `must name files of ${maxMebibytesOfAll} MiB at most together`,
  );
  const fonts = files.flatMap((file) => (file ? [takeFont(file)] : []));
  reader.faultIf(
    setting,
    fonts.includes(undefined),
    'must name TTF, OTF, TTC or OTC files that have outlines',
  );
  // If the setting's former name were ignored, documents would show □ for characters that only the font in that setting has.
  const [former] = paths.length === 0 ? reader.listUnread(/^BILLING_FONT_FILE$/) : [];
  if (former) reader.faultIf(former, true, `is now ${setting}, which takes several files: set that instead`);
  const builtIn = readSmallFile(defaultFontFile, maxMebibytes * mebibyte);
  reader.faultIf(
    setting,
    !builtIn,
    'lacks the font that comes with the service, which cannot be read: put node_modules/dejavu-fonts-ttf beside ' +
      'build/, readable for the user of the service',
  );
  return [...fonts, builtIn].filter((font) => font !== undefined);
}

// How files of fonts begin. The first two have TrueType outlines (`true` is from Macs), and the last has PostScript outlines.
const starts = ['\0\u0001\0\0', 'true', 'OTTO'];

/** Returns a file with one font. From a collection it takes the first font. Undefined if a PDF cannot contain the outlines. */
export function takeFont(file: Uint8Array): Uint8Array | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const tagAt = (at: number) => String.fromCharCode(...file.subarray(at, at + 4));
  try {
    const head = tagAt(0) === 'ttcf' ? view.getUint32(12) : 0;
    const count = view.getUint16(head + 4);
    const length = 12 + 16 * count;
    const tables = Array.from({ length: count }, (_, at) => head + 12 + 16 * at).map((at) => ({
      tag: tagAt(at),
      from: view.getUint32(at + 8),
    }));
    const hasOutlines = tables.some(({ tag }) => tag === 'glyf' || tag === 'CFF ');
    if (!starts.includes(tagAt(head)) || !hasOutlines || head + length > file.length) return undefined;
    if (head === 0) return file;
    // The places in a font's list of tables are counted from the beginning of the file. So the tables can stay where they are,
    // and only the list of this font moves to the beginning.
    if (tables.some(({ from }) => from < length)) return undefined;
    return file.slice().copyWithin(0, head, head + length);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
