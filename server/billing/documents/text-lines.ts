// Decides where the lines of a text break, and in which order its characters are shown (Unicode's annex 9). PDF does neither.
import bidiFactory from 'bidi-js';

/** A part of a line that pdfkit writes in one call. */
export type Run = { text: string; isRtl: boolean };
/** The runs of a line, from left to right. */
export type Line = Run[];

const bidi = bidiFactory();

// Invisible characters, except for joiners: these change the shape of letters.
const unseen = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu;

/** The form in which a text is looked up in a font. */
export const clean = (text: string): string => text.normalize('NFC').replace(/[\t\p{Zs}]/gu, ' ');

/** The characters that the font must have. */
export const listSeen = (text: string): string[] => [
  ...new Set(
    clean(text)
      .replace(unseen, '')
      .replace(/[\n\u200c\u200d]/g, ''),
  ),
];

/** Breaks text at line ends and spaces. Breaks a word only if it is wider than `width`, if possible after `/`, `?` or `&`. */
export function breakText(text: string, width: number, measure: (text: string) => number): Line[] {
  const lines = clean(text)
    .split('\n')
    .flatMap((paragraph) => {
      const levels = bidi.getEmbeddingLevels(paragraph);
      return findBreaks(paragraph, width, measure).map(([from, to]) => ({
        line: orderLine(paragraph, levels, from, to),
        isWordBroken: to < paragraph.length && paragraph[to] !== ' ',
      }));
    });
  // Without the space, a screen reader would read the last word of a line and the first word of the next line as one word.
  return lines.map(({ line, isWordBroken }, at) =>
    isWordBroken || at === lines.length - 1 ? line : [...line, lineEnd],
  );
}

/** A space that is drawn at the end of a line and does not count towards its width. */
export const lineEnd: Run = { text: ' ', isRtl: false };

function findBreaks(
  text: string,
  width: number,
  measure: (text: string) => number,
): [from: number, to: number][] {
  const lines: [number, number][] = [];
  let [from, end] = [0, 0];
  const close = (next: number) => {
    lines.push([from, end]);
    from = next;
    end = next;
  };
  for (const { index, 0: word } of text.matchAll(/[^ ]+/g)) {
    if (end > from && measure(text.slice(from, index + word.length)) > width) close(index);
    if (measure(text.slice(from, index + word.length)) > width) {
      let part = index;
      for (const { segment, index: at } of new Intl.Segmenter().segment(word)) {
        const after = index + at + segment.length;
        if (index + at > from && measure(text.slice(from, after)) > width) {
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

type Levels = ReturnType<typeof bidi.getEmbeddingLevels>;

function orderLine(text: string, levels: Levels, from: number, to: number): Line {
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
    const sign = mirrored.get(at) ?? text[at] ?? '';
    const run = line.at(-1);
    // Within a run the characters stay in reading order, because the font joins and turns them.
    if (run && last !== undefined && run.isRtl === isRtl && at - last === (isRtl ? -1 : 1))
      run.text = isRtl ? sign + run.text : run.text + sign;
    else line.push({ text: sign, isRtl });
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

/** The font lays out a text by the script of its first letter, so each run needs a single script. */
function splitScripts(run: Run): Run[] {
  if (!run.isRtl) return [run];
  const parts = run.text.split(
    /(?<=\p{Script=Hebrew}[^\p{Script=Arabic}]*)(?=\p{Script=Arabic})|(?<=\p{Script=Arabic}[^\p{Script=Hebrew}]*)(?=\p{Script=Hebrew})/u,
  );
  return parts.reverse().map((text) => ({ ...run, text }));
}

/**
 * The font reverses a text whose first letter belongs to a right-to-left script. If that order is wrong for the run, this
 * reverses the run first.
 */
function orderForFont({ text, isRtl }: Run): Run {
  const isTurned = rtlScript.test(anyScript.exec(text)?.[0] ?? '');
  if (isTurned === isRtl) return { text, isRtl };
  return {
    text: Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
      .reverse()
      .join(''),
    isRtl,
  };
}
