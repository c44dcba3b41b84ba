// Decides where the lines of a text break, and in which order its characters are shown (Unicode's annex 9). PDF itself does
// neither.
import bidiFactory from 'bidi-js';

/** A part of a line that pdfkit writes in one call. `font` is the number of its font in the sheet, from 0. */
export type Run = { text: string; isRtl: boolean; font: number };
/** The runs of a line, from left to right. */
export type Line = Run[];

const bidi = bidiFactory();

// All invisible characters except joiners, which change the shape of letters.
const unseen = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu;

/** Returns the form in which a text is looked up in a font. */
export const clean = (text: string): string => text.normalize('NFC').replace(/[\t\p{Zs}]/gu, ' ');

/** Returns the characters that a font must have, each as often as it is in the text. */
export const listSeen = (text: string): string[] => [
  ...text.replace(unseen, '').replace(/[\n\u200c\u200d]/g, ''),
];

/** `pick` says which font shows each UTF-16 unit of a text. `widthOf` says how wide a part in one font is. */
export type Fonts = { pick: (text: string) => number[]; widthOf: (text: string, font: number) => number };

/**
 * Breaks a clean text at line ends and spaces. Breaks a word only if the word is wider than `width`, preferably after `/`, `?` or
 * `&`.
 */
export function breakText(text: string, width: number, { pick, widthOf }: Fonts): Line[] {
  const lines = text.split('\n').flatMap((paragraph) => {
    const levels = bidi.getEmbeddingLevels(paragraph);
    const fonts = pick(paragraph);
    const measure = (from: number, to: number) => {
      let [sum, start] = [0, from];
      for (let at = from + 1; at <= to; at++)
        if (at === to || fonts[at] !== fonts[start]) {
          sum += widthOf(paragraph.slice(start, at), fonts[start] ?? 0);
          start = at;
        }
      return sum;
    };
    return findBreaks(paragraph, width, measure).map(([from, to]) => ({
      line: orderLine(paragraph, { levels, fonts }, from, to),
      isWordBroken: to < paragraph.length && paragraph[to] !== ' ',
    }));
  });
  // Without the space, a screen reader would read the last word of a line and the first word of the next line as one word.
  return lines.map(({ line, isWordBroken }, at) =>
    isWordBroken || at === lines.length - 1 ? line : [...line, lineEnd],
  );
}

/** This space is drawn at the end of a line but does not count towards its width. */
export const lineEnd: Run = { text: ' ', isRtl: false, font: 0 };

function findBreaks(
  text: string,
  width: number,
  measure: (from: number, to: number) => number,
): [from: number, to: number][] {
  const lines: [number, number][] = [];
  let [from, end] = [0, 0];
  const close = (next: number) => {
    lines.push([from, end]);
    from = next;
    end = next;
  };
  for (const { index, 0: word } of text.matchAll(/[^ ]+/g)) {
    if (end > from && measure(from, index + word.length) > width) close(index);
    if (measure(from, index + word.length) > width) {
      let part = index;
      for (const { segment, index: at } of new Intl.Segmenter().segment(word)) {
        const after = index + at + segment.length;
        if (index + at > from && measure(from, after) > width) {
          if (part > from) end = part;
          close(end);
        }
        end = after;
        if ('/?&'.includes(segment)) part = after;
      }
    }
    end = index + word.length;
  }
  lines.push([from, end]);
  return lines;
}

type Marks = { levels: ReturnType<typeof bidi.getEmbeddingLevels>; fonts: number[] };

function orderLine(text: string, { levels, fonts }: Marks, from: number, to: number): Line {
  if (to <= from) return [];
  const order = Array.from({ length: to - from }, (_, at) => from + at);
  for (const [start = 0, end = 0] of bidi.getReorderSegments(text, levels, from, to - 1)) {
    const turned = order.slice(start - from, end - from + 1).reverse();
    order.splice(start - from, turned.length, ...turned);
  }
  const mirrored = bidi.getMirroredCharactersMap(text, levels.levels, from, to - 1);
  const line: Line = [];
  let last: number | undefined;
  for (const at of order) {
    const isRtl = ((levels.levels[at] ?? 0) & 1) === 1;
    const font = fonts[at] ?? 0;
    const sign = mirrored.get(at) ?? text[at] ?? '';
    const run = line.at(-1);
    const isSame = run && run.isRtl === isRtl && run.font === font;
    // The characters of a run stay in reading order, because the font joins them and puts them into visual order.
    if (isSame && last !== undefined && at - last === (isRtl ? -1 : 1))
      run.text = isRtl ? sign + run.text : run.text + sign;
    else line.push({ text: sign, isRtl, font });
    last = at;
  }
  return line
    .map((run) => ({ ...run, text: run.text.replace(unseen, '') }))
    .filter((run) => run.text !== '')
    .flatMap(splitScripts)
    .map(orderForFont);
}

const rtlScripts = ['Hebrew', 'Arabic', 'Syriac', 'Thaana', 'Nko'];
const rtlScript = new RegExp(`[${rtlScripts.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u');
const anyScript = /[^\p{Script=Common}\p{Script=Inherited}]/u;

/** The font lays out a text by the script of its first letter. So each run from right to left may have only one script. */
function splitScripts(run: Run): Run[] {
  if (!run.isRtl) return [run];
  const parts = run.text.split(
    /(?<=\p{Script=Hebrew}[^\p{Script=Arabic}]*)(?=\p{Script=Arabic})|(?<=\p{Script=Arabic}[^\p{Script=Hebrew}]*)(?=\p{Script=Hebrew})/u,
  );
  return parts.reverse().map((text) => ({ ...run, text }));
}

/**
 * The font reverses a text if its first letter belongs to a right-to-left script, and leaves any other text as it is. If this
 * does not fit the direction of the run, the characters are reversed here first, so that they are drawn in the right order.
 */
function orderForFont(run: Run): Run {
  const { text, isRtl } = run;
  const isTurned = rtlScript.test(anyScript.exec(text)?.[0] ?? '');
  if (isTurned === isRtl) return run;
  return {
    ...run,
    text: Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
      .reverse()
      .join(''),
  };
}
