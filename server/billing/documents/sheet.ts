// Draws A4 pages with text, lines and a QR code, with tags so that a screen reader can read them. This file knows nothing about
// invoices.
import PDFDocument from 'pdfkit';
import { encode } from 'uqr';
import { SheetFonts } from './sheet-fonts.ts';
import { breakText, clean, type Line, lineEnd, type Run } from './text-lines.ts';

/** Lengths are in points. A point is 1/72 inch. */
export const page = { width: 595.28, height: 841.89, left: 56, right: 539.28, top: 56 };

/** The role of a text for a screen reader, by its name in PDF. Screen readers skip an artifact. */
type Role = { as?: 'H1' | 'H2' | 'P' | 'TD' | 'Span' | 'Artifact' } | { as: 'TH'; scope: 'Row' | 'Column' };
export type Style = { size?: number; bold?: boolean; colour?: string; align?: 'left' | 'right' } & Role;
type Place = { x: number; y?: number; width: number };

/** `fonts` are TTF or OTF. The last font has every Latin letter. `accent` is the colour of headings and links. */
export type Look = { fonts: readonly Uint8Array[]; accent: string };

const ink = '#1a1a1a';
const lineHeight = 1.4;
// The distance from the top of a line to its baseline, as a share of the font size. All fonts in a line share the baseline.
const ascent = 0.928;

type Element = ReturnType<PDFKit.PDFDocument['struct']>;
type ElementOptions = PDFKit.Mixins.StructureElementOptions & {
  scope?: 'Row' | 'Column';
  bbox?: [left: number, top: number, right: number, bottom: number];
};

export class Sheet {
  readonly doc: PDFKit.PDFDocument;
  /** The `y` at which the foot of each page begins. */
  bottom = page.height - 60;
  y = page.top;
  readonly #fonts: SheetFonts;
  readonly #accent: string;
  /** The element to which the next text belongs. A screen reader reads texts in the order in which they were written. */
  #element: Element;

  constructor({ fonts, accent }: Look, info: PDFKit.DocumentInfo) {
    this.#accent = accent;
    this.doc = new PDFDocument({
      size: 'A4',
      margin: 0,
      // SheetFonts opens the fonts. Without this null, pdfkit would open a font that cannot be embedded.
      font: null as unknown as string,
      pdfVersion: '1.7',
      subset: 'PDF/A-3b' as PDFKit.PDFDocumentOptions['subset'],
      lang: 'en',
      displayTitle: true,
      tagged: true,
      bufferPages: true,
      info,
    });
    this.#fonts = new SheetFonts(this.doc, fonts);
    this.#element = this.doc.struct('Document');
    this.doc.addStructure(this.#element);
  }

  /** The letters that no font has. They are shown as □. */
  get missing(): ReadonlySet<string> {
    return this.#fonts.missing;
  }

  listLacking = (text: string): string[] => this.#fonts.listLacking(text);

  /** Puts everything that the callback `write` draws into one new element. Returns what `write` returns. */
  within<Result>(tag: 'Table' | 'TR' | 'TD' | 'P' | 'Link', write: () => Result): Result {
    const outer = this.#element;
    const element = this.doc.struct(tag);
    outer.add(element);
    this.#element = element;
    const result = write();
    element.end();
    this.#element = outer;
    return result;
  }

  #tag(tag: string, options: ElementOptions, draw: () => void): void {
    if (tag === 'Artifact') this.doc.markContent(tag);
    else {
      const content = this.doc.markStructureContent(tag);
      this.#element.add(this.doc.struct(tag, options, content));
    }
    draw();
    this.doc.endMarkedContent();
  }

  layOut(text: string, width: number, { size = 9 }: Style = {}): Line[] {
    this.doc.fontSize(size);
    return breakText(this.#fonts.spell(text), width, this.#fonts);
  }

  heightOf = (lines: Line[], { size = 9 }: Style = {}): number => lines.length * size * lineHeight;

  /** Returns the `y` at which the text ends. */
  write(text: string, { x, y = this.y, width, ...style }: Style & Place): number {
    const lines = this.layOut(text, width, style);
    const { as = 'P', scope } = style as { as?: string; scope?: 'Row' | 'Column' };
    // A screen reader reads `actual`, if it is given, in place of the drawn characters. The text needs this if some of its
    // characters are in no font, or if it runs from right to left, because all text is drawn from left to right.
    const isSpelled = this.#fonts.spell(text) !== clean(text);
    const actual = isSpelled || lines.flat().some(({ isRtl }) => isRtl) ? clean(text) : undefined;
    const heading = as === 'H1' || as === 'H2' ? { colour: this.#accent } : {};
    this.#tag(as, { scope, actual }, () => this.#draw(lines, { x, y, width, ...heading, ...style }));
    return y + this.heightOf(lines, style);
  }

  #draw(lines: Line[], { x, y, width, ...style }: Style & Required<Place>): void {
    const { size = 9, bold = false, colour = ink, align = 'left' } = style;
    this.doc
      .fontSize(size)
      .fillColor(colour)
      .strokeColor(colour)
      .lineWidth(size / 40);
    let at = y;
    const [spaceFont = 0] = this.#fonts.pick(' ');
    for (const line of lines) {
      const widths = line.map((run) => (run === lineEnd ? 0 : this.#measure(run)));
      let from = align === 'right' ? x + width - widths.reduce((sum, one) => sum + one, 0) : x;
      for (const [index, run] of line.entries()) {
        this.#fonts.use(run === lineEnd ? spaceFont : run.font);
        const options = { lineBreak: false, fill: true, stroke: bold, ...featuresOf(run) };
        this.doc.text(run.text, from, at + ascent * size, { ...options, baseline: 'alphabetic' });
        from += widths[index] ?? 0;
      }
      at += size * lineHeight;
    }
  }

  /** Returns the `y` at which the text ends. */
  writeLink(url: string, place: Required<Place>): number {
    const { x, y, width } = place;
    return this.within('P', () =>
      this.within('Link', () => {
        const end = this.write(url, { ...place, colour: this.#accent, as: 'Span' });
        const options = { structParent: this.#element, Contents: new String(url) };
        this.doc.link(x, y, width, end - y, url, options as object);
        return end;
      }),
    );
  }

  #measure(run: Run): number {
    this.#fonts.use(run.font);
    return this.doc.widthOfString(run.text, featuresOf(run));
  }

  /** Starts a new page if a block of this height does not fit on the rest of the page. */
  reserve(height: number): void {
    if (this.y + height > this.bottom && this.y !== page.top) this.addPage();
  }

  addPage(): void {
    this.doc.addPage();
    this.y = page.top;
  }

  rule(y = this.y): void {
    this.#tag('Artifact', {}, () =>
      this.doc.moveTo(page.left, y).lineTo(page.right, y).lineWidth(0.5).strokeColor('#c4c4c4').stroke(),
    );
  }

  /** `alt` says what the picture shows. The caller leaves a white margin of four modules. */
  drawCode(text: string, { x, y, size, alt }: { x: number; y: number; size: number; alt: string }): void {
    this.#tag('Figure', { alt, bbox: [x, y, x + size, y + size] }, () =>
      this.#drawModules(text, { x, y, size }),
    );
  }

  #drawModules(text: string, { x, y, size }: { x: number; y: number; size: number }): void {
    const { data } = encode(text, { ecc: 'M', border: 0, maxVersion: 13 });
    const module = size / data.length;
    for (const [row, cells] of data.entries())
      for (const { index, 0: dark } of cells
        .map((cell) => (cell ? '1' : '0'))
        .join('')
        .matchAll(/1+/g))
        this.doc.rect(x + index * module, y + row * module, dark.length * module, module);
    this.doc.fill('#000000');
  }
}

// Options for text from right to left. pdfkit lays out a text as a whole only if the options name a feature. Without one, it
// lays out each word by itself, from left to right. `rtlm` is off, because the brackets are mirrored already, and fonts such as
// DejaVu would mirror them a second time.
const rtl = { features: { rtlm: false } as unknown as PDFKit.Mixins.OpenTypeFeatures[] };
const featuresOf = ({ isRtl }: Run) => (isRtl ? rtl : {});
