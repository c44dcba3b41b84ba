// A4 pages with text in one font, lines and a QR code. It knows nothing about invoices.
import PDFDocument from 'pdfkit';
import { encode } from 'uqr';
import { breakText, type Line, listSeen, type Run } from './text-lines.ts';

/** Lengths are in points of 1/72 inch. */
export const page = { width: 595.28, height: 841.89, left: 56, right: 539.28, top: 56 };

export type Style = { size?: number; bold?: boolean; colour?: string; align?: 'left' | 'right' };

const ink = '#1a1a1a';
const lineHeight = 1.4;

/** The types of pdfkit lack these members. */
type FontOf = { _font: { font: { hasGlyphForCodePoint: (codePoint: number) => boolean } } };

export class Sheet {
  readonly doc: PDFKit.PDFDocument;
  /** The top of the foot of each page. */
  bottom = page.height - 60;
  y = page.top;
  /** Characters that the font lacks. */
  readonly missing = new Set<string>();

  constructor(font: Uint8Array, info: PDFKit.DocumentInfo) {
    this.doc = new PDFDocument({
      size: 'A4',
      margin: 0,
      // The font is given as bytes: pdfkit takes a string for a file name or one of the 14 fonts that cannot be embedded.
      font: font as unknown as string,
      pdfVersion: '1.7',
      subset: 'PDF/A-3b' as PDFKit.PDFDocumentOptions['subset'],
      lang: 'en',
      displayTitle: true,
      bufferPages: true,
      info,
    });
  }

  #note(text: string): void {
    const { font } = (this.doc as unknown as FontOf)._font;
    for (const sign of listSeen(text))
      if (!font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0)) this.missing.add(sign);
  }

  layOut(text: string, width: number, { size = 9 }: Style = {}): Line[] {
    this.doc.fontSize(size);
    return breakText(text, width, (part) => this.doc.widthOfString(part));
  }

  heightOf = (lines: Line[], { size = 9 }: Style = {}): number => lines.length * size * lineHeight;

  /** Returns the `y` at which the text ends. */
  write(
    text: string,
    { x, y = this.y, width, ...style }: Style & { x: number; y?: number; width: number },
  ): number {
    this.#note(text);
    const lines = this.layOut(text, width, style);
    const { size = 9, bold = false, colour = ink, align = 'left' } = style;
    this.doc
      .fontSize(size)
      .fillColor(colour)
      .strokeColor(colour)
      .lineWidth(size / 40);
    let at = y;
    for (const line of lines) {
      const widths = line.map((run) => this.#measure(run));
      let from = align === 'right' ? x + width - widths.reduce((sum, one) => sum + one, 0) : x;
      for (const [index, run] of line.entries()) {
        this.doc.text(run.text, from, at, { lineBreak: false, fill: true, stroke: bold, ...featuresOf(run) });
        from += widths[index] ?? 0;
      }
      at += size * lineHeight;
    }
    return at;
  }

  #measure = (run: Run) => this.doc.widthOfString(run.text, featuresOf(run));

  /** Starts a new page if a block of that height does not fit. */
  reserve(height: number): void {
    if (this.y + height <= this.bottom || this.y === page.top) return;
    this.doc.addPage();
    this.y = page.top;
  }

  rule(y = this.y): void {
    this.doc.moveTo(page.left, y).lineTo(page.right, y).lineWidth(0.5).strokeColor('#c4c4c4').stroke();
  }

  /** The caller leaves the white margin of four modules. */
  drawCode(text: string, { x, y, size }: { x: number; y: number; size: number }): void {
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

// If features are given, pdfkit lets the font lay out the whole text, and not word by word from left to right. `rtlm` is false,
// because the brackets are mirrored already, and fonts such as DejaVu would mirror them again.
const rtl = { features: { rtlm: false } as unknown as PDFKit.Mixins.OpenTypeFeatures[] };
const featuresOf = ({ isRtl }: Run) => (isRtl ? rtl : {});
