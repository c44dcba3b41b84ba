// The fonts of a sheet of a document: which font shows a character, and what happens to characters that no font has (contract
// 7.490 to 7.492).
import { clean, type Fonts, listSeen } from './text-lines.ts';

/** The types of pdfkit do not describe a font that is open. This type has the part of it that we use. */
type EmbeddedFont = { font: { hasGlyphForCodePoint: (codePoint: number) => boolean } };
type WithFont = { _font: EmbeddedFont };

const box = '□';

/** Signs that can be left out without changing a name: emoji, other symbols, punctuation and marks around a character. */
const leftOut = /^[\p{S}\p{P}\p{Me}\p{Cc}\p{Cf}\p{Extended_Pictographic}]$/u;
/** These characters look alike in every font, so they stay in the font of the text before them. */
const plain = /^[\p{Z}\p{P}]+$/u;

const segmenter = new Intl.Segmenter();

/** `files` are TTF or OTF fonts. The last font has every Latin letter, and □. */
export class SheetFonts implements Fonts {
  readonly #doc: PDFKit.PDFDocument;
  readonly #files: readonly Uint8Array[];
  readonly #opened: EmbeddedFont[] = [];
  readonly #known = new Map<string, boolean>();
  readonly missing = new Set<string>();

  constructor(doc: PDFKit.PDFDocument, files: readonly Uint8Array[]) {
    this.#doc = doc;
    this.#files = files;
  }

  get #state(): WithFont {
    return this.#doc as unknown as WithFont;
  }

  /** A large font takes time to open. So it is opened only if a character is missing from the fonts before it. */
  #open(at: number): EmbeddedFont {
    const known = this.#opened[at];
    if (known) return known;
    // The font is given as bytes, because pdfkit would read a string as the name of a file, or of one of the 14 fonts that
    // cannot be embedded.
    this.#doc.font(this.#files[at] as unknown as string);
    this.#opened[at] = this.#state._font;
    return this.#state._font;
  }

  /** Text that is written or measured from now on uses this font. */
  use(at: number): void {
    this.#state._font = this.#open(at);
  }

  #has(at: number, sign: string): boolean {
    const key = `${at} ${sign}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const has = this.#open(at).font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0);
    this.#known.set(key, has);
    return has;
  }

  /** Returns the number of the first font that has all these characters, or -1. */
  #find = (signs: string[]): number =>
    this.#files.findIndex((_, at) => signs.every((sign) => this.#has(at, sign)));

  /**
   * Returns the number of a font for each UTF-16 unit of the text. If one font has all characters of a syllable, it shows the
   * whole syllable.
   */
  pick = (text: string): number[] => {
    // It takes seconds to find the syllables of a very long text. Most texts need no such search, because the first font has all
    // their characters.
    if (this.#find([...new Set(listSeen(text))]) === 0) return Array<number>(text.length).fill(0);
    const fonts: number[] = [];
    for (const { segment } of segmenter.segment(text)) {
      const seen = listSeen(segment);
      const last = fonts.at(-1) ?? 0;
      const stays = plain.test(segment) && seen.every((sign) => this.#has(last, sign));
      const whole = stays || seen.length === 0 ? last : this.#find(seen);
      for (const sign of segment) {
        const font = whole < 0 ? Math.max(0, this.#find([sign])) : whole;
        for (let unit = 0; unit < sign.length; unit++) fonts.push(font);
      }
    }
    return fonts;
  };

  widthOf = (text: string, font: number): number => {
    this.use(font);
    return this.#doc.widthOfString(text);
  };

  /** Returns the clean text with only the characters that the fonts have. Adds the letters that no font has to `missing`. */
  spell(text: string): string {
    const whole = clean(text);
    const none = this.listLacking(whole);
    if (none.length === 0) return whole;
    const parts = Array.from(segmenter.segment(whole), ({ segment }) => {
      const lacking = listSeen(segment).filter((sign) => none.includes(sign));
      if (lacking.some((sign) => !leftOut.test(sign))) return this.#box(lacking);
      const had = Array.from(segment)
        .filter((sign) => !lacking.includes(sign))
        .join('');
      // If no font has emoji that are joined, only the invisible joiners between them would be left. Then the joiners are left
      // out, too.
      return lacking.length === 0 || listSeen(had).length > 0 ? had : '';
    });
    // Characters that were left out leave no gap, and no empty line.
    const left = parts
      .join('')
      .replace(/ {2,}/g, ' ')
      .replace(/ ?\n[\n ]*/g, '\n')
      .trim();
    return listSeen(left).length > 0 ? left : this.#box(listSeen(whole));
  }

  /** Returns the characters that no font has, each once. */
  listLacking = (text: string): string[] =>
    [...new Set(listSeen(clean(text)))].filter((sign) => this.#find([sign]) < 0);

  #box(signs: string[]): string {
    for (const sign of signs) this.missing.add(sign);
    return box;
  }
}
